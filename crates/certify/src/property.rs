//! Which properties a certificate can prove, and what a state does to them.
//!
//! Direction: exact for final states and deadlocks, since nothing is pending in them and an abstract
//! state without pending stores is an exact one.

use fencepost_ir::{Condition, Consistency, Observable, Op, Problem, Property};
use std::fmt;

use crate::format::CertState;

/// A property that certificates say nothing about.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NotCovered {
    /// A property of operations.
    Operations(Consistency),
    /// `final exists`, with the condition: a set of states that may be too large has no witness.
    Exists(String),
}

impl fmt::Display for NotCovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotCovered::Operations(consistency) => {
                let word = consistency.word();
                write!(f, "certificates say nothing about `property {word} operations`")
            }
            NotCovered::Exists(condition) => write!(
                f,
                "certificates say nothing about `final exists {condition}`: a set of states that may be too \
                 large has no witness"
            ),
        }
    }
}

impl std::error::Error for NotCovered {}

/// Whether certificates can prove all properties of a problem; if not, which one they say nothing about.
pub fn can_certify(problem: &Problem) -> Result<(), NotCovered> {
    for property in &problem.properties {
        match property {
            Property::Operations(operations) => {
                return Err(NotCovered::Operations(operations.consistency));
            }
            Property::Assertions
            | Property::MutualExclusion
            | Property::FinalForall(_)
            | Property::FinalNever(_)
            | Property::Invariant(_)
            | Property::DeadlockFree => {}
        }
    }
    if let Some(condition) = problem.sometimes.first() {
        return Err(NotCovered::Exists(condition.text.clone()));
    }
    Ok(())
}

/// What an accepted certificate proves, for a reader.
pub(crate) fn names(problem: &Problem) -> Vec<String> {
    let mut names = vec!["no faults".to_string()];
    names.extend(problem.properties.iter().map(name));
    names
}

fn name(property: &Property) -> String {
    match property {
        Property::Assertions => "assertions".into(),
        Property::MutualExclusion => "mutual exclusion".into(),
        Property::FinalForall(c) => format!("final forall `{}`", c.text),
        Property::FinalNever(c) => format!("final never `{}`", c.text),
        Property::Invariant(c) => format!("invariant `{}`", c.text),
        Property::DeadlockFree => "deadlock freedom".into(),
        Property::Operations(operations) => format!("{} operations", operations.consistency.word()),
    }
}

/// What a state breaks, apart from deadlock freedom and from what its steps do.
pub(crate) fn violated(problem: &Problem, state: &CertState) -> Option<String> {
    problem.properties.iter().find_map(|property| {
        let wrong = match property {
            Property::MutualExclusion => return two_inside(problem, state),
            Property::Invariant(condition) => holds(condition, state) != Some(true),
            Property::FinalForall(condition) => {
                is_final(problem, state) && holds(condition, state) != Some(true)
            }
            Property::FinalNever(condition) => {
                is_final(problem, state) && holds(condition, state) != Some(false)
            }
            Property::Assertions | Property::DeadlockFree | Property::Operations(_) => false,
        };
        wrong.then(|| name(property))
    })
}

/// Whether all threads have halted and nothing is pending.
pub(crate) fn is_final(problem: &Problem, state: &CertState) -> bool {
    let mut threads = state.threads.iter().zip(&problem.program.threads);
    threads.all(|(own, code)| matches!(code.stmt(own.pc).op, Op::Halt) && own.nothing_pending())
}

/// What a state without any step breaks, if it is not final.
pub(crate) fn stuck(problem: &Problem, state: &CertState) -> Option<String> {
    let asked = problem.properties.contains(&Property::DeadlockFree);
    (asked && !is_final(problem, state)).then(|| name(&Property::DeadlockFree))
}

fn two_inside(problem: &Problem, state: &CertState) -> Option<String> {
    let threads = state.threads.iter().zip(&problem.program.threads);
    let inside: Vec<&str> = threads
        .filter(|(own, code)| code.stmt(own.pc).critical)
        .map(|(_, code)| code.name.as_str())
        .collect();
    (inside.len() > 1).then(|| {
        let names = inside.join(" and ");
        format!("{}: {names} are in critical sections", name(&Property::MutualExclusion))
    })
}

/// Whether a condition holds; none when it faults.
fn holds(condition: &Condition, state: &CertState) -> Option<bool> {
    let value = condition.expr.eval(&|what: &Observable| match what {
        Observable::Loc(loc) => state.memory[loc.index()],
        Observable::Reg(thread, reg) => state.threads[thread.index()].registers[reg.index()],
    });
    value.ok().map(|value| value != 0)
}
