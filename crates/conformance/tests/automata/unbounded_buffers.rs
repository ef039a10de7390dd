//! Random programs with unbounded buffers. The exact outcomes cannot be enumerated. They are
//! between those of a bounded search and those of an abstraction, and every outcome has a trace.
//!
//! - *Nothing is missing*: the outcomes include those of a search with at most four pending stores.
//! - *Nothing is added*: the abstraction, with heads of several lengths, has every outcome. For
//!   some outcomes the engine also checks the property that the outcome never occurs. It must not
//!   verify the property, and the trace of the violation must replay on the exact model.
//! - *Verdicts* never contradict each other.

use super::queries::{
    MODELS, Outcomes, SLEEP_SET_VARIANTS, contradiction, limited_to, missing, outcomes,
    replay_failure, run, with_time_limit,
};
use crate::common::{catch_panic, lower, model, report_comparisons, seeds};
use fencepost_engines::{Abstraction, Answer, Automata, Explicit, Settings, Task, Verdict};
use fencepost_ir::{BinOp, Condition, Expr, Problem, Property, Span, Value, Violation};
use fencepost_models::coherence::Domain;
use fencepost_models::{Machine, ModelSpec, Reductions};
use fencepost_search::{Coverage, Limits, Options, explore_ordered};
use fencepost_testkit::programs::{shrink, unbounded_buffers};
use std::num::NonZeroUsize;

/// The number of random programs.
const PROGRAMS: u64 = 16;
/// The maximum number of states of the engine under test.
const MAX_STATES: u64 = 500;
/// The maximum number of states of a bounded search.
const MAX_BOUNDED_STATES: u64 = 5_000;
/// The maximum number of states of a search that confirms outcomes.
const MAX_CONFIRMING_STATES: u64 = 40_000;
/// The maximum number of states of an abstract search.
const MAX_ABSTRACT_STATES: u64 = 5_000;
/// The lengths of the heads of abstract buffers.
const HEAD_LENGTHS: [u32; 3] = [0, 1, 2];
/// The number of differences after which the test stops.
const MAX_DIFFERENCES: usize = 5;

/// The numbers of searches and comparisons.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// Exhaustive searches of the engine.
    complete: usize,
    /// Exhaustive searches on programs for which no bounded search is exhaustive.
    unbounded: usize,
    /// Searches that were cut short.
    cut: usize,
    /// Comparisons with the outcomes of an abstract search.
    allowed: usize,
    /// Outcomes that a bounded search found too.
    confirmed: usize,
    /// Outcomes that no bounded search found.
    unconfirmed: usize,
    /// Outcomes for which the engine gave a trace.
    with_trace: usize,
    /// Verdicts of the engine.
    verified: usize,
    violated: usize,
    /// Programs that the abstraction verifies and the engine does not.
    unproved: usize,
}

/// Returns the outcomes of the abstract model if the search was exhaustive.
fn abstract_outcomes(problem: &Problem, model: &ModelSpec, k: u32) -> Option<Outcomes> {
    let abstracted = model.abstracted(Domain::Full, k, false)?;
    let machine = Machine::new(problem, abstracted, Reductions::ALL);
    let limits = Limits { states: MAX_ABSTRACT_STATES, ..Limits::default() };
    let found = with_time_limit(|budget| {
        let (cancel, progress) = (budget.cancel, budget.progress);
        let threads = NonZeroUsize::MIN;
        explore_ordered(&machine, Options { limits, cancel, progress, threads, stop_at: None })
    });
    let value = |four: &[u8; 8]| Value::from_le_bytes(*four);
    let outcome = |fact: &Vec<u8>| fact.as_chunks::<8>().0.iter().map(value).collect();
    (found.coverage == Coverage::Exhaustive).then(|| found.facts.iter().map(outcome).collect())
}

/// Returns the problem with one property: the outcome never occurs.
fn never(problem: &Problem, outcome: &[Value]) -> Problem {
    let equal = problem.observed.iter().zip(outcome).map(|(what, value)| {
        let (what, value) = (Expr::Var(*what), Expr::Const(*value));
        Expr::Binary(BinOp::Eq, Box::new(what), Box::new(value))
    });
    let and = |a, b| Expr::Binary(BinOp::And, Box::new(a), Box::new(b));
    let expr = equal.reduce(and).unwrap_or(Expr::Const(1));
    let condition = Condition { expr, text: format!("{outcome:?}"), span: Span::default() };
    let properties = vec![Property::FinalNever(condition)];
    Problem { properties, ..problem.clone() }
}

/// Checks the property that an existing outcome never occurs. Returns whether the engine gives a
/// trace of the outcome. It is an error if the property is verified or the trace does not replay.
fn has_trace(problem: &Problem, model: &ModelSpec, outcome: &[Value]) -> Result<bool, String> {
    let query = &never(problem, outcome);
    let answer = run(&Automata::default(), Task { problem: query, model }, limited_to(MAX_STATES));
    if let Some(reason) = replay_failure(query, model, &answer.verdict) {
        return Err(format!("{outcome:?}: {reason}"));
    }
    match &answer.verdict {
        Verdict::Verified(_) => {
            Err(format!("{outcome:?} is an outcome, but verified never to occur"))
        }
        Verdict::Violated(violated) => {
            Ok(matches!(violated.evidence().violation(), Violation::Final(_)))
        }
        Verdict::Inconclusive(_) => Ok(false),
    }
}

/// Checks one problem under one model.
fn check(problem: &Problem, name: &str, seed: u64, tally: &mut Tally) -> Result<(), String> {
    let model = &model(name);
    let task = Task { problem, model };
    let engine = SLEEP_SET_VARIANTS[seed as usize % 2];
    let case = format!("{name} {engine:?}");
    let found = outcomes(&engine, task, limited_to(MAX_STATES));
    let mut verdicts = Vec::new();
    let mut record =
        |by: String, answer: &Answer| match replay_failure(problem, model, &answer.verdict) {
            Some(reason) => Err(format!("{name} {by}: {reason}")),
            None => {
                verdicts.push((by, answer.verdict.word()));
                Ok(())
            }
        };
    record("outcomes".into(), &found)?;
    if found.outcomes_complete {
        record("run".into(), &run(&engine, task, limited_to(MAX_STATES)))?;
        let other =
            outcomes(&SLEEP_SET_VARIANTS[1 - seed as usize % 2], task, limited_to(2 * MAX_STATES));
        if other.outcomes_complete && other.outcomes != found.outcomes {
            let (one, other) = (&found.outcomes, &other.outcomes);
            return Err(format!("{case}: {one:?}, with the other setting of sleep sets {other:?}"));
        }
    }
    match &found.verdict {
        Verdict::Verified(_) => tally.verified += 1,
        Verdict::Violated(_) => tally.violated += 1,
        Verdict::Inconclusive(_) => {}
    }
    let mut bounded_outcomes = Outcomes::new();
    let mut exhausted = false;
    for bound in 1..=4 {
        let settings = Settings { fixed_buffer: Some(bound), ..limited_to(MAX_BOUNDED_STATES) };
        let bounded = outcomes(&Explicit, task, settings);
        record(format!("explicit up to {bound}"), &bounded)?;
        bounded_outcomes.extend(bounded.outcomes);
        exhausted |= bounded.outcomes_complete;
    }
    match (found.outcomes_complete, exhausted) {
        (true, false) => {
            (tally.complete, tally.unbounded) = (tally.complete + 1, tally.unbounded + 1)
        }
        (true, true) => tally.complete += 1,
        (false, _) => tally.cut += 1,
    }
    if let Some(lost) =
        missing(&bounded_outcomes, &found.outcomes).filter(|_| found.outcomes_complete)
    {
        return Err(format!("{case}: outcomes missing, but found with a bound: {lost}"));
    }
    for k in HEAD_LENGTHS {
        let answer =
            run(&Abstraction { domain: Domain::Full, k }, task, limited_to(MAX_ABSTRACT_STATES));
        record(format!("fd k={k}"), &answer)?;
        let unproved = matches!(answer.verdict, Verdict::Verified(_))
            && matches!(found.verdict, Verdict::Inconclusive(_));
        if unproved && k == 0 {
            tally.unproved += 1;
        }
        let Some(allowed) = abstract_outcomes(problem, model, k) else { continue };
        tally.allowed += 1;
        if let Some(added) = missing(&found.outcomes, &allowed) {
            return Err(format!("{case}: outcomes not allowed by fd k={k}: {added}"));
        }
    }
    for bound in [8, 16] {
        if found.outcomes.is_subset(&bounded_outcomes) {
            break;
        }
        let settings = Settings { fixed_buffer: Some(bound), ..limited_to(MAX_CONFIRMING_STATES) };
        let bounded = outcomes(&Explicit, task, settings);
        bounded_outcomes.extend(bounded.outcomes);
        exhausted |= bounded.outcomes_complete;
    }
    if let Some(added) = missing(&found.outcomes, &bounded_outcomes).filter(|_| exhausted) {
        return Err(format!("{case}: outcomes not found by explicit: {added}"));
    }
    tally.confirmed += found.outcomes.intersection(&bounded_outcomes).count();
    let unconfirmed: Vec<_> = found.outcomes.difference(&bounded_outcomes).collect();
    tally.unconfirmed += unconfirmed.len();
    // Some outcomes that no bounded search found, and one arbitrary outcome.
    let arbitrary = found.outcomes.iter().nth(seed as usize % found.outcomes.len().max(1));
    for outcome in unconfirmed.into_iter().take(3).chain(arbitrary) {
        let traced = has_trace(problem, model, outcome);
        tally.with_trace += usize::from(traced.map_err(|reason| format!("{case}: {reason}"))?);
    }
    match contradiction(&verdicts) {
        Some(what) => Err(format!("{name}: {what}")),
        None => Ok(()),
    }
}

/// Returns the first difference on a source text under either model.
fn difference(source: &str, seed: u64, tally: &mut Tally) -> Option<String> {
    let problem = &lower(source).ok()?[0];
    let mut checked = |(name, _)| catch_panic(|| check(problem, name, seed, &mut *tally)).err();
    MODELS.into_iter().find_map(&mut checked)
}

#[test]
fn random_programs_with_unbounded_buffers_are_between_bounded_and_abstract_results() {
    let mut tally = Tally::default();
    let mut wrong = Vec::new();
    for seed in seeds(PROGRAMS) {
        let drawn = unbounded_buffers(seed);
        if difference(&drawn.to_string(), seed, &mut tally).is_none() {
            continue;
        }
        let fails = |source: &str| difference(source, seed, &mut Tally::default()).is_some();
        let small = shrink(&drawn, fails).to_string();
        let what = difference(&small, seed, &mut Tally::default()).unwrap_or_default();
        wrong.push(format!("seed {seed}: {what}\n{small}"));
        if wrong.len() == MAX_DIFFERENCES {
            break;
        }
    }
    println!("{tally:?}");
    report_comparisons("programs with unbounded buffers: automata", tally.unbounded as u64);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(4 * tally.unbounded > tally.cut, "many searches are exhaustive: {tally:?}");
    assert!(
        tally.allowed > tally.complete,
        "most programs are small enough for the abstraction: {tally:?}"
    );
    assert!(tally.confirmed > 10 * tally.unconfirmed, "most outcomes are confirmed: {tally:?}");
    assert!(tally.with_trace > tally.complete / 2, "many outcomes have a trace: {tally:?}");
    assert!(tally.verified > 0 && tally.violated > 0, "both verdicts occur: {tally:?}");
}
