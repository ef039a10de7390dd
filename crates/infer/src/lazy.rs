//! Counterexample-guided inference: computes the cheapest fences under the concrete model.
//!
//! Each round takes the cheapest placement that hits all learned clauses and checks every problem
//! with it. A violation yields a new clause ([`crate::clause`]). If there is no violation, the
//! placement is sufficient. It is also optimal, because every repair hits every clause. The
//! verifier is any [`Engine`]: if the engine proves a problem for unbounded store buffers, the
//! proof holds for the repair.
//!
//! - *Disjoint clauses first.* Before the first round, each check places all members of the clauses
//!   learned so far. Clauses of different checks are then disjoint, which raises the lower bound
//!   quickly. These checks only look for violations. A proof would be about more fences than needed.
//! - *Few threads first.* A placement is first checked for violations of two or three threads
//!   ([`crate::few_threads`]).
//! - *Clauses are minimised.* If many candidates block a violation, inference looks for a violation
//!   that fewer candidates block.
//! - *Batches.* One search yields several violations, and several problems are checked in parallel,
//!   in batches of fixed size. The answer therefore does not depend on the number of threads.
//! - *Monotonicity.* Fences only remove behaviours. A problem that is verified with some fences is
//!   not checked again with a superset of them.

use crate::candidates::Candidates;
use crate::clause::{blocking_clause, is_reordered};
use crate::few_threads::{FewThreads, sets_of_few_threads};
use crate::hitting_set::{Clauses, Cost};
use crate::repair::{
    GaveUp, Inference, LearnedClause, Need, Repair, Round, Sufficiency, Unrepairable,
};
use crate::set::Set;
use fencepost_engines::{
    Answer, Budget, Decider, Engine, Evidence, Inconclusive, Settings, Statistics, Task, Verdict,
};
use fencepost_ir::{Placement, Problem, grace_period, placement};
use fencepost_models::ModelSpec;
use fencepost_models::coherence::Domain;
use fencepost_search::Limits;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of problems in one batch.
const BATCH_SIZE: usize = 8;
/// The maximum number of violations from one search.
pub(crate) const MAX_TRACES: usize = 16;
/// The maximum number of placements of equal cost that are checked, unless the query requests all.
const MAX_ALTERNATIVES: usize = 16;
/// The maximum number of placements if the query requests all.
const MAX_LISTED: usize = 256;
/// The state limit of a search that minimises a clause.
const MINIMISATION_STATES: u64 = 50_000;
/// The states that the searches for shorter runs may store together, in every repair.
const SHORTEN_STATES: u64 = 20_000;

/// The state limit of the search under sequential consistency.
const SC_STATES: u64 = 200_000;

/// An inference query.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    /// The problems with marked places: the clients of one library, or a single program.
    pub problems: &'a [Problem],
    /// The memory model.
    pub model: &'a ModelSpec,
    /// The barriers that inference may place.
    pub candidates: &'a Candidates,
    /// The verifier.
    pub engine: &'a (dyn Engine + Sync),
    /// The settings of the verifier.
    pub settings: Settings,
    /// Whether to list every cheapest placement instead of one.
    pub all: bool,
    /// For fixpoint inference: the abstract domain, and the length of its heads. None: the
    /// table-driven form of the model, up to a bound.
    pub abstraction: Option<(Domain, u32)>,
}

/// Infers the cheapest fences.
pub fn infer(query: Query<'_>, budget: Budget<'_>) -> Inference {
    InferenceState::run_query(query, budget, |state| state.infer_lazily())
}

/// Returns why no method can infer fences for these problems, if none can.
fn unsupported(problems: &[Problem]) -> Option<&'static str> {
    if problems.iter().any(|problem| grace_period::occurs(&problem.program)) {
        return Some("fence inference does not support RCU");
    }
    // A fence before a label adds a state in which the thread is not at the label.
    if problems.iter().any(Problem::requires_control_points) {
        return Some("fences can violate an invariant that holds because a thread is at a label");
    }
    None
}

/// The state of an inference.
pub(crate) struct InferenceState<'a> {
    pub(crate) query: Query<'a>,
    pub(crate) problems: &'a [Problem],
    pub(crate) budget: Budget<'a>,
    clauses: Clauses,
    /// The sets of few threads, in the order of checking: the most recently violated first.
    pub(crate) few_threads: Vec<FewThreads>,
    /// The problems in the order of checking: the most recently violated first.
    order: Vec<usize>,
    /// By problem: the placements that are verified.
    verified: Vec<Vec<Placement>>,
    statistics: Vec<Statistics>,
    /// By problem: the method that gave the last verdict.
    deciders: Vec<Decider>,
    /// Whether more placements of the same cost exist than were examined.
    pub(crate) has_more: bool,
    pub(crate) rounds: Vec<Round>,
}

/// A result, or the final answer of the inference.
pub(crate) type EarlyAnswer<T> = Result<T, Box<Inference>>;

/// What a check of a placement is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effort {
    /// To find violations quickly.
    Violations,
    /// To verify the placement.
    Proof,
}

/// The outcome of checking a placement.
pub(crate) enum CheckOutcome {
    /// No problem is violated. Lists the problems that are not verified.
    Clean(Vec<(usize, Inconclusive)>),
    /// A problem is violated. Its clauses are learned.
    Violated,
}

impl InferenceState<'_> {
    /// Answers a query with an inference method.
    pub(crate) fn run_query(
        query: Query<'_>,
        budget: Budget<'_>,
        method: impl FnOnce(&mut InferenceState<'_>) -> EarlyAnswer<Inference>,
    ) -> Inference {
        if let Some(reason) = unsupported(query.problems) {
            return Inference::GaveUp(GaveUp {
                placement: Placement::default(),
                cost: 0,
                undecided: Vec::new(),
                reason: Some(reason.into()),
                rounds: Vec::new(),
            });
        }
        // Fences do not make more states reachable, so `final exists` properties are checked at the
        // end.
        let problems: Vec<Problem> = query.problems.iter().map(Problem::safety).collect();
        let few_threads = if query.engine.searches_few_threads() {
            sets_of_few_threads(&problems)
        } else {
            Vec::new()
        };
        let mut state = InferenceState {
            query,
            problems: &problems,
            budget,
            clauses: Clauses::new(query.candidates.len()),
            few_threads,
            order: (0..problems.len()).collect(),
            verified: vec![Vec::new(); problems.len()],
            statistics: vec![Statistics::default(); problems.len()],
            deciders: vec![Decider::Explicit; problems.len()],
            has_more: false,
            rounds: Vec::new(),
        };
        method(&mut state).unwrap_or_else(|answer| *answer)
    }

    fn infer_lazily(&mut self) -> EarlyAnswer<Inference> {
        self.check_sc()?;
        self.collect_disjoint_clauses()?;
        loop {
            let best = self.cheapest_hitting_set()?;
            let placement = self.query.candidates.placement(&best);
            let unverified = match self.check_placement(&placement, Effort::Proof)? {
                CheckOutcome::Violated => continue,
                CheckOutcome::Clean(unverified) => unverified,
            };
            if unverified.iter().any(|(_, reason)| !reason.is_bounded()) {
                return Ok(Inference::GaveUp(GaveUp {
                    cost: self.query.candidates.cost(&placement),
                    placement,
                    undecided: unverified,
                    reason: None,
                    rounds: std::mem::take(&mut self.rounds),
                }));
            }
            let Some((placements, unverified)) = self.alternatives(&best, unverified)? else {
                continue;
            };
            self.check_witnesses(&placements[0])?;
            return Ok(Inference::Repaired(self.build_repair(placements, unverified)));
        }
    }

    /// Checks the problems under sequential consistency, up to a limit. Fences cannot repair a violation
    /// there. Beyond the limit, no placement is verified, and a clause becomes empty.
    pub(crate) fn check_sc(&mut self) -> EarlyAnswer<()> {
        let sc = ModelSpec::SC;
        let states = self.query.settings.limits.states.min(SC_STATES);
        let limits = Limits { states, ..self.query.settings.limits };
        let settings = Settings { shortest: true, traces: 1, limits, ..self.query.settings };
        let all: Vec<usize> = (0..self.problems.len()).collect();
        for batch in all.chunks(BATCH_SIZE) {
            let answers = self.run_batch(batch, settings, Effort::Proof, &|problem| Task {
                problem: &self.problems[problem],
                model: &sc,
            });
            for (problem, answer) in batch.iter().zip(answers) {
                if let Some(evidence) = answer.verdict.into_evidence() {
                    let problem = *problem;
                    let reason =
                        Unrepairable::ViolatedUnderSc { problem, evidence, under_model: false };
                    return Err(Box::new(Inference::Unrepairable(reason)));
                }
            }
        }
        Ok(())
    }

    /// Checks that every `final exists` has a witness with a placement, because fences remove runs.
    pub(crate) fn check_witnesses(&self, placement: &Placement) -> EarlyAnswer<()> {
        for (problem, original) in self.query.problems.iter().enumerate() {
            if original.sometimes.is_empty() {
                continue;
            }
            let fenced = self.fenced_problem(problem, placement).with_requirements_of(original);
            let task = Task { problem: &fenced, model: self.query.model };
            let answer = self.query.engine.run(task, self.query.settings, self.budget);
            if let Verdict::Violated(_) = answer.verdict {
                let reason = Unrepairable::NoWitness { problem };
                return Err(Box::new(Inference::Unrepairable(reason)));
            }
        }
        Ok(())
    }

    /// Collects clauses until a check has no violation. Each check places all members of the clauses
    /// so far, so clauses of different checks are disjoint.
    fn collect_disjoint_clauses(&mut self) -> EarlyAnswer<()> {
        let mut used = Set::empty(self.query.candidates.len());
        loop {
            let placement = self.query.candidates.placement(&used);
            match self.check_placement(&placement, Effort::Violations)? {
                CheckOutcome::Clean(_) => return Ok(()),
                CheckOutcome::Violated => {}
            }
            let learned = self.rounds.last().map_or(&[][..], |round| &round.learned_clauses);
            learned.iter().for_each(|learned| used.union_with(&learned.clause));
        }
    }

    /// Returns the cheapest set that hits every clause.
    fn cheapest_hitting_set(&self) -> EarlyAnswer<Set> {
        let best = self.clauses.cheapest(&self.query.candidates.weights, self.budget.cancel);
        let best = best.map_err(|stop| self.stopped(stop))?;
        Ok(best.expect("inference ends when it learns an empty clause"))
    }

    /// Returns a problem with a placement inserted into its program.
    pub(crate) fn fenced_problem(&self, problem: usize, placement: &Placement) -> Problem {
        let problem = &self.problems[problem];
        let program = placement::fenced(&problem.program, placement, self.query.candidates.written);
        Problem { program, ..problem.clone() }
    }

    /// Checks all problems with a placement, until a batch has a violation. Skips problems that are
    /// verified with a subset of the placement.
    pub(crate) fn check_placement(
        &mut self,
        placement: &Placement,
        effort: Effort,
    ) -> EarlyAnswer<CheckOutcome> {
        if self.few_threads_violate(placement)? {
            return Ok(CheckOutcome::Violated);
        }
        let mut settings = Settings { shortest: false, traces: MAX_TRACES, ..self.query.settings };
        match effort {
            Effort::Proof => {}
            Effort::Violations => {
                settings.limits.states = settings.limits.states.min(MINIMISATION_STATES);
            }
        }
        let is_verified =
            |problem: &usize| self.verified[*problem].iter().any(|p| p.is_within(placement));
        let unchecked: Vec<usize> =
            self.order.iter().copied().filter(|p| !is_verified(p)).collect();
        let mut undecided = Vec::new();
        self.budget.progress.parts.store(unchecked.len() as u64, Ordering::Relaxed);
        self.budget.progress.done.store(0, Ordering::Relaxed);
        for batch in unchecked.chunks(BATCH_SIZE) {
            let fenced: Vec<Problem> =
                batch.iter().map(|p| self.fenced_problem(*p, placement)).collect();
            let position = |problem| {
                batch.iter().position(|p| *p == problem).expect("the problem is in the batch")
            };
            let model = self.query.model;
            let answers = self.run_batch(batch, settings, effort, &|problem| Task {
                problem: &fenced[position(problem)],
                model,
            });
            let mut learned_clauses = Vec::new();
            for ((problem, fenced), answer) in batch.iter().zip(&fenced).zip(answers) {
                self.statistics[*problem] = answer.statistics;
                self.deciders[*problem] = answer.decider;
                match answer.verdict {
                    Verdict::Verified(_) => self.verified[*problem].push(placement.clone()),
                    Verdict::Inconclusive(reason) => {
                        undecided.push((*problem, reason));
                        // Slow problems are checked last.
                        self.order.retain(|p| p != problem);
                        self.order.push(*problem);
                    }
                    Verdict::Violated(first) => {
                        let first = std::iter::once(first.into_evidence());
                        let all = first.chain(answer.others);
                        for evidence in all {
                            learned_clauses.extend(
                                self.add_learned_clause(*problem, fenced, placement, evidence)?,
                            );
                        }
                    }
                }
            }
            if !learned_clauses.is_empty() {
                for learned in learned_clauses.iter().rev() {
                    self.order.retain(|p| *p != learned.problem);
                    self.order.insert(0, learned.problem);
                }
                self.rounds.push(Round { placement: placement.clone(), learned_clauses });
                return Ok(CheckOutcome::Violated);
            }
        }
        undecided.sort_by_key(|(problem, _)| *problem);
        Ok(CheckOutcome::Clean(undecided))
    }

    /// Learns and minimises the clause of a violation, and adds it to the clauses. Returns None if
    /// an earlier clause implies it.
    pub(crate) fn add_learned_clause(
        &mut self,
        problem: usize,
        fenced: &Problem,
        placement: &Placement,
        evidence: Evidence,
    ) -> EarlyAnswer<Option<LearnedClause>> {
        let mut learned = self.learn_clause(problem, fenced, placement.clone(), evidence)?;
        if self.clauses.iter().any(|known| known.is_subset(&learned.clause)) {
            return Ok(None);
        }
        self.minimise_clause(&mut learned)?;
        let is_new = self.clauses.add(learned.clause.clone());
        Ok(is_new.then_some(learned))
    }

    /// Computes the clause of a violation with a placement.
    fn learn_clause(
        &self,
        problem: usize,
        fenced: &Problem,
        placement: Placement,
        evidence: Evidence,
    ) -> EarlyAnswer<LearnedClause> {
        let Some(run) = evidence.run() else {
            let reason = Unrepairable::NoWitness { problem };
            return Err(Box::new(Inference::Unrepairable(reason)));
        };
        let clause = blocking_clause(fenced, self.query.model, run, self.query.candidates);
        let positions = placement.atoms.iter().filter_map(|a| self.query.candidates.position(*a));
        let used = Set::of(self.query.candidates.len(), positions);
        assert!(!clause.intersects(&used), "no placed fence blocks a run of the fenced program");
        if clause.is_empty() {
            // A run without reorderings is a run under SC. The search under SC may have reached a
            // limit.
            let reason = if is_reordered(fenced, self.query.model, run) {
                Unrepairable::NotPreventable { problem, placement, evidence }
            } else {
                Unrepairable::ViolatedUnderSc { problem, evidence, under_model: true }
            };
            return Err(Box::new(Inference::Unrepairable(reason)));
        }
        Ok(LearnedClause { problem, placement, evidence, clause })
    }

    /// Minimises a clause. For each member, checks the problem with that member and all candidates
    /// outside the clause. If the problem is violated, the new violation has a smaller clause,
    /// without that member. These checks are fast, because so many fences leave few behaviours. If
    /// few threads take steps in the violation, only their runs are searched.
    fn minimise_clause(&self, learned: &mut LearnedClause) -> EarlyAnswer<()> {
        let settings = Settings { shortest: false, traces: 1, ..self.query.settings };
        let states = settings.limits.states.min(MINIMISATION_STATES);
        let limits = Limits { states, ..settings.limits };
        let settings = Settings { limits, ..settings };
        let candidates = self.query.candidates;
        let running = self.few_running(learned);
        let mut next = 0;
        loop {
            let tried = learned.clause.iter().find(|position| *position >= next);
            let Some(tried) = tried.filter(|_| learned.clause.len() > 1) else { return Ok(()) };
            next = tried + 1;
            let mut chosen = Set::of(candidates.len(), 0..candidates.len());
            chosen.subtract(&learned.clause);
            chosen.insert(tried);
            let placement = candidates.placement(&chosen);
            let fenced = self.fenced_problem(learned.problem, &placement);
            let found = match &running {
                Some(running) => self.search_few_threads(&fenced, running, 1, false),
                None => {
                    let task = Task { problem: &fenced, model: self.query.model };
                    Some(self.query.engine.find_violations(task, settings, self.budget))
                }
            };
            if let Some(evidence) = found.and_then(|answer| answer.verdict.into_evidence()) {
                *learned = self.learn_clause(learned.problem, &fenced, placement, evidence)?;
            }
        }
    }

    /// Checks the other placements of the same cost as a clean one: all of them, or until one is
    /// verified. Returns None if a check learned a new clause.
    #[expect(clippy::type_complexity, reason = "a list of placements with the unverified problems")]
    fn alternatives(
        &mut self,
        best: &Set,
        unverified: Vec<(usize, Inconclusive)>,
    ) -> EarlyAnswer<Option<(Vec<Placement>, Vec<(usize, Inconclusive)>)>> {
        let candidates = self.query.candidates;
        let first = candidates.placement(best);
        if unverified.is_empty() && !self.query.all {
            return Ok(Some((vec![first], unverified)));
        }
        let limit = if self.query.all { MAX_LISTED } else { MAX_ALTERNATIVES };
        let costs: Vec<Cost> = candidates.costs().collect();
        let sets = self.clauses.all_cheapest(&costs, usize::MAX, self.budget.cancel);
        let mut sets = sets.map_err(|stop| self.stopped(stop))?;
        sets.retain(|set| !candidates.forms_full_fence(set, self.query.model));
        // If there are too many sets to find all, `best` may be missing.
        if !sets.contains(best) {
            sets.push(best.clone());
        }
        sets.sort_by_key(|set| (set != best, Clauses::cost(set, &candidates.weights)));
        self.has_more = sets.len() > limit;
        sets.truncate(limit);
        let mut clean: Vec<(Placement, Vec<(usize, Inconclusive)>)> = Vec::new();
        for set in &sets {
            let placement = candidates.placement(set);
            let unverified = if set == best {
                unverified.clone()
            } else {
                match self.check_placement(&placement, Effort::Proof)? {
                    CheckOutcome::Violated => return Ok(None),
                    CheckOutcome::Clean(unverified) => unverified,
                }
            };
            let done = unverified.is_empty() && !self.query.all;
            clean.push((placement, unverified));
            if done {
                break;
            }
        }
        // Placements with fewer unverified problems come first. The sort is stable.
        clean.sort_by_key(|(_, unverified)| unverified.len());
        let unverified = clean[0].1.clone();
        let equal = clean.into_iter().filter(|(_, other)| other.len() == unverified.len());
        let mut placements: Vec<Placement> = equal.map(|(placement, _)| placement).collect();
        if !self.query.all {
            placements.truncate(1);
        }
        Ok(Some((placements, unverified)))
    }

    /// Builds the repair from sufficient placements. Finds the need for each barrier of the first
    /// one.
    pub(crate) fn build_repair(
        &mut self,
        placements: Vec<Placement>,
        unverified: Vec<(usize, Inconclusive)>,
    ) -> Repair {
        let needed_for = self.find_needs(&placements[0]);
        Repair {
            cost: self.query.candidates.cost(&placements[0]),
            optimal: true,
            sufficiency: if unverified.is_empty() {
                Sufficiency::Verified
            } else {
                Sufficiency::Bounded(unverified)
            },
            needed_for,
            placements,
            rounds: std::mem::take(&mut self.rounds),
            statistics: std::mem::take(&mut self.statistics),
            deciders: std::mem::take(&mut self.deciders),
            has_more: self.has_more,
            constraints: None,
        }
    }

    /// Finds, for each barrier, a violation that occurs without the barrier: a shortest one, or one
    /// in which few threads take steps. The searches for shorter runs together store about as many
    /// states as the verification of the placement.
    fn find_needs(&self, placement: &Placement) -> Vec<Need> {
        let states: u64 = self.statistics.iter().map(|statistics| statistics.states).sum();
        let share = states.max(SHORTEN_STATES) / placement.atoms.len().max(1) as u64;
        let shorten_states = Some(share);
        let settings =
            Settings { shortest: true, shorten_states, traces: 1, ..self.query.settings };
        let need_for = |atom| {
            let mut fewer = placement.clone();
            fewer.atoms.remove(&atom);
            let mut redundant = true;
            for FewThreads { problem, running, .. } in &self.few_threads {
                let fenced = self.fenced_problem(*problem, &fewer);
                if let Some(answer) = self.search_few_threads(&fenced, running, 1, true) {
                    let evidence = answer.verdict.into_evidence();
                    let violation = evidence.map(|evidence| (*problem, evidence));
                    return Need { atom, violation, redundant: false };
                }
            }
            for problem in &self.order {
                let fenced = self.fenced_problem(*problem, &fewer);
                let task = Task { problem: &fenced, model: self.query.model };
                let answer = self.query.engine.run(task, settings, self.budget);
                match answer.verdict {
                    Verdict::Violated(violated) => {
                        let violation = Some((*problem, violated.into_evidence()));
                        return Need { atom, violation, redundant: false };
                    }
                    Verdict::Verified(_) => {}
                    Verdict::Inconclusive(_) => redundant = false,
                }
            }
            Need { atom, violation: None, redundant }
        };
        placement.atoms.iter().map(|atom| need_for(*atom)).collect()
    }

    /// Runs the engine on several problems in parallel. The answers are in the order of the
    /// problems.
    fn run_batch<'t>(
        &self,
        problems: &[usize],
        settings: Settings,
        effort: Effort,
        task: &(dyn Fn(usize) -> Task<'t> + Sync),
    ) -> Vec<Answer> {
        let run = |problem: usize, settings: Settings| {
            let (engine, task) = (self.query.engine, task(problem));
            let answer = match effort {
                Effort::Violations => engine.find_violations(task, settings, self.budget),
                Effort::Proof => engine.run(task, settings, self.budget),
            };
            self.budget.progress.done.fetch_add(1, Ordering::Relaxed);
            answer
        };
        let workers = settings.threads.get().min(problems.len());
        if workers <= 1 {
            return problems.iter().map(|problem| run(*problem, settings)).collect();
        }
        let single_threaded = Settings { threads: NonZeroUsize::MIN, ..settings };
        let next = AtomicUsize::new(0);
        let answers: Vec<Mutex<Option<Answer>>> =
            problems.iter().map(|_| Mutex::default()).collect();
        std::thread::scope(|scope| {
            let work = || {
                while let Some((at, problem)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    problems.get(at).map(|problem| (at, *problem))
                } {
                    let answer = run(problem, single_threaded);
                    *answers[at].lock().unwrap_or_else(|e| e.into_inner()) = Some(answer);
                }
            };
            (1..workers).for_each(|_| {
                scope.spawn(work);
            });
            work();
        });
        let answers =
            answers.into_iter().map(|a| a.into_inner().unwrap_or_else(|e| e.into_inner()));
        answers.map(|answer| answer.expect("every problem has an answer")).collect()
    }
}
