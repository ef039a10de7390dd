//! Proofs for windows of any length: a search of a model that forgets.
//!
//! Direction: over-approximation. If a window is full, a thread forgets some of its pending
//! statements, so that the model has all runs of the exact model
//! ([`ModelSpec::forgetting`](fencepost_models::ModelSpec::forgetting)). If the search is exhaustive
//! and finds no violation, the problem is verified. Otherwise it says nothing: a violation may be
//! spurious, and the exact search goes on with longer windows.
//!
//! Conditions on final states are not supported: only the model that forgets may have final states, and
//! the condition would be checked on nothing.
//!
//! Rejected: to replay a violation on the exact model. The exact search with a larger bound finds it,
//! with a shortest run.

use crate::engine::{Answer, Budget, Decider, Settings, Statistics, Task};
use crate::path::{gap_of, options};
use crate::verdict::{Bound, Explored, Findings, ReplayResult, Verdict, judge};
use fencepost_models::machine::system::VIOLATION;
use fencepost_models::{Machine, MemoryModel};
use fencepost_search::{Limits, WorkLimits, explore};
use std::collections::BTreeSet;

/// How many times the states of the exact search a proof may store, beside a fixed number.
const STATES_FACTOR: u64 = 8;
const MIN_STATES: u64 = 200_000;

/// Tries to verify a problem that the exact search with a bound does not decide. `states` is the
/// number of states of that search. The windows here are half as long: a short window forgets more,
/// but the model has fewer states.
pub(crate) fn prove(
    task: Task<'_>,
    settings: Settings,
    budget: Budget<'_>,
    bound: u32,
    states: u64,
) -> Option<Answer> {
    let is_supported = task.problem.ignores_intermediate_states()
        && !task.problem.has_final_properties()
        && task.problem.sometimes.is_empty();
    if !is_supported {
        return None;
    }
    let bound = bound.div_ceil(2);
    let model = task.model.forgetting(bound)?;
    let fidelity = model.fidelity();
    let most = states.saturating_mul(STATES_FACTOR).saturating_add(MIN_STATES);
    let limits = Limits { states: settings.limits.states.min(most), ..settings.limits };
    let cancel = budget.of_search();
    let budget = Budget { cancel: &cancel, ..budget };
    let machine = Machine::new(task.problem, model, settings.reductions)
        .within(WorkLimits::of_search(&cancel, limits))
        .without_outcomes();
    let found = explore(&machine, options(settings, budget, limits, Some(VIOLATION)));
    let verdict = judge(Findings {
        fidelity,
        explored: Explored::of(found.coverage, Bound::Buffers, &cancel),
        violation: found.target(VIOLATION).map(|_| ReplayResult::Spurious),
        witnesses: Vec::new(),
        gap: gap_of(&machine, &found),
    });
    matches!(verdict, Verdict::Verified(_)).then(|| Answer {
        verdict,
        others: Vec::new(),
        statistics: Statistics::from_search(&found),
        outcomes: BTreeSet::new(),
        outcomes_complete: false,
        decider: Decider::Forgetting(bound),
        spurious_run: None,
        growing: None,
        runs: None,
        abstracted_values: None,
    })
}
