//! The results of inference.

use crate::constraint::Constraint;
use crate::set::Set;
use fencepost_engines::{Decider, Evidence, Inconclusive, Statistics};
use fencepost_ir::{Atom, Placement};

/// The answer to a [`Query`](crate::lazy::Query).
#[derive(Clone, Debug)]
pub enum Inference {
    /// A sufficient placement exists.
    Repaired(Repair),
    /// No fence repairs the program.
    Unrepairable(Unrepairable),
    /// Inference stopped without an answer.
    GaveUp(GaveUp),
}

/// Sufficient placements.
#[derive(Clone, Debug)]
pub struct Repair {
    /// The placements. The first is the recommended one. An empty placement means that the program
    /// needs no fence.
    pub placements: Vec<Placement>,
    /// Whether more placements of the same cost exist than were examined.
    pub has_more: bool,
    /// The cost of each placement, in units of the fence costs.
    pub cost: u32,
    /// Whether no cheaper placement is sufficient.
    pub optimal: bool,
    /// How strong the evidence is that the placements are sufficient.
    pub sufficiency: Sufficiency,
    /// For each barrier of the recommended placement: a violation that occurs without the barrier.
    pub needed_for: Vec<Need>,
    /// The enforced ordering constraints, for fixpoint inference.
    pub constraints: Option<Constraints>,
    /// The rounds of inference.
    pub rounds: Vec<Round>,
    /// By problem: the statistics of the last search.
    pub statistics: Vec<Statistics>,
    /// By problem: the method that gave the last verdict.
    pub deciders: Vec<Decider>,
}

/// The reported part of an avoid formula.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constraints {
    /// The minimum number of constraints that satisfy the formula: `#C` in the papers.
    pub fewest: usize,
    /// The minimal models of the formula, smallest first.
    pub models: Vec<Vec<Constraint>>,
    /// Whether `models` contains all minimal models.
    pub complete: bool,
    /// The number of states of the transition systems of all problems.
    pub states: u64,
    /// The number of steps between these states.
    pub edges: u64,
    /// The bound on pending accesses, if it affected the result. The formula is then about runs
    /// within the bound.
    pub bound: Option<u32>,
}

/// How strong the evidence is that a placement is sufficient.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sufficiency {
    /// Every problem is verified.
    Verified,
    /// No violation was found, but these problems were not explored completely.
    Bounded(Vec<(usize, Inconclusive)>),
}

/// The reason why a barrier is needed.
#[derive(Clone, Debug)]
pub struct Need {
    /// The barrier.
    pub atom: Atom,
    /// The problem that is violated without the barrier, and the evidence. None if a limit stopped
    /// the search, or if the barrier is redundant.
    pub violation: Option<(usize, Evidence)>,
    /// Whether all problems are verified without the barrier. Fixpoint inference may place such
    /// barriers.
    pub redundant: bool,
}

/// One round of inference: a placement and its violations.
#[derive(Clone, Debug)]
pub struct Round {
    /// The checked placement.
    pub placement: Placement,
    /// The violations with their clauses.
    pub learned_clauses: Vec<LearnedClause>,
}

/// A clause and the violation that it was learned from.
#[derive(Clone, Debug)]
pub struct LearnedClause {
    /// The violated problem.
    pub problem: usize,
    /// The fences of the violating run: at least those of the round.
    pub placement: Placement,
    /// The evidence of the violation.
    pub evidence: Evidence,
    /// The candidates that block the violating run.
    pub clause: Set,
}

/// The reason why no fence repairs the program.
#[derive(Clone, Debug)]
pub enum Unrepairable {
    /// A problem is violated under sequential consistency.
    ViolatedUnderSc {
        /// The violated problem.
        problem: usize,
        /// The evidence of the violation.
        evidence: Evidence,
        /// Whether the run is one of the model without reorderings, because the search under SC
        /// reached a limit.
        under_model: bool,
    },
    /// A run has reorderings that no candidate prevents: they happen within one statement, or where
    /// fences are not allowed.
    NotPreventable {
        /// The violated problem.
        problem: usize,
        /// The fences of the violating run.
        placement: Placement,
        /// The evidence of the violation.
        evidence: Evidence,
    },
    /// A `final exists` has no witness. No single run shows this violation, and fences do not add
    /// runs.
    NoWitness {
        /// The violated problem.
        problem: usize,
    },
}

/// The partial results of an inference that stopped without an answer.
#[derive(Clone, Debug)]
pub struct GaveUp {
    /// The cheapest placement that the clauses learned so far allow.
    pub placement: Placement,
    /// The cost of the placement: a lower bound on the cost of every repair.
    pub cost: u32,
    /// The problems without a verdict.
    pub undecided: Vec<(usize, Inconclusive)>,
    /// The reason why the method failed, if the cause is not a limit.
    pub reason: Option<String>,
    /// The rounds so far.
    pub rounds: Vec<Round>,
}
