//! Access to the programs of the corpus.

use crate::is_campaign;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the path of the corpus folder.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

/// Returns the files with this extension in a subfolder of the corpus, sorted.
///
/// # Panics
/// If the folder cannot be read.
pub fn files(subfolder: &str, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder().join(subfolder)).expect("the corpus has this folder");
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == extension));
    paths.sort();
    paths
}

/// Returns the `.fp` programs in a subfolder of the corpus: file name without extension, and source
/// text.
///
/// # Panics
/// If a file cannot be read.
pub fn sources(subfolder: &str) -> Vec<(String, String)> {
    let read = |path: &PathBuf| {
        let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        (name, fs::read_to_string(path).expect("a program is text"))
    };
    files(subfolder, "fp").iter().map(read).collect()
}

/// Returns every `n`-th program of [`sources`] in `cargo test`, and all of them in a campaign.
///
/// # Panics
/// If a file cannot be read.
pub fn sample(subfolder: &str, n: usize) -> Vec<(String, String)> {
    sources(subfolder).into_iter().step_by(if is_campaign() { 1 } else { n }).collect()
}
