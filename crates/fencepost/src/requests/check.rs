//! The request whether all properties of a program hold under a model.

use super::Control;
use crate::search::SearchOptions;
use crate::source::Source;
use fencepost_engines::robust::{Robust, RobustDefinition, RobustMethod};
use fencepost_engines::{
    Abstraction, Auto, Automata, Bounded, Engine, Explicit, Stateless, Task, Translate,
};
use fencepost_models::ModelSpec;
use fencepost_models::coherence::Domain;
use fencepost_report::finding::{Finding, QueryResult};
use fencepost_translate::contexts;

/// An engine with its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum EngineChoice {
    /// Exact search and proofs side by side.
    #[default]
    Auto,
    /// Visits every reachable state; if the number of pending stores is unbounded, up to a bound.
    Explicit,
    /// Proves programs for store buffers of any length with an over-approximation.
    Abstraction {
        /// What the abstraction keeps of the stores in a buffer besides the `k` oldest.
        domain: Domain,
        /// The number of oldest stores kept in order.
        k: u32,
    },
    /// Exact for store buffers of any length; may not terminate.
    Automata,
    /// Explores sequentially consistent executions one by one and checks robustness.
    Stateless {
        /// Explores all interleavings with at most this many preemptions.
        preemptions: Option<u32>,
    },
    /// Simulates the model under SC, within a bound.
    Translate {
        /// The bound on context switches or delays.
        bound: contexts::Bound,
    },
    /// Robustness: all runs are sequentially consistent and correct.
    Robust {
        /// The method that decides robustness.
        method: RobustMethod,
        /// Which accesses count.
        definition: RobustDefinition,
    },
}

impl EngineChoice {
    /// Returns the engine.
    pub fn engine(self) -> Box<dyn Engine + Sync> {
        let engine: Box<dyn Engine + Sync> = match self {
            EngineChoice::Auto => Box::new(Auto),
            EngineChoice::Explicit => Box::new(Explicit),
            EngineChoice::Abstraction { domain, k } => Box::new(Abstraction { domain, k }),
            EngineChoice::Automata => Box::new(Automata::default()),
            EngineChoice::Stateless { preemptions } => Box::new(Stateless { preemptions }),
            EngineChoice::Translate { bound } => Box::new(Translate { bound }),
            EngineChoice::Robust { method, definition } => Box::new(Robust { method, definition }),
        };
        Box::new(Bounded(engine))
    }
}

/// A request to check all programs of a source under a model.
///
/// ```
/// use fencepost::{EngineChoice, Model, Paint, Source};
///
/// let source = Source::parse("w.fp", "shared int x; thread p { x = 1; assert(x == 1); }")?;
/// let findings = source.check(Model::PSO).engine(EngineChoice::Explicit).run();
/// assert!(findings[0].verdict().is_some_and(|verdict| verdict.is_verified()));
/// println!("{}", findings[0].text(Paint::Plain));
/// # Ok::<(), fencepost::SourceError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a request does nothing until it is run"]
pub struct Check<'s> {
    source: &'s Source,
    model: ModelSpec,
    engine: EngineChoice,
    options: SearchOptions,
    control: Control<'s>,
}

impl Source {
    /// Returns a request whether all properties hold under a model.
    pub fn check(&self, model: ModelSpec) -> Check<'_> {
        Check {
            source: self,
            model,
            engine: EngineChoice::default(),
            options: SearchOptions::default(),
            control: Control::default(),
        }
    }
}

impl<'s> Check<'s> {
    search_methods!();

    /// Sets the engine.
    pub fn engine(mut self, engine: EngineChoice) -> Self {
        self.engine = engine;
        self
    }

    /// Runs the request. Returns a finding for each program of the source.
    pub fn run(&self) -> Vec<Finding<'s>> {
        let engine = self.engine.engine();
        let Check { source, model, options, control, .. } = self;
        let check = |problem| {
            let task = Task { problem, model };
            let (answer, elapsed) =
                control.run(options, |budget| engine.run(task, options.settings, budget));
            Finding {
                file: source.name(),
                problem,
                model: model.clone(),
                engine: engine.name(),
                definition: engine.robust_definition(),
                reductions: options.settings.reductions,
                seconds: elapsed.seconds(),
                cpu_seconds: elapsed.cpu_seconds(),
                result: QueryResult::Answer(Box::new(answer)),
            }
        };
        source.programs().iter().map(check).collect()
    }
}
