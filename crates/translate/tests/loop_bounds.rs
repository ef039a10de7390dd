//! Tests of the bounds on loops.

use crate::common::corpus;
use fencepost_ir::spin_loops::spin_assume;
use fencepost_ir::{Problem, StoreBuffers};
use fencepost_testkit::problem;
use fencepost_translate::Translation;
use fencepost_translate::buffers::buffers;
use fencepost_translate::contexts::{Bound, contexts};
use fencepost_translate::loop_bounds::{LoopBounds, loop_bounds};

fn plain(problem: &Problem) -> LoopBounds {
    loop_bounds(&Translation::identity(problem), problem).expect("the program can be lowered")
}

fn bounds(source: &str) -> (u32, usize) {
    let LoopBounds { iterations, unbounded } = plain(&problem(source));
    (iterations, unbounded.len())
}

#[test]
fn loops_with_known_counters_are_bounded() {
    for (expected, source) in [
        ((1, 0), "shared int x; thread p { x = 1; r = x; }"),
        // The head is also visited when the loop ends.
        ((6, 0), "shared int x; thread p { for (int k = 0; k < 5; k++) x = k; }"),
        (
            (4, 0),
            "shared int x; thread p { int k = 6; while (k > 0) { if (x == 0) { k = k - 2; } else { k = 0; } } }",
        ),
        // A location that only this thread writes is known, too.
        (
            (4, 0),
            "shared int x, y; thread p { do { x = x + 1; } while (x < 4); } thread q { y = x; }",
        ),
        ((1, 1), "shared int x; thread p { while (x == 0) skip; } thread q { x = 1; }"),
        ((1, 1), "shared int x; thread p { do { x = x + 1; } while (x < 4); } thread q { x = 0; }"),
        ((1, 1), "shared int x; thread p { loop { x = 1 - x; } }"),
        ((1, 1), "shared int x; thread p { loop { x = x + 1; } }"),
        ((1, 1), "thread p { int k = choose(0..=3); while (k > 0) { k = k - 1; } }"),
    ] {
        assert_eq!(bounds(source), expected, "{source}");
    }
}

#[test]
fn helper_threads_are_bounded_by_the_bound_of_the_translation() {
    let source = "shared int x, y; thread p { x = 1; y = 1; r = y; } thread q { y = 2; s = x; }";
    let problem = problem(source);
    for k in [0, 1, 3] {
        let translation = contexts(&problem, StoreBuffers::Pso, Bound::Switches(k));
        let translation = translation.expect("the program can be translated");
        let bounds = loop_bounds(&translation, &problem).expect("the program can be lowered");
        // All contexts, and the iteration in which the thread is done.
        let expected = LoopBounds { iterations: k + 2, unbounded: Vec::new() };
        assert_eq!(bounds, expected);
    }
    for model in [StoreBuffers::Tso, StoreBuffers::Pso] {
        let translation = buffers(&problem, model, 2).expect("the program can be translated");
        let bounds = loop_bounds(&translation, &problem).expect("the program can be lowered");
        // Two stores, and the iteration in which the thread is done.
        let expected = LoopBounds { iterations: 3, unbounded: Vec::new() };
        assert_eq!(bounds, expected);
    }
}

#[test]
fn litmus_tests_are_bounded_after_spin_loops_are_cut() {
    for (name, _, problem) in corpus(&["litmus"]) {
        let cut = spin_assume(&problem, false).problem;
        let bounds = plain(&cut);
        assert_eq!(bounds.unbounded, [""; 0], "{name}");
    }
}
