//! Proofs for programs whose numbers grow for ever: a search of states up to the size of numbers.
//!
//! [`fencepost_ir::counters`] finds classes of variables whose numbers only matter in relation to
//! each other, such as the tickets of a lock. The search here stores one *canonical* state for all
//! states that differ only in these numbers and behave in the same way. It takes the steps of the
//! machine from canonical states, so nothing is executed twice in different code.
//!
//! - Numbers that wrap and are only compared for equality: adding the same amount to all of them is
//!   a symmetry of the program. The search is *exact*, for all numbers of the type.
//! - Numbers of 32 bits whose overflow is a fault: the program is treated as one without limits of
//!   numbers. Large differences are cut ([`canonical`]). The search *over-approximates* this program,
//!   which has all runs of the exact program but those with an overflow of these numbers. So a proof
//!   does not cover such an overflow, and the verdict says so ([`Decider::Counters`]). An overflow
//!   after billions of steps is a real violation, but no search finds it, and every program of
//!   this kind has one.
//!
//! A violation counts only if the exact machine follows its run ([`follow`]). Otherwise the cut is
//! made longer a few times, and then there is no answer.
//!
//! Not supported, so that nothing depends on a number that the search changes: conditions on final
//! states, `exists`, operations of clients, records, grace periods, and models without queues.
//! There is no certificate.
//!
//! Partial-order reduction is off. It would be sound, because its conditions do not depend on
//! numbers of a class, but the states that it omits are few here.
//!
//! Rejected: a translation to a program with bounded numbers. The program would have to choose and
//! renumber in every statement. Rejected: numbers modulo a small constant. They need a proof that
//! no two compared numbers are that far apart.

mod canonical;
mod follow;
mod system;

use crate::engine::{Answer, Budget, Decider, Engine, Settings, Statistics, Task};
use crate::explicit::Explicit;
use crate::growing_variable::{growing_under_sc, unbounded};
use crate::path::options;
use crate::verdict::{self, Bound, Explored, Findings, InconclusiveReason, ReplayResult, judge};
use canonical::Canonical;
use fencepost_ir::Observable;
use fencepost_ir::counters::{CounterClass, CounterKind, LARGE_SPAN, counter_classes};
use fencepost_ir::range::ranges_with_free;
use fencepost_models::buffered::{Buffered, PlainQueues};
use fencepost_models::catalog::ModelKind;
use fencepost_models::machine::system::{VIOLATION, undecided_hang};
use fencepost_models::mutation::Mutated;
use fencepost_models::pso::Pso;
use fencepost_models::sc::Sc;
use fencepost_models::tso::Tso;
use fencepost_models::{Fidelity, Machine, Reductions};
use fencepost_search::{Limits, Stop, WorkLimits, explore};
use std::collections::BTreeSet;
use system::CounterSystem;

/// The states that the exact search under SC may store before this one.
const EARLY_STATES: u64 = 20_000;
/// How many times as many states this search may store under SC.
const STATES_FACTOR: u64 = 16;
/// If a variable keeps growing and nothing else helps, an exact search ends with this many states.
pub(crate) const GIVE_UP_STATES: u64 = 1_280_000;
/// How often the cut is made longer after a spurious violation.
const MAX_REFINEMENTS: u32 = 2;

/// Tries to decide a problem with growing numbers, with this bound on pending stores. The limit on
/// states is that of the settings.
pub(crate) fn decide(
    task: Task<'_>,
    settings: Settings,
    budget: Budget<'_>,
    bound: u32,
) -> Option<Answer> {
    decide_above(task, settings, budget, bound, LARGE_SPAN)
}

/// Tries to decide a problem, as [`decide`] does, with the classes of numbers whose range has at
/// least `span` values. For tests.
pub fn decide_above(
    task: Task<'_>,
    settings: Settings,
    budget: Budget<'_>,
    bound: u32,
    span: u64,
) -> Option<Answer> {
    if !is_supported(task) {
        return None;
    }
    let classes = usable_classes(task, span);
    if classes.is_empty() {
        return None;
    }
    let mutated = Mutated::default();
    let attempt = Attempt { task, settings, budget, classes: &classes };
    match task.model.kind {
        ModelKind::Sc => attempt.refine(Buffered(Sc)),
        ModelKind::Tso => attempt.refine(Buffered(Tso { bound, mutated })),
        ModelKind::Pso => attempt.refine(Buffered(Pso { bound, mutated })),
        ModelKind::Table(_) | ModelKind::Arm => None,
    }
}

/// Decides a problem under SC, if this search can. Otherwise, if a variable keeps growing, gives up
/// after a search of limited length. The exact search comes first, with few states.
pub(crate) fn decide_early(
    task: Task<'_>,
    settings: Settings,
    budget: Budget<'_>,
) -> Option<Answer> {
    let is_candidate = task.model.kind == ModelKind::Sc
        && !settings.certifiable
        && !unbounded(&task.problem.program).is_empty();
    if !is_candidate {
        return None;
    }
    let exact = Explicit.run(task, settings_for(settings, EARLY_STATES), budget);
    if !is_cut(&exact) {
        return None;
    }
    decide(task, settings_for(settings, EARLY_STATES * STATES_FACTOR), budget, 1).or_else(|| {
        growing_under_sc(task, settings, budget)?;
        let limits = Limits { states: GIVE_UP_STATES, ..settings.limits };
        let answer = Explicit.run(task, Settings { limits, ..settings }, budget);
        (answer.growing.is_some() || !is_cut(&answer)).then_some(answer)
    })
}

/// Returns whether an answer is inconclusive because of its limit on states.
pub(crate) fn is_cut(answer: &Answer) -> bool {
    let reason = answer.verdict.inconclusive_reason();
    matches!(reason, Some(InconclusiveReason::Limit(Stop::States)))
}

/// Returns whether the search can handle some numbers of a problem under this model.
pub(crate) fn may_decide(task: Task<'_>) -> bool {
    let has_queues = match task.model.kind {
        ModelKind::Sc | ModelKind::Tso | ModelKind::Pso => true,
        ModelKind::Table(_) | ModelKind::Arm => false,
    };
    has_queues && is_supported(task) && !usable_classes(task, LARGE_SPAN).is_empty()
}

fn is_supported(task: Task<'_>) -> bool {
    let problem = task.problem;
    !problem.has_final_properties() && problem.sometimes.is_empty() && !problem.requires_progress()
}

/// Returns the classes that the search can handle. If a register of a class accumulates, a thread
/// alone may reach any number, and the check for hangs would depend on it.
fn usable_classes(task: Task<'_>, span: u64) -> Vec<CounterClass> {
    let may_hang = task.problem.may_hang;
    let is_usable = |class: &CounterClass| match class.kind {
        CounterKind::Wrapping(_) => true,
        CounterKind::Ordered(ordered) => may_hang || !ordered.accumulates,
    };
    counter_classes(task.problem, span).into_iter().filter(is_usable).collect()
}

struct Attempt<'a> {
    task: Task<'a>,
    settings: Settings,
    budget: Budget<'a>,
    classes: &'a [CounterClass],
}

impl Attempt<'_> {
    fn refine<D: PlainQueues + Copy>(&self, model: Buffered<D>) -> Option<Answer> {
        for refinement in 0..=MAX_REFINEMENTS {
            let canonical = Canonical::new(&self.task.problem.program, self.classes, refinement);
            let is_exact = canonical.is_exact();
            let answer = self.search(model, canonical)?;
            let Some(reason) = answer.verdict.inconclusive_reason() else { return Some(answer) };
            if *reason != InconclusiveReason::Spurious || is_exact {
                return None;
            }
        }
        None
    }

    fn search<D: PlainQueues + Copy>(
        &self,
        model: Buffered<D>,
        canonical: Canonical,
    ) -> Option<Answer> {
        let Attempt { task, settings, budget, classes } = *self;
        let is_exact = canonical.is_exact();
        let accumulates = classes.iter().any(|class| match class.kind {
            CounterKind::Wrapping(_) => false,
            CounterKind::Ordered(ordered) => ordered.accumulates,
        });
        let fuse = settings.reductions.fuse && !accumulates;
        let reductions =
            Reductions { fuse, clear_dead: true, partial_order: false, ..settings.reductions };
        let cancel = budget.of_search();
        let budget = Budget { cancel: &cancel, ..budget };
        let limits = WorkLimits::of_search(&cancel, settings.limits);
        let is_free = |what: Observable| canonical.class(what).is_some();
        let ranges = ranges_with_free(&task.problem.program, &is_free);
        let machine = Machine::with_ranges(task.problem, model, reductions, ranges).within(limits);
        let system = CounterSystem::new(machine, canonical);
        let found = explore(&system, options(settings, budget, settings.limits, Some(VIOLATION)));
        let violation = found.target(VIOLATION).map(|target| {
            let evidence = follow::follow(task, &system, &found, target, model);
            evidence.map_or(ReplayResult::Spurious, ReplayResult::Confirmed)
        });
        let problem = task.problem;
        let undecided = found.target(undecided_hang(problem)).is_some();
        let verdict = judge(Findings {
            fidelity: if is_exact { Fidelity::Exact } else { Fidelity::Over },
            explored: Explored::of(found.coverage, Bound::Buffers, &cancel),
            violation,
            witnesses: Vec::new(),
            gap: verdict::gap(problem, !found.facts.is_empty(), undecided),
        });
        Some(Answer {
            verdict,
            others: Vec::new(),
            statistics: Statistics::from_search(&found),
            outcomes: BTreeSet::new(),
            outcomes_complete: false,
            decider: Decider::Counters { covers_overflow: is_exact },
            spurious_run: None,
            growing: None,
            runs: None,
            abstracted_values: None,
        })
    }
}

/// Returns the settings of a search for counters next to an exact search with this limit on states.
pub(crate) fn settings_for(settings: Settings, states: u64) -> Settings {
    let limits = Limits { states: states.min(settings.limits.states), ..settings.limits };
    Settings { limits, shortest: false, ..settings }
}
