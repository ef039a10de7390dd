//! Races that later executions must reverse again.
//!
//! Two executions, one after the other, share a prefix. Let *e* and *f* be the events of a race in
//! the shared prefix. The reversal of the race is the sequence *K s L*. *K* are the events between
//! *e* and *f* that do not happen after *e*. *s* is the move of *f*. *L* are such events after *f*.
//! (They can come after *s*: see rule 1.) The next execution has the same *K* and *s*, but another
//! *L*. Nothing must be done for most races, by the rules below. They use this fact: while *f* is
//! part of the execution, the sleep set of the state before *e* does not change, and its wake-up
//! tree only grows.
//!
//! 1. *The last move is evaluated once*, after *K*. An event of *L* that conflicts with *f* happens
//!    after *f* and therefore after *e*: it is not in *L*. So the result after *K* holds after *K L*
//!    if the move accesses no other cells there than *f* does. Otherwise, these cells are the
//!    *guard* of the race. If an event of *L* conflicts with the guard, the race is reversed without
//!    this module. The same holds for moves that are not enabled after *K*, and for the
//!    writes that are removed because of that: they are in *K*, too.
//! 2. *The last move is asleep and commutes with K.* Then it is a weak initial of *K s L* for
//!    every *L*. The same holds if *e* commutes with *s*, which is possible if *s* has a
//!    smaller footprint than *f*.
//! 3. *The wake-up tree has a leaf that consists of moves of K s.* Then the leaf is consistent with
//!    *K s L* for every *L*. Earlier branches of the tree cannot get in the way. A move
//!    that is a weak initial of *K s L* is a weak initial of the leaf, and by the definition of
//!    a wake-up tree, no such move is in front of the leaf.
//! 4. *A move of another thread is asleep, and commutes with K s L.* Its thread has no
//!    event in *K L*: a sleeping move is taken only after a conflicting event, so it
//!    is not a weak initial. Whether the move commutes with *K L* is remembered for each state and
//!    sleeping move: as the first event with which it does not commute.
//!
//! Rules 2 and 3 settle a race until *f* is removed from the execution, except that a guard remains
//! to be checked. Rule 4 must be checked for every execution. A race that no rule covers is reversed
//! again.
//!
//! Rejected: to skip a race if the next *L* is a part of the *L* before. Some leaf of the wake-up
//! tree is consistent with the shorter sequence, too. But the sequence may also start with a move
//! of an earlier branch of the tree. The insertion follows that branch and may find nothing there.

use crate::event::{CellAccess, TrackedMove, conflict};
use crate::explorer::EarlyExit;
use crate::optimal::Optimal;
use crate::race_reversal::{LastMove, Reversal};
use crate::system::System;
use crate::wakeup_tree::SequenceItem;
use std::ops::ControlFlow;

/// The races of the current execution that are not settled.
#[derive(Default)]
pub(crate) struct OpenRaces {
    /// The races, in the order of their second events.
    races: Vec<OpenRace>,
    /// The number of events whose races are known.
    analysed: usize,
    /// For each state: its sleeping moves.
    sleepers: Vec<Sleepers>,
}

/// A race that is not settled.
struct OpenRace {
    first: usize,
    second: usize,
    /// The cells that the moves of the reversals access, but not the second event.
    guard: Vec<CellAccess>,
    /// The reversals that are not settled.
    reversals: Vec<Reversal>,
}

/// The sleeping moves of a state.
#[derive(Default)]
struct Sleepers {
    /// For each move: the first event, if there is one, that does not happen after the event behind
    /// the state, and conflicts with the move or is of the same thread.
    woken: Vec<Option<usize>>,
    /// The number of events that were checked.
    checked: usize,
}

impl OpenRaces {
    /// Returns the number of events whose races are known.
    pub(crate) fn analysed(&self) -> usize {
        self.analysed
    }

    pub(crate) fn set_analysed(&mut self, events: usize) {
        self.analysed = events;
    }

    /// Removes everything that depends on other events than the first `events`.
    pub(crate) fn truncate(&mut self, events: usize) {
        self.analysed = self.analysed.min(events);
        while self.races.pop_if(|race| race.second >= events).is_some() {}
        self.sleepers.truncate(events);
    }
}

impl<S: System> Optimal<'_, '_, S> {
    /// Reverses the races that the execution shares with the one before.
    pub(crate) fn reverse_open_races(&mut self) -> ControlFlow<EarlyExit> {
        for sleepers in &mut self.open_races.sleepers {
            sleepers.checked = sleepers.checked.min(self.open_races.analysed);
        }
        let mut result = ControlFlow::Continue(());
        let mut races = std::mem::take(&mut self.open_races.races);
        races.retain_mut(|race| {
            result.is_break()
                || match self.reverse_open_race(race) {
                    ControlFlow::Continue(stays_open) => stays_open,
                    ControlFlow::Break(exit) => {
                        result = ControlFlow::Break(exit);
                        true
                    }
                }
        });
        self.open_races.races = races;
        result
    }

    /// Reverses a race of the events that the execution shares with the one before. Returns whether
    /// the race stays open.
    fn reverse_open_race(&mut self, race: &mut OpenRace) -> ControlFlow<EarlyExit, bool> {
        self.explorer.check_cancelled()?;
        if self.breaks_guard(race) {
            let events = self.usable_events();
            let thread = self.explorer.execution.events()[race.second].mv.thread;
            let reversals = self.find_reversals(race.first, events, thread)?;
            self.plan_all(&reversals.enabled, events);
            return ControlFlow::Continue(true);
        }
        let second = race.second;
        race.reversals.retain(|reversal| self.is_asleep(reversal) || !self.plan(reversal, second));
        ControlFlow::Continue(!race.reversals.is_empty() || !race.guard.is_empty())
    }

    /// Reverses a race with a new event.
    pub(crate) fn reverse_new_race(
        &mut self,
        first: usize,
        second: usize,
    ) -> ControlFlow<EarlyExit> {
        let execution = &self.explorer.execution;
        if self.explorer.system.is_unconditional(execution, second) {
            let reversal = Reversal { first, others: Vec::new(), last: LastMove::Event(second) };
            let is_settled = self.is_explored(&reversal, second)
                || !self.is_asleep(&reversal) && self.plan(&reversal, second);
            if !is_settled {
                let (guard, reversals) = (Vec::new(), vec![reversal]);
                self.open_races.races.push(OpenRace { first, second, guard, reversals });
            }
            return ControlFlow::Continue(());
        }
        let thread = execution.events()[second].mv.thread;
        let found = self.find_reversals(first, second, thread)?;
        let own = self.explorer.execution.footprint(second);
        let is_new = |new: &CellAccess| {
            !own.iter().any(|own| own.cell == new.cell && (own.writes || !new.writes))
        };
        let (mut reversals, mut guard) = (found.enabled, found.inspected);
        guard.retain(is_new);
        reversals.retain(|reversal| !self.is_explored(reversal, second));
        let mut race = OpenRace { first, second, guard, reversals };
        if self.reverse_open_race(&mut race)? {
            self.open_races.races.push(race);
        }
        ControlFlow::Continue(())
    }

    /// Returns whether an event behind a race, which does not happen after it, conflicts with the
    /// guard of the race.
    fn breaks_guard(&self, race: &OpenRace) -> bool {
        let execution = &self.explorer.execution;
        !race.guard.is_empty()
            && (race.second + 1..self.usable_events()).any(|event| {
                conflict(&race.guard, execution.footprint(event))
                    && !execution.happens_before(race.first, event)
            })
    }

    /// Returns whether a sleeping move of a thread other than the thread of the last move commutes
    /// with a reversal.
    pub(crate) fn is_asleep(&mut self, reversal: &Reversal) -> bool {
        let execution = &self.explorer.execution;
        let events = self.usable_events();
        let Reversal { first, others, .. } = reversal;
        let sleep = &self.nodes[*first].sleep;
        let SequenceItem { mv, footprint, .. } = reversal.last_move(execution);
        let commutes_with_last = |sleeper: &TrackedMove| {
            sleeper.mv.thread != mv.thread && !conflict(&sleeper.footprint, footprint)
        };
        let wakes = |event: usize, sleeper: &TrackedMove| {
            execution.events()[event].mv.thread == sleeper.mv.thread
                || conflict(&sleeper.footprint, execution.footprint(event))
        };
        if !others.is_empty() {
            let kept = || reversal.kept(execution, events);
            return sleep.iter().any(|sleeper| {
                commutes_with_last(sleeper) && kept().all(|event| !wakes(event, sleeper))
            });
        }
        if !sleep.iter().any(commutes_with_last) {
            return false;
        }
        let all = &mut self.open_races.sleepers;
        if all.len() <= *first {
            all.resize_with(*first + 1, Sleepers::default);
        }
        let Sleepers { woken, checked } = &mut all[*first];
        if woken.is_empty() {
            woken.resize(sleep.len(), None);
            *checked = *first;
        }
        for (sleeper, woken) in sleep.iter().zip(woken.iter_mut()) {
            if woken.is_some_and(|event| event < *checked) {
                continue;
            }
            let mut new = (*checked..events).filter(|event| wakes(*event, sleeper));
            *woken = new.find(|event| !execution.happens_before(*first, *event));
        }
        *checked = events;
        let mut asleep = sleep.iter().zip(woken).filter(|(_, woken)| woken.is_none());
        asleep.any(|(sleeper, _)| commutes_with_last(sleeper))
    }
}
