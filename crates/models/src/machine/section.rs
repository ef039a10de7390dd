//! Read-side sections and grace periods (RCU, SRCU).
//!
//! A grace period *polls*: a step of its thread that sees which of its waits are fulfilled now. A
//! wait is fulfilled if the other thread is outside of the sections and has nothing pending. The
//! thread continues when it has seen every wait fulfilled at some moment. Sections have no effect on
//! the order of accesses.
//!
//! *Reductions.* A thread [may be seen](Machine::may_be_seen) if a grace period of another thread
//! may still find it outside of its sections. For such a thread, beginning a section and making an
//! access pending are visible to others: they end the time in which the thread can be seen. So these
//! steps are not fused with others and do not commute. All other steps only extend this time or do
//! not change it. A section begins as late as possible: together with the next access, in a
//! [late step](super::late_issue) if the thread has no cycles. A poll that sees more leads to a state
//! in which every run of the other state is possible. Only a hang may be missing, if a thread can
//! wait forever inside a section
//! ([`always_end`](crate::grace_periods::GracePeriods::always_end)).

use super::choice::Choices;
use super::run::LocalResult;
use super::{Machine, StepResult};
use crate::address::check_limits;
use crate::event::{Event, EventKind, EventRecorder};
use crate::model::{MemoryModel, StepFailure};
use crate::mutation::Mutation;
use crate::state::State;
use fencepost_ir::grace_period::{self, Wait};
use fencepost_ir::{Domain, Fault, Op, Pc, Reg, ThreadId, Value};

impl<M: MemoryModel> Machine<'_, M> {
    /// Begins a section.
    pub(super) fn begin_section(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        held: Reg,
        index: Option<Reg>,
    ) -> Result<(), Fault> {
        let now = state.register(&self.shape, t, held);
        match index {
            None => self.assign(state, t, held, now + 1),
            Some(reg) => {
                let free = now.trailing_ones();
                let limits = self.shape.thread(t).register_limits[held.index()];
                let now = check_limits(limits, now | (1 as Value).wrapping_shl(free))?;
                self.assign(state, t, reg, free as Value)?;
                self.assign(state, t, held, now)
            }
        }
    }

    /// Executes the next statement of a thread that has just begun a section, if it is an access
    /// that is enabled.
    pub(super) fn run_access(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        recorder: &mut dyn EventRecorder,
    ) -> Result<StepResult, StepFailure> {
        let pc = state.pcs[t.index()];
        // The section may have ended already, and the access may be behind it.
        if self.shape.stmt(t, pc).op.access().is_none() || self.may_be_seen(state, t) {
            return Ok(StepResult::Taken);
        }
        let begun = state.clone();
        let mut events: Vec<Event> = Vec::new();
        let choices = &mut Choices::default();
        let result = if recorder.is_enabled() {
            self.run(state, t, choices, &mut events)
        } else {
            self.run(state, t, choices, &mut ())
        };
        match result {
            Ok(StepResult::Taken) | Err(_) => {
                events.into_iter().for_each(|event| recorder.record(event));
            }
            Ok(StepResult::Blocked | StepResult::BoundReached) => *state = begun,
        }
        result.map(|_| StepResult::Taken)
    }

    /// Ends a section with the statement at `pc`.
    pub(super) fn end_section(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        pc: Pc,
        recorder: &mut dyn EventRecorder,
    ) -> Result<LocalResult, StepFailure> {
        let stmt = self.shape.stmt(t, pc);
        let Op::SectionEnd { held, index, .. } = &stmt.op else { return Ok(LocalResult::Blocked) };
        if !self.model.are_registers_known(state, t, &self.shape.thread(t).uses[pc.index()]) {
            return Ok(LocalResult::UnknownRegister);
        }
        let now = state.register(&self.shape, t, *held);
        let index = index.as_ref().map(|index| self.eval(state, t, index)).transpose();
        let after = index.and_then(|index| {
            let after = match index {
                None if self.mutated.is(Mutation::SectionsDoNotNest) => (now > 0).then_some(0),
                None => (now > 0).then_some(now - 1),
                Some(index) => {
                    let bit =
                        u32::try_from(index).ok().and_then(|index| (1 as Value).checked_shl(index));
                    bit.filter(|bit| now & bit != 0).map(|bit| now & !bit)
                }
            };
            self.assign(state, t, *held, after.ok_or(Fault::NotInSection)?)
        });
        match after {
            Ok(()) => {}
            Err(_) if self.hides_failures(state, t) => return Ok(LocalResult::Blocked),
            Err(fault) => return Err(StepFailure { fault: Some(fault), label: Some(stmt.label) }),
        }
        recorder.record_with(|| Event {
            thread: t,
            label: Some(stmt.label),
            pc: Some(pc),
            earlier_pending: None,
            kind: EventKind::SectionEnd,
        });
        Ok(LocalResult::Next(stmt.next))
    }

    /// Polls a grace period at `pc`. Returns the program counter after the step, or `None` if the
    /// step is not enabled.
    pub(super) fn poll(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        pc: Pc,
    ) -> Result<Option<Pc>, Fault> {
        let stmt = self.shape.stmt(t, pc);
        let Op::GracePeriod { domain, seen } = stmt.op else { return Ok(None) };
        let is_drained = self.model.is_drained(&mut state.pending, t);
        if !is_drained && !self.mutated.is(Mutation::GracePeriodIsNoFence) {
            return Ok(None);
        }
        let before = state.register(&self.shape, t, seen);
        let waits = self.shape.grace_periods.waits(t, domain);
        let fulfilled = waits.iter().enumerate().filter(|(_, wait)| self.is_fulfilled(state, wait));
        let after = fulfilled.fold(before, |seen, (at, _)| seen | 1 << at);
        let ends = after == (1i64 << waits.len()) - 1;
        if after == before && !ends {
            return Ok(None);
        }
        self.assign(state, t, seen, if ends { 0 } else { after })?;
        Ok(Some(if ends { stmt.next } else { pc }))
    }

    /// Returns whether a thread is outside of sections and has nothing pending.
    fn is_fulfilled(&self, state: &State<M::Pending>, wait: &Wait) -> bool {
        !self.is_held(state, wait)
            && (self.model.has_no_pending_access(&state.pending, wait.thread)
                || self.mutated.is(Mutation::GracePeriodIgnoresPending))
    }

    /// Returns whether a thread is inside of sections.
    fn is_held(&self, state: &State<M::Pending>, wait: &Wait) -> bool {
        !self.mutated.is(Mutation::GracePeriodIgnoresSections)
            && wait.held.is_some_and(|(reg, bits)| {
                state.register(&self.shape, wait.thread, reg) & bits != 0
            })
    }

    /// Returns whether a grace period of another thread may still see the thread outside of its
    /// sections before the thread ends another section.
    #[inline]
    pub(super) fn may_be_seen(&self, state: &State<M::Pending>, t: ThreadId) -> bool {
        self.shape.grace_periods.occur
            && !self.mutated.is(Mutation::SectionsInvisible)
            && self.is_awaited(state, t)
    }

    fn is_awaited(&self, state: &State<M::Pending>, t: ThreadId) -> bool {
        let grace_periods = &self.shape.grace_periods;
        let is_open = |wait: &Wait| wait.thread == t && !self.is_held(state, wait);
        self.shape.program().thread_ids().filter(|other| *other != t).any(|other| {
            let pc = state.pcs[other.index()];
            let stmt = self.shape.stmt(other, pc);
            let Op::GracePeriod { domain, seen } = stmt.op else {
                return grace_periods.future_waits(other, pc).any(is_open);
            };
            // The current grace period does not look again at what it has seen.
            let seen = state.register(&self.shape, other, seen);
            let mut now = grace_periods.waits(other, domain).iter().enumerate();
            now.any(|(at, wait)| seen >> at & 1 == 0 && is_open(wait))
                || grace_periods.future_waits(other, stmt.next).any(is_open)
        })
    }

    /// Changes `state` so that thread `t` has nothing pending and is outside of every section that
    /// it is outside of, with nothing pending, in one of the reached states. Returns whether this
    /// changes `state`: then a grace period may see a condition that it did not see before.
    pub(super) fn fulfil_conditions<'s>(
        &self,
        t: ThreadId,
        reached: impl Iterator<Item = &'s State<M::Pending>>,
        state: &mut State<M::Pending>,
    ) -> bool
    where
        M::Pending: 's,
    {
        let registers = grace_period::registers(self.shape.program().thread(t));
        let mut changed = false;
        for reached in reached {
            if !self.model.has_no_pending_access(&reached.pending, t) {
                continue;
            }
            changed |= !self.model.has_no_pending_access(&state.pending, t);
            self.model.copy_thread(&reached.pending, &mut state.pending, t);
            for reg in &registers {
                let at = self.shape.register(t, *reg);
                let is_depth =
                    grace_period::held_register(self.shape.program().thread(t), Domain::RCU)
                        == Some(*reg);
                let left = if is_depth && reached.registers[at] != 0 {
                    state.registers[at]
                } else {
                    state.registers[at] & reached.registers[at]
                };
                changed |= left != state.registers[at];
                state.registers[at] = left;
            }
        }
        changed
    }
}
