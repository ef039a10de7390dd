//! The reference interpreter: what a program means, by brute force.
//!
//! Source: the book's page "What a program means" (`book/src/semantics.md`); where a comment
//! quotes, it quotes that page. Direction: exact up to the bound; a search cut short says so in
//! [`Report::complete`], a bound that mattered in [`Report::bound_hit`].
//!
//! It is the second reading of that page and therefore shares nothing with the engines but the
//! program representation and the evaluation of expressions. States are owned and cloned, every
//! statement is a step of its own, every state is kept. Nothing is reduced, fused or packed, with
//! one exception that termination needs: positions and epochs are renumbered when entries leave
//! ([`table`], [`pso`]).
//!
//! The rooms:
//! - [`memory`]: memory, allocated cells, addresses, what an update does.
//! - [`block`]: `init` and `atomic`, which run in one step.
//! - [`in_order`]: threads that perform their statements in order, with what each model leaves
//!   pending: [`sc`], [`tso`], [`pso`].
//! - [`table`]: threads with a window, the table-driven models.
//! - [`operations`]: what a client's operations may return.
//! - [`contexts`]: all of this but for tables, with a count of context switches.

mod block;
pub mod contexts;
mod in_order;
mod memory;
mod operations;
mod pso;
mod sc;
mod table;
mod tso;

use std::collections::{BTreeSet, HashSet};
use std::hash::Hash;

use fencepost_ir::{
    Fault, Label, Observable, Op, Pc, Problem, Program, Property, Reg, Thread, Value,
};

use in_order::InOrder;
use memory::Memory;
use operations::Orders;
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

/// A bypass table: whether a later access of the second kind may overtake an earlier one of the
/// first kind.
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
    /// Whether a load may take the value of its own thread's pending store.
    pub read_own_early: bool,
}

impl Table {
    /// SC: nothing overtakes.
    pub const SC: Table =
        Table { w_r: false, w_w: false, r_r: false, r_w: false, read_own_early: false };
    /// TSO.
    pub const TSO: Table = Table { w_r: true, read_own_early: true, ..Self::SC };
    /// IBM 370: TSO without reading own writes early.
    pub const IBM370: Table = Table { w_r: true, ..Self::SC };
    /// PSO.
    pub const PSO: Table = Table { w_w: true, ..Self::TSO };
    /// RMO: everything overtakes.
    pub const RMO: Table = Table { r_r: true, r_w: true, ..Self::PSO };
}

/// What the exploration found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// The values of what the problem observes, in each final state.
    pub outcomes: BTreeSet<Vec<Value>>,
    /// Faults that happen.
    pub faults: BTreeSet<Fault>,
    /// The labels of assertions that fail.
    pub assertion_failures: BTreeSet<Label>,
    /// Whether two threads are inside critical sections in some state, declared as a property or
    /// not.
    pub mutual_exclusion_violated: bool,
    /// Whether some state has no step although not every thread has halted. A state in which the
    /// bound disables a step does not count.
    pub deadlock: bool,
    /// The invariants that some state violates, as indices into the problem's properties.
    pub invariant_violations: BTreeSet<usize>,
    /// The properties of operations that some final state violates, as such indices.
    pub operation_violations: BTreeSet<usize>,
    /// Whether the bound ever disabled a statement: if not, the report is that of the unbounded
    /// model.
    pub bound_hit: bool,
    /// How many states were visited.
    pub states: usize,
    /// Whether every reachable state was visited. When not, everything above is still true, but
    /// there may be more.
    pub complete: bool,
}

/// Visits every state the problem can reach, at most `max_states` of them. `bound` limits what is
/// pending: the queue of a thread (TSO), of a thread and location (PSO), the window (table).
pub fn explore(problem: &Problem, model: Model, bound: usize, max_states: usize) -> Report {
    let mut rules = Rules { program: &problem.program, bound, table: Table::default() };
    match model {
        Model::Sc => search::<InOrder<sc::Nothing>>(problem, &rules, max_states),
        Model::Tso => search::<InOrder<tso::Queue>>(problem, &rules, max_states),
        Model::Pso => search::<InOrder<pso::Queues>>(problem, &rules, max_states),
        Model::Table(table) => {
            rules.table = table;
            search::<Windowed>(problem, &rules, max_states)
        }
    }
}

/// What every step depends on beside the state.
struct Rules<'a> {
    program: &'a Program,
    bound: usize,
    /// Only the table-driven models look at it.
    table: Table,
}

/// What ends a run early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Error {
    Fault(Fault),
    Assertion(Label),
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Error::Fault(fault)
    }
}

/// The steps a thread can take in a state: where each leads, for the thread and for memory.
struct Steps<T> {
    next: Vec<Result<(T, Memory), Error>>,
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

/// A thread's part of a state. What differs between models is what it has pending.
trait ThreadState: Clone + Eq + Hash {
    /// At the first statement, all registers 0, nothing pending.
    fn start(thread: &Thread) -> Self;

    /// Every step of the thread that is enabled: statements and internal steps.
    fn steps(&self, rules: &Rules, thread: &Thread, memory: &Memory) -> Steps<Self>;

    fn pc(&self) -> Pc;

    fn nothing_pending(&self) -> bool;

    /// How many operations have returned: "control has passed its end, its result is known, and the
    /// operations before it have returned".
    fn returned(&self) -> usize;

    /// The thread after `invoke`: at `pc`, with what it saw in its registers.
    fn invoke(&self, pc: Pc, seen: &[(Reg, Value)]) -> Self;

    /// The value of a register in a final state.
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
    let mut seen: HashSet<State<T>> = HashSet::new();
    let mut todo: Vec<State<T>> = Vec::new();
    let mut found: Vec<Result<State<T>, Error>> = initial(program);
    let orders = orders(problem, &found);
    loop {
        for step in found.drain(..) {
            match step {
                Err(Error::Fault(fault)) => {
                    report.faults.insert(fault);
                }
                Err(Error::Assertion(label)) => {
                    report.assertion_failures.insert(label);
                }
                Ok(state) if seen.contains(&state) => {}
                Ok(_) if seen.len() >= max_states => report.complete = false,
                Ok(state) => {
                    seen.insert(state.clone());
                    todo.push(state);
                }
            }
        }
        let Some(state) = todo.pop() else { break };
        judge(problem, &orders, &state, &mut report);
        let mut bound_hit = false;
        for (at, thread) in state.threads.iter().enumerate() {
            found.extend(invoke(program, &state, at).map(Ok));
            let steps = thread.steps(rules, &program.threads[at], &state.memory);
            bound_hit |= steps.bound_hit;
            found.extend(steps.next.into_iter().map(|step| {
                step.map(|(thread, memory)| {
                    let mut threads = state.threads.clone();
                    threads[at] = thread;
                    State { memory, threads }
                })
            }));
        }
        report.bound_hit |= bound_hit;
        report.deadlock |= found.is_empty() && !bound_hit && !is_final(program, &state);
    }
    report.states = seen.len();
    report
}

/// The step of a thread that is about to begin an operation: it sees how many the others have returned
/// from.
fn invoke<T: ThreadState>(program: &Program, state: &State<T>, at: usize) -> Option<State<T>> {
    let stmt = program.threads[at].stmt(state.threads[at].pc());
    let Op::Invoke { seen } = &stmt.op else { return None };
    let seen = seen.iter().map(|(other, reg)| {
        let returned = state.threads[other.index()].returned();
        (*reg, returned as Value)
    });
    let mut after = state.clone();
    after.threads[at] = state.threads[at].invoke(stmt.next, &seen.collect::<Vec<_>>());
    Some(after)
}

/// "The `init` block runs first, alone, directly on memory. Then all threads start."
fn initial<T: ThreadState>(program: &Program) -> Vec<Result<State<T>, Error>> {
    let memory = Memory::initial(program);
    let memories: Vec<Result<Memory, Error>> = match &program.init {
        None => vec![Ok(memory)],
        Some(init) => {
            let registers = vec![0; init.registers.len()];
            let ends = block::run(program, init, Pc(0), registers, memory);
            ends.into_iter().map(|end| end.map(|end| end.memory)).collect()
        }
    };
    let threads: Vec<T> = program.threads.iter().map(T::start).collect();
    memories
        .into_iter()
        .map(|memory| memory.map(|memory| State { memory, threads: threads.clone() }))
        .collect()
}

/// For each property of operations: its position, and every order.
fn orders<T: ThreadState>(
    problem: &Problem,
    initial: &[Result<State<T>, Error>],
) -> Vec<(usize, Orders)> {
    let memories: Vec<Memory> = initial.iter().flatten().map(|s| s.memory.clone()).collect();
    let mut found = Vec::new();
    for (at, property) in problem.properties.iter().enumerate() {
        if let Property::Operations(operations) = property {
            found.push((at, Orders::all(&problem.program, operations, &memories)));
        }
    }
    found
}

/// "A run ends in a final state when all threads have halted and nothing is pending."
fn is_final<T: ThreadState>(program: &Program, state: &State<T>) -> bool {
    state.threads.iter().zip(&program.threads).all(|(thread, code)| {
        matches!(code.stmt(thread.pc()).op, Op::Halt) && thread.nothing_pending()
    })
}

/// Notes what a state shows.
fn judge<T: ThreadState>(
    problem: &Problem,
    orders: &[(usize, Orders)],
    state: &State<T>,
    report: &mut Report,
) {
    let program = &problem.program;
    let value = |what: &Observable| match *what {
        Observable::Loc(loc) => state.memory.read(loc),
        Observable::Reg(thread, reg) => state.threads[thread.index()].register(reg),
    };
    if is_final(program, state) {
        report.outcomes.insert(problem.observed.iter().map(value).collect());
        for (at, orders) in orders {
            if let Property::Operations(operations) = &problem.properties[*at]
                && !orders.explain(operations, &value)
            {
                report.operation_violations.insert(*at);
            }
        }
    }
    let inside = state.threads.iter().zip(&program.threads);
    let inside = inside.filter(|(thread, code)| code.stmt(thread.pc()).critical).count();
    report.mutual_exclusion_violated |= inside >= 2;
    for (at, property) in problem.properties.iter().enumerate() {
        if let Property::Invariant(condition) = property
            && !condition.expr.eval(&value).is_ok_and(|holds| holds != 0)
        {
            report.invariant_violations.insert(at);
        }
    }
}
