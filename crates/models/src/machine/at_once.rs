//! Partial-order reduction with late steps that perform one access.
//!
//! A [late step](super::late_issue) may issue an access and perform it, without further accesses.
//! Such a step does not change when grace periods can see its thread. So it is like an access that
//! never becomes pending: it is explored alone if performing the access commutes with everything
//! that can precede it ([`MemoryModel::internal_commutes`]), and it can be part of a
//! [race](super::race).
//!
//! *Soundness.* Let a run contain the access, and no earlier access of another thread to its
//! location that conflicts. If accesses of the same thread overtake it in the run, they are to other
//! locations, and they stay enabled if it is performed first. So the run in which it is performed
//! first has the same effects. The thread has less pending there, so grace periods see no less.
//! A late step that begins a section or leaves an access pending has no such argument: a grace
//! period may see the thread before the step, but not after it.

use super::choice::Choices;
use super::{Machine, StepResult};
use crate::model::{MemoryModel, StepFailure};
use crate::mutation::Mutation;
use crate::state::State;
use fencepost_ir::{Access, Loc, ThreadId};

impl<M: MemoryModel> Machine<'_, M> {
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
                || self.mutated.is(Mutation::AccessesCommuteAtOnce)
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
