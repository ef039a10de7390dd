//! Small programs that are easy to get wrong, decided by hand. All were found with random programs.

use super::queries::{check, query_robustness};
use crate::common::lower;
use fencepost_engines::RobustMethod;
use fencepost_monitor::Model;

#[test]
fn every_choice_is_explored_in_every_trace() {
    // Each of the two reads has two values, and so has the choice, in every order.
    let threads = ["r0 = y; r0 = choose(0..=1);", "y = 2; r1 = z;", "z = 1;"];
    check(&threads, true, true, (8, 0));
    // The block accesses x for one choice only.
    check(&["atomic { r0 = choose(0..=1); if (r0 == 0) x = 1; }", "r0 = x;"], true, true, (3, 0));
    check(&["atomic { r0 = choose(0..=1); if (r0 == 0) r1 = x; }", "x = 1;"], true, true, (3, 0));
}

#[test]
fn a_blocked_atomic_block_reads_no_older_value() {
    // The block cannot run while the older value is in memory.
    let threads = ["swap(x, 2); atomic { r0 = z; assume(r0 == 1); }", "z = 1; x = 2;"];
    check(&threads, true, true, (2, 0));
    let threads = ["x = 2; r1 = y;", "y = 1; atomic { r0 = x; assume(r0 != 0); }"];
    check(&threads, true, true, (2, 0));
}

#[test]
fn an_atomic_block_that_is_blocked_under_sc_may_run_under_pso() {
    // Under PSO x is still pending when z is written: the block reads x = 0 and z = 2.
    let threads = ["x = 1; r1 = swap(z, 2);", "atomic { r0 = x; assume(r0 == 0); r1 = z; }"];
    check(&threads, true, false, (1, 1));
    let block = "r0 = x; atomic { r1 = choose(0..=1); r0 = y; assume(r0 == r1); }";
    check(&[block, "y = 1; fetch_add(x, 1);"], true, false, (3, 0));
}

#[test]
fn an_atomic_block_that_reads_an_older_value_may_take_another_branch() {
    // The block accesses x only if it reads y = 0. Under PSO x may be 1 then.
    let threads = ["atomic { r1 = y; if (r1 != 2) fetch_add(x, 1); }", "y = 2; x = 1;"];
    check(&threads, true, false, (2, 0));
}

#[test]
fn an_update_that_moves_earlier_changes_later_reads() {
    // The `cas` fails if it comes last. If it comes first, it writes, and the block is blocked.
    let block = "atomic { r0 = z; assume(r0 == 0); swap(z, 2); } y = 2;";
    check(&[block, "y = 1; cas(z, 0, 2);"], true, true, (2, 1));
    let threads = ["r0 = fetch_add(y, 1); if (r0 == 0) r1 = y; r1 = x;", "x = 2; cas(y, 0, 2);"];
    check(&threads, true, false, (3, 0));
}

#[test]
fn an_assertion_that_fails_only_after_reordering_means_not_robust() {
    // Under PSO the flag may become visible before the data. Then the next assertion fails.
    let source = "shared int data, flag;
        thread p { data = 1; flag = 1; }
        thread q { while (flag == 0) {} d = data; assert(d == 1); }";
    let wrong = "shared int x, y;
        thread q { y = 1; s = x; }
        thread p { x = 1; r = y; assert(r == 1); }";
    let wrong = lower(wrong).expect("the program compiles").swap_remove(0);
    for method in [RobustMethod::Stateless, RobustMethod::Attack, RobustMethod::Preemptions(9)] {
        // The program fails under SC and is not robust. Both answers are correct.
        assert_ne!(query_robustness(method, &wrong, Model::Tso, 1), Ok(true), "{method:?}");
    }
    let problem = lower(source).expect("the program compiles").swap_remove(0);
    for (model, is_robust) in [(Model::Tso, true), (Model::Pso, false)] {
        assert_eq!(
            query_robustness(RobustMethod::Stateless, &problem, model, 1),
            Ok(is_robust),
            "{model:?}"
        );
    }
}
