//! Where exhaustive search is possible, the automata engine, the explicit engine and the reference
//! interpreter have the same outcomes and verdicts: on the corpus and on random programs.

use super::queries::{
    MODELS, Outcomes, SLEEP_SET_VARIANTS, contradiction, limited_to, missing, outcomes,
    replay_failure, run,
};
use crate::common::{catch_panic, lower, model, report_comparisons, seeds};
use fencepost_conformance::reference::{Model, explore};
use fencepost_engines::verdict::InconclusiveReason;
use fencepost_engines::{Explicit, Settings, Task, Verdict};
use fencepost_ir::Problem;
use fencepost_search::Stop;
use fencepost_testkit::corpus;
use fencepost_testkit::programs::{Profile, RandomProgram, guarded_alternatives, program, shrink};

/// The number of random programs of each profile.
const PROGRAMS: u64 = 10;
/// The maximum number of states of the engine under test. Each may represent many states.
const MAX_STATES: u64 = 1_000;
/// The maximum number of states of the engine under test, for large programs.
const MAX_STATES_LARGE: u64 = 400;
/// The maximum number of states of the explicit engine.
const MAX_EXPLICIT_STATES: u64 = 30_000;
/// The maximum number of states of the reference interpreter, which is slower.
const MAX_REFERENCE_STATES: usize = 5_000;
/// The number of differences after which a test stops.
const MAX_DIFFERENCES: usize = 5;

/// The numbers of comparisons.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// Comparisons of two complete sets of outcomes.
    equal: usize,
    /// Comparisons of a complete set with an incomplete one, which must be a subset.
    partial: usize,
    /// Comparisons of two incomplete sets.
    cut: usize,
    /// Conclusive verdicts.
    verified: usize,
    violated: usize,
}

/// The name of an engine, its outcomes, and whether they are complete.
type OutcomeSet = (String, Outcomes, bool);

/// Returns the outcomes of the reference interpreter if they are complete.
fn by_reference(problem: &Problem, model: Model) -> Option<OutcomeSet> {
    let report = (1..=3).map(|bound| explore(problem, model, bound, MAX_REFERENCE_STATES)).find(
        |report| {
            // If the limit on states was reached, a larger bound does not help.
            !report.complete || !report.bound_hit
        },
    )?;
    report.complete.then(|| ("reference".into(), report.outcomes, true))
}

/// Compares the engine with the others on one problem under one model.
fn compare(
    problem: &Problem,
    (name, reference): (&str, Option<Model>),
    states: u64,
    tally: &mut Tally,
) -> Result<(), String> {
    let model = &model(name);
    let task = Task { problem, model };
    let bounded = Settings { max_buffer: Some(16), ..limited_to(MAX_EXPLICIT_STATES) };
    let mut sets: Vec<OutcomeSet> = Vec::new();
    let mut verdicts = Vec::new();
    let exact = outcomes(&Explicit, task, bounded);
    verdicts.push(("explicit".into(), exact.verdict.word()));
    sets.push(("explicit".into(), exact.outcomes, exact.outcomes_complete));
    sets.extend(reference.and_then(|reference| by_reference(problem, reference)));
    for engine in SLEEP_SET_VARIANTS {
        let case = format!("automata with {engine:?}");
        let all = outcomes(&engine, task, limited_to(states));
        verdicts.push((case.clone(), all.verdict.word()));
        if let Some(reason) = replay_failure(problem, model, &all.verdict) {
            return Err(format!("{name} {case}: {reason}"));
        }
        if all.outcomes_complete {
            let answer = run(&engine, task, limited_to(states));
            verdicts.push((case.clone(), answer.verdict.word()));
            if let Some(reason) = replay_failure(problem, model, &answer.verdict) {
                return Err(format!("{name} {case}: {reason}"));
            }
            match &answer.verdict {
                Verdict::Verified(_) => tally.verified += 1,
                Verdict::Violated(_) => tally.violated += 1,
                Verdict::Inconclusive(inconclusive)
                    if *inconclusive.reason() == InconclusiveReason::Limit(Stop::Time) => {}
                Verdict::Inconclusive(_) => {
                    return Err(format!(
                        "{name} {case}: all outcomes are found, but there is no verdict"
                    ));
                }
            }
        }
        for (other, theirs, complete) in &sets {
            match (all.outcomes_complete, complete) {
                (true, true) => tally.equal += 1,
                (true, false) | (false, true) => tally.partial += 1,
                (false, false) => tally.cut += 1,
            }
            let absent = missing(theirs, &all.outcomes).filter(|_| all.outcomes_complete);
            if let Some(absent) = absent {
                return Err(format!(
                    "{name} {case}: outcomes missing, but found by {other}: {absent}"
                ));
            }
            let extra = missing(&all.outcomes, theirs).filter(|_| *complete);
            if let Some(extra) = extra {
                return Err(format!("{name} {case}: outcomes not found by {other}: {extra}"));
            }
        }
        let complete = all.outcomes_complete;
        sets.push((case, all.outcomes, complete));
        if !complete {
            // The variant without sleep sets would be cut short too: it has more states.
            break;
        }
    }
    match contradiction(&verdicts) {
        Some(what) => Err(format!("{name}: {what}")),
        None => Ok(()),
    }
}

fn compare_folder(name: &str, states: u64) -> Tally {
    let mut wrong = Vec::new();
    let mut tally = Tally::default();
    for (file, source) in corpus::sources(name) {
        for problem in lower(&source).expect("the corpus compiles") {
            for (model, _) in MODELS {
                let compared = catch_panic(|| compare(&problem, (model, None), states, &mut tally));
                wrong.extend(compared.err().map(|what| format!("{file}: {what}")));
            }
        }
    }
    println!("{name}: {tally:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    tally
}

#[test]
fn litmus_programs_have_the_same_outcomes() {
    let tally = compare_folder("litmus", MAX_STATES);
    assert_eq!((tally.partial, tally.cut), (0, 0), "every search is small enough");
}

#[test]
fn mutex_programs_have_the_same_outcomes() {
    let tally = compare_folder("mutex", MAX_STATES_LARGE);
    assert!(tally.equal >= 25, "{tally:?}");
}

#[test]
fn paper_programs_have_the_same_outcomes() {
    let tally = compare_folder("papers", MAX_STATES);
    assert!(tally.equal >= 15, "{tally:?}");
}

#[test]
fn regression_programs_have_the_same_outcomes() {
    let tally = compare_folder("regress", MAX_STATES);
    assert!(tally.equal >= 20, "{tally:?}");
}

#[test]
fn waiting_programs_have_the_same_outcomes() {
    let tally = compare_folder("waiting", MAX_STATES);
    assert!(tally.equal >= 20, "{tally:?}");
}

#[test]
fn data_structures_have_the_same_outcomes() {
    let tally = compare_folder("structures", MAX_STATES_LARGE);
    assert!(tally.equal >= 13, "{tally:?}");
}

/// Returns the first difference on a source text under either model.
fn difference(source: &str, tally: &mut Tally) -> Option<String> {
    let problem = &lower(source).ok()?[0];
    let mut compared = |(name, reference)| {
        catch_panic(|| compare(problem, (name, Some(reference)), MAX_STATES, &mut *tally)).err()
    };
    MODELS.into_iter().find_map(&mut compared)
}

fn compare_profile(profile: Profile) -> Tally {
    compare_random(&format!("{profile:?}"), |seed| program(profile, seed))
}

fn compare_random(kind: &str, draw: impl Fn(u64) -> RandomProgram) -> Tally {
    let mut tally = Tally::default();
    let mut wrong = Vec::new();
    for seed in seeds(PROGRAMS) {
        let drawn = draw(seed);
        if difference(&drawn.to_string(), &mut tally).is_none() {
            continue;
        }
        let fails = |source: &str| difference(source, &mut Tally::default()).is_some();
        let small = shrink(&drawn, fails).to_string();
        let what = difference(&small, &mut Tally::default()).unwrap_or_default();
        wrong.push(format!("{kind} seed {seed}: {what}\n{small}"));
        if wrong.len() == MAX_DIFFERENCES {
            break;
        }
    }
    println!("{kind}: {tally:?}");
    report_comparisons(&format!("searches of {kind}: automata"), tally.equal as u64);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tally.equal > tally.cut && tally.equal > 0, "most programs can be compared: {tally:?}");
    assert!(tally.verified > 0, "some programs are verified: {tally:?}");
    tally
}

#[test]
fn random_straight_line_programs_have_the_same_outcomes() {
    compare_profile(Profile::Straight);
}

#[test]
fn random_loops_have_the_same_outcomes() {
    compare_profile(Profile::Loops);
}

#[test]
fn random_alternatives_have_the_same_outcomes() {
    let tally = compare_random("alternatives", guarded_alternatives);
    assert!(tally.violated > 0, "some programs are violated: {tally:?}");
}

#[test]
fn random_records_have_the_same_outcomes() {
    let tally = compare_profile(Profile::Records);
    assert!(tally.violated > 0, "some programs are violated: {tally:?}");
}

#[test]
fn random_mixed_programs_have_the_same_outcomes() {
    let tally = compare_profile(Profile::Mixed);
    assert!(tally.violated > 0, "some programs are violated: {tally:?}");
}

#[test]
fn random_full_buffers_have_the_same_outcomes() {
    compare_profile(Profile::Buffers);
}
