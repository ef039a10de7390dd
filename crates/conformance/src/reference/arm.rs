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

use std::collections::{BTreeSet, HashMap, HashSet};

use fencepost_ir::{Loc, Observable, Op, Problem, Value};

use window::{Code, Window};

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

/// A state of all threads. Equal states of a thread occur in many states, so they are stored once.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    memory: Vec<Value>,
    /// By thread: the number of its window.
    threads: Vec<usize>,
}

/// A step of one thread.
#[derive(Clone, Copy)]
struct Step {
    /// The number of the window after the step.
    window: usize,
    /// What the step writes to memory.
    write: Option<(Loc, Value)>,
}

/// The windows of one thread, and their steps.
struct Windows<'a> {
    code: Code<'a>,
    all: Vec<Window>,
    numbers: HashMap<Window, usize>,
    /// By window and memory: the steps. Holds of other threads are not considered.
    steps: HashMap<(usize, Vec<Value>), Vec<Step>>,
}

/// Returns the outcomes of all final states, if there are at most `max_states` states.
pub fn arm_outcomes(problem: &Problem, max_states: usize) -> Option<BTreeSet<Vec<Value>>> {
    let report = arm_explore(problem, max_states);
    report.complete.then_some(report.outcomes)
}

/// Explores all reachable states, at most `max_states` of them.
///
/// # Panics
/// If the program has an `init` block or a statement that the model does not define.
pub fn arm_explore(problem: &Problem, max_states: usize) -> ArmReport {
    let program = &problem.program;
    assert!(program.init.is_none(), "the model `arm` does not define `init`");
    let mut windows: Vec<Windows> =
        program.threads.iter().map(|thread| Windows::new(Code { program, thread })).collect();
    let memory = program.locations.iter().map(|location| location.init).collect();
    let start = State { memory, threads: vec![0; windows.len()] };
    let mut report = ArmReport { complete: true, ..ArmReport::default() };
    let mut seen = HashSet::from([start.clone()]);
    let mut todo = vec![start];
    while let Some(state) = todo.pop() {
        if is_final(&windows, &state) {
            report.outcomes.insert(outcome(problem, &windows, &state));
        }
        for next in steps(&mut windows, &state) {
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

impl<'a> Windows<'a> {
    fn new(code: Code<'a>) -> Self {
        let start = Window::start(code.thread);
        let numbers = HashMap::from([(start.clone(), 0)]);
        Windows { code, all: vec![start], numbers, steps: HashMap::new() }
    }

    /// Returns the steps of the thread, with this window and memory.
    fn steps(&mut self, window: usize, memory: &[Value]) -> Vec<Step> {
        let key = (window, memory.to_vec());
        if let Some(known) = self.steps.get(&key) {
            return known.clone();
        }
        let before = self.all[window].clone();
        let mut found = Vec::new();
        let mut windows = before.fetch(self.code);
        windows.extend(before.guess_comparisons(self.code));
        windows.extend(before.perform_reads(self.code, memory));
        for window in windows {
            found.push(Step { window: self.number(window), write: None });
        }
        for (window, loc, value) in before.perform_writes(self.code) {
            found.push(Step { window: self.number(window), write: Some((loc, value)) });
        }
        self.steps.insert(key, found.clone());
        found
    }

    /// Returns the number of a window.
    fn number(&mut self, window: Window) -> usize {
        let next = self.all.len();
        let number = *self.numbers.entry(window.clone()).or_insert(next);
        if number == next {
            self.all.push(window);
        }
        number
    }
}

/// Returns the states after each step of each thread.
fn steps(windows: &mut [Windows], state: &State) -> Vec<State> {
    let mut found = Vec::new();
    for at in 0..state.threads.len() {
        for step in windows[at].steps(state.threads[at], &state.memory) {
            let mut next = state.clone();
            next.threads[at] = step.window;
            if let Some((loc, value)) = step.write {
                if is_held(windows, state, at, loc) {
                    continue;
                }
                next.memory[loc.index()] = value;
            }
            found.push(next);
        }
    }
    found
}

/// Returns whether another thread than `at` holds a location.
fn is_held(windows: &[Windows], state: &State, at: usize, loc: Loc) -> bool {
    let mut others = (0..windows.len()).filter(|other| *other != at);
    others.any(|other| {
        let windows = &windows[other];
        windows.all[state.threads[other]].holds(windows.code, loc)
    })
}

/// Returns whether all threads have halted and nothing is pending.
fn is_final(windows: &[Windows], state: &State) -> bool {
    windows.iter().zip(&state.threads).all(|(windows, window)| {
        let window = &windows.all[*window];
        matches!(windows.code.thread.stmt(window.pc()).op, Op::Halt) && window.is_empty()
    })
}

fn outcome(problem: &Problem, windows: &[Windows], state: &State) -> Vec<Value> {
    let value = |what: &Observable| match what {
        Observable::Loc(loc) => state.memory[loc.index()],
        Observable::Reg(thread, reg) => {
            let thread = thread.index();
            windows[thread].all[state.threads[thread]].register(*reg)
        }
        Observable::At(..) => unreachable!("only invariants mention control points"),
    };
    problem.observed.iter().map(value).collect()
}
