//! The properties that certificates can prove, and their evaluation in a state.
//!
//! Direction: exact for final states. They have no pending stores, and an abstract state without
//! pending stores is an exact state.

use fencepost_ir::{
    Condition, Consistency, Observable, Op, Problem, Property, Value, grace_period,
};
use std::fmt;

use crate::format::CertState;

/// A property or a feature of a program that certificates do not support.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum UncertifiableProperty {
    /// A property of operations, such as linearizability.
    Operations(Consistency),
    /// `property progress`: infinite runs.
    Progress,
    /// RCU: read-side sections and grace periods.
    GracePeriods,
    /// `final exists`, with its condition. An over-approximation is no witness of reachability.
    Exists(String),
}

impl fmt::Display for UncertifiableProperty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UncertifiableProperty::Operations(consistency) => {
                let word = consistency.word();
                write!(f, "certificates cannot prove `property {word} operations`")
            }
            UncertifiableProperty::Progress => {
                f.write_str("certificates cannot prove `property progress`")
            }
            UncertifiableProperty::GracePeriods => {
                f.write_str("certificates do not support RCU sections and grace periods")
            }
            UncertifiableProperty::Exists(condition) => write!(
                f,
                "certificates cannot prove `final exists {condition}`: an over-approximation does not show \
                 that a state is reachable"
            ),
        }
    }
}

impl std::error::Error for UncertifiableProperty {}

/// Checks that certificates can prove all properties of a problem. The error is the first other
/// property.
pub fn check_certifiable(problem: &Problem) -> Result<(), UncertifiableProperty> {
    if grace_period::occurs(&problem.program) {
        return Err(UncertifiableProperty::GracePeriods);
    }
    for property in &problem.properties {
        match property {
            Property::Operations(operations) => {
                return Err(UncertifiableProperty::Operations(operations.consistency));
            }
            Property::Assertions
            | Property::MutualExclusion
            | Property::FinalForall(_)
            | Property::FinalNever(_)
            | Property::Invariant(_)
            | Property::DeadlockFree => {}
            Property::Progress => return Err(UncertifiableProperty::Progress),
        }
    }
    if let Some(condition) = problem.sometimes.first() {
        return Err(UncertifiableProperty::Exists(condition.text.clone()));
    }
    Ok(())
}

/// Returns the properties that an accepted certificate proves, as text.
pub(crate) fn property_names(problem: &Problem) -> Vec<String> {
    let mut names = vec!["no faults".to_string()];
    if !problem.may_hang {
        names.push("no hangs".into());
    }
    names.extend(problem.properties.iter().map(property_name));
    names
}

fn property_name(property: &Property) -> String {
    match property {
        Property::Assertions => "assertions".into(),
        Property::MutualExclusion => "mutual exclusion".into(),
        Property::FinalForall(c) => format!("final forall `{}`", c.text),
        Property::FinalNever(c) => format!("final never `{}`", c.text),
        Property::Invariant(c) => format!("invariant `{}`", c.text),
        Property::DeadlockFree => "deadlock freedom".into(),
        Property::Progress => "progress".into(),
        Property::Operations(operations) => format!("{} operations", operations.consistency.word()),
    }
}

/// Returns the property that a state violates, if any. Hangs and failures of steps are checked
/// separately.
pub(crate) fn violated_property(problem: &Problem, state: &CertState) -> Option<String> {
    problem.properties.iter().find_map(|property| {
        let is_violated = match property {
            Property::MutualExclusion => return violated_mutual_exclusion(problem, state),
            Property::Invariant(condition) => evaluate(problem, condition, state) != Some(true),
            Property::FinalForall(condition) => {
                is_final(problem, state) && evaluate(problem, condition, state) != Some(true)
            }
            Property::FinalNever(condition) => {
                is_final(problem, state) && evaluate(problem, condition, state) != Some(false)
            }
            Property::Assertions
            | Property::DeadlockFree
            | Property::Progress
            | Property::Operations(_) => false,
        };
        is_violated.then(|| property_name(property))
    })
}

/// Returns whether all threads have halted and no stores are pending.
pub(crate) fn is_final(problem: &Problem, state: &CertState) -> bool {
    let mut threads = state.threads.iter().zip(&problem.program.threads);
    threads.all(|(thread_state, code)| {
        matches!(code.stmt(thread_state.pc).op, Op::Halt) && thread_state.has_no_pending_store()
    })
}

fn violated_mutual_exclusion(problem: &Problem, state: &CertState) -> Option<String> {
    let threads = state.threads.iter().zip(&problem.program.threads);
    let inside: Vec<&str> = threads
        .filter(|(thread_state, code)| code.stmt(thread_state.pc).critical)
        .map(|(_, code)| code.name.as_str())
        .collect();
    (inside.len() > 1).then(|| {
        let names = inside.join(" and ");
        format!("{}: {names} are in critical sections", property_name(&Property::MutualExclusion))
    })
}

/// Returns the value of a condition; `None` if its evaluation faults.
fn evaluate(problem: &Problem, condition: &Condition, state: &CertState) -> Option<bool> {
    let value = condition.expr.eval(&|observable: &Observable| match observable {
        Observable::Loc(loc) => state.memory[loc.index()],
        Observable::Reg(thread, reg) => state.threads[thread.index()].registers[reg.index()],
        Observable::At(thread, label) => {
            let next = problem.program.thread(*thread).stmt(state.threads[thread.index()].pc);
            Value::from(next.label == *label)
        }
    });
    value.ok().map(|value| value != 0)
}
