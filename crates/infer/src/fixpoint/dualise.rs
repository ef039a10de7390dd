//! Computes the minimal clauses of an avoid formula by dualisation with a reachability oracle.
//!
//! Source: the formula is that of \[KVY10\] IV-B. Its clauses are generated together with its
//! minimal models (joint generation: Gurvich and Khachiyan, "On generating the irredundant
//! conjunctive and disjunctive normal forms of monotone Boolean functions", 1999). DIVERGENCE: the
//! papers compute a formula for every state, as a decision diagram in \[KVY11\] 6.
//!
//! A set of constraints is a model of the formula exactly if no run reaches the goal while they are
//! enforced. A search of the graph decides that. Otherwise the search finds a run, the constraints
//! that prevent the run are a clause, and further searches remove members of the clause until it is
//! minimal. The candidates are the minimal models of the clauses so far. If all of them are models,
//! the clauses are the formula: each clause is implied by the formula, and each model of the
//! clauses contains a model of the formula.
//!
//! The number of searches is about the number of minimal models plus the number of literals of the
//! formula. Formulas of states are not needed. They are often much larger than the goal's formula,
//! because most of their clauses extend a clause of the goal. The opposite also occurs: a formula
//! with many minimal models. [`super::per_state`] is better then.

use super::reachability::Reachability;
use crate::set::Set;
use fencepost_search::Stop;

/// The state of the dualisation.
#[derive(Debug)]
pub(super) struct Dualisation<'a> {
    graph: Reachability<'a>,
    all: Set,
    /// The minimal clauses found so far.
    clauses: Vec<Set>,
    /// Minimal models of the clauses that are models of the formula.
    models: Vec<Set>,
    /// The other minimal models of the clauses. They are not yet examined.
    candidates: Vec<Set>,
    /// The number of compared pairs of models.
    compared: u64,
}

impl<'a> Dualisation<'a> {
    /// Starts the computation for a graph in which `constraints` constraints occur.
    pub(super) fn new(graph: Reachability<'a>, constraints: usize) -> Self {
        Dualisation {
            graph,
            all: Set::of(constraints, 0..constraints),
            clauses: Vec::new(),
            models: Vec::new(),
            candidates: vec![Set::empty(constraints)],
            compared: 0,
        }
    }

    /// Returns the work so far: visited arcs and compared models.
    pub(super) fn work(&self) -> u64 {
        self.graph.visited + self.compared
    }

    /// Returns the number of arcs of the graph: the work of one search.
    pub(super) fn arcs(&self) -> u64 {
        self.graph.arcs()
    }

    /// Estimates the memory use in bytes.
    pub(super) fn bytes(&self) -> u64 {
        let sets = self.models.capacity() + self.candidates.capacity() + self.clauses.capacity();
        // A set has a header and one allocation.
        self.graph.bytes() + sets as u64 * (40 + self.all.bytes())
    }

    /// Continues until the work exceeds `allowance`. Returns whether the clauses are the formula.
    pub(super) fn run(&mut self, allowance: u64) -> Result<bool, Stop> {
        while let Some(candidate) = self.candidates.pop() {
            if self.work() > allowance {
                self.candidates.push(candidate);
                return Ok(false);
            }
            let mut allowed = self.all.clone();
            allowed.subtract(&candidate);
            match self.graph.run_within(&allowed)? {
                None => self.models.push(candidate),
                Some(clause) => {
                    let clause = self.minimise(clause)?;
                    self.candidates.push(candidate);
                    if self.work() + self.work_to_add(&clause) > allowance {
                        // The next run finds the clause again.
                        return Ok(false);
                    }
                    self.add(clause)?;
                }
            }
        }
        Ok(true)
    }

    /// Returns the minimal clauses after a complete run.
    pub(super) fn into_clauses(self) -> Vec<Set> {
        self.clauses
    }

    /// Removes members of a clause until it is minimal: without any one of them, it would not be
    /// implied by the formula.
    fn minimise(&mut self, mut clause: Set) -> Result<Set, Stop> {
        for member in clause.clone().iter() {
            if !clause.contains(member) {
                continue;
            }
            let mut without = clause.clone();
            without.remove(member);
            if let Some(smaller) = self.graph.run_within(&without)? {
                clause = smaller;
            }
        }
        Ok(clause)
    }

    /// Returns the maximum number of comparisons that adding a clause takes.
    fn work_to_add(&self, clause: &Set) -> u64 {
        let extended = self.candidates.iter().filter(|model| !model.intersects(clause)).count();
        let others = self.models.len() + self.candidates.len() - extended;
        extended as u64 * clause.len() as u64 * others as u64
    }

    /// Adds a clause and updates the minimal models of all clauses (Berge's algorithm). A model
    /// that does not hit the clause is extended by each member of the clause. The extension is
    /// minimal unless it contains a model that hits the clause.
    fn add(&mut self, clause: Set) -> Result<(), Stop> {
        let candidates = std::mem::take(&mut self.candidates);
        let (kept, extended): (Vec<Set>, Vec<Set>) =
            candidates.into_iter().partition(|model| model.intersects(&clause));
        self.candidates = kept;
        let before = self.candidates.len();
        for model in &extended {
            self.graph.stop.check(self.bytes())?;
            for member in clause.iter() {
                let mut larger = model.clone();
                larger.insert(member);
                let others = self.models.iter().chain(&self.candidates[..before]);
                let mut compared = 0;
                let is_minimal = !others
                    .inspect(|_| compared += 1)
                    .any(|other| other.contains(member) && other.is_subset(&larger));
                self.compared += compared;
                if is_minimal {
                    self.candidates.push(larger);
                }
            }
        }
        self.clauses.push(clause);
        Ok(())
    }
}
