//! Transitions and their independence, for sleep sets.
//!
//! Source: \[LW10\] section 4, rules 1 to 4. A *transition* is the next statement of a thread, with
//! any result, or the commit of its oldest store, whichever store that is.
//!
//! DIVERGENCE: the rules of the paper consider all locations that a thread uses. Here only its next
//! statement counts, which does not change until the thread moves. For a choice or the end of a
//! critical section, the access that follows at once counts, too (see [`continues_at_once`]). In rule 3, the buffer that must
//! contain the location is that of the loading thread (the paper has the other one). A fence waits
//! only for stores of its own thread and is independent of the steps of other threads.

use super::{Order, Symbolic, SymbolicState};
use fencepost_automata::Language;
use fencepost_ir::{Loc, Op, Pc, Thread, ThreadId, flow};
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
            let (thread, pc) = (machine.shape.program().thread(t), state.pcs[t.index()]);
            match thread.stmt(pc).op {
                Op::Store { .. } => true,
                Op::Choose { .. } | Op::Leave => accesses_after(thread, pc).stores,
                Op::Skip
                | Op::Assign { .. }
                | Op::Load { .. }
                | Op::Update { .. }
                | Op::Fence(_)
                | Op::Drain(_)
                | Op::Branch { .. }
                | Op::Assume(_)
                | Op::Assert(_)
                | Op::New { .. }
                | Op::Free { .. }
                | Op::AtomicBegin
                | Op::AtomicEnd
                | Op::Invoke { .. }
                | Op::Return { .. }
                | Op::Join
                | Op::SectionBegin { .. }
                | Op::SectionEnd { .. }
                | Op::GracePeriod { .. }
                | Op::Halt => false,
            }
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
    /// The transition reads one of these locations in memory.
    Reads(Vec<Loc>),
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
            Op::Load { .. } => Effect::reads(machine, language, at.into_iter().collect()),
            Op::Choose { .. } | Op::Leave => {
                let pc = state.pcs[thread.index()];
                Effect::reads(
                    machine,
                    language,
                    accesses_after(machine.shape.program().thread(thread), pc).loads,
                )
            }
            Op::Update { .. } => at.map_or(Effect::Local, Effect::Updates),
            Op::Store { .. } | Op::Fence(_) | Op::Drain(_) => Effect::Local,
            Op::Skip
            | Op::Assign { .. }
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::Return { .. }
            | Op::AtomicEnd
            | Op::Halt => Effect::Local,
            Op::New { .. }
            | Op::Free { .. }
            | Op::AtomicBegin
            | Op::Invoke { .. }
            | Op::Join
            | Op::SectionBegin { .. }
            | Op::SectionEnd { .. }
            | Op::GracePeriod { .. } => Effect::Anything,
        }
    }

    /// Returns the effect of a load of one of these locations. A load that always reads a store of
    /// its own thread has no effect.
    fn reads(machine: &Symbolic<'_>, language: Language, mut locations: Vec<Loc>) -> Effect {
        let discipline = &machine.model.0;
        let mut languages = discipline.languages();
        let free = languages.without_class(language, STORE_LOAD);
        locations.retain(|loc| languages.without_class(free, loc.0) != Language::EMPTY);
        if locations.is_empty() { Effect::Local } else { Effect::Reads(locations) }
    }

    fn conflicts(&self, other: &Effect) -> bool {
        match (self, other) {
            (Effect::Anything, _) | (_, Effect::Anything) => true,
            (Effect::Local, _) | (_, Effect::Local) => false,
            (Effect::Reads(_), Effect::Reads(_)) => false,
            (Effect::Writes(locations), Effect::Writes(others) | Effect::Reads(others))
            | (Effect::Reads(others), Effect::Writes(locations)) => {
                locations.iter().any(|loc| others.contains(loc))
            }
            (Effect::Updates(loc), Effect::Writes(locations) | Effect::Reads(locations))
            | (Effect::Writes(locations) | Effect::Reads(locations), Effect::Updates(loc)) => {
                locations.contains(loc)
            }
            (Effect::Updates(one), Effect::Updates(other)) => one == other,
        }
    }
}

/// Returns whether a thread that has just executed the statement at `before` and is now at `after`
/// continues at once, before anything else happens.
///
/// A choice and the end of a critical section commute with every step of other threads and with
/// every commit, so nothing needs to happen between them and the access that follows. The state in
/// between is not stored. \[LW10\] has no such states: a process has several transitions from one
/// control location.
pub(super) fn continues_at_once(thread: &Thread, before: Pc, after: Pc) -> bool {
    let (left, now) = (thread.stmt(before), thread.stmt(after));
    let is_fixed_load = matches!(&now.op, Op::Load { from, .. } if from.as_fixed().is_some());
    let accesses = is_fixed_load || matches!(now.op, Op::Store { .. });
    // A state inside a critical section is checked, so it must not be skipped.
    accesses && matches!(left.op, Op::Choose { .. } | Op::Leave) && (left.critical || !now.critical)
}

/// The accesses that may follow a statement at once.
struct FollowingAccesses {
    /// The locations of the loads.
    loads: Vec<Loc>,
    /// Whether one of them is a store.
    stores: bool,
}

/// Returns the accesses that may follow a statement at once.
fn accesses_after(thread: &Thread, pc: Pc) -> FollowingAccesses {
    let mut found = FollowingAccesses { loads: Vec::new(), stores: false };
    let mut seen = vec![false; thread.code.len()];
    let mut open = vec![thread.stmt(pc).next];
    while let Some(here) = open.pop() {
        let stmt = thread.stmt(here);
        if std::mem::replace(&mut seen[here.index()], true) {
            continue;
        }
        if let Op::Load { from, .. } = &stmt.op {
            found.loads.extend(from.as_fixed());
        } else if let Op::Store { .. } = stmt.op {
            found.stores = true;
        } else if stmt.op.is_local() {
            open.extend(flow::successors(stmt));
        }
    }
    found
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
