//! The reference interpreter: explores all states of a program by brute force.
//!
//! Source: the book's page on semantics (`book/src/semantics.md`). Direction: exact up to the
//! bound. [`Report::complete`] says whether the search was cut short. [`Report::bound_hit`] says
//! whether the bound had an effect.
//!
//! The interpreter is a second implementation of that page. It shares only the program
//! representation and the evaluation of expressions with the engines. States are owned and cloned,
//! every statement is one step, and every state is stored. There are no reductions, no fused steps
//! and no packed states. One exception is needed for termination: positions and epochs are
//! renumbered when entries leave ([`table`], [`pso`]).
//!
//! Modules:
//! - [`memory`]: memory, allocated cells, addresses, the effect of an update.
//! - [`block`]: `init` and `atomic` blocks, which run in one step.
//! - [`in_order`]: threads that perform their statements in order. The pending stores of each model
//!   are in [`sc`], [`tso`] and [`pso`].
//! - [`table`]: threads with a window, for the table-driven models.
//! - [`arm`]: the machine of the model `arm`, with an exploration of its own.
//! - [`hang`]: states in which every thread waits forever.
//! - [`section`]: read-side sections and grace periods.
//! - [`operations`]: the results that a client's operations may return.
//! - [`contexts`]: SC, TSO and PSO with a bound on context switches.

mod arm;
mod block;
pub mod contexts;
mod hang;
mod in_order;
mod memory;
mod operations;
mod pso;
mod sc;
mod section;
mod table;
mod tso;

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use fencepost_ir::{
    Fault, Label, Observable, Op, Pc, Problem, Program, Property, Reg, Thread, Value,
};

pub use arm::{ArmReport, arm_explore, arm_outcomes};
use hang::Graph;
use in_order::InOrder;
use memory::Memory;
pub(crate) use memory::congruent;
pub use operations::Orders;
use table::Windowed;

/// A memory model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Model {
    /// Sequential consistency.
    Sc,
    /// Total store order.
    Tso,
    /// Partial store order.
    Pso,
    /// A table-driven model.
    Table(Table),
}

/// A bypass table: which later accesses may overtake which earlier accesses of the same thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Table {
    /// W->R: loads overtake stores.
    pub w_r: bool,
    /// W->W: stores overtake stores.
    pub w_w: bool,
    /// R->R: loads overtake loads.
    pub r_r: bool,
    /// R->W: stores overtake loads.
    pub r_w: bool,
    /// Whether a load may read a pending store of its own thread (forwarding).
    pub read_own_early: bool,
    /// Whether the directions of branches are guessed.
    pub speculation: bool,
}

impl Table {
    /// SC: no access overtakes another.
    pub const SC: Table = Table {
        w_r: false,
        w_w: false,
        r_r: false,
        r_w: false,
        read_own_early: false,
        speculation: false,
    };
    /// TSO.
    pub const TSO: Table = Table { w_r: true, read_own_early: true, ..Self::SC };
    /// IBM 370: TSO without forwarding.
    pub const IBM370: Table = Table { w_r: true, ..Self::SC };
    /// PSO.
    pub const PSO: Table = Table { w_w: true, ..Self::TSO };
    /// RMO without speculation: every kind of access overtakes every kind.
    pub const RMO_NOSPEC: Table = Table { r_r: true, r_w: true, ..Self::PSO };
    /// RMO.
    pub const RMO: Table = Table { speculation: true, ..Self::RMO_NOSPEC };
}

/// The result of an exploration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// The outcomes: the values of the problem's observables in each final state.
    pub outcomes: BTreeSet<Vec<Value>>,
    /// The faults that occur.
    pub faults: BTreeSet<Fault>,
    /// The labels of assertions that fail.
    pub assertion_failures: BTreeSet<Label>,
    /// Whether two threads are inside critical sections in some state. Recorded even if the problem
    /// does not declare the property.
    pub mutual_exclusion_violated: bool,
    /// Whether some state has no step although not every thread has halted. A state in which the
    /// bound disables a step, or in which a guess is pending, does not count.
    pub deadlock: bool,
    /// Whether some state is a hang. Recorded even if the problem allows hangs.
    pub hang: bool,
    /// The invariants that some state violates, as indices into the problem's properties.
    pub invariant_violations: BTreeSet<usize>,
    /// The properties of operations that some final state violates, as indices into the problem's
    /// properties.
    pub operation_violations: BTreeSet<usize>,
    /// Whether the bound ever disabled a statement. If not, the report holds for the unbounded
    /// model.
    pub bound_hit: bool,
    /// The number of visited states.
    pub states: usize,
    /// Whether every reachable state was visited. If not, the report is an under-approximation.
    pub complete: bool,
}

/// Explores all reachable states, at most `max_states` of them. `bound` limits the length of the
/// queue of a thread (TSO), of the queue of a thread and location (PSO), or of the window (table).
pub fn explore(problem: &Problem, model: Model, bound: usize, max_states: usize) -> Report {
    let mut rules = Rules { program: &problem.program, bound, table: Table::default() };
    match model {
        Model::Sc => search::<InOrder<sc::NoPending>>(problem, &rules, max_states),
        Model::Tso => search::<InOrder<tso::Queue>>(problem, &rules, max_states),
        Model::Pso => search::<InOrder<pso::Queues>>(problem, &rules, max_states),
        Model::Table(table) => {
            rules.table = table;
            search::<Windowed>(problem, &rules, max_states)
        }
    }
}

/// The parameters of the step relation.
struct Rules<'a> {
    program: &'a Program,
    bound: usize,
    /// Used by table-driven models only.
    table: Table,
}

/// A fault or a failed assertion. It ends the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum StepFailure {
    Fault(Fault),
    Assertion(Label),
}

impl From<Fault> for StepFailure {
    fn from(fault: Fault) -> Self {
        StepFailure::Fault(fault)
    }
}

/// The enabled steps of a thread in a state.
struct Steps<T> {
    /// The thread and memory after each step.
    next: Vec<Result<(T, Memory), StepFailure>>,
    /// Whether the bound disables a step.
    bound_hit: bool,
}

impl<T> Steps<T> {
    fn none() -> Self {
        Steps { next: Vec::new(), bound_hit: false }
    }

    fn one(thread: T, memory: Memory) -> Self {
        Steps { next: vec![Ok((thread, memory))], bound_hit: false }
    }

    fn disabled_by_bound() -> Self {
        Steps { next: Vec::new(), bound_hit: true }
    }
}

/// A thread's part of a state. The models differ in what is pending.
trait ThreadState: Clone + Eq + Hash {
    /// Returns the initial state: at the first statement, all registers 0, nothing pending.
    fn start(thread: &Thread) -> Self;

    /// Returns every enabled step of the thread: statements and internal steps.
    fn steps(&self, rules: &Rules, thread: &Thread, memory: &Memory) -> Steps<Self>;

    fn pc(&self) -> Pc;

    /// Returns the control point: the statement of the oldest guess, or the next statement.
    fn control_point(&self) -> Pc {
        self.pc()
    }

    /// Returns whether the thread has guessed the direction of a branch that is not resolved.
    fn has_guess(&self) -> bool {
        false
    }

    fn has_nothing_pending(&self) -> bool;

    /// Returns the number of operations that have returned. An operation has returned when control
    /// has passed its end, its result is known, and all earlier operations have returned.
    fn returned_operations(&self) -> usize;

    /// Returns the thread after `invoke`: at `pc`, with the observed counts in its registers.
    fn invoke(&self, pc: Pc, seen: &[(Reg, Value)]) -> Self;

    /// Returns whether the step from `before` to `after` issues or performs a store of the thread.
    fn stores(before: &Self, after: &Self, thread: &Thread) -> bool;

    /// Returns the value of a register in a final state.
    fn register(&self, reg: Reg) -> Value;
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State<T> {
    memory: Memory,
    threads: Vec<T>,
}

fn search<T: ThreadState>(problem: &Problem, rules: &Rules, max_states: usize) -> Report {
    let program = rules.program;
    let mut report = Report { complete: true, ..Report::default() };
    let mut seen: HashMap<State<T>, usize> = HashMap::new();
    let mut graph = Graph::default();
    let mut todo: Vec<State<T>> = Vec::new();
    let orders = orders(problem);
    let mut found: Vec<FoundStep<T>> =
        initial(program).into_iter().map(|step| FoundStep { step, idle_from: None }).collect();
    loop {
        for FoundStep { step, idle_from } in found.drain(..) {
            let state = match step {
                Err(StepFailure::Fault(fault)) => {
                    report.faults.insert(fault);
                    continue;
                }
                Err(StepFailure::Assertion(label)) => {
                    report.assertion_failures.insert(label);
                    continue;
                }
                Ok(state) => state,
            };
            let number = match seen.get(&state) {
                Some(number) => *number,
                None if seen.len() >= max_states => {
                    report.complete = false;
                    continue;
                }
                None => {
                    let number = graph.add_state();
                    seen.insert(state.clone(), number);
                    todo.push(state);
                    number
                }
            };
            if let Some(from) = idle_from {
                graph.add_step(from, number);
            }
        }
        let Some(state) = todo.pop() else { break };
        let number = seen[&state];
        record_state(problem, &orders, &state, &mut report);
        let mut bound_hit = false;
        for (at, thread) in state.threads.iter().enumerate() {
            let mut nexts: Vec<Result<State<T>, StepFailure>> = invoke(program, &state, at)
                .or(join(program, &state, at))
                .into_iter()
                .chain(section::grace_period(program, &state, at))
                .map(Ok)
                .collect();
            let steps = thread.steps(rules, &program.threads[at], &state.memory);
            bound_hit |= steps.bound_hit;
            nexts.extend(steps.next.into_iter().map(|step| {
                step.map(|(thread, memory)| {
                    let mut threads = state.threads.clone();
                    threads[at] = thread;
                    State { memory, threads }
                })
            }));
            if nexts.is_empty() && hang::discards(problem, at, &state) {
                graph.mark(number);
            }
            for step in nexts {
                let is_guess = step.as_ref().is_ok_and(hang::has_guess);
                let has_effect = |after| hang::has_effect(problem, at, &state, after);
                let is_idle = step.as_ref().is_ok_and(|after| !is_guess && !has_effect(after));
                if !is_idle && !is_guess {
                    graph.mark(number);
                }
                found.push(FoundStep { step, idle_from: is_idle.then_some(number) });
            }
        }
        report.bound_hit |= bound_hit;
        let has_guess = hang::has_guess(&state);
        report.deadlock |=
            found.is_empty() && !bound_hit && !has_guess && !is_final(program, &state);
    }
    report.states = seen.len();
    let reach_effect = graph.reach_effect();
    let is_hang = |(state, number): (&State<T>, &usize)| {
        !reach_effect[*number] && !is_final(program, state) && !hang::has_guess(state)
    };
    // A search that was cut short does not know all steps.
    report.hang = report.complete && seen.iter().any(is_hang);
    report
}

/// A step that was found and is not recorded yet.
struct FoundStep<T> {
    step: Result<State<T>, StepFailure>,
    /// The number of the state before the step, if the step has no effect.
    idle_from: Option<usize>,
}

/// Returns the step of a thread whose next statement is `invoke`. The step reads how many
/// operations of each other thread have returned.
fn invoke<T: ThreadState>(program: &Program, state: &State<T>, at: usize) -> Option<State<T>> {
    let stmt = program.threads[at].stmt(state.threads[at].pc());
    let Op::Invoke { seen } = &stmt.op else { return None };
    let seen = seen.iter().map(|(other, reg)| {
        let returned = state.threads[other.index()].returned_operations();
        (*reg, returned as Value)
    });
    let mut after = state.clone();
    after.threads[at] = state.threads[at].invoke(stmt.next, &seen.collect::<Vec<_>>());
    Some(after)
}

/// Returns the step of a thread whose next statement is `join`: it waits until all other threads
/// have halted and nothing of them is pending.
fn join<T: ThreadState>(program: &Program, state: &State<T>, at: usize) -> Option<State<T>> {
    let stmt = program.threads[at].stmt(state.threads[at].pc());
    let has_finished = |other: usize| {
        let thread = &state.threads[other];
        matches!(program.threads[other].stmt(thread.pc()).op, Op::Halt)
            && thread.has_nothing_pending()
    };
    let mut others = (0..state.threads.len()).filter(|other| *other != at);
    if !matches!(stmt.op, Op::Join) || !others.all(has_finished) {
        return None;
    }
    let mut after = state.clone();
    after.threads[at] = state.threads[at].invoke(stmt.next, &[]);
    Some(after)
}

/// Returns memory after the `init` block, which runs alone and directly on memory.
fn initial_memories(program: &Program) -> Vec<Result<Memory, StepFailure>> {
    let memory = Memory::initial(program);
    match &program.init {
        None => vec![Ok(memory)],
        Some(init) => {
            let registers = vec![0; init.registers.len()];
            let ends = block::run(program, init, Pc(0), registers, memory);
            ends.into_iter().map(|end| end.map(|end| end.memory)).collect()
        }
    }
}

/// Returns the initial states. The `init` block runs first. Then all threads start.
fn initial<T: ThreadState>(program: &Program) -> Vec<Result<State<T>, StepFailure>> {
    let threads: Vec<T> = program.threads.iter().map(T::start).collect();
    initial_memories(program)
        .into_iter()
        .map(|memory| memory.map(|memory| State { memory, threads: threads.clone() }))
        .collect()
}

/// Returns, for each property of operations, its index and every order of the operations.
fn orders(problem: &Problem) -> Vec<(usize, Orders)> {
    let mut found = Vec::new();
    for (at, property) in problem.properties.iter().enumerate() {
        if let Property::Operations(operations) = property {
            found.push((at, Orders::all(&problem.program, operations)));
        }
    }
    found
}

/// Returns whether a state is final: all threads have halted and nothing is pending.
fn is_final<T: ThreadState>(program: &Program, state: &State<T>) -> bool {
    state.threads.iter().zip(&program.threads).all(|(thread, code)| {
        matches!(code.stmt(thread.pc()).op, Op::Halt) && thread.has_nothing_pending()
    })
}

/// Adds the outcome and the violations of a state to the report.
fn record_state<T: ThreadState>(
    problem: &Problem,
    orders: &[(usize, Orders)],
    state: &State<T>,
    report: &mut Report,
) {
    let program = &problem.program;
    let value = |what: &Observable| match *what {
        Observable::Loc(loc) => state.memory.read(loc),
        Observable::Reg(thread, reg) => state.threads[thread.index()].register(reg),
        Observable::At(thread, label) => {
            let point = state.threads[thread.index()].control_point();
            Value::from(program.thread(thread).stmt(point).label == label)
        }
    };
    if is_final(program, state) {
        report.outcomes.insert(problem.observed.iter().map(value).collect());
        for (at, orders) in orders {
            if let Property::Operations(operations) = &problem.properties[*at]
                && !orders.can_explain(operations, &value)
            {
                report.operation_violations.insert(*at);
            }
        }
    }
    let inside = state.threads.iter().zip(&program.threads);
    let inside = inside.filter(|(thread, code)| code.stmt(thread.control_point()).critical).count();
    report.mutual_exclusion_violated |= inside >= 2;
    for (at, property) in problem.properties.iter().enumerate() {
        if let Property::Invariant(condition) = property
            && !condition.expr.eval(&value).is_ok_and(|holds| holds != 0)
        {
            report.invariant_violations.insert(at);
        }
    }
}
