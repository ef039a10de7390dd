//! The model that forgets (`models/src/arm/forget.rs`) is an over-approximation of `arm`: with windows
//! of any length, it has all outcomes that the axioms allow.
//!
//! The first thread of a random program stores to a few locations again and again, and guesses
//! branches, so that its window fills and it has something to forget.

use super::Outcomes;
use crate::common::{report_comparisons, seeds};
use fencepost_conformance::axiomatic;
use fencepost_ir::{Problem, Value};
use fencepost_models::arm::Arm;
use fencepost_models::mutation::{Mutated, Mutation};
use fencepost_models::{Machine, Reductions};
use fencepost_search::{Cancel, Coverage, Limits, Options, Progress, explore};
use fencepost_testkit::Random;
use fencepost_testkit::programs::ArmProgram;
use std::num::NonZeroUsize;

/// The usual number of random programs.
const PROGRAMS: u64 = 150;

/// The lengths of windows.
const BOUNDS: [u32; 4] = [1, 2, 3, 4];

/// Programs in which writes are forgotten.
const FORGOTTEN: [&str; 3] = [
    // The first value can be seen only if the forgotten write is committed.
    "str x 1; str y 1; str x 2; str z 1 | ldr r0 x; ldr r1 x",
    "str x 1; str x 1; str y 1; str z 1 | ldr r0 x; str x 2; ldr r1 x",
    // The load between the two writes takes the value of the first one before others see it.
    "str x 1; ldr r0 x; str y 1+r0; str x 2; str z 1 | ldr r0 y; dmb; ldr r1 x; str x 3",
];

/// Returns the outcomes of a model, if its bound is never reached.
fn all_outcomes(problem: &Problem, model: Arm) -> Option<Outcomes> {
    let machine = Machine::new(problem, model, Reductions::ALL);
    let (cancel, progress) = (&Cancel::default(), &Progress::default());
    let limits = Limits { states: 100_000, ..Limits::default() };
    let threads = NonZeroUsize::MIN;
    let found = explore(&machine, Options { limits, cancel, progress, threads, stop_at: None });
    let values = |fact: &Vec<u8>| {
        let (chunks, _) = fact.as_chunks::<8>();
        chunks.iter().map(|bytes| Value::from_le_bytes(*bytes)).collect()
    };
    let is_complete = found.coverage == Coverage::Exhaustive;
    is_complete.then(|| found.facts.iter().map(values).collect())
}

/// Returns a random program. A register is loaded several times, so that not every value is used.
fn random_program(seed: u64) -> ArmProgram {
    let mut random = Random::new(seed ^ 0x0066_6f72 << 32);
    let of_first = [
        "str x 1",
        "str x 2",
        "str y 1",
        "str y 2",
        "ldr r0 y",
        "ldr r0 x",
        "ldr r1 z",
        "cbz r0 0",
        "cbz r1 0",
        "dmb.st",
        "str x 1+r0",
        "stlr y 1",
        "swp r1 y 1",
    ];
    let of_second = ["str x 3", "str y 3", "ldr r0 x", "ldr r1 y", "ldr r2 x", "dmb", "str z 1"];
    let mut thread = |statements: &[&str], count: usize| -> String {
        let any = |_| statements[random.below(statements.len())];
        (0..count).map(any).collect::<Vec<_>>().join("; ")
    };
    // A branch tests a register that was loaded.
    let first = format!("ldr r0 x; ldr r1 z; {}; str z 2", thread(&of_first, 4));
    let second = thread(&of_second, 3);
    format!("{first} | {second}").parse().expect("a well-formed program")
}

#[test]
fn forgetting_loses_no_outcome() {
    let (mut compared, mut forgotten) = (0, 0);
    let random = seeds(PROGRAMS).map(random_program);
    let classics = FORGOTTEN.map(|source| source.parse().expect("a well-formed program"));
    for program in random.chain(classics) {
        let problem = program.problem();
        let Ok(judged) = axiomatic::arm_outcomes(&problem) else { continue };
        for bound in BOUNDS {
            let model = Arm::forgetting(bound, Mutated::NONE);
            let Some(found) = all_outcomes(&problem, model) else { continue };
            let mut missing = judged.difference(&found);
            assert_eq!(missing.next(), None, "{program} with {bound} entries");
            compared += 1;
            let exact = Arm::new(bound, Mutated::NONE);
            forgotten += u64::from(all_outcomes(&problem, exact).is_none());
        }
    }
    report_comparisons("programs: arm with windows that forget", compared);
    assert!(forgotten * 10 > compared, "only {forgotten} of {compared} programs forget something");
}

#[test]
fn every_mutation_of_forgetting_is_detected() {
    let programs: Vec<(Problem, Outcomes)> = FORGOTTEN
        .iter()
        .map(|source| {
            let problem = source.parse::<ArmProgram>().expect("a well-formed program").problem();
            let judged = axiomatic::arm_outcomes(&problem).expect("a small program");
            (problem, judged)
        })
        .collect();
    let is_detected = |mutated: Mutated| {
        programs.iter().any(|(problem, judged)| {
            BOUNDS.iter().any(|bound| {
                let found = all_outcomes(problem, Arm::forgetting(*bound, mutated));
                found.is_some_and(|found| !judged.is_subset(&found))
            })
        })
    };
    assert!(!is_detected(Mutated::NONE), "forgetting without a mutation loses an outcome");
    for mutation in [Mutation::ForgetsWrites, Mutation::ForgetsReadWrites] {
        assert!(is_detected(Mutated::with(mutation)), "{mutation:?} is not detected");
    }
}
