//! From a violation of the search of canonical states to a run of the exact machine.
//!
//! The run is followed greedily: from a state of the exact machine, the first step whose result has
//! the next canonical state of the path. For wrapping classes this always succeeds.

use super::system::CounterSystem;
use crate::engine::Task;
use crate::evidence::Evidence;
use fencepost_models::bits::Writer;
use fencepost_models::buffered::{Buffered, PlainQueues};
use fencepost_models::machine::choice::Choices;
use fencepost_models::machine::system::INIT_DETAIL;
use fencepost_models::replay::Trace;
use fencepost_models::state::State;
use fencepost_models::{Action, Machine, Step, StepResult};
use fencepost_search::{Exploration, Target};

/// Returns the violation at the end of the path to a target, if the exact machine follows the path.
pub(super) fn follow<D: PlainQueues>(
    task: Task<'_>,
    system: &CounterSystem<'_, D>,
    found: &Exploration,
    target: Target,
    model: Buffered<D>,
) -> Option<Evidence> {
    let reductions = system.machine.reductions;
    let machine = Machine::new(task.problem, model, reductions);
    let path = if target.detail == INIT_DETAIL { Vec::new() } else { found.path(target.state) };
    let mut writer = Writer::default();
    let mut leads_to = |state: &State<D::Queues>, next: &[u8]| {
        let mut state = state.clone();
        system.canonicalise(&mut state) && system.machine.encode(&state, &mut writer) == next
    };
    let mut trace = Trace::default();
    let mut state = machine.blank();
    let mut choices = Choices::default();
    loop {
        let started = machine.start(&mut state, &mut choices, &mut ());
        let matches = match path.first() {
            None => {
                started.is_err()
                    || (started == Ok(true) && machine.state_violation(&state).is_some())
            }
            Some(first) => started == Ok(true) && leads_to(&state, first),
        };
        if matches {
            trace.init = choices.script().to_vec();
            break;
        }
        if !machine.next_combination(&mut choices) {
            return None;
        }
    }
    for next in path.iter().skip(1) {
        let attempts = machine.attempt_steps(&state).into_iter();
        let mut taken = attempts.filter(|attempt| attempt.taken == Ok(StepResult::Taken));
        let step = taken.find(|attempt| leads_to(&attempt.after, next))?;
        trace.steps.push(step.step);
        state = step.after;
    }
    if !path.is_empty() && machine.end_violation(&state).is_none() {
        let violates = |taken: &Result<StepResult, _>, after: &State<D::Queues>, step: &Step| {
            let Step { thread, action: Action::Run(_) | Action::Internal(_) } = step;
            taken.is_err()
                || *taken == Ok(StepResult::Taken)
                    && machine.state_violation_after(after, *thread).is_some()
        };
        let mut attempts = machine.attempt_steps(&state).into_iter();
        let last = attempts.find(|step| violates(&step.taken, &step.after, &step.step))?;
        trace.steps.push(last.step);
    }
    let run = task.model.replay(task.problem, reductions, &trace).ok()?;
    Evidence::from_run(run)
}
