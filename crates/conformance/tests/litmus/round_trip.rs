//! Tests exported to `.fp` or to litmus format and read again have the same outcomes under every
//! model.
//!
//! An export may change names. In `.fp` the observables keep their order, so outcomes are compared
//! as lists of values. In a litmus test registers have their own order, so some permutation of the
//! values must match under all models.

use super::queries::{MODELS, files, parse, read, run_model};
use crate::common::{corpus, lower};
use fencepost_ir::{Problem, Span, Value};
use fencepost_translate::Unsupported;
use fencepost_translate::export::{Export, fp, litmus};
use std::collections::BTreeSet;

#[test]
fn a_test_exported_to_fp_has_the_same_outcomes() {
    let mut refused = Vec::new();
    let (mut compared, mut wide) = (0, 0);
    for path in files(&corpus().join("x86")) {
        let test = read(&path).expect("a litmus test");
        if test.problem.observed.is_empty() {
            // An `.fp` program without `observe` observes everything.
            continue;
        }
        let line = |span: Span| (span.line > 0).then_some(span.line);
        let export = Export { problem: &test.problem, about: &[], line: &line };
        let text = match fp::fp(&export) {
            Ok(text) => text,
            // Tests with 64-bit arithmetic that may leave 32 bits.
            Err(Unsupported::WideIntegers) => {
                wide += 1;
                continue;
            }
            Err(reason) => {
                refused.push(format!("{}: {}", path.display(), reason));
                continue;
            }
        };
        let again =
            lower(&text).unwrap_or_else(|errors| panic!("{}: {errors}\n{text}", path.display()));
        assert_eq!(again.len(), 1, "the export is one program");
        for (model, _, _) in MODELS {
            let before = run_model(&test.problem, model);
            assert_eq!(run_model(&again[0], model), before, "{model} {}\n{text}", path.display());
            compared += 1;
        }
    }
    assert!(refused.is_empty() && wide <= 4, "{wide} wide, {refused:#?}");
    assert!(compared >= 400, "{compared} compared");
}

/// Returns the outcomes under each model.
fn outcomes_by_model(problem: &Problem) -> Vec<BTreeSet<Vec<Value>>> {
    MODELS.iter().map(|(model, _, _)| run_model(problem, model)).collect()
}

/// Returns all permutations of this number of columns.
fn permutations(columns: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![Vec::new()];
    for column in 0..columns {
        let longer = orders.iter().flat_map(|order: &Vec<usize>| {
            (0..=order.len()).map(move |at| {
                let mut order = order.clone();
                order.insert(at, column);
                order
            })
        });
        orders = longer.collect();
    }
    orders
}

#[test]
fn a_test_exported_to_litmus_format_has_the_same_outcomes() {
    let (mut compared, mut refused) = (0, 0);
    for path in files(&corpus().join("x86")) {
        let test = read(&path).expect("a litmus test");
        let line = |span: Span| (span.line > 0).then_some(span.line);
        let export = Export { problem: &test.problem, about: &[], line: &line };
        // Only straight-line programs can be exported.
        let Ok(text) = litmus::litmus(&export, &test.name) else {
            refused += 1;
            continue;
        };
        let again = parse(&text, "t").unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        let (before, after) = (outcomes_by_model(&test.problem), outcomes_by_model(&again.problem));
        let ordered = |order: &Vec<usize>| -> Vec<BTreeSet<Vec<Value>>> {
            let outcome = |outcome: &Vec<Value>| order.iter().map(|at| outcome[*at]).collect();
            after.iter().map(|set| set.iter().map(outcome).collect()).collect()
        };
        let columns = again.problem.observed.len();
        assert_eq!(columns, test.problem.observed.len(), "{text}");
        assert!(columns <= 7, "too many values to try all permutations");
        let some_order_matches = permutations(columns).iter().any(|order| ordered(order) == before);
        assert!(some_order_matches, "{}\n{text}\n{before:?}\n{after:?}", path.display());
        compared += 1;
    }
    println!("{compared} compared, {refused} refused");
    assert!(compared >= 40, "{compared} compared, {refused} refused");
}
