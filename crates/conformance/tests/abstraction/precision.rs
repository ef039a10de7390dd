//! Verdicts that must not get lost. Inclusion alone would not notice a model that allows everything.
//!
//! [`CLAIMS`] are small programs that hold, each with the domains that are fine enough to prove it, as the rules
//! in the book have it: one reason for each claim. [`table_1`] is \[KVY11\]'s Table 1 on our encoding of its programs.

use super::examine::{DOMAINS, MODELS, search};
use crate::common::{corpus, lower, model, settings};
use fencepost_engines::verdict::InconclusiveReason;
use fencepost_engines::{Abstraction, Budget, Engine, Task, Verdict};
use fencepost_ir::StoreBuffers;
use fencepost_models::Reductions;
use fencepost_models::coherence::{Coherence, Domain};
use fencepost_models::mutation::Mutated;
use fencepost_search::{Cancel, Progress};
use std::fs;

/// Which domains prove a claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Needs {
    /// Every domain.
    Nothing,
    /// Those that keep the last value.
    Last,
    /// Those with heads.
    Head,
    /// Those with heads of two entries.
    LongHead,
    /// It does not hold under this model.
    Wrong,
}

impl Needs {
    fn is_met(self, domain: Domain, k: u32) -> bool {
        match self {
            Needs::Nothing => true,
            Needs::Last => domain != Domain::Set,
            Needs::Head => k > 0,
            Needs::LongHead => k > 1,
            Needs::Wrong => false,
        }
    }
}

/// A program that holds: what it shows, what it needs under TSO and PSO, its text.
pub(crate) type Claim = (&'static str, Needs, Needs, &'static str);

/// What must stay proved.
pub(crate) const CLAIMS: [Claim; 17] = [
    (
        "the last store stays in memory",
        Needs::Last,
        Needs::Last,
        "shared int x; thread p { x = 1; x = 2; } final forall (x == 2);",
    ),
    (
        "a thread sees its own last store",
        Needs::Last,
        Needs::Last,
        "shared int x; thread p { x = 1; x = 2; r = x; } final forall (p.r == 2);",
    ),
    (
        "in a loop, too",
        Needs::Last,
        Needs::Last,
        "shared int x; thread p { while (choose(0..=1) == 1) { x = 1; x = 2; r = x; assert(r == 2); } }
         thread q { s = x; }",
    ),
    (
        "one location has one order",
        Needs::Head,
        Needs::Head,
        "shared int x; thread p { x = 1; x = 2; } thread q { r = x; s = x; }
         final never (q.r == 2 && q.s == 1);",
    ),
    (
        "three stores to one location have one order",
        Needs::LongHead,
        Needs::LongHead,
        "shared int x; thread p { x = 1; x = 2; x = 3; } thread q { r = x; s = x; }
         final never (q.r > q.s);",
    ),
    (
        "stores to different locations",
        Needs::Head,
        Needs::Wrong,
        "shared int x, y; thread p { x = 1; y = 1; } thread q { r = y; s = x; }
         final never (q.r == 1 && q.s == 0);",
    ),
    (
        "a store-store fence",
        Needs::Head,
        Needs::Nothing,
        "shared int x, y; thread p { x = 1; fence store_store; y = 1; } thread q { r = y; s = x; }
         final never (q.r == 1 && q.s == 0);",
    ),
    (
        "store-store fences in a loop",
        Needs::LongHead,
        Needs::Last,
        "shared int x, y; thread p { x = 1; x = 2; fence store_store;
           while (choose(0..=1) == 1) { y = 1; fence store_store; } }
         thread q { r = y; s = x; } final never (q.r == 1 && q.s != 2);",
    ),
    (
        "four epochs",
        Needs::Wrong,
        Needs::Nothing,
        "shared int x, y, z, w; thread p { x = 1; fence store_store; y = 1; fence store_store; z = 1;
           fence store_store; w = 1; } thread q { r = w; s = z; t = y; u = x; }
         final never (q.r == 1 && q.s + q.t + q.u < 3);",
    ),
    (
        "a full fence",
        Needs::Nothing,
        Needs::Nothing,
        "shared int x, y; thread p { x = 1; fence; r = y; } thread q { y = 1; fence; r = x; }
         final never (p.r == 0 && q.r == 0);",
    ),
    (
        "a full fence after many stores",
        Needs::Last,
        Needs::Last,
        "shared int x, y; thread p { while (choose(0..=1) == 1) { x = 2; } x = 1; fence; r = y; }
         thread q { y = 1; fence; r = x; } final never (p.r == 0 && q.r != 1);",
    ),
    (
        "a store-load fence",
        Needs::Nothing,
        Needs::Nothing,
        "shared int x, y; thread p { x = 1; fence store_load; r = y; }
         thread q { y = 1; fence store_load; r = x; } final never (p.r == 0 && q.r == 0);",
    ),
    (
        "a store after a store-load fence does not make loads wait, those before do",
        Needs::Nothing,
        Needs::Nothing,
        "shared int x, y, z; thread p { x = 1; fence store_load; z = 1; r = y; }
         thread q { y = 1; fence store_load; z = 2; r = x; } final never (p.r == 0 && q.r == 0);",
    ),
    (
        "what is before a barrier is committed first",
        Needs::Nothing,
        Needs::Wrong,
        "shared int x, y; thread p { x = 1; fence store_load; y = 1; } thread q { r = y; s = x; }
         final never (q.r == 1 && q.s == 0);",
    ),
    (
        "an update drains",
        Needs::Nothing,
        Needs::Nothing,
        "shared int x; thread p { x = 1; r = fetch_add(x, 1); } thread q { s = x; }
         final forall (p.r == 1 && x == 2);",
    ),
    (
        "drain waits",
        Needs::Nothing,
        Needs::Nothing,
        "shared int x, y; thread p { x = 1; drain x; r = y; } thread q { y = 1; drain y; r = x; }
         final never (p.r == 0 && q.r == 0);",
    ),
    (
        "atomic waits",
        Needs::Nothing,
        Needs::Nothing,
        "shared int x, y; thread p { x = 1; atomic { r = y; } } thread q { y = 1; atomic { r = x; } }
         final never (p.r == 0 && q.r == 0);",
    ),
];

/// Whether a claim is decided as it must be: proved by what is fine enough and by nothing else.
pub(crate) fn is_kept(
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
    (found.complete && !found.wrong) == needs.is_met(domain, k)
}

#[test]
fn every_claim_is_proved_by_the_domains_that_are_fine_enough() {
    for claim in CLAIMS {
        for (name, grouping, _) in MODELS {
            for domain in DOMAINS {
                let kept = is_kept(claim, grouping, domain, Mutated::default());
                assert!(kept, "{}: {name} {domain:?}", claim.0);
            }
        }
    }
}

/// The verdict of the engine on a program of the corpus.
fn verdict(stem: &str, name: &str, engine: Abstraction) -> Verdict {
    let path = corpus().join(format!("mutex/{stem}.fp"));
    let source = fs::read_to_string(path).expect("a program of the corpus");
    let problem = &lower(&source).expect("it compiles")[0];
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    engine.run(Task { problem, model: &model(name) }, settings(1), budget).verdict
}

fn is_spurious(verdict: &Verdict) -> bool {
    verdict.inconclusive_reason() == Some(&InconclusiveReason::Spurious)
}

/// \[KVY11\] Table 1, under PSO. DIVERGENCE: our encoding of the sense-reversing barrier is simple enough for `set`.
#[test]
fn table_1() {
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

/// The versions for TSO, which have fewer fences: the shortest heads that prove them.
#[test]
fn programs_for_tso() {
    let rows = [
        ("dekker1-tso", 0),
        ("burns1-tso", 0),
        ("dijkstra1-tso", 0),
        ("bakery2-tso", 1),
        ("peterson1-tso", 2),
        ("fast2-tso", 2),
        ("szymanski2-tso", 2),
    ];
    for (stem, least) in rows {
        for k in 0..=least {
            let found = verdict(stem, "tso", Abstraction { domain: Domain::Full, k });
            let right = if k == least { found.is_verified() } else { is_spurious(&found) };
            assert!(right, "{stem} k={k}: {}", found.word());
        }
    }
}
