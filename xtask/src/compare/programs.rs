//! The programs of the comparison.

use fencepost_bench::promela::{self, Model};
use fencepost_bench::{Fences, family};
use std::fs;
use std::path::{Path, PathBuf};

/// A program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Subject {
    pub(super) name: String,
    /// The `.fp` file.
    pub(super) file: PathBuf,
    /// The Promela model written by hand.
    pub(super) by_hand: Option<ByHand>,
}

/// A Promela model written by hand, with its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ByHand {
    pub(super) model: &'static Model,
    pub(super) threads: u32,
    pub(super) fences: Fences,
}

impl Subject {
    /// Returns the right verdict under a model, if it is known here.
    pub(super) fn expected(&self, model: &str) -> Option<&'static str> {
        let by_hand = self.by_hand?;
        Some(family(by_hand.model.family)?.expected(by_hand.fences, model))
    }
}

/// Writes the programs of the families that have a model written by hand into a folder.
pub(super) fn benchmarks(folder: &Path) -> Result<Vec<Subject>, String> {
    let mut subjects = Vec::new();
    for model in promela::MODELS {
        let family = family(model.family).ok_or("a model of an unknown family")?;
        for fences in [Fences::Present, Fences::Removed] {
            for threads in family.values {
                let name = family.program_name(*threads, fences);
                let file = folder.join(format!("{name}.fp"));
                fs::write(&file, family.program(*threads, fences))
                    .map_err(|error| format!("{}: {error}", file.display()))?;
                let by_hand = Some(ByHand { model, threads: *threads, fences });
                subjects.push(Subject { name, file, by_hand });
            }
        }
    }
    Ok(subjects)
}

/// Returns the programs of the mutex corpus, sorted by name. They have no model written by hand.
pub(super) fn corpus(root: &Path) -> Result<Vec<Subject>, String> {
    let folder = root.join("corpus/mutex");
    let io_error = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut subjects = Vec::new();
    for entry in fs::read_dir(&folder).map_err(io_error)? {
        let file = entry.map_err(io_error)?.path();
        if file.extension().is_some_and(|extension| extension == "fp") {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            subjects.push(Subject { name, file, by_hand: None });
        }
    }
    subjects.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(subjects)
}
