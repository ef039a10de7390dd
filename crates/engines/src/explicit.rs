//! The explicit engine: exhaustive breadth-first search over packed states.
//!
//! Direction: exact. A program whose buffers stay finite is decided completely, with all its loops.
//! If the control flow bounds the pending stores ([`pending_stores`]), one search with this bound
//! decides the program. Otherwise the bound on pending accesses doubles until it restricts nothing
//! or a limit is reached. The search with the larger bound continues where the smaller one cut it.
//! If the limit is reached, the verdict names the bound up to which there is no violation.
//!
//! If threads are interchangeable, the search stores one state for each order of them
//! ([`fencepost_models::symmetry`]). A search for outcomes does not: it would lose outcomes.
//!
//! Traces are shortest. If a search with partial-order reduction finds a violation, a second search
//! without the reduction, no deeper than the first, looks for a shorter run.

use crate::engine::{
    Answer, Budget, Decider, Engine, Settings, Statistics, Task, refuse_exclusive_pairs,
};
use crate::evidence::Evidence;
use crate::growing_variable::growing_variable;
use crate::livelock::{find_livelock, supports_progress};
use crate::outcome_runs::{OutcomeRuns, Watched};
use crate::path::{System, evidence, gap_of, options, outcomes, witnesses};
use crate::verdict::{
    Bound, Explored, Findings, Inconclusive, InconclusiveReason, ReplayResult, Unsupported,
    Verdict, judge,
};
use fencepost_ir::symmetry::Symmetry;
use fencepost_ir::{grace_period, pending_stores};
use fencepost_models::machine::collapsed::{Collapsed, PartDictionary};
use fencepost_models::machine::system::VIOLATION;
use fencepost_models::replay::{Trace, replay};
use fencepost_models::symmetry::Symmetric;
use fencepost_models::{Machine, MemoryModel, Reductions, Visitor};
use fencepost_search::{Coverage, Exploration, Limits, Options, Stop, WorkLimits, explore, resume};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The largest bound on pending accesses, whatever the settings say.
pub const LARGEST_BOUND: u32 = 1 << 12;

/// How many times the states of the first search a search for a shorter run may store.
const SHORTEN_STATES_FACTOR: u64 = 20;

/// The least number of orders of interchangeable threads with which a search stores representatives.
/// Representatives take time, which two threads do not make up for.
const MIN_ORDERS: usize = 6;

/// The explicit engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Explicit;

impl Engine for Explicit {
    fn name(&self) -> &'static str {
        "explicit"
    }

    fn run(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        grow(task, settings, budget, Some(VIOLATION), &|_, _| None, None).0
    }

    fn searches_few_threads(&self) -> bool {
        true
    }

    fn outcomes(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        grow(task, settings, budget, None, &|_, _| None, None).0
    }
}

/// Runs the explicit engine. Whenever a bound restricts the search, and there is no violation within
/// the bound, `prove` may answer instead. It gets the bound and the number of states.
pub(crate) fn run_with_proofs(
    task: Task<'_>,
    settings: Settings,
    budget: Budget<'_>,
    prove: &dyn Fn(u32, u64) -> Option<Answer>,
) -> Answer {
    grow(task, settings, budget, Some(VIOLATION), prove, None).0
}

/// A search of the exact model that ended at its limit on states or at its largest bound.
#[derive(Debug)]
pub(crate) struct Paused {
    found: Exploration,
    /// The dictionary of its states, if they are collapsed.
    dictionary: Option<Arc<PartDictionary>>,
    /// The bound on pending accesses of this search.
    bound: u32,
    /// The largest bound of a complete search.
    clean_up_to: Option<u32>,
}

impl Paused {
    /// Returns the memory that the search holds.
    pub(crate) fn bytes(&self) -> u64 {
        self.found.bytes
    }

    /// Returns whether no run so far has needed more pending accesses than the bound.
    pub(crate) fn keeps_within_bound(&self) -> bool {
        !self.found.bounded
    }
}

/// Runs the explicit engine. It continues an earlier search of the same task, if there is one. Returns
/// the search if higher limits continue it.
pub(crate) fn run_from(
    task: Task<'_>,
    settings: Settings,
    budget: Budget<'_>,
    earlier: Option<Paused>,
) -> (Answer, Option<Paused>) {
    grow(task, settings, budget, Some(VIOLATION), &|_, _| None, earlier)
}

/// Searches with growing bounds until the result does not depend on the bound, or the largest bound
/// is reached.
fn grow(
    task: Task<'_>,
    settings: Settings,
    budget: Budget<'_>,
    stop_at: Option<u32>,
    prove: &dyn Fn(u32, u64) -> Option<Answer>,
    paused: Option<Paused>,
) -> (Answer, Option<Paused>) {
    if let Some(answer) = refuse_exclusive_pairs(task) {
        return (answer, None);
    }
    let max_bound = max_bound(task, settings);
    let first_bound = sufficient_bound(task, max_bound).unwrap_or(task.model.initial_bound());
    let mut bound = settings.fixed_buffer.unwrap_or(first_bound.min(max_bound));
    let mut clean_up_to = None;
    let mut outcomes = BTreeSet::new();
    let mut violated = None;
    let mut runs: Option<Box<OutcomeRuns>> = None;
    let mut earlier = None;
    let mut dictionary = None;
    if let Some(Paused { found, dictionary: known, bound: reached, clean_up_to: clean }) = paused {
        let next = if found.is_paused() { reached } else { next_bound(reached, max_bound) };
        if found.is_paused() || next > reached {
            (bound, clean_up_to, earlier) = (next, clean, Some(found));
            dictionary = known;
        }
    }
    let symmetry = stop_at.and_then(|_| symmetry_of(task, settings));
    loop {
        let symmetry = symmetry.as_ref();
        let search = Search { task, settings, budget, stop_at, symmetry, earlier, dictionary };
        let (mut answer, found, known) = task.model.visit(bound, search);
        dictionary = known;
        if stop_at.is_some() && task.problem.requires_progress() {
            answer.verdict = check_progress(task, settings, budget, bound, answer.verdict);
        }
        // A larger bound allows all outcomes of a smaller one, but a search cut short may miss
        // some.
        outcomes.append(&mut answer.outcomes);
        runs = answer.runs.take().map(|found| Box::new(found.or(runs.take(), bound)));
        let reason = answer.verdict.inconclusive_reason();
        let mut is_bounded = matches!(reason, Some(InconclusiveReason::Bound { .. }));
        if matches!(reason, Some(InconclusiveReason::Bound { witness_missing: false, .. })) {
            clean_up_to = Some(bound);
        }
        // A search for outcomes continues after a violation.
        if let Some(runs) = &runs {
            is_bounded = matches!(runs.incomplete, Some(InconclusiveReason::Bound { .. }));
            if violated.is_none() && answer.verdict.evidence().is_some() {
                violated = Some(answer.verdict.clone());
            }
        }
        if is_bounded && let Some(answer) = prove(bound, answer.statistics.states) {
            return (answer, None);
        }
        let found = Some(found).filter(|_| can_resume(task, stop_at));
        if is_bounded && bound < max_bound && settings.fixed_buffer.is_none() {
            bound = next_bound(bound, max_bound);
            earlier = found.filter(|found| found.coverage == Coverage::Bounded);
            continue;
        }
        let paused = found
            .filter(|found| found.is_paused() || found.coverage == Coverage::Bounded)
            .map(|found| Paused { found, dictionary, bound, clean_up_to });
        answer.verdict = violated.unwrap_or(answer.verdict).clean_up_to(clean_up_to);
        answer.runs = runs;
        if task.model.is_buffered() {
            answer.statistics.bound = Some(bound);
        }
        answer.outcomes = outcomes;
        return (answer, paused);
    }
}

/// Returns the bound on pending accesses after a complete search with a smaller one.
fn next_bound(bound: u32, max_bound: u32) -> u32 {
    (bound * 2).min(max_bound)
}

/// Returns whether searches of a task can go on. The steps of a window and late steps depend on the
/// bound. The runs to outcomes belong to one search.
fn can_resume(task: Task<'_>, stop_at: Option<u32>) -> bool {
    stop_at.is_some()
        && task.model.store_buffers().is_some()
        && !grace_period::occurs(&task.problem.program)
}

/// Returns the largest bound on pending accesses that a search may use. Without a setting, it is
/// at least the bound that follows from the control flow.
pub(crate) fn max_bound(task: Task<'_>, settings: Settings) -> u32 {
    let default = || {
        let sufficient = sufficient_bound(task, LARGEST_BOUND);
        sufficient.unwrap_or(0).max(task.model.default_max_bound())
    };
    settings.max_buffer.unwrap_or_else(default).clamp(1, LARGEST_BOUND)
}

/// Returns a bound up to `max_bound` that no run exceeds, if the control flow has one.
pub(crate) fn sufficient_bound(task: Task<'_>, max_bound: u32) -> Option<u32> {
    let model = task.model.store_buffers()?;
    let bound = pending_stores::max_pending_stores(&task.problem.program, model)?;
    Some(bound).filter(|bound| *bound <= max_bound)
}

/// Searches for a livelock if nothing else violates a property within the bound.
fn check_progress(
    task: Task<'_>,
    settings: Settings,
    budget: Budget<'_>,
    bound: u32,
    verdict: Verdict,
) -> Verdict {
    let is_clean =
        verdict.is_verified() || verdict.inconclusive().is_some_and(Inconclusive::is_bounded);
    if !is_clean {
        return verdict;
    }
    if !supports_progress(task.model) || grace_period::occurs(&task.problem.program) {
        return verdict.weakened(InconclusiveReason::unsupported(Unsupported::Progress));
    }
    match task.model.visit(bound, FindLivelock { task, settings, budget }) {
        Ok(None) => verdict,
        Ok(Some(evidence)) => judge(Findings::violation(evidence)),
        Err(stop) => verdict.weakened(InconclusiveReason::Limit(stop)),
    }
}

/// A search for a livelock, without partial-order reduction.
struct FindLivelock<'a> {
    task: Task<'a>,
    settings: Settings,
    budget: Budget<'a>,
}

impl Visitor for FindLivelock<'_> {
    type Output = Result<Option<Evidence>, Stop>;

    fn visit<M: MemoryModel>(self, model: M) -> Self::Output {
        let reductions = Reductions { partial_order: false, ..self.settings.reductions };
        let cancel = self.budget.of_search();
        let budget = Budget { cancel: &cancel, ..self.budget };
        let machine = Machine::new(self.task.problem, model, reductions)
            .within(WorkLimits::of_search(&cancel, self.settings.limits));
        let livelock = find_livelock(&machine, self.settings, budget)?;
        Ok(livelock.map(|livelock| {
            let run = replay(&machine, &livelock.trace);
            let run = run.expect("the machine must replay a path of the search");
            Evidence::livelock(run, livelock.violation())
        }))
    }
}

/// Returns the interchangeable threads, if a search may use them.
fn symmetry_of(task: Task<'_>, settings: Settings) -> Option<Symmetry> {
    if !settings.reductions.symmetry {
        return None;
    }
    Symmetry::of(task.problem).filter(|symmetry| symmetry.orders() >= MIN_ORDERS)
}

/// One search with one bound.
struct Search<'a> {
    task: Task<'a>,
    settings: Settings,
    budget: Budget<'a>,
    stop_at: Option<u32>,
    /// The interchangeable threads, if the search is not for outcomes.
    symmetry: Option<&'a Symmetry>,
    /// The search with a smaller bound, if this one continues it.
    earlier: Option<Exploration>,
    /// The dictionary of its states.
    dictionary: Option<Arc<PartDictionary>>,
}

impl Visitor for Search<'_> {
    type Output = (Answer, Exploration, Option<Arc<PartDictionary>>);

    fn visit<M: MemoryModel>(self, model: M) -> Self::Output {
        let Search { task, settings, budget, stop_at, .. } = self;
        let cancel = budget.of_search();
        let budget = Budget { cancel: &cancel, ..budget };
        let keeps_outcomes = stop_at.is_none() || model.speculation().is_none();
        // A renaming of threads would have to keep the smallest of several equal values.
        let equal_values = settings.reductions.equal_values && self.symmetry.is_none();
        let reductions = Reductions { equal_values, ..settings.reductions };
        let mut machine = Machine::new(task.problem, model, reductions)
            .within(WorkLimits::of_search(&cancel, settings.limits));
        if !keeps_outcomes {
            machine = machine.without_outcomes();
        }
        let mut search = Search { budget, ..self };
        match search.symmetry.and_then(|symmetry| Symmetric::new(&machine, symmetry)) {
            Some(symmetric) => {
                let (answer, found) = search.run(&symmetric);
                (Answer { outcomes_complete: false, ..answer }, found, None)
            }
            None => {
                let known = search.dictionary.take();
                let has_known = known.is_some();
                let collapsed = Collapsed::new(&machine, known);
                if collapsed.dictionary().is_some() && !has_known {
                    // The earlier search stored representatives. This one was cancelled before it saw
                    // that all initial states are symmetric.
                    search.earlier = None;
                }
                let (answer, found) = search.run(&collapsed);
                let outcomes_complete = answer.outcomes_complete && keeps_outcomes;
                let dictionary = collapsed.dictionary();
                (Answer { outcomes_complete, ..answer }, found, dictionary)
            }
        }
    }
}

impl Search<'_> {
    /// Searches a system.
    fn run<S: System>(self, system: &S) -> (Answer, Exploration) {
        let Search { task, settings, budget, stop_at, earlier, .. } = self;
        let machine = system.machine();
        let options = options(settings, budget, settings.limits, stop_at);
        let (found, runs) = match stop_at {
            Some(_) => match earlier {
                Some(earlier) => (resume(system, earlier, options), None),
                None => (explore(system, options), None),
            },
            None => {
                let found = explore(&Watched(system), options);
                let runs = OutcomeRuns::of(system, &found);
                (found, Some(Box::new(runs)))
            }
        };
        let statistics = Statistics::from_search(&found);
        let violation = found.target(VIOLATION);
        let others = found.targets.iter().filter(|t| t.class == VIOLATION).skip(1);
        let others = others.take(settings.traces.saturating_sub(1));
        let others = others.filter_map(|target| evidence(system, &found, *target)).collect();
        let violation = violation.and_then(|target| {
            let trace = system.trace(&found, target)?;
            let shortest = !settings.reductions.partial_order;
            let shorter = (!shortest && settings.shortest && stop_at.is_some())
                .then(|| find_shorter(task, settings, budget, &trace, found.states))
                .flatten();
            Some(shorter.unwrap_or_else(|| {
                let run =
                    replay(machine, &trace).expect("the machine must replay a path of the search");
                Evidence::from_run(run).expect("a violation must replay as one").shortest(shortest)
            }))
        });
        let witnesses = match violation {
            None => witnesses(system, &found),
            Some(_) => Vec::new(),
        };
        // `grow` checks progress with a search of its own.
        let gap = gap_of(machine, &found).filter(|gap| *gap != Unsupported::Progress);
        let verdict = judge(Findings {
            fidelity: machine.model.fidelity(),
            explored: Explored::of(found.coverage, Bound::Buffers, budget.cancel),
            violation: violation.map(ReplayResult::Confirmed),
            witnesses,
            gap,
        });
        let answer = Answer {
            verdict,
            others,
            statistics,
            outcomes: outcomes(&found),
            outcomes_complete: found.coverage == Coverage::Exhaustive,
            decider: Decider::Explicit,
            spurious_run: None,
            growing: growing_variable(machine, &found, |state| system.packed(state)),
            runs,
            abstracted_values: None,
        };
        (answer, found)
    }
}

/// Searches for a shortest run to a violation, no longer than the given trace. Returns the replayed
/// run if one is found. Unless the settings limit the search, it may store a multiple of `states`, the
/// states of the first search.
pub(crate) fn find_shorter(
    task: Task<'_>,
    settings: Settings,
    budget: Budget<'_>,
    trace: &Trace,
    states: u64,
) -> Option<Evidence> {
    let max_steps = trace.steps.len();
    let by_states = || states.saturating_mul(SHORTEN_STATES_FACTOR).saturating_add(100_000);
    let max_states = settings.shorten_states.unwrap_or_else(by_states);
    // A bound that does not restrict runs of at most this many steps, unless the user fixed one.
    let unrestricting = (max_steps as u32 + 1).max(trace.bound.unwrap_or(0)).min(LARGEST_BOUND);
    let bound = settings.fixed_buffer.unwrap_or(unrestricting);
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
        let limits = Limits {
            depth: self.max_steps as u32 + 1,
            states: self.settings.limits.states.min(self.max_states),
            ..self.settings.limits
        };
        let cancel = self.budget.of_search();
        let budget = Budget { cancel: &cancel, ..self.budget };
        let machine = Machine::new(self.task.problem, model, reductions)
            .within(WorkLimits::of_search(&cancel, limits));
        let options = options(self.settings, budget, limits, Some(VIOLATION));
        let symmetry = symmetry_of(self.task, self.settings);
        match symmetry.and_then(|symmetry| Symmetric::new(&machine, &symmetry)) {
            Some(symmetric) => shortest_evidence(&symmetric, options),
            None => shortest_evidence(&Collapsed::new(&machine, None), options),
        }
    }
}

/// Returns the evidence of a shortest run to a violation, if a search without partial-order reduction
/// finds one.
fn shortest_evidence<S: System>(system: &S, options: Options<'_>) -> Option<Evidence> {
    let found = explore(system, options);
    let evidence = evidence(system, &found, found.target(VIOLATION)?)?;
    Some(evidence.shortest(!found.bounded))
}
