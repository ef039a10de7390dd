//! The abstract models include all exact behaviours: on the corpus and on random programs.

use super::requirements::{ExactResult, MODELS, Scope, Tally, check_requirements, check_source};
use crate::common::{lower, model, outcomes, report_comparisons, seeds, settings};
use fencepost_engines::{Settings, Verdict};
use fencepost_ir::Problem;
use fencepost_models::mutation::Mutated;
use fencepost_models::{ModelSpec, Reductions};
use fencepost_search::Limits;
use fencepost_testkit::corpus;
use fencepost_testkit::is_campaign;
use fencepost_testkit::programs::{Profile, program, shrink};

/// The number of random programs of each profile.
const PROGRAMS: u64 = 15;
/// The maximum number of pending stores in exact searches.
const BOUND: u32 = 3;
/// The maximum number of states of exact searches. Outcomes of a search that is cut short are still
/// exact.
const MAX_STATES: u64 = 20_000;

/// Returns the exact result by the explicit engine.
fn exact_by_explicit_engine(problem: &Problem, model: &ModelSpec) -> ExactResult {
    let limits = Limits { states: MAX_STATES, ..Limits::default() };
    let mut exact = ExactResult::default();
    for bound in 1..=BOUND {
        // Partial-order reduction may commit early, which hides the true length of queues.
        let reductions = Reductions { partial_order: false, ..Reductions::ALL };
        let fixed_buffer = Some(bound);
        let settings = Settings { limits, fixed_buffer, reductions, ..settings(1) };
        let answer = outcomes(problem, model, settings);
        exact.violated |= match &answer.verdict {
            // A missing witness has no run as evidence. An abstract model may have a witness.
            Verdict::Violated(violated) => violated.evidence().run().is_some(),
            Verdict::Verified(_) | Verdict::Inconclusive(_) => false,
        };
        exact.outcomes.extend(answer.outcomes);
        if answer.outcomes_complete {
            exact.longest = Some(bound);
            break;
        }
    }
    exact
}

/// Programs with large abstract searches.
const LARGE_PROGRAMS: [&str; 6] = [
    "automata-peterson",
    "values-stop-growing",
    "sober-bakery",
    "sober-bakery-fenced",
    "sober-dekker",
    "sober-takequeue",
];

/// The scope for large programs and for mutual exclusion.
const LARGE_SCOPE: Scope = Scope { states: 6_000, unreduced: false, mutated: Mutated::NONE };

fn check_folder(name: &str, scope: Scope) -> Tally {
    check_files(name, scope, |file| !LARGE_PROGRAMS.contains(&file))
}

fn check_files(name: &str, scope: Scope, is_selected: impl Fn(&str) -> bool) -> Tally {
    let mut wrong = Vec::new();
    let mut tally = Tally::default();
    for (file, source) in corpus::sources(name) {
        if !is_selected(&file) {
            continue;
        }
        for problem in lower(&source).expect("the corpus compiles") {
            for (name, grouping, _) in MODELS {
                let exact = exact_by_explicit_engine(&problem, &model(name));
                let found = check_requirements(&problem, grouping, &exact, scope, &mut tally);
                wrong.extend(found.iter().map(|d| format!("{file}: {d}")));
            }
        }
    }
    println!("{name}: {tally:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    tally
}

#[test]
fn litmus_programs_are_included() {
    let tally = check_folder("litmus", Scope::for_small_programs());
    assert_eq!(tally.cut, 0, "every search is small enough");
}

#[test]
fn mutex_programs_are_included() {
    let tally = check_folder("mutex", Scope { states: 1_000, ..LARGE_SCOPE });
    assert!(tally.complete > 200, "many searches are small enough: {tally:?}");
}

#[test]
fn paper_programs_are_included() {
    let tally = check_folder("papers", Scope::for_small_programs());
    assert_eq!(tally.cut, 0, "every search is small enough");
    let tally = check_files("papers", LARGE_SCOPE, |file| LARGE_PROGRAMS.contains(&file));
    assert!(tally.complete > 0, "some searches are small enough: {tally:?}");
}

#[test]
fn regression_programs_are_included() {
    let tally = check_folder("regress", Scope::for_small_programs());
    assert_eq!(tally.cut, 0, "every search is small enough");
    let tally = check_files("regress", LARGE_SCOPE, |file| LARGE_PROGRAMS.contains(&file));
    assert!(tally.complete > 0, "some searches are small enough: {tally:?}");
}

#[test]
fn waiting_programs_are_included() {
    let tally = check_folder("waiting", Scope::for_small_programs());
    assert!(tally.complete > 20 * tally.cut, "most searches are small enough: {tally:?}");
}

/// The large programs with the full scope, and more states for mutual exclusion. Takes minutes, so
/// it runs only in `cargo xtask campaign`.
#[test]
fn campaign_of_large_programs_is_included() {
    if !is_campaign() {
        return println!("skipped: runs only in `cargo xtask campaign`");
    }
    for name in ["papers", "regress"] {
        let tally =
            check_files(name, Scope::for_small_programs(), |file| LARGE_PROGRAMS.contains(&file));
        assert!(tally.complete > 0, "some searches are small enough: {tally:?}");
    }
    let tally = check_folder("mutex", Scope { states: 4_000, ..LARGE_SCOPE });
    assert!(tally.complete > 300, "many searches are small enough: {tally:?}");
}

fn check_random(profile: Profile) {
    let mut tally = Tally::default();
    for seed in seeds(PROGRAMS) {
        let drawn = program(profile, seed);
        let mut differences = |source: &str| {
            check_source(source, Scope::for_small_programs(), &mut tally).unwrap_or_default()
        };
        let found = differences(&drawn.to_string());
        let Some(first) = found.first() else { continue };
        let requirement = first.requirement;
        let same = |source: &str| differences(source).iter().any(|d| d.requirement == requirement);
        let small = shrink(&drawn, same).to_string();
        let texts: Vec<String> = differences(&small).iter().map(ToString::to_string).collect();
        panic!("{profile:?} seed {seed}:\n{}\n{small}", texts.join("\n"));
    }
    println!("{profile:?}: {tally:?}");
    report_comparisons(&format!("searches of {profile:?}: abstraction"), tally.complete as u64);
    assert!(tally.complete > 4 * tally.cut, "most searches are small enough: {tally:?}");
}

#[test]
fn random_straight_line_programs_are_included() {
    check_random(Profile::Straight);
}

#[test]
fn random_loops_are_included() {
    check_random(Profile::Loops);
}

#[test]
fn random_records_are_included() {
    check_random(Profile::Records);
}

#[test]
fn random_mixed_programs_are_included() {
    check_random(Profile::Mixed);
}

#[test]
fn random_full_buffers_are_included() {
    check_random(Profile::Buffers);
}
