//! Following a run on the exact memory model, step by step, to a violation.
//!
//! The steps are those of the checker ([`crate::semantics`]), with all pending stores in heads.
//! Direction: exact. If the order of pending stores cannot be represented, because a thread has
//! stores of more than 255 epochs, the run is rejected.

use std::convert::Infallible;

use fencepost_ir::{Loc, Op, Problem};

use super::format::{Clause, RunStep};
use crate::buffer::Rules;
use crate::format::{CertState, Model};
use crate::rejection::{Rejection, RejectionReason};
use crate::semantics::{Event, Semantics, StepResult, alternative};
use crate::{describe, hang, property};

/// Checks that the steps of a clause are a run of a problem that ends in a violation: a state that
/// violates a property, a hang, or a step that fails.
pub(crate) fn check_violating_run(
    problem: &Problem,
    model: Model,
    clause: &Clause,
) -> Result<(), Rejection> {
    let rules = Rules::exact(model);
    let semantics = Semantics::new(&problem.program, rules);
    let reject = |detail: String, state: &CertState| {
        let text = describe::state(&problem.program, state);
        Rejection::new(RejectionReason::Run, detail).with_state("state", text)
    };
    let mut state = match initial_state(&semantics, &clause.init) {
        Some(Ok(state)) => state,
        // A failure in `init` is a violation of every run.
        Some(Err(_)) if clause.steps.is_empty() => return Ok(()),
        Some(Err(_)) | None => {
            let detail = "`init` has no state after these choices";
            return Err(Rejection::new(RejectionReason::Run, detail));
        }
    };
    for (at, step) in clause.steps.iter().enumerate() {
        let number = at + 1;
        match take_step(&semantics, &state, step) {
            Some(Ok(after)) => state = after,
            Some(Err(_)) if number == clause.steps.len() => return Ok(()),
            Some(Err(_)) => {
                return Err(reject(
                    format!("step {number} fails before the end of the run"),
                    &state,
                ));
            }
            None => return Err(reject(format!("step {number} is not possible"), &state)),
        }
        if state.threads.iter().any(|thread| thread.epoch == rules.last_epoch) {
            let detail = "a thread passes too many fences with stores pending before each";
            return Err(reject(detail.into(), &state));
        }
    }
    let is_violation = property::violated_property(problem, &state).is_some()
        || hang::is_forbidden_hang(problem, &semantics, &state) == Some(true)
        || has_failing_step(&semantics, &state);
    if is_violation {
        Ok(())
    } else {
        Err(reject("the run does not end in a violation".into(), &state))
    }
}

/// Returns the initial state after these choices in `init`.
fn initial_state(semantics: &Semantics<'_>, choices: &[u32]) -> Option<StepResult> {
    if semantics.program.init.is_none() && !choices.is_empty() {
        return None;
    }
    let mut found = None;
    let Ok(()) = semantics.for_each_initial_with(Some(choices), &mut |initial| {
        found.get_or_insert(initial);
        Ok::<(), Infallible>(())
    });
    found
}

/// Takes a step. Returns `None` if the step is not enabled or does not exist.
fn take_step(semantics: &Semantics<'_>, state: &CertState, step: &RunStep) -> Option<StepResult> {
    match step {
        RunStep::Statement((thread,)) => statement(semantics, state, *thread, &[]),
        RunStep::Choices(thread, choices) => statement(semantics, state, *thread, choices),
        RunStep::Commit(thread, loc) => commit(semantics, state, *thread, Loc(*loc)),
    }
}

/// Executes the next statement of a thread.
fn statement(
    semantics: &Semantics<'_>,
    state: &CertState,
    thread: u32,
    choices: &[u32],
) -> Option<StepResult> {
    let thread_index = usize::try_from(thread).ok()?;
    let thread_state = state.threads.get(thread_index)?;
    let code = &semantics.program.threads[thread_index];
    let stmt = code.stmt(thread_state.pc);
    let chosen = match &stmt.op {
        Op::AtomicBegin => {
            if !thread_state.has_no_pending_store() {
                return None;
            }
            let mut inside = state.clone();
            inside.threads[thread_index].pc = stmt.next;
            return semantics.run_block(code, inside, thread_index, Some(choices)).pop();
        }
        Op::Choose { lo, hi, .. } => {
            let [choice] = choices else { return None };
            Some(alternative(*lo, *hi, *choice)?)
        }
        Op::Skip
        | Op::Assign { .. }
        | Op::Load { .. }
        | Op::Store { .. }
        | Op::Update { .. }
        | Op::Fence(_)
        | Op::Drain(_)
        | Op::Branch { .. }
        | Op::Assume(_)
        | Op::Assert(_)
        | Op::New { .. }
        | Op::Free { .. }
        | Op::Leave
        | Op::AtomicEnd
        | Op::Invoke { .. }
        | Op::Return { .. }
        | Op::Join
        | Op::SectionBegin { .. }
        | Op::SectionEnd { .. }
        | Op::GracePeriod { .. }
        | Op::Halt => {
            if !choices.is_empty() {
                return None;
            }
            None
        }
    };
    let mut found = None;
    let Ok(()) = semantics.for_each_statement(state, thread_index, &mut |value, after| {
        if chosen.is_none() || value == chosen {
            found.get_or_insert(after);
        }
        Ok::<(), Infallible>(())
    });
    found
}

/// Commits the oldest pending store of a thread to a location.
fn commit(
    semantics: &Semantics<'_>,
    state: &CertState,
    thread: u32,
    loc: Loc,
) -> Option<StepResult> {
    let mut found = None;
    let Ok(()) = semantics.for_each_step(state, &mut |event, after| {
        if let Event::Commit { thread: owner, loc: written, .. } = event
            && (u32::from(owner.0), written) == (thread, loc)
        {
            found.get_or_insert(after);
        }
        Ok::<(), Infallible>(())
    });
    found
}

/// Returns whether some step of a state fails.
fn has_failing_step(semantics: &Semantics<'_>, state: &CertState) -> bool {
    let found = semantics.for_each_step(state, &mut |_, after| after.map(|_| ()).map_err(|_| ()));
    found.is_err()
}
