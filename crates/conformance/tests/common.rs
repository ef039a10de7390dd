//! Shared helpers of the conformance tests: lists of models and reductions, queries to engines,
//! replay of traces.

use fencepost_conformance::reference::{Model, Table};
use fencepost_engines::{Answer, Budget, Engine, Explicit, Settings, Task};
use fencepost_ir::Problem;
use fencepost_models::replay::{Trace, replay};
use fencepost_models::{Machine, MemoryModel, ModelSpec, Reductions, Visitor};
use fencepost_search::{Cancel, Progress};
use std::num::NonZeroUsize;

pub(crate) use fencepost_testkit::corpus::folder as corpus;
pub(crate) use fencepost_testkit::{catch_panic, lower, report_comparisons, seeds};

/// Every model under test: its name, and the same model in the reference interpreter.
pub(crate) const MODELS: [(&str, Model); 8] = [
    ("sc", Model::Sc),
    ("ibm370", Model::Table(Table::IBM370)),
    ("tso", Model::Tso),
    ("table-tso", Model::Table(Table::TSO)),
    ("pso", Model::Pso),
    ("table-pso", Model::Table(Table::PSO)),
    ("rmo-nospec", Model::Table(Table::RMO_NOSPEC)),
    ("rmo", Model::Table(Table::RMO)),
];

/// The reductions under test: all, none, and all except one.
pub(crate) const REDUCTIONS: [Reductions; 6] = [
    Reductions::ALL,
    Reductions::NONE,
    Reductions { fuse: false, ..Reductions::ALL },
    Reductions { clear_dead: false, ..Reductions::ALL },
    Reductions { partial_order: false, ..Reductions::ALL },
    Reductions { useful_guesses: false, ..Reductions::ALL },
];

/// Returns a built-in model by name.
pub(crate) fn model(name: &str) -> ModelSpec {
    ModelSpec::by_name(name).expect("a built-in model")
}

/// Returns the default settings with this number of search threads.
pub(crate) fn settings(threads: usize) -> Settings {
    Settings { threads: NonZeroUsize::new(threads).expect("at least one"), ..Settings::default() }
}

/// Returns the answer of the explicit engine.
pub(crate) fn check(problem: &Problem, model: &ModelSpec, settings: Settings) -> Answer {
    check_with(&Explicit, problem, model, settings)
}

/// Returns the answer of an engine.
pub(crate) fn check_with(
    engine: &dyn Engine,
    problem: &Problem,
    model: &ModelSpec,
    settings: Settings,
) -> Answer {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    engine.run(Task { problem, model }, settings, budget)
}

/// Returns the answer of the explicit engine with all outcomes.
pub(crate) fn outcomes(problem: &Problem, model: &ModelSpec, settings: Settings) -> Answer {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    Explicit.outcomes(Task { problem, model }, settings, budget)
}

/// Replays a trace under an exact model. Returns whether it ends with a violation.
pub(crate) struct Replay<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) trace: &'a Trace,
}

impl Visitor for Replay<'_> {
    type Output = Result<bool, String>;

    fn visit<M: MemoryModel>(self, model: M) -> Self::Output {
        let machine = Machine::new(self.problem, model, Reductions::ALL);
        let run = replay(&machine, self.trace).map_err(|divergence| divergence.reason)?;
        Ok(run.violation.is_some())
    }
}
