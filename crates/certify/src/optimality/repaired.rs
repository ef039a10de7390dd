//! The repaired program: the program with a placement, without the places that have no fence.
//!
//! A place without a fence is a `skip`. The certificate of the repaired program would contain states
//! before and after each of them. Therefore control goes around them. This changes no behaviour: a
//! `skip` has no effect, and it is removed only if the statement behind it is inside a critical
//! section exactly if the `skip` is.

use std::collections::BTreeSet;

use fencepost_ir::{Label, Op, Pc, Placement, Problem, Thread, WrittenFences, placement};

/// Returns a problem with a placement, without the places that have no fence.
pub fn repaired_problem(
    problem: &Problem,
    placement: &Placement,
    written: WrittenFences,
) -> Problem {
    let mut program = placement::fenced(&problem.program, placement, written);
    let places: BTreeSet<Label> = program.places.iter().map(|place| place.label).collect();
    program.threads.iter_mut().for_each(|thread| bypass_empty_places(thread, &places));
    Problem { program, ..problem.clone() }
}

/// Redirects control around the places that have no fence.
fn bypass_empty_places(thread: &mut Thread, places: &BTreeSet<Label>) {
    let targets: Vec<Pc> =
        (0..thread.code.len()).map(|at| target(thread, Pc::from_index(at), places)).collect();
    for stmt in &mut thread.code {
        stmt.next = targets[stmt.next.index()];
        if let Op::Branch { then, otherwise, .. } = &mut stmt.op {
            *then = targets[then.index()];
            *otherwise = targets[otherwise.index()];
        }
    }
}

/// Returns the first statement from `start` on that is not an empty place. Returns `start` if there
/// is none: a loop may consist of empty places.
fn target(thread: &Thread, start: Pc, places: &BTreeSet<Label>) -> Pc {
    let mut at = start;
    for _ in 0..thread.code.len() {
        let stmt = thread.stmt(at);
        let is_removed = matches!(stmt.op, Op::Skip)
            && places.contains(&stmt.label)
            && thread.stmt(stmt.next).critical == stmt.critical;
        if !is_removed {
            return at;
        }
        at = stmt.next;
    }
    start
}
