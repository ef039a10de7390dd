//! Inference as the papers have it: the avoid formula, then fences that enforce it on every path.
//!
//! Source: \[KVY10\] IV. DIVERGENCE: constraints are enforced at the lowest price on the control-flow graph
//! ([`crate::enforce`]) instead of right after `l1` or right before `l2`, and the fenced program is verified.
//! The placement is the cheapest that enforces the formula, not the cheapest that is enough: an
//! ordering that matters on some paths is enforced on all.
//!
//! Under an abstraction, \[KVY11\] 5.3, a constraint `L1 < L2` is kept when `L2` is not executed while the store `L1` is
//! pending. A full fence, a drain and, where `L2` loads, a store-load fence see to that. DIVERGENCE from
//! \[KVY11\] 5.4: a store-store fence does not count. It keeps two stores in order but lets the thread go on with both
//! pending, so that a later load may still overtake the first, which keeping the constraint rules out.

use crate::enforce::enforce;
use crate::fixpoint::{
    Avoidance, GaveUp as NoFormula, MOST_CONSTRAINTS, abstract_avoidance, avoidance, conjoin,
};
use crate::lazy::{Early, Found, Inferring, Question};
use crate::repair::{Constraints, GaveUp, Inference, Repair, Unrepairable};
use crate::set::Set;
use fencepost_engines::{Budget, Inconclusive, Task};
use fencepost_ir::{Atom, Barrier, FenceKinds, Op, Placement, Problem};
use fencepost_models::buffered::Buffered;
use fencepost_models::coherence::Coherence;

/// How many minimal models of the formula are listed.
const MODELS: usize = 20;
/// Placements listed when all are wanted.
const ALL: usize = 256;

/// Finds fences by the papers' way.
pub fn infer(question: Question<'_>, budget: Budget<'_>) -> Inference {
    Inferring::ask_about(question, budget, |inferring| inferring.by_constraints())
}

impl Inferring<'_> {
    fn by_constraints(&mut self) -> Early<Inference> {
        self.check_sc()?;
        let mut formulas = Vec::new();
        for problem in 0..self.problems.len() {
            formulas.push(self.formula(problem)?);
        }
        let avoidance = conjoin(&formulas);
        if avoidance.unavoidable {
            let why = match self.abstraction() {
                None => {
                    "the formula is false: an error is reached by steps that no ordering prevents"
                }
                Some(_) => {
                    "the formula is false: the abstraction reaches an error by steps that no ordering \
                     prevents; a finer one may not"
                }
            };
            return Err(self.out_of_reach(why.into()));
        }
        let limit = if self.question.all { ALL } else { 1 };
        let enforced = match self.abstraction() {
            None => enforce(self.problems, &avoidance, self.question.candidates, limit),
            Some(_) => {
                let problems: Vec<Problem> =
                    self.problems.iter().map(without_store_store).collect();
                let candidates = self.question.candidates.only(holds_up);
                enforce(&problems, &avoidance, &candidates, limit)
            }
        };
        self.more = self.question.all && enforced.as_ref().is_ok_and(|e| e.placements.len() == ALL);
        let enforced = enforced.map_err(|wrong| {
            let count = wrong.constraints.len();
            let what = if count == 1 { "an ordering" } else { "one of some orderings" };
            self.out_of_reach(format!("no fences that may be placed enforce {what}"))
        })?;
        let open = match self.ask(&enforced.placements[0])? {
            Found::Clean(open) => open,
            Found::Lessons => {
                let because = match avoidance.bound {
                    None => "the orderings are not enough".into(),
                    Some(bound) => {
                        format!("orderings for at most {bound} pending accesses are not enough")
                    }
                };
                return Err(self.gave_up(&enforced.placements[0], Vec::new(), Some(because)));
            }
        };
        if open.iter().any(|(_, why)| !why.is_bounded()) {
            return Err(self.gave_up(&enforced.placements[0], open, None));
        }
        self.check_witnesses(&enforced.placements[0])?;
        let repair = self.repaired(enforced.placements, open);
        let constraints = Some(constraints(&avoidance));
        Ok(Inference::Repaired(Repair { optimal: false, constraints, ..repair }))
    }

    /// The avoid formula of one problem.
    fn formula(&self, problem: usize) -> Early<Avoidance> {
        let fenced: Problem = self.fenced(problem, &Placement::default());
        let task = Task { problem: &fenced, model: self.question.model };
        let settings = self.question.settings;
        let formula = match self.abstraction() {
            None => avoidance(task, settings, self.budget),
            Some(model) => abstract_avoidance(task, model, settings, self.budget),
        };
        formula.map_err(|why| {
            let none = Placement::default();
            match why {
                NoFormula::Stopped(stop) => {
                    self.gave_up(&none, vec![(problem, Inconclusive::by_limit(stop))], None)
                }
                NoFormula::Constraints(count) => {
                    let because = format!("{count} orderings are too many; {MOST_CONSTRAINTS} fit");
                    self.gave_up(&none, Vec::new(), Some(because))
                }
            }
        })
    }

    /// The abstract model that is asked for, if the model has one.
    fn abstraction(&self) -> Option<Buffered<Coherence>> {
        let (domain, k) = self.question.abstraction?;
        self.question.model.abstracted(domain, k, true)
    }

    /// Whether no fence helps at all, or only this method finds none.
    fn out_of_reach(&mut self, because: String) -> Box<Inference> {
        let all = self.question.candidates.len();
        let everything = self.question.candidates.placement(&Set::of(all, 0..all));
        match self.ask(&everything) {
            Err(early) => early,
            Ok(Found::Lessons) => {
                let lesson = self.rounds.pop().and_then(|mut round| round.lessons.pop());
                let lesson = lesson.expect("a round with lessons has one");
                Box::new(Inference::Unrepairable(Unrepairable::OutOfReach {
                    problem: lesson.problem,
                    placement: lesson.placement,
                    evidence: lesson.evidence,
                }))
            }
            Ok(Found::Clean(_)) => self.gave_up(&Placement::default(), Vec::new(), Some(because)),
        }
    }

    fn gave_up(
        &self,
        placement: &Placement,
        undecided: Vec<(usize, Inconclusive)>,
        because: Option<String>,
    ) -> Box<Inference> {
        Box::new(Inference::GaveUp(GaveUp {
            placement: placement.clone(),
            // The formula asks for more than is needed, so its price is no bound.
            price: 0,
            undecided,
            because,
            rounds: Vec::new(),
        }))
    }
}

/// Whether a barrier makes a later access wait for a pending store, which a store-store fence does not.
fn holds_up(atom: &Atom) -> bool {
    match atom.barrier {
        Barrier::Fence(kinds) => kinds != FenceKinds::STORE_STORE,
        Barrier::Drain(_) => true,
    }
}

/// The problem with no fences that keep stores in order but hold nothing up.
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

/// The formula as far as it is shown.
fn constraints(avoidance: &Avoidance) -> Constraints {
    let (mut models, complete) = avoidance.formula.minimal(MODELS);
    models.sort_by_key(|model| (model.len(), model.clone()));
    Constraints {
        fewest: avoidance.fewest().unwrap_or_default(),
        models: models.iter().map(|model| avoidance.named(model)).collect(),
        complete,
        states: avoidance.states,
        edges: avoidance.edges,
        bound: avoidance.bound,
    }
}
