//! Would any check notice an error in an abstract rule? Each deliberate error must show on these programs, under
//! TSO and under PSO.
//!
//! An error that takes behaviours away shows as exact outcomes that are missing; one that adds some, as claims
//! that are not proved any more, or as outcomes that are added where nothing is forgotten.

use super::examine::{Broken, DOMAINS, Exact, MODELS, Scope, Tally, examine};
use super::precision::{CLAIMS, is_kept};
use crate::common::lower;
use fencepost_ir::Problem;
use fencepost_models::mutation::{Mutated, Mutation};
use fencepost_testkit::programs::{Profile, program};
use std::panic::catch_unwind;

/// Programs for rules that random ones seldom meet: repeated stores and which of them is the last, marks, and what may
/// stand for what.
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
    // The way with the fence is shorter; what it leads to must not stand for the other way.
    "shared int x, y, z; thread p { x = 1; if (choose(0..=1) == 1) { fence store_store; }
     else { r = z; r = z; r = z; r = 0; } y = 1; r = z; }
     thread q { a = y; b = x; z = 1; } observe p.r, q.a, q.b;",
    // The same with heads: 2, 1 is pending early, and must not stand for 1, 2, 1.
    "shared int x, z, w; thread p { if (choose(0..=1) == 1) { x = 0; }
     else { r = z; r = z; r = z; r = z; r = 0; x = 1; } x = 2; x = 1; r = w; }
     thread q { w = 1; fence; a = x; b = x; c = x; d = x; z = 1; } observe p.r, q.a, q.b, q.c, q.d;",
    // Two heads before the same set: neither may be lost.
    "shared int x, w; thread p { if (choose(0..=1) == 1) { x = 1; } else { x = 2; } x = 3; r = w; }
     thread q { w = 1; fence; a = x; b = x; } observe p.r, q.a, q.b;",
    // A thread that stores for ever must not keep the other one from its steps.
    "shared int x; thread p { loop { x = 1; } } thread q { r = x; assert(r == 0); } observe x;",
];

/// The programs, with what really happens under TSO and PSO.
fn suite() -> Vec<(Problem, [Exact; 2])> {
    let random = (0..8).flat_map(|seed| {
        [Profile::Buffers, Profile::Straight, Profile::Loops].map(|p| program(p, seed).to_string())
    });
    let sources = PROGRAMS.into_iter().map(String::from).chain(random);
    let problem = |source: String| lower(&source).expect("the programs compile").swap_remove(0);
    let exact = |p: Problem| {
        let exact = MODELS.map(|(.., model)| Exact::by_reference(&p, model));
        (p, exact)
    };
    sources.map(problem).map(exact).collect()
}

/// Whether an examination of the suite under one of the models shows a difference of the kind that is wanted. An
/// invariant that panics is another kind.
fn is_examined(
    suite: &[(Problem, [Exact; 2])],
    model: usize,
    mutated: Mutated,
    wanted: impl Fn(Broken) -> bool,
) -> bool {
    let (_, grouping, _) = MODELS[model];
    suite.iter().any(|(problem, exact)| {
        let examined = catch_unwind(|| {
            let scope = Scope { mutated, states: 5_000, ..Scope::whole() };
            examine(problem, grouping, &exact[model], scope, &mut Tally::default())
        });
        examined.is_ok_and(|differences| differences.iter().any(|d| wanted(d.broken)))
    })
}

/// Whether a claim that must be proved under one of the models is not.
fn is_imprecise(model: usize, mutated: Mutated) -> bool {
    let (_, grouping, _) = MODELS[model];
    let kept =
        |claim, domain| catch_unwind(|| is_kept(claim, grouping, domain, mutated)).unwrap_or(true);
    CLAIMS.into_iter().any(|claim| DOMAINS.into_iter().any(|domain| !kept(claim, domain)))
}

#[test]
fn the_rules_themselves_show_no_difference() {
    let suite = suite();
    for (model, (name, ..)) in MODELS.into_iter().enumerate() {
        assert!(!is_examined(&suite, model, Mutated::NONE, |_| true), "{name}");
        assert!(!is_imprecise(model, Mutated::NONE), "{name}");
    }
}

#[test]
fn every_mutation_is_noticed() {
    // Too little shows as missing outcomes, too much as lost precision.
    let too_little = [
        Mutation::NoStay,
        Mutation::NoLeave,
        Mutation::StaleLast,
        Mutation::CoversTooMuch,
        Mutation::NoForwarding,
    ];
    let too_much = [
        Mutation::LastLeaves,
        Mutation::SetBeforeHead,
        Mutation::HeadReopened,
        Mutation::IgnoredFence,
        Mutation::UpdateWithoutDrain,
    ];
    let suite = suite();
    for (model, (name, ..)) in MODELS.into_iter().enumerate() {
        for mutation in too_little {
            let missing = |broken| matches!(broken, Broken::Inclusion);
            let noticed = is_examined(&suite, model, Mutated::by(mutation), missing);
            assert!(noticed, "{mutation:?} {name}: no outcome is missing");
        }
        for mutation in too_much {
            let noticed = is_imprecise(model, Mutated::by(mutation));
            assert!(noticed, "{mutation:?} {name}: every claim is proved");
        }
    }
}
