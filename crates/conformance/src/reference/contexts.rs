//! The states reachable with a bounded number of context switches, by brute force.
//!
//! This is the reference interpreter with a record of the thread that acted last. It is the oracle
//! for translations that simulate store buffers within a bound on contexts \[Zac\]. Direction:
//! exact; [`Report::complete`] says whether the search was cut short.
//!
//! A transition is a statement or the commit of a pending store. It belongs to the thread of that
//! statement or store. A *context* of a thread begins with a transition of the thread that is the
//! first of the run or follows a transition of another thread. The context ends when another thread
//! acts. There are two bounds:
//!
//! - [`Bound::Switches`]: every thread begins at most k + 1 contexts.
//! - [`Bound::Ages`]: the age of a pending store is the number of contexts that its thread has
//!   begun since it issued the store. A thread cannot begin a context if the age of one of its
//!   pending stores would become k + 1. So a store issued in the i-th context of its thread can be
//!   pending up to the end of the (i + k)-th context. If the thread has no later context, the store
//!   can stay pending.
//!
//! *Local statements* are ordinary transitions here. A translation may let them run at any time, in
//! any context. The reachable states are the same, for this reason. Take a run of such a
//! translation. A local statement commutes with all steps of other threads and with commits of its
//! own thread. So it can be moved directly after the previous non-local step of its thread. If
//! there is none, it can be moved directly before the first non-local step of its thread, or to the
//! end of the run. The final state is the same. At the old positions, contexts disappear or merge.
//! At the new positions, no context begins, except perhaps the first and only context of a thread.
//!
//! The pending stores are those of [`super::tso`] and [`super::pso`], each with an age.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use fencepost_ir::{Condition, Fault, FenceKinds, Loc, Observable, Problem, Property, Value};

use super::in_order::{InOrder, Pending};
use super::memory::Memory;
use super::{
    Report, Rules, StepFailure, Table, ThreadState, initial, is_final, pso, record_state, sc, tso,
};

/// A memory model whose threads perform their statements in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Model {
    /// Sequential consistency.
    Sc,
    /// Total store order.
    Tso,
    /// Partial store order.
    Pso,
}

/// The bound on context switches. It selects the runs to explore.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Bound {
    /// No bound.
    None,
    /// At most this many context switches per thread, so at most one more context.
    Switches(usize),
    /// A store is pending for at most this many context switches of its thread.
    Ages(usize),
}

/// The result of an exploration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ContextReport {
    /// Memory in every reachable state: the values of all locations.
    pub memories: BTreeSet<Vec<Value>>,
    /// The `final forall` and `final never` that some final state violates, as indices into the
    /// problem's properties.
    pub final_violations: BTreeSet<usize>,
    /// Outcomes and other violations. Deadlocks are not reported, because the bound causes some.
    pub report: Report,
}

/// Explores every state that is reachable within the bound, at most `max_states` of them.
///
/// Client operations are not supported: a thread that invokes one is blocked.
pub fn explore(problem: &Problem, model: Model, bound: Bound, max_states: usize) -> ContextReport {
    match model {
        Model::Sc => search::<sc::NoPending>(problem, bound, max_states),
        Model::Tso => search::<tso::Queue>(problem, bound, max_states),
        Model::Pso => search::<pso::Queues>(problem, bound, max_states),
    }
}

/// Pending stores with their ages.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Aged<P> {
    pending: P,
    /// By location: the age of each pending store to it, oldest store first. Both models commit the
    /// oldest store to a location first.
    ages: BTreeMap<Loc, Vec<usize>>,
}

impl<P> Aged<P> {
    /// Increments all ages at the begin of a context. Returns `false` if an age would exceed
    /// `limit`.
    fn increment_ages(&mut self, limit: usize) -> bool {
        let mut ages = self.ages.values_mut().flatten();
        ages.all(|age| {
            *age += 1;
            *age <= limit
        })
    }
}

impl<P: Pending> Pending for Aged<P> {
    fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    fn fits_bound(&self, loc: Option<Loc>, bound: usize) -> bool {
        self.pending.fits_bound(loc, bound)
    }

    fn store(
        &mut self,
        rules: &Rules,
        memory: &mut Memory,
        loc: Loc,
        value: Value,
    ) -> Result<(), Fault> {
        self.pending.store(rules, memory, loc, value)?;
        if self.pending.youngest(loc).is_some() {
            self.ages.entry(loc).or_default().push(0);
        }
        Ok(())
    }

    fn may_load(&self) -> bool {
        self.pending.may_load()
    }

    fn youngest(&self, loc: Loc) -> Option<Value> {
        self.pending.youngest(loc)
    }

    fn may_update(&self, loc: Option<Loc>) -> bool {
        self.pending.may_update(loc)
    }

    fn fence(&mut self, kinds: FenceKinds) -> bool {
        self.pending.fence(kinds)
    }

    fn commits(&self) -> Vec<(Loc, Value, Self)> {
        let after = |(loc, value, pending)| {
            let mut ages = self.ages.clone();
            let of_location = ages.get_mut(&loc).expect("every pending store has an age");
            of_location.remove(0);
            if of_location.is_empty() {
                ages.remove(&loc);
            }
            (loc, value, Aged { pending, ages })
        };
        self.pending.commits().into_iter().map(after).collect()
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State<P> {
    /// Memory and threads.
    shared: super::State<InOrder<Aged<P>>>,
    /// The thread that acted last. Always `None` without a bound.
    last_thread: Option<usize>,
    /// By thread: the number of contexts begun. Only counted for [`Bound::Switches`].
    contexts_begun: Vec<usize>,
}

impl<P: Pending> State<P> {
    /// Returns the state in which this thread acts next. If another thread acted last, the thread
    /// begins a context. Returns `None` if the bound does not allow it.
    fn schedule(&self, thread: usize, bound: Bound) -> Option<Self> {
        let mut state = self.clone();
        if bound == Bound::None || state.last_thread == Some(thread) {
            return Some(state);
        }
        state.last_thread = Some(thread);
        let is_allowed = match bound {
            Bound::None => true,
            Bound::Switches(limit) => {
                state.contexts_begun[thread] += 1;
                state.contexts_begun[thread] <= limit + 1
            }
            Bound::Ages(limit) => state.shared.threads[thread].pending.increment_ages(limit),
        };
        is_allowed.then_some(state)
    }
}

fn search<P: Pending>(problem: &Problem, bound: Bound, max_states: usize) -> ContextReport {
    let program = &problem.program;
    let rules = Rules { program, bound: usize::MAX, table: Table::default() };
    let mut reached = ContextReport::default();
    reached.report.complete = true;
    let mut seen: HashSet<State<P>> = HashSet::new();
    // Breadth first: if queues grow without bound, they stay short until the search reaches its
    // limit.
    let mut todo: VecDeque<State<P>> = VecDeque::new();
    let begin = |shared| State {
        shared,
        last_thread: None,
        contexts_begun: vec![0; program.threads.len()],
    };
    let mut found: Vec<Result<State<P>, StepFailure>> =
        initial(program).into_iter().map(|step| step.map(begin)).collect();
    loop {
        for step in found.drain(..) {
            match step {
                Err(StepFailure::Fault(fault)) => {
                    reached.report.faults.insert(fault);
                }
                Err(StepFailure::Assertion(label)) => {
                    reached.report.assertion_failures.insert(label);
                }
                Ok(state) if seen.contains(&state) => {}
                Ok(_) if seen.len() >= max_states => reached.report.complete = false,
                Ok(state) => {
                    seen.insert(state.clone());
                    todo.push_back(state);
                }
            }
        }
        let Some(state) = todo.pop_front() else { break };
        reached.memories.insert(state.shared.memory.values().to_vec());
        record_state(problem, &[], &state.shared, &mut reached.report);
        if is_final(program, &state.shared) {
            reached.final_violations.extend(final_violations(problem, &state.shared));
        }
        for at in 0..program.threads.len() {
            let Some(scheduled) = state.schedule(at, bound) else { continue };
            let thread = &scheduled.shared.threads[at];
            let steps = thread.steps(&rules, &program.threads[at], &scheduled.shared.memory);
            found.extend(steps.next.into_iter().map(|step| {
                step.map(|(thread, memory)| {
                    let mut next = scheduled.clone();
                    next.shared.threads[at] = thread;
                    next.shared.memory = memory;
                    next
                })
            }));
        }
    }
    reached.report.states = seen.len();
    reached
}

/// Returns the `final forall` and `final never` that a final state violates. A condition that
/// faults violates its property.
fn final_violations<T: ThreadState>(problem: &Problem, state: &super::State<T>) -> Vec<usize> {
    let value = |what: &Observable| match *what {
        Observable::Loc(loc) => state.memory.read(loc),
        Observable::Reg(thread, reg) => state.threads[thread.index()].register(reg),
        Observable::At(..) => unreachable!("only invariants mention control points"),
    };
    let holds = |condition: &Condition| condition.expr.eval(&value).map(|holds| holds != 0);
    let is_violated = |property: &Property| match property {
        Property::FinalForall(condition) => holds(condition) != Ok(true),
        Property::FinalNever(condition) => holds(condition) != Ok(false),
        Property::Assertions
        | Property::MutualExclusion
        | Property::Invariant(_)
        | Property::DeadlockFree
        | Property::Progress
        | Property::Operations(_) => false,
    };
    let all = problem.properties.iter().enumerate();
    all.filter(|(_, property)| is_violated(property)).map(|(at, _)| at).collect()
}
