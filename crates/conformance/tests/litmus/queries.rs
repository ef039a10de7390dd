//! Reads and runs a litmus test.

use crate::common::{model, outcomes, settings};
use fencepost_conformance::reference::{Model, Table};
use fencepost_frontends::litmus::{self, Test};
use fencepost_ir::{Diagnostics, Problem, Value};
use fencepost_report::litmus::{ModelResult, TestRun};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The models under test: the name, the model of the reference interpreter, and the table.
pub(crate) const MODELS: [(&str, Model, Table); 5] = [
    ("sc", Model::Sc, Table::SC),
    ("tso", Model::Tso, Table::TSO),
    ("pso", Model::Pso, Table::PSO),
    ("rmo-nospec", Model::Table(Table::RMO_NOSPEC), Table::RMO_NOSPEC),
    ("rmo", Model::Table(Table::RMO), Table::RMO),
];

/// Returns the `.litmus` files of a folder, sorted.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder exists");
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "litmus")).collect();
    files.sort();
    files
}

/// Returns the name of a file without its extension.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().expect("a file has a name").to_string_lossy().into_owned()
}

/// Parses the test in a text. The error holds the diagnostics.
pub(crate) fn parse(source: &str, stem: &str) -> Result<Test, String> {
    let mut diagnostics = Diagnostics::new();
    litmus::read(source, stem, false, &mut diagnostics).ok_or_else(|| {
        let lines = diagnostics.iter().map(|d| format!("line {}: {}", d.span.line, d.message));
        lines.collect::<Vec<_>>().join("; ")
    })
}

/// Reads the test in a file. The error holds the diagnostics.
pub(crate) fn read(path: &Path) -> Result<Test, String> {
    let source = fs::read_to_string(path).expect("a readable file");
    parse(&source, &stem(path)).map_err(|errors| format!("{}: {errors}", path.display()))
}

/// Returns every outcome of a problem under a model. Panics if the search is not exhaustive.
pub(crate) fn run_model(problem: &Problem, name: &str) -> BTreeSet<Vec<Value>> {
    // The query is for outcomes only.
    let bare = Problem { properties: Vec::new(), ..problem.clone() };
    let answer = outcomes(&bare, &model(name), settings(1));
    assert!(answer.outcomes_complete, "{name}: {}", answer.verdict.word());
    answer.outcomes
}

/// Reads a test and runs it under all models.
pub(crate) fn run_file(path: &Path) -> Result<TestRun, String> {
    run_under(path, read(path)?, MODELS.map(|(name, _, _)| name))
}

/// Runs a test under these models.
pub(crate) fn run_under<'a>(
    path: &Path,
    test: Test,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<TestRun, String> {
    let mut models = Vec::new();
    for name in names {
        let shown =
            test.evaluate(&run_model(&test.problem, name)).map_err(|f| f.describe().to_string())?;
        models.push((model(name), Ok(ModelResult { shown, incomplete: None, seconds: 0.0 })));
    }
    Ok(TestRun { file: path.display().to_string(), test, models })
}
