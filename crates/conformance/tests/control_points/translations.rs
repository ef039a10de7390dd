//! Translations and exports of programs with invariants about control points agree with the
//! reference interpreter.

use super::{MAX_STATES, problem, random_source};
use crate::common::{check, check_with, lower, model, report_comparisons, seeds, settings};
use fencepost_conformance::reference::{Model, explore};
use fencepost_engines::{Explicit, Translate, ValueAbstraction, Verdict};
use fencepost_ir::{Problem, StoreBuffers};
use fencepost_translate::contexts::{Bound, contexts};
use fencepost_translate::export::fp::fp;
use fencepost_translate::export::lower::lower as lower_for_export;
use fencepost_translate::export::promela::promela;
use fencepost_translate::export::{Export, c::c};
use fencepost_translate::values::Values;
use fencepost_translate::{Translation, Unsupported, buffers};

/// The capacity of buffers: more stores than a thread has.
const CAPACITY: u32 = 4;

/// Checks that a program for SC violates its invariants exactly if expected.
fn check_under_sc(problem: &Problem, expected: bool, about: &str) {
    fencepost_ir::validate::validate(problem)
        .unwrap_or_else(|broken| panic!("{broken:?}\n{about}"));
    let verdict = check(problem, &model("sc"), settings(1)).verdict;
    match verdict {
        Verdict::Verified(_) => assert!(!expected, "{about}"),
        Verdict::Violated(_) => assert!(expected, "{about}"),
        Verdict::Inconclusive(_) => panic!("{verdict:?}\n{about}"),
    }
}

/// Checks a translation, its form without control points, and its text.
fn check_translation(translation: &Translation, expected: bool, about: &str) {
    check_under_sc(&translation.problem, expected, &format!("translation, {about}"));
    let lowered = lower_for_export(&translation.problem).expect("the translation can be exported");
    assert!(!lowered.problem.has_control_points(), "{about}");
    check_under_sc(&lowered.problem, expected, &format!("locations, {about}"));
    let export = Export { problem: &translation.problem, about: &[], line: &|_| None };
    let text = fp(&export).unwrap_or_else(|reason| panic!("{reason}\n{about}"));
    assert!(text.contains(" at "), "{text}");
    let read_back = lower(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    check_under_sc(&read_back[0], expected, &format!("{text}\n{about}"));
    promela(&export).unwrap_or_else(|reason| panic!("{reason}\n{about}"));
    c(&export).unwrap_or_else(|reason| panic!("{reason}\n{about}"));
}

/// Compares all translations of a program. Returns the numbers of violations, and of those within
/// the bound on contexts.
fn compare(source: &str) -> (u64, u64) {
    let problem = problem(source);
    let (mut violated, mut within_bound) = (0, 0);
    for (name, reference) in [("sc", Model::Sc), ("tso", Model::Tso), ("pso", Model::Pso)] {
        let report = explore(&problem, reference, CAPACITY as usize, MAX_STATES);
        assert!(report.complete && !report.bound_hit, "{source}");
        let expected = !report.invariant_violations.is_empty();
        let about = format!("{name}\n{source}");
        let spec = model(name);
        let translation = match spec.store_buffers() {
            None => Ok(Translation::identity(&problem)),
            Some(model) => buffers::buffers(&problem, model, CAPACITY),
        };
        let translation = translation.unwrap_or_else(|reason| panic!("{reason}\n{about}"));
        check_translation(&translation, expected, &about);
        violated += u64::from(expected);
        if name != "sc" {
            let engine = Translate { bound: Bound::Switches(2) };
            let verdict = check_with(&engine, &problem, &spec, settings(1)).verdict;
            let is_violated = matches!(verdict, Verdict::Violated(_));
            assert!(expected || !is_violated, "contexts, {about}");
            within_bound += u64::from(is_violated);
        }
        let mut values = Values::default();
        values.add("x, y: {0, 1, many}").expect("the text is correct");
        let engine = ValueAbstraction { values, engine: Box::new(Explicit) };
        match check_with(&engine, &problem, &spec, settings(1)).verdict {
            Verdict::Verified(_) => assert!(!expected, "values, {about}"),
            Verdict::Violated(_) => assert!(expected, "values, {about}"),
            Verdict::Inconclusive(_) => {}
        }
    }
    (violated, within_bound)
}

#[test]
fn labels_of_a_mutual_exclusion_algorithm_are_translated() {
    let flags = "shared int x, y; thread p { x = 1; if (y == 0) { A: skip; } }
        thread q { y = 1; if (x == 0) { B: skip; } } invariant !(p at A && q at B);";
    assert_eq!(compare(flags), (2, 2));
    let published = "shared int x, y; thread p { x = 1; A: skip; } invariant !(p at A && x == 0);";
    assert_eq!(compare(published), (2, 2));
    let critical = "shared int x, y; thread p(i in 0..2) { critical { A: x = i; } }
        invariant !(p(0) at A && p(1) at A);";
    assert_eq!(compare(critical), (3, 2));
}

#[test]
fn a_required_control_point_is_not_translated() {
    let problem = problem("shared int x; thread p { x = 1; A: skip; } invariant x == 0 || p at A;");
    let refused = Unsupported::ControlPoints;
    assert_eq!(buffers::buffers(&problem, StoreBuffers::Tso, 2), Err(refused.clone()));
    assert_eq!(contexts(&problem, StoreBuffers::Tso, Bound::Switches(2)), Err(refused.clone()));
    let export = Export { problem: &problem, about: &[], line: &|_| None };
    assert_eq!(fp(&export), Err(refused.clone()));
    assert_eq!(promela(&export).map(|_| ()), Err(refused.clone()));
    assert_eq!(c(&export).map(|_| ()), Err(refused));
}

#[test]
fn random_control_points_are_translated() {
    let (mut total, mut violated, mut within_bound) = (0, 0, 0);
    for seed in seeds(30) {
        let source = random_source(seed);
        if problem(&source).requires_control_points() {
            continue;
        }
        let (more, bounded) = compare(&source);
        (total, violated, within_bound) = (total + 3, violated + more, within_bound + bounded);
    }
    assert!(violated > 0 && within_bound > 0, "some invariant must be violated");
    report_comparisons("translations of control points", total);
}
