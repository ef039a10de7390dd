//! Answers about another program whose runs are runs of the task.
//!
//! Direction: exact for violations, because each is replayed on the program of the task.

use crate::engine::{Answer, Budget, Settings, Task};
use crate::evidence::Evidence;
use crate::explicit::find_shorter;
use crate::verdict::{Findings, judge};

/// Returns an answer with those violations that are runs of the task, too. None if there are none. If
/// the settings ask for a shortest run, it is looked for with the runs of the task. That search may
/// store a multiple of `states`.
pub(crate) fn replay_violations(
    task: Task<'_>,
    settings: Settings,
    budget: Budget<'_>,
    answer: Answer,
    states: u64,
) -> Option<Answer> {
    let found = answer.verdict.evidence().into_iter().chain(&answer.others);
    let mut repeated = found.filter_map(|evidence| {
        let run = task.model.replay(task.problem, settings.reductions, evidence.trace()?).ok()?;
        Evidence::from_run(run)
    });
    let first = repeated.next()?;
    let others = repeated.collect();
    let trace = first.trace().filter(|_| settings.shortest);
    let shorter = trace.and_then(|trace| find_shorter(task, settings, budget, trace, states));
    let verdict = judge(Findings::violation(shorter.unwrap_or(first)));
    Some(Answer { verdict, others, ..answer })
}
