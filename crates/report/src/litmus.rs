//! The results of litmus tests.
//!
//! - [`block`]: text in herd's format.
//! - [`table`]: a row for each test, a column for each model.
//! - [`expect`]: comparison with records.
//! - [`json`]: the results as JSON.

pub mod block;
pub mod expect;
pub mod json;
pub mod table;
#[cfg(test)]
mod tests;

use fencepost_frontends::litmus::Test;
use fencepost_frontends::litmus::test::{FinalStates, Observation};
use fencepost_ir::Quantifier;
use fencepost_models::ModelSpec;

/// Why the list of states may be incomplete.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Incomplete {
    /// The number of pending accesses is unbounded; states with up to this many were explored.
    Buffers(u32),
    /// A limit was reached; with its description.
    Limit(String),
}

/// The result of a test under a model.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelResult {
    /// The final states.
    pub shown: FinalStates,
    /// Why states may be missing; none when the list is complete.
    pub incomplete: Option<Incomplete>,
    /// The duration in seconds.
    pub seconds: f64,
}

impl ModelResult {
    /// Whether the quantified condition holds; none when this is not known.
    pub fn answer(&self, quantifier: Quantifier) -> Option<bool> {
        let holds = self.shown.holds(quantifier);
        // One state decides the positive or the negative answer. The opposite answer needs all
        // states.
        let is_decided = match quantifier {
            Quantifier::Exists => holds,
            Quantifier::Forall | Quantifier::Never => !holds,
        };
        (is_decided || self.incomplete.is_none()).then_some(holds)
    }

    /// Returns herd's observation; `Undef` when it is not known.
    pub fn observation(&self) -> &'static str {
        let observation = self.shown.observation();
        match (&self.incomplete, observation) {
            (Some(Incomplete::Limit(_)), Observation::Never | Observation::Always) => "Undef",
            (None | Some(_), _) => observation.name(),
        }
    }

    /// Returns herd's verdict. It starts with `Loop` when it is known only up to a bound.
    pub fn verdict(&self, quantifier: Quantifier) -> &'static str {
        match (&self.incomplete, self.answer(quantifier)) {
            (None | Some(_), Some(true)) => "Ok",
            (None | Some(_), Some(false)) => "No",
            (Some(Incomplete::Buffers(_)), None) if self.shown.holds(quantifier) => "Loop Ok",
            (Some(Incomplete::Buffers(_)), None) => "Loop No",
            (Some(Incomplete::Limit(_)) | None, None) => "Undef",
        }
    }
}

/// A test and its results under some models.
#[derive(Clone, Debug)]
pub struct TestRun {
    /// The file name.
    pub file: String,
    /// The test.
    pub test: Test,
    /// The result under each model, or the fault.
    pub models: Vec<(ModelSpec, Result<ModelResult, String>)>,
}

/// The result for an input file.
#[derive(Clone, Debug)]
pub enum Entry {
    /// The test was run.
    TestRun(Box<TestRun>),
    /// The file is not a supported test: the file name and the error in one line.
    Unsupported(String, String),
}
