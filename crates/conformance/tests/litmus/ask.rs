//! Reading a test and running it.

use crate::common::{model, outcomes, settings};
use fencepost_conformance::reference::{Model, Table};
use fencepost_frontends::litmus::{self, Test};
use fencepost_ir::{Diagnostics, Problem, Value};
use fencepost_report::litmus::{Ran, Seen};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The models under test: ours by name, in the reference interpreter, and as a table.
pub(crate) const MODELS: [(&str, Model, Table); 4] = [
    ("sc", Model::Sc, Table::SC),
    ("tso", Model::Tso, Table::TSO),
    ("pso", Model::Pso, Table::PSO),
    ("rmo", Model::Table(Table::RMO), Table::RMO),
];

/// The `.litmus` files of a folder, in order.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "litmus")).collect();
    files.sort();
    files
}

/// The name of a file without its ending.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().expect("a file has a name").to_string_lossy().into_owned()
}

/// The test in a text, or what is wrong with it.
pub(crate) fn parse(source: &str, stem: &str) -> Result<Test, String> {
    let mut diagnostics = Diagnostics::new();
    litmus::read(source, stem, false, &mut diagnostics).ok_or_else(|| {
        let told = diagnostics.iter().map(|d| format!("line {}: {}", d.span.line, d.message));
        told.collect::<Vec<_>>().join("; ")
    })
}

/// The test in a file, or what is wrong with it.
pub(crate) fn read(path: &Path) -> Result<Test, String> {
    let source = fs::read_to_string(path).expect("a readable file");
    parse(&source, &stem(path)).map_err(|wrong| format!("{}: {wrong}", path.display()))
}

/// Every outcome of a problem under a model of ours. All of them: else it panics.
pub(crate) fn run(problem: &Problem, name: &str) -> BTreeSet<Vec<Value>> {
    // Only outcomes are asked for.
    let bare = Problem { properties: Vec::new(), ..problem.clone() };
    let answer = outcomes(&bare, &model(name), settings(1));
    assert!(answer.outcomes_complete, "{name}: {}", answer.verdict.word());
    answer.outcomes
}

/// A test and what it shows under all models.
pub(crate) fn ran(path: &Path) -> Result<Ran, String> {
    let test = read(path)?;
    let mut models = Vec::new();
    for (name, _, _) in MODELS {
        let shown = test.show(&run(&test.problem, name)).map_err(|f| f.describe().to_string())?;
        models.push((model(name), Ok(Seen { shown, cut: None, seconds: 0.0 })));
    }
    Ok(Ran { file: path.display().to_string(), test, models })
}
