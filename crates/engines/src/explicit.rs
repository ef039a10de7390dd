//! The explicit engine: exhaustive breadth-first search over packed states.
//!
//! Direction: exact. A program whose buffers stay finite is decided completely, loops and all. Where they
//! can grow for ever, the bound on pending accesses doubles until a limit is met, and the verdict says up
//! to which bound there is no violation.
//!
//! Traces are shortest: when a search with partial-order reduction finds a violation, a second one
//! without it, no deeper than the first, looks for a shorter run.

use crate::engine::{Answer, Budget, Decider, Engine, Settings, Statistics, Task};
use crate::evidence::{evidence, exists, missing_witness, options, outcomes};
use crate::growing::growing;
use crate::verdict::{Evidence, Inconclusive, Judgement, Verdict, Violation, Why, judge};
use fencepost_models::machine::system::VIOLATION;
use fencepost_models::{Machine, MemoryModel, Reductions, Visitor};
use fencepost_search::{Coverage, Exploration, Limits, explore};
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
        if let Verdict::Inconclusive(reason) = &mut answer.verdict {
            let bounded = matches!(reason.why, Why::Buffers | Why::NoWitness);
            if reason.why == Why::Buffers {
                clean_up_to = Some(bound);
            }
            if bounded && bound < most && settings.fixed_buffer.is_none() {
                bound = (bound * 2).min(most);
                continue;
            }
            reason.clean_up_to = clean_up_to;
        }
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
        let verdict = match judge(M::FIDELITY, found.coverage, violation.is_some(), false) {
            Judgement::Violated => {
                let target = violation.expect("judged by it");
                let mut evidence = evidence(&machine, &found, target);
                evidence.shortest = !settings.reductions.partial_order;
                if !evidence.shortest && settings.shortest && stop_at.is_some() {
                    let shorter = shorter(task, settings, budget, &evidence, found.states);
                    evidence = shorter.unwrap_or(evidence);
                }
                Verdict::Violated(evidence)
            }
            Judgement::Inconclusive(why) => {
                // Without a violation, but not without a question: a larger bound may show a witness.
                let asks = why == Why::Buffers && missing_witness(&machine, &found).is_some();
                let why = if asks { Why::NoWitness } else { why };
                Verdict::Inconclusive(Inconclusive { why, clean_up_to: None })
            }
            Judgement::Verified => witnesses(&machine, &found),
        };
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

/// A shortest run to a violation, if one is found that is not longer than a given one. The search for it
/// may take some times the states that the violation took.
pub(crate) fn shorter(
    task: Task<'_>,
    settings: Settings,
    budget: Budget<'_>,
    evidence: &Evidence,
    states: u64,
) -> Option<Evidence> {
    let trace = evidence.trace.as_ref()?;
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
        let mut evidence = evidence(&machine, &found, found.target(VIOLATION)?);
        evidence.shortest = !found.bounded;
        Some(evidence)
    }
}

/// With nothing violated and everything seen: whether every `final exists` has its witness.
fn witnesses<M: MemoryModel>(machine: &Machine<'_, M>, found: &Exploration) -> Verdict {
    if let Some(at) = missing_witness(machine, found) {
        return Verdict::Violated(Evidence::no_witness(at));
    }
    let first = exists(machine).next().and_then(|(at, class)| Some((at, found.target(class)?)));
    Verdict::Verified(first.map(|(at, target)| Evidence {
        violation: Violation::Witness(at),
        shortest: !machine.reductions.partial_order,
        ..evidence(machine, found, target)
    }))
}
