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
//! - [`super::late_end`]: a late step goes on after its first access.
//! - [`super::at_once`]: partial-order reduction with late steps.

use super::choice::Choices;
use super::{Machine, StepResult};
use crate::event::EventRecorder;
use crate::model::{MemoryModel, StepFailure};
use crate::mutation::Mutation;
use crate::state::State;
use fencepost_ir::{FenceKinds, Loc, Op, ThreadId};

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
                    if self.may_end_late_step(state, t, &start, &performed) {
                        return Ok(StepResult::Taken);
                    }
                    before.clone_from(&start);
                }
                let mut rest = self.rest_of_late_step(state, t);
                let has_issued = before != state.pending;
                if has_issued && self.mutated.is(Mutation::LateStepsIssueOneAccess) {
                    rest = Rest::Access;
                }
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

    fn rest_of_late_step(&self, state: &State<M::Pending>, t: ThreadId) -> Rest {
        let has_no_pending = || self.model.has_no_pending_access(&state.pending, t);
        match &self.shape.stmt(t, state.pcs[t.index()]).op {
            Op::Fence(FenceKinds::FULL) if has_no_pending() => Rest::Statement,
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
                if self.model.speculation().is_none() && !has_no_pending() =>
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
}
