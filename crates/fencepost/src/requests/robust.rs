//! The request whether a program has only sequentially consistent behaviours.

use super::check::{Check, EngineChoice};
use crate::source::Source;
use fencepost_engines::robust::{RobustDefinition, RobustMethod};
use fencepost_models::ModelSpec;
use fencepost_report::finding::Finding;

/// A request to decide robustness against TSO or PSO. The verdict *verified* means robust and
/// correct under SC.
///
/// ```
/// use fencepost::{Model, Source};
///
/// let source = Source::parse("mp.fp", "shared int x, y;
///     thread p { x = 1; y = 1; } thread q { a = y; b = x; }")?;
/// let word = |model| source.robust(model).run()[0].verdict().expect("answered").word();
/// assert_eq!((word(Model::TSO), word(Model::PSO)), ("verified", "violated"));
/// # Ok::<(), fencepost::SourceError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a request does nothing until it is run"]
pub struct Robust<'s> {
    check: Check<'s>,
    method: RobustMethod,
    definition: RobustDefinition,
}

impl Source {
    /// Returns a request whether all behaviours under a model are sequentially consistent.
    pub fn robust(&self, model: ModelSpec) -> Robust<'_> {
        let (method, definition) = (RobustMethod::default(), RobustDefinition::default());
        Robust { check: self.check(model), method, definition }
    }
}

impl<'s> Robust<'s> {
    /// Sets the method that decides robustness.
    pub fn by(self, by: RobustMethod) -> Self {
        Robust { method: by, ..self }
    }

    /// Sets the definition of robustness.
    pub fn definition(self, definition: RobustDefinition) -> Self {
        Robust { definition, ..self }
    }

    /// Sets the limit on wall-clock time for each program and model.
    pub fn time_limit(self, time: std::time::Duration) -> Self {
        Robust { check: self.check.time_limit(time), ..self }
    }

    /// Sets all limits and settings.
    pub fn options(self, options: crate::SearchOptions) -> Self {
        Robust { check: self.check.options(options), ..self }
    }

    /// Runs the request. Returns a finding for each program of the source.
    pub fn run(&self) -> Vec<Finding<'s>> {
        let Robust { check, method, definition } = self.clone();
        check.engine(EngineChoice::Robust { method, definition }).run()
    }
}
