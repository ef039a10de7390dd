//! Stateless exploration: enumerates sequentially consistent executions without storing states.
//!
//! A program that is correct under SC and [robust](crate::robust) against TSO or PSO is correct
//! under that model. If the program is not robust, this engine cannot decide it. With a bound on
//! preemptions, the robustness check has the same bound.
//!
//! [`fencepost_explore`] chooses the executions: one for each trace, or all interleavings with few
//! preemptions. This module is the system that it explores. The system feeds the robustness monitor
//! and checks properties. Spin loops are replaced by assumptions. Direction: exact. With a bound on
//! preemptions, on iterations or on the length of executions, it is an under-approximation.
//!
//! - [`system`]: the machine as a system to explore.
//! - [`path`]: one execution, as a path that grows and shrinks.
//! - [`invisible`]: steps that belong to the event before them; `event_table`: events that occurred before.
//! - [`footprint`]: the cells and monitor actions of a step.
//! - [`variants`]: what a step could do at another position.
//! - [`lazy_monitor`]: the robustness monitor on a path.
//! - [`silent_loop`]: threads that loop forever without any effect.
//! - [`saved`]: a resumable exploration, as plain data.

mod event_table;
pub(crate) mod footprint;
pub(crate) mod invisible;
mod lazy_monitor;
pub(crate) mod path;
pub mod saved;
pub(crate) mod silent_loop;
pub(crate) mod system;
pub(crate) mod variants;

use crate::engine::{Answer, Budget, Decider, Engine, Settings, Task};
use crate::robust::{Query, Robust, RobustMethod, frees, undecided};
use crate::sc::{ScMachine, sc_machine};
use crate::verdict::{InconclusiveReason, Unsupported, Verdict, gap};
use fencepost_explore::{Exploration, Findings, OpenTree, StopReason, are_valid_traces};
use fencepost_ir::spin_loops::{SpinAssumed, spin_assume};
use fencepost_ir::unwind::unwind;
use fencepost_ir::{Op, Problem, grace_period};
use fencepost_models::catalog::ModelKind;
use fencepost_models::machine::choice::Choices;
use fencepost_models::replay::Trace;
use fencepost_monitor::Model;
use fencepost_search::{Coverage, Stop, WorkLimits};
use footprint::Cells;
use path::Path;
use saved::SavedExploration;
use std::sync::atomic::Ordering;
use system::{ExplorationOptions, ExplorationResult, Finding, MachineSystem, StopAt};

/// The largest number of events of an execution, unless the settings have a smaller limit.
const MAX_EVENTS: usize = 2_000;
/// The largest number of events if a thread has a loop other than a spin loop.
const MAX_EVENTS_WITH_LOOPS: usize = 120;

/// The stateless engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stateless {
    /// Explore all interleavings with at most this many preemptions, instead of one execution for
    /// each trace.
    pub preemptions: Option<u32>,
}

impl Engine for Stateless {
    fn name(&self) -> &'static str {
        "stateless"
    }

    fn run(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        let model = match watched(task) {
            Ok(model) => model,
            Err(reason) => return undecided(reason, Decider::Stateless),
        };
        if grace_period::occurs(&task.problem.program) {
            return undecided(Unsupported::GracePeriods, Decider::Stateless);
        }
        if task.problem.requires_progress() {
            return undecided(Unsupported::Progress, Decider::Stateless);
        }
        let Some(spin_assumed) = explored_problem(task.problem, false, settings) else {
            return too_large();
        };
        let query = |model| Query { task, spin_assumed: &spin_assumed, model, settings, budget };
        let (mut answer, monitored) = match self.preemptions {
            Some(max_preemptions) => (query(None).preemptions(Some(max_preemptions)), None),
            None => explore_once(&query, model.filter(|_| is_same_problem(task.problem))),
        };
        if answer.verdict.is_verified()
            && let Some(gap) = gap(task.problem, !answer.outcomes.is_empty(), false)
        {
            answer.verdict = answer.verdict.weakened(InconclusiveReason::unsupported(gap));
        }
        let carries_over = match &answer.verdict {
            Verdict::Verified(_) => false,
            // A run that SC does not have may be the missing witness.
            Verdict::Violated(violated) => violated.evidence().run().is_some(),
            // The bound is a statement about SC until the monitor has checked the same executions.
            Verdict::Inconclusive(inconclusive) => {
                !matches!(inconclusive.reason(), InconclusiveReason::Bound { .. })
            }
        };
        if model.is_none() || carries_over {
            return answer;
        }
        let method = self.preemptions.map_or(RobustMethod::Stateless, RobustMethod::Preemptions);
        let robust = match monitored {
            Some(result) => query(model).answer_from(result),
            None => Robust::by(method).run(task, settings, budget),
        };
        let reason = match &robust.verdict {
            Verdict::Verified(_) => return answer,
            Verdict::Violated(_) => InconclusiveReason::unsupported(Unsupported::NotRobust),
            Verdict::Inconclusive(inconclusive) => inconclusive.reason().clone(),
        };
        answer.outcomes_complete = false;
        answer.verdict = answer.verdict.weakened(reason);
        answer
    }

    fn outcomes(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        let model = match watched(task) {
            Ok(model) => model,
            Err(reason) => return undecided(reason, Decider::Stateless),
        };
        if grace_period::occurs(&task.problem.program) {
            return undecided(Unsupported::GracePeriods, Decider::Stateless);
        }
        let Some(spin_assumed) = explored_problem(task.problem, true, settings) else {
            return too_large();
        };
        let query = Query { task, spin_assumed: &spin_assumed, model: None, settings, budget };
        let options = ExplorationOptions {
            monitored: None,
            confirms: true,
            stop_at: StopAt::End,
            max_events: max_events(&spin_assumed, settings),
            check_properties: true,
            max_cut: u64::MAX,
        };
        let schedules = self.preemptions.map_or(Schedules::Traces, Schedules::Preemptions);
        let mut answer =
            query.answer_from(explore(&spin_assumed, schedules, options, settings, budget));
        if model.is_some() && answer.outcomes_complete {
            let robust = Robust::by(RobustMethod::Stateless).run(task, settings, budget);
            answer.outcomes_complete = robust.verdict.is_verified();
        }
        answer
    }
}

/// Returns whether the robustness engine explores the same executions of a problem as this engine,
/// and answers.
fn is_same_problem(problem: &Problem) -> bool {
    problem.sometimes.is_empty() && !frees(problem)
}

/// Checks the properties of the SC executions and, if there is a model, robustness against it.
/// Returns the answer under SC and, if the executions decide robustness, too, these executions.
///
/// If an execution may be borderline, it takes long to confirm this. Then the executions are explored
/// again, without the monitor.
fn explore_once<'a>(
    query: &impl Fn(Option<Model>) -> Query<'a>,
    model: Option<Model>,
) -> (Answer, Option<ExplorationResult>) {
    let monitored = model.map(|model| query(Some(model)).explore_traces(u64::MAX, false));
    match monitored {
        Some(result) if !matches!(result.found, Some(Finding::Borderline(..))) => {
            (query(None).answer_from(result.without_monitor()), Some(result))
        }
        Some(_) | None => (query(None).traces(u64::MAX), None),
    }
}

/// Returns the model to check robustness against; `None` is SC. An error says why SC executions
/// cannot decide the task.
///
/// A run of the model and an SC run with the same happens-before relation take the same steps in
/// each thread. So when all stores are committed, both have the same control points and the same
/// memory. An invariant about control points alone does not depend on when the stores are
/// committed. An invariant about both does: a thread may arrive while its store is pending.
pub(crate) fn watched(task: Task<'_>) -> Result<Option<Model>, Unsupported> {
    // An `invoke` reads which operations of other threads have returned. That is not an access, and
    // it may differ under a weaker model.
    let sees = |op: &Op| matches!(op, Op::Invoke { seen } if !seen.is_empty());
    let mut code = task.problem.program.threads.iter().flat_map(|thread| &thread.code);
    let relates = task.problem.relates_control_points_to_memory();
    match task.model.kind {
        ModelKind::Sc => Ok(None),
        ModelKind::Tso | ModelKind::Pso if relates => Err(Unsupported::ControlPoints),
        // Under PSO, memory between two stores may be in a state that no SC run has. Only an
        // invariant about memory can observe that.
        ModelKind::Pso if task.problem.has_memory_invariant() => Err(Unsupported::Model),
        ModelKind::Tso | ModelKind::Pso if code.any(|stmt| sees(&stmt.op)) => {
            Err(Unsupported::Model)
        }
        ModelKind::Tso => Ok(Some(Model::Tso)),
        ModelKind::Pso => Ok(Some(Model::Pso)),
        ModelKind::Table(_) | ModelKind::Arm => Err(Unsupported::Model),
    }
}

/// Which executions are explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Schedules {
    /// One execution for each trace.
    Traces,
    /// All interleavings with at most this many preemptions.
    Preemptions(u32),
}

/// The counts of an exploration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExecutionCounts {
    /// Executions in which all threads halt.
    pub complete: u64,
    /// Executions in which some thread is blocked forever.
    pub stuck: u64,
    /// Redundant executions: abandoned because the rest is explored elsewhere.
    pub redundant: u64,
    /// Executions on which the monitor fires.
    pub borderline: u64,
    /// Steps of all executions. Common prefixes count once for each execution.
    pub steps: u64,
    /// The coverage of the exploration.
    pub coverage: Coverage,
}

/// Counts all executions, and those on which the monitor fires.
pub fn count_executions(
    problem: &Problem,
    schedules: Schedules,
    monitored: Option<Model>,
    settings: Settings,
    budget: Budget<'_>,
) -> ExecutionCounts {
    let spin_assumed = spin_assume(problem, false);
    let max_events = max_events(&spin_assumed, settings);
    let options = ExplorationOptions {
        monitored,
        confirms: true,
        stop_at: StopAt::End,
        max_events,
        check_properties: false,
        max_cut: u64::MAX,
    };
    let result = explore(&spin_assumed, schedules, options, settings, budget);
    ExecutionCounts {
        complete: result.counts.complete,
        stuck: result.counts.stuck,
        redundant: result.counts.redundant,
        borderline: result.borderline,
        steps: result.counts.events,
        coverage: coverage(&result),
    }
}

/// Returns the problem that is explored: spin loops are cut and, with a bound on iterations, other
/// loops are unrolled. None if it becomes too large.
pub(crate) fn explored_problem(
    problem: &Problem,
    outcomes: bool,
    settings: Settings,
) -> Option<SpinAssumed> {
    unrolled(spin_assume(problem, outcomes), settings)
}

/// Unrolls loops if there is a bound on iterations. None if the problem becomes too large.
pub(crate) fn unrolled(spin_assumed: SpinAssumed, settings: Settings) -> Option<SpinAssumed> {
    match settings.unwind {
        Some(iterations) => unwind(&spin_assumed, iterations),
        None => Some(spin_assumed),
    }
}

/// Returns the answer for a problem that is too large when it is unrolled.
pub(crate) fn too_large() -> Answer {
    undecided(Unsupported::TooManyIterations, Decider::Stateless)
}

/// Returns the limit on the events of an execution.
pub(crate) fn max_events(spin_assumed: &SpinAssumed, settings: Settings) -> usize {
    let max_events = if spin_assumed.has_loops() { MAX_EVENTS_WITH_LOOPS } else { MAX_EVENTS };
    max_events.min(settings.limits.depth as usize)
}

/// Returns the coverage of an exploration.
pub(crate) fn coverage(result: &ExplorationResult) -> Coverage {
    if let Some(stop) = result.stopped {
        Coverage::Cut(stop)
    } else if result.found.is_some() {
        Coverage::Found
    } else if result.counts.cut > 0 {
        Coverage::Cut(Stop::Depth)
    } else if result.counts.bounded || result.reaches_bound {
        Coverage::Bounded
    } else {
        Coverage::Exhaustive
    }
}

/// Explores a problem under SC.
pub(crate) fn explore(
    spin_assumed: &SpinAssumed,
    schedules: Schedules,
    options: ExplorationOptions,
    settings: Settings,
    budget: Budget<'_>,
) -> ExplorationResult {
    explore_from(spin_assumed, schedules, options, settings, budget, None).0
}

/// Explores a problem under SC, from the start or from a saved exploration. Also returns the
/// executions that remain.
pub(crate) fn explore_from(
    spin_assumed: &SpinAssumed,
    schedules: Schedules,
    options: ExplorationOptions,
    settings: Settings,
    budget: Budget<'_>,
    from: Option<SavedExploration>,
) -> (ExplorationResult, Vec<OpenTree>) {
    let cancel = budget.of_search();
    let budget = Budget { cancel: &cancel, ..budget };
    let limits = || WorkLimits::of_search(&cancel, settings.limits);
    let machine = sc_machine(&spin_assumed.problem, settings.reductions).within(limits());
    let original = sc_machine(&spin_assumed.original, settings.reductions).within(limits());
    let cells = Cells::new(&machine.shape);
    let start = |init: &[u32]| {
        let cancel = budget.cancel;
        MachineSystem::new(&machine, &original, spin_assumed, &cells, options, cancel, init)
    };
    // A cancelled check says nothing about the remaining executions.
    let saved = from
        .filter(|saved| are_valid_traces(start, &saved.traces) || cancel.reason().is_some())
        .map(|saved| Exploration::resumed(saved.counts, saved.traces));
    let mut result = ExplorationResult::default();
    let exploration = saved.unwrap_or_else(|| {
        let inits = inits(&machine, spin_assumed, &cells, options, &mut result);
        match schedules {
            Schedules::Traces => Exploration::traces(inits),
            Schedules::Preemptions(max_preemptions) => {
                Exploration::interleavings(inits, max_preemptions)
            }
        }
    });
    if result.found.is_some() && options.stop_at == StopAt::FirstFinding {
        return (result, exploration.traces);
    }
    let limits = fencepost_explore::Limits {
        workers: settings.threads,
        events: options.max_events,
        executions: settings.limits.states,
        cut: options.max_cut,
        cancelled: &|| budget.cancel.reason().is_some(),
        progress: &|runs| budget.progress.states.store(runs, Ordering::Relaxed),
        ..fencepost_explore::Limits::default()
    };
    let explored = fencepost_explore::explore(start, exploration, &limits);
    result.merge(explored.findings);
    result.counts = explored.counts;
    result.stopped = explored.stopped.map(|stopped| match stopped {
        StopReason::Cancelled => budget.cancel.reason().unwrap_or(Stop::Interrupted),
        StopReason::Executions => Stop::States,
        StopReason::Cut => Stop::Depth,
    });
    // Work that was cut counts as unexplored, also after the last execution.
    result.stopped = result.stopped.or(cancel.reason());
    (result, explored.traces)
}

/// Returns the choices of `init` after which an execution starts. Records a violation before the
/// first event.
pub(crate) fn inits(
    machine: &ScMachine<'_>,
    spin_assumed: &SpinAssumed,
    cells: &Cells,
    options: ExplorationOptions,
    result: &mut ExplorationResult,
) -> Vec<Vec<u32>> {
    let mut inits = Vec::new();
    let mut choices = Choices::default();
    loop {
        let mut path = Path::new(machine, spin_assumed, cells, None);
        choices.rewind();
        // This run determines the choices.
        let _ = machine.start(&mut machine.blank(), &mut choices, &mut ());
        let init = choices.script().to_vec();
        match path.start(&init) {
            Some(Ok(())) => inits.push(init),
            Some(Err(())) if options.check_properties => {
                let trace = Trace { init, steps: path.initial_steps.clone(), bound: None };
                result.found.get_or_insert(Finding::Violation(trace));
            }
            Some(Err(())) | None => {}
        }
        if !machine.next_combination(&mut choices) {
            return inits;
        }
    }
}
