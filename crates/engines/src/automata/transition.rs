//! Transitions and their independence, for sleep sets.
//!
//! Source: \[LW10\] section 4, rules 1 to 4. A *transition* is the next statement of a thread, with
//! any result, or the commit of its oldest store, whichever store that is.
//!
//! DIVERGENCE: the rules of the paper consider all locations that a thread uses. Here only its next
//! statement counts, which does not change until the thread moves. In rule 3, the buffer that must
//! contain the location is that of the loading thread (the paper has the other one). A fence waits
//! only for stores of its own thread and is independent of the steps of other threads.

use super::{Order, Symbolic, SymbolicState};
use fencepost_automata::Language;
use fencepost_ir::{Loc, Op, ThreadId};
use fencepost_models::symbolic::{STORE_LOAD, location};

/// A transition of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Transition {
    /// The next statement of the thread.
    Run(ThreadId),
    /// The commit of the oldest store of the thread.
    Commit(ThreadId),
}

impl Transition {
    /// Returns the thread of the transition.
    pub(super) fn thread(self) -> ThreadId {
        match self {
            Transition::Run(thread) | Transition::Commit(thread) => thread,
        }
    }

    fn bit(self) -> u128 {
        match self {
            Transition::Run(thread) => 1 << (2 * thread.index()),
            Transition::Commit(thread) => 2 << (2 * thread.index()),
        }
    }
}

/// A set of transitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Transitions(u128);

impl Transitions {
    /// Returns all transitions of this number of threads (at most 64).
    pub(super) fn all(threads: usize) -> Self {
        let bits = 2 * threads as u32;
        Transitions(u128::MAX.checked_shr(u128::BITS - bits).unwrap_or(0))
    }

    /// Returns the first transition: statements before commits, in the order of threads.
    pub(super) fn first(self) -> Option<Transition> {
        const RUNS: u128 = u128::MAX / 3;
        let lowest = |bits: u128| (bits != 0).then(|| bits.trailing_zeros() as usize);
        let thread = |bit: usize| ThreadId::from_index(bit / 2);
        let run = lowest(self.0 & RUNS).map(|bit| Transition::Run(thread(bit)));
        run.or_else(|| lowest(self.0 & !RUNS).map(|bit| Transition::Commit(thread(bit))))
    }

    pub(super) fn insert(&mut self, transition: Transition) {
        self.0 |= transition.bit();
    }

    pub(super) fn remove(&mut self, transition: Transition) {
        self.0 &= !transition.bit();
    }

    pub(super) fn len(self) -> u32 {
        self.0.count_ones()
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn intersection(self, other: Self) -> Self {
        Transitions(self.0 & other.0)
    }

    pub(super) fn without(self, other: Self) -> Self {
        Transitions(self.0 & !other.0)
    }

    /// Returns the transitions of this set that are independent of a transition in a state.
    pub(super) fn independent_of(
        self,
        machine: &Symbolic<'_>,
        state: &SymbolicState,
        transition: Transition,
    ) -> Self {
        let mut independent = Transitions::default();
        let mut rest = self;
        let mut effect = None;
        while let Some(next) = rest.first() {
            rest.remove(next);
            if next.thread() == transition.thread() {
                continue;
            }
            let effect = effect.get_or_insert_with(|| Effect::new(machine, state, transition));
            if !effect.conflicts(&Effect::new(machine, state, next)) {
                independent.insert(next);
            }
        }
        independent
    }
}

impl Order {
    /// Returns the transition of a state to explore first.
    pub(super) fn pick(
        self,
        machine: &Symbolic<'_>,
        state: &SymbolicState,
        transitions: Transitions,
    ) -> Option<Transition> {
        let stores = |t: ThreadId| {
            matches!(machine.shape.stmt(t, state.pcs[t.index()]).op, Op::Store { .. })
        };
        let rank = |transition: &Transition| match (self, transition) {
            (Order::Statements, Transition::Run(_)) => 0,
            (Order::Statements, Transition::Commit(_)) => 1,
            (_, Transition::Run(thread)) if !stores(*thread) => 0,
            (Order::Stores, Transition::Run(_)) => 1,
            (Order::Stores, Transition::Commit(_)) => 2,
            (Order::Commits, Transition::Commit(_)) => 1,
            (Order::Commits, Transition::Run(_)) => 2,
        };
        let mut rest = transitions;
        let all = std::iter::from_fn(|| {
            let next = rest.first()?;
            rest.remove(next);
            Some(next)
        });
        all.min_by_key(rank)
    }
}

/// The effect of a transition on shared memory.
#[derive(Debug)]
enum Effect {
    /// No effect: the transition is local to its thread.
    Local,
    /// The transition reads a location in memory.
    Reads(Loc),
    /// The transition reads and writes a location in memory.
    Updates(Loc),
    /// The transition writes one of these locations.
    Writes(Vec<Loc>),
    /// The transition may read or write anything.
    Anything,
}

impl Effect {
    fn new(machine: &Symbolic<'_>, state: &SymbolicState, transition: Transition) -> Effect {
        let thread = transition.thread();
        let language = state.pending[thread.index()];
        let discipline = &machine.model.0;
        let at = match transition {
            Transition::Run(_) => machine.next_access(state, thread),
            Transition::Commit(_) => {
                let letters = discipline.committable_letters(&mut discipline.languages(), language);
                return Effect::Writes(letters.into_iter().filter_map(location).collect());
            }
        };
        if at.is_some_and(|loc| machine.shape.is_freeable(loc)) {
            return Effect::Anything;
        }
        match machine.shape.stmt(thread, state.pcs[thread.index()]).op {
            Op::Load { .. } => at.map_or(Effect::Local, |loc| {
                let mut languages = discipline.languages();
                let free = languages.without_class(language, STORE_LOAD);
                match languages.without_class(free, loc.0) {
                    Language::EMPTY => Effect::Local,
                    _ => Effect::Reads(loc),
                }
            }),
            Op::Update { .. } => at.map_or(Effect::Local, Effect::Updates),
            Op::Store { .. } | Op::Fence(_) | Op::Drain(_) => Effect::Local,
            Op::Skip
            | Op::Assign { .. }
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::Choose { .. }
            | Op::Return { .. }
            | Op::Leave
            | Op::AtomicEnd
            | Op::Halt => Effect::Local,
            Op::New { .. } | Op::Free { .. } | Op::AtomicBegin | Op::Invoke { .. } | Op::Join => {
                Effect::Anything
            }
        }
    }

    fn conflicts(&self, other: &Effect) -> bool {
        match (self, other) {
            (Effect::Anything, _) | (_, Effect::Anything) => true,
            (Effect::Local, _) | (_, Effect::Local) => false,
            (Effect::Reads(_), Effect::Reads(_)) => false,
            (Effect::Writes(locations), Effect::Writes(others)) => {
                locations.iter().any(|loc| others.contains(loc))
            }
            (Effect::Reads(loc) | Effect::Updates(loc), Effect::Writes(locations))
            | (Effect::Writes(locations), Effect::Reads(loc) | Effect::Updates(loc)) => {
                locations.contains(loc)
            }
            (Effect::Updates(one), Effect::Reads(other) | Effect::Updates(other))
            | (Effect::Reads(one), Effect::Updates(other)) => one == other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_come_before_commits() {
        let mut all = Transitions::all(2);
        let mut order = Vec::new();
        while let Some(next) = all.first() {
            all.remove(next);
            order.push(next);
        }
        let [p, q] = [ThreadId::from_index(0), ThreadId::from_index(1)];
        let runs = [Transition::Run(p), Transition::Run(q)];
        let commits = [Transition::Commit(p), Transition::Commit(q)];
        assert_eq!(order, [runs, commits].concat());
        assert!(Transitions::all(0).is_empty());
        let widest = Transitions::all(64);
        assert_eq!(widest.0.count_ones(), 128);
    }
}
