//! Random programs whose buffers grow without end. Nobody can count what happens there, but it lies between what a
//! bounded search finds and what an abstract one allows; and whoever says that something happens can show it.
//!
//! - *Nothing is missing*: what happens with at most four pending stores is among the outcomes.
//! - *Nothing is added*: every outcome is allowed by the abstraction, whose heads are of several lengths; and each is
//!   asked for again, as a claim that it never happens: the run that refutes it replays on the exact model.
//! - *Verdicts* never contradict each other.

use super::ask::{
    BOTH, MODELS, Outcomes, contradiction, missing, outcomes, run, timed, unreal, within,
};
use crate::common::{caught, compared, lower, model, seeds};
use fencepost_engines::{Abstraction, Answer, Automata, Explicit, Settings, Task, Verdict};
use fencepost_ir::{BinOp, Condition, Expr, Problem, Property, Span, Value, Violation};
use fencepost_models::coherence::Domain;
use fencepost_models::{Machine, ModelSpec, Reductions};
use fencepost_search::{Coverage, Limits, Options, explore_ordered};
use fencepost_testkit::programs::{endless, shrink};
use std::num::NonZeroUsize;

/// Random programs.
const PROGRAMS: u64 = 16;
/// States of the engine under test.
const STATES: u64 = 500;
/// States of a search with a bound.
const BOUNDED: u64 = 5_000;
/// States of a search that is to confirm what was found.
const CONFIRMING: u64 = 40_000;
/// States of an abstract search.
const ABSTRACT: u64 = 5_000;
/// Lengths of the heads of abstract buffers.
const HEADS: [u32; 3] = [0, 1, 2];
/// Differences after which no more are looked for.
const ENOUGH: usize = 5;

/// How often what could be compared.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// Searches of the engine that saw everything.
    complete: usize,
    /// Those among them of programs whose buffers no bounded search could exhaust.
    unbounded: usize,
    /// Those cut short.
    cut: usize,
    /// Abstract searches that the outcomes were held against.
    allowed: usize,
    /// Outcomes that a bounded search found, too; and those none did.
    confirmed: usize,
    unconfirmed: usize,
    /// Outcomes that a run was made for.
    shown: usize,
    /// Verdicts of the engine.
    verified: usize,
    violated: usize,
    /// Programs that the abstraction verifies, and the engine does not.
    unproved: usize,
}

/// The outcomes that the abstract model has, if everything was seen.
fn allowed(problem: &Problem, model: &ModelSpec, k: u32) -> Option<Outcomes> {
    let abstracted = model.abstracted(Domain::Full, k, false)?;
    let machine = Machine::new(problem, abstracted, Reductions::ALL);
    let limits = Limits { states: ABSTRACT, ..Limits::default() };
    let found = timed(|budget| {
        let (cancel, progress) = (budget.cancel, budget.progress);
        let threads = NonZeroUsize::MIN;
        explore_ordered(&machine, Options { limits, cancel, progress, threads, stop_at: None })
    });
    let value = |four: &[u8; 4]| Value::from_le_bytes(*four);
    let outcome = |fact: &Vec<u8>| fact.as_chunks::<4>().0.iter().map(value).collect();
    (found.coverage == Coverage::Exhaustive).then(|| found.facts.iter().map(outcome).collect())
}

/// The problem with the only claim that an outcome never happens.
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

/// Asks whether an outcome really never happens: it must not be verified, and a run that shows it is real.
fn is_shown(problem: &Problem, model: &ModelSpec, outcome: &[Value]) -> Result<bool, String> {
    let question = &never(problem, outcome);
    let answer = run(&Automata::default(), Task { problem: question, model }, within(STATES));
    if let Some(why) = unreal(question, model, &answer.verdict) {
        return Err(format!("{outcome:?}: {why}"));
    }
    match &answer.verdict {
        Verdict::Verified(_) => Err(format!("{outcome:?} is an outcome, and never happens")),
        Verdict::Violated(violated) => {
            Ok(matches!(violated.evidence().violation(), Violation::Final(_)))
        }
        Verdict::Inconclusive(_) => Ok(false),
    }
}

/// Everything that is asked about one problem under one model.
fn examine(problem: &Problem, name: &str, turn: u64, tally: &mut Tally) -> Result<(), String> {
    let model = &model(name);
    let task = Task { problem, model };
    let engine = BOTH[turn as usize % 2];
    let about = format!("{name} {engine:?}");
    let found = outcomes(&engine, task, within(STATES));
    let mut words = Vec::new();
    let mut say = |by: String, answer: &Answer| match unreal(problem, model, &answer.verdict) {
        Some(why) => Err(format!("{name} {by}: {why}")),
        None => {
            words.push((by, answer.verdict.word()));
            Ok(())
        }
    };
    say("outcomes".into(), &found)?;
    if found.outcomes_complete {
        say("run".into(), &run(&engine, task, within(STATES)))?;
        let other = outcomes(&BOTH[1 - turn as usize % 2], task, within(2 * STATES));
        if other.outcomes_complete && other.outcomes != found.outcomes {
            let (one, other) = (&found.outcomes, &other.outcomes);
            return Err(format!("{about}: {one:?}, with the other sleep sets {other:?}"));
        }
    }
    match &found.verdict {
        Verdict::Verified(_) => tally.verified += 1,
        Verdict::Violated(_) => tally.violated += 1,
        Verdict::Inconclusive(_) => {}
    }
    let mut real = Outcomes::new();
    let mut exhausted = false;
    for bound in 1..=4 {
        let settings = Settings { fixed_buffer: Some(bound), ..within(BOUNDED) };
        let bounded = outcomes(&Explicit, task, settings);
        say(format!("explicit up to {bound}"), &bounded)?;
        real.extend(bounded.outcomes);
        exhausted |= bounded.outcomes_complete;
    }
    match (found.outcomes_complete, exhausted) {
        (true, false) => {
            (tally.complete, tally.unbounded) = (tally.complete + 1, tally.unbounded + 1)
        }
        (true, true) => tally.complete += 1,
        (false, _) => tally.cut += 1,
    }
    if let Some(lost) = missing(&real, &found.outcomes).filter(|_| found.outcomes_complete) {
        return Err(format!("{about}: missing, but found with a bound: {lost}"));
    }
    for k in HEADS {
        let answer = run(&Abstraction { domain: Domain::Full, k }, task, within(ABSTRACT));
        say(format!("fd k={k}"), &answer)?;
        let unproved = matches!(answer.verdict, Verdict::Verified(_))
            && matches!(found.verdict, Verdict::Inconclusive(_));
        if unproved && k == 0 {
            tally.unproved += 1;
        }
        let Some(allowed) = allowed(problem, model, k) else { continue };
        tally.allowed += 1;
        if let Some(added) = missing(&found.outcomes, &allowed) {
            return Err(format!("{about}: added, and not allowed by fd k={k}: {added}"));
        }
    }
    for bound in [8, 16] {
        if found.outcomes.is_subset(&real) {
            break;
        }
        let settings = Settings { fixed_buffer: Some(bound), ..within(CONFIRMING) };
        let bounded = outcomes(&Explicit, task, settings);
        real.extend(bounded.outcomes);
        exhausted |= bounded.outcomes_complete;
    }
    if let Some(added) = missing(&found.outcomes, &real).filter(|_| exhausted) {
        return Err(format!("{about}: added, and not found by explicit: {added}"));
    }
    tally.confirmed += found.outcomes.intersection(&real).count();
    let unconfirmed: Vec<_> = found.outcomes.difference(&real).collect();
    tally.unconfirmed += unconfirmed.len();
    // Those that nobody else found, and one of the others.
    let usual = found.outcomes.iter().nth(turn as usize % found.outcomes.len().max(1));
    for outcome in unconfirmed.into_iter().take(3).chain(usual) {
        let shown = is_shown(problem, model, outcome);
        tally.shown += usize::from(shown.map_err(|why| format!("{about}: {why}"))?);
    }
    match contradiction(&words) {
        Some(what) => Err(format!("{name}: {what}")),
        None => Ok(()),
    }
}

/// The first difference on a source text under either model.
fn difference(source: &str, turn: u64, tally: &mut Tally) -> Option<String> {
    let problem = &lower(source).ok()?[0];
    let mut examined = |(name, _)| caught(|| examine(problem, name, turn, &mut *tally)).err();
    MODELS.into_iter().find_map(&mut examined)
}

#[test]
fn random_endless_programs() {
    let mut tally = Tally::default();
    let mut wrong = Vec::new();
    for seed in seeds(PROGRAMS) {
        let drawn = endless(seed);
        if difference(&drawn.to_string(), seed, &mut tally).is_none() {
            continue;
        }
        let fails = |source: &str| difference(source, seed, &mut Tally::default()).is_some();
        let small = shrink(&drawn, fails).to_string();
        let what = difference(&small, seed, &mut Tally::default()).unwrap_or_default();
        wrong.push(format!("seed {seed}: {what}\n{small}"));
        if wrong.len() == ENOUGH {
            break;
        }
    }
    println!("{tally:?}");
    compared("endless programs: automata", tally.unbounded as u64);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(4 * tally.unbounded > tally.cut, "many searches end: {tally:?}");
    assert!(tally.allowed > tally.complete, "most are small enough to be abstracted: {tally:?}");
    assert!(tally.confirmed > 10 * tally.unconfirmed, "most outcomes are confirmed: {tally:?}");
    assert!(tally.shown > tally.complete / 2, "many can be shown: {tally:?}");
    assert!(tally.verified > 0 && tally.violated > 0, "both verdicts are met: {tally:?}");
}
