//! Races of an execution, and race reversal.
//!
//! Source: \[AAJS14\]. Two events of different threads *race* if they conflict and no event is
//! between them in happens-before. The reversal of a race is a sequence: the events after the
//! first event that do not happen after it, then the move of the second event.
//!
//! DIVERGENCE from the paper: *blocked threads*. A write of another thread can disable a move,
//! for example an attempt to acquire a lock. If a reversed move is not enabled, it races with the
//! last write to each cell that it inspected. That write is removed too. This repeats until the
//! move is enabled or no such write remains. Threads that are blocked at the end of an execution
//! are handled in the same way.
//!
//! Each execution reverses all its races, because a reversal depends on the events that follow the
//! race. [`open_races`](crate::open_races) remembers the races of the events that the execution
//! shares with the one before.

use crate::event::{CellAccess, Move, conflict};
use crate::execution::Execution;
use crate::explorer::EarlyExit;
use crate::optimal::Optimal;
use crate::system::{Attempt, System};
use crate::wakeup_tree::{Insertion, SequenceItem};
use std::ops::ControlFlow;

/// A sequence that reverses one or more races: the events of an execution that are not removed,
/// then a move.
#[derive(Clone, Debug)]
pub(crate) struct Reversal {
    /// The first removed event.
    pub(crate) first: usize,
    /// The other removed events. All events that happen after a removed event are removed, too.
    pub(crate) others: Vec<usize>,
    /// The last move.
    pub(crate) last: LastMove,
}

/// The last move of a reversal.
#[derive(Clone, Debug)]
pub(crate) enum LastMove {
    /// The move of this event, with the same footprint.
    Event(usize),
    /// A move that was evaluated after the events that are not removed.
    Evaluated(Attempt),
}

impl Reversal {
    /// Returns whether an event from the first removed one on is removed.
    #[inline]
    pub(crate) fn removes(&self, execution: &Execution, event: usize) -> bool {
        let mut others = self.others.iter();
        execution.happens_before(self.first, event)
            || others.any(|other| *other <= event && execution.happens_before(*other, event))
    }

    /// Returns those of the first `events` events that come after the first removed one and are not
    /// removed.
    #[inline]
    pub(crate) fn kept(&self, execution: &Execution, events: usize) -> impl Iterator<Item = usize> {
        let happens_after = execution.happening_after(self.first);
        (self.first + 1..events).filter(move |event| {
            !happens_after(*event) && (self.others.is_empty() || !self.removes(execution, *event))
        })
    }

    /// Returns the last move.
    #[inline]
    pub(crate) fn last_move<'a>(&'a self, execution: &'a Execution) -> SequenceItem<'a> {
        let (mv, footprint) = match &self.last {
            LastMove::Event(event) => (&execution.events()[*event].mv, execution.footprint(*event)),
            LastMove::Evaluated(attempt) => (&attempt.mv, attempt.footprint.as_slice()),
        };
        SequenceItem { mv, footprint, stays: true }
    }
}

/// The reversals of a race or of a blocked move.
#[derive(Default)]
pub(crate) struct Reversals {
    /// The reversals whose last move is enabled.
    pub(crate) enabled: Vec<Reversal>,
    /// The cells that the evaluated moves accessed or inspected.
    pub(crate) inspected: Vec<CellAccess>,
    /// The sets of removed events that were tried. Empty unless some move was not enabled.
    tried: Vec<RemovedEvents>,
}

/// A set of events of an execution that a reversal removes.
#[derive(PartialEq, Eq)]
struct RemovedEvents {
    /// The first event of the set.
    first: usize,
    /// Whether the set contains each event from the first on.
    contains: Vec<bool>,
}

impl RemovedEvents {
    /// Returns, of the first `events` events, those that are one of the roots or happen after one.
    /// The roots are sorted.
    fn after(roots: &[usize], events: usize, execution: &Execution) -> Self {
        let first = roots.first().copied().unwrap_or(events);
        let is_removed = |event| is_removed_by(roots, event, execution);
        RemovedEvents { first, contains: (first..events).map(is_removed).collect() }
    }

    fn contains(&self, event: usize) -> bool {
        event >= self.first && self.contains[event - self.first]
    }
}

/// Returns whether an event is one of the sorted roots or happens after one.
#[inline]
fn is_removed_by(roots: &[usize], event: usize, execution: &Execution) -> bool {
    roots.iter().any(|root| *root <= event && execution.happens_before(*root, event))
}

impl<S: System> Optimal<'_, '_, S> {
    /// Reverses the races of the current execution.
    pub(crate) fn reverse_races(&mut self) -> ControlFlow<EarlyExit> {
        self.reverse_open_races()?;
        let events = self.explorer.execution.len();
        let mut racing = Vec::new();
        for second in self.open_races.analysed()..events {
            self.explorer.check_cancelled()?;
            self.add_racing_events(second, &mut racing);
            for first in racing.drain(..) {
                self.reverse_new_race(first, second)?;
            }
        }
        self.open_races.set_analysed(events);
        for thread in 0..self.explorer.threads() {
            if !self.failed && !self.explorer.system.has_halted(thread) {
                self.reverse_blocking_writes(thread)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Returns the number of events that a reversal may keep. If the last event failed, no event
    /// can follow it, and it may not fail in the reversal.
    pub(crate) fn usable_events(&self) -> usize {
        self.explorer.execution.len() - usize::from(self.failed)
    }

    /// Adds the earlier events that race with `event`.
    pub(crate) fn add_racing_events(&self, event: usize, racing: &mut Vec<usize>) {
        let execution = &self.explorer.execution;
        let thread = execution.events()[event].mv.thread;
        for access in execution.footprint(event) {
            for (other, wrote) in execution.accesses_before(access.cell, event).iter().rev() {
                if access.writes || *wrote {
                    racing.push(*other as usize);
                }
                if *wrote {
                    break;
                }
            }
        }
        let previous = execution.last_of(thread, |own| own >= event);
        self.keep_immediate_races(racing, thread, previous);
    }

    /// Sorts events that conflict with a move of `thread`, and keeps those that race with it:
    /// neither another one of them nor the previous event of the thread comes between.
    fn keep_immediate_races(
        &self,
        events: &mut Vec<usize>,
        thread: usize,
        previous: Option<usize>,
    ) {
        events.sort_unstable();
        events.dedup();
        let execution = &self.explorer.execution;
        // An event that is not kept happens before a later one that is, or before `previous`: it
        // need not be compared with earlier events.
        for at in (0..events.len()).rev() {
            let one = events[at];
            let mut between = events[at + 1..].iter().chain(&previous);
            if execution.events()[one].mv.thread == thread
                || between.any(|other| execution.happens_before(one, *other))
            {
                events.remove(at);
            }
        }
    }

    /// Handles a thread that has not halted at the end of the execution: if its next move is
    /// blocked, reverses the order of the move and the writes that block it.
    fn reverse_blocking_writes(&mut self, thread: usize) -> ControlFlow<EarlyExit> {
        let events = self.explorer.execution.len();
        let mut reversals = Reversals::default();
        for attempt in self.explorer.system.attempts(events, &[], thread) {
            if attempt.enabled {
                continue;
            }
            let removed = RemovedEvents::after(&[], events, &self.explorer.execution);
            for writer in self.disabling_writers(&removed, events, thread, &attempt.footprint) {
                self.add_reversals(&mut reversals, &[writer], events, thread)?;
            }
        }
        self.plan_all(&reversals.enabled, events);
        ControlFlow::Continue(())
    }

    /// Finds the reversals of a race between the event `first` and a later move of `thread`. The
    /// reversals keep only some of the first `events` events.
    pub(crate) fn find_reversals(
        &mut self,
        first: usize,
        events: usize,
        thread: usize,
    ) -> ControlFlow<EarlyExit, Reversals> {
        let mut reversals = Reversals::default();
        self.add_reversals(&mut reversals, &[first], events, thread)?;
        ControlFlow::Continue(reversals)
    }

    /// Evaluates the next move of a thread after the first `events` events without `roots` and
    /// everything that happens after them. If the move is not enabled, tries again without the
    /// last write to a cell that it inspected. The roots are sorted.
    fn add_reversals(
        &mut self,
        reversals: &mut Reversals,
        roots: &[usize],
        events: usize,
        thread: usize,
    ) -> ControlFlow<EarlyExit> {
        self.explorer.check_cancelled()?;
        let execution = &self.explorer.execution;
        if !reversals.tried.is_empty()
            && reversals.tried.contains(&RemovedEvents::after(roots, events, execution))
        {
            return ControlFlow::Continue(());
        }
        let first = roots[0];
        let kept = (first..events).filter(|event| !is_removed_by(roots, *event, execution));
        let kept: Vec<&Move> = kept.map(|event| &execution.events()[event].mv).collect();
        let mut attempts = self.explorer.system.attempts(first, &kept, thread);
        let inspected = reversals.inspected.len();
        reversals.inspected.extend(attempts.iter().flat_map(|attempt| &attempt.footprint));
        if attempts.len() > 1 {
            // The alternatives share a footprint: one of them commutes with a move only if all do.
            for attempt in attempts.iter_mut().filter(|attempt| attempt.enabled) {
                attempt.footprint.clear();
                attempt.footprint.extend_from_slice(&reversals.inspected[inspected..]);
            }
        }
        let tries_again = attempts.iter().any(|attempt| !attempt.enabled);
        let tried = reversals.tried.len();
        if tries_again || tried > 0 {
            reversals.tried.push(RemovedEvents::after(roots, events, execution));
        }
        for attempt in attempts {
            if attempt.enabled {
                let others = roots[1..].to_vec();
                let last = LastMove::Evaluated(attempt);
                reversals.enabled.push(Reversal { first, others, last });
                continue;
            }
            let removed = &reversals.tried[tried];
            for writer in self.disabling_writers(removed, events, thread, &attempt.footprint) {
                let mut roots: Vec<usize> = roots.iter().copied().chain([writer]).collect();
                roots.sort_unstable();
                self.add_reversals(reversals, &roots, events, thread)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Returns the events that race with a disabled move: last writes to a cell that it inspected.
    /// The events before the move are the first `events` events that are not removed.
    fn disabling_writers(
        &self,
        removed: &RemovedEvents,
        events: usize,
        thread: usize,
        footprint: &[CellAccess],
    ) -> Vec<usize> {
        let execution = &self.explorer.execution;
        let is_removed = |event: usize| removed.contains(event);
        let previous = execution.last_of(thread, |event| event >= events || is_removed(event));
        let mut writers: Vec<usize> = Vec::new();
        for access in footprint {
            let accesses = execution.accesses_before(access.cell, events).iter().rev();
            let mut left = accesses.filter(|(event, wrote)| *wrote && !is_removed(*event as usize));
            writers.extend(left.next().map(|(event, _)| *event as usize));
        }
        self.keep_immediate_races(&mut writers, thread, previous);
        writers
    }

    /// Plans reversals whose last moves come after the first `events` events.
    pub(crate) fn plan_all(&mut self, reversals: &[Reversal], events: usize) {
        for reversal in reversals {
            if !self.is_explored(reversal, events) && !self.is_asleep(reversal) {
                self.plan(reversal, events);
            }
        }
    }

    /// Returns whether the executions that a reversal asks for are explored because of its first
    /// removed event or because its last move is asleep. The last move comes after the first
    /// `events` events. The answer does not depend on the others: they commute with the move.
    pub(crate) fn is_explored(&self, reversal: &Reversal, events: usize) -> bool {
        let execution = &self.explorer.execution;
        let SequenceItem { mv, footprint, .. } = reversal.last_move(execution);
        if !conflict(footprint, execution.footprint(reversal.first)) {
            // The first removed event can come before the whole sequence.
            return true;
        }
        self.nodes[reversal.first].sleep.contains(mv)
            && (reversal.first..events).all(|event| {
                let is_own = execution.events()[event].mv.thread == mv.thread;
                reversal.removes(execution, event)
                    || !is_own && !conflict(footprint, execution.footprint(event))
            })
    }

    /// Inserts a reversal into the wake-up tree of the state before its first removed event.
    /// Returns whether no execution that shares the first `events` events, after which the last
    /// move comes, can insert it again.
    pub(crate) fn plan(&mut self, reversal: &Reversal, events: usize) -> bool {
        let usable = self.usable_events();
        let execution = &self.explorer.execution;
        let first = reversal.first;
        let item = |event: usize| SequenceItem {
            mv: &execution.events()[event].mv,
            footprint: execution.footprint(event),
            stays: event < events,
        };
        let mut sequence: Vec<SequenceItem<'_>> = Vec::with_capacity(usable - first);
        sequence.extend(reversal.kept(execution, usable).map(item));
        sequence.push(reversal.last_move(execution));
        let in_prefix = (first < self.base).then(|| sequence.clone());
        let Insertion { inserted, is_final } = self.nodes[first].tree.insert(sequence);
        if let Some(sequence) = in_prefix.filter(|_| inserted) {
            let sequence = sequence.into_iter().map(SequenceItem::to_tracked).collect();
            self.reversals.push((first, sequence));
        }
        is_final
    }
}
