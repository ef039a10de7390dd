//! What both ways to explore share: the system with its execution, counts, and limits.

use crate::event::{Move, Touch};
use crate::execution::Execution;
use crate::system::{End, Step, System};
use std::fmt;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

/// How often the flag that ends an exploration is looked at, in events.
const PATIENCE: u32 = 1 << 10;

/// How far an exploration may go, and how others stop and watch it.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Worker threads. The result does not depend on their number.
    pub workers: NonZeroUsize,
    /// Events in an execution. Longer ones are cut.
    pub events: usize,
    /// Executions, about.
    pub executions: u64,
    /// Executions of one part that may be cut before the exploration stops.
    pub cut: u64,
    /// Whether someone wants to stop. Once true it stays true.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
    /// Is told now and then how many executions were explored.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

impl Default for Limits<'_> {
    /// No limits, one worker.
    fn default() -> Self {
        Limits {
            workers: NonZeroUsize::MIN,
            events: usize::MAX,
            executions: u64::MAX,
            cut: u64::MAX,
            cancelled: &|| false,
            progress: &|_| {},
        }
    }
}

impl fmt::Debug for Limits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Limits { workers, events, executions, cut, cancelled: _, progress: _ } = self;
        write!(
            f,
            "Limits {{ {workers} workers, {events} events, {executions} executions, {cut} cut }}"
        )
    }
}

/// Why an exploration ended before everything was explored, although nothing was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// Someone wanted to stop.
    Cancelled,
    /// As many executions as allowed were explored.
    Executions,
    /// As many executions as allowed were cut.
    Cut,
}

/// What was counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Executions in which all threads halted, or that failed.
    pub complete: u64,
    /// Executions after which some threads wait and none can move.
    pub stuck: u64,
    /// Executions that were given up because what follows is explored elsewhere. How many there are depends on how
    /// the exploration was split.
    pub redundant: u64,
    /// Executions that became too long.
    pub cut: u64,
    /// Events of all executions, those that they share counted again.
    pub events: u64,
    /// Events of the longest.
    pub longest: usize,
    /// Whether the bound on preemptions kept something from being explored.
    pub bounded: bool,
}

impl Counts {
    /// All executions but the redundant ones.
    pub fn executions(&self) -> u64 {
        self.complete + self.stuck + self.cut
    }

    /// Adds those of another part.
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
pub(crate) enum Halt {
    /// Something was found, and that is enough.
    Found,
    /// The part has more executions than it may.
    Large,
    /// It must not go on.
    Stopped(Stopped),
}

/// What came of trying to go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pushed {
    /// There is one more event.
    Yes,
    /// There is one more event, and the execution has failed.
    Failed,
    /// The thread waits.
    Blocked,
    /// It spins.
    Spinning,
}

pub(crate) struct Explorer<'a, S> {
    pub(crate) system: S,
    pub(crate) execution: Execution,
    pub(crate) counts: Counts,
    limits: &'a Limits<'a>,
    /// Executions that this part may still have.
    pub(crate) executions_left: u64,
    patience: u32,
}

impl<'a, S: System> Explorer<'a, S> {
    /// For a system at its start.
    pub(crate) fn new(system: S, limits: &'a Limits<'a>) -> Self {
        Explorer {
            execution: Execution::new(system.threads()),
            system,
            counts: Counts::default(),
            limits,
            executions_left: u64::MAX,
            patience: PATIENCE,
        }
    }

    pub(crate) fn threads(&self) -> usize {
        self.system.threads()
    }

    /// The threads, in the order in which they are tried: the one that moved last comes first.
    pub(crate) fn order(&self) -> impl Iterator<Item = usize> + use<S> {
        let threads = self.threads();
        let last = self.execution.last_thread().unwrap_or(0);
        (0..threads).map(move |offset| (last + offset) % threads)
    }

    /// Whether the execution has as many events as allowed.
    pub(crate) fn is_too_long(&self) -> bool {
        self.execution.len() >= self.limits.events
    }

    pub(crate) fn have_all_halted(&mut self) -> bool {
        (0..self.threads()).all(|thread| self.system.has_halted(thread))
    }

    /// What all alternatives of a thread's next move touch, if it has some.
    ///
    /// They count as the footprint of each of them. With footprints of their own, an order of one alternative and another
    /// move could be taken for one that was explored, although the order matters for another alternative.
    pub(crate) fn alternatives(&mut self, moves: &[Move]) -> Option<Vec<Touch>> {
        let made = moves.first().filter(|made| made.has_alternatives())?;
        let attempts = self.system.attempts(self.execution.len(), &[], made.thread);
        Some(attempts.into_iter().flat_map(|attempt| attempt.footprint).collect())
    }

    /// Tries to take a move. `footprint` is what it counts as touching, if that is more than it does touch.
    pub(crate) fn push(&mut self, made: Move, footprint: Option<&[Touch]>) -> Pushed {
        match self.system.step(&made) {
            Step::Blocked => return Pushed::Blocked,
            Step::Spinning => return Pushed::Spinning,
            Step::Taken => {}
        }
        self.execution.push(made, footprint.unwrap_or_else(|| self.system.footprint()));
        if self.system.has_failed(&self.execution) { Pushed::Failed } else { Pushed::Yes }
    }

    /// Takes the last event back.
    pub(crate) fn pop(&mut self) -> Move {
        let made = self.execution.pop();
        self.system.truncate(self.execution.len());
        made
    }

    /// Looks at the execution after an event.
    pub(crate) fn observe(&mut self) -> ControlFlow<Halt> {
        self.patience -= 1;
        if self.patience == 0 {
            self.patience = PATIENCE;
            self.check_cancelled()?;
        }
        self.system.observe(&self.execution).map_break(|()| Halt::Found)
    }

    /// Whether someone wants to stop.
    pub(crate) fn check_cancelled(&self) -> ControlFlow<Halt> {
        match (self.limits.cancelled)() {
            true => ControlFlow::Break(Halt::Stopped(Stopped::Cancelled)),
            false => ControlFlow::Continue(()),
        }
    }

    /// Counts an execution that has ended, and looks at it.
    pub(crate) fn end(&mut self, end: End) -> ControlFlow<Halt> {
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
        self.system.ended(&self.execution, end).map_break(|()| Halt::Found)?;
        if self.counts.cut > self.limits.cut {
            return ControlFlow::Break(Halt::Stopped(Stopped::Cut));
        }
        self.executions_left = self.executions_left.saturating_sub(1);
        match self.executions_left {
            0 => ControlFlow::Break(Halt::Large),
            _ => ControlFlow::Continue(()),
        }
    }
}
