//! The oracles for explorations: an enumeration of all interleavings of a system, and a faster one
//! of all traces, with sleep sets alone.

use super::subjects::{Code, State};
use super::{CellAccess, Move, MoveResult};
use std::collections::BTreeSet;

/// An event identifier: the move, and the number of the event in its thread.
type EventId = (Move, usize);

/// A trace: its events, and the ordered pairs of events that conflict or belong to one thread.
pub(super) type Trace = (BTreeSet<EventId>, BTreeSet<(EventId, EventId)>);

/// Computes the trace of an execution of `events` events.
pub(super) fn trace<'a>(
    events: usize,
    event: impl Fn(usize) -> (&'a Move, &'a [CellAccess]),
) -> Trace {
    let id = |at: usize| {
        let mv = event(at).0;
        let number = (0..at).filter(|other| event(*other).0.thread == mv.thread).count();
        (mv.clone(), number)
    };
    let ordered = |one: usize, other: usize| {
        let ((a, accesses), (b, others)) = (event(one), event(other));
        let conflict =
            |x: &CellAccess| others.iter().any(|y| x.cell == y.cell && (x.writes || y.writes));
        a.thread == b.thread || accesses.iter().any(conflict)
    };
    let pairs = (0..events).flat_map(|other| (0..other).map(move |one| (one, other)));
    let pairs = pairs.filter(|(one, other)| ordered(*one, *other));
    ((0..events).map(id).collect(), pairs.map(|(one, other)| (id(one), id(other))).collect())
}

/// The results of all interleavings of a system.
#[derive(Debug, Default)]
pub(super) struct Interleavings {
    /// The traces of the interleavings that do not fail.
    pub(super) traces: BTreeSet<Trace>,
    pub(super) stuck: u64,
    pub(super) failed: u64,
    /// For each number of preemptions: the number of interleavings.
    pub(super) by_preemptions: Vec<u64>,
}

impl Interleavings {
    pub(super) fn of(code: &Code) -> Self {
        let mut all = Interleavings::default();
        all.extend(code, &State::new(code), &mut Vec::new(), 0);
        all
    }

    /// Adds all interleavings that extend `taken`.
    fn extend(
        &mut self,
        code: &Code,
        state: &State,
        taken: &mut Vec<(Move, Vec<CellAccess>)>,
        preemptions: usize,
    ) {
        let threads = || (0..code.len()).filter(|thread| !state.has_halted(code, *thread));
        let mut next = Vec::new();
        for mv in threads().flat_map(|thread| state.moves(code, thread)) {
            let mut after = state.clone();
            let (result, footprint) = after.step(code, &mv);
            if result == MoveResult::Taken {
                next.push((mv, footprint, after));
            }
        }
        if next.is_empty() || state.failed {
            if self.by_preemptions.len() <= preemptions {
                self.by_preemptions.resize(preemptions + 1, 0);
            }
            self.by_preemptions[preemptions] += 1;
            if state.failed {
                self.failed += 1;
                return;
            }
            self.stuck += u64::from(threads().next().is_some());
            let event = |at: usize| (&taken[at].0, taken[at].1.as_slice());
            self.traces.insert(trace(taken.len(), event));
            return;
        }
        let last = taken.last().map(|(mv, _)| mv.thread);
        let last_is_enabled = next.iter().any(|(mv, ..)| Some(mv.thread) == last);
        for (mv, footprint, after) in next {
            let preempts = last_is_enabled && Some(mv.thread) != last;
            taken.push((mv, footprint));
            self.extend(code, &after, taken, preemptions + usize::from(preempts));
            taken.pop();
        }
    }
}

/// Returns the traces of a system that does not fail, each as often as it was found. `None` if there
/// are more than `max`. Source: Godefroid: if all moves that are not asleep are taken at every
/// state, one interleaving of each trace is complete.
pub(super) fn traces_with_sleep_sets(code: &Code, max: usize) -> Option<Vec<Trace>> {
    let mut traces = Vec::new();
    extend_with_sleep_set(code, &State::new(code), &mut Vec::new(), &[], max, &mut traces);
    (traces.len() <= max).then_some(traces)
}

fn extend_with_sleep_set(
    code: &Code,
    state: &State,
    taken: &mut Vec<(Move, Vec<CellAccess>)>,
    asleep: &[(Move, Vec<CellAccess>)],
    max: usize,
    traces: &mut Vec<Trace>,
) {
    if traces.len() > max {
        return;
    }
    let mut asleep = asleep.to_vec();
    let mut is_end = true;
    let threads = (0..code.len()).filter(|thread| !state.has_halted(code, *thread));
    for mv in threads.flat_map(|thread| state.moves(code, thread)) {
        let mut after = state.clone();
        let (result, footprint) = after.step(code, &mv);
        if result != MoveResult::Taken {
            continue;
        }
        is_end = false;
        if asleep.iter().any(|(other, _)| *other == mv) {
            continue;
        }
        let commutes = |(other, its): &&(Move, Vec<CellAccess>)| {
            let conflicts = |x: &CellAccess| {
                footprint.iter().any(|y| x.cell == y.cell && (x.writes || y.writes))
            };
            other.thread != mv.thread && !its.iter().any(conflicts)
        };
        let still_asleep: Vec<_> = asleep.iter().filter(commutes).cloned().collect();
        taken.push((mv.clone(), footprint.clone()));
        extend_with_sleep_set(code, &after, taken, &still_asleep, max, traces);
        taken.pop();
        asleep.push((mv, footprint));
    }
    if is_end {
        let event = |at: usize| (&taken[at].0, taken[at].1.as_slice());
        traces.push(trace(taken.len(), event));
    }
}
