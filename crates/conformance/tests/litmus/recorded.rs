//! Tests outside the project have their recorded outcomes.
//!
//! `FENCEPOST_LITMUS` names a folder. In it, `expected/NAME.MODEL.tsv` holds the records of the
//! tests in the folder `NAME`. Without the variable the test is skipped.

use super::queries::{files, run_file};
use fencepost_report::litmus::expect::{RecordComparison, Records};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the records, by the folder of their tests.
fn records(folder: &Path) -> BTreeMap<String, Records> {
    let mut all: BTreeMap<String, Records> = BTreeMap::new();
    for entry in fs::read_dir(folder.join("expected")).expect("the folder has records") {
        let path = entry.expect("a readable folder").path();
        let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        let Some((of, _)) = name.strip_suffix(".tsv").and_then(|name| name.rsplit_once('.')) else {
            continue;
        };
        let text = fs::read_to_string(&path).expect("a readable file");
        let read = all.entry(of.to_string()).or_default().read(&text);
        read.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    all
}

#[test]
fn recorded_tests_have_their_recorded_outcomes() {
    let Some(folder) = std::env::var_os("FENCEPOST_LITMUS").map(PathBuf::from) else {
        println!("skipped: FENCEPOST_LITMUS is not set to a folder of recorded tests");
        return;
    };
    let (mut compared, mut unknown, mut wrong) = (0, BTreeSet::new(), Vec::new());
    for (name, mut records) in records(&folder) {
        for path in files(&folder.join(name)) {
            let ran = match run_file(&path) {
                Ok(ran) => ran,
                Err(message) => {
                    wrong.push(message);
                    continue;
                }
            };
            for (model, seen) in &ran.models {
                let case = format!("{} {}", ran.file, model.name);
                let seen = seen.as_ref().map_err(String::as_str);
                match records.compare(&ran, &model.name, seen) {
                    RecordComparison::Same => compared += 1,
                    RecordComparison::Unknown => {
                        unknown.insert(case);
                    }
                    RecordComparison::Ambiguous(reason) => wrong.push(format!("{case}: {reason}")),
                    RecordComparison::Different(lines) => {
                        wrong.extend(lines.into_iter().map(|line| format!("{case}: {line}")));
                    }
                }
            }
        }
    }
    println!("{compared} compared, {} without a record", unknown.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(unknown.len() * 20 <= compared, "too many tests have no record: {unknown:#?}");
}
