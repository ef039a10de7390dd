//! The tests of `corpus/x86` have the outcomes in `expected.tsv`, which were derived by hand, and
//! those of `corpus/aarch64` have the outcomes in their table. For `corpus/x86`, the reference
//! interpreter and the axiomatic judge have the same outcomes.

use super::queries::{MODELS, files, read, run_file, run_model, run_under, stem};
use crate::common::corpus;
use fencepost_conformance::axiomatic::{self, Unsupported};
use fencepost_conformance::reference::explore;
use fencepost_report::litmus::TestRun;
use fencepost_report::litmus::expect::{RecordComparison, Records};
use std::collections::BTreeSet;
use std::fs;

/// The maximum number of states of the reference interpreter.
const MAX_STATES: usize = 500_000;

/// Returns the text of the expectations.
fn expected() -> String {
    fs::read_to_string(corpus().join("x86/expected.tsv")).expect("the folder has expectations")
}

/// Returns the differences from the records, one line each.
pub(crate) fn differences(ran: &TestRun, records: &mut Records) -> Vec<String> {
    let mut wrong = Vec::new();
    for (model, seen) in &ran.models {
        let case = format!("{} {}", ran.file, model.name);
        match records.compare(ran, &model.name, seen.as_ref().map_err(String::as_str)) {
            RecordComparison::Same => {}
            RecordComparison::Unknown => wrong.push(format!("{case}: no record")),
            RecordComparison::Ambiguous(reason) => wrong.push(format!("{case}: {reason}")),
            RecordComparison::Different(lines) => {
                wrong.extend(lines.into_iter().map(|line| format!("{case}: {line}")));
            }
        }
    }
    wrong
}

#[test]
fn every_test_has_its_expected_outcomes() {
    let mut records = Records::default();
    records.read(&expected()).expect("a table of records");
    let mut wrong = Vec::new();
    for path in files(&corpus().join("x86")) {
        match run_file(&path) {
            Ok(ran) => wrong.extend(differences(&ran, &mut records)),
            Err(message) => wrong.push(message),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_aarch64_test_has_its_expected_outcomes() {
    let folder = corpus().join("aarch64");
    let mut records = Records::default();
    let expected = fs::read_to_string(folder.join("expected.tsv")).expect("expectations");
    records.read(&expected).expect("a table of records");
    let mut wrong = Vec::new();
    for path in files(&folder) {
        let test = read(&path).expect("a test of the corpus");
        // Other models do not have exclusive pairs.
        let all = if test.problem.program.has_exclusive_pairs() { 1 } else { 5 };
        let names = ["arm", "sc", "tso", "pso", "rmo"].into_iter().take(all);
        match run_under(&path, test, names) {
            Ok(ran) => wrong.extend(differences(&ran, &mut records)),
            Err(message) => wrong.push(message),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_test_has_one_expectation_per_model() {
    let text = expected();
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let rows: Vec<(String, String)> = rows
        .map(|line| {
            let mut cells = line.split('\t').map(str::to_string);
            let mut next = || cells.next().expect("a test and a model");
            (next(), next())
        })
        .collect();
    let found: BTreeSet<(String, String)> = rows.iter().cloned().collect();
    assert_eq!(found.len(), rows.len(), "no expectation is duplicated");
    let mut required = BTreeSet::new();
    for path in files(&corpus().join("x86")) {
        let test = read(&path).expect("a litmus test");
        assert_eq!(test.name, stem(&path), "a test has the name of its file");
        required.extend(MODELS.map(|(model, _, _)| (test.name.clone(), model.to_string())));
    }
    assert_eq!(found, required);
    assert!(required.len() >= 4 * 100, "the corpus is complete");
}

/// Includes tests with loops. Searches that reach the bound or the limit on states are counted.
#[test]
fn the_reference_interpreter_has_the_same_outcomes() {
    let (mut compared, mut cut) = (0, Vec::new());
    for path in files(&corpus().join("x86")) {
        let problem = read(&path).expect("a litmus test").problem;
        let longest = problem.program.threads.iter().map(|t| t.code.len()).max().unwrap_or(1);
        for (name, reference, _) in MODELS {
            let report = explore(&problem, reference, longest, MAX_STATES);
            assert!(report.faults.is_empty(), "{name} {}: {:?}", path.display(), report.faults);
            let outcomes = run_model(&problem, name);
            if !report.complete || report.bound_hit {
                // The reference interpreter may miss outcomes, but those that it has are right.
                assert!(report.outcomes.is_subset(&outcomes), "{name} {}", path.display());
                cut.push(format!("{} {name}", stem(&path)));
                continue;
            }
            assert_eq!(report.outcomes, outcomes, "{name} {}", path.display());
            compared += 1;
        }
    }
    println!("{compared} compared, cut short: {cut:?}");
    // With guesses, a thread can fetch the iterations of a loop up to any bound.
    let (guessing, others): (Vec<_>, Vec<_>) = cut.iter().partition(|one| one.ends_with(" rmo"));
    assert!(others.len() * 50 <= compared, "too many searches are cut short: {others:?}");
    assert!(guessing.len() * 20 <= compared, "too many searches are cut short: {guessing:?}");
}

#[test]
fn the_axiomatic_judge_has_the_same_outcomes() {
    let (mut compared, mut refused) = (0, Vec::new());
    for path in files(&corpus().join("x86")) {
        let problem = read(&path).expect("a litmus test").problem;
        for (name, _, table) in MODELS {
            match axiomatic::outcomes(&problem, table) {
                Ok(judged) => {
                    assert_eq!(judged, run_model(&problem, name), "{name} {}", path.display());
                    compared += 1;
                }
                Err(Unsupported::Loop) => {}
                Err(reason) => refused.push(format!("{}: {reason}", stem(&path))),
            }
        }
    }
    println!("{compared} compared, refused: {refused:?}");
    assert!(compared >= 300, "{compared} compared");
    assert!(refused.len() <= 40, "too many tests are refused: {refused:#?}");
}
