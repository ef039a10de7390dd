//! The tests of `corpus/x86`: what they show was worked out by hand and is in `expected.tsv` beside them; and two
//! other readings of the models, by steps and by axioms, show the same.

use super::ask::{MODELS, files, ran, read, run, stem};
use crate::common::corpus;
use fencepost_conformance::axiomatic::{self, Unsupported};
use fencepost_conformance::reference::explore;
use fencepost_report::litmus::Ran;
use fencepost_report::litmus::expect::{Compared, Records};
use std::collections::BTreeSet;
use std::fs;

/// States that the reference interpreter visits at most.
const STATES: usize = 500_000;

/// The expectations, as text.
fn expected() -> String {
    fs::read_to_string(corpus().join("x86/expected.tsv")).expect("expectations are there")
}

/// What differs from the records, a line each.
pub(crate) fn differences(ran: &Ran, records: &Records) -> Vec<String> {
    let mut wrong = Vec::new();
    for (model, seen) in &ran.models {
        let about = format!("{} {}", ran.file, model.name);
        match seen.as_ref().map(|seen| records.compare(ran, &model.name, seen)) {
            Ok(Compared::Same) => {}
            Ok(Compared::Unknown) => wrong.push(format!("{about}: no record")),
            Ok(Compared::Different(lines)) => {
                wrong.extend(lines.into_iter().map(|line| format!("{about}: {line}")));
            }
            Err(fault) => wrong.push(format!("{about}: {fault}")),
        }
    }
    wrong
}

#[test]
fn every_test_shows_what_is_expected() {
    let mut records = Records::default();
    records.read(&expected()).expect("a table of records");
    let mut wrong = Vec::new();
    for path in files(&corpus().join("x86")) {
        match ran(&path) {
            Ok(ran) => wrong.extend(differences(&ran, &records)),
            Err(message) => wrong.push(message),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Neither a test without expectations nor the other way round; and each under every model once.
#[test]
fn tests_and_expectations_belong_together() {
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
    assert_eq!(found.len(), rows.len(), "nothing is expected twice");
    let mut wanted = BTreeSet::new();
    for path in files(&corpus().join("x86")) {
        let test = read(&path).expect("a test");
        assert_eq!(test.name, stem(&path), "a test is called as its file");
        wanted.extend(MODELS.map(|(model, _, _)| (test.name.clone(), model.to_string())));
    }
    assert_eq!(found, wanted);
    assert!(wanted.len() >= 4 * 100, "the corpus is there");
}

/// Loops included: a bound that mattered, or too many states, is said and counted.
#[test]
fn the_reference_interpreter_finds_the_same() {
    let (mut compared, mut cut) = (0, Vec::new());
    for path in files(&corpus().join("x86")) {
        let problem = read(&path).expect("a test").problem;
        let longest = problem.program.threads.iter().map(|t| t.code.len()).max().unwrap_or(1);
        for (name, reference, _) in MODELS {
            let report = explore(&problem, reference, longest, STATES);
            assert!(report.faults.is_empty(), "{name} {}: {:?}", path.display(), report.faults);
            if !report.complete || report.bound_hit {
                cut.push(format!("{} {name}", stem(&path)));
                continue;
            }
            assert_eq!(report.outcomes, run(&problem, name), "{name} {}", path.display());
            compared += 1;
        }
    }
    println!("{compared} compared, cut short: {cut:?}");
    assert!(cut.len() * 50 <= compared, "few are cut short: {cut:?}");
}

#[test]
fn the_axioms_allow_the_same() {
    let (mut compared, mut refused) = (0, Vec::new());
    for path in files(&corpus().join("x86")) {
        let problem = read(&path).expect("a test").problem;
        for (name, _, table) in MODELS {
            match axiomatic::outcomes(&problem, table) {
                Ok(judged) => {
                    assert_eq!(judged, run(&problem, name), "{name} {}", path.display());
                    compared += 1;
                }
                Err(Unsupported::Loop) => {}
                Err(why) => refused.push(format!("{}: {why}", stem(&path))),
            }
        }
    }
    println!("{compared} compared, refused: {refused:?}");
    assert!(compared >= 300, "{compared} compared");
    assert!(refused.len() <= 40, "few are refused: {refused:#?}");
}
