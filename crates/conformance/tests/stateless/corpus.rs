//! The corpus: the stateless engine against the explicit one, and which programs are robust.
//!
//! The table of who is robust is a snapshot: it is there to be read, and to show when something changes. The ways to
//! find out must agree, and what is robust must have the outcomes of SC.

use super::ask::{Compared, Question, ask, ask_for, same_under_sc, sound_under};
use crate::common::{lower, settings};
use fencepost_engines::{
    Bound, Explicit, InconclusiveReason, Robust, RobustBy, Settings, Unsupported, Verdict,
};
use fencepost_ir::Problem;
use fencepost_ir::Violation;
use fencepost_search::Limits;
use fencepost_testkit::corpus;
use std::fmt::Write;
use std::time::Duration;

/// Every program of a folder: each client of a file is one.
fn programs(folder: &str) -> Vec<(String, Problem)> {
    let mut found = Vec::new();
    for (stem, source) in corpus::sources(folder) {
        let problems = lower(&source).expect("it compiles");
        let several = problems.len() > 1;
        for problem in problems {
            let client = if several { format!(" {}", problem.name) } else { String::new() };
            found.push((format!("{folder}/{stem}{client}"), problem));
        }
    }
    found
}

fn limited(runs: u64) -> Settings {
    let limits = Limits { states: runs, ..Limits::default() };
    Settings { limits, ..settings(2) }
}

fn stored() -> Settings {
    Settings { shortest: false, max_buffer: Some(8), ..limited(300_000) }
}

/// Compares a folder under SC and under the weaker models; at least so many verdicts and outcomes under
/// SC, and verdicts under the weaker models.
fn folder(name: &str, least: [u64; 3]) {
    let (mut strong, mut weak) = (Compared::default(), Compared::default());
    let mut wrong = Vec::new();
    for (name, problem) in programs(name) {
        let mut note = |compared: Result<Compared, String>, all: &mut Compared| match compared {
            Ok(compared) => *all = all.and(compared),
            Err(error) => wrong.push(format!("{name}: {error}")),
        };
        if SLOW.contains(&name.as_str()) {
            continue;
        }
        note(same_under_sc(&problem, limited(5_000), stored()), &mut strong);
        for model in ["tso", "pso"] {
            note(sound_under(&problem, model, limited(5_000), stored()), &mut weak);
        }
    }
    println!("{name}: {strong:?} {weak:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let found = [strong.verdicts, strong.outcomes, weak.verdicts];
    assert!(found.iter().zip(least).all(|(found, least)| *found >= least), "compared {found:?}");
}

#[test]
fn litmus() {
    folder("litmus", [130, 100, 100]);
}

#[test]
fn mutex() {
    folder("mutex", [12, 8, 10]);
}

#[test]
fn papers() {
    folder("papers", [11, 9, 9]);
}

#[test]
fn structures() {
    folder("structures", [24, 20, 15]);
}

#[test]
fn regress() {
    folder("regress", [6, 2, 10]);
}

/// Programs with long runs in which much is waited for; a limit on runs does not help there.
const SLOW: [&str; 3] = ["mutex/sense0", "mutex/sense1", "mutex/ttas-lock"];

/// A verdict about robustness in a few words.
fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Verified(_) => "robust",
        Verdict::Violated(violated) if violated.evidence().violation() == Violation::NotRobust => {
            "not robust"
        }
        Verdict::Violated(_) => "wrong under SC",
        Verdict::Inconclusive(inconclusive) => match inconclusive.reason() {
            InconclusiveReason::Limit(_) => "too many runs",
            InconclusiveReason::Bound { bound: Bound::Preemptions(_), .. } => "too many runs",
            InconclusiveReason::Unsupported { reason: Unsupported::Frees } => "frees",
            InconclusiveReason::Unsupported { reason: Unsupported::Model } => "another model",
            InconclusiveReason::Bound { .. }
            | InconclusiveReason::Spurious
            | InconclusiveReason::Unsupported { .. } => "strange",
        },
    }
}

/// Who is robust, as a table; the ways to find out must agree, and outcomes must be those of SC.
fn robust(folder: &str) -> String {
    let mut table = String::new();
    let mut wrong = Vec::new();
    for (name, problem) in programs(folder) {
        let problem = &problem;
        let by = |by, model, runs| {
            let patience = Duration::from_secs(60);
            let of = (problem, model);
            let verdict =
                ask_for(patience, &Robust { by }, Question::Verdict, of, limited(runs)).verdict;
            word(&verdict)
        };
        let tso = by(RobustBy::Auto, "tso", 1_000_000);
        let attack = by(RobustBy::Attack, "tso", 200_000);
        let runs = |model| match SLOW.contains(&name.as_str()) {
            true => "not asked",
            false => by(RobustBy::Stateless, model, 5_000),
        };
        let stateless = runs("tso");
        let concluded = |word: &str| ["robust", "not robust", "wrong under SC"].contains(&word);
        for other in [attack, stateless] {
            // Who is wrong under SC and not robust may be told either.
            let differ = (tso == "robust") != (other == "robust");
            if concluded(tso) && concluded(other) && differ {
                wrong.push(format!("{name}: auto {tso}, attack {attack}, stateless {stateless}"));
            }
        }
        let pso = runs("pso");
        let sc = ask(&Explicit, Question::Outcomes, (problem, "sc"), stored());
        for (model, word) in [("tso", tso), ("pso", pso)] {
            if word != "robust" {
                continue;
            }
            let weak = ask(&Explicit, Question::Outcomes, (problem, model), stored());
            let known = sc.outcomes_complete && weak.outcomes_complete;
            if known && sc.outcomes != weak.outcomes {
                wrong.push(format!("{name}: robust under {model}, but more outcomes"));
            }
        }
        writeln!(table, "{name}: TSO {tso}, PSO {pso}").expect("a text takes everything");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    table
}

#[test]
fn who_is_robust() {
    let folders = ["litmus", "mutex", "papers", "structures", "regress"];
    let table: String = folders.iter().map(|folder| robust(folder)).collect();
    insta::assert_snapshot!(table);
}
