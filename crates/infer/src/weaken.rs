//! Weakening: computes which memory orders and fences of a program are stronger than models need.
//!
//! A *weakening* replaces orders by weaker ones and weakens or removes fences. Weaker orders only
//! add behaviour, so every program between a verified weakening and the original is correct, too.
//! The answer is the list of all maximal weakenings: those that are verified under all models, and
//! of which no weaker program is.
//!
//! *Duality.* The search starts with the weakest program, and the candidates restore parts of the
//! original. Each violation gives a clause: one of the parts that block its run must be restored
//! ([`crate::clause`]). A sufficient set hits every clause, so every sufficient set contains a
//! minimal hitting set. The search checks the minimal hitting sets of the clauses learned so far and
//! learns from those that are violated. When all of them are verified, they are all minimal
//! sufficient sets. Rejected: weakening one order after the other, which finds one maximal weakening
//! only.
//!
//! Direction: exact if no check is inconclusive. A program that an engine cannot decide counts as
//! not correct. The answer says how many there were.

use crate::candidates::Candidates;
use crate::clause::blocking_clause;
use crate::hitting_set::Clauses;
use crate::order_candidates::{effective_kinds, useful_orders};
use crate::set::Set;
use fencepost_engines::{Budget, Engine, Evidence, Inconclusive, Settings, Task, Verdict};
use fencepost_ir::{
    Atom, Barrier, FenceKinds, OrderEffect, PlaceId, Placement, Problem, Program, WrittenFences,
    placement,
};
use fencepost_models::ModelSpec;
use fencepost_search::Stop;

/// The maximum number of weakenings that are listed.
pub const MAX_WEAKENINGS: usize = 100;
/// The maximum number of violations from one search.
const MAX_TRACES: usize = 8;

/// A query for weaker orders and fences.
#[derive(Clone, Copy)]
pub struct WeakenQuery<'a> {
    /// The problems, with places and order places: the clients of one library, or one program.
    pub problems: &'a [Problem],
    /// The models. A weakening is verified under all of them.
    pub models: &'a [ModelSpec],
    /// The parts of the original ([`parts_of_original`]).
    pub parts: &'a Candidates,
    /// The verifier.
    pub engine: &'a (dyn Engine + Sync),
    /// The settings of the verifier.
    pub settings: Settings,
}

/// The answer to a query.
#[derive(Clone, Debug)]
pub enum WeakenAnswer {
    /// The maximal weakenings.
    Found(Weakenings),
    /// The original is violated under a model.
    Violated(WeakViolation),
    /// The original is not verified under a model.
    Undecided {
        /// The index of the model.
        model: usize,
        /// The reason.
        reason: Inconclusive,
    },
    /// A limit ended the search.
    Stopped(Stop),
}

/// Maximal weakenings. Each is what is left of the original's orders and fences.
#[derive(Clone, Debug)]
pub struct Weakenings {
    /// What is left, for each maximal weakening. Everything else is relaxed or removed.
    pub left: Vec<Placement>,
    /// Whether the list has all maximal weakenings.
    pub complete: bool,
    /// The number of weaker programs that no engine decided. They count as not correct.
    pub undecided: usize,
    /// For each part of the first weakening: a violation that occurs if the part is weaker.
    pub needs: Vec<(Atom, Option<WeakViolation>)>,
    /// The number of programs that were checked.
    pub checks: usize,
}

/// A violation of a weaker program.
#[derive(Clone, Debug)]
pub struct WeakViolation {
    /// The index of the model.
    pub model: usize,
    /// The index of the problem.
    pub problem: usize,
    /// What is left of the orders and fences of the original.
    pub left: Placement,
    /// The evidence.
    pub evidence: Evidence,
}

/// Returns the parts of the orders and fences of a program that have an effect under a model.
/// `fences` are the fences of the language.
pub fn parts_of_original(
    program: &Program,
    models: &[ModelSpec],
    fences: &[FenceKinds],
) -> Candidates {
    let mut atoms = Vec::new();
    for (at, place) in program.places.iter().enumerate() {
        let place_id = PlaceId::from_index(at);
        let mut add = |barrier| atoms.push((Atom { place: place_id, barrier }, 1));
        if let Some(site) = &place.order {
            let own = site.written_choice().effect;
            let none = OrderEffect::default();
            let useful = models.iter().flat_map(|model| useful_orders(site, none, model));
            useful.filter(|part| own.contains(*part)).for_each(|part| add(Barrier::Order(part)));
        } else if let Some((own, _)) = place.written {
            let useful = useful_fences(own, models, fences);
            useful.into_iter().for_each(|kinds| add(Barrier::Fence(kinds)));
        }
    }
    let none = Candidates::none(program, WrittenFences::Dropped);
    none.with_atoms(program, atoms)
}

/// Returns the fences within `own` that have an effect which no combination of the effects of weaker
/// ones is. A full fence also orders actions that are no accesses.
fn useful_fences(own: FenceKinds, models: &[ModelSpec], fences: &[FenceKinds]) -> Vec<FenceKinds> {
    let effect = |kinds: FenceKinds| -> Vec<FenceKinds> {
        models.iter().map(|model| effective_kinds(model, kinds)).collect()
    };
    let mut within: Vec<FenceKinds> = fences.iter().copied().chain([own]).collect();
    // A full barrier of a machine is as strong as the original, whatever the name of the fence.
    let is_full_barrier = |kinds: FenceKinds| {
        let mut machines = models.iter().filter(|model| model.has_ordered_accesses());
        machines.any(|model| effective_kinds(model, kinds) == FenceKinds::FULL)
    };
    within.retain(|kinds| own.contains(*kinds) && (*kinds == own || !is_full_barrier(*kinds)));
    within.sort_by_key(|kinds| {
        (FenceKinds::SINGLE.iter().filter(|(kind, _)| kinds.contains(*kind)).count(), *kinds)
    });
    within.dedup();
    let mut useful: Vec<FenceKinds> = Vec::new();
    for kinds in within {
        let weaker = useful.iter().filter(|other| kinds.contains(**other));
        let combined = weaker.fold(effect(FenceKinds::default()), |all, other| {
            all.iter().zip(effect(*other)).map(|(all, more)| all.union(more)).collect()
        });
        let is_known = useful.iter().any(|other| effect(*other) == effect(kinds));
        let is_full = kinds == FenceKinds::FULL && effect(kinds) != effect(FenceKinds::default());
        if effect(kinds) != combined && !is_known || is_full {
            useful.push(kinds);
        }
    }
    useful
}

/// Computes the maximal weakenings.
pub fn weaken(query: WeakenQuery<'_>, budget: Budget<'_>) -> WeakenAnswer {
    // Weaker programs have more runs, so `final exists` properties still hold.
    let problems: Vec<Problem> = query.problems.iter().map(Problem::safety).collect();
    let search = Search { query, problems: &problems, budget };
    search.run().unwrap_or_else(|answer| *answer)
}

struct Search<'a> {
    query: WeakenQuery<'a>,
    problems: &'a [Problem],
    budget: Budget<'a>,
}

/// The outcome of checking a weaker program under all models.
enum Outcome {
    Verified,
    /// The violations, all of one problem under one model.
    Violated(Vec<WeakViolation>),
    Undecided,
}

impl Search<'_> {
    fn run(&self) -> Result<WeakenAnswer, Box<WeakenAnswer>> {
        self.check_original()?;
        let parts = self.query.parts;
        let mut clauses = Clauses::new(parts.len());
        let mut verified: Vec<Placement> = Vec::new();
        let (mut undecided, mut checks) = (0, 0);
        loop {
            let (mut sets, complete) = clauses.minimal(MAX_WEAKENINGS, self.budget.cancel);
            let forms_full_fence = |set: &Set| {
                self.query.models.iter().any(|model| parts.forms_full_fence(set, model))
            };
            sets.retain(|set| !forms_full_fence(set));
            self.check_limits()?;
            let mut has_learned = false;
            for set in &sets {
                let left = parts.placement(set);
                if !clauses.are_hit_by(set) || verified.iter().any(|v| v.is_within(&left)) {
                    continue;
                }
                checks += 1;
                match self.check(&left, MAX_TRACES)? {
                    Outcome::Verified => verified.push(left),
                    Outcome::Violated(violations) => {
                        has_learned = true;
                        for violation in &violations {
                            clauses.add(self.clause(violation)?);
                        }
                    }
                    Outcome::Undecided => {
                        // Something that this program does not have must be restored.
                        has_learned = true;
                        undecided += 1;
                        let mut rest = Set::of(parts.len(), 0..parts.len());
                        rest.subtract(set);
                        clauses.add(rest);
                    }
                }
            }
            if !has_learned {
                let left = strongest_weakenings(sets.iter().map(|set| parts.placement(set)));
                let needs = left.first().map(|first| self.needs(first)).transpose()?;
                let needs = needs.unwrap_or_default();
                let found = Weakenings { left, complete, undecided, needs, checks };
                return Ok(WeakenAnswer::Found(found));
            }
        }
    }

    fn check_limits(&self) -> Result<(), Box<WeakenAnswer>> {
        match self.budget.cancel.reason() {
            Some(stop) => Err(Box::new(WeakenAnswer::Stopped(stop))),
            None => Ok(()),
        }
    }

    /// Checks that the original is correct under every model.
    fn check_original(&self) -> Result<(), Box<WeakenAnswer>> {
        let settings = Settings { shortest: true, traces: 1, ..self.query.settings };
        for (model, spec) in self.query.models.iter().enumerate() {
            for (problem, original) in self.problems.iter().enumerate() {
                let task = Task { problem: original, model: spec };
                let answer = self.query.engine.run(task, settings, self.budget);
                match answer.verdict {
                    Verdict::Verified(_) => {}
                    Verdict::Violated(violated) => {
                        let (left, evidence) = (Placement::default(), violated.into_evidence());
                        let violation = WeakViolation { model, problem, left, evidence };
                        return Err(Box::new(WeakenAnswer::Violated(violation)));
                    }
                    Verdict::Inconclusive(reason) => {
                        return Err(Box::new(WeakenAnswer::Undecided { model, reason }));
                    }
                }
            }
        }
        Ok(())
    }

    fn weaker_problem(&self, problem: usize, left: &Placement) -> Problem {
        let original = &self.problems[problem];
        let program = placement::fenced(&original.program, left, WrittenFences::Dropped);
        Problem { program, ..original.clone() }
    }

    /// Checks what is left under all models.
    fn check(&self, left: &Placement, traces: usize) -> Result<Outcome, Box<WeakenAnswer>> {
        let settings = Settings { shortest: traces == 1, traces, ..self.query.settings };
        let mut outcome = Outcome::Verified;
        for problem in 0..self.problems.len() {
            let weaker = self.weaker_problem(problem, left);
            for (model, spec) in self.query.models.iter().enumerate() {
                let task = Task { problem: &weaker, model: spec };
                let answer = self.query.engine.run(task, settings, self.budget);
                self.check_limits()?;
                match answer.verdict {
                    Verdict::Verified(_) => {}
                    Verdict::Violated(first) => {
                        let all = std::iter::once(first.into_evidence()).chain(answer.others);
                        let violation = |evidence| WeakViolation {
                            model,
                            problem,
                            left: left.clone(),
                            evidence,
                        };
                        return Ok(Outcome::Violated(all.map(violation).collect()));
                    }
                    Verdict::Inconclusive(_) => outcome = Outcome::Undecided,
                }
            }
        }
        Ok(outcome)
    }

    /// Returns the parts of the original that block the run of a violation.
    fn clause(&self, violation: &WeakViolation) -> Result<Set, Box<WeakenAnswer>> {
        let weaker = self.weaker_problem(violation.problem, &violation.left);
        let run = violation.evidence.run().expect("a violation of all runs has a run");
        let model = &self.query.models[violation.model];
        let clause = blocking_clause(&weaker, model, run, self.query.parts);
        assert!(!clause.is_empty(), "the original blocks every violation of a weaker program");
        Ok(clause)
    }

    /// Finds, for each part that is left, a violation that occurs if the part is weaker.
    fn needs(
        &self,
        left: &Placement,
    ) -> Result<Vec<(Atom, Option<WeakViolation>)>, Box<WeakenAnswer>> {
        let mut needs = Vec::new();
        for atom in &left.atoms {
            let mut weaker = left.clone();
            weaker.atoms.remove(atom);
            let below = self.query.parts.atoms.iter().filter(|other| {
                let [own, other] = [*atom, **other].map(|atom| Placement::from_iter([atom]));
                other.is_within(&own) && !own.is_within(&other)
            });
            weaker.atoms.extend(below);
            let violation = match self.check(&weaker, 1)? {
                Outcome::Violated(violations) => violations.into_iter().next(),
                Outcome::Verified | Outcome::Undecided => None,
            };
            needs.push((*atom, violation));
        }
        Ok(needs)
    }
}

/// Returns the placements that are not stronger than another one, without repetitions.
fn strongest_weakenings(all: impl Iterator<Item = Placement>) -> Vec<Placement> {
    let mut minimal: Vec<Placement> = Vec::new();
    for left in all {
        if !minimal.iter().any(|other| other.is_within(&left)) {
            minimal.retain(|other| !left.is_within(other));
            minimal.push(left);
        }
    }
    minimal.sort();
    minimal
}
