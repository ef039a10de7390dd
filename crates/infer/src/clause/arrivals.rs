//! The arrivals at control points that a violation of an invariant needs.

use fencepost_ir::{Label, Observable, Problem, Property, ThreadId, Value};
use fencepost_models::replay::ReplayedRun;

/// Returns threads whose arrivals at control points are sufficient for the violation of the
/// invariant at this index, together with memory at the end of the run. No arrival can be left out.
pub(super) fn needed_arrivals(problem: &Problem, run: &ReplayedRun, at: usize) -> Vec<ThreadId> {
    let Property::Invariant(condition) = &problem.properties[at] else { return Vec::new() };
    let mut arrived = condition.control_points();
    arrived.retain(|(t, label)| run.value(Observable::At(*t, *label)) == Some(1));
    arrived.sort_unstable();
    arrived.dedup();
    let is_violated = |arrived: &[(ThreadId, Label)]| {
        let value = |what: &Observable| match *what {
            Observable::At(t, label) => Value::from(arrived.contains(&(t, label))),
            Observable::Loc(_) | Observable::Reg(..) => run.value(*what).unwrap_or_default(),
        };
        !condition.expr.eval(&value).is_ok_and(|holds| holds != 0)
    };
    debug_assert!(is_violated(&arrived), "the last state violates the invariant");
    for candidate in arrived.clone() {
        let others: Vec<_> = arrived.iter().copied().filter(|one| *one != candidate).collect();
        if is_violated(&others) {
            arrived = others;
        }
    }
    arrived.into_iter().map(|(t, _)| t).collect()
}
