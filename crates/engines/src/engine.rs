//! What an engine is: a task in, an answer out.

use crate::concretise::Suspect;
use crate::evidence::Evidence;
use crate::growing::Growing;
use crate::verdict::Verdict;
use fencepost_ir::{Problem, Value};
use fencepost_models::coherence::Domain;
use fencepost_models::{ModelSpec, Reductions};
use fencepost_search::{Cancel, Exploration, Limits, Progress};
use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroUsize;

/// A question: does this program keep its properties under this model?
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The program and its properties.
    pub problem: &'a Problem,
    /// The model.
    pub model: &'a ModelSpec,
}

/// How to go about it.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// What a search may use.
    pub limits: Limits,
    /// Search threads.
    pub threads: NonZeroUsize,
    /// Sound reductions in use.
    pub reductions: Reductions,
    /// The largest number of pending accesses to try; none leaves it to the model.
    pub max_buffer: Option<u32>,
    /// Use exactly this bound on pending accesses instead of growing it.
    pub fixed_buffer: Option<u32>,
    /// Look for a shortest trace, at the cost of a second search.
    pub shortest: bool,
    /// How many violations to return, if the search meets several at the same depth.
    pub traces: usize,
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
        }
    }
}

/// How others stop and watch an engine.
#[derive(Clone, Copy, Debug)]
pub struct Budget<'a> {
    /// Raised to stop it.
    pub cancel: &'a Cancel,
    /// Where it tells how far it is.
    pub progress: &'a Progress,
}

/// Figures about a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// States stored by the deciding search.
    pub states: u64,
    /// Steps it computed.
    pub transitions: u64,
    /// The length of its longest shortest path.
    pub depth: u32,
    /// Bytes it held.
    pub bytes: u64,
    /// The bound on pending accesses it used; none when the model has nothing pending.
    pub bound: Option<u32>,
}

impl Statistics {
    /// Those of a search.
    pub(crate) fn of<V>(found: &Exploration<V>) -> Self {
        Statistics {
            states: found.states,
            transitions: found.transitions,
            depth: found.depth,
            bytes: found.bytes,
            bound: None,
        }
    }
}

/// Which way of looking made the verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decider {
    /// A search of the exact model.
    Explicit,
    /// A search of an abstract model.
    Abstraction(Domain, u32),
    /// A search of the exact model with languages for buffers.
    Automata,
    /// Sequentially consistent runs, one after the other.
    Stateless,
    /// A search for a thread that delays a store past one of its loads.
    Attack,
    /// A search of a program under SC that simulates the model.
    Translation,
    /// SPIN, on a translation.
    Spin,
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
            Decider::Abstraction(Domain::Set, _) => f.write_str("set"),
            Decider::Abstraction(domain, k) => write!(f, "{} k={k}", domain.name()),
        }
    }
}

/// What an engine found out.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The verdict.
    pub verdict: Verdict,
    /// Further violations, if more than one was asked for.
    pub others: Vec<Evidence>,
    /// Figures.
    pub statistics: Statistics,
    /// The observed values of every final state reached. Those of an abstract model may be more than
    /// there are.
    pub outcomes: BTreeSet<Vec<Value>>,
    /// Whether these are all, and no more, that there are.
    pub outcomes_complete: bool,
    /// Who made the verdict.
    pub by: Decider,
    /// A run of an abstract model to a violation that no run of the exact one was found for.
    pub suspect: Option<Box<Suspect>>,
    /// A variable that took more and more values until the search was cut short.
    pub growing: Option<Growing>,
}

/// A way to answer.
pub trait Engine {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// Answers.
    fn run(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer;

    /// Goes on after violations, to reach every outcome.
    fn outcomes(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer;
}
