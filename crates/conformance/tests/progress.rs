//! `property progress`: fair infinite runs in which a thread never gets on.
//!
//! Each case tests one requirement of the definition.

use crate::common::{check, check_with, lower, model, settings};
use fencepost_engines::{
    Abstraction, Automata, Engine, InconclusiveReason, Settings, Stateless, Translate, Unsupported,
    Verdict,
};
use fencepost_ir::Violation;
use fencepost_models::coherence::Domain;
use fencepost_translate::contexts::Bound;

/// Checks the verdicts under SC, TSO and PSO. `livelock` is whether there is one.
#[track_caller]
fn check_cases(cases: &[(&str, [bool; 3])]) {
    for (code, livelock) in cases {
        let source = format!("shared int(0..2) x, y, z; {code} property progress; observe x;");
        let problem = &lower(&source).expect("the program compiles")[0];
        for (name, livelock) in ["sc", "tso", "pso"].into_iter().zip(livelock) {
            let verdict = check(problem, &model(name), settings(1)).verdict;
            let found = match &verdict {
                Verdict::Verified(_) => false,
                Verdict::Violated(violated) => {
                    let violation = violated.evidence().violation();
                    assert!(
                        matches!(violation, Violation::Livelock { .. }),
                        "{code}: {violation:?}"
                    );
                    true
                }
                Verdict::Inconclusive(_) => panic!("{name}: {code}: {verdict:?}"),
            };
            assert_eq!(found, *livelock, "{name}: {code}");
        }
    }
}

#[test]
fn a_thread_that_can_move_moves() {
    check_cases(&[
        // The waiting thread stores, but the other thread sets x in the end.
        ("thread a { x = 1; } thread b { while (x == 0) { y = 1; fence; } }", [false; 3]),
        // Nothing sets x.
        ("thread a { z = 1; } thread b { while (x == 0) { y = 1; fence; } }", [true; 3]),
        // A blocked thread is not required to move.
        (
            "thread a { atomic { assume(z == 1); x = 1; } } thread b { while (x == 0) { y = 1; fence; } }",
            [true; 3],
        ),
        // A false `assume` outside of `atomic` discards the run.
        (
            "thread a { r = z; assume(r == 1); x = 1; } thread b { while (x == 0) { y = 1; fence; } }",
            [false; 3],
        ),
        // The discarded thread is not the one that waits.
        (
            "thread a { r = z; assume(r == 1); } thread b { while (x == 0) { y = 1; fence; } }",
            [false; 3],
        ),
    ]);
}

#[test]
fn a_pending_store_is_committed_in_the_end() {
    check_cases(&[
        // b leaves its loop when a's store is committed. a goes on in a loop without an exit.
        (
            "thread a { x = 1; loop { z = 1; fence; } } thread b { while (x == 0) { y = 1; fence; } }",
            [false; 3],
        ),
    ]);
}

#[test]
fn a_thread_gets_on_in_an_infinite_loop() {
    check_cases(&[
        ("thread a { loop { x = 1; fence; x = 0; fence; } }", [false; 3]),
        // The inner loop can be left, but is not.
        ("thread a { loop { x = 1; fence; do { y = 1; fence; } while (x == 1); } }", [true; 3]),
        // Two loops with the same head.
        ("thread a { loop { while (z == 0) { y = 1; fence; } x = 1; } }", [true; 3]),
        // A nondeterministic exit is not taken by fairness.
        ("thread a { while (choose(0..=1) == 0) { y = 1; fence; } }", [true; 3]),
        // A loop that ends.
        ("thread a { for (int k = 0; k < 2; k++) { y = 1; } }", [false; 3]),
    ]);
}

#[test]
fn store_buffers_can_cause_a_livelock() {
    // Each thread retries until it has seen the other. Without fences both may read 0 each time
    // under TSO, but the stores of a round are committed before the next round reads again.
    let retry = |own: &str, other: &str, fence: &str| {
        format!("do {{ {own} = 1; {fence} r = {other}; {own} = 0; fence; }} while (r == 0);")
    };
    let both = |fence: &str| {
        format!(
            "thread a {{ {} }} thread b {{ {} }}",
            retry("x", "y", fence),
            retry("y", "x", fence)
        )
    };
    // Also under SC, the threads can miss each other in every round.
    check_cases(&[(both("").as_str(), [true; 3]), (both("fence;").as_str(), [true; 3])]);
}

#[test]
fn progress_is_not_claimed_where_it_is_not_checked() {
    let source = "shared int x; thread a { x = 1; } property progress; observe x;";
    let problem = &lower(source).expect("the program compiles")[0];
    let verdict = check(problem, &model("rmo"), settings(1)).verdict;
    let expected = InconclusiveReason::unsupported(Unsupported::Progress);
    assert_eq!(verdict.inconclusive_reason(), Some(&expected));
    let engines: [&dyn Engine; 4] = [
        &Abstraction { domain: Domain::Full, k: 1 },
        &Automata::DEFAULT,
        &Stateless::default(),
        &Translate { bound: Bound::Switches(2) },
    ];
    for engine in engines {
        let verdict = check_with(engine, problem, &model("tso"), settings(1)).verdict;
        assert_eq!(verdict.inconclusive_reason(), Some(&expected), "{}", engine.name());
    }
}

#[test]
fn a_bound_is_not_accepted_if_no_run_ends_within_it() {
    // The buffer grows without bound, and no run ends.
    let source = "shared int x; thread a { loop { x = 1; } } final forall x == 1;";
    let problem = &lower(source).expect("the program compiles")[0];
    let settings = Settings { max_buffer: Some(4), ..settings(1) };
    let verdict = check(problem, &model("tso"), settings).verdict;
    let inconclusive = verdict.inconclusive().expect("buffers grow without bound");
    assert_eq!(inconclusive.gap(), Some(&Unsupported::NoFinalState));
    assert!(!inconclusive.is_bounded());
}
