//! The programs of the corpus.

use crate::is_campaign;
use std::fs;
use std::path::{Path, PathBuf};

/// The corpus folder.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

/// The files of a folder of the corpus with this extension, sorted.
///
/// # Panics
/// If the folder cannot be read.
pub fn files(below: &str, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder().join(below)).expect("the corpus has this folder");
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == extension));
    paths.sort();
    paths
}

/// The `.fp` programs of a folder of the corpus: file name without extension, and source text.
///
/// # Panics
/// If a file cannot be read.
pub fn sources(below: &str) -> Vec<(String, String)> {
    let read = |path: &PathBuf| {
        let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        (name, fs::read_to_string(path).expect("a program is text"))
    };
    files(below, "fp").iter().map(read).collect()
}

/// The same, but only every `n`-th program in `cargo test`. A campaign gets all of them.
///
/// # Panics
/// If a file cannot be read.
pub fn sample(below: &str, n: usize) -> Vec<(String, String)> {
    sources(below).into_iter().step_by(if is_campaign() { 1 } else { n }).collect()
}
