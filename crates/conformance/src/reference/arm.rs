//! The machine of the model `arm`, by brute force.
//!
//! Source: the machine of the book's page on the model (`book/src/arm.md`). A state is memory and,
//! for each thread, its window. Every step of the page is one step here: fetch a statement, perform
//! a read, perform a write. Nothing is fetched eagerly and no step is left out, so a comparison with
//! an engine also tests its reductions.
//!
//! Direction: exact if the exploration is complete. Only outcomes are computed. A run in which a
//! thread faults, fails an assertion or blocks has no outcome. Unsupported statements are those that
//! the page does not define: `drain`, `atomic` blocks, records, client operations, `finally`,
//! sections.
//!
//! Decisions that the page leaves open:
//! - An `assume` is a branch that is always guessed to hold.
//! - An exclusive store belongs to the last exclusive load before it. If there is none, or if it has
//!   another location, the run is discarded.
//!
//! Modules:
//! - [`entry`]: the entries of a window: operands, addresses, values, what is pending.
//! - [`window`]: the rules for reads and writes, and the steps of one thread.

mod entry;
mod window;

use std::collections::{BTreeSet, HashSet};

use fencepost_ir::{Loc, Observable, Op, Problem, Program, Value};

use window::Window;

/// The result of an exploration under `arm`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ArmReport {
    /// The outcomes: the values of the problem's observables in each final state.
    pub outcomes: BTreeSet<Vec<Value>>,
    /// The number of visited states.
    pub states: usize,
    /// Whether every reachable state was visited. If not, outcomes may be missing.
    pub complete: bool,
}

/// A state of all threads.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    memory: Vec<Value>,
    threads: Vec<Window>,
}

/// Returns the outcomes of all final states, if there are at most `max_states` states.
pub fn arm_outcomes(problem: &Problem, max_states: usize) -> Option<BTreeSet<Vec<Value>>> {
    let report = arm_explore(problem, max_states);
    report.complete.then_some(report.outcomes)
}

/// Explores all reachable states, at most `max_states` of them.
pub fn arm_explore(problem: &Problem, max_states: usize) -> ArmReport {
    let program = &problem.program;
    let start = State {
        memory: program.locations.iter().map(|location| location.init).collect(),
        threads: program.threads.iter().map(Window::start).collect(),
    };
    let mut report = ArmReport { complete: true, ..ArmReport::default() };
    let mut seen = HashSet::from([start.clone()]);
    let mut todo = vec![start];
    while let Some(state) = todo.pop() {
        if is_final(program, &state) {
            report.outcomes.insert(outcome(problem, &state));
        }
        for next in steps(program, &state) {
            if seen.contains(&next) {
                continue;
            }
            if seen.len() >= max_states {
                report.complete = false;
                continue;
            }
            seen.insert(next.clone());
            todo.push(next);
        }
    }
    report.states = seen.len();
    report
}

/// Returns the states after each step of each thread.
fn steps(program: &Program, state: &State) -> Vec<State> {
    let mut found = Vec::new();
    for (at, window) in state.threads.iter().enumerate() {
        let with = |window: Window, memory: Vec<Value>| {
            let mut threads = state.threads.clone();
            threads[at] = window;
            State { memory, threads }
        };
        let thread = window::Code { program, thread: &program.threads[at] };
        for next in window.fetch(thread) {
            found.push(with(next, state.memory.clone()));
        }
        for next in window.perform_reads(thread, &state.memory) {
            found.push(with(next, state.memory.clone()));
        }
        for (next, loc, value) in window.perform_writes(thread) {
            if !is_held(program, state, at, loc) {
                let mut memory = state.memory.clone();
                memory[loc.index()] = value;
                found.push(with(next, memory));
            }
        }
    }
    found
}

/// Returns whether another thread than `at` holds a location.
fn is_held(program: &Program, state: &State, at: usize, loc: Loc) -> bool {
    state.threads.iter().enumerate().any(|(other, window)| {
        let thread = window::Code { program, thread: &program.threads[other] };
        other != at && window.holds(thread, loc)
    })
}

/// Returns whether all threads have halted and nothing is pending.
fn is_final(program: &Program, state: &State) -> bool {
    state.threads.iter().zip(&program.threads).all(|(window, thread)| {
        matches!(thread.stmt(window.pc()).op, Op::Halt) && window.is_empty()
    })
}

fn outcome(problem: &Problem, state: &State) -> Vec<Value> {
    let value = |what: &Observable| match what {
        Observable::Loc(loc) => state.memory[loc.index()],
        Observable::Reg(thread, reg) => state.threads[thread.index()].register(*reg),
        Observable::At(..) => unreachable!("only invariants mention control points"),
    };
    problem.observed.iter().map(value).collect()
}
