//! A test that is ready to run: a program, what is asked of it, and how its states are written.

use fencepost_ir::{Expr, Fault, Observable, Problem, Quantifier, Span, Value};
use std::collections::{BTreeMap, BTreeSet};

use super::ast::Arch;
use super::layout::Values;

/// A test.
#[derive(Clone, Debug)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// The language of its program.
    pub arch: Arch,
    /// The program, with the condition as its property. What it observes begins with what states show.
    pub problem: Problem,
    /// How the condition is meant.
    pub quantifier: Quantifier,
    /// The condition as herd writes it, without quantifier and outer parentheses.
    pub text: String,
    /// The condition.
    pub condition: Expr<Observable>,
    /// Only states that satisfy this count.
    pub filter: Option<Expr<Observable>>,
    /// What states show, as they write it: `0:EAX`, `[x]`.
    pub shown: Vec<String>,
    /// How values print.
    pub values: Values,
    /// What tells the test apart from others, as herd computes it; none for C.
    pub hash: Option<String>,
    /// What its author should know: things in the condition that nothing ever changes.
    pub untouched: Vec<(Span, String)>,
}

/// How a condition stands in a set of states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Observation {
    /// It holds in none.
    Never,
    /// It holds in some, but not in all.
    Sometimes,
    /// It holds in all.
    Always,
}

impl Observation {
    /// herd's word.
    pub fn name(self) -> &'static str {
        match self {
            Observation::Never => "Never",
            Observation::Sometimes => "Sometimes",
            Observation::Always => "Always",
        }
    }
}

/// What a test shows under a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shown {
    /// The values of what is shown, each once, in order.
    pub states: BTreeSet<Vec<Value>>,
    /// How many of the states satisfy the condition, and how many do not.
    pub positive: usize,
    /// The others.
    pub negative: usize,
}

impl Shown {
    /// How the condition stands.
    pub fn observation(&self) -> Observation {
        match (self.positive, self.negative) {
            (0, _) => Observation::Never,
            (_, 0) => Observation::Always,
            _ => Observation::Sometimes,
        }
    }

    /// Whether what is asked is the case.
    pub fn holds(&self, quantifier: Quantifier) -> bool {
        match quantifier {
            Quantifier::Exists => self.positive > 0,
            Quantifier::Never => self.positive == 0,
            Quantifier::Forall => self.negative == 0,
        }
    }
}

impl Test {
    /// The kind of question, in herd's words.
    pub fn kind(&self) -> &'static str {
        match self.quantifier {
            Quantifier::Exists => "Allowed",
            Quantifier::Never => "Forbidden",
            Quantifier::Forall => "Required",
        }
    }

    /// The condition with its quantifier, in herd's words.
    pub fn question(&self) -> String {
        let quantifier = match self.quantifier {
            Quantifier::Exists => "exists",
            Quantifier::Never => "~exists",
            Quantifier::Forall => "forall",
        };
        format!("{quantifier} ({})", self.text)
    }

    /// What the outcomes of its program show. An outcome is the values of what the program observes.
    pub fn show(&self, outcomes: &BTreeSet<Vec<Value>>) -> Result<Shown, Fault> {
        let columns: BTreeMap<Observable, usize> =
            self.problem.observed.iter().enumerate().map(|(at, what)| (*what, at)).collect();
        let holds = |condition: &Expr<Observable>, outcome: &[Value]| {
            condition.eval(&|what| outcome[columns[what]]).map(|value| value != 0)
        };
        let mut shown = Shown { states: BTreeSet::new(), positive: 0, negative: 0 };
        for outcome in outcomes {
            if let Some(filter) = &self.filter
                && !holds(filter, outcome)?
            {
                continue;
            }
            if !shown.states.insert(outcome[..self.shown.len()].to_vec()) {
                continue;
            }
            if holds(&self.condition, outcome)? {
                shown.positive += 1;
            } else {
                shown.negative += 1;
            }
        }
        Ok(shown)
    }

    /// A state as herd writes it: `0:EAX=0; [x]=1;`.
    pub fn state(&self, values: &[Value]) -> String {
        let mut text = String::new();
        for (name, value) in self.shown.iter().zip(values) {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(name);
            text.push('=');
            text.push_str(&self.values.show(*value));
            text.push(';');
        }
        text
    }
}
