//! Where everything can be counted, the engine finds the same outcomes as the explicit engine and the reference
//! interpreter, and says the same of the properties: on the corpus and on random programs.

use super::ask::{BOTH, MODELS, Outcomes, contradiction, missing, outcomes, run, unreal, within};
use crate::common::{caught, compared, lower, model, seeds};
use fencepost_conformance::reference::{Model, explore};
use fencepost_engines::verdict::InconclusiveReason;
use fencepost_engines::{Explicit, Settings, Task, Verdict};
use fencepost_ir::Problem;
use fencepost_search::Stop;
use fencepost_testkit::corpus;
use fencepost_testkit::programs::{Profile, program, shrink};

/// Random programs of each profile.
const PROGRAMS: u64 = 10;
/// States of the engine under test. Each may stand for many.
const STATES: u64 = 1_000;
/// The same for programs that are large.
const FEW: u64 = 400;
/// States of the explicit engine.
const EXPLICIT: u64 = 30_000;
/// States of the reference, which is slower.
const REFERENCE: usize = 5_000;
/// Differences after which no more are looked for.
const ENOUGH: usize = 5;

/// How often what could be compared.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// Complete sets of outcomes, held against complete ones.
    equal: usize,
    /// The same, one of them not complete: it must be part of the other.
    part: usize,
    /// Neither is complete.
    cut: usize,
    /// Known verdicts.
    verified: usize,
    violated: usize,
}

/// A set of outcomes, whose it is, and whether it is all.
type Found = (String, Outcomes, bool);

/// What the reference says, where it sees everything.
fn by_reference(problem: &Problem, model: Model) -> Option<Found> {
    let whole = (1..=3).map(|bound| explore(problem, model, bound, REFERENCE)).find(|report| {
        // Where the number of states is the trouble, a larger bound does not help.
        !report.complete || !report.bound_hit
    })?;
    whole.complete.then(|| ("reference".into(), whole.outcomes, true))
}

/// Holds the engine against others on one problem under one model.
fn compare(
    problem: &Problem,
    (name, reference): (&str, Option<Model>),
    states: u64,
    tally: &mut Tally,
) -> Result<(), String> {
    let model = &model(name);
    let task = Task { problem, model };
    let bounded = Settings { max_buffer: Some(16), ..within(EXPLICIT) };
    let mut sets: Vec<Found> = Vec::new();
    let mut words = Vec::new();
    let exact = outcomes(&Explicit, task, bounded);
    words.push(("explicit".into(), exact.verdict.word()));
    sets.push(("explicit".into(), exact.outcomes, exact.outcomes_complete));
    sets.extend(reference.and_then(|reference| by_reference(problem, reference)));
    for engine in BOTH {
        let about = format!("automata with {engine:?}");
        let all = outcomes(&engine, task, within(states));
        words.push((about.clone(), all.verdict.word()));
        if let Some(why) = unreal(problem, model, &all.verdict) {
            return Err(format!("{name} {about}: {why}"));
        }
        if all.outcomes_complete {
            let first = run(&engine, task, within(states));
            words.push((about.clone(), first.verdict.word()));
            if let Some(why) = unreal(problem, model, &first.verdict) {
                return Err(format!("{name} {about}: {why}"));
            }
            match &first.verdict {
                Verdict::Verified(_) => tally.verified += 1,
                Verdict::Violated(_) => tally.violated += 1,
                Verdict::Inconclusive(inconclusive)
                    if *inconclusive.reason() == InconclusiveReason::Limit(Stop::Time) => {}
                Verdict::Inconclusive(_) => {
                    return Err(format!("{name} {about}: finds all outcomes, but no verdict"));
                }
            }
        }
        for (other, theirs, complete) in &sets {
            match (all.outcomes_complete, complete) {
                (true, true) => tally.equal += 1,
                (true, false) | (false, true) => tally.part += 1,
                (false, false) => tally.cut += 1,
            }
            let lost = missing(theirs, &all.outcomes).filter(|_| all.outcomes_complete);
            if let Some(lost) = lost {
                return Err(format!("{name} {about}: missing, but found by {other}: {lost}"));
            }
            let added = missing(&all.outcomes, theirs).filter(|_| *complete);
            if let Some(added) = added {
                return Err(format!("{name} {about}: added, and not found by {other}: {added}"));
            }
        }
        let complete = all.outcomes_complete;
        sets.push((about, all.outcomes, complete));
        if !complete {
            // Without sleep sets it has more to do.
            break;
        }
    }
    match contradiction(&words) {
        Some(what) => Err(format!("{name}: {what}")),
        None => Ok(()),
    }
}

fn folder(name: &str, states: u64) -> Tally {
    let mut wrong = Vec::new();
    let mut tally = Tally::default();
    for (file, source) in corpus::sources(name) {
        for problem in lower(&source).expect("the corpus compiles") {
            for (model, _) in MODELS {
                let compared = caught(|| compare(&problem, (model, None), states, &mut tally));
                wrong.extend(compared.err().map(|what| format!("{file}: {what}")));
            }
        }
    }
    println!("{name}: {tally:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    tally
}

#[test]
fn litmus() {
    let tally = folder("litmus", STATES);
    assert_eq!((tally.part, tally.cut), (0, 0), "every search is small enough");
}

#[test]
fn mutex() {
    let tally = folder("mutex", FEW);
    assert!(tally.equal >= 25, "{tally:?}");
}

#[test]
fn papers() {
    let tally = folder("papers", STATES);
    assert!(tally.equal >= 15, "{tally:?}");
}

#[test]
fn regress() {
    let tally = folder("regress", STATES);
    assert!(tally.equal >= 20, "{tally:?}");
}

#[test]
fn structures() {
    let tally = folder("structures", FEW);
    assert!(tally.equal >= 13, "{tally:?}");
}

/// The first difference on a source text under either model.
fn difference(source: &str, tally: &mut Tally) -> Option<String> {
    let problem = &lower(source).ok()?[0];
    let mut compared = |(name, reference)| {
        caught(|| compare(problem, (name, Some(reference)), STATES, &mut *tally)).err()
    };
    MODELS.into_iter().find_map(&mut compared)
}

fn random(profile: Profile) -> Tally {
    let mut tally = Tally::default();
    let mut wrong = Vec::new();
    for seed in seeds(PROGRAMS) {
        let drawn = program(profile, seed);
        if difference(&drawn.to_string(), &mut tally).is_none() {
            continue;
        }
        let fails = |source: &str| difference(source, &mut Tally::default()).is_some();
        let small = shrink(&drawn, fails).to_string();
        let what = difference(&small, &mut Tally::default()).unwrap_or_default();
        wrong.push(format!("{profile:?} seed {seed}: {what}\n{small}"));
        if wrong.len() == ENOUGH {
            break;
        }
    }
    println!("{profile:?}: {tally:?}");
    compared(&format!("searches of {profile:?}: automata"), tally.equal as u64);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tally.equal > tally.cut && tally.equal > 0, "most can be compared: {tally:?}");
    assert!(tally.verified > 0, "some are right: {tally:?}");
    tally
}

#[test]
fn random_straight_line_programs() {
    random(Profile::Straight);
}

#[test]
fn random_loops() {
    random(Profile::Loops);
}

#[test]
fn random_records() {
    let tally = random(Profile::Records);
    assert!(tally.violated > 0, "some are wrong: {tally:?}");
}

#[test]
fn random_everything() {
    let tally = random(Profile::Kitchen);
    assert!(tally.violated > 0, "some are wrong: {tally:?}");
}

#[test]
fn random_full_buffers() {
    random(Profile::Buffers);
}
