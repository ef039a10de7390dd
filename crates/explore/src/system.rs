//! What is explored: the trait that a system of threads implements.

use crate::event::{Move, Touch};
use crate::execution::Execution;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// A system of threads with one execution at hand, which the exploration extends and shortens.
///
/// *Determinism.* The same moves from the same start have the same effect. A move depends on the cells that it
/// touches and on the earlier moves of its thread, and on nothing else: moves that touch no common cell, or only
/// read it, commute.
///
/// *No undo needed.* A system that cannot step back implements [`truncate`](System::truncate) by running the moves
/// that are left from the start. It may do so late, when something is asked: the exploration often takes back many
/// events before it goes on.
pub trait System {
    /// What is found out on the way, besides counts.
    type Findings: Findings;

    /// How many threads there are.
    fn threads(&self) -> usize;

    /// Whether a thread has nothing more to do.
    fn has_halted(&mut self, thread: usize) -> bool;

    /// The alternatives that a thread has for its next move, possible or not. It has not halted. With one execution for
    /// each trace, each of several alternatives counts as touching what all of them touch; a choice that is a move of
    /// its own, which touches nothing, keeps the number of executions small.
    fn moves(&mut self, thread: usize) -> Vec<Move> {
        vec![Move::of(thread)]
    }

    /// Takes the next move of a thread. If it is not possible the execution stays as it is.
    fn step(&mut self, made: &Move) -> Step;

    /// The cells that the last [`step`](System::step) touched or, if it was not possible, looked at: only a write to
    /// one of them can make it possible.
    fn footprint(&self) -> &[Touch];

    /// Takes back all but the first so many events.
    fn truncate(&mut self, events: usize);

    /// The alternatives for the next move of a thread after the first `events` of the execution and then `moves`,
    /// which are possible there. The execution stays as it is.
    fn attempts(&mut self, events: usize, moves: &[&Move], thread: usize) -> Vec<Attempt>;

    /// Whether an event would be possible and touch the same cells wherever its thread took it. `false` is always
    /// right, but costs a call of [`attempts`](System::attempts).
    fn is_unconditional(&self, _execution: &Execution, _event: usize) -> bool {
        false
    }

    /// Whether the execution has failed with its last event: then nothing comes after it. Some failures show in
    /// the order of events only.
    fn has_failed(&mut self, _execution: &Execution) -> bool {
        false
    }

    /// Looks at an execution with one event more, failed or not. Break: something was found, and that is enough.
    fn observe(&mut self, _execution: &Execution) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Looks at an execution that has ended. Break: something was found, and that is enough.
    fn ended(&mut self, _execution: &Execution, _end: End) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// What was found out.
    fn into_findings(self) -> Self::Findings;
}

/// What came of a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// It was taken: there is one more event.
    Taken,
    /// It is not possible: the thread waits for others.
    Blocked,
    /// The same, and the thread waits in a loop: it is not deadlocked but spins.
    Spinning,
}

/// One alternative of a thread's next move, tried but not taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// The move.
    pub made: Move,
    /// Whether it is possible.
    pub possible: bool,
    /// What it touches or, if it is not possible, looks at.
    pub footprint: Vec<Touch>,
}

/// How an execution ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// All threads have halted.
    Complete,
    /// Some threads wait, and no thread can move.
    Stuck {
        /// Whether some thread spins.
        spinning: bool,
    },
    /// All moves that are left are in the sleep set: what follows is explored elsewhere.
    Redundant,
    /// It has as many events as allowed.
    Cut,
    /// It has failed.
    Failed,
}

/// What explorations find out, collected in parts.
pub trait Findings: Default + Send {
    /// Adds what a later part has found. The result must depend on nothing but the order of parts.
    fn merge(&mut self, later: Self);
}

impl Findings for () {
    fn merge(&mut self, (): ()) {}
}

impl<T: Send> Findings for Vec<T> {
    fn merge(&mut self, later: Self) {
        self.extend(later);
    }
}

impl<T: Ord + Send> Findings for BTreeSet<T> {
    fn merge(&mut self, later: Self) {
        self.extend(later);
    }
}
