//! Proofs for programs whose pending accesses have no bound: programs without some locations.
//!
//! Direction: over-approximation ([`fencepost_translate::hide`]). Sets of locations are hidden, large
//! ones first. If a program without them is verified, the problem is verified, too. Otherwise this says
//! nothing.
//!
//! Most proofs of mutual exclusion need one or two arrays of flags; the other locations only provide
//! progress. So all sets are tried that keep at most [`MAX_KEPT`] groups of locations.
//!
//! Rejected: to choose the next set from the spurious run. A search that finds a spurious run is
//! short, and there are few sets.

use crate::engine::{Answer, Decider, Task};
use fencepost_ir::Loc;
use fencepost_search::Cancel;
use fencepost_translate::hide::{groups, hide};

/// The largest number of groups of locations that can be hidden and are kept.
const MAX_KEPT: u32 = 2;
/// The largest number of groups that can be hidden.
const MAX_GROUPS: usize = 8;

/// Tries to verify a problem. `verify` returns an answer if it verifies the problem without some
/// locations.
pub(crate) fn prove(
    task: Task<'_>,
    cancel: &Cancel,
    verify: &dyn Fn(Task<'_>) -> Option<Answer>,
) -> Option<Answer> {
    let groups = groups(task.problem);
    if groups.is_empty() || groups.len() > MAX_GROUPS {
        return None;
    }
    let all = 1u32 << groups.len();
    let mut kept: Vec<u32> = (0..all - 1).filter(|kept| kept.count_ones() <= MAX_KEPT).collect();
    kept.sort_by_key(|kept| kept.count_ones());
    for kept in kept {
        if cancel.reason().is_some() {
            return None;
        }
        let is_hidden = |at: &usize| kept >> at & 1 == 0;
        let hidden: Vec<&[Loc]> =
            (0..groups.len()).filter(is_hidden).map(|at| &groups[at][..]).collect();
        let problem = hide(task.problem, &hidden);
        if let Some(answer) = verify(Task { problem: &problem, model: task.model }) {
            assert!(answer.verdict.is_verified(), "only proofs are transferred");
            let count = hidden.iter().map(|group| group.len()).sum::<usize>();
            let decider = Decider::Hiding(count as u32);
            return Some(Answer { decider, outcomes_complete: false, ..answer });
        }
    }
    None
}
