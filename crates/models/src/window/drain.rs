//! `drain`: waits until no store of the thread to a location is pending.

use super::Window;
use super::retire::WindowRules;
use crate::address::{check_allocated, locate};
use crate::event::{Event, EventKind, EventRecorder};
use crate::model::{IssueResult, StepFailure};
use crate::shape::Shape;
use crate::state::State;
use fencepost_ir::{Address, Loc, Pc, ThreadId};

/// Issues a drain. `may_store` says whether a store to a location may be pending.
pub(crate) fn drain(
    rules: &impl WindowRules,
    shape: &Shape<'_>,
    state: &State<Vec<Window>>,
    (t, pc): (ThreadId, Pc),
    address: &Address,
    may_store: impl Fn(Loc) -> bool,
    recorder: &mut dyn EventRecorder,
) -> Result<IssueResult, StepFailure> {
    let window = &state.pending[t.index()];
    let uses = &shape.thread(t).uses[pc.index()];
    if !uses.iter().all(|reg| window.is_known(*reg)) {
        return Ok(IssueResult::Blocked);
    }
    let label = Some(shape.stmt(t, pc).label);
    let failure = |fault| StepFailure { fault: Some(fault), label };
    let registers = &state.registers[shape.thread(t).registers..];
    let located = locate(shape, address, &|reg| registers[reg.index()]);
    let checked = located.and_then(|loc| check_allocated(shape, &state.memory, loc));
    if checked.is_err() && rules.is_speculative(shape, t, window, window.len()) {
        return Ok(IssueResult::Blocked);
    }
    let loc = located.map_err(failure)?;
    if may_store(loc) {
        return Ok(IssueResult::Blocked);
    }
    checked.map_err(failure)?;
    recorder.record_with(|| Event {
        thread: t,
        label,
        pc: Some(pc),
        earlier_pending: None,
        kind: EventKind::Drain(loc),
    });
    Ok(IssueResult::Done)
}
