//! The robustness arm of the portfolio: verdicts from SC states alone.
//!
//! If a program is [robust](crate::robust), each run of the model has the happens-before relation
//! of some SC run. The verdict under SC is then the verdict under the model. Under TSO the arm
//! searches for an attack, which needs no buffers. Under PSO it enumerates SC executions. A run
//! that violates a property under SC is also a run of the model. Direction: exact.
//!
//! The arm does not apply where robustness decides too little: to programs that free records, to
//! operations that observe which others have returned, to invariants that relate control points to
//! memory, to invariants about memory under PSO, and to `sometimes` conditions, for which the
//! searches collect no witnesses.

use crate::engine::{Answer, Budget, Engine, Settings, Task};
use crate::robust::{Robust, RobustMethod};
use crate::stateless::watched;
use crate::verdict::{InconclusiveReason, Verdict};
use fencepost_ir::Violation;
use fencepost_monitor::Model;
use fencepost_search::{Limits, Stop};

/// An execution takes as long as about this many states.
const STATES_PER_EXECUTION: u64 = 100;

/// The result of an attempt of the arm.
#[derive(Clone, Debug)]
pub enum Attempt {
    /// The verdict holds for the model.
    Concluded(Box<Answer>),
    /// The limit on states is too small. A later attempt with a larger limit may conclude.
    TooBig,
    /// The arm cannot decide the task: it does not apply, or the program is not robust.
    Undecidable,
}

/// Returns whether an attempt is worth its time after an exact search that did not conclude.
pub(super) fn is_promising(task: Task<'_>, exact: &Answer) -> bool {
    // The search for an attack does not tell whether there is a final state. Without one, a
    // condition on final states is checked on nothing.
    let may_be_vacuous = exact.outcomes.is_empty() && task.problem.has_final_properties();
    // If values grow without bound, there are infinitely many SC states, too.
    exact.growing.is_none() && !may_be_vacuous
}

/// Tries to reach a verdict by robustness within the limits of the settings.
pub fn attempt(task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Attempt {
    if !task.problem.sometimes.is_empty() {
        return Attempt::Undecidable;
    }
    let (method, states) = match watched(task) {
        Ok(Some(Model::Tso)) => (RobustMethod::Attack, settings.limits.states),
        Ok(Some(Model::Pso)) => {
            (RobustMethod::Stateless, settings.limits.states / STATES_PER_EXECUTION)
        }
        Ok(None) | Err(_) => return Attempt::Undecidable,
    };
    let limits = Limits { states: states.max(1), ..settings.limits };
    let answer = Robust::by(method).run(task, Settings { limits, ..settings }, budget);
    match &answer.verdict {
        Verdict::Verified(_) => Attempt::Concluded(Box::new(answer)),
        Verdict::Violated(violated) => match violated.evidence().violation() {
            Violation::NotRobust => Attempt::Undecidable,
            Violation::Fault(..)
            | Violation::Assertion(..)
            | Violation::MutualExclusion(..)
            | Violation::Invariant(_)
            | Violation::Final(_)
            | Violation::Operations(_)
            | Violation::Hang
            | Violation::Livelock { .. }
            | Violation::NoWitness(_)
            | Violation::DataRace(_) => Attempt::Concluded(Box::new(answer)),
        },
        Verdict::Inconclusive(inconclusive) => match inconclusive.reason() {
            InconclusiveReason::Limit(Stop::States | Stop::Time | Stop::Interrupted) => {
                Attempt::TooBig
            }
            InconclusiveReason::Limit(Stop::Memory | Stop::Depth)
            | InconclusiveReason::Bound { .. }
            | InconclusiveReason::Spurious
            | InconclusiveReason::Unsupported { .. } => Attempt::Undecidable,
        },
    }
}
