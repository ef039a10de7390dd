//! The model `arm`: its axioms, its machine in the reference interpreter and the engine have the
//! same outcomes, on classic litmus tests and on random programs.
//!
//! The axiomatic judge enumerates candidate executions. The reference interpreter runs windows. They
//! share only the program representation. If they differ, one of them does not implement the book's
//! page, or the two definitions of the page differ.
//!
//! `FENCEPOST_SEEDS=from..to` selects other random programs.

mod classics;
mod forgetting;
mod violations;

use crate::common::{outcomes, report_comparisons, seeds, settings};
use crate::mutations;
use classics::CLASSICS;
use fencepost_conformance::axiomatic::{self, Unsupported};
use fencepost_conformance::reference;
use fencepost_ir::{Problem, Value};
use fencepost_models::arm::Arm;
use fencepost_models::mutation::{Mutated, Mutation};
use fencepost_models::{ModelSpec, Reductions};
use fencepost_testkit::programs::{ArmProgram, Profile, arm, program, shrink_arm};
use std::collections::BTreeSet;

/// The usual number of random programs.
const PROGRAMS: u64 = 200;

/// The limit on states of the reference interpreter. Larger programs are not compared.
const MAX_STATES: usize = 50_000;

type Outcomes = BTreeSet<Vec<Value>>;

/// Compares the outcomes of one program. Returns `Ok(false)` if it is too large, and a difference as
/// an error.
fn compare(program: &ArmProgram) -> Result<bool, String> {
    let problem = program.problem();
    let judged = match axiomatic::arm_outcomes(&problem) {
        Ok(judged) => judged,
        Err(reason) => {
            assert_eq!(reason, Unsupported::TooLarge, "{program}");
            return Ok(false);
        }
    };
    let Some(run) = reference::arm_outcomes(&problem, MAX_STATES) else { return Ok(false) };
    expect_same(&problem, ("the axioms", &judged), ("the machine", &run))?;
    if let Some(model) = ModelSpec::by_name("arm") {
        let answer = outcomes(&problem, &model, settings(1));
        assert!(answer.outcomes_complete, "the search of a loop-free program is complete");
        expect_same(&problem, ("the axioms", &judged), ("the engine", &answer.outcomes))?;
    }
    Ok(true)
}

/// Returns a description of the difference of two sets of outcomes as an error.
fn expect_same(
    problem: &Problem,
    one: (&str, &Outcomes),
    other: (&str, &Outcomes),
) -> Result<(), String> {
    if one.1 == other.1 {
        return Ok(());
    }
    let names: Vec<String> =
        problem.observed.iter().map(|what| problem.program.observable_name(*what)).collect();
    let only = |one: (&str, &Outcomes), other: (&str, &Outcomes)| {
        format!("only {} have {:?}", one.0, one.1.difference(other.1).collect::<Vec<_>>())
    };
    Err(format!("{}; {} ({})", only(one, other), only(other, one), names.join(", ")))
}

#[test]
fn random_programs_have_the_same_outcomes() {
    let (mut same, mut skipped) = (0, 0);
    for seed in seeds(PROGRAMS) {
        let program = arm(seed);
        match compare(&program) {
            Ok(true) => same += 1,
            Ok(false) => skipped += 1,
            Err(_) => {
                let small = shrink_arm(&program, |smaller| compare(smaller).is_err());
                let difference = compare(&small).expect_err("the shrunk program still fails");
                panic!("seed {seed}: {small}\n{difference}");
            }
        }
    }
    report_comparisons("programs: axioms and machine of arm", same);
    assert!(skipped * 10 <= same, "too many programs are skipped: {skipped}");
}

#[test]
fn random_programs_are_well_formed_and_have_a_text_form() {
    for seed in seeds(PROGRAMS) {
        let program = arm(seed);
        assert_eq!(fencepost_ir::validate::validate(&program.problem()), Ok(()), "{program}");
        assert_eq!(program.to_string().parse(), Ok(program));
    }
}

/// Returns whether an outcome has these values of observables.
fn has_values(problem: &Problem, outcome: &[Value], values: &str) -> bool {
    values.split_whitespace().all(|text| {
        let (name, value) = text.split_once('=').expect("`name=value`");
        let is_named = |at: &usize| problem.program.observable_name(problem.observed[*at]) == name;
        let at = (0..outcome.len()).find(is_named).unwrap_or_else(|| panic!("no {name}"));
        value.parse() == Ok(outcome[at])
    })
}

#[test]
fn classic_litmus_tests_have_the_known_answers() {
    for (name, source, values, expected) in CLASSICS {
        let program: ArmProgram = source.parse().expect("a well-formed program");
        let problem = program.problem();
        let judged = axiomatic::arm_outcomes(&problem).expect("a small program");
        let is_allowed = judged.iter().any(|outcome| has_values(&problem, outcome, values));
        assert_eq!(is_allowed, *expected, "{name}: {source}");
        // IRIW has too many states.
        if program.to_string().matches('|').count() < 3 {
            assert_eq!(compare(&program), Ok(true), "{name}: {source}");
        }
    }
}

/// Returns a program that tests the result of a comparison, and its outcomes. In one of them, the
/// comparison succeeds and its result is tested before the expected value is known.
fn tested_comparison() -> (Problem, Outcomes) {
    let problem = fencepost_testkit::problem(
        "shared int(0..=3) x = 1; shared int(0..=3) y; shared int(0..=3) z;
         thread p {
           e = y.load(relaxed);
           o = x.cmpxchg(e, 3, acquire, acquire);
           if (o == e) { a = z.load(relaxed); } else { a = 3; }
         }
         thread q { z.store(1, relaxed); fence; y.store(1, relaxed); }
         observe p.e, p.o, p.a, x;",
    );
    let judged = axiomatic::arm_outcomes(&problem).expect("a small program");
    assert!(judged.iter().any(|outcome| has_values(&problem, outcome, "p.e=1 p.o=1 p.a=0")));
    (problem, judged)
}

#[test]
fn every_mutation_of_arm_is_detected() {
    let programs: Vec<(Problem, Outcomes)> = CLASSICS
        .iter()
        .map(|(_, source, ..)| source.parse::<ArmProgram>().expect("a well-formed program"))
        .filter(|program| program.to_string().matches('|').count() < 3)
        .map(|program| {
            let problem = program.problem();
            let judged = axiomatic::arm_outcomes(&problem).expect("a small program");
            (problem, judged)
        })
        .chain([tested_comparison()])
        .collect();
    let is_detected = |mutated: Mutated| {
        programs.iter().any(|(problem, judged)| {
            let model = Arm::new(32, mutated);
            mutations::outcomes(problem, model, Reductions::ALL) != *judged
        })
    };
    assert!(!is_detected(Mutated::NONE), "arm without a mutation differs from the axioms");
    for mutation in [
        Mutation::GuessesContradict,
        Mutation::OthersWriteNothing,
        Mutation::NoForwarding,
        Mutation::IgnoredFence,
        Mutation::LoadsIncoherent,
        Mutation::ControlOrdersLoads,
        Mutation::AcquireIgnored,
        Mutation::WritesIgnoreAddresses,
        Mutation::SelectionsWait,
        Mutation::WrongSelectionsKept,
        Mutation::PresumedValuesCertain,
        Mutation::RedundantWritesIgnoreOthers,
        Mutation::RedundantWritesIgnoreOrder,
        Mutation::GuessesTooLate,
        Mutation::FetchesTooLate,
        Mutation::RepeatedGuessesDiffer,
        Mutation::PromptReadsDisturbed,
    ] {
        assert!(is_detected(Mutated::with(mutation)), "{mutation:?} is not detected");
    }
}

#[test]
fn a_program_without_orders_has_more_outcomes_than_under_tso() {
    let mut compared = 0;
    for seed in seeds(60) {
        let problem = fencepost_testkit::problem(&program(Profile::Straight, seed).to_string());
        let of = |name: &str| {
            let model = ModelSpec::by_name(name).expect("a built-in model");
            let answer = outcomes(&problem, &model, settings(1));
            answer.outcomes_complete.then_some(answer.outcomes)
        };
        let (Some(sc), Some(tso), Some(arm)) = (of("sc"), of("tso"), of("arm")) else { continue };
        assert!(sc.is_subset(&tso), "seed {seed}");
        assert!(tso.is_subset(&arm), "seed {seed}: {:?}", tso.difference(&arm));
        compared += 1;
    }
    report_comparisons("programs: outcomes under SC, TSO and arm", compared);
    assert!(compared > 0);
}

#[test]
fn unsupported_programs_are_refused() {
    for (source, reason) in [
        ("shared int x; thread p { while (x == 0) { } } observe x;", Unsupported::Loop),
        ("shared int x; thread p { atomic { x = 1; } } observe x;", Unsupported::Atomic),
        ("shared int x; thread p { x = 1; drain x; } observe x;", Unsupported::Drain),
    ] {
        let problem = fencepost_testkit::problem(source);
        assert_eq!(axiomatic::arm_outcomes(&problem), Err(reason), "{source}");
    }
}
