//! Late issue: a thread that a grace period may still see makes an access pending, or begins a
//! section, only together with an access that takes effect.
//!
//! A pending access and a section have one effect on other threads: a grace period cannot see the
//! thread. So they should begin as late as possible. A *late step* issues accesses, begins sections
//! and passes fences until one access takes effect: the last access that it issued, an access that
//! does not become pending, or, if the thread has begun a section, any access that it issued. The
//! machine chooses how far the step goes. If the next statement waits until nothing is pending, the
//! step does not go beyond it, and an access that cannot take effect now is issued later.
//!
//! *Soundness.* Let `i` be the last step of a run that issues an access, begins a section or passes
//! a fence early: before the next step `n` of its thread, other threads take steps, or older
//! accesses of the thread take effect. Then `i` can be moved to `n`:
//!
//! - The steps of other threads do not depend on `i`, except grace periods. In the new run they see
//!   the thread in the same states and in more states. Seeing more loses no run
//!   ([`super::section`]).
//! - An older access of the thread takes effect in the same way whether a younger one is pending or
//!   not, and the younger one is not blocked more when it is issued later.
//! - `i` does not fail in one place only. Its fault does not depend on memory, because the rule is
//!   restricted to programs without records.
//!
//! Every access of a run to a final state takes effect, so the steps are moved, the last one first,
//! until every one is part of a late step. The final state does not change. Only threads without
//! cycles take late steps, so a step is finite, and hangs are not affected: a thread without cycles
//! waits only for a grace period, which waits until nothing is pending, or at a false `assume`.
//!
//! *Partial-order reduction.* An access that takes effect in the step in which it is issued does
//! not change when its thread can be seen. So such a step, without further accesses, may be
//! explored alone ([`Machine::at_once_commutes`]) and be part of a race ([`super::race`]), like an
//! access that never becomes pending: if another access of the thread overtakes it in a run, the
//! run in which it is first exists as well, and grace periods see no less there.

use super::choice::Choices;
use super::{Machine, StepResult};
use crate::event::EventRecorder;
use crate::model::{MemoryModel, StepFailure};
use crate::mutation::Mutation;
use crate::state::State;
use fencepost_ir::{Access, FenceKinds, Loc, Op, ThreadId};

/// How a late step can go on after it has issued an access or begun a section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rest {
    /// With the next statement.
    Statement,
    /// Only with an access that it has issued, because the next statement waits for it.
    Access,
    /// It ends. An access may stay pending until another step.
    Nothing,
}

impl<M: MemoryModel> Machine<'_, M> {
    /// Returns whether the thread takes late steps.
    pub(super) fn issues_late(&self, t: ThreadId) -> bool {
        self.reductions.fuse
            && self.shape.grace_periods.is_acyclic[t.index()]
            && self.shape.cells == 0
            && !self.observes_intermediate_states()
            && self.model.can_issue_late()
    }

    fn observes_intermediate_states(&self) -> bool {
        self.shape.checks_mutual_exclusion
            || !self.shape.control_points.is_empty()
            || !self.shape.invariants.is_empty()
    }

    /// Returns whether the next step of a thread is a late step.
    #[inline]
    pub(super) fn is_issued_late(&self, state: &State<M::Pending>, t: ThreadId) -> bool {
        if !self.shape.grace_periods.occur {
            return false;
        }
        let op = &self.shape.stmt(t, state.pcs[t.index()]).op;
        (matches!(op, Op::SectionBegin { .. }) || self.model.becomes_pending(op))
            && self.issues_late(t)
            && self.may_be_seen(state, t)
    }

    /// Takes a late step.
    pub(super) fn run_late(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        choices: &mut Choices,
        recorder: &mut dyn EventRecorder,
    ) -> Result<StepResult, StepFailure> {
        let start = state.pending.clone();
        let mut before = start.clone();
        let mut performed: Vec<Loc> = Vec::new();
        let mut steps = Vec::new();
        loop {
            let op = &self.shape.stmt(t, state.pcs[t.index()]).op;
            let takes_effect = op.access().is_some() && !self.model.becomes_pending(op);
            let loc = if takes_effect { self.next_access(state, t) } else { None };
            // Outside of sections, only the last access that was issued needs the step.
            if self.may_be_seen(state, t) {
                before.clone_from(&state.pending);
            }
            match self.run_statement(state, t, choices, recorder)? {
                StepResult::Taken => performed.extend(loc),
                result @ (StepResult::Blocked | StepResult::BoundReached) => return Ok(result),
            }
            let mut has_taken_effect = takes_effect;
            loop {
                if has_taken_effect {
                    if !self.is_overtaken_soon(state, t, &start, &performed) {
                        return Ok(StepResult::Taken);
                    }
                    before.clone_from(&start);
                }
                let rest = self.rest_of_late_step(state, t);
                let has_issued = before != state.pending;
                if rest == Rest::Nothing || (rest == Rest::Access && !has_issued) {
                    return Ok(StepResult::Taken);
                }
                steps.clear();
                self.model.steps_of_new_accesses(&self.shape, &before, state, t, &mut steps);
                let options = steps.len() + usize::from(rest == Rest::Statement);
                if options == 0 {
                    let taken = !performed.is_empty();
                    return Ok(if taken { StepResult::Taken } else { StepResult::Blocked });
                }
                let chosen = choices.choose(options as u32) as usize;
                let Some(step) = steps.get(chosen) else { break };
                let loc = self.model.step_location(&self.shape, state, t, *step);
                match self.perform_internal_step(state, t, *step, recorder)? {
                    StepResult::Taken => performed.extend(loc),
                    result @ (StepResult::Blocked | StepResult::BoundReached) => return Ok(result),
                }
                has_taken_effect = true;
            }
        }
    }

    /// Returns whether a late step must go on: the thread is hidden from grace periods, and no other
    /// thread accesses soon what the step has accessed.
    fn is_overtaken_soon(
        &self,
        state: &State<M::Pending>,
        t: ThreadId,
        start: &M::Pending,
        performed: &[Loc],
    ) -> bool {
        let is_visible = self.may_be_seen(state, t) && state.pending == *start;
        !is_visible && !performed.iter().any(|loc| self.is_accessed_soon(state, t, *loc))
    }

    /// Returns whether another thread may access the location before its next grace period.
    fn is_accessed_soon(&self, state: &State<M::Pending>, t: ThreadId, loc: Loc) -> bool {
        let who = self.shape.readers[loc.index()] | self.shape.writers[loc.index()];
        self.shape.others(t, who).any(|other| {
            let soon = &self.shape.thread(other).soon_accesses;
            let pc = state.pcs[other.index()];
            let pending = self.model.pending_accesses_to(&self.shape, &state.pending, other, loc);
            soon.stores(pc, loc)
                || soon.loads(pc, loc)
                || pending != Access { loads: false, stores: false }
        })
    }

    fn rest_of_late_step(&self, state: &State<M::Pending>, t: ThreadId) -> Rest {
        match &self.shape.stmt(t, state.pcs[t.index()]).op {
            // These statements wait until nothing of the thread is pending.
            Op::Fence(FenceKinds::FULL) | Op::GracePeriod { .. } | Op::AtomicBegin | Op::Halt => {
                Rest::Access
            }
            Op::Load { .. }
            | Op::Store { .. }
            | Op::Update { .. }
            | Op::Fence(_)
            | Op::Drain(_)
            | Op::SectionBegin { .. } => Rest::Statement,
            // Without guesses, control waits for its registers, and only accesses provide them.
            Op::Branch { .. } | Op::Assume(_)
                if self.model.speculation().is_none()
                    && !self.model.has_no_pending_access(&state.pending, t) =>
            {
                Rest::Access
            }
            Op::Branch { .. }
            | Op::Assume(_)
            | Op::Skip
            | Op::Assign { .. }
            | Op::Choose { .. }
            | Op::Assert(_)
            | Op::New { .. }
            | Op::Free { .. }
            | Op::Leave
            | Op::AtomicEnd
            | Op::Invoke { .. }
            | Op::Return { .. }
            | Op::Join
            | Op::SectionEnd { .. } => Rest::Nothing,
        }
    }

    /// Issues the next access of a thread and performs it. Returns [`StepResult::Blocked`] if it
    /// cannot be performed now, or if it `must_commute` and does not.
    pub(super) fn run_at_once(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        must_commute: bool,
    ) -> Result<StepResult, StepFailure> {
        let before = state.pending.clone();
        let taken = self.run_statement(state, t, &mut Choices::default(), &mut ())?;
        if taken != StepResult::Taken {
            return Ok(taken);
        }
        let mut steps = Vec::new();
        self.model.steps_of_new_accesses(&self.shape, &before, state, t, &mut steps);
        let commutes = |step| {
            !must_commute
                || self.mutated.is(Mutation::AccessesCommute)
                || self.model.internal_commutes(&self.shape, state, t, step)
        };
        match steps[..] {
            [step] if commutes(step) => self.perform_internal_step(state, t, step, &mut ()),
            _ => Ok(StepResult::Blocked),
        }
    }

    /// Returns the location of the next access of a thread, if the access is issued late, and no
    /// pending access of the thread may be to the location.
    pub(super) fn late_location(&self, state: &State<M::Pending>, t: ThreadId) -> Option<Loc> {
        let pc = state.pcs[t.index()];
        let is_known =
            || self.model.are_registers_known(state, t, &self.shape.thread(t).uses[pc.index()]);
        if !self.is_issued_late(state, t) || !is_known() {
            return None;
        }
        let loc = self.next_access(state, t)?;
        let pending = self.model.pending_accesses_to(&self.shape, &state.pending, t, loc);
        (pending == Access { loads: false, stores: false }).then_some(loc)
    }
}
