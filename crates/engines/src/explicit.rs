//! The explicit engine: exhaustive breadth-first search over packed states.
//!
//! Direction: exact. A program whose buffers stay finite is decided completely, loops and all. Where they
//! can grow for ever, the bound on pending accesses doubles until a limit is met, and the verdict says up
//! to which bound there is no violation.
//!
//! Traces are shortest: when a search with partial-order reduction finds a violation, a second one
//! without it, no deeper than the first, looks for a shorter run.

use crate::engine::{Answer, Budget, Engine, Settings, Statistics, Task};
use crate::verdict::{Evidence, Inconclusive, Judgement, Verdict, Violation, Why, judge};
use fencepost_ir::{Property, Quantifier, Value};
use fencepost_models::machine::choice::Choices;
use fencepost_models::machine::system::{INITIAL, ITSELF, VIOLATION, WITNESS};
use fencepost_models::replay::{End, Trace, replay};
use fencepost_models::{Machine, MemoryModel, Reductions, Taken, Visitor, Wrong};
use fencepost_search::{Coverage, Exploration, Limits, Options, Target, explore};
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
        let search = Search { task, settings, budget, stop_at, bound };
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
    bound: u32,
}

impl Visitor for Search<'_> {
    type Output = Answer;

    fn visit<M: MemoryModel>(self, model: M) -> Answer {
        let Search { task, settings, budget, stop_at, .. } = self;
        let machine = Machine::new(task.problem, model, settings.reductions);
        let found = self.explore(&machine, settings.limits);
        let statistics = Statistics {
            states: found.states,
            transitions: found.transitions,
            depth: found.depth,
            bytes: found.bytes,
            bound: None,
        };
        let violation = found.target(VIOLATION);
        let others = found.targets.iter().filter(|t| t.class == VIOLATION).skip(1);
        let others = others.take(settings.traces.saturating_sub(1));
        let others = others.map(|target| evidence(&machine, &found, *target)).collect();
        let verdict = match judge(M::FIDELITY, found.coverage, violation.is_some(), false) {
            Judgement::Violated => {
                let target = violation.expect("judged by it");
                let mut evidence = evidence(&machine, &found, target);
                evidence.shortest = !settings.reductions.partial_order;
                let longest = evidence.trace.as_ref().map_or(0, |t| t.steps.len());
                if !evidence.shortest && settings.shortest && stop_at.is_some() {
                    let patience = found.states.saturating_mul(PATIENCE).saturating_add(100_000);
                    let finder = Shorten { task, settings, budget, longest, patience };
                    evidence = task.model.visit(self.roomy(longest), finder).unwrap_or(evidence);
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
        let outcomes: BTreeSet<Vec<Value>> = found.facts.iter().map(|f| values(f)).collect();
        Answer {
            verdict,
            others,
            statistics,
            outcomes,
            outcomes_complete: found.coverage == Coverage::Exhaustive,
        }
    }
}

impl Search<'_> {
    fn explore<M: MemoryModel>(&self, machine: &Machine<'_, M>, limits: Limits) -> Exploration {
        explore(machine, options(self.settings, self.budget, limits, self.stop_at))
    }

    /// A bound that does not get in the way of runs of at most this many steps, unless the user fixed one.
    fn roomy(&self, steps: usize) -> u32 {
        let roomy = self.bound.max(steps as u32 + 1).min(LARGEST_BOUND);
        self.settings.fixed_buffer.unwrap_or(roomy)
    }
}

fn options(
    settings: Settings,
    budget: Budget<'_>,
    limits: Limits,
    stop_at: Option<u32>,
) -> Options<'_> {
    let Budget { cancel, progress } = budget;
    Options { limits, cancel, progress, threads: settings.threads, stop_at }
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

/// An outcome as the machine packs it into a fact.
fn values(fact: &[u8]) -> Vec<Value> {
    let (chunks, _) = fact.as_chunks::<4>();
    chunks.iter().map(|four| Value::from_le_bytes(*four)).collect()
}

/// Where the `final exists` properties are among the properties, with the classes of their witnesses.
fn exists<M: MemoryModel>(machine: &Machine<'_, M>) -> impl Iterator<Item = (usize, u32)> {
    (machine.shape.problem.properties.iter().enumerate())
        .filter(|(_, p)| matches!(p, Property::Final(Quantifier::Exists, _)))
        .map(|(at, _)| at)
        .zip(WITNESS..)
}

/// The first `final exists` that no state found satisfies.
fn missing_witness<M: MemoryModel>(machine: &Machine<'_, M>, found: &Exploration) -> Option<usize> {
    exists(machine).find(|(_, class)| found.target(*class).is_none()).map(|(at, _)| at)
}

/// With nothing violated and everything seen: whether every `final exists` has its witness.
fn witnesses<M: MemoryModel>(machine: &Machine<'_, M>, found: &Exploration) -> Verdict {
    if let Some(at) = missing_witness(machine, found) {
        let violation = Violation::NoWitness(at);
        return Verdict::Violated(Evidence { violation, trace: None, shortest: true });
    }
    let first = exists(machine).next().and_then(|(at, class)| Some((at, found.target(class)?)));
    Verdict::Verified(first.map(|(at, target)| Evidence {
        violation: Violation::Witness(at),
        shortest: !machine.reductions.partial_order,
        ..evidence(machine, found, target)
    }))
}

/// Turns a target of a search into a trace, and replays it.
///
/// # Panics
/// When the trace does not replay to a violation: the search and the machine disagree, and no verdict
/// could be trusted.
fn evidence<M: MemoryModel>(
    machine: &Machine<'_, M>,
    found: &Exploration,
    target: Target,
) -> Evidence {
    let trace = trace(machine, found, target);
    let run = replay(machine, &trace).expect("what the search found replays");
    let violation = match run.end {
        End::Stumbled(thread, stumble) => match stumble.fault {
            Some(fault) => Violation::Fault(fault, thread, stumble.label),
            None => Violation::Assertion(thread, stumble.label),
        },
        End::Wrong(Wrong::MutualExclusion(a, b)) => Violation::MutualExclusion(a, b),
        End::Wrong(Wrong::Invariant(at)) => Violation::Invariant(at),
        End::Wrong(Wrong::Final(at)) => Violation::Final(at),
        End::Wrong(Wrong::Operations(at)) => Violation::Operations(at),
        End::Wrong(Wrong::Deadlock) => Violation::Deadlock,
        End::Fine => {
            assert!(target.class >= WITNESS, "a violation replays as one");
            Violation::Witness(0)
        }
    };
    Evidence { violation, trace: Some(trace), shortest: false }
}

/// The steps between the states of a path, found by taking every step of each.
fn trace<M: MemoryModel>(machine: &Machine<'_, M>, found: &Exploration, target: Target) -> Trace {
    let path = if target.detail == INITIAL { Vec::new() } else { found.path(target.state) };
    let mut writer = fencepost_models::bits::Writer::default();
    let mut trace = Trace { bound: machine.model.bound(), ..Trace::default() };
    let mut state = machine.blank();
    let mut choices = Choices::default();
    loop {
        let started = machine.start(&mut state, &mut choices, &mut ());
        let right = match path.first() {
            None => started.is_err() || (started == Ok(true) && machine.wrong(&state).is_some()),
            Some(first) => started == Ok(true) && machine.encode(&state, &mut writer) == *first,
        };
        if right {
            trace.init = choices.script().to_vec();
            break;
        }
        assert!(choices.advance(), "a path begins at an initial state");
    }
    for next in path.iter().skip(1) {
        let right = machine.steps(&state).into_iter().find(|attempt| {
            attempt.taken == Ok(Taken::Yes) && machine.encode(&attempt.after, &mut writer) == *next
        });
        let right = right.expect("neighbours on a path are a step apart");
        trace.steps.push(right.step);
        state = right.after;
    }
    if target.detail != INITIAL && target.detail != ITSELF {
        trace.steps.push(machine.steps(&state).swap_remove(target.detail as usize).step);
    }
    trace
}
