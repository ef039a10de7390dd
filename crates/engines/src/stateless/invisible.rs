//! Invisible steps: steps that belong to the event before them.
//!
//! Fences, drains, ends of critical sections and local statements have no effect on other threads
//! under SC, and they cannot block. The exception are programs with an invariant that requires a
//! control point: there, every step is an event. Direction: exact.

use super::silent_loop::SilentLoopDetector;
use crate::sc::{ScMachine, ScState};
use fencepost_ir::{Op, ThreadId};
use fencepost_models::machine::choice::Choices;
use fencepost_models::state::State;
use fencepost_models::{Machine, MemoryModel, StepResult};

/// Takes the invisible steps of a thread, up to a failing one. Returns whether the thread is in a
/// silent loop.
pub(super) fn pass_invisible(machine: &ScMachine<'_>, state: &mut ScState, t: ThreadId) -> bool {
    let mut detector = SilentLoopDetector::default();
    while is_merged(machine, state, t) && !machine.work_limits.is_cancelled() {
        if detector.is_in_loop(machine, state, t) {
            return true;
        }
        if machine.run(state, t, &mut Choices::default(), &mut ()) != Ok(StepResult::Taken) {
            return false;
        }
    }
    false
}

/// Returns whether the next statement of a thread belongs to the event before it: it is invisible,
/// and no invariant can hold because the thread has executed it.
pub(crate) fn is_merged<M: MemoryModel>(
    machine: &Machine<'_, M>,
    state: &State<M::Pending>,
    t: ThreadId,
) -> bool {
    !machine.shape.requires_control_points && is_invisible(machine, state, t)
}

/// Returns whether the next statement of a thread has no effect on other threads and cannot block.
pub(crate) fn is_invisible<M: MemoryModel>(
    machine: &Machine<'_, M>,
    state: &State<M::Pending>,
    t: ThreadId,
) -> bool {
    let pc = state.pcs[t.index()];
    match &machine.shape.stmt(t, pc).op {
        Op::Fence(_) | Op::Drain(_) | Op::Leave => true,
        // Local statements remain only if steps are not fused.
        Op::Skip | Op::Assign { .. } | Op::Branch { .. } | Op::Assert(_) | Op::Return { .. } => {
            true
        }
        Op::Assume(condition) => {
            let shape = &machine.shape;
            condition.eval(&|reg| state.register(shape, t, *reg)) != Ok(0)
        }
        Op::Choose { .. }
        | Op::Load { .. }
        | Op::Store { .. }
        | Op::Update { .. }
        | Op::New { .. }
        | Op::Free { .. }
        | Op::AtomicBegin
        | Op::AtomicEnd
        | Op::Invoke { .. }
        | Op::Join
        | Op::SectionBegin { .. }
        | Op::SectionEnd { .. }
        | Op::GracePeriod { .. }
        | Op::Halt => false,
    }
}
