//! Hangs, by reachability in the graph of all states.
//!
//! Source: the book's page on semantics, section "Hangs". The engines let each thread run alone.
//! Here all threads run: a state is a hang if it is not final and no run from there, of any
//! threads, has an effect.

use super::{State, ThreadState};
use fencepost_ir::{Op, Problem, Property};

/// The edges between states, by number.
#[derive(Default)]
pub(super) struct Graph {
    predecessors: Vec<Vec<usize>>,
    /// The states from which a step has an effect, or in which a thread discards the run.
    has_effect: Vec<usize>,
}

impl Graph {
    /// Adds a state and returns its number.
    pub(super) fn add_state(&mut self) -> usize {
        self.predecessors.push(Vec::new());
        self.predecessors.len() - 1
    }

    /// Adds a step without an effect.
    pub(super) fn add_step(&mut self, from: usize, to: usize) {
        self.predecessors[to].push(from);
    }

    /// Marks a state from which a step has an effect, or whose run is discarded.
    pub(super) fn mark(&mut self, state: usize) {
        self.has_effect.push(state);
    }

    /// Returns for each state whether some run from there has an effect.
    pub(super) fn reach_effect(mut self) -> Vec<bool> {
        let mut reach = vec![false; self.predecessors.len()];
        while let Some(state) = self.has_effect.pop() {
            if !std::mem::replace(&mut reach[state], true) {
                self.has_effect.extend(&self.predecessors[state]);
            }
        }
        reach
    }
}

/// Returns whether a step of a thread has an effect: it stores, changes memory, or finishes the
/// thread.
pub(super) fn has_effect<T: ThreadState>(
    problem: &Problem,
    at: usize,
    before: &State<T>,
    after: &State<T>,
) -> bool {
    let thread = &problem.program.threads[at];
    let finishes = |state: &State<T>| {
        let thread_state = &state.threads[at];
        matches!(thread.stmt(thread_state.pc()).op, Op::Halt) && thread_state.has_nothing_pending()
    };
    before.memory != after.memory
        || finishes(after) && !finishes(before)
        || T::stores(&before.threads[at], &after.threads[at], thread)
}

/// Returns whether some thread has guessed. The guess may be wrong, and the run without the guess
/// exists as well.
pub(super) fn has_guess<T: ThreadState>(state: &State<T>) -> bool {
    state.threads.iter().any(ThreadState::has_guess)
}

/// Returns whether a thread without a step discards the run: it is at `assume`, and the problem
/// does not count that as waiting.
pub(super) fn discards<T: ThreadState>(problem: &Problem, at: usize, state: &State<T>) -> bool {
    let stmt = problem.program.threads[at].stmt(state.threads[at].pc());
    matches!(stmt.op, Op::Assume(_)) && !problem.properties.contains(&Property::DeadlockFree)
}
