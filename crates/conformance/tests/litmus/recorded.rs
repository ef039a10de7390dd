//! Tests with recorded outcomes that are not part of the project.
//!
//! `FENCEPOST_LITMUS` names a folder. In it, `expected/NAME.MODEL.tsv` has the records of the tests in the folder
//! `NAME`. Without the variable there is nothing to compare.

use super::ask::{files, ran};
use fencepost_report::litmus::expect::{Compared, Records};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The records, by the folder of their tests.
fn records(folder: &Path) -> BTreeMap<String, Records> {
    let mut all: BTreeMap<String, Records> = BTreeMap::new();
    for entry in fs::read_dir(folder.join("expected")).expect("records are there") {
        let path = entry.expect("a readable folder").path();
        let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        let Some((of, _)) = name.strip_suffix(".tsv").and_then(|name| name.rsplit_once('.')) else {
            continue;
        };
        let text = fs::read_to_string(&path).expect("a readable file");
        let read = all.entry(of.to_string()).or_default().read(&text);
        read.unwrap_or_else(|wrong| panic!("{}: {wrong}", path.display()));
    }
    all
}

#[test]
fn recorded_tests_show_what_is_recorded() {
    let Some(folder) = std::env::var_os("FENCEPOST_LITMUS").map(PathBuf::from) else {
        println!("skipped: FENCEPOST_LITMUS names no folder of recorded tests");
        return;
    };
    let (mut compared, mut unknown, mut wrong) = (0, BTreeSet::new(), Vec::new());
    for (name, records) in records(&folder) {
        for path in files(&folder.join(name)) {
            let ran = match ran(&path) {
                Ok(ran) => ran,
                Err(message) => {
                    wrong.push(message);
                    continue;
                }
            };
            for (model, seen) in &ran.models {
                let about = format!("{} {}", ran.file, model.name);
                match seen.as_ref().map(|seen| records.compare(&ran, &model.name, seen)) {
                    Ok(Compared::Same) => compared += 1,
                    Ok(Compared::Unknown) => {
                        unknown.insert(about);
                    }
                    Ok(Compared::Different(lines)) => {
                        wrong.extend(lines.into_iter().map(|line| format!("{about}: {line}")));
                    }
                    Err(fault) => wrong.push(format!("{about}: {fault}")),
                }
            }
        }
    }
    println!("{compared} compared, {} without a record", unknown.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(unknown.len() * 20 <= compared, "few are without a record: {unknown:#?}");
}
