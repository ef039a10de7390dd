//! Data races of C programs: conflicting accesses that synchronisation does not order.
//!
//! The executions are those under SC, one for each trace, from the
//! [stateless exploration](crate::stateless). C11's happens-before is a part of the order of
//! conflicting steps, so all executions of a trace have the same races.
//!
//! Direction: under-approximation. Races of executions that SC does not have are not found. A race
//! that is reported is one of the mapped program.
//!
//! - [`clocks`]: the happens-before order.
//! - [`detector`]: the first race of an execution.
//! - [`system`]: the system that is explored.

mod clocks;
mod detector;
mod system;

use crate::engine::{Budget, Settings, Task};
use crate::evidence::Evidence;
use crate::robust::non_sc_run::lift_sc_trace;
use crate::sc::sc_machine;
use crate::stateless::footprint::Cells;
use crate::stateless::system::{ExplorationOptions, ExplorationResult, MachineSystem, StopAt};
use crate::stateless::{inits, max_events};
use crate::verdict::{Explored, Findings, InconclusiveReason, ReplayResult, Verdict, judge};
use detector::Detector;
use fencepost_explore::{Exploration, StopReason};
use fencepost_ir::spin_loops::spin_assume;
use fencepost_ir::{DataRace, Problem};
use fencepost_models::replay::{ReplayedRun, Trace};
use fencepost_models::shape::Shape;
use fencepost_models::{Fidelity, ModelSpec};
use fencepost_search::{Stop, WorkLimits};
use std::sync::atomic::Ordering;
use system::RaceSystem;

/// The default limit on executions.
pub const MAX_EXECUTIONS: u64 = 20_000;

/// A race, with a run under SC that ends with its second access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// The race.
    pub race: DataRace,
    /// The run.
    pub trace: Trace,
}

/// The result of a search for data races.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RaceSearch {
    /// The first race.
    pub found: Option<Found>,
    /// The number of explored executions.
    pub executions: u64,
    /// Why executions, or parts of them, were not explored, although no race was found.
    pub stopped: Option<Stop>,
}

/// Searches for a data race. Returns none if the program has no plain access.
pub fn find_data_race(
    problem: &Problem,
    max_executions: u64,
    settings: Settings,
    budget: Budget<'_>,
) -> Option<RaceSearch> {
    if problem.program.plain.is_empty() {
        return None;
    }
    let problem = problem.safety();
    let spin_assumed = spin_assume(&problem, false);
    let cancel = budget.of_search();
    let limits = || WorkLimits::of_search(&cancel, settings.limits);
    let machine = sc_machine(&spin_assumed.problem, settings.reductions).within(limits());
    if !may_race(&machine.shape) {
        return Some(RaceSearch { found: None, executions: 0, stopped: None });
    }
    let original = sc_machine(&spin_assumed.original, settings.reductions).within(limits());
    let cells = Cells::new(&machine.shape);
    let options = ExplorationOptions {
        monitored: None,
        confirms: true,
        stop_at: StopAt::FirstFinding,
        max_events: max_events(&spin_assumed, settings),
        check_properties: false,
        max_cut: u64::MAX,
    };
    let start = |init: &[u32]| {
        let inner =
            MachineSystem::new(&machine, &original, &spin_assumed, &cells, options, &cancel, init);
        inner.map(|inner| RaceSystem::new(inner, &cancel))
    };
    let mut ignored = ExplorationResult::default();
    let exploration =
        Exploration::traces(inits(&machine, &spin_assumed, &cells, options, &mut ignored));
    let limits = fencepost_explore::Limits {
        workers: settings.threads,
        events: options.max_events,
        executions: settings.limits.states.min(max_executions),
        cut: options.max_cut,
        cancelled: &|| cancel.reason().is_some(),
        progress: &|runs| budget.progress.states.store(runs, Ordering::Relaxed),
        ..fencepost_explore::Limits::default()
    };
    let explored = fencepost_explore::explore(start, exploration, &limits);
    let cancelled = || cancel.reason().unwrap_or(Stop::Interrupted);
    let stopped = match explored.stopped {
        Some(StopReason::Cancelled) => Some(cancelled()),
        Some(StopReason::Executions) => Some(Stop::States),
        Some(StopReason::Cut) => Some(Stop::Depth),
        None => cancel.reason().or((explored.counts.cut > 0).then_some(Stop::Depth)),
    };
    let found = explored.findings.0;
    Some(RaceSearch {
        stopped: stopped.filter(|_| found.is_none()),
        found,
        executions: explored.counts.executions(),
    })
}

/// Returns whether some plain access may conflict with an access of another thread.
fn may_race(shape: &Shape<'_>) -> bool {
    let program = shape.program();
    program.thread_ids().any(|t| {
        let others = !(1 << t.index());
        let code = program.thread(t).code.iter().zip(&shape.thread(t).footprints);
        code.filter(|(stmt, _)| program.plain.contains(&stmt.label)).any(|(stmt, locations)| {
            let writes = stmt.op.access().is_some_and(|access| access.stores);
            locations.iter().any(|loc| {
                let (readers, writers) = (shape.readers[loc.index()], shape.writers[loc.index()]);
                (if writes { readers | writers } else { writers }) & others != 0
            })
        })
    })
}

/// Returns the first data race of a run. The order of its accesses must be sequentially consistent.
pub fn race_of_run(problem: &Problem, run: &ReplayedRun) -> Option<DataRace> {
    let mut detector = Detector::new(&problem.program);
    let steps = run.steps.iter().flat_map(|step| &step.events);
    for annotated in run.first.events.iter().chain(steps) {
        detector.add(&annotated.event);
    }
    detector.end_block();
    detector.race()
}

impl RaceSearch {
    /// Returns the verdict of a task if a data race is a violation. A violation of another property
    /// remains.
    ///
    /// # Panics
    /// Panics if the run of the race does not replay.
    pub fn judge(&self, task: Task<'_>, settings: Settings, verdict: Verdict) -> Verdict {
        if matches!(verdict, Verdict::Violated(_)) {
            return verdict;
        }
        let Some(found) = &self.found else {
            return match self.stopped {
                Some(stop) => verdict.weakened(InconclusiveReason::Limit(stop)),
                None => verdict,
            };
        };
        let Task { problem, model } = task;
        let reductions = settings.reductions;
        let run = ModelSpec::SC.replay(problem, reductions, &found.trace);
        let run = run.expect("the machine must replay an execution of an exploration");
        assert_eq!(race_of_run(problem, &run), Some(found.race), "the replayed run has the race");
        let trace = lift_sc_trace(problem, model, reductions, &found.trace);
        let run = model.replay(problem, reductions, &trace);
        let run = run.expect("a model must have all runs of SC");
        judge(Findings {
            fidelity: Fidelity::Exact,
            explored: Explored::UntilViolation,
            violation: Some(ReplayResult::Confirmed(Evidence::data_race(run, found.race))),
            witnesses: Vec::new(),
            gap: None,
        })
    }
}
