//! Violations in which few threads take steps.
//!
//! Direction: under-approximation ([`fencepost_translate::pause`]). Most violations need two or three
//! threads, and a search in which the other threads never start is small. Callers search the sets of
//! two threads first, then those of three. A violation is replayed in the whole program. If there is
//! none, this says nothing.
//!
//! How far a step of a window goes may depend on the accesses of other threads. A run that the whole
//! program does not repeat is dropped.

use crate::counters;
use crate::engine::{Answer, Budget, Engine, Settings, Task};
use crate::explicit::Explicit;
use crate::transfer::replay_violations;
use fencepost_ir::{Program, ThreadId, grace_period};
use fencepost_search::Limits;
use fencepost_translate::pause::with_running;

/// The largest number of threads that take steps.
const MAX_RUNNING: usize = 3;

/// The largest number of states if numbers grow for ever: then no search is complete.
const GROWING_STATES: u64 = 20_000;

/// Returns the sets of few threads of a program, small ones first. There are none if the program has
/// no more than two threads.
pub fn sets(program: &Program) -> Vec<Vec<ThreadId>> {
    // A grace period depends on all threads.
    if grace_period::occurs(program) {
        return Vec::new();
    }
    let last = program.last_thread();
    let threads: Vec<ThreadId> = program.thread_ids().filter(|t| Some(*t) != last).collect();
    let sizes = 2..=MAX_RUNNING.min(threads.len().saturating_sub(1));
    sizes.flat_map(|size| subsets(&threads, size)).collect()
}

/// Returns the subsets of this size, in order.
fn subsets(threads: &[ThreadId], size: usize) -> Vec<Vec<ThreadId>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let with_first = |at: usize| {
        let rest = subsets(&threads[at + 1..], size - 1);
        rest.into_iter().map(move |rest| [vec![threads[at]], rest].concat())
    };
    (0..threads.len()).flat_map(with_first).collect()
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Searched {
    /// The answer with the violations of the whole program, if there are any.
    pub violated: Option<Box<Answer>>,
    /// Whether a search with more states can find more.
    pub is_cut: bool,
    /// The states of the search.
    pub states: u64,
}

/// Looks for violations in which only these threads take steps. If the settings ask for a shortest
/// run, a short search looks for a shorter run of all threads.
pub fn search(
    task: Task<'_>,
    running: &[ThreadId],
    settings: Settings,
    budget: Budget<'_>,
) -> Searched {
    let problem = with_running(task.problem, running);
    let most = if counters::may_decide(task) { GROWING_STATES } else { u64::MAX };
    let limits = Limits { states: settings.limits.states.min(most), ..settings.limits };
    let within = Settings { limits, ..settings };
    let answer = Explicit.run(Task { problem: &problem, ..task }, within, budget);
    let states = answer.statistics.states;
    let is_cut = answer.verdict.inconclusive().is_some();
    // The paused threads take no part in a shorter run, so a short search is enough.
    let violated = replay_violations(task, settings, budget, answer, 0).map(Box::new);
    Searched { violated, is_cut, states }
}

/// The sets of few threads of a program that a portfolio has not searched completely.
#[derive(Clone, Debug)]
pub(crate) struct OpenSets(Vec<Vec<ThreadId>>);

impl OpenSets {
    /// Returns all sets of few threads.
    pub(crate) fn of(program: &Program) -> Self {
        OpenSets(sets(program))
    }

    /// Looks for violations. The searches may store this number of states together. Returns the
    /// answer with the first violations found.
    pub(crate) fn search(
        &mut self,
        task: Task<'_>,
        settings: Settings,
        budget: Budget<'_>,
        states: u64,
    ) -> Option<Answer> {
        let mut left = states.min(settings.limits.states);
        for running in std::mem::take(&mut self.0) {
            if left == 0 || budget.cancel.reason().is_some() {
                self.0.push(running);
                continue;
            }
            let limits = Limits { states: left, ..settings.limits };
            let searched = search(task, &running, Settings { limits, ..settings }, budget);
            if let Some(violated) = searched.violated {
                return Some(*violated);
            }
            left = left.saturating_sub(searched.states);
            if searched.is_cut {
                self.0.push(running);
            }
        }
        None
    }
}
