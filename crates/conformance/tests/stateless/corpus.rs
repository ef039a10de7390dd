//! The corpus: the stateless engine compared with the explicit engine, and the table of robust
//! programs.
//!
//! The table is a snapshot for readers, and it shows when an answer changes. All engines must
//! agree, and a robust program must have the outcomes of SC.

use super::queries::{
    Compared, QueryKind, compare_under_sc, compare_under_weaker_model, run_query, run_query_for,
};
use crate::common::{lower, settings};
use fencepost_engines::{
    Bound, Explicit, InconclusiveReason, Robust, RobustMethod, Settings, Unsupported, Verdict,
};
use fencepost_ir::Problem;
use fencepost_ir::Violation;
use fencepost_search::Limits;
use fencepost_testkit::corpus;
use std::fmt::Write;
use std::time::Duration;

/// Returns every program of a folder. Each client of a file is a program.
fn programs(folder: &str) -> Vec<(String, Problem)> {
    let mut found = Vec::new();
    for (stem, source) in corpus::sources(folder) {
        let problems = lower(&source).expect("the program compiles");
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

fn explicit_settings() -> Settings {
    Settings { shortest: false, max_buffer: Some(8), ..limited(300_000) }
}

/// Compares a folder under SC and under the weaker models. `minimum` is the minimum number of
/// compared verdicts and outcomes under SC, and of verdicts under the weaker models.
fn compare_folder(name: &str, minimum: [u64; 3]) {
    let (mut strong, mut weak) = (Compared::default(), Compared::default());
    let mut wrong = Vec::new();
    for (name, problem) in programs(name) {
        let mut record = |compared: Result<Compared, String>, all: &mut Compared| match compared {
            Ok(compared) => *all = all.plus(compared),
            Err(error) => wrong.push(format!("{name}: {error}")),
        };
        if SLOW.contains(&name.as_str()) {
            continue;
        }
        record(compare_under_sc(&problem, limited(5_000), explicit_settings()), &mut strong);
        for model in ["tso", "pso"] {
            record(
                compare_under_weaker_model(&problem, model, limited(5_000), explicit_settings()),
                &mut weak,
            );
        }
    }
    println!("{name}: {strong:?} {weak:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let found = [strong.verdicts, strong.outcomes, weak.verdicts];
    assert!(
        found.iter().zip(minimum).all(|(found, minimum)| *found >= minimum),
        "compared {found:?}"
    );
}

#[test]
fn litmus_programs_get_the_same_answers() {
    compare_folder("litmus", [130, 100, 100]);
}

#[test]
fn mutex_programs_get_the_same_answers() {
    compare_folder("mutex", [12, 8, 10]);
}

#[test]
fn paper_programs_get_the_same_answers() {
    compare_folder("papers", [11, 9, 9]);
}

#[test]
fn data_structures_get_the_same_answers() {
    compare_folder("structures", [24, 20, 15]);
}

#[test]
fn regression_programs_get_the_same_answers() {
    compare_folder("regress", [6, 2, 10]);
}

#[test]
fn waiting_programs_get_the_same_answers() {
    compare_folder("waiting", [11, 5, 10]);
}

/// Programs with long executions and many spin loops. A limit on executions does not help there.
const SLOW: [&str; 3] = ["mutex/sense0", "mutex/sense1", "mutex/ttas-lock"];

/// Returns the word for a verdict on robustness.
fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Verified(_) => "robust",
        Verdict::Violated(violated) if violated.evidence().violation() == Violation::NotRobust => {
            "not robust"
        }
        Verdict::Violated(_) => "violated under SC",
        Verdict::Inconclusive(inconclusive) => match inconclusive.reason() {
            InconclusiveReason::Limit(_) => "too many executions",
            InconclusiveReason::Bound { bound: Bound::Preemptions(_), .. } => "too many executions",
            InconclusiveReason::Unsupported { reason: Unsupported::Frees } => "frees records",
            InconclusiveReason::Unsupported { reason: Unsupported::Model } => "unsupported model",
            InconclusiveReason::Bound { .. }
            | InconclusiveReason::Spurious
            | InconclusiveReason::Unsupported { .. } => "unexpected",
        },
    }
}

/// Returns the table of robust programs of a folder. Checks that the engines agree, and that robust
/// programs have the outcomes of SC.
fn robustness_table(folder: &str) -> String {
    let mut table = String::new();
    let mut wrong = Vec::new();
    for (name, problem) in programs(folder) {
        let problem = &problem;
        let check = |method, model, runs| {
            let time_limit = Duration::from_secs(60);
            let case = (problem, model);
            let verdict = run_query_for(
                time_limit,
                &Robust::by(method),
                QueryKind::Verdict,
                case,
                limited(runs),
            )
            .verdict;
            word(&verdict)
        };
        let tso = check(RobustMethod::Auto, "tso", 1_000_000);
        let attack = check(RobustMethod::Attack, "tso", 200_000);
        let runs = |model| match SLOW.contains(&name.as_str()) {
            true => "not checked",
            false => check(RobustMethod::Stateless, model, 5_000),
        };
        let stateless = runs("tso");
        let concluded = |word: &str| ["robust", "not robust", "violated under SC"].contains(&word);
        for other in [attack, stateless] {
            // A program that fails under SC and is not robust may get either answer.
            let differ = (tso == "robust") != (other == "robust");
            if concluded(tso) && concluded(other) && differ {
                wrong.push(format!("{name}: auto {tso}, attack {attack}, stateless {stateless}"));
            }
        }
        let pso = runs("pso");
        let sc = run_query(&Explicit, QueryKind::Outcomes, (problem, "sc"), explicit_settings());
        for (model, word) in [("tso", tso), ("pso", pso)] {
            if word != "robust" {
                continue;
            }
            let weak =
                run_query(&Explicit, QueryKind::Outcomes, (problem, model), explicit_settings());
            let known = sc.outcomes_complete && weak.outcomes_complete;
            if known && sc.outcomes != weak.outcomes {
                wrong
                    .push(format!("{name}: robust under {model}, but with other outcomes than SC"));
            }
        }
        writeln!(table, "{name}: TSO {tso}, PSO {pso}").expect("writing to a string succeeds");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    table
}

#[test]
fn robustness_of_the_corpus_is_unchanged() {
    let folders = ["litmus", "mutex", "papers", "structures", "regress", "waiting"];
    let table: String = folders.iter().map(|folder| robustness_table(folder)).collect();
    insta::assert_snapshot!(table);
}
