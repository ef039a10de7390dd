//! The explicit engine: exhaustive breadth-first search over packed states.
//!
//! Direction: exact. A program whose buffers stay finite is decided completely, loops and all. Where they
//! can grow for ever, the bound on pending accesses doubles until a limit is met, and the verdict says up
//! to which bound there is no violation.
//!
//! Traces are shortest: when a search with partial-order reduction finds a violation, a second one
//! without it, no deeper than the first, looks for a shorter run.

use crate::engine::{Answer, Budget, Decider, Engine, Settings, Statistics, Task};
use crate::evidence::Evidence;
use crate::growing::growing;
use crate::path::{evidence, options, outcomes, trace, witnesses};
use crate::verdict::{Bound, Explored, Findings, InconclusiveReason, Met, judge};
use fencepost_models::machine::system::VIOLATION;
use fencepost_models::replay::{Trace, replay};
use fencepost_models::{Machine, MemoryModel, Reductions, Visitor};
use fencepost_search::{Coverage, Limits, explore};
use std::collections::BTreeSet;

/// Above this no bound is tried, whatever the settings say.
pub const LARGEST_BOUND: u32 = 1 << 12;

/// How many times the states of the first search a search for a shorter run may take.
const PATIENCE: u64 = 20;

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

/// Searches with larger and larger bounds until there is an answer.
fn grow(task: Task<'_>, settings: Settings, budget: Budget<'_>, stop_at: Option<u32>) -> Answer {
    let most = settings.max_buffer.unwrap_or(task.model.last_bound()).clamp(1, LARGEST_BOUND);
    let mut bound = settings.fixed_buffer.unwrap_or(task.model.first_bound().min(most));
    let mut clean_up_to = None;
    let mut outcomes = BTreeSet::new();
    loop {
        let search = Search { task, settings, budget, stop_at };
        let mut answer = task.model.visit(bound, search);
        // What a smaller bound allows, a larger one does; a search that is cut short may not show it.
        outcomes.append(&mut answer.outcomes);
        if let Some(InconclusiveReason::Bound { witness_missing, .. }) =
            answer.verdict.inconclusive_reason()
        {
            if !witness_missing {
                clean_up_to = Some(bound);
            }
            if bound < most && settings.fixed_buffer.is_none() {
                bound = (bound * 2).min(most);
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
        let machine = Machine::new(task.problem, model, settings.reductions);
        let found = explore(&machine, options(settings, budget, settings.limits, stop_at));
        let statistics = Statistics::of(&found);
        let violation = found.target(VIOLATION);
        let others = found.targets.iter().filter(|t| t.class == VIOLATION).skip(1);
        let others = others.take(settings.traces.saturating_sub(1));
        let others = others.map(|target| evidence(&machine, &found, *target)).collect();
        let violation = violation.map(|target| {
            let trace = trace(&machine, &found, target);
            let shortest = !settings.reductions.partial_order;
            let shorter = (!shortest && settings.shortest && stop_at.is_some())
                .then(|| shorter(task, settings, budget, &trace, found.states))
                .flatten();
            shorter.unwrap_or_else(|| {
                let run = replay(&machine, &trace).expect("what the search found replays");
                Evidence::of(run).expect("a violation replays as one").shortest(shortest)
            })
        });
        let witnesses = match violation {
            None => witnesses(&machine, &found),
            Some(_) => Vec::new(),
        };
        let verdict = judge(Findings {
            fidelity: M::FIDELITY,
            explored: Explored::of(found.coverage, Bound::Buffers),
            violation: violation.map(Met::Replayed),
            witnesses,
        });
        Answer {
            verdict,
            others,
            statistics,
            outcomes: outcomes(&found),
            outcomes_complete: found.coverage == Coverage::Exhaustive,
            by: Decider::Explicit,
            suspect: None,
            growing: growing(&machine, &found),
        }
    }
}

/// A shortest run to a violation, replayed, if one is found that is not longer than a given one. The search for it
/// may take some times the states that the violation took.
pub(crate) fn shorter(
    task: Task<'_>,
    settings: Settings,
    budget: Budget<'_>,
    trace: &Trace,
    states: u64,
) -> Option<Evidence> {
    let longest = trace.steps.len();
    let patience = states.saturating_mul(PATIENCE).saturating_add(100_000);
    // A bound that does not get in the way of runs of at most this many steps, unless the user fixed one.
    let roomy = (longest as u32 + 1).max(trace.bound.unwrap_or(0)).min(LARGEST_BOUND);
    let bound = settings.fixed_buffer.unwrap_or(roomy);
    task.model.visit(bound, Shorten { task, settings, budget, longest, patience })
}

/// A second search, without partial-order reduction and no deeper than the first.
struct Shorten<'a> {
    task: Task<'a>,
    settings: Settings,
    budget: Budget<'a>,
    longest: usize,
    /// How many states it is worth.
    patience: u64,
}

impl Visitor for Shorten<'_> {
    type Output = Option<Evidence>;

    fn visit<M: MemoryModel>(self, model: M) -> Option<Evidence> {
        let reductions = Reductions { partial_order: false, ..self.settings.reductions };
        let machine = Machine::new(self.task.problem, model, reductions);
        let limits = Limits {
            depth: self.longest as u32 + 1,
            states: self.settings.limits.states.min(self.patience),
            ..self.settings.limits
        };
        let found = explore(&machine, options(self.settings, self.budget, limits, Some(VIOLATION)));
        let evidence = evidence(&machine, &found, found.target(VIOLATION)?);
        Some(evidence.shortest(!found.bounded))
    }
}
