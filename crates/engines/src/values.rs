//! Value abstraction: runs another engine on a program with abstract values.
//!
//! Source: \[KVY11\] section 4.1 mentions the combination of its abstraction with one of values.
//! [`fencepost_translate::values`] builds the abstract program. Direction: over-approximation. A
//! verified program is correct, except for overflows of abstracted values.
//!
//! A violation of the abstract program is confirmed by a search of the exact program, for a few
//! times as many steps as the abstract run has. The abstract run takes all steps of its exact
//! counterpart, so the search finds the violation if the run has a counterpart and the search is not
//! limited. If the search finds another violation, that one is reported. Otherwise the run may be
//! spurious.
//!
//! DIVERGENCE: runs of abstract models of buffers are followed step by step
//! ([`crate::concretise`]). Here the steps of the two programs differ, so the run is not followed.

use crate::engine::{Answer, Budget, Engine, Settings, Task, unsupported};
use crate::explicit::Explicit;
use crate::verdict::{InconclusiveReason, Unsupported, Verdict};
use fencepost_ir::Observable;
use fencepost_models::Reductions;
use fencepost_models::catalog::ModelKind;
use fencepost_search::Limits;
use fencepost_translate::values::{Values, abstract_values};
use std::collections::BTreeSet;

/// How many times as many steps as the abstract run the exact search may take. Abstract runs are
/// short: `many` needs only a few steps.
const STEPS_FACTOR: u32 = 4;
/// The exact search may store this many states, or more if the abstract search stored many.
const EXACT_STATES: u64 = 100_000;
/// How many times as many states as the abstract search the exact search may store.
const EXACT_FACTOR: u64 = 10;

/// An engine on a program with abstract values.
pub struct ValueAbstraction {
    /// The abstracted locations and their kept values.
    pub values: Values,
    /// The engine for the abstract program.
    pub engine: Box<dyn Engine + Sync>,
}

impl Engine for ValueAbstraction {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn run(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        match loads_are_in_order(task) {
            true => self.check(task, settings, budget),
            false => unsupported(Unsupported::ValuesOfModel),
        }
    }

    /// Outcomes of abstract values are not outcomes of the program.
    fn outcomes(&self, _: Task<'_>, _: Settings, _: Budget<'_>) -> Answer {
        unsupported(Unsupported::Model)
    }
}

impl ValueAbstraction {
    fn check(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        let abstracted = match abstract_values(task.problem, &self.values) {
            Ok(abstracted) => abstracted,
            Err(reason) => {
                let reason = reason.describe(&task.problem.program);
                return unsupported(Unsupported::Translation(reason));
            }
        };
        let abstract_task = Task { problem: &abstracted.problem, model: task.model };
        let answer = self.engine.run(abstract_task, settings, budget);
        // What refers to the registers of the abstract program is not shown.
        let growing = answer.growing.filter(|found| matches!(found.what, Observable::Loc(_)));
        let answer = Answer {
            others: Vec::new(),
            outcomes: BTreeSet::new(),
            outcomes_complete: false,
            spurious_run: None,
            growing,
            runs: None,
            abstracted_values: Some(self.values.to_string()),
            ..answer
        };
        let weakened = |answer: Answer, reason| Answer {
            verdict: answer.verdict.clone().weakened(reason),
            ..answer
        };
        match &answer.verdict {
            Verdict::Inconclusive(_) => answer,
            Verdict::Verified(_) if !task.problem.sometimes.is_empty() => {
                // The witness is a run of the abstract program.
                weakened(answer, InconclusiveReason::Spurious)
            }
            Verdict::Verified(_) if task.problem.requires_progress() => {
                weakened(answer, InconclusiveReason::unsupported(Unsupported::Progress))
            }
            Verdict::Verified(_) if abstracted.hides_hangs && !task.problem.may_hang => {
                weakened(answer, InconclusiveReason::unsupported(Unsupported::HangsOfValues))
            }
            Verdict::Verified(_) => answer,
            Verdict::Violated(violated) => match violated.evidence().trace() {
                // No final state of the abstract program satisfies the condition.
                None => answer,
                Some(trace) => {
                    let steps = trace.steps.len() as u32;
                    match confirm(task, settings, budget, steps, answer.statistics.states) {
                        Some(exact) => exact,
                        None => weakened(answer, InconclusiveReason::Spurious),
                    }
                }
            },
        }
    }
}

/// Searches the exact program for a violation like one that the abstract program has after this
/// number of steps. Returns the answer if it is
/// conclusive.
fn confirm(
    task: Task<'_>,
    settings: Settings,
    budget: Budget<'_>,
    steps: u32,
    abstract_states: u64,
) -> Option<Answer> {
    let states = EXACT_STATES.max(abstract_states.saturating_mul(EXACT_FACTOR));
    let limits = Limits {
        states: states.min(settings.limits.states),
        depth: steps.saturating_mul(STEPS_FACTOR).min(settings.limits.depth),
        ..settings.limits
    };
    // A reduced search may need more steps.
    let reductions = Reductions { partial_order: false, ..settings.reductions };
    let answer = Explicit.run(task, Settings { limits, reductions, ..settings }, budget);
    answer.verdict.inconclusive().is_none().then_some(answer)
}

/// Returns whether the model performs loads in order, as the abstract program requires.
fn loads_are_in_order(task: Task<'_>) -> bool {
    match task.model.kind {
        ModelKind::Sc | ModelKind::Tso | ModelKind::Pso => true,
        ModelKind::Table(_) | ModelKind::Arm => false,
    }
}
