//! Value abstraction is an over-approximation: on random programs, the abstract outcomes cover the
//! exact ones, and a program that is verified with abstract values has no violation.
//!
//! The values of all `int` locations of the programs are abstracted to {0, 1, many}. Programs use
//! values from -2 to 3, so `many` stands for several of them.

use crate::common::{check_with, lower, model, outcomes, report_comparisons, seeds, settings};
use fencepost_engines::{
    Abstraction, Engine, Explicit, InconclusiveReason, Settings, ValueAbstraction, Verdict,
};
use fencepost_ir::{Problem, Type};
use fencepost_models::coherence::Domain;
use fencepost_search::Limits;
use fencepost_testkit::programs::{
    Profile, RandomProgram, guarded_alternatives, invariants, program, shrink, spin_loops,
};
use fencepost_translate::values::{CannotAbstract, Values, abstract_values};

/// The number of random programs of each kind.
const PROGRAMS: u64 = 30;

/// Abstracts all `int` locations of a program. None if there are none.
fn all_int_locations(problem: &Problem, kept: &str) -> Option<Values> {
    let mut values = Values::default();
    let mut found = false;
    for location in &problem.program.locations {
        if location.ty == Type::INT && !location.name.contains('#') {
            let name = location.name.split('[').next().unwrap_or_default();
            values.add(&format!("{name}: {{{kept}, many}}")).expect("the text is correct");
            found = true;
        }
    }
    found.then_some(values)
}

fn bounded() -> Settings {
    let limits = Limits { states: 30_000, ..Limits::default() };
    Settings { limits, max_buffer: Some(8), shortest: false, ..settings(1) }
}

/// Compares a program with its abstraction under one model. Returns the number of comparisons.
fn compare(problem: &Problem, name: &str, kept: &str) -> Result<u64, String> {
    let Some(values) = all_int_locations(problem, kept) else { return Ok(0) };
    let abstracted = match abstract_values(problem, &values) {
        Ok(abstracted) => abstracted,
        // Such programs are rejected.
        Err(
            CannotAbstract::Index
            | CannotAbstract::Divisor
            | CannotAbstract::Reaches(_)
            | CannotAbstract::Condition
            | CannotAbstract::ReachesRegister(..),
        ) => return Ok(0),
        Err(other) => return Err(format!("{other:?}")),
    };
    fencepost_ir::validate::validate(&abstracted.problem)
        .map_err(|broken| format!("not well-formed: {broken:?}"))?;
    let model = &model(name);
    let exact = outcomes(problem, model, bounded());
    let found = outcomes(&abstracted.problem, model, bounded());
    let mut compared = 0;
    if found.outcomes_complete {
        for outcome in &exact.outcomes {
            let with_values = problem.observed.iter().zip(outcome);
            let expected: Vec<_> = with_values
                .map(|(what, value)| abstracted.abstraction(problem, *what, *value))
                .collect();
            if !found.outcomes.contains(&expected) {
                return Err(format!("{name}: {outcome:?} is not covered: no {expected:?}"));
            }
            compared += 1;
        }
    }
    let engines: [Box<dyn Engine + Sync>; 2] =
        [Box::new(Explicit), Box::new(Abstraction { domain: Domain::Full, k: 1 })];
    for engine in engines {
        let engine = ValueAbstraction { values: values.clone(), engine };
        let verdict = check_with(&engine, problem, model, bounded()).verdict;
        let exact = check_with(&Explicit, problem, model, bounded()).verdict;
        match (&verdict, &exact) {
            (Verdict::Verified(_), Verdict::Violated(violated)) => {
                return Err(format!("{name}: misses {:?}", violated.evidence().violation()));
            }
            (Verdict::Violated(_), Verdict::Verified(_)) => {
                return Err(format!("{name}: reports a violation that does not exist"));
            }
            (Verdict::Inconclusive(_), _) | (_, Verdict::Inconclusive(_)) => {}
            (Verdict::Verified(_), Verdict::Verified(_))
            | (Verdict::Violated(_), Verdict::Violated(_)) => compared += 1,
        }
    }
    Ok(compared)
}

fn compare_random(kind: &str, draw: impl Fn(u64) -> RandomProgram) {
    let mut compared = 0;
    for seed in seeds(PROGRAMS) {
        let drawn = draw(seed);
        let difference = |source: &str| -> Result<u64, String> {
            let problem = &lower(source).map_err(|error| error.to_string())?[0];
            let kept = if seed % 2 == 0 { "0" } else { "-1, 2" };
            let mut compared = 0;
            for name in ["sc", "tso", "pso"] {
                compared += compare(problem, name, kept)?;
            }
            Ok(compared)
        };
        match difference(&drawn.to_string()) {
            Ok(count) => compared += count,
            Err(_) => {
                let fails = |source: &str| lower(source).is_ok() && difference(source).is_err();
                let small = shrink(&drawn, fails).to_string();
                panic!("{kind} seed {seed}: {:?}\n{small}", difference(&small));
            }
        }
    }
    report_comparisons(&format!("{kind}: abstract and exact values"), compared);
    assert!(compared >= PROGRAMS, "too few comparisons of {kind}: {compared}");
}

#[test]
fn random_straight_line_programs_are_covered() {
    compare_random("Straight", |seed| program(Profile::Straight, seed));
}

#[test]
fn random_loops_are_covered() {
    compare_random("Loops", |seed| program(Profile::Loops, seed));
}

#[test]
fn random_mixed_programs_are_covered() {
    compare_random("Mixed", |seed| program(Profile::Mixed, seed));
}

#[test]
fn random_synchronization_is_covered() {
    compare_random("invariants", invariants);
    compare_random("spin loops", spin_loops);
    compare_random("alternatives", guarded_alternatives);
}

fn with_values(source: &str, texts: &[&str], name: &str) -> Verdict {
    let problem = &lower(source).expect("the program compiles")[0];
    let mut values = Values::default();
    texts.iter().for_each(|text| values.add(text).expect("the text is correct"));
    let engine =
        ValueAbstraction { values, engine: Box::new(Abstraction { domain: Domain::Full, k: 1 }) };
    check_with(&engine, problem, &model(name), bounded()).verdict
}

/// A writer publishes data and counts without end.
const COUNTER: &str = "shared int data, seq; thread w { data = 1; loop { seq = seq + 1; } } \
    thread r { s = seq; if (s != 0) assert(data == 1); }";

#[test]
fn a_counter_without_bound_is_verified_only_with_abstract_values() {
    let problem = &lower(COUNTER).expect("the program compiles")[0];
    let exact = check_with(&Explicit, problem, &model("sc"), bounded()).verdict;
    assert_eq!(exact.word(), "inconclusive");
    assert_eq!(with_values(COUNTER, &["seq: {0, many}"], "sc").word(), "verified");
    assert_eq!(with_values(COUNTER, &["seq: {0, many}"], "tso").word(), "verified");
    assert_eq!(with_values(COUNTER, &["seq: {0, many}"], "pso").word(), "violated");
    assert_eq!(with_values(COUNTER, &["seq: {0, many}"], "rmo").word(), "inconclusive");
}

#[test]
fn a_spurious_violation_is_inconclusive_and_more_values_help() {
    // The exact program has infinitely many states, so the exact search does not decide it.
    let source = "shared int x, n; thread p { x = 2; loop { n = n + 1; } } \
        thread q { r = x; assert(r != 3); }";
    let spurious = with_values(source, &["x: {0, many}", "n: {0, many}"], "sc");
    assert_eq!(spurious.inconclusive_reason(), Some(&InconclusiveReason::Spurious));
    assert_eq!(with_values(source, &["x: {2, many}", "n: {0, many}"], "sc").word(), "verified");
    // The exact search decides a finite program.
    let finite = "shared int x; thread p { x = 2; } thread q { r = x; assert(r != 3); }";
    assert_eq!(with_values(finite, &["x: {0, many}"], "sc").word(), "verified");
}

#[test]
fn a_hang_is_not_hidden_by_a_chosen_value() {
    let source = "shared int x; thread p { x = 7; } thread q { await(x == 5); }";
    assert_eq!(with_values(source, &["x: {0, many}"], "sc").word(), "inconclusive");
    let allowed = format!("{source} property may_hang;");
    assert_eq!(with_values(&allowed, &["x: {0, many}"], "sc").word(), "verified");
}

#[test]
fn a_wait_for_a_kept_value_is_checked_for_hangs() {
    let count = "loop { n = n + 1; }";
    let source = format!("shared int n; thread p {{ {count} }} thread q {{ await(n != 0); }}");
    assert_eq!(with_values(&source, &["n: {0, many}"], "sc").word(), "verified");
    let hang = "shared int n; thread p { n = 7; } thread q { await(n == 0); }";
    assert_eq!(with_values(hang, &["n: {0, many}"], "sc").word(), "violated");
}

#[test]
fn updates_of_abstract_values_are_atomic() {
    let source = "shared int n = 5; thread p(i in 0..2) { r = fetch_add(n, 1); c = cas(n, 0, 1); \
        assert(!c); } final forall n != 0;";
    assert_eq!(with_values(source, &["n: {5..8, many}"], "tso").word(), "verified");
    let lost = "shared int n; thread p(i in 0..2) { r = n; n = r + 1; } final forall n == 2;";
    assert_eq!(with_values(lost, &["n: {0..4, many}"], "sc").word(), "violated");
}

#[test]
fn faults_beside_abstract_values_are_found() {
    let source = "shared int x, z; thread p { d = z; x = 9; r = x; q = r + 10 / d; x = q; }";
    assert_eq!(with_values(source, &["x: {0, many}"], "sc").word(), "violated");
}

#[test]
fn unsupported_uses_of_abstract_values_are_rejected() {
    let reject = |source: &str, text: &str| {
        let problem = &lower(source).expect("the program compiles")[0];
        let mut values = Values::default();
        values.add(text).expect("the text is correct");
        let error = abstract_values(problem, &values).expect_err("the program is rejected");
        error.describe(&problem.program)
    };
    let copy = "shared int x, y; thread p { y = x + 1; }";
    assert!(reject(copy, "x: {0, many}").contains("abstract `y`, too"));
    let index = "shared int x, a[2]; thread p { a[x] = 1; }";
    assert!(reject(index, "x: {0, many}").contains("index"));
    let divisor = "shared int x; thread p { r = 5 / x; assert(r < 9); }";
    assert!(reject(divisor, "x: {0, many}").contains("divided"));
    let range = "shared int x; thread p { int(0..3) r = x; x = r; }";
    assert!(reject(range, "x: {0, many}").contains("p.r"));
    let part = "shared int a[2], i; thread p { a[i] = 1; }";
    assert!(reject(part, "a[0]: {0, many}").contains("whole array"));
}
