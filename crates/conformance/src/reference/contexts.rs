//! What can be reached with few context switches, by brute force.
//!
//! The reference interpreter with a memory for who acted last: the judge of translations that simulate
//! store buffers within a bound on contexts \[Zac\]. Direction: exact; a search cut short says so in
//! [`Report::complete`].
//!
//! A transition is a statement, or the commit of a pending store, and belongs to the thread whose
//! statement or store it is. A *context* of a thread begins with a transition of it that follows one of
//! another thread, or is the first of all. It ends when another thread acts. Two bounds:
//!
//! - [`Bound::Switches`]: every thread begins at most k + 1 contexts.
//! - [`Bound::Ages`]: a pending store counts the contexts that its thread has begun since it was issued.
//!   None begins that would be the (k + 1)-th of a pending store. So a store that is issued in the
//!   i-th context of its thread can be pending up to the end of the (i + k)-th, and for good if there is no later one.
//!
//! *Local statements* are transitions like any other here. A translation may as well let them run at
//! any time, in any context: the reachable states are the same. Take a run in which they do. A local statement commutes with all
//! steps of other threads and with commits of its own thread, so it can be moved to just behind the last step
//! of its thread that is not local, or, if there is none, to just before the first such step, or to the
//! end of the run. The run still ends in the same state. Where the local statements were, contexts have vanished or have
//! become one, where they are now, none has begun but perhaps a first and only one.
//!
//! What is pending is as in [`super::tso`] and [`super::pso`], with an age beside every entry.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use fencepost_ir::{Condition, Fault, FenceKinds, Loc, Observable, Problem, Property, Value};

use super::in_order::{InOrder, Pending};
use super::memory::Memory;
use super::{Error, Report, Rules, Table, ThreadState, initial, is_final, judge, pso, sc, tso};

/// A model with queues, or without.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Model {
    /// Sequential consistency.
    Sc,
    /// Total store order.
    Tso,
    /// Partial store order.
    Pso,
}

/// Which runs count.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Bound {
    /// All of them.
    None,
    /// Those with at most so many context switches for each thread, and one context more.
    Switches(usize),
    /// Those in which a store is pending for at most so many context switches of its thread.
    Ages(usize),
}

/// What the exploration found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reached {
    /// Memory in every reachable state: the values of all locations.
    pub memories: BTreeSet<Vec<Value>>,
    /// The `final forall` and `final never` that some final state breaks, as positions among the properties.
    pub broken: BTreeSet<usize>,
    /// Outcomes, and what else goes wrong. Deadlocks are not looked for: a bound makes its own.
    pub report: Report,
}

/// Visits every state that the problem can reach within the bound, at most `max_states` of them.
///
/// Client operations are not supported: a thread that invokes one goes no farther.
pub fn explore(problem: &Problem, model: Model, bound: Bound, max_states: usize) -> Reached {
    match model {
        Model::Sc => search::<sc::Nothing>(problem, bound, max_states),
        Model::Tso => search::<tso::Queue>(problem, bound, max_states),
        Model::Pso => search::<pso::Queues>(problem, bound, max_states),
    }
}

/// Pending stores with their ages.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Aged<P> {
    pending: P,
    /// By location: for each pending store to it, oldest first, how many contexts its thread has begun
    /// since. Both models commit the oldest store to a location first.
    ages: BTreeMap<Loc, Vec<usize>>,
}

impl<P> Aged<P> {
    /// A context begins; false when a store would get older than `most`.
    fn grow_older(&mut self, most: usize) -> bool {
        let mut ages = self.ages.values_mut().flatten();
        ages.all(|age| {
            *age += 1;
            *age <= most
        })
    }
}

impl<P: Pending> Pending for Aged<P> {
    fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    fn has_room(&self, loc: Option<Loc>, bound: usize) -> bool {
        self.pending.has_room(loc, bound)
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
    /// Who acted last. Not kept without a bound.
    last: Option<usize>,
    /// By thread: how many contexts it has begun. Kept only where it is bounded.
    begun: Vec<usize>,
}

impl<P: Pending> State<P> {
    /// The state when it is this thread's turn: the same one, or one in which it begins a context. `None`
    /// when it may not.
    fn turn(&self, thread: usize, bound: Bound) -> Option<Self> {
        let mut state = self.clone();
        if bound == Bound::None || state.last == Some(thread) {
            return Some(state);
        }
        state.last = Some(thread);
        let may = match bound {
            Bound::None => true,
            Bound::Switches(most) => {
                state.begun[thread] += 1;
                state.begun[thread] <= most + 1
            }
            Bound::Ages(most) => state.shared.threads[thread].pending.grow_older(most),
        };
        may.then_some(state)
    }
}

fn search<P: Pending>(problem: &Problem, bound: Bound, max_states: usize) -> Reached {
    let program = &problem.program;
    let rules = Rules { program, bound: usize::MAX, table: Table::default() };
    let mut reached = Reached::default();
    reached.report.complete = true;
    let mut seen: HashSet<State<P>> = HashSet::new();
    // Breadth first: where queues grow without end, they do not get long before the search is cut.
    let mut todo: VecDeque<State<P>> = VecDeque::new();
    let begin = |shared| State { shared, last: None, begun: vec![0; program.threads.len()] };
    let mut found: Vec<Result<State<P>, Error>> =
        initial(program).into_iter().map(|step| step.map(begin)).collect();
    loop {
        for step in found.drain(..) {
            match step {
                Err(Error::Fault(fault)) => {
                    reached.report.faults.insert(fault);
                }
                Err(Error::Assertion(label)) => {
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
        judge(problem, &[], &state.shared, &mut reached.report);
        if is_final(program, &state.shared) {
            reached.broken.extend(broken(problem, &state.shared));
        }
        for at in 0..program.threads.len() {
            let Some(turn) = state.turn(at, bound) else { continue };
            let thread = &turn.shared.threads[at];
            let steps = thread.steps(&rules, &program.threads[at], &turn.shared.memory);
            found.extend(steps.next.into_iter().map(|step| {
                step.map(|(thread, memory)| {
                    let mut next = turn.clone();
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

/// "A condition that faults breaks the `forall`, `never` or `invariant` it belongs to."
fn broken<T: ThreadState>(problem: &Problem, last: &super::State<T>) -> Vec<usize> {
    let value = |what: &Observable| match *what {
        Observable::Loc(loc) => last.memory.read(loc),
        Observable::Reg(thread, reg) => last.threads[thread.index()].register(reg),
    };
    let holds = |condition: &Condition| condition.expr.eval(&value).map(|holds| holds != 0);
    let breaks = |property: &Property| match property {
        Property::FinalForall(condition) => holds(condition) != Ok(true),
        Property::FinalNever(condition) => holds(condition) != Ok(false),
        Property::Assertions
        | Property::MutualExclusion
        | Property::Invariant(_)
        | Property::DeadlockFree
        | Property::Operations(_) => false,
    };
    let all = problem.properties.iter().enumerate();
    all.filter(|(_, property)| breaks(property)).map(|(at, _)| at).collect()
}
