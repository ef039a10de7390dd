//! Writes the files that a repair or a weakening changes.

use super::prepare::Input;
use super::{Job, report_error};
use crate::input;
use crate::output::Output;
use crate::reader::{MAX_SOURCE_BYTES, read_file};
use crate::store::replace;
use fencepost_frontends::repair::{ChangedFile, Changes};
use fencepost_report::json::InputError;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What was written, and the error that ended the writing.
#[derive(Default)]
pub(super) struct Written {
    /// The paths of the files that were written.
    pub(super) files: Vec<String>,
    /// Why not all files were written.
    pub(super) error: Option<InputError>,
}

/// Writes changed files if an option requests it: all of them in place, or the main file to another
/// file.
pub(super) fn write(job: &Job, input: &Input, changes: &Changes, output: &Output) -> Written {
    let targets = match &job.output {
        Some(path) => only_main_file(path, input, changes),
        None if job.write => in_place(input, changes),
        None => return Written::default(),
    };
    let mut written = Written::default();
    let targets = match targets {
        Ok(targets) => targets,
        Err((name, message)) => {
            written.error = Some(report_error(&name, message, output));
            return written;
        }
    };
    for (path, text) in targets {
        let name = input::display_path(&path);
        if let Err(error) = replace(&path, text.as_bytes()) {
            let already = match &written.files[..] {
                [] => String::new(),
                files => format!("; already written: {}", files.join(", ")),
            };
            let message = format!("cannot write {name}: {error}{already}");
            written.error = Some(report_error(&name, message, output));
            return written;
        }
        written.files.push(name);
    }
    written
}

/// Paths with their new texts, or the name of a file and the reason why nothing is written.
type Targets<'a> = Result<Vec<(PathBuf, &'a str)>, (String, String)>;

/// Returns the target of `-o`, which is one file.
fn only_main_file<'a>(path: &Path, input: &'a Input, changes: &'a Changes) -> Targets<'a> {
    let included = changes.files.iter().filter(|file| !file.is_main);
    let included: Vec<&str> = included.map(|file| &*file.name).collect();
    if included.is_empty() {
        return Ok(vec![(path.into(), changes.main_text(input.source.text()))]);
    }
    let message = format!(
        "-o writes one file, but included files change, too ({}): use --write, or apply the diff",
        included.join(", ")
    );
    Err(("--output".into(), message))
}

/// Returns the paths of the changed files after checking that each is the file that was read. A file
/// that has changed meanwhile must not be replaced.
fn in_place<'a>(input: &Input, changes: &'a Changes) -> Targets<'a> {
    let mut targets = Vec::new();
    let mut names = BTreeMap::new();
    for ChangedFile { name, is_main, before, after } in &changes.files {
        let path = match (&input.path, is_main) {
            (Some(path), true) => path.clone(),
            (None, true) => continue, // standard input; `--write` was refused
            (_, false) => name.into(),
        };
        let name = input::display_path(&path);
        let refused = |why: &str| (name.clone(), format!("cannot write {name}: {why}"));
        let read = read_file(&path, MAX_SOURCE_BYTES).map_err(|why| refused(&why.to_string()))?;
        if read != before.as_bytes() {
            return Err(refused("the file has changed since it was read; nothing is written"));
        }
        let same = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        if let Some(other) = names.insert(same, name.clone()) {
            let why = format!("it is the same file as {other}; apply the diff by hand");
            return Err(refused(&why));
        }
        targets.push((path, &**after));
    }
    Ok(targets)
}
