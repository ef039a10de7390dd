//! Hiding locations (`translate/src/hide.rs`) is an over-approximation under every model: without the
//! accesses to some locations, a program has all its outcomes of the other locations and of the
//! registers, and a violated program is not verified.

use crate::common::{check, check_with, model, outcomes, report_comparisons, seeds, settings};
use fencepost_engines::{Auto, Decider, Settings};
use fencepost_ir::{Loc, Observable, Problem, Value};
use fencepost_search::Limits;
use fencepost_testkit::corpus;
use fencepost_testkit::programs::{Profile, arm, program};
use fencepost_translate::hide::{groups, hide};
use std::collections::BTreeSet;

/// The usual number of random programs of each kind.
const PROGRAMS: u64 = 40;

const MODELS: [&str; 5] = ["sc", "tso", "pso", "rmo", "arm"];

/// Returns the outcomes without the hidden locations, if the search is complete.
fn projected(
    problem: &Problem,
    name: &str,
    hidden: &[&[Loc]],
) -> Option<BTreeSet<Vec<Option<Value>>>> {
    let limits = Limits { states: 50_000, ..Limits::default() };
    let answer = outcomes(problem, &model(name), Settings { limits, ..settings(1) });
    let is_hidden = |what: &Observable| match what {
        Observable::Loc(loc) => hidden.iter().any(|group| group.contains(loc)),
        Observable::Reg(..) | Observable::At(..) => false,
    };
    let without = |outcome: &Vec<Value>| {
        let values = problem.observed.iter().zip(outcome);
        values.map(|(what, value)| (!is_hidden(what)).then_some(*value)).collect()
    };
    answer.outcomes_complete.then(|| answer.outcomes.iter().map(without).collect())
}

/// Returns the sets of groups that are hidden in a test: each group alone, and all.
fn hidden_sets(groups: &[Vec<Loc>]) -> Vec<Vec<&[Loc]>> {
    let each = groups.iter().map(|group| vec![&group[..]]);
    each.chain([groups.iter().map(|group| &group[..]).collect()]).collect()
}

/// Compares the outcomes of a program with and without accesses to some locations. Returns the
/// number of comparisons.
fn compare(problem: &Problem, text: &str) -> u64 {
    let mut compared = 0;
    let groups = groups(problem);
    for hidden in hidden_sets(&groups).into_iter().filter(|hidden| !hidden.is_empty()) {
        let smaller = hide(problem, &hidden);
        assert_eq!(fencepost_ir::validate::validate(&smaller), Ok(()), "{text}");
        for name in MODELS {
            let Some(exact) = projected(problem, name, &hidden) else { continue };
            let Some(found) = projected(&smaller, name, &hidden) else { continue };
            let missing = exact.difference(&found).next();
            assert_eq!(missing, None, "{name} without {hidden:?}:\n{text}");
            compared += 1;
        }
    }
    compared
}

#[test]
fn random_programs_lose_no_outcome_without_some_locations() {
    let mut compared = 0;
    for seed in seeds(PROGRAMS) {
        let text = program(Profile::Straight, seed).to_string();
        compared += compare(&fencepost_testkit::problem(&text), &text);
        let arm = arm(seed);
        compared += compare(&arm.problem(), &arm.to_string());
    }
    report_comparisons("programs without some locations", compared);
    assert!(compared > 100, "only {compared} comparisons");
}

#[test]
fn a_violated_program_is_not_verified_without_some_locations() {
    let mut compared = 0;
    let limits = Limits { states: 20_000, ..Limits::default() };
    let settings = Settings { limits, shortest: false, ..settings(1) };
    // The programs of the second folder have hangs.
    let programs = ["mutex", "waiting"].into_iter().flat_map(corpus::sources);
    for (name, source) in programs {
        let problem = fencepost_testkit::problem(&source);
        let groups = groups(&problem);
        for model in ["tso", "pso", "arm"].map(model) {
            if check(&problem, &model, settings).verdict.evidence().is_none() {
                continue;
            }
            for hidden in hidden_sets(&groups) {
                let answer = check(&hide(&problem, &hidden), &model, settings);
                assert!(!answer.verdict.is_verified(), "{name} {} {hidden:?}", model.name);
                compared += u64::from(!hidden.is_empty());
            }
        }
    }
    assert!(compared > 40, "only {compared} comparisons");
}

#[test]
fn a_lock_whose_waiting_threads_store_is_verified_without_its_other_locations() {
    let (_, source) = corpus::sources("mutex")
        .into_iter()
        .find(|(name, _)| name.contains("dijkstra1-tso"))
        .expect("the corpus has this program");
    let problem = fencepost_testkit::problem(&source);
    let answer = check_with(&Auto, &problem, &model("arm"), settings(1));
    assert!(answer.verdict.is_verified());
    assert_eq!(answer.decider, Decider::Hiding(3));
}

#[test]
fn a_thread_that_waits_at_a_load_keeps_its_location() {
    let waits = "shared bool x; shared bool y;
         thread p { y = true; while (!x) { } }
         thread q { r = y; x = r; }";
    assert_eq!(groups(&fencepost_testkit::problem(waits)), [[Loc(1)]]);
    let may_hang = format!("{waits} property may_hang;");
    assert_eq!(groups(&fencepost_testkit::problem(&may_hang)).len(), 2);
}

#[test]
fn a_deadlock_at_an_assumption_keeps_its_location() {
    let blocks = "shared bool x; shared bool y;
         thread p { y = true; r = x; assume(r); }
         thread q { r = y; x = r; }
         property deadlock_free;";
    assert_eq!(groups(&fencepost_testkit::problem(blocks)), [[Loc(1)]]);
}

#[test]
fn conditions_on_final_states_hide_nothing() {
    let ends = "shared bool x; thread p { x = true; } thread q { r = x; } final forall !q.r;";
    assert_eq!(groups(&fencepost_testkit::problem(ends)), Vec::<Vec<Loc>>::new());
}
