//! The interface of an explored system: threads that take moves.

use crate::event::{CellAccess, Move};
use crate::execution::Execution;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// A system of threads with a current execution. The exploration extends and truncates it.
///
/// *Determinism.* The same moves from the same start have the same effect. The effect of a move
/// depends only on the cells in its footprint and on the earlier moves of its thread. Moves of
/// different threads that do not conflict commute.
///
/// *No undo needed.* A system that cannot step back implements [`truncate`](System::truncate) by
/// running the remaining moves from the start. It may delay this until the next call that needs the
/// state: the exploration often removes many events before the next step.
pub trait System {
    /// The results that the system collects, in addition to the counts.
    type Findings: Findings;

    /// Returns the number of threads.
    fn threads(&self) -> usize;

    /// Returns whether a thread has terminated.
    fn has_halted(&mut self, thread: usize) -> bool;

    /// Returns the alternatives for the next move of a thread, enabled or not, or nothing if the
    /// move has no choice point: then it is [`Move::of`] the thread. The thread has not halted. If
    /// there are several alternatives, the exploration of traces uses the union of their footprints
    /// for each of them. To keep the number of executions small, make a choice a move of its own,
    /// with an empty footprint.
    fn alternatives(&mut self, _thread: usize) -> Vec<Move> {
        Vec::new()
    }

    /// Takes the next move of a thread. If the move is not enabled, the execution does not change.
    fn step(&mut self, mv: &Move) -> MoveResult;

    /// Returns the cells that the last [`step`](System::step) accessed. If the move was not
    /// enabled, returns the cells that it inspected: only a write to one of them can enable it.
    fn footprint(&self) -> &[CellAccess];

    /// Removes all events after the first `events` events.
    fn truncate(&mut self, events: usize);

    /// Returns the alternatives for the next move of a thread after the first `events` events of
    /// the execution followed by `moves`, which are enabled there. Does not change the execution.
    fn attempts(&mut self, events: usize, moves: &[&Move], thread: usize) -> Vec<Attempt>;

    /// Returns whether an event would be enabled and have the same footprint at every point where
    /// its thread could take it. `false` is always correct, but costs a call of
    /// [`attempts`](System::attempts).
    fn is_unconditional(&self, _execution: &Execution, _event: usize) -> bool {
        false
    }

    /// Returns whether the last event made the execution fail. A failed execution has no further
    /// events. The execution is passed because some failures depend on the happens-before order.
    fn has_failed(&mut self, _execution: &Execution) -> bool {
        false
    }

    /// Observes an execution after each new event, also if the event failed. `Break` ends the
    /// exploration because of a finding.
    fn observe(&mut self, _execution: &Execution) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Handles that the last event was taken again, after an earlier part of the exploration has
    /// observed it: a new part starts behind it. Findings were reported then.
    fn observe_again(&mut self, _execution: &Execution) {}

    /// Observes an execution at its end. `Break` ends the exploration because of a finding.
    fn observe_end(&mut self, _execution: &Execution, _end: End) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Returns the collected results.
    fn into_findings(self) -> Self::Findings;
}

/// Returns the possible next moves of a thread with these [alternatives](System::alternatives).
pub fn moves_of(thread: usize, alternatives: Vec<Move>) -> impl Iterator<Item = Move> {
    let only = alternatives.is_empty().then(|| Move::of(thread));
    alternatives.into_iter().chain(only)
}

/// The result of trying to take a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MoveResult {
    /// The move was taken: the execution has a new event.
    Taken,
    /// The move is not enabled: the thread is blocked.
    Blocked,
    /// The move is not enabled because the thread is in a spin loop: it is not deadlocked.
    Spinning,
}

/// An alternative for a thread's next move, evaluated but not taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// The move.
    pub mv: Move,
    /// Whether the move is enabled.
    pub enabled: bool,
    /// The cells that the move accesses or, if it is not enabled, inspects.
    pub footprint: Vec<CellAccess>,
}

/// How an execution ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// All threads have halted.
    Complete,
    /// Some threads have not halted, and no move is enabled.
    Stuck {
        /// Whether some thread is in a spin loop.
        spinning: bool,
    },
    /// All enabled moves are in the sleep set: another execution covers every continuation.
    Redundant,
    /// The execution reached the limit on events.
    Cut,
    /// The execution failed.
    Failed,
}

/// Results of an exploration, collected in parts.
pub trait Findings: Default + Send {
    /// Adds the findings of a later part. The result may depend only on the order of the parts.
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
