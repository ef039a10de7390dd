//! All interleavings of a system, one by one: what explorations are compared with.

use super::subjects::{Code, State};
use super::{Move, Step, Touch};
use std::collections::BTreeSet;

/// An event: its move, and its number among those of the thread.
type Name = (Move, usize);

/// A trace: its events, and the pairs of them that are ordered by a conflict.
pub(super) type Trace = (BTreeSet<Name>, BTreeSet<(Name, Name)>);

/// The trace of an execution with so many events.
pub(super) fn trace<'a>(events: usize, event: impl Fn(usize) -> (&'a Move, &'a [Touch])) -> Trace {
    let name = |at: usize| {
        let made = event(at).0;
        let number = (0..at).filter(|other| event(*other).0.thread == made.thread).count();
        (made.clone(), number)
    };
    let ordered = |one: usize, other: usize| {
        let ((a, touches), (b, others)) = (event(one), event(other));
        let conflict =
            |x: &Touch| others.iter().any(|y| x.cell == y.cell && (x.writes || y.writes));
        a.thread == b.thread || touches.iter().any(conflict)
    };
    let pairs = (0..events).flat_map(|other| (0..other).map(move |one| (one, other)));
    let pairs = pairs.filter(|(one, other)| ordered(*one, *other));
    ((0..events).map(name).collect(), pairs.map(|(one, other)| (name(one), name(other))).collect())
}

/// What all interleavings of a system come to.
#[derive(Debug, Default)]
pub(super) struct Interleavings {
    /// The traces of those that do not fail.
    pub(super) traces: BTreeSet<Trace>,
    pub(super) stuck: u64,
    pub(super) failed: u64,
    /// By number of preemptions: how many there are.
    pub(super) by_preemptions: Vec<u64>,
}

impl Interleavings {
    pub(super) fn of(code: &Code) -> Self {
        let mut all = Interleavings::default();
        all.go(code, &State::new(code), &mut Vec::new(), 0);
        all
    }

    fn go(
        &mut self,
        code: &Code,
        state: &State,
        taken: &mut Vec<(Move, Touch)>,
        preemptions: usize,
    ) {
        let threads = || (0..code.len()).filter(|thread| !state.has_halted(code, *thread));
        let mut next = Vec::new();
        for made in threads().flat_map(|thread| state.moves(code, thread)) {
            let mut after = state.clone();
            let (step, touch) = after.step(code, &made);
            if step == Step::Taken {
                next.push((made, touch, after));
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
        let last = taken.last().map(|(made, _)| made.thread);
        let last_goes_on = next.iter().any(|(made, ..)| Some(made.thread) == last);
        for (made, touch, after) in next {
            let preempts = last_goes_on && Some(made.thread) != last;
            taken.push((made, touch));
            self.go(code, &after, taken, preemptions + usize::from(preempts));
            taken.pop();
        }
    }
}
