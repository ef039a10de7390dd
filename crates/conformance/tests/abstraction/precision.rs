//! Precision: programs that the abstraction must verify. Inclusion alone would accept a model that
//! allows everything.
//!
//! [`CLAIMS`] are small correct programs, each with the domains that are fine enough to prove it by
//! the rules in the book. Each claim tests one rule. [`abstraction_reproduces_table_1`] is
//! Table 1 of \[KVY11\] on our encoding of its programs.

use super::requirements::{DOMAINS, MODELS, search};
use crate::common::{corpus, lower, model, settings};
use fencepost_engines::verdict::InconclusiveReason;
use fencepost_engines::{Abstraction, Budget, Engine, Task, Verdict};
use fencepost_ir::StoreBuffers;
use fencepost_models::Reductions;
use fencepost_models::coherence::{Coherence, Domain};
use fencepost_models::mutation::Mutated;
use fencepost_search::{Cancel, Progress};
use std::fs;

/// The precision that a domain needs to prove a claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RequiredPrecision {
    /// Every domain proves the claim.
    Any,
    /// Domains that keep the last value prove the claim.
    LastValue,
    /// Domains with heads prove the claim.
    Head,
    /// Domains with heads of two entries prove the claim.
    LongHead,
    /// The program is incorrect under this model.
    Violated,
}

impl RequiredPrecision {
    fn is_met(self, domain: Domain, k: u32) -> bool {
        match self {
            RequiredPrecision::Any => true,
            RequiredPrecision::LastValue => domain != Domain::Set,
            RequiredPrecision::Head => k > 0,
            RequiredPrecision::LongHead => k > 1,
            RequiredPrecision::Violated => false,
        }
    }
}

/// A claim: its description, the precision it needs under TSO and under PSO, and the program.
pub(crate) type Claim = (&'static str, RequiredPrecision, RequiredPrecision, &'static str);

/// The claims that must be proved.
pub(crate) const CLAIMS: [Claim; 17] = [
    (
        "the last store stays in memory",
        RequiredPrecision::LastValue,
        RequiredPrecision::LastValue,
        "shared int x; thread p { x = 1; x = 2; } final forall (x == 2);",
    ),
    (
        "a thread reads its own last store",
        RequiredPrecision::LastValue,
        RequiredPrecision::LastValue,
        "shared int x; thread p { x = 1; x = 2; r = x; } final forall (p.r == 2);",
    ),
    (
        "a thread reads its own last store in a loop",
        RequiredPrecision::LastValue,
        RequiredPrecision::LastValue,
        "shared int x; thread p { while (choose(0..=1) == 1) { x = 1; x = 2; r = x; assert(r == 2); } }
         thread q { s = x; }",
    ),
    (
        "two stores to one location stay in order",
        RequiredPrecision::Head,
        RequiredPrecision::Head,
        "shared int x; thread p { x = 1; x = 2; } thread q { r = x; s = x; }
         final never (q.r == 2 && q.s == 1);",
    ),
    (
        "three stores to one location stay in order",
        RequiredPrecision::LongHead,
        RequiredPrecision::LongHead,
        "shared int x; thread p { x = 1; x = 2; x = 3; } thread q { r = x; s = x; }
         final never (q.r > q.s);",
    ),
    (
        "stores to different locations stay in order",
        RequiredPrecision::Head,
        RequiredPrecision::Violated,
        "shared int x, y; thread p { x = 1; y = 1; } thread q { r = y; s = x; }
         final never (q.r == 1 && q.s == 0);",
    ),
    (
        "a store-store fence orders stores",
        RequiredPrecision::Head,
        RequiredPrecision::Any,
        "shared int x, y; thread p { x = 1; fence store_store; y = 1; } thread q { r = y; s = x; }
         final never (q.r == 1 && q.s == 0);",
    ),
    (
        "store-store fences in a loop order stores",
        RequiredPrecision::LongHead,
        RequiredPrecision::LastValue,
        "shared int x, y; thread p { x = 1; x = 2; fence store_store;
           while (choose(0..=1) == 1) { y = 1; fence store_store; } }
         thread q { r = y; s = x; } final never (q.r == 1 && q.s != 2);",
    ),
    (
        "four epochs stay in order",
        RequiredPrecision::Violated,
        RequiredPrecision::Any,
        "shared int x, y, z, w; thread p { x = 1; fence store_store; y = 1; fence store_store; z = 1;
           fence store_store; w = 1; } thread q { r = w; s = z; t = y; u = x; }
         final never (q.r == 1 && q.s + q.t + q.u < 3);",
    ),
    (
        "a full fence drains",
        RequiredPrecision::Any,
        RequiredPrecision::Any,
        "shared int x, y; thread p { x = 1; fence; r = y; } thread q { y = 1; fence; r = x; }
         final never (p.r == 0 && q.r == 0);",
    ),
    (
        "a full fence drains many stores",
        RequiredPrecision::LastValue,
        RequiredPrecision::LastValue,
        "shared int x, y; thread p { while (choose(0..=1) == 1) { x = 2; } x = 1; fence; r = y; }
         thread q { y = 1; fence; r = x; } final never (p.r == 0 && q.r != 1);",
    ),
    (
        "a store-load fence orders stores before loads",
        RequiredPrecision::Any,
        RequiredPrecision::Any,
        "shared int x, y; thread p { x = 1; fence store_load; r = y; }
         thread q { y = 1; fence store_load; r = x; } final never (p.r == 0 && q.r == 0);",
    ),
    (
        "a load waits for the stores before a store-load fence, not for those after it",
        RequiredPrecision::Any,
        RequiredPrecision::Any,
        "shared int x, y, z; thread p { x = 1; fence store_load; z = 1; r = y; }
         thread q { y = 1; fence store_load; z = 2; r = x; } final never (p.r == 0 && q.r == 0);",
    ),
    (
        "stores before a barrier are committed first",
        RequiredPrecision::Any,
        RequiredPrecision::Violated,
        "shared int x, y; thread p { x = 1; fence store_load; y = 1; } thread q { r = y; s = x; }
         final never (q.r == 1 && q.s == 0);",
    ),
    (
        "an update drains",
        RequiredPrecision::Any,
        RequiredPrecision::Any,
        "shared int x; thread p { x = 1; r = fetch_add(x, 1); } thread q { s = x; }
         final forall (p.r == 1 && x == 2);",
    ),
    (
        "drain waits for the location",
        RequiredPrecision::Any,
        RequiredPrecision::Any,
        "shared int x, y; thread p { x = 1; drain x; r = y; } thread q { y = 1; drain y; r = x; }
         final never (p.r == 0 && q.r == 0);",
    ),
    (
        "an atomic block waits until nothing is pending",
        RequiredPrecision::Any,
        RequiredPrecision::Any,
        "shared int x, y; thread p { x = 1; atomic { r = y; } } thread q { y = 1; atomic { r = x; } }
         final never (p.r == 0 && q.r == 0);",
    ),
];

/// Returns whether a claim is decided as expected: proved if and only if the domain is fine enough.
pub(crate) fn is_decided_as_expected(
    (name, tso, pso, source): Claim,
    grouping: StoreBuffers,
    (domain, k): (Domain, u32),
    mutated: Mutated,
) -> bool {
    let problems = lower(source).unwrap_or_else(|errors| panic!("{name}: {errors}"));
    let coherence = Coherence { grouping, domain, k, labelled: false, mutated };
    let found = search(&problems[0], coherence, Reductions::ALL, 30_000);
    let needs = match grouping {
        StoreBuffers::Tso => tso,
        StoreBuffers::Pso => pso,
    };
    (found.complete && !found.violated) == needs.is_met(domain, k)
}

#[test]
fn every_claim_is_proved_by_exactly_the_domains_that_are_fine_enough() {
    for claim in CLAIMS {
        for (name, grouping, _) in MODELS {
            for domain in DOMAINS {
                let decided = is_decided_as_expected(claim, grouping, domain, Mutated::default());
                assert!(decided, "{}: {name} {domain:?}", claim.0);
            }
        }
    }
}

/// Returns the verdict of the engine on a program of the corpus.
fn verdict(stem: &str, name: &str, engine: Abstraction) -> Verdict {
    let path = corpus().join(format!("mutex/{stem}.fp"));
    let source = fs::read_to_string(path).expect("a program of the corpus");
    let problem = &lower(&source).expect("the program compiles")[0];
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    engine.run(Task { problem, model: &model(name) }, settings(1), budget).verdict
}

fn is_spurious(verdict: &Verdict) -> bool {
    verdict.inconclusive_reason() == Some(&InconclusiveReason::Spurious)
}

/// \[KVY11\] Table 1, under PSO. DIVERGENCE: our encoding of the sense-reversing barrier is simple
/// enough for `set`.
#[test]
fn abstraction_reproduces_table_1() {
    let rows = [
        ("sense1", true, true),
        ("peterson2", false, true),
        ("dekker2", false, true),
        ("bakery2", false, true),
        ("fast3", false, false),
        ("clh2", false, false),
    ];
    for (stem, by_set, by_full_0) in rows {
        let columns =
            [(Domain::Set, 0, by_set), (Domain::Full, 0, by_full_0), (Domain::Full, 1, true)];
        for (domain, k, proved) in columns {
            let found = verdict(stem, "pso", Abstraction { domain, k });
            let right = if proved { found.is_verified() } else { is_spurious(&found) };
            assert!(right, "{stem} {} k={k}: {}", domain.name(), found.word());
        }
    }
}

/// The versions for TSO have fewer fences. Each is listed with the shortest heads that prove it.
#[test]
fn programs_for_tso_are_proved_with_heads_of_the_known_length() {
    let rows = [
        ("dekker1-tso", 0),
        ("burns1-tso", 0),
        ("dijkstra1-tso", 0),
        ("bakery2-tso", 1),
        ("peterson1-tso", 2),
        ("fast2-tso", 2),
        ("szymanski2-tso", 2),
    ];
    for (stem, minimum) in rows {
        for k in 0..=minimum {
            let found = verdict(stem, "tso", Abstraction { domain: Domain::Full, k });
            let right = if k == minimum { found.is_verified() } else { is_spurious(&found) };
            assert!(right, "{stem} k={k}: {}", found.word());
        }
    }
}
