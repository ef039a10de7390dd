//! Small programs that are easy to get wrong, decided by hand. All were found by drawing random programs.

use super::ask::{check, robust};
use crate::common::lower;
use fencepost_engines::RobustBy;
use fencepost_monitor::Model;

#[test]
fn choices_are_made_in_every_run() {
    // Each of two reads has two values, and so has the choice, whatever comes first.
    let threads = ["r0 = y; r0 = choose(0..=1);", "y = 2; r1 = z;", "z = 1;"];
    check(&threads, true, true, (8, 0));
    // One choice makes the block touch x, the other one does not.
    check(&["atomic { r0 = choose(0..=1); if (r0 == 0) x = 1; }", "r0 = x;"], true, true, (3, 0));
    check(&["atomic { r0 = choose(0..=1); if (r0 == 0) r1 = x; }", "x = 1;"], true, true, (3, 0));
}

#[test]
fn a_block_that_waits_reads_nothing_older() {
    // What it could have read too early is what it waits to be gone.
    let threads = ["swap(x, 2); atomic { r0 = z; assume(r0 == 1); }", "z = 1; x = 2;"];
    check(&threads, true, true, (2, 0));
    let threads = ["x = 2; r1 = y;", "y = 1; atomic { r0 = x; assume(r0 != 0); }"];
    check(&threads, true, true, (2, 0));
}

#[test]
fn a_block_that_waits_for_ever_under_sc_may_go_on() {
    // Under PSO x is still pending when z is written: the block finds x = 0 and z = 2.
    let threads = ["x = 1; r1 = swap(z, 2);", "atomic { r0 = x; assume(r0 == 0); r1 = z; }"];
    check(&threads, true, false, (1, 1));
    let block = "r0 = x; atomic { r1 = choose(0..=1); r0 = y; assume(r0 == r1); }";
    check(&[block, "y = 1; fetch_add(x, 1);"], true, false, (3, 0));
}

#[test]
fn a_block_that_reads_something_older_may_do_something_else() {
    // Only when it finds y = 0 does it look at x; under PSO x is 1 then, perhaps.
    let threads = ["atomic { r1 = y; if (r1 != 2) fetch_add(x, 1); }", "y = 2; x = 1;"];
    check(&threads, true, false, (2, 0));
}

#[test]
fn an_update_that_comes_earlier_changes_what_others_read() {
    // The `cas` fails when it comes last. Had it come first, it would have written, and the block would wait.
    let block = "atomic { r0 = z; assume(r0 == 0); swap(z, 2); } y = 2;";
    check(&[block, "y = 1; cas(z, 0, 2);"], true, true, (2, 1));
    let threads = ["r0 = fetch_add(y, 1); if (r0 == 0) r1 = y; r1 = x;", "x = 2; cas(y, 0, 2);"];
    check(&threads, true, false, (3, 0));
}

#[test]
fn an_assertion_that_fails_only_too_early_ends_the_run() {
    // Under PSO the flag may be seen before the data. What comes next then goes wrong at once.
    let source = "shared int data, flag;
        thread p { data = 1; flag = 1; }
        thread q { while (flag == 0) {} d = data; assert(d == 1); }";
    let wrong = "shared int x, y;
        thread q { y = 1; s = x; }
        thread p { x = 1; r = y; assert(r == 1); }";
    let wrong = lower(wrong).expect("it compiles").swap_remove(0);
    for by in [RobustBy::Stateless, RobustBy::Attack, RobustBy::Preemptions(9)] {
        // It is wrong under SC, and not robust; either is an answer.
        assert_ne!(robust(by, &wrong, Model::Tso, 1), Ok(true), "{by:?}");
    }
    let problem = lower(source).expect("it compiles").swap_remove(0);
    for (model, is_robust) in [(Model::Tso, true), (Model::Pso, false)] {
        assert_eq!(robust(RobustBy::Stateless, &problem, model, 1), Ok(is_robust), "{model:?}");
    }
}
