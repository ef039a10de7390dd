//! Everything that really happens is in the abstract models: on the corpus and on random programs.

use super::examine::{Exact, MODELS, Scope, Tally, examine, examine_source};
use crate::common::{compared, lower, model, outcomes, seeds, settings};
use fencepost_engines::{Settings, Verdict};
use fencepost_ir::Problem;
use fencepost_models::mutation::Mutated;
use fencepost_models::{ModelSpec, Reductions};
use fencepost_search::Limits;
use fencepost_testkit::corpus;
use fencepost_testkit::is_campaign;
use fencepost_testkit::programs::{Profile, program, shrink};

/// Random programs of each profile.
const PROGRAMS: u64 = 15;
/// Pending stores on the exact side where they can pile up.
const BOUND: u32 = 3;
/// States on the exact side. What a search that is cut short has found is still real.
const STATES: u64 = 20_000;

/// What really happens, by the explicit engine.
fn by_explicit(problem: &Problem, model: &ModelSpec) -> Exact {
    let limits = Limits { states: STATES, ..Limits::default() };
    let mut real = Exact::default();
    for bound in 1..=BOUND {
        // Partial-order reduction may commit early and so hide how long queues can get.
        let reductions = Reductions { partial_order: false, ..Reductions::ALL };
        let fixed_buffer = Some(bound);
        let settings = Settings { limits, fixed_buffer, reductions, ..settings(1) };
        let answer = outcomes(problem, model, settings);
        real.wrong |= match &answer.verdict {
            // No run shows that there is no witness: an abstract model may have one.
            Verdict::Violated(violated) => violated.evidence().run().is_some(),
            Verdict::Verified(_) | Verdict::Inconclusive(_) => false,
        };
        real.outcomes.extend(answer.outcomes);
        if answer.outcomes_complete {
            real.longest = Some(bound);
            break;
        }
    }
    real
}

/// Programs whose abstract searches are large.
const LARGE: [&str; 5] = [
    "values-stop-growing",
    "sober-bakery",
    "sober-bakery-fenced",
    "sober-dekker",
    "sober-takequeue",
];

/// For them, and for mutual exclusion.
const LARGE_SCOPE: Scope = Scope { states: 6_000, unreduced: false, mutated: Mutated::NONE };

fn folder(name: &str, scope: Scope) -> Tally {
    files(name, scope, |file| !LARGE.contains(&file))
}

fn files(name: &str, scope: Scope, wanted: impl Fn(&str) -> bool) -> Tally {
    let mut wrong = Vec::new();
    let mut tally = Tally::default();
    for (file, source) in corpus::sources(name) {
        if !wanted(&file) {
            continue;
        }
        for problem in lower(&source).expect("the corpus compiles") {
            for (name, grouping, _) in MODELS {
                let exact = by_explicit(&problem, &model(name));
                let found = examine(&problem, grouping, &exact, scope, &mut tally);
                wrong.extend(found.iter().map(|d| format!("{file}: {d}")));
            }
        }
    }
    println!("{name}: {tally:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    tally
}

#[test]
fn litmus() {
    let tally = folder("litmus", Scope::whole());
    assert_eq!(tally.cut, 0, "every search is small enough");
}

#[test]
fn mutex() {
    let tally = folder("mutex", Scope { states: 1_000, ..LARGE_SCOPE });
    assert!(tally.complete > 200, "many searches are small enough: {tally:?}");
}

#[test]
fn papers() {
    let tally = folder("papers", Scope::whole());
    assert_eq!(tally.cut, 0, "every search is small enough");
    let tally = files("papers", LARGE_SCOPE, |file| LARGE.contains(&file));
    assert!(tally.complete > 0, "some searches are small enough: {tally:?}");
}

#[test]
fn regress() {
    let tally = folder("regress", Scope::whole());
    assert_eq!(tally.cut, 0, "every search is small enough");
    let tally = files("regress", LARGE_SCOPE, |file| LARGE.contains(&file));
    assert!(tally.complete > 0, "some searches are small enough: {tally:?}");
}

/// The large programs in full, and more states of mutual exclusion: minutes, so only in `cargo xtask campaign`.
#[test]
fn campaign_of_large_programs() {
    if !is_campaign() {
        return println!("only in `cargo xtask campaign`");
    }
    for name in ["papers", "regress"] {
        let tally = files(name, Scope::whole(), |file| LARGE.contains(&file));
        assert!(tally.complete > 0, "some searches are small enough: {tally:?}");
    }
    let tally = folder("mutex", Scope { states: 4_000, ..LARGE_SCOPE });
    assert!(tally.complete > 300, "many searches are small enough: {tally:?}");
}

fn random(profile: Profile) {
    let mut tally = Tally::default();
    for seed in seeds(PROGRAMS) {
        let drawn = program(profile, seed);
        let mut differences =
            |source: &str| examine_source(source, Scope::whole(), &mut tally).unwrap_or_default();
        let found = differences(&drawn.to_string());
        let Some(first) = found.first() else { continue };
        let broken = first.broken;
        let same = |source: &str| differences(source).iter().any(|d| d.broken == broken);
        let small = shrink(&drawn, same).to_string();
        let texts: Vec<String> = differences(&small).iter().map(ToString::to_string).collect();
        panic!("{profile:?} seed {seed}:\n{}\n{small}", texts.join("\n"));
    }
    println!("{profile:?}: {tally:?}");
    compared(&format!("searches of {profile:?}: abstraction"), tally.complete as u64);
    assert!(tally.complete > 4 * tally.cut, "most searches are small enough: {tally:?}");
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
    random(Profile::Records);
}

#[test]
fn random_everything() {
    random(Profile::Kitchen);
}

#[test]
fn random_full_buffers() {
    random(Profile::Buffers);
}
