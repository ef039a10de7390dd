//! Tests written in our own language, or as litmus tests, and read again: the same outcomes under every model.
//!
//! Names may change on the way. In our language what is observed keeps its order, so outcomes are compared as lists of
//! values. In a litmus test registers have an order of their own: some order of the values must fit under all models.

use super::ask::{MODELS, files, parse, read, run};
use crate::common::{corpus, lower};
use fencepost_ir::{Problem, Span, Value};
use fencepost_translate::export::{Export, fp, litmus};
use std::collections::BTreeSet;

#[test]
fn a_test_in_our_language_shows_the_same() {
    let mut refused = Vec::new();
    let mut compared = 0;
    for path in files(&corpus().join("x86")) {
        let test = read(&path).expect("a test");
        if test.problem.observed.is_empty() {
            // A program of ours that names nothing to observe shows everything.
            continue;
        }
        let line = |span: Span| (span.line > 0).then_some(span.line);
        let export = Export { problem: &test.problem, about: &[], line: &line };
        let text = match fp::fp(&export) {
            Ok(text) => text,
            Err(why) => {
                refused.push(format!("{}: {}", path.display(), why));
                continue;
            }
        };
        let again =
            lower(&text).unwrap_or_else(|wrong| panic!("{}: {wrong}\n{text}", path.display()));
        assert_eq!(again.len(), 1, "one program");
        for (model, _, _) in MODELS {
            let before = run(&test.problem, model);
            assert_eq!(run(&again[0], model), before, "{model} {}\n{text}", path.display());
            compared += 1;
        }
    }
    assert!(refused.is_empty(), "{refused:#?}");
    assert!(compared >= 400, "{compared} compared");
}

/// Outcomes under each model.
fn all(problem: &Problem) -> Vec<BTreeSet<Vec<Value>>> {
    MODELS.iter().map(|(model, _, _)| run(problem, model)).collect()
}

/// All orders of so many columns.
fn orders(columns: usize) -> Vec<Vec<usize>> {
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
fn a_test_written_as_one_shows_the_same() {
    let (mut compared, mut refused) = (0, 0);
    for path in files(&corpus().join("x86")) {
        let test = read(&path).expect("a test");
        let line = |span: Span| (span.line > 0).then_some(span.line);
        let export = Export { problem: &test.problem, about: &[], line: &line };
        // Only straight-line programs have such a text.
        let Ok(text) = litmus::litmus(&export, &test.name) else {
            refused += 1;
            continue;
        };
        let again = parse(&text, "t").unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
        let (before, after) = (all(&test.problem), all(&again.problem));
        let ordered = |order: &Vec<usize>| -> Vec<BTreeSet<Vec<Value>>> {
            let outcome = |outcome: &Vec<Value>| order.iter().map(|at| outcome[*at]).collect();
            after.iter().map(|set| set.iter().map(outcome).collect()).collect()
        };
        let columns = again.problem.observed.len();
        assert_eq!(columns, test.problem.observed.len(), "{text}");
        assert!(columns <= 7, "so many values have too many orders");
        let fits = orders(columns).iter().any(|order| ordered(order) == before);
        assert!(fits, "{}\n{text}\n{before:?}\n{after:?}", path.display());
        compared += 1;
    }
    println!("{compared} compared, {refused} refused");
    assert!(compared >= 40, "{compared} compared, {refused} refused");
}
