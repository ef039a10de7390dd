//! Counterexample-guided inference: the cheapest fences under the concrete model.
//!
//! A round takes the cheapest placement that hits all clauses so far and asks the verifier about every
//! problem. A violation teaches a clause ([`crate::clause`]); when there is none, the placement is
//! enough, and because every repair hits every clause, none is cheaper. The verifier is any
//! [`Engine`]: what it proves for unbounded buffers is proved for the repair.
//!
//! - *Ahead of the first round* clauses that share no member are collected, by putting
//!   in all of each: they raise the lower bound quickly.
//! - *Clauses are sharpened*: of a violation that many fences would have prevented, one is
//!   sought that fewer would.
//! - *Several violations* are taken from one search, and several problems are asked at once, in batches
//!   of fixed size, so that the answer does not depend on the number of threads.
//! - *Fences only take behaviours away*, so a problem that was verified with some fences is not
//!   asked again with more.

use crate::candidates::Candidates;
use crate::clause::{clause, is_reordered};
use crate::hitting::{Clauses, Cost};
use crate::repair::{GaveUp, Inference, Lesson, Need, Repair, Round, Sufficiency, Unrepairable};
use crate::set::Set;
use fencepost_engines::{
    Answer, Budget, Decider, Engine, Evidence, Inconclusive, Settings, Statistics, Task, Verdict,
};
use fencepost_ir::{Placement, Problem, placement};
use fencepost_models::ModelSpec;
use fencepost_models::coherence::Domain;
use fencepost_search::Limits;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Problems asked at once.
const BATCH: usize = 8;
/// Violations taken from one search.
const TRACES: usize = 16;
/// Placements of the same price looked at, unless all are wanted.
const ALTERNATIVES: usize = 16;
/// Placements listed when all are wanted.
const ALL: usize = 256;
/// States a search may take that only makes a clause smaller.
const SHARPENING: u64 = 50_000;

/// What to infer.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The problems, with places marked: the clients of one library, or a single program.
    pub problems: &'a [Problem],
    /// Under which model.
    pub model: &'a ModelSpec,
    /// What may be placed.
    pub candidates: &'a Candidates,
    /// The verifier.
    pub engine: &'a (dyn Engine + Sync),
    /// How it goes about it.
    pub settings: Settings,
    /// List every cheapest placement, not only one.
    pub all: bool,
    /// For the papers' method: the abstraction whose error states are avoided, and the length of its heads. None:
    /// the table-driven reading of the model, up to a bound.
    pub abstraction: Option<(Domain, u32)>,
}

/// Finds the cheapest fences.
pub fn infer(question: Question<'_>, budget: Budget<'_>) -> Inference {
    Inferring::ask_about(question, budget, |inferring| inferring.run())
}

/// What is known while fences are looked for.
pub(crate) struct Inferring<'a> {
    pub(crate) question: Question<'a>,
    pub(crate) problems: &'a [Problem],
    pub(crate) budget: Budget<'a>,
    clauses: Clauses,
    /// The problems, those that taught something last first.
    order: Vec<usize>,
    /// By problem: placements it is verified with.
    verified: Vec<Vec<Placement>>,
    statistics: Vec<Statistics>,
    /// By problem: who decided last.
    deciders: Vec<Decider>,
    /// Whether there are more placements of the same price than were looked at.
    pub(crate) more: bool,
    pub(crate) rounds: Vec<Round>,
}

/// Inference ends early with this answer.
pub(crate) type Early<T> = Result<T, Box<Inference>>;

/// What the verifier says of a placement.
pub(crate) enum Found {
    /// Nothing is violated; what is not verified is listed.
    Clean(Vec<(usize, Inconclusive)>),
    /// Something is, and its clauses are known now.
    Lessons,
}

impl Inferring<'_> {
    /// Goes about a question in some way.
    pub(crate) fn ask_about(
        question: Question<'_>,
        budget: Budget<'_>,
        method: impl FnOnce(&mut Inferring<'_>) -> Early<Inference>,
    ) -> Inference {
        // No fence makes more states reachable, so what some run must do is checked in the end.
        let problems: Vec<Problem> = question.problems.iter().map(Problem::safety).collect();
        let mut inferring = Inferring {
            question,
            problems: &problems,
            budget,
            clauses: Clauses::over(question.candidates.len()),
            order: (0..problems.len()).collect(),
            verified: vec![Vec::new(); problems.len()],
            statistics: vec![Statistics::default(); problems.len()],
            deciders: vec![Decider::Explicit; problems.len()],
            more: false,
            rounds: Vec::new(),
        };
        method(&mut inferring).unwrap_or_else(|end| *end)
    }

    fn run(&mut self) -> Early<Inference> {
        self.check_sc()?;
        self.disjoint()?;
        loop {
            let best = self.cheapest()?;
            let placement = self.question.candidates.placement(&best);
            let open = match self.ask(&placement)? {
                Found::Lessons => continue,
                Found::Clean(open) => open,
            };
            if open.iter().any(|(_, why)| !why.is_bounded()) {
                return Ok(Inference::GaveUp(GaveUp {
                    price: self.question.candidates.price(&placement),
                    placement,
                    undecided: open,
                    because: None,
                    rounds: std::mem::take(&mut self.rounds),
                }));
            }
            let Some((placements, open)) = self.alternatives(&best, open)? else { continue };
            self.check_witnesses(&placements[0])?;
            return Ok(Inference::Repaired(self.repaired(placements, open)));
        }
    }

    /// Whether the problems are right under sequential consistency; no fence helps if not.
    pub(crate) fn check_sc(&mut self) -> Early<()> {
        let sc = ModelSpec::SC;
        let settings = Settings { shortest: true, traces: 1, ..self.question.settings };
        let all: Vec<usize> = (0..self.problems.len()).collect();
        for batch in all.chunks(BATCH) {
            let answers = self.batch(batch, settings, &|problem| Task {
                problem: &self.problems[problem],
                model: &sc,
            });
            for (problem, answer) in batch.iter().zip(answers) {
                if let Some(evidence) = answer.verdict.into_evidence() {
                    let problem = *problem;
                    let wrong =
                        Unrepairable::WrongUnderSc { problem, evidence, under_model: false };
                    return Err(Box::new(Inference::Unrepairable(wrong)));
                }
            }
        }
        Ok(())
    }

    /// Whether what a `final exists` asks for is still there with a placement: fences take runs away.
    pub(crate) fn check_witnesses(&self, placement: &Placement) -> Early<()> {
        for (problem, asked) in self.question.problems.iter().enumerate() {
            if asked.sometimes.is_empty() {
                continue;
            }
            let fenced = self.fenced(problem, placement).with_requirements_of(asked);
            let task = Task { problem: &fenced, model: self.question.model };
            let answer = self.question.engine.run(task, self.question.settings, self.budget);
            if let Verdict::Violated(_) = answer.verdict {
                let wrong = Unrepairable::NoWitness { problem };
                return Err(Box::new(Inference::Unrepairable(wrong)));
            }
        }
        Ok(())
    }

    /// Collects clauses without common members: each time with everything put in that is in one.
    fn disjoint(&mut self) -> Early<()> {
        let mut used = Set::below(self.question.candidates.len());
        loop {
            let placement = self.question.candidates.placement(&used);
            match self.ask(&placement)? {
                Found::Clean(_) => return Ok(()),
                Found::Lessons => {}
            }
            let learnt = self.rounds.last().map_or(&[][..], |round| &round.lessons);
            learnt.iter().for_each(|lesson| used.union_with(&lesson.clause));
        }
    }

    /// The cheapest set that hits every clause.
    fn cheapest(&self) -> Early<Set> {
        let best = self.clauses.cheapest(&self.question.candidates.costs);
        Ok(best.expect("a clause that nothing hits ends inference when it is learnt"))
    }

    /// The program of a problem with a placement.
    pub(crate) fn fenced(&self, problem: usize, placement: &Placement) -> Problem {
        let problem = &self.problems[problem];
        let program =
            placement::fenced(&problem.program, placement, self.question.candidates.written);
        Problem { program, ..problem.clone() }
    }

    /// Asks the verifier about all problems with a placement, until something is violated.
    pub(crate) fn ask(&mut self, placement: &Placement) -> Early<Found> {
        let settings = Settings { shortest: false, traces: TRACES, ..self.question.settings };
        let known =
            |problem: &usize| self.verified[*problem].iter().any(|p| p.is_within(placement));
        let open: Vec<usize> = self.order.iter().copied().filter(|p| !known(p)).collect();
        let mut undecided = Vec::new();
        self.budget.progress.parts.store(open.len() as u64, Ordering::Relaxed);
        self.budget.progress.done.store(0, Ordering::Relaxed);
        for batch in open.chunks(BATCH) {
            let fenced: Vec<Problem> = batch.iter().map(|p| self.fenced(*p, placement)).collect();
            let position =
                |problem| batch.iter().position(|p| *p == problem).expect("of the batch");
            let model = self.question.model;
            let answers = self.batch(batch, settings, &|problem| Task {
                problem: &fenced[position(problem)],
                model,
            });
            let mut lessons = Vec::new();
            for ((problem, fenced), answer) in batch.iter().zip(&fenced).zip(answers) {
                self.statistics[*problem] = answer.statistics;
                self.deciders[*problem] = answer.by;
                match answer.verdict {
                    Verdict::Verified(_) => self.verified[*problem].push(placement.clone()),
                    Verdict::Inconclusive(why) => {
                        undecided.push((*problem, why));
                        // What takes long is asked last.
                        self.order.retain(|p| p != problem);
                        self.order.push(*problem);
                    }
                    Verdict::Violated(first) => {
                        let first = std::iter::once(first.into_evidence());
                        let all = first.chain(answer.others);
                        for evidence in all {
                            lessons.extend(self.learn(*problem, fenced, placement, evidence)?);
                        }
                    }
                }
            }
            if !lessons.is_empty() {
                for lesson in lessons.iter().rev() {
                    self.order.retain(|p| *p != lesson.problem);
                    self.order.insert(0, lesson.problem);
                }
                self.rounds.push(Round { placement: placement.clone(), lessons });
                return Ok(Found::Lessons);
            }
        }
        undecided.sort_by_key(|(problem, _)| *problem);
        Ok(Found::Clean(undecided))
    }

    /// Turns a violation into a clause; none if it says nothing new.
    fn learn(
        &mut self,
        problem: usize,
        fenced: &Problem,
        placement: &Placement,
        evidence: Evidence,
    ) -> Early<Option<Lesson>> {
        let mut lesson = self.lesson(problem, fenced, placement.clone(), evidence)?;
        if self.clauses.iter().any(|known| known.is_subset(&lesson.clause)) {
            return Ok(None);
        }
        self.sharpen(&mut lesson)?;
        let is_new = self.clauses.add(lesson.clause.clone());
        Ok(is_new.then_some(lesson))
    }

    /// The clause of a violation with a placement.
    fn lesson(
        &self,
        problem: usize,
        fenced: &Problem,
        placement: Placement,
        evidence: Evidence,
    ) -> Early<Lesson> {
        let Some(run) = evidence.run() else {
            let wrong = Unrepairable::NoWitness { problem };
            return Err(Box::new(Inference::Unrepairable(wrong)));
        };
        let clause = clause(fenced, run, self.question.candidates);
        let numbers = placement.atoms.iter().filter_map(|a| self.question.candidates.number(*a));
        let used = Set::of(self.question.candidates.len(), numbers);
        assert!(!clause.meets(&used), "a fence that is there does not block a run that happened");
        if clause.is_empty() {
            // A run in program order is one under SC; a search there may have met a limit.
            let wrong = if is_reordered(fenced, run) {
                Unrepairable::OutOfReach { problem, placement, evidence }
            } else {
                Unrepairable::WrongUnderSc { problem, evidence, under_model: true }
            };
            return Err(Box::new(Inference::Unrepairable(wrong)));
        }
        Ok(Lesson { problem, placement, evidence, clause })
    }

    /// Makes a clause as small as possible: as long as the problem is violated with every candidate
    /// outside of it and one of its own, that one is of no use against the violation then found, whose
    /// clause is smaller. With so many fences a problem is quickly searched.
    fn sharpen(&self, lesson: &mut Lesson) -> Early<()> {
        let settings = Settings { shortest: false, traces: 1, ..self.question.settings };
        let states = settings.limits.states.min(SHARPENING);
        let limits = Limits { states, ..settings.limits };
        let settings = Settings { limits, ..settings };
        let candidates = self.question.candidates;
        let mut next = 0;
        loop {
            let tried = lesson.clause.iter().find(|number| *number >= next);
            let Some(tried) = tried.filter(|_| lesson.clause.len() > 1) else { return Ok(()) };
            next = tried + 1;
            let mut all = Set::of(candidates.len(), 0..candidates.len());
            all.subtract(&lesson.clause);
            all.insert(tried);
            let placement = candidates.placement(&all);
            let fenced = self.fenced(lesson.problem, &placement);
            let task = Task { problem: &fenced, model: self.question.model };
            let answer = self.question.engine.run(task, settings, self.budget);
            if let Some(evidence) = answer.verdict.into_evidence() {
                *lesson = self.lesson(lesson.problem, &fenced, placement, evidence)?;
            }
        }
    }

    /// Looks for placements as cheap as a clean one: all of them, or one that is verified where the
    /// first is not. None when something new was learnt.
    #[expect(clippy::type_complexity, reason = "a placement list with what is open")]
    fn alternatives(
        &mut self,
        best: &Set,
        open: Vec<(usize, Inconclusive)>,
    ) -> Early<Option<(Vec<Placement>, Vec<(usize, Inconclusive)>)>> {
        let candidates = self.question.candidates;
        let first = candidates.placement(best);
        if open.is_empty() && !self.question.all {
            return Ok(Some((vec![first], open)));
        }
        let limit = if self.question.all { ALL } else { ALTERNATIVES };
        let prices: Vec<Cost> = candidates.prices().collect();
        let mut sets = self.clauses.all_cheapest(&prices, usize::MAX);
        // Where there are too many to find all, the best is still one of them.
        if !sets.contains(best) {
            sets.push(best.clone());
        }
        sets.sort_by_key(|set| (set != best, Clauses::cost(set, &candidates.costs)));
        self.more = sets.len() > limit;
        sets.truncate(limit);
        let mut clean: Vec<(Placement, Vec<(usize, Inconclusive)>)> = Vec::new();
        for set in &sets {
            let placement = candidates.placement(set);
            let left = if set == best {
                open.clone()
            } else {
                match self.ask(&placement)? {
                    Found::Lessons => return Ok(None),
                    Found::Clean(left) => left,
                }
            };
            let done = left.is_empty() && !self.question.all;
            clean.push((placement, left));
            if done {
                break;
            }
        }
        // What is proved comes before what is not; otherwise the order stays.
        clean.sort_by_key(|(_, left)| left.len());
        let left = clean[0].1.clone();
        let alike = clean.into_iter().filter(|(_, other)| other.len() == left.len());
        let mut placements: Vec<Placement> = alike.map(|(placement, _)| placement).collect();
        if !self.question.all {
            placements.truncate(1);
        }
        Ok(Some((placements, left)))
    }

    /// The answer: these placements, the first with what each of its barriers is needed for.
    pub(crate) fn repaired(
        &mut self,
        placements: Vec<Placement>,
        open: Vec<(usize, Inconclusive)>,
    ) -> Repair {
        let needed_for = self.needs(&placements[0]);
        Repair {
            price: self.question.candidates.price(&placements[0]),
            optimal: true,
            sufficiency: if open.is_empty() {
                Sufficiency::Verified
            } else {
                Sufficiency::Bounded(open)
            },
            needed_for,
            placements,
            rounds: std::mem::take(&mut self.rounds),
            statistics: std::mem::take(&mut self.statistics),
            deciders: std::mem::take(&mut self.deciders),
            more: self.more,
            constraints: None,
        }
    }

    /// For each barrier, a shortest violation without it.
    fn needs(&self, placement: &Placement) -> Vec<Need> {
        let settings = Settings { shortest: true, traces: 1, ..self.question.settings };
        let without = |atom| {
            let mut fewer = placement.clone();
            fewer.atoms.remove(&atom);
            let mut needless = true;
            for problem in &self.order {
                let fenced = self.fenced(*problem, &fewer);
                let task = Task { problem: &fenced, model: self.question.model };
                let answer = self.question.engine.run(task, settings, self.budget);
                match answer.verdict {
                    Verdict::Violated(violated) => {
                        let violation = Some((*problem, violated.into_evidence()));
                        return Need { atom, violation, needless: false };
                    }
                    Verdict::Verified(_) => {}
                    Verdict::Inconclusive(_) => needless = false,
                }
            }
            Need { atom, violation: None, needless }
        };
        placement.atoms.iter().map(|atom| without(*atom)).collect()
    }

    /// Runs the engine on several problems at once; the answers come in the order of the problems.
    fn batch<'t>(
        &self,
        problems: &[usize],
        settings: Settings,
        task: &(dyn Fn(usize) -> Task<'t> + Sync),
    ) -> Vec<Answer> {
        let run = |problem: usize, settings: Settings| {
            let answer = self.question.engine.run(task(problem), settings, self.budget);
            self.budget.progress.done.fetch_add(1, Ordering::Relaxed);
            answer
        };
        let workers = settings.threads.get().min(problems.len());
        if workers <= 1 {
            return problems.iter().map(|problem| run(*problem, settings)).collect();
        }
        let alone = Settings { threads: NonZeroUsize::MIN, ..settings };
        let next = AtomicUsize::new(0);
        let answers: Vec<Mutex<Option<Answer>>> =
            problems.iter().map(|_| Mutex::default()).collect();
        std::thread::scope(|scope| {
            let work = || {
                while let Some((at, problem)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    problems.get(at).map(|problem| (at, *problem))
                } {
                    let answer = run(problem, alone);
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
        answers.map(|answer| answer.expect("every problem was asked")).collect()
    }
}
