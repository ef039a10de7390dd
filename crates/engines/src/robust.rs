//! Whether a program is robust: on TSO, or PSO, it behaves as if sequentially consistent.
//!
//! Source: \[BM08\], which watches sequentially consistent runs and asks of each whether it is *borderline*: one more
//! access could leave sequential consistency. Direction: exact. *Robust* means that every run of the model has the same
//! happens-before relation as some sequentially consistent run, but for rounds of waits that come to
//! nothing; then the program keeps its properties under the model if it keeps them under SC, but for two: which
//! operations of a client had returned when another one began, and, under PSO, invariants.
//!
//! Ways to find out:
//! - [`Stateless`](crate::stateless): explores SC runs. Complete for programs whose runs end; with a bound on preemptions
//!   nothing is proved.
//! - `attack`: searches SC states for a thread that delays a store past one of its loads; loops need no bound. TSO only.
//! - `Auto`: under TSO the attack, which is quick where there are few states; then a few thousand SC runs, which find most
//!   violations; then all that is left of both; then more and more preemptions until a limit is met.
//!
//! - `escape`: from a borderline run to one that leaves sequential consistency.

pub(crate) mod escape;

use crate::attack::{Raid, attack, attack_trace};
use crate::engine::{Answer, Budget, Decider, Engine, Settings, Statistics, Task};
use crate::evidence::{Evidence, Witness};
use crate::explicit::Explicit;
use crate::stateless::saved::Saved;
use crate::stateless::system::{Found, Plan, Tally, Until};
use crate::stateless::{Schedules, coverage, explore, explore_from, longest};
use crate::verdict::{
    Bound, Explored, Findings, InconclusiveReason, Met, Unsupported, Verdict, judge,
};
use escape::{escape, lifted, non_sc_run};
use fencepost_ir::waits::{Waiting, without_waits};
use fencepost_ir::{Op, Problem, text};
use fencepost_models::Fidelity;
use fencepost_models::catalog::Kind;
use fencepost_models::replay::Trace;
use fencepost_monitor::Model;
use fencepost_search::{Coverage, Limits, Stop};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// States of attacks that `Auto` searches first.
const FIRST_STATES: u64 = 200_000;
/// SC runs that `Auto` takes before it goes on to something else.
const FIRST_RUNS: u64 = 5_000;
/// How many of them may become too long before it does.
const FIRST_CUTS: u64 = 100;
/// States of attacks that `Auto` searches before it goes on to something else.
const ATTACK_STATES: u64 = 20_000_000;

/// A way to find out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RobustBy {
    /// One after the other, as told above.
    #[default]
    Auto,
    /// SC runs, one for each trace.
    Stateless,
    /// SC runs with at most so many preemptions, the fewest first.
    Preemptions(u32),
    /// The search for an attack.
    Attack,
}

/// The engine: `verified` means robust and right under SC.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Robust {
    /// How.
    pub by: RobustBy,
}

impl Engine for Robust {
    fn name(&self) -> &'static str {
        "robust"
    }

    fn run(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        if task.model.kind == Kind::Sc {
            return Explicit.run(
                Task { problem: &task.problem.safety(), ..task },
                settings,
                budget,
            );
        }
        let model = match task.model.kind {
            Kind::Tso => Some(Model::Tso),
            Kind::Pso => Some(Model::Pso),
            Kind::Sc | Kind::Table(_) => return undecided(Unsupported::Model, Decider::Stateless),
        };
        if frees(task.problem) {
            return undecided(Unsupported::Frees, Decider::Stateless);
        }
        let problem = task.problem.safety();
        let waiting = without_waits(&problem, false);
        let task = Task { problem: &problem, ..task };
        let asking = Asking { task, waiting: &waiting, model, settings, budget };
        match self.by {
            RobustBy::Auto => asking.auto(),
            RobustBy::Stateless => asking.traces(u64::MAX),
            RobustBy::Preemptions(most) => asking.preemptions(Some(most)),
            RobustBy::Attack => asking.attack(u64::MAX),
        }
    }

    fn outcomes(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        crate::stateless::Stateless::default().outcomes(task, settings, budget)
    }
}

/// Whether some thread frees records.
fn frees(problem: &Problem) -> bool {
    let mut code = problem.program.threads.iter().flat_map(|thread| &thread.code);
    code.any(|stmt| matches!(stmt.op, Op::Free { .. }))
}

pub(crate) fn undecided(reason: Unsupported, by: Decider) -> Answer {
    answer(judge(Findings::unsupported(reason)), Statistics::default(), by)
}

fn answer(verdict: Verdict, statistics: Statistics, by: Decider) -> Answer {
    Answer {
        verdict,
        others: Vec::new(),
        statistics,
        outcomes: BTreeSet::new(),
        outcomes_complete: false,
        by,
        suspect: None,
        growing: None,
    }
}

/// The same by SC runs, one for each trace, as an exploration to go on with another time.
#[derive(Debug, Default)]
pub struct Resumed {
    /// Where to begin, if not at the beginning; what does not belong to the program is not used. Afterwards what is left, if there is something left.
    pub saved: Mutex<Option<Saved>>,
    /// Whether there was something to go on with that is of another program or model.
    pub foreign: AtomicBool,
}

impl Engine for Resumed {
    fn name(&self) -> &'static str {
        "robust"
    }

    fn run(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        let model = match task.model.kind {
            Kind::Tso => Model::Tso,
            Kind::Pso => Model::Pso,
            Kind::Sc | Kind::Table(_) => return undecided(Unsupported::Model, Decider::Stateless),
        };
        if frees(task.problem) {
            return undecided(Unsupported::Frees, Decider::Stateless);
        }
        let problem = task.problem.safety();
        let waiting = without_waits(&problem, false);
        let task = Task { problem: &problem, ..task };
        let mut saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        let threads = problem.program.threads.len();
        let of = (text::print(&problem), task.model.name.to_string());
        let given = saved.is_some();
        let from = saved.take().filter(|saved| saved.is_of(&of, threads));
        self.foreign.store(given && from.is_none(), Ordering::Relaxed);
        let longest = longest(&waiting, settings);
        let cuts = u64::MAX;
        let plan = Plan { watch: Some(model), until: Until::Found, longest, judge: true, cuts };
        let schedules = Schedules::Traces;
        let (tally, parts) = explore_from(&waiting, schedules, plan, settings, budget, from);
        *saved = (!parts.is_empty() && tally.found.is_none())
            .then(|| Saved::new(of, &tally.counts, &parts));
        let asking = Asking { task, waiting: &waiting, model: Some(model), settings, budget };
        asking.told(tally)
    }

    fn outcomes(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        Robust::default().outcomes(task, settings, budget)
    }
}

/// One question.
pub(crate) struct Asking<'a> {
    pub(crate) task: Task<'a>,
    pub(crate) waiting: &'a Waiting,
    /// The model to be robust against; none for SC.
    pub(crate) model: Option<Model>,
    pub(crate) settings: Settings,
    pub(crate) budget: Budget<'a>,
}

impl Asking<'_> {
    fn auto(&self) -> Answer {
        if self.model == Some(Model::Tso) {
            let small = self.attack(FIRST_STATES);
            if limit(&small) != Some(Stop::States) {
                return small;
            }
        }
        let first = self.traces(FIRST_RUNS);
        let Some(stop @ (Stop::States | Stop::Depth)) = limit(&first) else { return first };
        if self.model == Some(Model::Tso) {
            let second = self.attack(ATTACK_STATES);
            if limit(&second) != Some(Stop::States) {
                return second;
            }
        } else if stop == Stop::States {
            let all = self.traces(u64::MAX);
            if limit(&all) != Some(Stop::Depth) {
                return all;
            }
        }
        self.preemptions(None)
    }

    /// Explores one run for each trace, at most about so many.
    pub(crate) fn traces(&self, runs: u64) -> Answer {
        let states = self.settings.limits.states.min(runs);
        let limits = Limits { states, ..self.settings.limits };
        let settings = Settings { limits, ..self.settings };
        let cuts = if runs == u64::MAX { u64::MAX } else { FIRST_CUTS };
        let tally = self.explore(Schedules::Traces, settings, cuts);
        self.told(tally)
    }

    fn explore(&self, schedules: Schedules, settings: Settings, cuts: u64) -> Tally {
        let longest = longest(self.waiting, settings);
        let plan = Plan { watch: self.model, until: Until::Found, longest, judge: true, cuts };
        explore(self.waiting, schedules, plan, settings, self.budget)
    }

    /// Explores all interleavings with 0, 1, 2, ... preemptions.
    pub(crate) fn preemptions(&self, most: Option<u32>) -> Answer {
        let mut clean = None;
        let mut bound = 0;
        loop {
            let tally = self.explore(Schedules::Preemptions(bound), self.settings, u64::MAX);
            let exhausted = !tally.counts.bounded;
            let runs_out = coverage(&tally) != Coverage::Bounded;
            if runs_out && (exhausted || tally.found.is_some() || tally.stopped.is_some()) {
                let mut answer = self.told(tally);
                if let (Some(_), Some(clean)) = (answer.verdict.inconclusive(), clean) {
                    answer.verdict = answer.verdict.weakened(preemptions(clean));
                }
                return answer;
            }
            // Runs that are too long are too long with any bound.
            if tally.counts.cut == 0 {
                clean = Some(bound);
            }
            if most.is_some_and(|most| bound >= most) {
                let mut answer = self.told(tally);
                if let Some(clean) = clean {
                    answer.verdict = answer.verdict.weakened(preemptions(clean));
                }
                return answer;
            }
            bound += 1;
        }
    }

    /// What an exploration says.
    pub(crate) fn told(&self, tally: Tally) -> Answer {
        let reductions = self.settings.reductions;
        let problem = self.task.problem;
        let coverage = coverage(&tally);
        let found = tally.found.clone().map(|found| match found {
            Found::Trouble(trace) => self.trouble(&trace),
            Found::Borderline(init, moves, variant) => {
                let model = self.model.expect("the monitor watches for a model");
                let trace =
                    escape(self.waiting, model, reductions, &init, &moves, variant.as_ref());
                let trace = trace.expect("what the monitor says can happen can");
                self.not_robust(trace)
            }
        });
        let statistics = Statistics {
            states: tally.counts.executions().max(1),
            transitions: tally.counts.events,
            depth: tally.counts.longest as u32,
            ..Statistics::default()
        };
        // The bound is one on preemptions; the caller knows which.
        let explored = if coverage == Coverage::Exhaustive && tally.doubtful {
            Explored::Unsupported(Unsupported::Model)
        } else {
            Explored::of(coverage, Bound::Preemptions(0))
        };
        let witness = |at| {
            let trace = lifted(problem, self.task.model, reductions, tally.witnesses.get(&at)?);
            Some(Met::Replayed(Witness::replay(self.task, reductions, at, &trace)))
        };
        let witnesses = match found {
            None => (0..problem.sometimes.len()).map(witness).collect(),
            Some(_) => Vec::new(),
        };
        let violation = found.map(Met::Replayed);
        let verdict = judge(Findings { fidelity: Fidelity::Exact, explored, violation, witnesses });
        // What comes after something wrong is not looked at.
        let outcomes_complete = tally.is_whole() && tally.found.is_none();
        Answer {
            outcomes: tally.outcomes,
            outcomes_complete,
            ..answer(verdict, statistics, Decider::Stateless)
        }
    }

    /// Evidence for a run under SC that breaks a property.
    pub(crate) fn trouble(&self, trace: &Trace) -> Evidence {
        let reductions = self.settings.reductions;
        let Task { problem, model } = self.task;
        let trace = lifted(problem, model, reductions, trace);
        Evidence::replay(self.task, reductions, &trace)
    }

    fn not_robust(&self, trace: Trace) -> Evidence {
        let Task { problem, model } = self.task;
        let run = non_sc_run(problem, model, self.settings.reductions, &trace);
        Evidence::not_robust(run.expect("a run that leaves sequential consistency replays as one"))
    }

    /// Searches for an attack in at most so many states.
    fn attack(&self, states: u64) -> Answer {
        if self.model != Some(Model::Tso) {
            return undecided(Unsupported::Model, Decider::Attack);
        }
        let states = self.settings.limits.states.min(states);
        let limits = Limits { states, ..self.settings.limits };
        let settings = Settings { limits, ..self.settings };
        let attacked = attack(self.waiting, true, settings, self.budget);
        let found = attacked.found.map(|raid| match raid {
            Raid::Trouble(trace) => self.trouble(&trace),
            Raid::Attack { init, steps } => {
                self.not_robust(attack_trace(self.task.problem, settings, &init, &steps))
            }
        });
        let verdict = judge(Findings {
            fidelity: Fidelity::Exact,
            explored: Explored::of(attacked.coverage, Bound::Buffers),
            violation: found.map(Met::Replayed),
            witnesses: Vec::new(),
        });
        answer(verdict, attacked.statistics, Decider::Attack)
    }
}

/// The limit that ended a search without a conclusion.
fn limit(answer: &Answer) -> Option<Stop> {
    match answer.verdict.inconclusive_reason()? {
        InconclusiveReason::Limit(stop) => Some(*stop),
        InconclusiveReason::Bound { .. }
        | InconclusiveReason::Spurious
        | InconclusiveReason::Unsupported { .. } => None,
    }
}

/// Only runs with so many preemptions were explored.
fn preemptions(most: u32) -> InconclusiveReason {
    InconclusiveReason::Bound { bound: Bound::Preemptions(most), witness_missing: false }
}
