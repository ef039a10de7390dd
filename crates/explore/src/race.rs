//! Races of an execution, and their reversal.
//!
//! Source: \[AAJS14\]. Two events of different threads *race* if they do not commute and no event between them keeps
//! them in order. A race is reversed: the events that do not happen after the first run without it, then the move of
//! the second.
//!
//! DIVERGENCE from the paper: *threads that wait*. A move may not be possible because of what others wrote, as the
//! attempt to take a lock. Reversed to a place where it is still not possible, it races there with the last write to
//! each cell it looked at: that write is removed, too, and so on until the move is possible or there is no such write.
//! The same is done for threads that still wait when an execution ends.

use crate::event::Touch;
use crate::explorer::Halt;
use crate::optimal::Optimal;
use crate::sleep::Sleeper;
use crate::system::{Attempt, System};
use crate::wakeup::{Item, is_weak_initial};
use std::ops::ControlFlow;

impl<S: System> Optimal<'_, '_, S> {
    /// Reverses the races of the execution at hand that were not looked at yet.
    pub(crate) fn reverse_races(&mut self) -> ControlFlow<Halt> {
        self.tried.clear();
        let events = self.explorer.execution.len();
        for event in self.new..events {
            self.explorer.check_cancelled()?;
            for first in self.races(event) {
                self.reverse(first, event);
            }
        }
        self.new = events;
        for thread in 0..self.explorer.threads() {
            if self.failed || self.explorer.system.has_halted(thread) {
                continue;
            }
            let removed = vec![false; events];
            for attempt in self.explorer.system.attempts(events, &[], thread) {
                if !attempt.possible {
                    self.unblock(&removed, thread, &attempt.footprint);
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// The events that race with a later event.
    fn races(&self, event: usize) -> Vec<usize> {
        let execution = &self.explorer.execution;
        let thread = execution.events()[event].made.thread;
        let mut direct = Vec::new();
        for touch in execution.footprint(event) {
            let accesses = execution.accesses(touch.cell);
            let before = accesses.partition_point(|(other, _)| (*other as usize) < event);
            for (other, wrote) in accesses[..before].iter().rev() {
                if touch.writes || *wrote {
                    direct.push(*other as usize);
                }
                if *wrote {
                    break;
                }
            }
        }
        let previous = execution.last_of(thread, |own| own >= event);
        self.immediate(direct, thread, previous)
    }

    /// Of events that a move of a thread conflicts with, those that it races with: of other threads, with nothing
    /// between, and not before the part. `previous` is the thread's last event before the move.
    fn immediate(
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
            execution.events()[one].made.thread != thread
                && between.all(|other| !execution.happens_before(one, *other))
        };
        events.iter().copied().filter(|one| *one >= self.base && is_immediate(*one)).collect()
    }

    /// Plans an execution in which the second event of a race comes before the first.
    fn reverse(&mut self, first: usize, second: usize) {
        let execution = &self.explorer.execution;
        let events = execution.len();
        let mut removed: Vec<bool> = (0..events)
            .map(|event| event >= first && execution.happens_before(first, event))
            .collect();
        if self.failed {
            // Nothing comes after the last event, and it may not fail elsewhere.
            removed[events - 1] = true;
        }
        let made = &execution.events()[second].made;
        if self.explorer.system.is_unconditional(execution, second) {
            let footprint = execution.footprint(second).to_vec();
            let attempt = Attempt { made: made.clone(), possible: true, footprint };
            self.plan(first, &removed, &attempt);
        } else {
            let thread = made.thread;
            self.try_without(removed, thread);
        }
    }

    /// Plans the next move of a thread without some events, all that happens after them removed, too.
    fn try_without(&mut self, removed: Vec<bool>, thread: usize) {
        let Some(first) = removed.iter().position(|removed| *removed) else { return };
        let set = (0..removed.len()).filter(|event| removed[*event]).collect();
        if !self.tried.insert((set, thread)) {
            return;
        }
        let events = &self.explorer.execution.events()[first..];
        let kept = events.iter().zip(&removed[first..]).filter(|(_, removed)| !**removed);
        let kept: Vec<_> = kept.map(|(event, _)| &event.made).collect();
        let mut attempts = self.explorer.system.attempts(first, &kept, thread);
        if attempts.len() > 1 {
            // One alternative commutes with something only if all do.
            let all: Vec<Touch> =
                attempts.iter().flat_map(|attempt| attempt.footprint.iter().copied()).collect();
            for attempt in attempts.iter_mut().filter(|attempt| attempt.possible) {
                attempt.footprint.clone_from(&all);
            }
        }
        for attempt in attempts {
            if attempt.possible {
                self.plan(first, &removed, &attempt);
            } else {
                self.unblock(&removed, thread, &attempt.footprint);
            }
        }
    }

    /// For a move that is not possible without some events: removes, one after the other, the last writes to what it
    /// looked at, too.
    fn unblock(&mut self, removed: &[bool], thread: usize, footprint: &[Touch]) {
        let execution = &self.explorer.execution;
        let previous = execution.last_of(thread, |event| removed[event]);
        let mut writers: Vec<usize> = Vec::new();
        for touch in footprint {
            let accesses = execution.accesses(touch.cell).iter().rev();
            let mut left = accesses.filter(|(event, wrote)| *wrote && !removed[*event as usize]);
            writers.extend(left.next().map(|(event, _)| *event as usize));
        }
        for event in self.immediate(writers, thread, previous) {
            let execution = &self.explorer.execution;
            let more = (0..removed.len())
                .map(|other| {
                    removed[other] || (other >= event && execution.happens_before(event, other))
                })
                .collect();
            self.try_without(more, thread);
        }
    }

    /// Adds an execution to the wakeup tree of the state before the first removed event: what is not removed, then
    /// the attempt.
    fn plan(&mut self, first: usize, removed: &[bool], attempt: &Attempt) {
        let execution = &self.explorer.execution;
        let kept = (first..removed.len()).filter(|event| !removed[*event]);
        let item = |event: usize| Item {
            made: &execution.events()[event].made,
            footprint: execution.footprint(event),
        };
        let own = Item { made: &attempt.made, footprint: &attempt.footprint };
        let sequence: Vec<Item<'_>> = kept.map(item).chain([own]).collect();
        let node = &mut self.nodes[first - self.base];
        let asleep = node.sleep.iter().map(Sleeper::item);
        if asleep.chain([item(first)]).any(|first| is_weak_initial(first, &sequence)) {
            return;
        }
        node.tree.insert(sequence);
    }
}
