//! Inference by fixpoint: computes the avoid formula, then fences that enforce it on every path.
//!
//! Source: \[KVY10\] IV. DIVERGENCE: constraints are enforced at minimum cost on the control-flow
//! graph ([`crate::place_for_constraints`]) instead of right after `L1` or right before `L2`, and
//! the fenced program is verified. The placement is the cheapest one that enforces the formula, not
//! the cheapest sufficient one: an ordering that matters on some paths is enforced on all.
//!
//! Under an abstraction, \[KVY11\] 5.3, a constraint `L1 < L2` means that `L2` is not executed
//! while the store `L1` is pending. A full fence, a drain and, if `L2` loads, a store-load fence
//! enforce it. DIVERGENCE from \[KVY11\] 5.4: a store-store fence does not count. It keeps two
//! stores in order, but the thread continues with both pending. A later load may then overtake the
//! first store, which an enforced constraint excludes.

use crate::fixpoint::{
    Avoidance, MAX_CONSTRAINTS, NoFormula, compute_abstract_avoidance, compute_avoidance, conjoin,
};
use crate::lazy::{CheckOutcome, EarlyAnswer, Effort, InferenceState, Query};
use crate::place_for_constraints::{NoPlacement, place_for_constraints};
use crate::repair::{Constraints, GaveUp, Inference, Repair, Unrepairable};
use crate::set::Set;
use fencepost_engines::{Budget, Inconclusive, Task};
use fencepost_ir::{Atom, Barrier, FenceKinds, Op, Placement, Problem};
use fencepost_models::buffered::Buffered;
use fencepost_models::coherence::Coherence;
use fencepost_search::{Cancel, Stop};

/// The maximum number of reported minimal models of the formula.
const MAX_MODELS: usize = 20;
/// The maximum number of placements if the query requests all.
const MAX_PLACEMENTS: usize = 256;

/// Infers fences from avoid formulas.
pub fn infer(query: Query<'_>, budget: Budget<'_>) -> Inference {
    InferenceState::run_query(query, budget, |state| state.infer_by_fixpoint())
}

impl InferenceState<'_> {
    fn infer_by_fixpoint(&mut self) -> EarlyAnswer<Inference> {
        if self.query.model.has_ordered_accesses() {
            let reason = "the formula does not cover the orders of accesses";
            return Err(self.answer_without_placement(reason.into()));
        }
        self.check_sc()?;
        let mut formulas = Vec::new();
        for problem in 0..self.problems.len() {
            formulas.push(self.compute_formula(problem)?);
        }
        let avoidance = conjoin(&formulas);
        if avoidance.is_unavoidable {
            let reason = match self.abstraction() {
                None => {
                    "the formula is false: an error is reachable by steps that no ordering prevents"
                }
                Some(_) => {
                    "the formula is false: the abstraction reaches an error by steps that no \
                     ordering prevents; try a finer abstraction"
                }
            };
            return Err(self.answer_without_placement(reason.into()));
        }
        let limit = if self.query.all { MAX_PLACEMENTS } else { 1 };
        let cancel = self.budget.cancel;
        let placed = match self.abstraction() {
            None => {
                let candidates = self.query.candidates;
                place_for_constraints(self.problems, &avoidance, candidates, limit, cancel)
            }
            Some(_) => {
                let problems: Vec<Problem> =
                    self.problems.iter().map(without_store_store).collect();
                let candidates = self.query.candidates.filter(delays_next_access);
                place_for_constraints(&problems, &avoidance, &candidates, limit, cancel)
            }
        };
        self.has_more = self.query.all
            && placed.as_ref().is_ok_and(|placed| placed.placements.len() == MAX_PLACEMENTS);
        let placed = placed.map_err(|reason| {
            let unenforceable = match reason {
                NoPlacement::Unenforceable(unenforceable) => unenforceable,
                NoPlacement::Stopped(stop) => return self.stopped(stop),
            };
            let count = unenforceable.constraints.len();
            let what = if count == 1 {
                "a required ordering"
            } else {
                "any ordering of a clause of the formula"
            };
            self.answer_without_placement(format!("the allowed fences cannot enforce {what}"))
        })?;
        let unverified = match self.check_placement(&placed.placements[0], Effort::Proof)? {
            CheckOutcome::Clean(unverified) => unverified,
            CheckOutcome::Violated => {
                let reason = match avoidance.bound {
                    None => "the enforced orderings are not sufficient".into(),
                    Some(bound) => {
                        format!(
                            "the orderings for at most {bound} pending accesses are not sufficient"
                        )
                    }
                };
                return Err(self.gave_up(&placed.placements[0], Vec::new(), Some(reason)));
            }
        };
        if unverified.iter().any(|(_, reason)| !reason.is_bounded()) {
            return Err(self.gave_up(&placed.placements[0], unverified, None));
        }
        self.check_witnesses(&placed.placements[0])?;
        let repair = self.build_repair(placed.placements, unverified);
        let constraints = report_constraints(&avoidance, self.budget.cancel);
        let constraints = Some(constraints.map_err(|stop| self.stopped(stop))?);
        Ok(Inference::Repaired(Repair { optimal: false, constraints, ..repair }))
    }

    /// Computes the avoid formula of one problem.
    fn compute_formula(&self, problem: usize) -> EarlyAnswer<Avoidance> {
        let fenced: Problem = self.fenced_problem(problem, &Placement::default());
        let task = Task { problem: &fenced, model: self.query.model };
        let settings = self.query.settings;
        let formula = match self.abstraction() {
            None => compute_avoidance(task, settings, self.budget),
            Some(model) => compute_abstract_avoidance(task, model, settings, self.budget),
        };
        formula.map_err(|error| {
            let none = Placement::default();
            match error {
                NoFormula::Stopped(stop) => {
                    self.gave_up(&none, vec![(problem, Inconclusive::by_limit(stop))], None)
                }
                NoFormula::TooManyConstraints(count) => {
                    let reason = format!(
                        "the formula has {count} orderings; the maximum is {MAX_CONSTRAINTS}"
                    );
                    self.gave_up(&none, Vec::new(), Some(reason))
                }
            }
        })
    }

    /// Returns the abstract model of the query, if the model has one.
    fn abstraction(&self) -> Option<Buffered<Coherence>> {
        let (domain, k) = self.query.abstraction?;
        self.query.model.abstracted(domain, k, true)
    }

    /// Returns the answer if this method finds no placement. Checks all candidates together, to
    /// distinguish an unrepairable program from a failure of the method.
    fn answer_without_placement(&mut self, reason: String) -> Box<Inference> {
        let count = self.query.candidates.len();
        let all_candidates = self.query.candidates.placement(&Set::of(count, 0..count));
        match self.check_placement(&all_candidates, Effort::Proof) {
            Err(early) => early,
            Ok(CheckOutcome::Violated) => {
                let learned = self.rounds.pop().and_then(|mut round| round.learned_clauses.pop());
                let learned = learned.expect("a violated round has a learned clause");
                Box::new(Inference::Unrepairable(Unrepairable::NotPreventable {
                    problem: learned.problem,
                    placement: learned.placement,
                    evidence: learned.evidence,
                }))
            }
            Ok(CheckOutcome::Clean(_)) => {
                self.gave_up(&Placement::default(), Vec::new(), Some(reason))
            }
        }
    }

    /// Returns the answer of an inference that a limit ended outside an engine.
    pub(crate) fn stopped(&self, stop: Stop) -> Box<Inference> {
        let undecided = (0..self.problems.len()).map(|at| (at, Inconclusive::by_limit(stop)));
        self.gave_up(&Placement::default(), undecided.collect(), None)
    }

    fn gave_up(
        &self,
        placement: &Placement,
        undecided: Vec<(usize, Inconclusive)>,
        reason: Option<String>,
    ) -> Box<Inference> {
        Box::new(Inference::GaveUp(GaveUp {
            placement: placement.clone(),
            // The formula may require more than necessary, so its cost is not a lower bound.
            cost: 0,
            undecided,
            reason,
            rounds: Vec::new(),
        }))
    }
}

/// Returns whether a barrier delays later accesses until a pending store is committed. A
/// store-store fence does not.
fn delays_next_access(atom: &Atom) -> bool {
    match atom.barrier {
        Barrier::Fence(kinds) => kinds != FenceKinds::STORE_STORE,
        Barrier::Drain(_) | Barrier::Order(_) => true,
    }
}

/// Returns the problem with the store-store kind removed from every fence that is not full.
fn without_store_store(problem: &Problem) -> Problem {
    let mut problem = problem.clone();
    for stmt in problem.program.threads.iter_mut().flat_map(|thread| &mut thread.code) {
        if let Op::Fence(kinds) = &mut stmt.op
            && *kinds != FenceKinds::FULL
        {
            let others = FenceKinds::SINGLE.iter().map(|(kind, _)| *kind);
            let others = others.filter(|k| kinds.contains(*k) && *k != FenceKinds::STORE_STORE);
            *kinds = others.fold(FenceKinds::default(), FenceKinds::union);
        }
    }
    problem
}

/// Returns the reported part of an avoid formula.
fn report_constraints(avoidance: &Avoidance, cancel: &Cancel) -> Result<Constraints, Stop> {
    let (mut models, complete) = avoidance.formula.minimal(MAX_MODELS, cancel);
    models.sort_by_key(|model| (model.len(), model.clone()));
    Ok(Constraints {
        fewest: avoidance.fewest(cancel)?.unwrap_or_default(),
        models: models.iter().map(|model| avoidance.constraints_at(model)).collect(),
        complete,
        states: avoidance.states,
        edges: avoidance.edges,
        bound: avoidance.bound,
    })
}
