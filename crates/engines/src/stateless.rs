//! Stateless exploration of sequentially consistent runs: no state is stored, runs are taken one after the
//! other.
//!
//! Under TSO and PSO a program that is right under SC, and [robust](crate::robust), is right; of one that is
//! not robust nothing is known here.
//!
//! Which runs are taken is up to [`fencepost_explore`]: one for each trace, or all interleavings with few preemptions. Here
//! is the system that it explores, which feeds the monitor of robustness and judges properties on the way. Loops that only
//! re-read are waits. Direction: exact; with a bound on preemptions or on the length of runs, what is not found may exist.
//!
//! - [`system`]: the machine as a system to explore; [`path`]: one run that grows and shrinks.
//! - [`footprint`]: what its steps touch; [`variants`]: what they could; [`watch`]: the monitor.
//! - [`saved`]: an exploration that can be resumed, as plain data.

pub(crate) mod footprint;
pub(crate) mod path;
pub mod saved;
pub(crate) mod system;
pub(crate) mod variants;
mod watch;

use crate::engine::{Answer, Budget, Decider, Engine, Settings, Task};
use crate::robust::{Asking, Robust, RobustBy, undecided};
use crate::sc::{ScMachine, sc_machine};
use crate::verdict::{InconclusiveReason, Unsupported, Verdict};
use fencepost_explore::{Exploration, Findings, Part, Stopped, fits};
use fencepost_ir::waits::{Waiting, without_waits};
use fencepost_ir::{Op, Problem, Property};
use fencepost_models::catalog::Kind;
use fencepost_models::machine::choice::Choices;
use fencepost_models::replay::Trace;
use fencepost_monitor::Model;
use fencepost_search::{Coverage, Stop};
use footprint::Cells;
use path::Path;
use saved::Saved;
use std::sync::atomic::Ordering;
use system::{Found, MachineSystem, Plan, Tally, Until};

/// Events in a run, at most, unless the settings say less.
const LONGEST: usize = 2_000;
/// The same where a thread can go round for ever.
const LONGEST_ROUND: usize = 120;

/// The engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stateless {
    /// Take all interleavings with at most so many preemptions, instead of one run for each trace.
    pub preemptions: Option<u32>,
}

impl Engine for Stateless {
    fn name(&self) -> &'static str {
        "stateless"
    }

    fn run(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        let Some(model) = watched(task) else {
            return undecided(Unsupported::Model, Decider::Stateless);
        };
        let waiting = without_waits(task.problem, false);
        let ask = |model| {
            let asking = Asking { task, waiting: &waiting, model, settings, budget };
            match self.preemptions {
                Some(most) => asking.preemptions(Some(most)),
                None => asking.traces(u64::MAX),
            }
        };
        let mut answer = ask(None);
        let carries_over = match &answer.verdict {
            Verdict::Verified(_) => false,
            // Runs that SC does not have may show it.
            Verdict::Violated(violated) => violated.evidence().run().is_some(),
            Verdict::Inconclusive(_) => true,
        };
        if model.is_none() || carries_over {
            return answer;
        }
        let robust = Robust { by: RobustBy::Stateless }.run(task, settings, budget);
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
        let Some(model) = watched(task) else {
            return undecided(Unsupported::Model, Decider::Stateless);
        };
        let waiting = without_waits(task.problem, true);
        let asking = Asking { task, waiting: &waiting, model: None, settings, budget };
        let plan = Plan {
            watch: None,
            until: Until::End,
            longest: longest(&waiting, settings),
            judge: true,
            cuts: u64::MAX,
        };
        let schedules = self.preemptions.map_or(Schedules::Traces, Schedules::Preemptions);
        let mut answer = asking.told(explore(&waiting, schedules, plan, settings, budget));
        if model.is_some() && answer.outcomes_complete {
            let robust = Robust { by: RobustBy::Stateless }.run(task, settings, budget);
            answer.outcomes_complete = robust.verdict.is_verified();
        }
        answer
    }
}

/// The model to be robust against, none for SC; none at all if SC runs say nothing about the question.
fn watched(task: Task<'_>) -> Option<Option<Model>> {
    // What an operation sees of others when it begins is no access, and not the same under a weaker model.
    let sees = |op: &Op| matches!(op, Op::Invoke { seen } if !seen.is_empty());
    let mut code = task.problem.program.threads.iter().flat_map(|thread| &thread.code);
    // Under PSO memory may be in a state between two stores that no run under SC passes, and nobody can tell but
    // an invariant.
    let invariant = |property: &Property| matches!(property, Property::Invariant(_));
    match task.model.kind {
        Kind::Sc => Some(None),
        Kind::Pso if task.problem.properties.iter().any(invariant) => None,
        Kind::Tso | Kind::Pso if code.any(|stmt| sees(&stmt.op)) => None,
        Kind::Tso => Some(Some(Model::Tso)),
        Kind::Pso => Some(Some(Model::Pso)),
        Kind::Table(_) => None,
    }
}

/// Which runs are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Schedules {
    /// One for each trace.
    Traces,
    /// All interleavings with at most so many preemptions.
    Preemptions(u32),
}

/// What an exploration has counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Census {
    /// Runs in which all threads halted.
    pub complete: u64,
    /// Runs in which some thread waits for ever.
    pub stuck: u64,
    /// Runs that were given up because all that was left was explored elsewhere.
    pub redundant: u64,
    /// Runs on which the monitor fired.
    pub borderline: u64,
    /// Steps of all runs, those they have in common counted again.
    pub steps: u64,
    /// How much was seen.
    pub coverage: Coverage,
}

/// Counts all runs, and those on which the monitor fires.
pub fn census(
    problem: &Problem,
    schedules: Schedules,
    watch: Option<Model>,
    settings: Settings,
    budget: Budget<'_>,
) -> Census {
    let waiting = without_waits(problem, false);
    let longest = longest(&waiting, settings);
    let plan = Plan { watch, until: Until::End, longest, judge: false, cuts: u64::MAX };
    let tally = explore(&waiting, schedules, plan, settings, budget);
    Census {
        complete: tally.counts.complete,
        stuck: tally.counts.stuck,
        redundant: tally.counts.redundant,
        borderline: tally.borderline,
        steps: tally.counts.events,
        coverage: coverage(&tally),
    }
}

/// How long a run may become.
pub(crate) fn longest(waiting: &Waiting, settings: Settings) -> usize {
    let longest = if waiting.has_loops() { LONGEST_ROUND } else { LONGEST };
    longest.min(settings.limits.depth as usize)
}

/// How much an exploration has seen.
pub(crate) fn coverage(tally: &Tally) -> Coverage {
    if let Some(stop) = tally.stopped {
        Coverage::Cut(stop)
    } else if tally.found.is_some() {
        Coverage::Found
    } else if tally.counts.cut > 0 {
        Coverage::Cut(Stop::Depth)
    } else if tally.counts.bounded {
        Coverage::Bounded
    } else {
        Coverage::Exhaustive
    }
}

/// Explores a problem under SC.
pub(crate) fn explore(
    waiting: &Waiting,
    schedules: Schedules,
    plan: Plan,
    settings: Settings,
    budget: Budget<'_>,
) -> Tally {
    explore_from(waiting, schedules, plan, settings, budget, None).0
}

/// Explores a problem under SC, from the beginning or from where someone stopped; with what is left then.
pub(crate) fn explore_from(
    waiting: &Waiting,
    schedules: Schedules,
    plan: Plan,
    settings: Settings,
    budget: Budget<'_>,
    from: Option<Saved>,
) -> (Tally, Vec<Part>) {
    let machine = sc_machine(&waiting.problem, settings.reductions);
    let cells = Cells::new(&machine.shape);
    let start =
        |init: &[u32]| MachineSystem::new(&machine, waiting, &cells, plan, budget.cancel, init);
    let saved = from.map(Saved::into_exploration).filter(|saved| fits(start, &saved.parts));
    let mut tally = Tally::default();
    let exploration = saved.unwrap_or_else(|| {
        let inits = inits(&machine, waiting, &cells, plan, &mut tally);
        match schedules {
            Schedules::Traces => Exploration::traces(inits),
            Schedules::Preemptions(most) => Exploration::interleavings(inits, most),
        }
    });
    if tally.found.is_some() && plan.until == Until::Found {
        return (tally, exploration.parts);
    }
    let limits = fencepost_explore::Limits {
        workers: settings.threads,
        events: plan.longest,
        executions: settings.limits.states,
        cut: plan.cuts,
        cancelled: &|| budget.cancel.raised().is_some(),
        progress: &|runs| budget.progress.states.store(runs, Ordering::Relaxed),
    };
    let explored = fencepost_explore::explore(start, exploration, &limits);
    tally.merge(explored.findings);
    tally.counts = explored.counts;
    tally.stopped = explored.stopped.map(|stopped| match stopped {
        Stopped::Cancelled => budget.cancel.raised().unwrap_or(Stop::Interrupted),
        Stopped::Executions => Stop::States,
        Stopped::Cut => Stop::Depth,
    });
    (tally, explored.parts)
}

/// The choices of `init` after which something can happen. Notes what goes wrong before the first event.
fn inits(
    machine: &ScMachine<'_>,
    waiting: &Waiting,
    cells: &Cells,
    plan: Plan,
    tally: &mut Tally,
) -> Vec<Vec<u32>> {
    let mut inits = Vec::new();
    let mut choices = Choices::default();
    loop {
        let mut path = Path::new(machine, waiting, cells, None);
        choices.rewind();
        // Which way the choices go is known after a first try.
        let _ = machine.start(&mut machine.blank(), &mut choices, &mut ());
        let init = choices.script().to_vec();
        match path.start(&init) {
            Some(Ok(())) => inits.push(init),
            Some(Err(())) if plan.judge => {
                let trace = Trace { init, steps: path.opening.clone(), bound: None };
                tally.found.get_or_insert(Found::Trouble(trace));
            }
            Some(Err(())) | None => {}
        }
        if !choices.advance() {
            return inits;
        }
    }
}
