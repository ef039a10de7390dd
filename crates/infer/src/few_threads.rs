//! Inference from violations in which few threads take steps.
//!
//! Most violations need two or three threads ([`few_threads`]). A placement is first checked for these
//! violations. The whole program is searched when there are none.
//!
//! Direction: under-approximation. A clean placement says nothing about the whole program.

use crate::lazy::{EarlyAnswer, InferenceState, MAX_TRACES};
use crate::repair::{LearnedClause, Round};
use fencepost_engines::{Answer, Settings, Task, few_threads};
use fencepost_ir::{Placement, Problem, ThreadId};
use fencepost_search::Limits;

/// The state limit of a search for violations in which few threads take steps, and its largest bound
/// on pending accesses.
const FEW_THREADS_STATES: u64 = 500_000;
const FEW_THREADS_BOUND: u32 = 4;

/// A set of few threads of a problem.
#[derive(Clone, Debug)]
pub(crate) struct FewThreads {
    /// The position of the problem.
    pub(crate) problem: usize,
    /// The threads that take steps.
    pub(crate) running: Vec<ThreadId>,
    /// The placements with which a search found no violation.
    clean: Vec<Placement>,
}

/// Returns the sets of few threads of all problems, those of two threads first.
pub(crate) fn sets_of_few_threads(problems: &[Problem]) -> Vec<FewThreads> {
    let of = |(problem, of): (usize, &Problem)| {
        let sets = few_threads::sets(&of.program).into_iter();
        sets.map(move |running| FewThreads { problem, running, clean: Vec::new() })
    };
    let mut all: Vec<FewThreads> = problems.iter().enumerate().flat_map(of).collect();
    all.sort_by_key(|set| set.running.len());
    all
}

impl InferenceState<'_> {
    /// Looks for violations in which few threads take steps, and learns their clauses.
    pub(crate) fn few_threads_violate(&mut self, placement: &Placement) -> EarlyAnswer<bool> {
        for at in 0..self.few_threads.len() {
            let FewThreads { problem, running, clean } = &self.few_threads[at];
            if clean.iter().any(|fewer| fewer.is_within(placement)) {
                continue;
            }
            let (problem, running) = (*problem, running.clone());
            let fenced = self.fenced_problem(problem, placement);
            let violated = self.search_few_threads(&fenced, &running, MAX_TRACES, false);
            let Some(Answer { verdict, others, .. }) = violated else {
                self.few_threads[at].clean.push(placement.clone());
                continue;
            };
            let mut learned_clauses = Vec::new();
            for evidence in verdict.into_evidence().into_iter().chain(others) {
                learned_clauses
                    .extend(self.add_learned_clause(problem, &fenced, placement, evidence)?);
            }
            self.rounds.push(Round { placement: placement.clone(), learned_clauses });
            self.few_threads[..=at].rotate_right(1);
            return Ok(true);
        }
        Ok(false)
    }

    /// Looks for violations in which only these threads take steps.
    pub(crate) fn search_few_threads(
        &self,
        fenced: &Problem,
        running: &[ThreadId],
        traces: usize,
        shortest: bool,
    ) -> Option<Answer> {
        let states = self.query.settings.limits.states.min(FEW_THREADS_STATES);
        let limits = Limits { states, ..self.query.settings.limits };
        let max_buffer = self.query.settings.max_buffer.unwrap_or(FEW_THREADS_BOUND);
        let max_buffer = Some(max_buffer.min(FEW_THREADS_BOUND));
        let settings = Settings { shortest, traces, limits, max_buffer, ..self.query.settings };
        let task = Task { problem: fenced, model: self.query.model };
        few_threads::search(task, running, settings, self.budget).violated.map(|answer| *answer)
    }

    /// Returns the threads that take steps in the run of a clause, if they are a set of few threads.
    pub(crate) fn few_running(&self, learned: &LearnedClause) -> Option<Vec<ThreadId>> {
        let run = learned.evidence.run()?;
        let is_within = |set: &&FewThreads| {
            set.problem == learned.problem
                && run.trace.steps.iter().all(|step| set.running.contains(&step.thread))
        };
        let smallest = self.few_threads.iter().filter(is_within).min_by_key(|s| s.running.len());
        smallest.map(|set| set.running.clone())
    }
}
