//! The axiomatic judge and the explicit engine have the same outcomes: on the litmus tests of the
//! corpus and on random programs, under every model that both support.
//!
//! The two share only the program representation. The engine runs the program with queues and
//! windows. The judge enumerates candidate executions and looks for cycles. If they differ, one of
//! them does not implement the semantics of the book.
//!
//! `FENCEPOST_SEEDS=from..to` selects other random programs.

use crate::common::{lower, model, outcomes, report_comparisons, seeds, settings};
use fencepost_conformance::axiomatic::{self, Unsupported};
use fencepost_conformance::reference::Table;
use fencepost_ir::{Fault, Problem, Value};
use fencepost_testkit::corpus;
use fencepost_testkit::problem;
use fencepost_testkit::programs::{RandomProgram, bounded, litmus, shrink};
use std::collections::BTreeSet;

/// The models under test: by name for the engine, and as a table for the judge.
const MODELS: [(&str, Table); 8] = [
    ("sc", Table::SC),
    ("ibm370", Table::IBM370),
    ("tso", Table::TSO),
    ("table-tso", Table::TSO),
    ("pso", Table::PSO),
    ("table-pso", Table::PSO),
    ("rmo-nospec", Table::RMO_NOSPEC),
    ("rmo", Table::RMO),
];

/// The usual number of random programs of each kind.
const PROGRAMS: u64 = 60;

/// Compares the outcomes of one problem under all models. The outer error is a difference.
fn compare(problem: &Problem) -> Result<Result<(), Unsupported>, String> {
    for (name, table) in MODELS {
        let judged = match axiomatic::outcomes(problem, table) {
            Ok(judged) => judged,
            Err(reason) => return Ok(Err(reason)),
        };
        let answer = outcomes(problem, &model(name), settings(1));
        assert!(answer.outcomes_complete, "the search of a loop-free program is complete");
        if judged != answer.outcomes {
            let missing: Vec<_> = answer.outcomes.difference(&judged).collect();
            let extra: Vec<_> = judged.difference(&answer.outcomes).collect();
            return Err(format!(
                "{name}: only the engine has {missing:?}, only the axioms {extra:?}"
            ));
        }
    }
    Ok(Ok(()))
}

/// Returns the outcomes of a source text under a table.
fn judge(source: &str, table: Table) -> Result<BTreeSet<Vec<Value>>, Unsupported> {
    axiomatic::outcomes(&problem(source), table)
}

#[test]
fn corpus_litmus_tests_have_the_outcomes_of_the_engine() {
    let (mut compared, mut refused) = (0, Vec::new());
    for (file, source) in corpus::sources("litmus") {
        for problem in lower(&source).expect("a well-formed program") {
            match compare(&problem) {
                Ok(Ok(())) => compared += 1,
                Ok(Err(reason)) => refused.push(format!("{file}: {reason}")),
                Err(difference) => panic!("{file}: {difference}"),
            }
        }
    }
    println!("{compared} compared, refused: {refused:#?}");
    assert!(compared >= 100, "most litmus tests are compared");
    assert!(refused.len() * 5 <= compared, "too many programs are refused: {refused:#?}");
}

fn compare_random(draw: fn(u64) -> RandomProgram) {
    let (mut same, mut refused) = (0, 0);
    for seed in seeds(PROGRAMS) {
        let drawn = draw(seed);
        match compare(&problem(&drawn.to_string())) {
            Ok(Ok(())) => same += 1,
            Ok(Err(reason)) => {
                assert_eq!(reason, Unsupported::TooLarge, "{drawn}");
                refused += 1;
            }
            Err(_) => {
                let small = shrink(&drawn, |source| {
                    lower(source).is_ok_and(|problems| compare(&problems[0]).is_err())
                });
                let difference = compare(&problem(&small.to_string()));
                panic!(
                    "seed {seed}: {}\n{small}",
                    difference.expect_err("the shrunk program still fails")
                );
            }
        }
    }
    report_comparisons("programs: explicit and axioms", same);
    assert!(refused * 20 <= same, "too many programs are refused");
}

#[test]
fn random_litmus_tests_have_the_outcomes_of_the_engine() {
    compare_random(litmus);
}

/// Uses a generator that was not written for this judge.
#[test]
fn random_bounded_programs_have_the_outcomes_of_the_engine() {
    compare_random(bounded);
}

#[test]
fn classic_weak_outcomes_exist_under_the_expected_tables() {
    let shared = "shared int x, y;";
    let sb = "thread p { x = 1; r1 = y; } thread q { y = 1; r1 = x; } observe p.r1, q.r1;";
    let mp = "thread p { x = 1; y = 1; } thread q { r1 = y; r2 = x; } observe q.r1, q.r2;";
    let lb = "thread p { r1 = x; y = 1; } thread q { r1 = y; x = 1; } observe p.r1, q.r1;";
    let own = "thread p { x = 1; r1 = x; r2 = y; } thread q { y = 1; r1 = y; r2 = x; }
               observe p.r1, q.r1, p.r2, q.r2;";
    let ctrl = "thread p { x = 1; fence store_store; y = 1; }
                thread q { r1 = y; if (r1 == 1) { r2 = x; } } observe q.r1, q.r2;";
    let ctrl_store = "thread p { r1 = x; if (r1 == 1) { y = 1; } }
                      thread q { r1 = y; if (r1 == 1) { x = 1; } else { x = 1; } }
                      observe p.r1, q.r1;";
    let tables = [Table::SC, Table::IBM370, Table::TSO, Table::PSO, Table::RMO_NOSPEC, Table::RMO];
    for (test, outcome, expected) in [
        (sb, vec![0, 0], [false, true, true, true, true, true]),
        (mp, vec![1, 0], [false, false, false, true, true, true]),
        (lb, vec![1, 1], [false, false, false, false, true, true]),
        (own, vec![1, 1, 0, 0], [false, false, true, true, true, true]),
        (ctrl, vec![1, 0], [false, false, false, false, false, true]),
        (ctrl_store, vec![1, 1], [false; 6]),
    ] {
        for (table, expected) in tables.into_iter().zip(expected) {
            let found = judge(&format!("{shared}\n{test}"), table).expect("a litmus test");
            assert_eq!(found.contains(&outcome), expected, "{table:?}\n{test}");
        }
    }
}

#[test]
fn unsupported_programs_are_refused() {
    for (source, reason) in [
        ("shared int x; thread p { while (x == 0) { } } observe x;", Unsupported::Loop),
        ("shared int x; init { x = 1; } thread p { r1 = x; } observe x;", Unsupported::Init),
        (
            "shared int x; thread p { r1 = 1 / x; } thread q { x = 1; } observe x;",
            Unsupported::Fault(Fault::DivisionByZero),
        ),
        (
            "record Node { int v; } pool Node[1]; shared Node n; thread p { n = new Node; } observe n;",
            Unsupported::Records,
        ),
    ] {
        assert_eq!(judge(source, Table::SC), Err(reason), "{source}");
    }
}
