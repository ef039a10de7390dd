//! The corpus: every program, every model, against the expectations written beside them.
//!
//! A verdict in `expected.toml` is the truth about the program. The explicit engine must find it, except
//! for models listed under `bounded`, where buffers grow without end: there it must be inconclusive with
//! a bound, never wrong. Under TSO and PSO, `auto` must find the truth there, too.

use crate::common::{check, check_with, corpus, lower, model, outcomes, settings};
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
    #[serde(default)]
    bounded: Vec<String>,
    #[serde(default)]
    outcomes: BTreeMap<String, Vec<String>>,
}

/// Programs with more states than this are left to the explicit engine: they are finite.
const LARGE: u64 = 100_000;

/// An outcome as the expectations write it: `p.r1=0 x=2`.
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

/// The expectations of a file: of its only program, or of each of its clients.
#[derive(Deserialize)]
#[serde(untagged)]
enum OfFile {
    Program(Expected),
    Clients(BTreeMap<String, Expected>),
}

/// Checks one folder; returns all disagreements.
fn folder(name: &str) -> Vec<String> {
    let folder = corpus().join(name);
    let text = fs::read_to_string(folder.join("expected.toml")).expect("expectations are there");
    let expected: BTreeMap<String, OfFile> = toml::from_str(&text).expect("they are well-formed");
    let mut wrong = Vec::new();
    let files: BTreeSet<String> = fs::read_dir(&folder)
        .expect("the corpus is there")
        .filter_map(|e| Some(e.ok()?.file_name().to_str()?.strip_suffix(".fp")?.to_owned()))
        .collect();
    for stem in files.iter().filter(|stem| !expected.contains_key(*stem)) {
        wrong.push(format!("{name}/{stem}.fp has no expectation"));
    }
    for (stem, expected) in &expected {
        let file = format!("{name}/{stem}.fp");
        let Ok(source) = fs::read_to_string(folder.join(format!("{stem}.fp"))) else {
            wrong.push(format!("{file} is not there"));
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
            OfFile::Program(expected) => program(&file, &problems[0], expected, &mut wrong),
            OfFile::Clients(clients) => {
                for problem in &problems {
                    match clients.get(&problem.name) {
                        Some(expected) => {
                            let file = format!("{file} {}", problem.name);
                            program(&file, problem, expected, &mut wrong);
                        }
                        None => wrong.push(format!("{file} {}: no expectation", problem.name)),
                    }
                }
                let known = |name: &&String| problems.iter().any(|p| p.name == **name);
                let strange = clients.keys().filter(|name| !known(name));
                wrong.extend(strange.map(|name| format!("{file} has no client {name}")));
            }
        }
    }
    wrong
}

/// Checks one program under all models.
fn program(file: &str, problem: &Problem, expected: &Expected, wrong: &mut Vec<String>) {
    let verdicts = [
        ("sc", &expected.sc),
        ("tso", &expected.tso),
        ("pso", &expected.pso),
        ("rmo", &expected.rmo),
    ];
    for (model_name, verdict) in verdicts {
        let Some(verdict) = verdict else { continue };
        let bounded = expected.bounded.iter().any(|m| m == model_name);
        let max_buffer = bounded.then_some(if model_name == "rmo" { 8 } else { 2 });
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
        // What is unbounded is proved: by abstraction, under the models that have one.
        let proves = matches!(model_name, "tso" | "pso") && answer.statistics.states < LARGE;
        if proves {
            let found = check_with(&Auto, problem, &model(model_name), settings(2)).verdict;
            if found.word() != verdict {
                wrong.push(format!("{file} {model_name}: expected {verdict}, auto says {found:?}"));
            }
        }
    }
    for (model_name, set) in &expected.outcomes {
        let answer = outcomes(problem, &model(model_name), settings(1));
        let found: BTreeSet<String> = answer.outcomes.iter().map(|o| show(problem, o)).collect();
        let set: BTreeSet<String> = set.iter().cloned().collect();
        if found != set || !answer.outcomes_complete {
            wrong.push(format!("{file} {model_name}: expected {set:#?}, found {found:#?}"));
        }
    }
}

fn agree(name: &str) {
    let wrong = folder(name);
    assert!(wrong.is_empty(), "{} disagreements:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn litmus() {
    agree("litmus");
}

#[test]
fn mutex() {
    agree("mutex");
}

#[test]
fn papers() {
    agree("papers");
}

#[test]
fn structures() {
    agree("structures");
}

#[test]
fn regress() {
    agree("regress");
}

#[test]
fn the_number_of_threads_does_not_show() {
    let folder = corpus().join("mutex");
    for stem in ["peterson0", "dekker2", "bakery2", "szymanski0"] {
        let source =
            fs::read_to_string(folder.join(format!("{stem}.fp"))).expect("a corpus program");
        let problem = &lower(&source).expect("it compiles")[0];
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
        let problem = &lower(&source).expect("it compiles")[0];
        let one = check_with(&Auto, problem, &model("tso"), settings(1));
        let two = check_with(&Auto, problem, &model("tso"), settings(2));
        assert_eq!((one.statistics, one.by), (two.statistics, two.by), "{stem}");
        assert_eq!(one.verdict, two.verdict, "{stem}");
    }
}
