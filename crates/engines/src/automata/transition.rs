//! What a thread can do next, as the sleep sets see it, and when two such things are independent.
//!
//! Source: \[LW10\] section 4, rules 1 to 4. A *transition* is a thread's next statement, however it
//! goes, or the commit of its oldest store, whichever that is.
//!
//! DIVERGENCE: the rules of the paper speak of all that a thread uses; ours of its next statement, which does
//! not change as long as the thread does not move. In rule 3 the buffer that must contain the
//! location is that of the thread that loads (the paper has the other one). A fence here waits for the
//! thread's own stores only and is independent of what others do.

use super::{Order, Symbolic, SymbolicState};
use fencepost_automata::Language;
use fencepost_ir::{Loc, Op, ThreadId};
use fencepost_models::symbolic::{STORE_LOAD, location};

/// What a thread can do next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Transition {
    /// Its next statement.
    Run(ThreadId),
    /// The commit of its oldest store.
    Commit(ThreadId),
}

impl Transition {
    /// Whose.
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
    /// Those of so many threads (at most 64).
    pub(super) fn all(threads: usize) -> Self {
        let bits = 2 * threads as u32;
        Transitions(u128::MAX.checked_shr(u128::BITS - bits).unwrap_or(0))
    }

    /// One of them: statements before commits, in the order of threads.
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

    /// Those that are independent of a transition in a state.
    pub(super) fn independent_of(
        self,
        machine: &Symbolic<'_>,
        state: &SymbolicState,
        transition: Transition,
    ) -> Self {
        let mut kept = Transitions::default();
        let mut rest = self;
        let mut effect = None;
        while let Some(next) = rest.first() {
            rest.remove(next);
            if next.thread() == transition.thread() {
                continue;
            }
            let effect = effect.get_or_insert_with(|| Effect::of(machine, state, transition));
            if !effect.conflicts(&Effect::of(machine, state, next)) {
                kept.insert(next);
            }
        }
        kept
    }
}

impl Order {
    /// Which of these transitions of a state to explore first.
    pub(super) fn pick(
        self,
        machine: &Symbolic<'_>,
        state: &SymbolicState,
        these: Transitions,
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
        let mut rest = these;
        let all = std::iter::from_fn(|| {
            let next = rest.first()?;
            rest.remove(next);
            Some(next)
        });
        all.min_by_key(rank)
    }
}

/// What a transition has to do with what others can see or change.
#[derive(Debug)]
enum Effect {
    /// Nothing.
    Own,
    /// It reads a location in memory.
    Reads(Loc),
    /// It reads and writes a location in memory.
    Updates(Loc),
    /// It writes one of these.
    Writes(Vec<Loc>),
    /// It may look at or change anything.
    Anything,
}

impl Effect {
    fn of(machine: &Symbolic<'_>, state: &SymbolicState, transition: Transition) -> Effect {
        let thread = transition.thread();
        let language = state.pending[thread.index()];
        let discipline = &machine.model.0;
        let at = match transition {
            Transition::Run(_) => machine.accesses(state, thread),
            Transition::Commit(_) => {
                let letters = discipline.oldest(&mut discipline.languages(), language);
                return Effect::Writes(letters.into_iter().filter_map(location).collect());
            }
        };
        if at.is_some_and(|loc| machine.shape.is_freeable(loc)) {
            return Effect::Anything;
        }
        match machine.shape.stmt(thread, state.pcs[thread.index()]).op {
            Op::Load { .. } => at.map_or(Effect::Own, |loc| {
                let mut languages = discipline.languages();
                let free = languages.without(language, STORE_LOAD);
                match languages.without(free, loc.0) {
                    Language::EMPTY => Effect::Own,
                    _ => Effect::Reads(loc),
                }
            }),
            Op::Update { .. } => at.map_or(Effect::Own, Effect::Updates),
            Op::Store { .. } | Op::Fence(_) | Op::Drain(_) => Effect::Own,
            Op::Skip
            | Op::Assign { .. }
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::Choose { .. }
            | Op::Return { .. }
            | Op::Leave
            | Op::AtomicEnd
            | Op::Halt => Effect::Own,
            Op::New { .. } | Op::Free { .. } | Op::AtomicBegin | Op::Invoke { .. } => {
                Effect::Anything
            }
        }
    }

    fn conflicts(&self, other: &Effect) -> bool {
        match (self, other) {
            (Effect::Anything, _) | (_, Effect::Anything) => true,
            (Effect::Own, _) | (_, Effect::Own) => false,
            (Effect::Reads(_), Effect::Reads(_)) => false,
            (Effect::Writes(these), Effect::Writes(those)) => {
                these.iter().any(|loc| those.contains(loc))
            }
            (Effect::Reads(loc) | Effect::Updates(loc), Effect::Writes(these))
            | (Effect::Writes(these), Effect::Reads(loc) | Effect::Updates(loc)) => {
                these.contains(loc)
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
