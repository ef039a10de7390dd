//! Engines asked, answers compared, programs drawn.

use crate::common::{caught, compared, lower, model, seeds, settings};
use fencepost_engines::{Answer, Budget, Engine, Explicit, Settings, Stateless, Task};
use fencepost_engines::{InconclusiveReason, Verdict};
use fencepost_ir::Problem;
use fencepost_ir::Violation;
use fencepost_models::Reductions;
use fencepost_search::{Cancel, Limits, Progress, Stop};
use fencepost_testkit::programs::{RandomProgram, shrink};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// The engine under test.
pub(crate) const STATELESS: Stateless = Stateless { preemptions: None };
/// States that the explicit engine may store; programs with more are passed over.
pub(crate) const STATES: u64 = 100_000;
/// Runs that the stateless engine may take, about.
pub(crate) const RUNS: u64 = 3_000;
/// Events in a run, at most: fewer than usual, so that endless programs are passed over soon.
pub(crate) const EVENTS: u32 = 60;

/// How long an engine may look at one program.
const PATIENCE: Duration = Duration::from_secs(2);

/// Settings of the stateless engine for random programs.
pub(crate) fn within(threads: usize) -> Settings {
    let limits = Limits { states: RUNS, depth: EVENTS, ..Limits::default() };
    Settings { limits, ..settings(threads) }
}

/// Settings of the explicit engine.
pub(crate) fn stored() -> Settings {
    let limits = Limits { states: STATES, ..Limits::default() };
    Settings { limits, shortest: false, max_buffer: Some(8), ..settings(1) }
}

/// Which question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Question {
    /// Whether something is wrong.
    Verdict,
    /// What all final states look like.
    Outcomes,
}

/// Asks an engine, which may take so long.
pub(crate) fn ask_for(
    patience: Duration,
    engine: &(dyn Engine + Sync),
    question: Question,
    (problem, name): (&Problem, &str),
    settings: Settings,
) -> Answer {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let model = &model(name);
    let task = Task { problem, model };
    let (done, watched) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let watched = watched;
            if watched.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                cancel.time_is_over();
            }
        });
        let answer = match question {
            Question::Verdict => engine.run(task, settings, budget),
            Question::Outcomes => engine.outcomes(task, settings, budget),
        };
        drop(done);
        answer
    })
}

/// Asks an engine.
pub(crate) fn ask(
    engine: &(dyn Engine + Sync),
    question: Question,
    of: (&Problem, &str),
    settings: Settings,
) -> Answer {
    ask_for(PATIENCE, engine, question, of, settings)
}

/// Whether there is no conclusion because of a limit.
pub(crate) fn is_limited(answer: &Answer) -> bool {
    let limits = [Stop::States, Stop::Depth, Stop::Time].map(InconclusiveReason::Limit);
    answer.verdict.inconclusive_reason().is_some_and(|reason| limits.contains(reason))
}

/// What could be compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Compared {
    /// Verdicts.
    pub(crate) verdicts: u64,
    /// Of these: violations.
    pub(crate) violated: u64,
    /// Sets of outcomes.
    pub(crate) outcomes: u64,
}

impl Compared {
    /// Both together.
    pub(crate) fn and(self, other: Compared) -> Compared {
        Compared {
            verdicts: self.verdicts + other.verdicts,
            violated: self.violated + other.violated,
            outcomes: self.outcomes + other.outcomes,
        }
    }
}

/// Holds the stateless engine against the explicit one under SC: the same verdict, a run that replays to what
/// is said of it, the same outcomes.
pub(crate) fn same_under_sc(
    problem: &Problem,
    ours: Settings,
    theirs: Settings,
) -> Result<Compared, String> {
    let mut compared = Compared::default();
    let of = (problem, "sc");
    let expected = ask(&Explicit, Question::Verdict, of, theirs).verdict;
    if matches!(expected, Verdict::Inconclusive(_)) {
        return Ok(compared);
    }
    let found = ask(&STATELESS, Question::Verdict, of, ours);
    if !is_limited(&found) {
        let (found, expected) = (&found.verdict, &expected);
        if found.word() != expected.word() {
            return Err(format!("found {found:?}, expected {expected:?}"));
        }
        shown(problem, "sc", found)?;
        compared.verdicts = 1;
        compared.violated = u64::from(matches!(found, Verdict::Violated(_)));
    }
    let expected = ask(&Explicit, Question::Outcomes, of, theirs);
    let found = ask(&STATELESS, Question::Outcomes, of, ours);
    if !expected.outcomes_complete {
        return Ok(compared);
    }
    let whole = found.outcomes_complete;
    if !is_limited(&found) && found.verdict.word() != expected.verdict.word() {
        return Err(format!("with outcomes {:?}, not {:?}", found.verdict, expected.verdict));
    }
    let extra: Vec<_> = found.outcomes.difference(&expected.outcomes).collect();
    let missing: Vec<_> = expected.outcomes.difference(&found.outcomes).collect();
    if !extra.is_empty() || (whole && !missing.is_empty()) {
        return Err(format!("outcomes missing {missing:?}, too many {extra:?}"));
    }
    compared.outcomes = u64::from(whole);
    Ok(compared)
}

/// Holds it against the explicit engine under a weaker model, where it may say that it does not know.
pub(crate) fn sound_under(
    problem: &Problem,
    name: &str,
    ours: Settings,
    theirs: Settings,
) -> Result<Compared, String> {
    let mut compared = Compared::default();
    let of = (problem, name);
    let found = ask(&STATELESS, Question::Verdict, of, ours).verdict;
    let expected = ask(&Explicit, Question::Verdict, of, theirs).verdict;
    let known = |verdict: &Verdict| !matches!(verdict, Verdict::Inconclusive(_));
    if known(&found) {
        shown(problem, name, &found)?;
        if known(&expected) && found.word() != expected.word() {
            return Err(format!("{name}: found {found:?}, expected {expected:?}"));
        }
        compared.verdicts = u64::from(known(&expected));
        compared.violated = u64::from(matches!(found, Verdict::Violated(_)));
    }
    let found = ask(&STATELESS, Question::Outcomes, of, ours);
    if found.outcomes_complete {
        let expected = ask(&Explicit, Question::Outcomes, of, theirs);
        let missing: Vec<_> = expected.outcomes.difference(&found.outcomes).collect();
        let extra: Vec<_> = found.outcomes.difference(&expected.outcomes).collect();
        if !missing.is_empty() || (expected.outcomes_complete && !extra.is_empty()) {
            return Err(format!("{name}: outcomes missing {missing:?}, too many {extra:?}"));
        }
        compared.outcomes = u64::from(expected.outcomes_complete);
    }
    Ok(compared)
}

/// Whether a violation is what its run ends with, on the exact model.
pub(crate) fn shown(problem: &Problem, name: &str, verdict: &Verdict) -> Result<(), String> {
    let Some(evidence) = verdict.evidence() else { return Ok(()) };
    let violation = evidence.violation();
    let Some(trace) = evidence.trace() else {
        let none = matches!(violation, Violation::NoWitness(_));
        return if none { Ok(()) } else { Err(format!("{violation:?} without a run")) };
    };
    let run = model(name).replay(problem, Reductions::ALL, trace);
    let run = run.map_err(|divergence| format!("no such run: {}", divergence.reason))?;
    match run.violation {
        Some(replayed) if replayed == violation => Ok(()),
        replayed => Err(format!("{violation:?} replays as {replayed:?}")),
    }
}

/// Holds each random program against a check, which tells what it could compare, or what is wrong. One that
/// fails is shrunk and printed.
pub(crate) fn each(
    draw: impl Fn(u64) -> RandomProgram,
    usual: u64,
    check: impl Fn(&Problem) -> Result<Compared, String>,
) -> Compared {
    let mut all = Compared::default();
    let judge = |source: &str| caught(|| check(&lower(source)?[0]));
    for seed in seeds(usual) {
        let drawn = draw(seed);
        match judge(&drawn.to_string()) {
            Ok(more) => all = all.and(more),
            Err(_) => {
                let fails = |source: &str| lower(source).is_ok() && judge(source).is_err();
                let small = shrink(&drawn, fails).to_string();
                let difference = judge(&small).err();
                panic!("seed {seed}: {difference:?}\n{small}\n{drawn}");
            }
        }
    }
    println!("{all:?}");
    compared("answers: stateless", all.verdicts + all.outcomes);
    all
}
