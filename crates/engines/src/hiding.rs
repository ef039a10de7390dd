//! Proofs for programs whose pending accesses have no bound: programs without some locations.
//!
//! Direction: over-approximation ([`fencepost_translate::hide`]). Sets of locations are hidden, large
//! ones first. If the exact search of such a program is complete and finds no violation, the problem
//! is verified. Otherwise it says nothing.
//!
//! Most proofs of mutual exclusion need one or two arrays of flags; the other locations only provide
//! progress. So all sets are tried that keep at most [`MAX_KEPT`] groups of locations.
//!
//! Rejected: to choose the next set from the spurious run. A search that finds a spurious run is
//! short, and there are few sets.

use crate::engine::{Answer, Budget, Decider, Engine, Settings, Task};
use crate::explicit::Explicit;
use fencepost_ir::Loc;
use fencepost_search::Limits;
use fencepost_translate::hide::{groups, hide};

/// The largest number of groups of locations that can be hidden and are kept.
const MAX_KEPT: u32 = 2;
/// The largest number of groups that can be hidden.
const MAX_GROUPS: usize = 8;
/// The part of the states of the exact search that one search may store, and a fixed number.
const STATES_DIVISOR: u64 = 8;
const MIN_STATES: u64 = 20_000;

/// Tries to verify a problem that the exact search with a bound does not decide. `states` is the
/// number of states of that search.
pub(crate) fn prove(
    task: Task<'_>,
    settings: Settings,
    budget: Budget<'_>,
    bound: u32,
    states: u64,
) -> Option<Answer> {
    let groups = groups(task.problem);
    if groups.is_empty() || groups.len() > MAX_GROUPS {
        return None;
    }
    let most = (states / STATES_DIVISOR).saturating_add(MIN_STATES);
    let limits = Limits { states: settings.limits.states.min(most), ..settings.limits };
    let settings = Settings { limits, max_buffer: Some(bound), shortest: false, ..settings };
    let all = 1u32 << groups.len();
    let mut kept: Vec<u32> = (0..all - 1).filter(|kept| kept.count_ones() <= MAX_KEPT).collect();
    kept.sort_by_key(|kept| kept.count_ones());
    for kept in kept {
        if budget.cancel.reason().is_some() {
            return None;
        }
        let is_hidden = |at: &usize| kept >> at & 1 == 0;
        let hidden: Vec<&[Loc]> =
            (0..groups.len()).filter(is_hidden).map(|at| &groups[at][..]).collect();
        let problem = hide(task.problem, &hidden);
        let task = Task { problem: &problem, model: task.model };
        let answer = Explicit.run(task, settings, budget);
        if answer.verdict.is_verified() {
            let count = hidden.iter().map(|group| group.len()).sum::<usize>();
            return Some(Answer {
                decider: Decider::Hiding(count as u32),
                outcomes_complete: false,
                ..answer
            });
        }
    }
    None
}
