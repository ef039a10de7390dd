//! Queries to engines, comparisons of answers, random programs.

use crate::common::{catch_panic, lower, model, report_comparisons, seeds, settings};
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
/// The maximum number of states of the explicit engine. Larger programs are skipped.
pub(crate) const MAX_STATES: u64 = 100_000;
/// The approximate maximum number of executions of the stateless engine.
pub(crate) const MAX_RUNS: u64 = 3_000;
/// The maximum number of events in an execution. It is smaller than usual, so that programs with
/// infinite executions are skipped early.
pub(crate) const MAX_EVENTS: u32 = 60;

/// The usual time limit of a query.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// Returns the settings of the stateless engine for random programs.
pub(crate) fn stateless_settings(threads: usize) -> Settings {
    let limits = Limits { states: MAX_RUNS, depth: MAX_EVENTS, ..Limits::default() };
    Settings { limits, ..settings(threads) }
}

/// Returns the settings of the explicit engine.
pub(crate) fn explicit_settings() -> Settings {
    let limits = Limits { states: MAX_STATES, ..Limits::default() };
    Settings { limits, shortest: false, max_buffer: Some(8), ..settings(1) }
}

/// The kind of a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum QueryKind {
    /// A query for the verdict.
    Verdict,
    /// A query for all outcomes.
    Outcomes,
}

/// Runs a query with this time limit.
pub(crate) fn run_query_for(
    time_limit: Duration,
    engine: &(dyn Engine + Sync),
    kind: QueryKind,
    (problem, name): (&Problem, &str),
    settings: Settings,
) -> Answer {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let model = &model(name);
    let task = Task { problem, model };
    let (done, finished) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let finished = finished;
            if finished.recv_timeout(time_limit) == Err(RecvTimeoutError::Timeout) {
                cancel.time_out();
            }
        });
        let answer = match kind {
            QueryKind::Verdict => engine.run(task, settings, budget),
            QueryKind::Outcomes => engine.outcomes(task, settings, budget),
        };
        drop(done);
        answer
    })
}

/// Runs a query with the usual time limit.
pub(crate) fn run_query(
    engine: &(dyn Engine + Sync),
    kind: QueryKind,
    case: (&Problem, &str),
    settings: Settings,
) -> Answer {
    run_query_for(TIME_LIMIT, engine, kind, case, settings)
}

/// Returns whether the answer is inconclusive because of a limit.
pub(crate) fn is_limited(answer: &Answer) -> bool {
    let limits = [Stop::States, Stop::Depth, Stop::Time].map(InconclusiveReason::Limit);
    answer.verdict.inconclusive_reason().is_some_and(|reason| limits.contains(reason))
}

/// The numbers of comparisons.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Compared {
    /// Compared verdicts.
    pub(crate) verdicts: u64,
    /// Compared verdicts that are violations.
    pub(crate) violated: u64,
    /// Compared sets of outcomes.
    pub(crate) outcomes: u64,
}

impl Compared {
    /// Adds the numbers.
    pub(crate) fn plus(self, other: Compared) -> Compared {
        Compared {
            verdicts: self.verdicts + other.verdicts,
            violated: self.violated + other.violated,
            outcomes: self.outcomes + other.outcomes,
        }
    }
}

/// Compares the stateless engine with the explicit engine under SC: the same verdict, evidence that
/// replays, the same outcomes.
pub(crate) fn compare_under_sc(
    problem: &Problem,
    stateless: Settings,
    explicit: Settings,
) -> Result<Compared, String> {
    let mut compared = Compared::default();
    let case = (problem, "sc");
    let expected = run_query(&Explicit, QueryKind::Verdict, case, explicit).verdict;
    if matches!(expected, Verdict::Inconclusive(_)) {
        return Ok(compared);
    }
    let found = run_query(&STATELESS, QueryKind::Verdict, case, stateless);
    if !is_limited(&found) {
        let (found, expected) = (&found.verdict, &expected);
        if found.word() != expected.word() {
            return Err(format!("found {found:?}, expected {expected:?}"));
        }
        check_evidence(problem, "sc", found)?;
        compared.verdicts = 1;
        compared.violated = u64::from(matches!(found, Verdict::Violated(_)));
    }
    let expected = run_query(&Explicit, QueryKind::Outcomes, case, explicit);
    let found = run_query(&STATELESS, QueryKind::Outcomes, case, stateless);
    if !expected.outcomes_complete {
        return Ok(compared);
    }
    let complete = found.outcomes_complete;
    if !is_limited(&found) && found.verdict.word() != expected.verdict.word() {
        return Err(format!(
            "verdict of the query for outcomes: found {:?}, expected {:?}",
            found.verdict, expected.verdict
        ));
    }
    let extra: Vec<_> = found.outcomes.difference(&expected.outcomes).collect();
    let missing: Vec<_> = expected.outcomes.difference(&found.outcomes).collect();
    if !extra.is_empty() || (complete && !missing.is_empty()) {
        return Err(format!("outcomes missing {missing:?}, added {extra:?}"));
    }
    compared.outcomes = u64::from(complete);
    Ok(compared)
}

/// Compares the stateless engine with the explicit engine under a weaker model, where it may be
/// inconclusive.
pub(crate) fn compare_under_weaker_model(
    problem: &Problem,
    name: &str,
    stateless: Settings,
    explicit: Settings,
) -> Result<Compared, String> {
    let mut compared = Compared::default();
    let case = (problem, name);
    let found = run_query(&STATELESS, QueryKind::Verdict, case, stateless).verdict;
    let expected = run_query(&Explicit, QueryKind::Verdict, case, explicit).verdict;
    let known = |verdict: &Verdict| !matches!(verdict, Verdict::Inconclusive(_));
    if known(&found) {
        check_evidence(problem, name, &found)?;
        if known(&expected) && found.word() != expected.word() {
            return Err(format!("{name}: found {found:?}, expected {expected:?}"));
        }
        compared.verdicts = u64::from(known(&expected));
        compared.violated = u64::from(matches!(found, Verdict::Violated(_)));
    }
    let found = run_query(&STATELESS, QueryKind::Outcomes, case, stateless);
    if found.outcomes_complete {
        let expected = run_query(&Explicit, QueryKind::Outcomes, case, explicit);
        let missing: Vec<_> = expected.outcomes.difference(&found.outcomes).collect();
        let extra: Vec<_> = found.outcomes.difference(&expected.outcomes).collect();
        if !missing.is_empty() || (expected.outcomes_complete && !extra.is_empty()) {
            return Err(format!("{name}: outcomes missing {missing:?}, added {extra:?}"));
        }
        compared.outcomes = u64::from(expected.outcomes_complete);
    }
    Ok(compared)
}

/// Checks that the trace of a violation replays on the exact model and ends with this violation.
pub(crate) fn check_evidence(
    problem: &Problem,
    name: &str,
    verdict: &Verdict,
) -> Result<(), String> {
    let Some(evidence) = verdict.evidence() else { return Ok(()) };
    let violation = evidence.violation();
    let Some(trace) = evidence.trace() else {
        let none = matches!(violation, Violation::NoWitness(_));
        return if none { Ok(()) } else { Err(format!("{violation:?} has no trace")) };
    };
    let run = model(name).replay(problem, Reductions::ALL, trace);
    let run =
        run.map_err(|divergence| format!("the trace does not replay: {}", divergence.reason))?;
    match run.violation {
        Some(replayed) if replayed == violation => Ok(()),
        replayed => Err(format!("{violation:?} replays as {replayed:?}")),
    }
}

/// Checks random programs. `check` returns the comparisons it made, or an error message. A failing
/// program is shrunk and printed.
pub(crate) fn check_random(
    draw: impl Fn(u64) -> RandomProgram,
    usual: u64,
    check: impl Fn(&Problem) -> Result<Compared, String>,
) -> Compared {
    let mut all = Compared::default();
    let try_check = |source: &str| catch_panic(|| check(&lower(source)?[0]));
    for seed in seeds(usual) {
        let drawn = draw(seed);
        match try_check(&drawn.to_string()) {
            Ok(more) => all = all.plus(more),
            Err(_) => {
                let fails = |source: &str| lower(source).is_ok() && try_check(source).is_err();
                let small = shrink(&drawn, fails).to_string();
                let difference = try_check(&small).err();
                panic!("seed {seed}: {difference:?}\n{small}\n{drawn}");
            }
        }
    }
    println!("{all:?}");
    report_comparisons("answers: stateless", all.verdicts + all.outcomes);
    all
}
