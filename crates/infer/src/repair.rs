//! What inference answers.

use crate::constraint::Constraint;
use crate::set::Set;
use fencepost_engines::{Decider, Evidence, Inconclusive, Statistics};
use fencepost_ir::{Atom, Placement};

/// The answer.
#[derive(Clone, Debug)]
pub enum Inference {
    /// These fences are enough.
    Repaired(Repair),
    /// No fence helps.
    Unrepairable(Unrepairable),
    /// A limit was met before there was an answer.
    GaveUp(GaveUp),
}

/// Fences that are enough.
#[derive(Clone, Debug)]
pub struct Repair {
    /// The placements; the first is the one recommended. An empty one: nothing was wrong.
    pub placements: Vec<Placement>,
    /// Whether there are more of the same price than were looked at.
    pub more: bool,
    /// What each costs, in units of the menu.
    pub price: u32,
    /// Whether no cheaper placement is enough.
    pub optimal: bool,
    /// How well it is known that they are enough.
    pub sufficiency: Sufficiency,
    /// For each barrier of the recommended placement, a violation that comes back without it.
    pub needed_for: Vec<Need>,
    /// The orderings that are enforced, for the papers' method.
    pub constraints: Option<Constraints>,
    /// How the answer was found.
    pub rounds: Vec<Round>,
    /// By problem: figures of the last search.
    pub statistics: Vec<Statistics>,
    /// By problem: which way of looking decided it.
    pub deciders: Vec<Decider>,
}

/// An avoid formula, as far as it is shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constraints {
    /// How many constraints satisfy it at least: the papers' `#C`.
    pub fewest: usize,
    /// Its minimal models, small ones first.
    pub models: Vec<Vec<Constraint>>,
    /// Whether these are all.
    pub complete: bool,
    /// States it was computed from, over all problems.
    pub states: u64,
    /// Steps between them.
    pub edges: u64,
    /// The bound on pending accesses, if it mattered: the formula is about runs within it.
    pub bound: Option<u32>,
}

/// How well it is known that a placement is enough.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sufficiency {
    /// Every problem is verified.
    Verified,
    /// Nothing is violated, but for these problems not everything was explored.
    Bounded(Vec<(usize, Inconclusive)>),
}

/// Why a barrier is needed.
#[derive(Clone, Debug)]
pub struct Need {
    /// The barrier.
    pub atom: Atom,
    /// What happens without it: in which problem, and how. None when a limit came in between, or when
    /// it is needless.
    pub violation: Option<(usize, Evidence)>,
    /// Whether everything is verified without it, too: the papers' method may ask for such.
    pub needless: bool,
}

/// One round of inference: a placement and what was wrong with it.
#[derive(Clone, Debug)]
pub struct Round {
    /// The placement that was tried.
    pub placement: Placement,
    /// Violations, with the clauses they teach.
    pub lessons: Vec<Lesson>,
}

/// A violation and its clause.
#[derive(Clone, Debug)]
pub struct Lesson {
    /// In which problem.
    pub problem: usize,
    /// With which fences: at least those of the round.
    pub placement: Placement,
    /// What happened.
    pub evidence: Evidence,
    /// The candidates that would have prevented it.
    pub clause: Set,
}

/// Why no fence helps.
#[derive(Clone, Debug)]
pub enum Unrepairable {
    /// The problem is violated under sequential consistency.
    WrongUnderSc {
        /// Which.
        problem: usize,
        /// How.
        evidence: Evidence,
        /// Whether the run is one of the model, without reorderings, because a search under SC met a limit.
        under_model: bool,
    },
    /// A run with reorderings that no candidate prevents: they happen within one statement, or where
    /// fences may not be put.
    OutOfReach {
        /// Which problem.
        problem: usize,
        /// With these fences.
        placement: Placement,
        /// How it is violated all the same.
        evidence: Evidence,
    },
    /// No single run shows it: a `final exists` that no fence can bring about.
    NoWitness {
        /// Which problem.
        problem: usize,
    },
}

/// How far inference came.
#[derive(Clone, Debug)]
pub struct GaveUp {
    /// The cheapest placement that what is known so far allows.
    pub placement: Placement,
    /// What it costs; every repair costs at least that.
    pub price: u32,
    /// By which problems it was stopped.
    pub undecided: Vec<(usize, Inconclusive)>,
    /// What the method itself could not do, if it was not a limit.
    pub because: Option<String>,
    /// The rounds so far.
    pub rounds: Vec<Round>,
}
