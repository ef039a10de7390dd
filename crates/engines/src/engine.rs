//! The interface of an engine: task, settings, budget, answer.

use crate::concretise::SpuriousRun;
use crate::evidence::Evidence;
use crate::growing_variable::GrowingVariable;
use crate::outcome_runs::OutcomeRuns;
use crate::robust::RobustDefinition;
use crate::verdict::{Findings, Unsupported, Verdict, judge};
use fencepost_ir::{Problem, Value};
use fencepost_models::catalog::ModelKind;
use fencepost_models::coherence::Domain;
use fencepost_models::{ModelSpec, Reductions};
use fencepost_search::{Cancel, Exploration, Limits, Progress};
use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroUsize;

/// A query: does this program keep its properties under this memory model?
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The program and its properties.
    pub problem: &'a Problem,
    /// The memory model.
    pub model: &'a ModelSpec,
}

/// How an engine works on a task.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Limits on states, memory and depth of a search.
    pub limits: Limits,
    /// Number of search threads.
    pub threads: NonZeroUsize,
    /// The sound reductions in use.
    pub reductions: Reductions,
    /// The largest bound on pending accesses to try. None: the default of the model.
    pub max_buffer: Option<u32>,
    /// Use exactly this bound on pending accesses instead of growing it.
    pub fixed_buffer: Option<u32>,
    /// Whether to find a shortest trace, at the cost of a second search.
    pub shortest: bool,
    /// How many violations to return if the search finds several at the same depth.
    pub traces: usize,
    /// For the engine `stateless`, and `robust` with that method: how often each loop may go back to
    /// its start. None: there is no bound.
    pub unwind: Option<u32>,
    /// Whether a certificate is to be written. Then a portfolio uses only methods whose result
    /// shows which abstraction is fine enough for the certificate.
    pub certifiable: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            limits: Limits::default(),
            threads: NonZeroUsize::MIN,
            reductions: Reductions::ALL,
            max_buffer: None,
            fixed_buffer: None,
            shortest: true,
            traces: 1,
            unwind: None,
            certifiable: false,
        }
    }
}

/// Cancellation and progress of an engine.
#[derive(Clone, Copy, Debug)]
pub struct Budget<'a> {
    /// The token that stops the engine.
    pub cancel: &'a Cancel,
    /// Where the engine reports progress.
    pub progress: &'a Progress,
}

impl Budget<'_> {
    /// Returns the flag of one search. Work that exceeds the memory of this search cancels only this
    /// search.
    pub(crate) fn of_search(&self) -> Cancel {
        self.cancel.child()
    }
}

/// Statistics of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// States stored by the search that reached the verdict.
    pub states: u64,
    /// Of the executions of a stateless exploration: those that ended with a blocked thread, such as
    /// at a false `assume`.
    pub blocked: u64,
    /// Steps computed by that search.
    pub transitions: u64,
    /// The largest distance of a state from an initial state.
    pub depth: u32,
    /// Bytes held by that search.
    pub bytes: u64,
    /// The bound on pending accesses. None if the model has no pending accesses.
    pub bound: Option<u32>,
}

impl Statistics {
    /// Returns the statistics of a search.
    pub(crate) fn from_search<V>(found: &Exploration<V>) -> Self {
        Statistics {
            states: found.states,
            blocked: 0,
            transitions: found.transitions,
            depth: found.depth,
            bytes: found.bytes,
            bound: None,
        }
    }
}

/// The method that reached a verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decider {
    /// A search of the exact model.
    Explicit,
    /// A search of an abstract model, with its domain and k.
    Abstraction(Domain, u32),
    /// A search of a model that forgets pending statements, with its number of entries in a window.
    Forgetting(u32),
    /// A search of the program without the accesses to this number of locations.
    Hiding(u32),
    /// A search of states up to the size of numbers that keep growing.
    Counters {
        /// Whether the verdict covers runs in which such a number leaves its type.
        covers_overflow: bool,
    },
    /// A search of the exact model with regular languages for store buffers.
    Automata,
    /// An enumeration of sequentially consistent executions.
    Stateless,
    /// A search for an attack: a thread that delays a store past one of its loads.
    Attack,
    /// A search of a program under SC that simulates the model.
    Translation,
    /// SPIN on a translation.
    Spin,
    /// CBMC on a translation.
    Cbmc,
    /// GenMC on a translation.
    GenMc,
}

impl fmt::Display for Decider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Decider::Explicit => f.write_str("explicit"),
            Decider::Automata => f.write_str("automata"),
            Decider::Stateless => f.write_str("stateless"),
            Decider::Attack => f.write_str("attack"),
            Decider::Translation => f.write_str("translate"),
            Decider::Spin => f.write_str("spin"),
            Decider::Cbmc => f.write_str("cbmc"),
            Decider::GenMc => f.write_str("genmc"),
            Decider::Abstraction(Domain::Set, _) => f.write_str("set"),
            Decider::Abstraction(domain, k) => write!(f, "{} k={k}", domain.name()),
            Decider::Forgetting(bound) => write!(f, "forgetting n={bound}"),
            Decider::Hiding(locations) => write!(f, "hiding n={locations}"),
            Decider::Counters { covers_overflow: true } => f.write_str("counters"),
            Decider::Counters { covers_overflow: false } => f.write_str("counters up to overflow"),
        }
    }
}

/// The answer of an engine.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The verdict.
    pub verdict: Verdict,
    /// Further violations, if the settings ask for more than one.
    pub others: Vec<Evidence>,
    /// Statistics of the search.
    pub statistics: Statistics,
    /// The observed values of every final state reached. An abstract model may add outcomes that
    /// the exact model does not have.
    pub outcomes: BTreeSet<Vec<Value>>,
    /// Whether `outcomes` is exactly the set of outcomes of the model.
    pub outcomes_complete: bool,
    /// The method that reached the verdict.
    pub decider: Decider,
    /// A counterexample of an abstract model that the exact model does not have.
    pub spurious_run: Option<Box<SpuriousRun>>,
    /// A variable that took more and more values until the search was cut short.
    pub growing: Option<GrowingVariable>,
    /// For a query for outcomes of the exact model: what is known about runs without an outcome.
    pub runs: Option<Box<OutcomeRuns>>,
    /// The locations whose values were abstracted, with the kept values. The verdict does not cover
    /// overflows of these values.
    pub abstracted_values: Option<String>,
}

/// An engine. Several threads may use it at the same time.
pub trait Engine: Sync {
    /// The name of the engine on the command line.
    fn name(&self) -> &'static str;

    /// Checks the properties of a task.
    fn run(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer;

    /// Checks the properties of a task as [`run`](Engine::run) does, but without effort that serves
    /// only proofs.
    fn find_violations(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        self.run(task, settings, budget)
    }

    /// Returns whether violations in which [few threads](crate::few_threads) take steps may be
    /// looked for before the engine runs.
    fn searches_few_threads(&self) -> bool {
        false
    }

    /// Returns the definition of robustness that a verdict refers to. None if the engine decides
    /// something else.
    fn robust_definition(&self) -> Option<RobustDefinition> {
        None
    }

    /// Computes the outcomes of a task. Does not stop at violations.
    fn outcomes(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer;
}

/// Returns the answer of an engine that cannot decide the problem.
pub(crate) fn unsupported(reason: Unsupported) -> Answer {
    Answer {
        verdict: judge(Findings::unsupported(reason)),
        others: Vec::new(),
        statistics: Statistics::default(),
        outcomes: BTreeSet::new(),
        outcomes_complete: false,
        decider: Decider::Explicit,
        spurious_run: None,
        growing: None,
        runs: None,
        abstracted_values: None,
    }
}

/// Refuses pairs of exclusive accesses under a model that does not have them: it would not keep a
/// pair atomic.
pub(crate) fn refuse_exclusive_pairs(task: Task<'_>) -> Option<Answer> {
    let is_refused =
        task.model.kind != ModelKind::Arm && task.problem.program.has_exclusive_pairs();
    is_refused.then(|| unsupported(Unsupported::ExclusiveAccesses))
}
