//! The state that both kinds of exploration share: the system, its execution, counts and limits.

use crate::event::{CellAccess, Move};
use crate::execution::Execution;
use crate::system::{End, MoveResult, System};
use std::fmt;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

/// The limits of an exploration, with its cancellation and progress callbacks.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// The number of worker threads. The result does not depend on it.
    pub workers: NonZeroUsize,
    /// The maximal number of events in an execution. Longer executions are cut.
    pub events: usize,
    /// The approximate maximal number of executions.
    pub executions: u64,
    /// The number of executions after which the rest of a part is divided among all workers. The
    /// first part is smaller. The number of all executions does not depend on it.
    pub part: u64,
    /// The number of executions of one part that may be cut before the exploration stops.
    pub cut: u64,
    /// Returns whether the exploration is cancelled. Once true, it must stay true. It is called
    /// before every move, because a move may take long.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
    /// Receives the number of explored executions from time to time.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

impl Default for Limits<'_> {
    /// Returns limits that limit nothing, with one worker.
    fn default() -> Self {
        Limits {
            workers: NonZeroUsize::MIN,
            events: usize::MAX,
            executions: u64::MAX,
            part: 50_000,
            cut: u64::MAX,
            cancelled: &|| false,
            progress: &|_| {},
        }
    }
}

impl fmt::Debug for Limits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Limits { workers, events, executions, part, cut, cancelled: _, progress: _ } = self;
        write!(
            f,
            "Limits {{ {workers} workers, {events} events, {executions} executions in parts of \
             {part}, {cut} cut }}"
        )
    }
}

/// Why an exploration ended early without a finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopReason {
    /// The exploration was cancelled.
    Cancelled,
    /// The limit on executions was reached.
    Executions,
    /// The limit on cut executions was exceeded.
    Cut,
}

/// Counts of an exploration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Executions in which all threads halted, and executions that failed.
    pub complete: u64,
    /// Executions that ended with threads that have not halted and no enabled move.
    pub stuck: u64,
    /// Redundant executions: all enabled moves were in the sleep set.
    pub redundant: u64,
    /// Executions that were cut at the limit on events.
    pub cut: u64,
    /// The sum of the lengths of all executions except redundant ones, in events. Shared prefixes
    /// count once for each execution.
    pub events: u64,
    /// The length of the longest execution, in events.
    pub longest: usize,
    /// Whether the preemption bound excluded a move.
    pub bounded: bool,
}

impl Counts {
    /// Returns the number of executions without the redundant ones.
    pub fn executions(&self) -> u64 {
        self.complete + self.stuck + self.cut
    }

    /// Adds the counts of another part.
    pub(crate) fn add(&mut self, other: Counts) {
        let Counts { complete, stuck, redundant, cut, events, longest, bounded } = other;
        self.complete += complete;
        self.stuck += stuck;
        self.redundant += redundant;
        self.cut += cut;
        self.events += events;
        self.longest = self.longest.max(longest);
        self.bounded |= bounded;
    }
}

/// Why the exploration of a part ended early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EarlyExit {
    /// The system reported a finding that ends the exploration.
    Found,
    /// The whole exploration must stop.
    Interrupted(StopReason),
}

/// The result of trying to extend the execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PushResult {
    /// The execution has a new event.
    Taken,
    /// The execution has a new event and failed.
    Failed,
    /// The thread is blocked.
    Blocked,
    /// The thread is in a spin loop.
    Spinning,
}

/// A system with its current execution, during the exploration of one part.
pub(crate) struct Explorer<'a, S> {
    pub(crate) system: S,
    pub(crate) execution: Execution,
    pub(crate) counts: Counts,
    limits: &'a Limits<'a>,
    /// The remaining executions before the part is too large.
    pub(crate) executions_left: u64,
}

impl<'a, S: System> Explorer<'a, S> {
    /// Creates an explorer for a system in its start state.
    pub(crate) fn new(system: S, limits: &'a Limits<'a>) -> Self {
        Explorer {
            execution: Execution::new(system.threads()),
            system,
            counts: Counts::default(),
            limits,
            executions_left: u64::MAX,
        }
    }

    pub(crate) fn threads(&self) -> usize {
        self.system.threads()
    }

    /// Iterates over the threads in the order of exploration. The thread of the last event is
    /// first.
    pub(crate) fn thread_order(&self) -> impl Iterator<Item = usize> + use<S> {
        let threads = self.threads();
        let last = self.execution.last_thread().unwrap_or(0);
        (0..threads).map(move |offset| (last + offset) % threads)
    }

    /// Returns whether the execution has the maximal number of events.
    pub(crate) fn is_at_event_limit(&self) -> bool {
        self.execution.len() >= self.limits.events
    }

    pub(crate) fn have_all_halted(&mut self) -> bool {
        (0..self.threads()).all(|thread| self.system.has_halted(thread))
    }

    /// Returns the union of the footprints of all alternatives of a thread's next move, or `None`
    /// if the move has no alternatives.
    ///
    /// Each alternative uses this union as its footprint. With separate footprints, the exploration
    /// could treat an order of one alternative and another move as explored, although that order
    /// matters for another alternative.
    pub(crate) fn combined_footprint(&mut self, alternatives: &[Move]) -> Option<Vec<CellAccess>> {
        let mv = alternatives.first().filter(|mv| mv.has_alternatives())?;
        let attempts = self.system.attempts(self.execution.len(), &[], mv.thread);
        Some(attempts.into_iter().flat_map(|attempt| attempt.footprint).collect())
    }

    /// Tries to take a move. `footprint` replaces the footprint that the system reports; it must
    /// contain it.
    pub(crate) fn push(&mut self, mv: Move, footprint: Option<&[CellAccess]>) -> PushResult {
        match self.system.step(&mv) {
            MoveResult::Blocked => return PushResult::Blocked,
            MoveResult::Spinning => return PushResult::Spinning,
            MoveResult::Taken => {}
        }
        self.execution.push(mv, footprint.unwrap_or_else(|| self.system.footprint()));
        if self.system.has_failed(&self.execution) { PushResult::Failed } else { PushResult::Taken }
    }

    /// Removes the last event and returns its move.
    pub(crate) fn pop(&mut self) -> Move {
        let mv = self.execution.pop();
        self.system.truncate(self.execution.len());
        mv
    }

    /// Lets the system observe a new event.
    pub(crate) fn observe(&mut self) -> ControlFlow<EarlyExit> {
        self.system.observe(&self.execution).map_break(|()| EarlyExit::Found)
    }

    /// Lets the system handle an event that an earlier part has observed.
    pub(crate) fn observe_again(&mut self) {
        self.system.observe_again(&self.execution);
    }

    /// Breaks if the exploration is cancelled.
    pub(crate) fn check_cancelled(&self) -> ControlFlow<EarlyExit> {
        match (self.limits.cancelled)() {
            true => ControlFlow::Break(EarlyExit::Interrupted(StopReason::Cancelled)),
            false => ControlFlow::Continue(()),
        }
    }

    /// Counts an execution that has ended, and lets the system observe it.
    pub(crate) fn end(&mut self, end: End) -> ControlFlow<EarlyExit> {
        let events = self.execution.len();
        self.counts.longest = self.counts.longest.max(events);
        match end {
            End::Complete | End::Failed => self.counts.complete += 1,
            End::Stuck { .. } => self.counts.stuck += 1,
            End::Redundant => self.counts.redundant += 1,
            End::Cut => self.counts.cut += 1,
        }
        if end != End::Redundant {
            self.counts.events += events as u64;
        }
        self.system.observe_end(&self.execution, end).map_break(|()| EarlyExit::Found)?;
        if self.counts.cut > self.limits.cut {
            return ControlFlow::Break(EarlyExit::Interrupted(StopReason::Cut));
        }
        self.executions_left = self.executions_left.saturating_sub(1);
        ControlFlow::Continue(())
    }

    /// Returns whether the part has reached its limit on executions.
    pub(crate) fn is_too_large(&self) -> bool {
        self.executions_left == 0
    }
}
