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

use crate::event::CellAccess;
use crate::explorer::EarlyExit;
use crate::optimal::Optimal;
use crate::system::{Attempt, System};
use crate::wakeup_tree::{SequenceItem, is_weak_initial};
use std::ops::ControlFlow;

impl<S: System> Optimal<'_, '_, S> {
    /// Reverses the races of the current execution. Races of events that earlier executions share
    /// are reversed again: a reversal depends on the events that follow the race.
    pub(crate) fn reverse_races(&mut self) -> ControlFlow<EarlyExit> {
        self.tried_reversals.clear();
        let events = self.explorer.execution.len();
        for event in 0..events {
            self.explorer.check_cancelled()?;
            for first in self.racing_events(event) {
                self.reverse(first, event)?;
            }
        }
        for thread in 0..self.explorer.threads() {
            if self.failed || self.explorer.system.has_halted(thread) {
                continue;
            }
            let removed = vec![false; events];
            for attempt in self.explorer.system.attempts(events, &[], thread) {
                if !attempt.enabled {
                    self.reverse_disabling_writes(&removed, thread, &attempt.footprint)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Returns the earlier events that race with `event`.
    fn racing_events(&self, event: usize) -> Vec<usize> {
        let execution = &self.explorer.execution;
        let thread = execution.events()[event].mv.thread;
        let mut conflicting = Vec::new();
        for access in execution.footprint(event) {
            let accesses = execution.accesses(access.cell);
            let before = accesses.partition_point(|(other, _)| (*other as usize) < event);
            for (other, wrote) in accesses[..before].iter().rev() {
                if access.writes || *wrote {
                    conflicting.push(*other as usize);
                }
                if *wrote {
                    break;
                }
            }
        }
        let previous = execution.last_of(thread, |own| own >= event);
        self.immediate_races(conflicting, thread, previous)
    }

    /// Filters events that conflict with a move of `thread`. Returns those that race with it:
    /// events of other threads, with no event between in happens-before. `previous`
    /// is the thread's last event before the move.
    fn immediate_races(
        &self,
        mut events: Vec<usize>,
        thread: usize,
        previous: Option<usize>,
    ) -> Vec<usize> {
        events.sort_unstable();
        events.dedup();
        let execution = &self.explorer.execution;
        let is_immediate = |one: usize| {
            let mut between = events.iter().filter(|other| **other != one).chain(&previous);
            execution.events()[one].mv.thread != thread
                && between.all(|other| !execution.happens_before(one, *other))
        };
        events.iter().copied().filter(|one| is_immediate(*one)).collect()
    }

    /// Reverses a race: plans an execution with the move of `second` before the event `first`.
    fn reverse(&mut self, first: usize, second: usize) -> ControlFlow<EarlyExit> {
        let execution = &self.explorer.execution;
        let events = execution.len();
        let mut removed: Vec<bool> = (0..events)
            .map(|event| event >= first && execution.happens_before(first, event))
            .collect();
        if self.failed {
            // The last event failed: no event can follow it, and it may not fail in the reversal.
            removed[events - 1] = true;
        }
        let mv = &execution.events()[second].mv;
        if self.explorer.system.is_unconditional(execution, second) {
            let footprint = execution.footprint(second).to_vec();
            let attempt = Attempt { mv: mv.clone(), enabled: true, footprint };
            self.plan(first, &removed, &attempt);
            ControlFlow::Continue(())
        } else {
            let thread = mv.thread;
            self.plan_without(removed, thread)
        }
    }

    /// Plans the next move of a thread after the execution without the removed events. `removed` is
    /// closed under happens-before: it contains all events that happen after a removed event.
    fn plan_without(&mut self, removed: Vec<bool>, thread: usize) -> ControlFlow<EarlyExit> {
        self.explorer.check_cancelled()?;
        let Some(first) = removed.iter().position(|removed| *removed) else {
            return ControlFlow::Continue(());
        };
        let set = (0..removed.len()).filter(|event| removed[*event]).collect();
        if !self.tried_reversals.insert((set, thread)) {
            return ControlFlow::Continue(());
        }
        let events = &self.explorer.execution.events()[first..];
        let kept = events.iter().zip(&removed[first..]).filter(|(_, removed)| !**removed);
        let kept: Vec<_> = kept.map(|(event, _)| &event.mv).collect();
        let mut attempts = self.explorer.system.attempts(first, &kept, thread);
        if attempts.len() > 1 {
            // The alternatives share a footprint: one of them commutes with a move only if all do.
            let all: Vec<CellAccess> =
                attempts.iter().flat_map(|attempt| attempt.footprint.iter().copied()).collect();
            for attempt in attempts.iter_mut().filter(|attempt| attempt.enabled) {
                attempt.footprint.clone_from(&all);
            }
        }
        for attempt in attempts {
            if attempt.enabled {
                self.plan(first, &removed, &attempt);
            } else {
                self.reverse_disabling_writes(&removed, thread, &attempt.footprint)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Handles a move that is not enabled after the execution without the removed events. For
    /// each racing last write to a cell that the move inspected, tries again with this write
    /// removed too.
    fn reverse_disabling_writes(
        &mut self,
        removed: &[bool],
        thread: usize,
        footprint: &[CellAccess],
    ) -> ControlFlow<EarlyExit> {
        let execution = &self.explorer.execution;
        let previous = execution.last_of(thread, |event| removed[event]);
        let mut writers: Vec<usize> = Vec::new();
        for access in footprint {
            let accesses = execution.accesses(access.cell).iter().rev();
            let mut left = accesses.filter(|(event, wrote)| *wrote && !removed[*event as usize]);
            writers.extend(left.next().map(|(event, _)| *event as usize));
        }
        for event in self.immediate_races(writers, thread, previous) {
            let execution = &self.explorer.execution;
            let more = (0..removed.len())
                .map(|other| {
                    removed[other] || (other >= event && execution.happens_before(event, other))
                })
                .collect();
            self.plan_without(more, thread)?;
        }
        ControlFlow::Continue(())
    }

    /// Inserts a sequence into the wake-up tree of the state before the first removed event: the
    /// events that are not removed, then the attempt. Does nothing if a sleeping move or the first
    /// removed event is a weak initial of the sequence.
    fn plan(&mut self, first: usize, removed: &[bool], attempt: &Attempt) {
        let execution = &self.explorer.execution;
        let kept = (first..removed.len()).filter(|event| !removed[*event]);
        let item = |event: usize| SequenceItem {
            mv: &execution.events()[event].mv,
            footprint: execution.footprint(event),
        };
        let own = SequenceItem { mv: &attempt.mv, footprint: &attempt.footprint };
        let sequence: Vec<SequenceItem<'_>> = kept.map(item).chain([own]).collect();
        let node = &mut self.nodes[first];
        let asleep = node.sleep.iter().map(SequenceItem::from);
        if asleep.chain([item(first)]).any(|first| is_weak_initial(first, &sequence)) {
            return;
        }
        let in_prefix = (first < self.base).then(|| sequence.clone());
        let inserted = node.tree.insert(sequence);
        if let Some(sequence) = in_prefix.filter(|_| inserted) {
            let sequence = sequence.into_iter().map(SequenceItem::to_tracked).collect();
            self.reversals.push((first, sequence));
        }
    }
}
