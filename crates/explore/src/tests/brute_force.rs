//! The oracle for explorations: enumerates all interleavings of a system.

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
        taken: &mut Vec<(Move, CellAccess)>,
        preemptions: usize,
    ) {
        let threads = || (0..code.len()).filter(|thread| !state.has_halted(code, *thread));
        let mut next = Vec::new();
        for mv in threads().flat_map(|thread| state.moves(code, thread)) {
            let mut after = state.clone();
            let (result, access) = after.step(code, &mv);
            if result == MoveResult::Taken {
                next.push((mv, access, after));
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
            let event = |at: usize| (&taken[at].0, std::slice::from_ref(&taken[at].1));
            self.traces.insert(trace(taken.len(), event));
            return;
        }
        let last = taken.last().map(|(mv, _)| mv.thread);
        let last_is_enabled = next.iter().any(|(mv, ..)| Some(mv.thread) == last);
        for (mv, access, after) in next {
            let preempts = last_is_enabled && Some(mv.thread) != last;
            taken.push((mv, access));
            self.extend(code, &after, taken, preemptions + usize::from(preempts));
            taken.pop();
        }
    }
}
