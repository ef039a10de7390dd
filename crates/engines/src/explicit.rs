//! The explicit engine: exhaustive breadth-first search over packed states.
//!
//! Direction: exact. A program whose buffers stay finite is decided completely, with all its loops.
//! If buffers can grow without bound, the bound on pending accesses doubles until a limit is
//! reached. The verdict then names the bound up to which there is no violation.
//!
//! Traces are shortest. If a search with partial-order reduction finds a violation, a second search
//! without the reduction, no deeper than the first, looks for a shorter run.

use crate::engine::{Answer, Budget, Decider, Engine, Settings, Statistics, Task};
use crate::evidence::Evidence;
use crate::growing_variable::growing_variable;
use crate::path::{evidence, options, outcomes, trace, witnesses};
use crate::verdict::{Bound, Explored, Findings, InconclusiveReason, ReplayResult, judge};
use fencepost_models::machine::system::VIOLATION;
use fencepost_models::replay::{Trace, replay};
use fencepost_models::{Machine, MemoryModel, Reductions, Visitor};
use fencepost_search::{Coverage, Limits, explore};
use std::collections::BTreeSet;

/// The largest bound on pending accesses, whatever the settings say.
pub const LARGEST_BOUND: u32 = 1 << 12;

/// How many times the states of the first search a search for a shorter run may store.
const SHORTEN_STATES_FACTOR: u64 = 20;

/// The explicit engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Explicit;

impl Engine for Explicit {
    fn name(&self) -> &'static str {
        "explicit"
    }

    fn run(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        grow(task, settings, budget, Some(VIOLATION))
    }

    fn outcomes(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        grow(task, settings, budget, None)
    }
}

/// Searches with growing bounds until the result does not depend on the bound, or the largest bound
/// is reached.
fn grow(task: Task<'_>, settings: Settings, budget: Budget<'_>, stop_at: Option<u32>) -> Answer {
    let max_bound =
        settings.max_buffer.unwrap_or(task.model.default_max_bound()).clamp(1, LARGEST_BOUND);
    let mut bound = settings.fixed_buffer.unwrap_or(task.model.initial_bound().min(max_bound));
    let mut clean_up_to = None;
    let mut outcomes = BTreeSet::new();
    loop {
        let search = Search { task, settings, budget, stop_at };
        let mut answer = task.model.visit(bound, search);
        // A larger bound allows all outcomes of a smaller one, but a search cut short may miss
        // some.
        outcomes.append(&mut answer.outcomes);
        if let Some(InconclusiveReason::Bound { witness_missing, .. }) =
            answer.verdict.inconclusive_reason()
        {
            if !witness_missing {
                clean_up_to = Some(bound);
            }
            if bound < max_bound && settings.fixed_buffer.is_none() {
                bound = (bound * 2).min(max_bound);
                continue;
            }
        }
        answer.verdict = answer.verdict.clean_up_to(clean_up_to);
        if task.model.is_buffered() {
            answer.statistics.bound = Some(bound);
        }
        answer.outcomes = outcomes;
        return answer;
    }
}

/// One search with one bound.
struct Search<'a> {
    task: Task<'a>,
    settings: Settings,
    budget: Budget<'a>,
    stop_at: Option<u32>,
}

impl Visitor for Search<'_> {
    type Output = Answer;

    fn visit<M: MemoryModel>(self, model: M) -> Answer {
        let Search { task, settings, budget, stop_at } = self;
        let keeps_outcomes = stop_at.is_none() || model.speculation().is_none();
        let mut machine = Machine::new(task.problem, model, settings.reductions);
        if !keeps_outcomes {
            machine = machine.without_outcomes();
        }
        let found = explore(&machine, options(settings, budget, settings.limits, stop_at));
        let statistics = Statistics::from_search(&found);
        let violation = found.target(VIOLATION);
        let others = found.targets.iter().filter(|t| t.class == VIOLATION).skip(1);
        let others = others.take(settings.traces.saturating_sub(1));
        let others = others.map(|target| evidence(&machine, &found, *target)).collect();
        let violation = violation.map(|target| {
            let trace = trace(&machine, &found, target);
            let shortest = !settings.reductions.partial_order;
            let shorter = (!shortest && settings.shortest && stop_at.is_some())
                .then(|| find_shorter(task, settings, budget, &trace, found.states))
                .flatten();
            shorter.unwrap_or_else(|| {
                let run =
                    replay(&machine, &trace).expect("the machine must replay a path of the search");
                Evidence::from_run(run).expect("a violation must replay as one").shortest(shortest)
            })
        });
        let witnesses = match violation {
            None => witnesses(&machine, &found),
            Some(_) => Vec::new(),
        };
        let verdict = judge(Findings {
            fidelity: M::FIDELITY,
            explored: Explored::of(found.coverage, Bound::Buffers),
            violation: violation.map(ReplayResult::Confirmed),
            witnesses,
        });
        Answer {
            verdict,
            others,
            statistics,
            outcomes: outcomes(&found),
            outcomes_complete: keeps_outcomes && found.coverage == Coverage::Exhaustive,
            decider: Decider::Explicit,
            spurious_run: None,
            growing: growing_variable(&machine, &found),
        }
    }
}

/// Searches for a shortest run to a violation, no longer than the given trace. Returns the replayed
/// run if one is found. The search may store a multiple of `states`, the states of the first
/// search.
pub(crate) fn find_shorter(
    task: Task<'_>,
    settings: Settings,
    budget: Budget<'_>,
    trace: &Trace,
    states: u64,
) -> Option<Evidence> {
    let max_steps = trace.steps.len();
    let max_states = states.saturating_mul(SHORTEN_STATES_FACTOR).saturating_add(100_000);
    // A bound that does not restrict runs of at most this many steps, unless the user fixed one.
    let sufficient_bound = (max_steps as u32 + 1).max(trace.bound.unwrap_or(0)).min(LARGEST_BOUND);
    let bound = settings.fixed_buffer.unwrap_or(sufficient_bound);
    task.model.visit(bound, Shorten { task, settings, budget, max_steps, max_states })
}

/// A second search without partial-order reduction, no deeper than the first.
struct Shorten<'a> {
    task: Task<'a>,
    settings: Settings,
    budget: Budget<'a>,
    max_steps: usize,
    /// The limit on states.
    max_states: u64,
}

impl Visitor for Shorten<'_> {
    type Output = Option<Evidence>;

    fn visit<M: MemoryModel>(self, model: M) -> Option<Evidence> {
        let reductions = Reductions { partial_order: false, ..self.settings.reductions };
        let machine = Machine::new(self.task.problem, model, reductions);
        let limits = Limits {
            depth: self.max_steps as u32 + 1,
            states: self.settings.limits.states.min(self.max_states),
            ..self.settings.limits
        };
        let found = explore(&machine, options(self.settings, self.budget, limits, Some(VIOLATION)));
        let evidence = evidence(&machine, &found, found.target(VIOLATION)?);
        Some(evidence.shortest(!found.bounded))
    }
}
