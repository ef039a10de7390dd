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
use std::collections::BTreeMap;
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

/// How many programs notice, by what was noticed.
type Noticed = BTreeMap<&'static str, usize>;

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

/// What the checks say with this mutation, under TSO and PSO.
fn noticed(suite: &[(Problem, [Exact; 2])], mutated: Mutated) -> [Noticed; 2] {
    let mut all = [Noticed::new(), Noticed::new()];
    for (problem, exact) in suite {
        for (at, (_, grouping, _)) in MODELS.into_iter().enumerate() {
            let examined = catch_unwind(|| {
                let scope = Scope { mutated, states: 5_000, ..Scope::whole() };
                examine(problem, grouping, &exact[at], scope, &mut Tally::default())
            });
            let mut broken: Vec<&str> = match examined {
                Ok(differences) => differences.iter().map(|d| name(d.broken)).collect(),
                Err(_) => vec!["invariant"],
            };
            broken.sort_unstable();
            broken.dedup();
            for broken in broken {
                *all[at].entry(broken).or_default() += 1;
            }
        }
    }
    for (at, (_, grouping, _)) in MODELS.into_iter().enumerate() {
        for claim in CLAIMS {
            let kept = DOMAINS.map(|domain| {
                catch_unwind(|| is_kept(claim, grouping, domain, mutated)).unwrap_or(true)
            });
            if kept.contains(&false) {
                *all[at].entry("precision").or_default() += 1;
            }
        }
    }
    all
}

fn name(broken: Broken) -> &'static str {
    match broken {
        Broken::Inclusion => "inclusion",
        Broken::Hierarchy => "hierarchy",
        Broken::Exactness => "exactness",
    }
}

#[test]
fn the_rules_themselves_show_no_difference() {
    let suite = suite();
    assert_eq!(noticed(&suite, Mutated::default()), [Noticed::new(), Noticed::new()]);
}

#[test]
fn every_mutation_is_noticed() {
    // By what it must be noticed at least: too little is missing outcomes, too much is lost precision.
    let mutations = [
        (Mutation::NoStay, "inclusion"),
        (Mutation::NoLeave, "inclusion"),
        (Mutation::LastLeaves, "precision"),
        (Mutation::StaleLast, "inclusion"),
        (Mutation::SetBeforeHead, "precision"),
        (Mutation::HeadReopened, "precision"),
        (Mutation::CoversTooMuch, "inclusion"),
        (Mutation::NoForwarding, "inclusion"),
        (Mutation::IgnoredFence, "precision"),
        (Mutation::UpdateWithoutDrain, "precision"),
    ];
    let suite = suite();
    let mut unnoticed = Vec::new();
    for (mutation, least) in mutations {
        for ((model, ..), noticed) in MODELS.into_iter().zip(noticed(&suite, Mutated::by(mutation)))
        {
            println!("{mutation:?} {model}: {noticed:?}");
            if !noticed.contains_key(least) {
                unnoticed.push(format!("{mutation:?} {model}: {noticed:?}, but not {least}"));
            }
        }
    }
    assert!(unnoticed.is_empty(), "{}", unnoticed.join("\n"));
}
