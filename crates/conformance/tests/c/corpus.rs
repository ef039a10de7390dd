//! Every program of `corpus/c` has the expected verdict and kind of violation under SC, TSO and
//! PSO, and some also under ARM. The engine is `auto`, the default.
//!
//! Programs marked `slow` are checked under SC only.

use crate::common::{check_with, corpus, model, report_comparisons, settings};
use fencepost_engines::{Auto, Settings, Verdict};
use fencepost_ir::{Fault, Violation};
use fencepost_search::Limits;
use fencepost_testkit::{c_problem, catch_panic, corpus as files};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The largest number of states of a program.
const MAX_STATES: u64 = 3_000_000;

const FOLDERS: [&str; 5] = ["litmus", "mutex", "sequential", "structures", "threads"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    sc: String,
    tso: String,
    pso: String,
    /// The verdict under ARM, for programs that are about its orders.
    arm: Option<String>,
    #[serde(default)]
    kinds: Vec<String>,
    /// Whether the program is too slow for a test except under SC. Its other verdicts are argued, not
    /// checked.
    #[serde(default)]
    slow: bool,
}

/// Returns the name of a kind of violations in `expected.toml`.
fn kind(violation: Violation) -> &'static str {
    match violation {
        Violation::Fault(fault, ..) => match fault {
            Fault::DivisionByZero => "division-by-zero",
            Fault::Overflow => "overflow",
            Fault::OutOfBounds => "out-of-bounds",
            Fault::NullReference => "null",
            Fault::InvalidPointer => "invalid-pointer",
            Fault::UseAfterFree => "use-after-free",
            Fault::EndedLifetime => "ended-lifetime",
            Fault::OutOfRange => "out-of-range",
            Fault::Uninitialised => "uninitialised",
            Fault::PoolExhausted => "pool-exhausted",
            Fault::DoubleFree => "double-free",
            Fault::InvalidFree => "invalid-free",
            Fault::InvalidCall => "invalid-call",
            Fault::NotInSection => "not-in-section",
            Fault::BlockTooLong => "block-too-long",
        },
        Violation::Assertion(..) | Violation::Invariant(_) | Violation::Final(_) => "assertion",
        Violation::Hang => "hang",
        Violation::MutualExclusion(..) => "mutual-exclusion",
        Violation::Operations(_) => "operations",
        Violation::Livelock { .. } => "livelock",
        Violation::NoWitness(_) => "no-witness",
        Violation::NotRobust => "not-robust",
        Violation::DataRace(_) => "data-race",
    }
}

/// Returns whether the expected kinds contain a kind. An invalid pointer is outside of its object.
fn is_expected(kinds: &[String], found: &str) -> bool {
    let has = |kind: &str| kinds.iter().any(|expected| expected == kind);
    match found {
        "invalid-pointer" => has("out-of-bounds"),
        found => has(found),
    }
}

/// Checks a program under all models. Returns the differences.
fn differences(name: &str, expected: &Expected) -> Result<Vec<String>, String> {
    let source = fs::read_to_string(corpus().join(format!("c/{name}.c"))).map_err(|_| "no file")?;
    let problem = c_problem(&source)?;
    let mut wrong = Vec::new();
    let buffers = [("sc", &expected.sc), ("tso", &expected.tso), ("pso", &expected.pso)];
    let arm = expected.arm.iter().map(|verdict| ("arm", verdict));
    for (model_name, verdict) in buffers.into_iter().chain(arm) {
        if expected.slow && model_name != "sc" {
            continue;
        }
        let limits = Limits { states: MAX_STATES, ..Limits::default() };
        let limited = Settings { limits, ..settings(2) };
        let answer = check_with(&Auto, &problem, &model(model_name), limited);
        if answer.verdict.word() != verdict {
            let found = &answer.verdict;
            wrong.push(format!("{name} {model_name}: expected {verdict}, found {found:?}"));
        } else if let Verdict::Violated(violated) = &answer.verdict {
            let found = kind(violated.evidence().violation());
            if !is_expected(&expected.kinds, found) {
                wrong.push(format!("{name} {model_name}: found the kind {found}"));
            }
        }
    }
    Ok(wrong)
}

fn check_folder(folder: &str) {
    let text = fs::read_to_string(corpus().join("c/expected.toml")).expect("expectations");
    let all: BTreeMap<String, Expected> = toml::from_str(&text).expect("well-formed expectations");
    let of_folder = |name: &&String| name.starts_with(&format!("{folder}/"));
    let names: BTreeSet<String> = all.keys().filter(of_folder).cloned().collect();
    let found: BTreeSet<String> = files::files(&format!("c/{folder}"), "c")
        .iter()
        .filter_map(|path| Some(format!("{folder}/{}", path.file_stem()?.to_str()?)))
        .collect();
    let mut wrong: Vec<String> =
        found.difference(&names).map(|name| format!("{name} has no expectation")).collect();
    let mut checked = 0;
    for name in names {
        let expected = &all[&name];
        match catch_panic(|| differences(&name, expected)) {
            Ok(differences) => wrong.extend(differences),
            Err(message) => wrong.push(format!("{name}: {message}")),
        }
        checked += if expected.slow { 1 } else { 3 };
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    report_comparisons("verdicts of C programs", checked);
}

#[test]
fn the_folders_are_complete() {
    let text = fs::read_to_string(corpus().join("c/expected.toml")).expect("expectations");
    let all: BTreeMap<String, Expected> = toml::from_str(&text).expect("well-formed expectations");
    for name in all.keys() {
        let known = FOLDERS.iter().any(|folder| name.starts_with(&format!("{folder}/")));
        assert!(known, "{name}: unknown folder");
    }
}

mod folders {
    use super::check_folder;

    #[test]
    fn c_litmus_programs_have_their_expected_verdicts() {
        check_folder("litmus");
    }

    #[test]
    fn c_mutex_programs_have_their_expected_verdicts() {
        check_folder("mutex");
    }

    #[test]
    fn c_sequential_programs_have_their_expected_verdicts() {
        check_folder("sequential");
    }

    #[test]
    fn c_data_structures_have_their_expected_verdicts() {
        check_folder("structures");
    }

    #[test]
    fn c_programs_with_threads_have_their_expected_verdicts() {
        check_folder("threads");
    }
}
