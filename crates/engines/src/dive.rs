//! A depth-first search for a run that decides a condition on final states.
//!
//! A breadth-first search of a program with many threads may reach a limit before it reaches a
//! final state. A depth-first search reaches final states at once. Direction: under. The run that
//! it finds is replayed like the runs of other searches, and its outcomes are outcomes of the exact
//! model.

use crate::engine::{Budget, Settings, Task};
use crate::path::{evidence, options, outcomes, witnesses};
use crate::verdict::ReplayResult;
use fencepost_ir::Value;
use fencepost_models::machine::system::{FIRST_WITNESS, VIOLATION};
use fencepost_models::{Machine, MemoryModel, Visitor};
use fencepost_search::{Limits, WorkLimits, dive};
use std::collections::BTreeSet;

/// The result of a depth-first search.
#[derive(Clone, Debug, Default)]
pub struct Dived {
    /// The outcomes that the search found.
    pub outcomes: BTreeSet<Vec<Value>>,
    /// Whether a run decides the problem: a violation or, if there are no properties, a witness of
    /// the first `sometimes` condition. The run was replayed.
    pub is_decided: bool,
}

/// Searches for a run that decides the problem, with at most `states` stored states and `bound`
/// pending accesses.
pub fn dive_for_outcome(
    task: Task<'_>,
    settings: Settings,
    budget: Budget<'_>,
    (states, bound): (u64, u32),
) -> Dived {
    task.model.visit(bound, DiveSearch { task, settings, budget, states })
}

struct DiveSearch<'a> {
    task: Task<'a>,
    settings: Settings,
    budget: Budget<'a>,
    states: u64,
}

impl Visitor for DiveSearch<'_> {
    type Output = Dived;

    fn visit<M: MemoryModel>(self, model: M) -> Dived {
        let DiveSearch { task, settings, budget, states } = self;
        let cancel = budget.of_search();
        let budget = Budget { cancel: &cancel, ..budget };
        let limits = Limits { states: settings.limits.states.min(states), ..settings.limits };
        let machine = Machine::new(task.problem, model, settings.reductions)
            .within(WorkLimits::of_search(&cancel, limits));
        let class = if task.problem.properties.is_empty() { FIRST_WITNESS } else { VIOLATION };
        let found = dive(&machine, options(settings, budget, limits, Some(class)));
        let is_decided = match found.target(class) {
            None => false,
            Some(target) if class == VIOLATION => evidence(&machine, &found, target).is_some(),
            Some(_) => {
                let first = witnesses(&machine, &found).into_iter().next().flatten();
                matches!(first, Some(ReplayResult::Confirmed(_)))
            }
        };
        Dived { outcomes: outcomes(&found), is_decided }
    }
}
