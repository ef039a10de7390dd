//! The axiomatic judge compared with the explicit engine, by sets of outcomes: on the litmus tests of the corpus and
//! on random ones, under every model that both have.
//!
//! The two have nothing in common but the program: one runs it with queues and windows, the other enumerates candidate
//! executions and looks for cycles. Where they differ, one of them does not do what the book says.
//!
//! `FENCEPOST_SEEDS=from..to` draws other random programs than the usual ones.

use crate::common::{compared, lower, model, outcomes, seeds, settings};
use fencepost_conformance::axiomatic::{self, Unsupported};
use fencepost_conformance::reference::Table;
use fencepost_ir::{Fault, Problem, Value};
use fencepost_testkit::corpus;
use fencepost_testkit::problem;
use fencepost_testkit::programs::{RandomProgram, bounded, litmus, shrink};
use std::collections::BTreeSet;

/// The models under test: those of the engine by name, and as a table.
const MODELS: [(&str, Table); 7] = [
    ("sc", Table::SC),
    ("ibm370", Table::IBM370),
    ("tso", Table::TSO),
    ("table-tso", Table::TSO),
    ("pso", Table::PSO),
    ("table-pso", Table::PSO),
    ("rmo", Table::RMO),
];

/// How many random programs of each kind there are unless told otherwise.
const PROGRAMS: u64 = 60;

/// Compares the outcomes of one problem under all models.
fn compare(problem: &Problem) -> Result<Result<(), Unsupported>, String> {
    for (name, table) in MODELS {
        let judged = match axiomatic::outcomes(problem, table) {
            Ok(judged) => judged,
            Err(why) => return Ok(Err(why)),
        };
        let answer = outcomes(problem, &model(name), settings(1));
        assert!(answer.outcomes_complete, "a program without loops is searched to its end");
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

/// What a source text shows under a table.
fn judge(source: &str, table: Table) -> Result<BTreeSet<Vec<Value>>, Unsupported> {
    axiomatic::outcomes(&problem(source), table)
}

#[test]
fn litmus_tests_of_the_corpus() {
    let (mut compared, mut refused) = (0, Vec::new());
    for (file, source) in corpus::sources("litmus") {
        for problem in lower(&source).expect("a well-formed program") {
            match compare(&problem) {
                Ok(Ok(())) => compared += 1,
                Ok(Err(why)) => refused.push(format!("{file}: {why}")),
                Err(difference) => panic!("{file}: {difference}"),
            }
        }
    }
    println!("{compared} compared, refused: {refused:#?}");
    assert!(compared >= 100, "most litmus tests are compared");
    assert!(refused.len() * 5 <= compared, "few are refused: {refused:#?}");
}

fn compare_random(draw: fn(u64) -> RandomProgram) {
    let (mut same, mut refused) = (0, 0);
    for seed in seeds(PROGRAMS) {
        let drawn = draw(seed);
        match compare(&problem(&drawn.to_string())) {
            Ok(Ok(())) => same += 1,
            Ok(Err(why)) => {
                assert_eq!(why, Unsupported::TooLarge, "{drawn}");
                refused += 1;
            }
            Err(_) => {
                let small = shrink(&drawn, |source| {
                    lower(source).is_ok_and(|problems| compare(&problems[0]).is_err())
                });
                let difference = compare(&problem(&small.to_string()));
                panic!("seed {seed}: {}\n{small}", difference.expect_err("it still fails"));
            }
        }
    }
    compared("programs: explicit and axioms", same);
    assert!(refused * 20 <= same, "few are refused");
}

#[test]
fn random_litmus_tests() {
    compare_random(litmus);
}

/// Others than those that were made for this judge.
#[test]
fn random_bounded_programs() {
    compare_random(bounded);
}

/// The classic tests, by hand: under which tables each weak outcome is there.
#[test]
fn weak_outcomes() {
    let shared = "shared int x, y;";
    let sb = "thread p { x = 1; r1 = y; } thread q { y = 1; r1 = x; } observe p.r1, q.r1;";
    let mp = "thread p { x = 1; y = 1; } thread q { r1 = y; r2 = x; } observe q.r1, q.r2;";
    let lb = "thread p { r1 = x; y = 1; } thread q { r1 = y; x = 1; } observe p.r1, q.r1;";
    let own = "thread p { x = 1; r1 = x; r2 = y; } thread q { y = 1; r1 = y; r2 = x; }
               observe p.r1, q.r1, p.r2, q.r2;";
    let tables = [Table::SC, Table::IBM370, Table::TSO, Table::PSO, Table::RMO];
    for (test, outcome, expected) in [
        (sb, vec![0, 0], [false, true, true, true, true]),
        (mp, vec![1, 0], [false, false, false, true, true]),
        (lb, vec![1, 1], [false, false, false, false, true]),
        (own, vec![1, 1, 0, 0], [false, false, true, true, true]),
    ] {
        for (table, expected) in tables.into_iter().zip(expected) {
            let found = judge(&format!("{shared}\n{test}"), table).expect("a litmus test");
            assert_eq!(found.contains(&outcome), expected, "{table:?}\n{test}");
        }
    }
}

#[test]
fn what_is_not_judged_is_refused() {
    for (source, why) in [
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
        assert_eq!(judge(source, Table::SC), Err(why), "{source}");
    }
}
