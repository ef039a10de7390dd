//! A lowered litmus test: a program, its condition, and the text form of its states.

use fencepost_ir::{Expr, Fault, Observable, Problem, Quantifier, Span, Value};
use std::collections::{BTreeMap, BTreeSet};

use super::ast::Arch;
use super::layout::ValueNames;

/// A lowered litmus test.
#[derive(Clone, Debug)]
pub struct Test {
    /// The name of the test.
    pub name: String,
    /// The language of the program.
    pub arch: Arch,
    /// The program, with the condition as its property. Its first observables are the variables in
    /// [`Test::state_vars`], in the same order.
    pub problem: Problem,
    /// The quantifier of the condition.
    pub quantifier: Quantifier,
    /// The condition in herd's format, without quantifier and outer parentheses.
    pub condition_text: String,
    /// The condition, without the filter.
    pub condition: Expr<Observable>,
    /// The filter. Final states that do not satisfy the filter are ignored.
    pub filter: Option<Expr<Observable>>,
    /// The names of the variables that a printed state has: `0:EAX`, `[x]`.
    pub state_vars: Vec<String>,
    /// The text form of values.
    pub value_names: ValueNames,
    /// herd's hash of the test; `None` if the hash is not known, as for all C tests.
    pub hash: Option<String>,
    /// Warnings about variables of the condition that no statement accesses or writes.
    pub warnings: Vec<(Span, String)>,
}

/// How many states of a set satisfy a condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Observation {
    /// The condition holds in no state.
    Never,
    /// The condition holds in some states, but not in all.
    Sometimes,
    /// The condition holds in all states, and there is at least one.
    Always,
}

impl Observation {
    /// Returns herd's word for the observation.
    pub fn name(self) -> &'static str {
        match self {
            Observation::Never => "Never",
            Observation::Sometimes => "Sometimes",
            Observation::Always => "Always",
        }
    }
}

/// The final states of a test under a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FinalStates {
    /// The distinct states, each as the values of [`Test::state_vars`].
    pub states: BTreeSet<Vec<Value>>,
    /// The number of states that satisfy the condition.
    pub positive: usize,
    /// The number of states that do not satisfy the condition.
    pub negative: usize,
}

impl FinalStates {
    /// Returns whether the condition holds in none, some or all of the states.
    pub fn observation(&self) -> Observation {
        match (self.positive, self.negative) {
            (0, _) => Observation::Never,
            (_, 0) => Observation::Always,
            _ => Observation::Sometimes,
        }
    }

    /// Returns whether the condition holds with this quantifier.
    pub fn holds(&self, quantifier: Quantifier) -> bool {
        match quantifier {
            Quantifier::Exists => self.positive > 0,
            Quantifier::Never => self.positive == 0,
            Quantifier::Forall => self.negative == 0,
        }
    }
}

impl Test {
    /// Returns herd's word for the quantifier.
    pub fn kind(&self) -> &'static str {
        match self.quantifier {
            Quantifier::Exists => "Allowed",
            Quantifier::Never => "Forbidden",
            Quantifier::Forall => "Required",
        }
    }

    /// Returns the condition with its quantifier, in herd's format.
    pub fn quantified_condition(&self) -> String {
        let quantifier = match self.quantifier {
            Quantifier::Exists => "exists",
            Quantifier::Never => "~exists",
            Quantifier::Forall => "forall",
        };
        format!("{quantifier} ({})", self.condition_text)
    }

    /// Computes the final states from the outcomes of the program. An outcome is the list of values
    /// of the problem's observables. Fails if the condition or the filter cannot be evaluated.
    pub fn evaluate(&self, outcomes: &BTreeSet<Vec<Value>>) -> Result<FinalStates, Fault> {
        let columns: BTreeMap<Observable, usize> =
            self.problem.observed.iter().enumerate().map(|(at, what)| (*what, at)).collect();
        let holds = |condition: &Expr<Observable>, outcome: &[Value]| {
            condition.eval(&|what| outcome[columns[what]]).map(|value| value != 0)
        };
        let mut final_states = FinalStates { states: BTreeSet::new(), positive: 0, negative: 0 };
        for outcome in outcomes {
            if let Some(filter) = &self.filter
                && !holds(filter, outcome)?
            {
                continue;
            }
            if !final_states.states.insert(outcome[..self.state_vars.len()].to_vec()) {
                continue;
            }
            if holds(&self.condition, outcome)? {
                final_states.positive += 1;
            } else {
                final_states.negative += 1;
            }
        }
        Ok(final_states)
    }

    /// Formats a state as herd does: `0:EAX=0; [x]=1;`.
    pub fn format_state(&self, values: &[Value]) -> String {
        let mut text = String::new();
        for (name, value) in self.state_vars.iter().zip(values) {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(name);
            text.push('=');
            text.push_str(&self.value_names.format(*value));
            text.push(';');
        }
        text
    }
}
