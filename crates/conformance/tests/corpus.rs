//! Every program of the corpus has the expected verdict under every model.
//!
//! The verdict in `expected.toml` is the true verdict. The explicit engine must return it, except
//! for models listed under `bounded`, where buffers grow without bound. There the explicit engine
//! must be inconclusive because of the bound. Under TSO and PSO, `auto` must return the true
//! verdict for these programs too.
//!
//! An expectation under `rmo` also holds under `rmo-nospec`, unless there is one for `rmo-nospec`.

use crate::common::{check, check_with, corpus, lower, model, outcomes, settings};
use fencepost_conformance::reference::{self, Table};
use fencepost_engines::verdict::InconclusiveReason;
use fencepost_engines::{Auto, Settings, Verdict};
use fencepost_ir::{Problem, Value};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    sc: Option<String>,
    tso: Option<String>,
    pso: Option<String>,
    rmo: Option<String>,
    #[serde(rename = "rmo-nospec")]
    rmo_nospec: Option<String>,
    arm: Option<String>,
    #[serde(default)]
    bounded: Vec<String>,
    #[serde(default)]
    outcomes: BTreeMap<String, Vec<String>>,
}

/// Programs with at least this many states are checked by the explicit engine only. They are
/// finite.
const MAX_STATES_FOR_AUTO: u64 = 100_000;

/// Formats an outcome as in `expected.toml`: `p.r1=0 x=2`.
fn show(problem: &Problem, outcome: &[Value]) -> String {
    let program = &problem.program;
    let parts: Vec<String> = problem
        .observed
        .iter()
        .zip(outcome)
        .map(|(what, value)| {
            let shown = program.observable_type(*what).show(*value);
            format!("{}={shown}", program.observable_name(*what))
        })
        .collect();
    parts.join(" ")
}

/// The expectations of a file: for its only program, or for each of its clients.
#[derive(Deserialize)]
#[serde(untagged)]
enum FileExpectations {
    Program(Expected),
    Clients(BTreeMap<String, Expected>),
}

/// Checks one folder. Returns all differences.
fn check_folder(name: &str) -> Vec<String> {
    let folder = corpus().join(name);
    let text =
        fs::read_to_string(folder.join("expected.toml")).expect("the folder has expectations");
    let expected: BTreeMap<String, FileExpectations> =
        toml::from_str(&text).expect("the expectations are well-formed");
    let mut wrong = Vec::new();
    let files: BTreeSet<String> = fs::read_dir(&folder)
        .expect("the corpus has this folder")
        .filter_map(|e| Some(e.ok()?.file_name().to_str()?.strip_suffix(".fp")?.to_owned()))
        .collect();
    for stem in files.iter().filter(|stem| !expected.contains_key(*stem)) {
        wrong.push(format!("{name}/{stem}.fp has no expectation"));
    }
    for (stem, expected) in &expected {
        let file = format!("{name}/{stem}.fp");
        let Ok(source) = fs::read_to_string(folder.join(format!("{stem}.fp"))) else {
            wrong.push(format!("{file} does not exist"));
            continue;
        };
        let problems = match lower(&source) {
            Ok(problems) => problems,
            Err(errors) => {
                wrong.push(format!("{file}: {errors}"));
                continue;
            }
        };
        match expected {
            FileExpectations::Program(expected) => {
                check_program(&file, &problems[0], expected, &mut wrong);
            }
            FileExpectations::Clients(clients) => {
                for problem in &problems {
                    match clients.get(&problem.name) {
                        Some(expected) => {
                            let file = format!("{file} {}", problem.name);
                            check_program(&file, problem, expected, &mut wrong);
                        }
                        None => wrong.push(format!("{file} {}: no expectation", problem.name)),
                    }
                }
                let exists = |name: &&String| problems.iter().any(|p| p.name == **name);
                let unknown = clients.keys().filter(|name| !exists(name));
                wrong.extend(unknown.map(|name| format!("{file} has no client {name}")));
            }
        }
    }
    wrong
}

/// Checks one program under all models.
fn check_program(file: &str, problem: &Problem, expected: &Expected, wrong: &mut Vec<String>) {
    let verdicts = [
        ("sc", &expected.sc),
        ("tso", &expected.tso),
        ("pso", &expected.pso),
        (
            "rmo-nospec",
            expected.rmo_nospec.as_ref().map_or(&expected.rmo, |_| &expected.rmo_nospec),
        ),
        ("rmo", &expected.rmo),
        ("arm", &expected.arm),
    ];
    for (model_name, verdict) in verdicts {
        let Some(verdict) = verdict else { continue };
        let is_window = model_name.starts_with("rmo") || model_name == "arm";
        let same_as_rmo = model_name == "rmo-nospec" && expected.rmo_nospec.is_none();
        let row = if same_as_rmo { "rmo" } else { model_name };
        let bounded = expected.bounded.iter().any(|m| m == row);
        let max_buffer = bounded.then_some(if is_window { 8 } else { 2 });
        let within = Settings { max_buffer, shortest: false, ..settings(2) };
        let answer = check(problem, &model(model_name), within);
        let right = match &answer.verdict {
            Verdict::Inconclusive(i) => {
                bounded && matches!(i.reason(), InconclusiveReason::Bound { .. })
            }
            found => !bounded && found.word() == verdict,
        };
        if !right {
            let found = &answer.verdict;
            wrong.push(format!("{file} {model_name}: expected {verdict}, found {found:?}"));
        }
        // `auto` proves unbounded programs by abstraction, under the models that have one.
        let is_proved = matches!(model_name, "tso" | "pso") || model_name == "arm" && bounded;
        let check_auto = is_proved && answer.statistics.states < MAX_STATES_FOR_AUTO;
        if check_auto {
            let found = check_with(&Auto, problem, &model(model_name), settings(2)).verdict;
            if found.word() != verdict {
                wrong
                    .push(format!("{file} {model_name}: expected {verdict}, auto found {found:?}"));
            }
        }
    }
    let mut sets: BTreeMap<&str, _> = BTreeMap::new();
    for (model_name, set) in &expected.outcomes {
        sets.insert(model_name, set);
    }
    if let Some(set) = expected.outcomes.get("rmo") {
        sets.entry("rmo-nospec").or_insert(set);
    }
    for (model_name, set) in sets {
        let answer = outcomes(problem, &model(model_name), settings(1));
        let found: BTreeSet<String> = answer.outcomes.iter().map(|o| show(problem, o)).collect();
        let set: BTreeSet<String> = set.iter().cloned().collect();
        if found != set || !answer.outcomes_complete {
            wrong.push(format!("{file} {model_name}: expected {set:#?}, found {found:#?}"));
        }
    }
}

fn check_expectations(name: &str) {
    let wrong = check_folder(name);
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn litmus_programs_have_their_expected_verdicts() {
    check_expectations("litmus");
}

#[test]
fn mutex_programs_have_their_expected_verdicts() {
    check_expectations("mutex");
}

#[test]
fn paper_programs_have_their_expected_verdicts() {
    check_expectations("papers");
}

#[test]
fn data_structures_have_their_expected_verdicts() {
    check_expectations("structures");
}

#[test]
fn regression_programs_have_their_expected_verdicts() {
    check_expectations("regress");
}

#[test]
fn waiting_programs_have_their_expected_verdicts() {
    check_expectations("waiting");
    check_expectations("progress");
}

#[test]
fn programs_with_memory_orders_have_their_expected_verdicts() {
    check_expectations("orders");
}

/// The states that the reference interpreter visits to confirm a violation.
const REFERENCE_STATES: usize = 300_000;

#[test]
fn locks_that_only_speculation_breaks_are_broken_in_the_reference_interpreter() {
    // The last number is a bound on windows that allows the violation.
    let locks = [
        ("bakery2-once", 5),
        ("bakery2", 5),
        ("dekker-data2", 5),
        ("fast3", 5),
        ("tas-data0", 5),
        ("ticket-lock1", 5),
    ];
    for (name, bound) in locks {
        let path = corpus().join("mutex").join(format!("{name}.fp"));
        let source = fs::read_to_string(path).expect("the program exists");
        let problem = &lower(&source).expect("the corpus compiles")[0];
        let is_violated = |table| {
            let model = reference::Model::Table(table);
            let report = reference::explore(problem, model, bound, REFERENCE_STATES);
            // `tas-data0` counts: the final value must be 2.
            report.mutual_exclusion_violated
                || !report.assertion_failures.is_empty()
                || report.outcomes.contains(&vec![1])
        };
        assert!(is_violated(Table::RMO), "{name}: rmo");
        assert!(!is_violated(Table::RMO_NOSPEC), "{name}: rmo-nospec");
    }
}

#[test]
fn verdicts_and_statistics_do_not_depend_on_the_number_of_threads() {
    let folder = corpus().join("mutex");
    for stem in ["peterson0", "dekker2", "bakery2", "szymanski0"] {
        let source =
            fs::read_to_string(folder.join(format!("{stem}.fp"))).expect("a corpus program");
        let problem = &lower(&source).expect("the program compiles")[0];
        for name in ["sc", "tso", "pso"] {
            let one = check(problem, &model(name), settings(1));
            let two = check(problem, &model(name), settings(2));
            assert_eq!(one.statistics, two.statistics, "{stem} {name}");
            assert_eq!(one.verdict, two.verdict, "{stem} {name}");
        }
    }
    let unbounded = ["mutex/burns1-tso", "mutex/dijkstra1-tso", "regress/values-stop-growing"];
    for stem in unbounded {
        let path = corpus().join(format!("{stem}.fp"));
        let source = fs::read_to_string(path).expect("a corpus program");
        let problem = &lower(&source).expect("the program compiles")[0];
        let one = check_with(&Auto, problem, &model("tso"), settings(1));
        let two = check_with(&Auto, problem, &model("tso"), settings(2));
        assert_eq!((one.statistics, one.decider), (two.statistics, two.decider), "{stem}");
        assert_eq!(one.verdict, two.verdict, "{stem}");
    }
}
