//! Queries to engines within limits, and comparisons of answers.

use crate::common::{Replay, settings};
use fencepost_conformance::reference::Model;
use fencepost_engines::{Answer, Automata, Budget, Engine, Settings, Task, Verdict};
use fencepost_ir::{Problem, Value};
use fencepost_models::ModelSpec;
use fencepost_search::{Cancel, Limits, Progress};
use std::collections::BTreeSet;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// A set of outcomes: the values of the observables in each final state.
pub(crate) type Outcomes = BTreeSet<Vec<Value>>;

/// The models that the engine supports: the name, and the model of the reference interpreter.
pub(crate) const MODELS: [(&str, Model); 2] = [("tso", Model::Tso), ("pso", Model::Pso)];

/// The engine with and without sleep sets.
pub(crate) const SLEEP_SET_VARIANTS: [Automata; 2] =
    [Automata::DEFAULT, Automata { sleep: false, ..Automata::DEFAULT }];

/// The time limit of a search. Usually a limit on states ends the search first, which is
/// deterministic.
const TIME_LIMIT: Duration = Duration::from_secs(1);

/// Returns the settings of a search that stores at most `states` states.
pub(crate) fn limited_to(states: u64) -> Settings {
    let limits = Limits { states, ..Limits::default() };
    Settings { limits, shortest: false, ..settings(1) }
}

/// Runs `work` with a budget that is cancelled after the time limit.
pub(crate) fn with_time_limit<T>(work: impl FnOnce(Budget<'_>) -> T) -> T {
    let (cancel, progress) = (&Cancel::default(), &Progress::default());
    let (done, over) = channel::<()>();
    thread::scope(move |scope| {
        scope.spawn(move || {
            if over.recv_timeout(TIME_LIMIT) == Err(RecvTimeoutError::Timeout) {
                cancel.time_out();
            }
        });
        let result = work(Budget { cancel, progress });
        drop(done);
        result
    })
}

/// Returns the answer of an engine.
pub(crate) fn run(engine: &dyn Engine, task: Task<'_>, settings: Settings) -> Answer {
    with_time_limit(|budget| engine.run(task, settings, budget))
}

/// Returns the answer of an engine with all outcomes.
pub(crate) fn outcomes(engine: &dyn Engine, task: Task<'_>, settings: Settings) -> Answer {
    with_time_limit(|budget| engine.outcomes(task, settings, budget))
}

/// Returns two contradictory verdicts, if there are any.
pub(crate) fn contradiction(verdicts: &[(String, &'static str)]) -> Option<String> {
    let known = |word: &str| word == "verified" || word == "violated";
    let mut all = verdicts.iter().filter(|(_, word)| known(word));
    let (first, word) = all.next()?;
    let (other, another) = all.find(|(_, another)| another != word)?;
    Some(format!("{first} answers {word}, {other} answers {another}"))
}

/// Returns the elements of `expected` that are not in `found`, if any.
pub(crate) fn missing(expected: &Outcomes, found: &Outcomes) -> Option<String> {
    let missing: Vec<_> = expected.difference(found).collect();
    (!missing.is_empty()).then(|| format!("{missing:?}"))
}

/// Replays the trace of a violation under the exact model. Returns an error message if the trace
/// does not replay or does not end with the violation.
pub(crate) fn replay_failure(
    problem: &Problem,
    model: &ModelSpec,
    verdict: &Verdict,
) -> Option<String> {
    let trace = verdict.evidence()?.trace()?;
    match model.visit(trace.replay_bound(), Replay { problem, trace }) {
        Ok(true) => None,
        Ok(false) => Some("the trace does not end with a violation".into()),
        Err(reason) => Some(format!("the trace does not replay: {reason}")),
    }
}
