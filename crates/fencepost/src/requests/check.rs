//! Do all properties of a program hold under a model?

use super::Control;
use crate::search::SearchOptions;
use crate::source::Source;
use fencepost_engines::robust::{Robust, RobustBy};
use fencepost_engines::{
    Abstraction, Auto, Automata, Engine, Explicit, Stateless, Task, Translate,
};
use fencepost_models::ModelSpec;
use fencepost_models::coherence::Domain;
use fencepost_report::finding::{Finding, Found};
use fencepost_translate::contexts;

/// Which engine answers, with its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum EngineChoice {
    /// Exact search and proofs side by side.
    #[default]
    Auto,
    /// Every reachable state; where buffers grow without end, up to a bound.
    Explicit,
    /// Proofs for store buffers of any length, by an over-approximation.
    Abstraction {
        /// What is kept of a buffer behind its oldest stores.
        domain: Domain,
        /// How many of the oldest stores are kept in order.
        k: u32,
    },
    /// Exact for store buffers of any length; may not end.
    Automata,
    /// Sequentially consistent runs, one after the other, with a check for robustness.
    Stateless {
        /// Only runs with at most so many preemptions.
        preemptions: Option<u32>,
    },
    /// A simulation under SC, within a bound.
    Translate {
        /// The bound.
        bound: contexts::Bound,
    },
    /// Robustness: all runs are sequentially consistent and right.
    Robust(RobustBy),
}

impl EngineChoice {
    /// The engine.
    pub fn engine(self) -> Box<dyn Engine + Sync> {
        match self {
            EngineChoice::Auto => Box::new(Auto),
            EngineChoice::Explicit => Box::new(Explicit),
            EngineChoice::Abstraction { domain, k } => Box::new(Abstraction { domain, k }),
            EngineChoice::Automata => Box::new(Automata::default()),
            EngineChoice::Stateless { preemptions } => Box::new(Stateless { preemptions }),
            EngineChoice::Translate { bound } => Box::new(Translate { bound }),
            EngineChoice::Robust(by) => Box::new(Robust { by }),
        }
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
    /// Asks whether all properties hold under a model.
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

    /// Which engine answers.
    pub fn engine(mut self, engine: EngineChoice) -> Self {
        self.engine = engine;
        self
    }

    /// Runs it: a finding for each program of the source.
    pub fn run(&self) -> Vec<Finding<'s>> {
        let engine = self.engine.engine();
        let Check { source, model, options, control, .. } = self;
        let find = |problem| {
            let task = Task { problem, model };
            let (answer, seconds) =
                control.run(options, |budget| engine.run(task, options.settings, budget));
            Finding {
                file: source.name(),
                problem,
                model: model.clone(),
                engine: engine.name(),
                reductions: options.settings.reductions,
                seconds,
                result: Found::Answer(answer),
            }
        };
        source.programs().iter().map(find).collect()
    }
}
