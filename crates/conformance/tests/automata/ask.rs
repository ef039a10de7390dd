//! Engines asked within limits, and answers held against each other.

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

/// The values of what is observed, in each final state.
pub(crate) type Outcomes = BTreeSet<Vec<Value>>;

/// The models that the engine is for: ours by name, and the reference's.
pub(crate) const MODELS: [(&str, Model); 2] = [("tso", Model::Tso), ("pso", Model::Pso)];

/// The engine with sleep sets and without.
pub(crate) const BOTH: [Automata; 2] =
    [Automata::USUAL, Automata { sleep: false, ..Automata::USUAL }];

/// No search takes longer. Limits on states should end it before: they are the same everywhere.
const TIME: Duration = Duration::from_secs(1);

/// Settings for a search that stores at most so many states.
pub(crate) fn within(states: u64) -> Settings {
    let limits = Limits { states, ..Limits::default() };
    Settings { limits, shortest: false, ..settings(1) }
}

/// Does something with a budget that is spent after some seconds.
pub(crate) fn timed<T>(work: impl FnOnce(Budget<'_>) -> T) -> T {
    let (cancel, progress) = (&Cancel::default(), &Progress::default());
    let (done, over) = channel::<()>();
    thread::scope(move |scope| {
        scope.spawn(move || {
            if over.recv_timeout(TIME) == Err(RecvTimeoutError::Timeout) {
                cancel.time_is_over();
            }
        });
        let result = work(Budget { cancel, progress });
        drop(done);
        result
    })
}

/// Asks an engine for a verdict.
pub(crate) fn run(engine: &dyn Engine, task: Task<'_>, settings: Settings) -> Answer {
    timed(|budget| engine.run(task, settings, budget))
}

/// Asks it for every outcome.
pub(crate) fn outcomes(engine: &dyn Engine, task: Task<'_>, settings: Settings) -> Answer {
    timed(|budget| engine.outcomes(task, settings, budget))
}

/// Two verdicts of which one must be wrong, if there are.
pub(crate) fn contradiction(words: &[(String, &'static str)]) -> Option<String> {
    let known = |word: &str| word == "verified" || word == "violated";
    let mut all = words.iter().filter(|(_, word)| known(word));
    let (first, word) = all.next()?;
    let (other, another) = all.find(|(_, another)| another != word)?;
    Some(format!("{first} says {word}, {other} says {another}"))
}

/// What is in one set and not in the other, if anything.
pub(crate) fn missing(less: &Outcomes, more: &Outcomes) -> Option<String> {
    let missing: Vec<_> = less.difference(more).collect();
    (!missing.is_empty()).then(|| format!("{missing:?}"))
}

/// Replays the run that shows a violation on the exact model, from its first step: what is wrong with it,
/// if anything.
pub(crate) fn unreal(problem: &Problem, model: &ModelSpec, verdict: &Verdict) -> Option<String> {
    let trace = verdict.evidence()?.trace()?;
    match model.visit(trace.room(), Replay { problem, trace }) {
        Ok(true) => None,
        Ok(false) => Some("nothing is wrong at the end of the trace".into()),
        Err(why) => Some(format!("the trace does not replay: {why}")),
    }
}
