//! Prompt steps: internal steps of a window that a thread takes together with its step before them. A
//! prompt step performs an access that was just fetched. An access that can be performed only later is
//! performed in a step of its own, so that a trace does not reorder accesses without need.
//!
//! Direction: exact. A prompt step commutes with everything that can precede it
//! ([`MemoryModel::internal_commutes`]), so it alone is a persistent set of the state in which it is
//! taken. Partial-order reduction ([`super::system`]) explores such a step alone, too, but as a step
//! of its own: it needs the cycle proviso, and the state before it is stored. In a loop that waits,
//! the proviso then fails in each iteration, and every order of the thread's loads is explored. A
//! prompt step needs no proviso. It belongs to the step before it, and a step takes finitely many
//! prompt steps. So the steps of other threads are not postponed along a cycle.
//!
//! - A prompt step must not leave a critical section or pass a control point of an invariant. Only
//!   the resolution of a guess can do so. So a thread that has guessed takes no prompt step if such a
//!   property is checked.
//! - If a prompt step refutes a guess, then the step before it is not enabled. The thread can take
//!   no step that has an effect on others before the guess is resolved, and each resolution refutes
//!   the guess. The other threads can do the same if the thread does not guess.
//!
//! Steps depend on [`Reductions::fuse`](super::Reductions::fuse) only, so that a trace can be
//! replayed with other reductions.

use super::Machine;
use crate::event::EventRecorder;
use crate::model::{MemoryModel, StepFailure};
use crate::state::State;
use fencepost_ir::ThreadId;

impl<M: MemoryModel> Machine<'_, M> {
    /// Takes the prompt step of a thread, if there is one. Returns false if the step refutes a guess.
    #[inline]
    pub(super) fn take_prompt_step(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        recorder: &mut dyn EventRecorder,
    ) -> Result<bool, StepFailure> {
        let Some(step) = self.model.prompt_step(&self.shape, state, t) else { return Ok(true) };
        let is_visible =
            self.shape.checks_mutual_exclusion || !self.shape.control_points.is_empty();
        if is_visible && self.model.is_speculating(&self.shape, &state.pending, t) {
            return Ok(true);
        }
        self.model.perform_internal_step(&self.shape, state, t, step, recorder)
    }
}
