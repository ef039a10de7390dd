//! Tests exported to `.fp` or to litmus format and read again have the same outcomes under every
//! model.
//!
//! An export may change names. In `.fp` the observables keep their order, so outcomes are compared
//! as lists of values. In a litmus test registers have their own order, so some permutation of the
//! values must match under all models.

use super::queries::{MODELS, files, parse, read, run_model};
use crate::common::{corpus, lower};
use fencepost_ir::{Problem, Span, Value};
use fencepost_translate::export::{Export, fp, litmus};
use std::collections::BTreeSet;

/// Exports a test to `.fp`, reads the text again and compares the outcomes under every model.
/// Returns the text and the number of comparisons.
fn compare_fp(problem: &Problem, name: &str) -> (String, usize) {
    let line = |span: Span| (span.line > 0).then_some(span.line);
    let export = Export { problem, about: &[], line: &line };
    let text = fp::fp(&export).unwrap_or_else(|reason| panic!("{name}: {reason}"));
    let again = lower(&text).unwrap_or_else(|errors| panic!("{name}: {errors}\n{text}"));
    assert_eq!(again.len(), 1, "the export is one program");
    for (model, _, _) in MODELS {
        let before = run_model(problem, model);
        assert_eq!(run_model(&again[0], model), before, "{model} {name}\n{text}");
    }
    (text, MODELS.len())
}

#[test]
fn a_test_exported_to_fp_has_the_same_outcomes() {
    let mut compared = 0;
    for path in files(&corpus().join("x86")) {
        let test = read(&path).expect("a litmus test");
        // An `.fp` program without `observe` observes everything.
        if !test.problem.observed.is_empty() {
            compared += compare_fp(&test.problem, &path.display().to_string()).1;
        }
    }
    assert!(compared >= 400, "{compared} compared");
}

/// A test with one thread whose arithmetic may leave 32 bits.
fn x86(header: &str, init: &str, code: &[&str], observed: &str) -> Problem {
    let rows: String = code.iter().map(|row| format!(" {row} ;\n")).collect();
    let text =
        format!("{header} t\n{{ {init} }}\n P0 ;\n{rows}locations [{observed}]\nexists (x=0)\n");
    parse(&text, "t").unwrap_or_else(|errors| panic!("{errors}\n{text}")).problem
}

#[test]
fn wrapping_arithmetic_is_exported_with_the_types_of_its_width() {
    // The smallest number of 32 bits, minus one.
    let narrow = ["MOV EAX,[x]", "DEC EAX", "NEG EAX", "SHL EAX,$1", "MOV [x],EAX", "LOCK DEC [y]"];
    let problem = x86("X86", "x=-2147483648; y=-2147483648;", &narrow, "x; y; 0:EAX;");
    let (text, _) = compare_fp(&problem, "narrow");
    assert!(text.contains("shared i32 x = -2147483648;"), "{text}");
    assert!(!text.contains("i64"), "{text}");
    // The largest number of 64 bits, plus one, and sums of 32 bits in the same program.
    let wide = ["movq (x),%rax", "incq %rax", "negq %rax", "movq %rax,(x)", "movl (y),%ebx"];
    let wide = [&wide[..], &["addl $1,%ebx", "movl %ebx,(y)"]].concat();
    let init = "int64_t x=9223372036854775807; y=2147483647;";
    let problem = x86("X86_64", init, &wide, "x; y; 0:rax; 0:rbx;");
    let (text, _) = compare_fp(&problem, "wide");
    assert!(text.contains("shared i64 x = 9223372036854775807;"), "{text}");
    // An addition in one step wraps at 64 bits.
    let update = ["movq $1,%rax", "lock xaddq %rax,(x)"];
    let problem = x86("X86_64", "int64_t x=9223372036854775807;", &update, "x; 0:rax;");
    let (text, _) = compare_fp(&problem, "update");
    assert!(text.contains("i64"), "{text}");
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
