//! Mutation tests of the abstract rules. Each mutation must be detected on these programs, under
//! TSO and under PSO.
//!
//! A mutation that removes behaviours is detected by missing exact outcomes. A mutation that adds
//! behaviours is detected by programs that are no longer verified, or by outcomes that are added
//! although the abstraction should be exact.

use super::precision::{CLAIMS, is_decided_as_expected};
use super::requirements::{
    DOMAINS, ExactResult, MODELS, Requirement, Scope, Tally, check_requirements,
};
use crate::common::lower;
use fencepost_ir::Problem;
use fencepost_models::mutation::{Mutated, Mutation};
use fencepost_testkit::programs::{Profile, program};
use std::panic::catch_unwind;

/// Programs for rules that random programs seldom exercise: repeated stores and the last of them,
/// marks, and the covering of abstract states.
const PROGRAMS: [&str; 13] = [
    "shared int x; thread p { x = 1; x = 2; x = 1; } thread q { r0 = x; r1 = x; r2 = x; }
     observe q.r0, q.r1, q.r2;",
    "shared int x; thread p { x = 1; x = 2; x = 1; r = x; x = 3; s = x; } thread q { r = x; }
     observe x, p.r, p.s, q.r;",
    "shared int x, y; thread p { x = 1; y = 1; x = 2; y = 2; x = 1; } thread q { r = y; s = x; }
     observe x, y, q.r, q.s;",
    "shared int x, y; thread p { x = 1; fence store_store; x = 2; y = 1; fence store_store; y = 2; x = 1; }
     thread q { r = y; s = x; } observe x, y, q.r, q.s;",
    "shared int x, y; thread p { x = 1; fence store_load; x = 2; y = 1; r = y; }
     thread q { y = 2; fence store_load; s = x; } observe x, y, p.r, q.s;",
    "shared int x, y, z, w; thread p { x = 1; fence store_store; y = 1; fence store_store; z = 1;
     fence store_store; w = 1; fence store_store; x = 2; fence store_store; y = 2; }
     thread q { r = y; s = x; t = w; } observe q.r, q.s, q.t;",
    "shared int x, y; thread p { while (choose(0..=1) == 1) { x = 1; fence store_store; x = 2; } y = 1; r = x; }
     thread q { r = y; s = x; } observe p.r, q.r, q.s, x;",
    "shared int x, y; thread p { x = 1; r = swap(y, 1); x = 2; s = fetch_add(x, 1); }
     thread q { y = 2; fence store_load, store_store; x = 0; t = x; } observe p.r, p.s, q.t, x, y;",
    "shared int x, w, z; thread p { x = 1; x = 2; while (z == 0) skip; x = 3; s = x; w = 1; }
     thread q { while (x != 1) skip; z = 1; while (w == 0) skip; t = x; } observe p.s, q.t;",
    // The path with the fence is shorter. Its states must not cover those of the other path.
    "shared int x, y, z; thread p { x = 1; if (choose(0..=1) == 1) { fence store_store; }
     else { r = z; r = z; r = z; r = 0; } y = 1; r = z; }
     thread q { a = y; b = x; z = 1; } observe p.r, q.a, q.b;",
    // The same with heads: the contents 2, 1 are reached early and must not cover 1, 2, 1.
    "shared int x, z, w; thread p { if (choose(0..=1) == 1) { x = 0; }
     else { r = z; r = z; r = z; r = z; r = 0; x = 1; } x = 2; x = 1; r = w; }
     thread q { w = 1; fence; a = x; b = x; c = x; d = x; z = 1; } observe p.r, q.a, q.b, q.c, q.d;",
    // Two heads before the same set: both must be kept.
    "shared int x, w; thread p { if (choose(0..=1) == 1) { x = 1; } else { x = 2; } x = 3; r = w; }
     thread q { w = 1; fence; a = x; b = x; } observe p.r, q.a, q.b;",
    // A thread that stores forever must not prevent the steps of the other thread.
    "shared int x; thread p { loop { x = 1; } } thread q { r = x; assert(r == 0); } observe x;",
];

/// Returns the programs with their exact results under TSO and PSO.
fn suite() -> Vec<(Problem, [ExactResult; 2])> {
    let random = (0..8).flat_map(|seed| {
        [Profile::Buffers, Profile::Straight, Profile::Loops].map(|p| program(p, seed).to_string())
    });
    let sources = PROGRAMS.into_iter().map(String::from).chain(random);
    let problem = |source: String| lower(&source).expect("the programs compile").swap_remove(0);
    let exact = |p: Problem| {
        let exact = MODELS.map(|(.., model)| ExactResult::by_reference(&p, model));
        (p, exact)
    };
    sources.map(problem).map(exact).collect()
}

/// Returns whether the suite violates a selected requirement under one of the models. A panic does
/// not count.
fn violates_requirement(
    suite: &[(Problem, [ExactResult; 2])],
    model: usize,
    mutated: Mutated,
    is_selected: impl Fn(Requirement) -> bool,
) -> bool {
    let (_, grouping, _) = MODELS[model];
    suite.iter().any(|(problem, exact)| {
        let checked = catch_unwind(|| {
            let scope = Scope { mutated, states: 5_000, ..Scope::for_small_programs() };
            check_requirements(problem, grouping, &exact[model], scope, &mut Tally::default())
        });
        checked.is_ok_and(|differences| differences.iter().any(|d| is_selected(d.requirement)))
    })
}

/// Returns whether some claim is not decided as expected under one of the models.
fn loses_precision(model: usize, mutated: Mutated) -> bool {
    let (_, grouping, _) = MODELS[model];
    let as_expected = |claim, domain| {
        catch_unwind(|| is_decided_as_expected(claim, grouping, domain, mutated)).unwrap_or(true)
    };
    CLAIMS.into_iter().any(|claim| DOMAINS.into_iter().any(|domain| !as_expected(claim, domain)))
}

#[test]
fn the_unmutated_rules_meet_all_requirements() {
    let suite = suite();
    for (model, (name, ..)) in MODELS.into_iter().enumerate() {
        assert!(!violates_requirement(&suite, model, Mutated::NONE, |_| true), "{name}");
        assert!(!loses_precision(model, Mutated::NONE), "{name}");
    }
}

#[test]
fn every_mutation_is_detected() {
    // Missing behaviours are detected as missing outcomes, additional ones as lost precision.
    let removing = [
        Mutation::CommittedNeverStays,
        Mutation::CommittedAlwaysStays,
        Mutation::StaleLast,
        Mutation::CoversTooMuch,
        Mutation::NoForwarding,
    ];
    let adding = [
        Mutation::LastLeavesEarly,
        Mutation::SetBeforeHead,
        Mutation::HeadReopened,
        Mutation::IgnoredFence,
        Mutation::UpdateWithoutDrain,
    ];
    let suite = suite();
    for (model, (name, ..)) in MODELS.into_iter().enumerate() {
        for mutation in removing {
            let missing = |requirement| matches!(requirement, Requirement::Inclusion);
            let detected = violates_requirement(&suite, model, Mutated::with(mutation), missing);
            assert!(detected, "{mutation:?} {name}: no outcome is missing");
        }
        for mutation in adding {
            let detected = loses_precision(model, Mutated::with(mutation));
            assert!(detected, "{mutation:?} {name}: every claim is decided as expected");
        }
    }
}
