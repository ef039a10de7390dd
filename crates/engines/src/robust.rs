//! Robustness: under TSO or PSO, the program has only sequentially consistent behaviours.
//!
//! Source: \[BM08\], which monitors SC executions and reports those that are *borderline*: one more
//! access could leave sequential consistency. Direction: exact. *Robust* means that every run of
//! the model has the same happens-before relation as some SC run, except for failed spin
//! iterations. By the strict definition, they count, too. A robust program keeps under the model all
//! properties that it keeps under SC, with three exceptions: the set of client operations that have
//! returned when another one starts, invariants about control points and memory, and, under PSO,
//! invariants about memory. See [`watched`](crate::stateless::watched).
//!
//! Methods:
//! - [`Stateless`](crate::stateless): enumerates SC executions. Complete for programs whose
//!   executions terminate. With a bound on preemptions, it proves nothing.
//! - `attack`: searches SC states for a thread that delays a store past one of its loads. Needs no
//!   bound on loops. TSO only.
//! - `Auto`: under TSO first the attack, which is fast for small state spaces. Then a few thousand
//!   SC executions, which find most violations. Then the attack with more states (TSO) or all
//!   executions (PSO). Then a growing number of preemptions until a limit is reached.
//!
//! By the strict definition, spin loops are ordinary loops, and executions may be infinite: then
//! only `attack` proves robustness.
//!
//! - [`definition`]: the two definitions.
//! - `non_sc_run`: from a borderline execution to a run that is not sequentially consistent.

pub mod definition;
pub(crate) mod non_sc_run;

use crate::attack::{AttackResult, Effort, attack, attack_trace};
use crate::engine::{Answer, Budget, Decider, Engine, Settings, Statistics, Task};
use crate::evidence::{Evidence, Witness};
use crate::explicit::Explicit;
use crate::growing_variable::growing_under_sc;
use crate::stateless::saved::SavedExploration;
use crate::stateless::system::{ExplorationOptions, ExplorationResult, Finding, StopAt};
use crate::stateless::{
    Schedules, coverage, explore, explore_from, max_events, too_large, unrolled,
};
use crate::verdict::{
    Bound, Explored, Findings, InconclusiveReason, ReplayResult, Unsupported, Verdict, gap, judge,
};
pub use definition::RobustDefinition;
use fencepost_ir::spin_loops::SpinAssumed;
use fencepost_ir::{Op, Problem, grace_period, text};
use fencepost_models::Fidelity;
use fencepost_models::catalog::ModelKind;
use fencepost_models::replay::Trace;
use fencepost_monitor::Model;
use fencepost_search::{Coverage, Limits, Stop, WorkLimits};
use non_sc_run::{build_non_sc_run, lift_sc_trace, replay_if_not_sc};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The limit on states of the first attack search of `Auto`.
const FIRST_ATTACK_STATES: u64 = 200_000;
/// The limit on SC executions of `Auto` before it tries something else.
const FIRST_EXECUTIONS: u64 = 5_000;
/// How many of these executions may exceed the limit on events.
const FIRST_MAX_CUT: u64 = 100;
/// The limit on states of the last attack search of `Auto` if a variable keeps growing.
const GROWING_ATTACK_STATES: u64 = 1_000_000;
/// The limit on states of the second attack search of `Auto`.
const SECOND_ATTACK_STATES: u64 = 20_000_000;

/// A method to decide robustness.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RobustMethod {
    /// The other methods in turn, as described above.
    #[default]
    Auto,
    /// SC executions, one for each trace.
    Stateless,
    /// SC executions with at most this many preemptions, fewest first.
    Preemptions(u32),
    /// The search for an attack.
    Attack,
}

/// The robustness engine. `verified` means robust and correct under SC.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Robust {
    /// The method to use.
    pub method: RobustMethod,
    /// The definition to use.
    pub definition: RobustDefinition,
}

impl Robust {
    /// The engine with this method and the default definition.
    pub fn by(method: RobustMethod) -> Self {
        Robust { method, ..Robust::default() }
    }
}

impl Engine for Robust {
    fn name(&self) -> &'static str {
        "robust"
    }

    fn run(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        self.decide(task, Effort::Proof, settings, budget)
    }

    fn find_violations(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        self.decide(task, Effort::Violations, settings, budget)
    }

    fn robust_definition(&self) -> Option<RobustDefinition> {
        Some(self.definition)
    }

    fn outcomes(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        crate::stateless::Stateless::default().outcomes(task, settings, budget)
    }
}

impl Robust {
    /// Decides a task. To find a violation under TSO, a short search for an attack is enough: inference
    /// asks many such questions, and asks again for a proof.
    fn decide(
        &self,
        task: Task<'_>,
        effort: Effort,
        settings: Settings,
        budget: Budget<'_>,
    ) -> Answer {
        if task.model.kind == ModelKind::Sc {
            return Explicit.run(
                Task { problem: &task.problem.safety(), ..task },
                settings,
                budget,
            );
        }
        let model = match task.model.kind {
            ModelKind::Tso => Some(Model::Tso),
            ModelKind::Pso => Some(Model::Pso),
            ModelKind::Sc | ModelKind::Table(_) | ModelKind::Arm => {
                return undecided(Unsupported::Model, Decider::Stateless);
            }
        };
        if grace_period::occurs(&task.problem.program) {
            return undecided(Unsupported::GracePeriods, Decider::Stateless);
        }
        if frees(task.problem) {
            return undecided(Unsupported::Frees, Decider::Stateless);
        }
        let problem = task.problem.safety();
        let mut spin_assumed = self.definition.spin_assumed(&problem);
        if self.method == RobustMethod::Stateless {
            match unrolled(spin_assumed, settings) {
                Some(unrolled) => spin_assumed = unrolled,
                None => return too_large(),
            }
        }
        let task = Task { problem: &problem, ..task };
        let query = Query { task, spin_assumed: &spin_assumed, model, settings, budget };
        let is_tso = query.model == Some(Model::Tso);
        match self.method {
            RobustMethod::Auto | RobustMethod::Attack if is_tso && effort == Effort::Violations => {
                query.attack(effort, u64::MAX)
            }
            RobustMethod::Auto => query.auto(),
            RobustMethod::Stateless => query.traces(u64::MAX),
            RobustMethod::Preemptions(max_preemptions) => query.preemptions(Some(max_preemptions)),
            RobustMethod::Attack => query.attack(effort, u64::MAX),
        }
    }
}

/// Returns whether some thread frees records.
pub(crate) fn frees(problem: &Problem) -> bool {
    let mut code = problem.program.threads.iter().flat_map(|thread| &thread.code);
    code.any(|stmt| matches!(stmt.op, Op::Free { .. }))
}

pub(crate) fn undecided(reason: Unsupported, decider: Decider) -> Answer {
    answer(judge(Findings::unsupported(reason)), Statistics::default(), decider)
}

fn answer(verdict: Verdict, statistics: Statistics, decider: Decider) -> Answer {
    Answer {
        verdict,
        others: Vec::new(),
        statistics,
        outcomes: BTreeSet::new(),
        outcomes_complete: false,
        decider,
        spurious_run: None,
        growing: None,
        runs: None,
        abstracted_values: None,
    }
}

/// The robustness engine with the stateless method, as a resumable exploration.
#[derive(Debug, Default)]
pub struct ResumableRobust {
    /// In: the exploration to resume, if there is one. It is ignored if it belongs to another
    /// program or model. Out: the rest of the exploration, if there is one.
    pub saved: Mutex<Option<SavedExploration>>,
    /// Whether the saved exploration was ignored because it belongs to another program or model.
    pub rejected: AtomicBool,
}

impl Engine for ResumableRobust {
    fn name(&self) -> &'static str {
        "robust"
    }

    fn run(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        let model = match task.model.kind {
            ModelKind::Tso => Model::Tso,
            ModelKind::Pso => Model::Pso,
            ModelKind::Sc | ModelKind::Table(_) | ModelKind::Arm => {
                return undecided(Unsupported::Model, Decider::Stateless);
            }
        };
        if grace_period::occurs(&task.problem.program) {
            return undecided(Unsupported::GracePeriods, Decider::Stateless);
        }
        if frees(task.problem) {
            return undecided(Unsupported::Frees, Decider::Stateless);
        }
        let problem = task.problem.safety();
        let spin_assumed = RobustDefinition::default().spin_assumed(&problem);
        let task = Task { problem: &problem, ..task };
        let mut saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        let identity = (text::print(&problem), task.model.name.to_string());
        let was_given = saved.is_some();
        let from = saved.take().filter(|saved| saved.of == identity);
        self.rejected.store(was_given && from.is_none(), Ordering::Relaxed);
        let max_events = max_events(&spin_assumed, settings);
        let max_cut = u64::MAX;
        let options = ExplorationOptions {
            monitored: Some(model),
            confirms: true,
            stop_at: StopAt::FirstFinding,
            max_events,
            check_properties: true,
            max_cut,
        };
        let schedules = Schedules::Traces;
        let (result, traces) =
            explore_from(&spin_assumed, schedules, options, settings, budget, from);
        let remains = !traces.is_empty() && result.found.is_none();
        *saved =
            remains.then_some(SavedExploration { of: identity, counts: result.counts, traces });
        let query =
            Query { task, spin_assumed: &spin_assumed, model: Some(model), settings, budget };
        query.answer_from(result)
    }

    fn robust_definition(&self) -> Option<RobustDefinition> {
        Some(RobustDefinition::default())
    }

    fn outcomes(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        Robust::default().outcomes(task, settings, budget)
    }
}

/// A robustness query.
pub(crate) struct Query<'a> {
    pub(crate) task: Task<'a>,
    pub(crate) spin_assumed: &'a SpinAssumed,
    /// The model to check robustness against. None for SC.
    pub(crate) model: Option<Model>,
    pub(crate) settings: Settings,
    pub(crate) budget: Budget<'a>,
}

impl Query<'_> {
    fn auto(&self) -> Answer {
        if self.model == Some(Model::Tso) {
            let small = self.attack(Effort::Proof, FIRST_ATTACK_STATES);
            if limit(&small) != Some(Stop::States) {
                return small;
            }
        }
        let first = self.traces(FIRST_EXECUTIONS);
        let Some(stop @ (Stop::States | Stop::Depth)) = limit(&first) else { return first };
        if let Some(growing) = growing_under_sc(self.task, self.settings, self.budget) {
            let last = match self.model {
                Some(Model::Tso) => self.attack(Effort::Proof, GROWING_ATTACK_STATES),
                Some(Model::Pso) | None => first,
            };
            let growing = limit(&last).map(|_| growing);
            return Answer { growing, ..last };
        }
        if self.model == Some(Model::Tso) {
            let second = self.attack(Effort::Proof, SECOND_ATTACK_STATES);
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

    /// Answers after one execution for each trace, about `executions` at most.
    pub(crate) fn traces(&self, executions: u64) -> Answer {
        self.answer_from(self.explore_traces(executions, true))
    }

    /// Explores one execution for each trace, about `executions` at most. If runs are not
    /// confirmed, a borderline execution may have no run that is not sequentially consistent.
    pub(crate) fn explore_traces(&self, executions: u64, confirms: bool) -> ExplorationResult {
        let states = self.settings.limits.states.min(executions);
        let limits = Limits { states, ..self.settings.limits };
        let settings = Settings { limits, ..self.settings };
        let max_cut = if executions == u64::MAX { u64::MAX } else { FIRST_MAX_CUT };
        self.explore(Schedules::Traces, settings, max_cut, confirms)
    }

    fn explore(
        &self,
        schedules: Schedules,
        settings: Settings,
        max_cut: u64,
        confirms: bool,
    ) -> ExplorationResult {
        let max_events = max_events(self.spin_assumed, settings);
        let options = ExplorationOptions {
            monitored: self.model,
            confirms,
            stop_at: StopAt::FirstFinding,
            max_events,
            check_properties: true,
            max_cut,
        };
        explore(self.spin_assumed, schedules, options, settings, self.budget)
    }

    /// Explores all interleavings with 0, 1, 2, ... preemptions.
    pub(crate) fn preemptions(&self, max_preemptions: Option<u32>) -> Answer {
        let mut clean = None;
        let mut bound = 0;
        loop {
            let result = self.explore(Schedules::Preemptions(bound), self.settings, u64::MAX, true);
            let exhausted = !result.counts.bounded;
            let runs_out = coverage(&result) != Coverage::Bounded;
            if exhausted || runs_out && (result.found.is_some() || result.stopped.is_some()) {
                let mut answer = self.answer_from(result);
                if let (Some(_), Some(clean)) = (answer.verdict.inconclusive(), clean) {
                    answer.verdict = answer.verdict.weakened(preemption_bound(clean));
                }
                return answer;
            }
            // Executions that exceed the limit on events do so with any bound on preemptions.
            if result.counts.cut == 0 {
                clean = Some(bound);
            }
            if max_preemptions.is_some_and(|max_preemptions| bound >= max_preemptions) {
                let mut answer = self.answer_from(result);
                if let Some(clean) = clean {
                    answer.verdict = answer.verdict.weakened(preemption_bound(clean));
                }
                return answer;
            }
            bound += 1;
        }
    }

    /// Converts the result of an exploration into an answer.
    pub(crate) fn answer_from(&self, result: ExplorationResult) -> Answer {
        let reductions = self.settings.reductions;
        let problem = self.task.problem;
        let coverage = coverage(&result);
        // Building a run needs no memory to speak of, but it may take long.
        let work_limits =
            WorkLimits { cancel: self.budget.cancel.clone(), ..WorkLimits::default() };
        let found = result.found.clone().and_then(|found| match found {
            Finding::Violation(trace) => Some(self.violation_evidence(&trace)),
            Finding::Borderline(init, moves, variant) => {
                let model = self.model.expect("the monitor runs only with a model");
                let trace = build_non_sc_run(
                    self.spin_assumed,
                    model,
                    (reductions, &work_limits),
                    &init,
                    &moves,
                    variant.as_ref(),
                );
                assert!(
                    trace.is_some() || work_limits.is_cancelled(),
                    "a confirmed borderline execution must have a non-SC run"
                );
                Some(self.not_robust(trace?))
            }
        });
        let statistics = Statistics {
            states: result.counts.executions().max(1),
            blocked: result.counts.stuck,
            transitions: result.counts.events,
            depth: result.counts.longest as u32,
            ..Statistics::default()
        };
        // If the bound is on preemptions, the caller replaces the number.
        let bound = match self.settings.unwind {
            Some(iterations) if result.reaches_bound => Bound::Iterations(iterations),
            Some(_) | None => Bound::Preemptions(0),
        };
        let explored = if coverage == Coverage::Exhaustive && result.variants_incomplete {
            Explored::Unsupported(Unsupported::Model)
        } else {
            Explored::of(coverage, bound, self.budget.cancel)
        };
        let witness = |at| {
            let trace =
                lift_sc_trace(problem, self.task.model, reductions, result.witnesses.get(&at)?);
            Some(ReplayResult::Confirmed(Witness::replay(self.task, reductions, at, &trace)))
        };
        let witnesses = match found {
            None => (0..problem.sometimes.len()).map(witness).collect(),
            Some(_) => Vec::new(),
        };
        let violation = found.map(ReplayResult::Confirmed);
        let gap = robustness_gap(problem, result.undecided_hang);
        let fidelity = Fidelity::Exact;
        let verdict = judge(Findings { fidelity, explored, violation, witnesses, gap });
        // Executions are not continued after a violation.
        let outcomes_complete = result.is_complete() && result.found.is_none();
        Answer {
            outcomes: result.outcomes,
            outcomes_complete,
            ..answer(verdict, statistics, Decider::Stateless)
        }
    }

    /// Converts an SC run that violates a property into evidence.
    pub(crate) fn violation_evidence(&self, trace: &Trace) -> Evidence {
        let reductions = self.settings.reductions;
        let Task { problem, model } = self.task;
        let trace = lift_sc_trace(problem, model, reductions, trace);
        Evidence::replay(self.task, reductions, &trace)
    }

    fn not_robust(&self, trace: Trace) -> Evidence {
        let Task { problem, model } = self.task;
        let run = replay_if_not_sc(problem, model, self.settings.reductions, &trace);
        Evidence::not_robust(
            run.expect("a run that is not sequentially consistent must replay as one"),
        )
    }

    /// Searches for an attack in at most this many states.
    fn attack(&self, effort: Effort, states: u64) -> Answer {
        if self.model != Some(Model::Tso) {
            return undecided(Unsupported::Model, Decider::Attack);
        }
        let states = self.settings.limits.states.min(states);
        let limits = Limits { states, ..self.settings.limits };
        let settings = Settings { limits, ..self.settings };
        let attacked = attack(self.spin_assumed, true, effort, settings, self.budget);
        let found = attacked.found.map(|attack_result| match attack_result {
            AttackResult::Violation(trace) => self.violation_evidence(&trace),
            AttackResult::Attack { init, steps } => {
                self.not_robust(attack_trace(self.task.problem, settings, &init, &steps))
            }
        });
        let verdict = judge(Findings {
            fidelity: Fidelity::Exact,
            explored: Explored::of(attacked.coverage, Bound::Buffers, self.budget.cancel),
            violation: found.map(ReplayResult::Confirmed),
            witnesses: Vec::new(),
            gap: robustness_gap(self.task.problem, attacked.undecided_hang),
        });
        answer(verdict, attacked.statistics, Decider::Attack)
    }
}

/// Returns why a program without a violation is not known to be robust and correct under SC. A
/// program without final states, or one that does not make progress, can be robust.
fn robustness_gap(problem: &Problem, undecided_hang: bool) -> Option<Unsupported> {
    gap(problem, false, undecided_hang).filter(|gap| {
        let about_ends = matches!(gap, Unsupported::NoFinalState | Unsupported::NoResults);
        !about_ends && !matches!(gap, Unsupported::Progress)
    })
}

/// Returns the limit that made a search inconclusive.
fn limit(answer: &Answer) -> Option<Stop> {
    match answer.verdict.inconclusive_reason()? {
        InconclusiveReason::Limit(stop) => Some(*stop),
        InconclusiveReason::Bound { .. }
        | InconclusiveReason::Spurious
        | InconclusiveReason::Unsupported { .. } => None,
    }
}

/// The reason for an exploration with at most this many preemptions.
fn preemption_bound(max_preemptions: u32) -> InconclusiveReason {
    InconclusiveReason::Bound { bound: Bound::Preemptions(max_preemptions), witness_missing: false }
}
