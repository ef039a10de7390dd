//! From paths to files: a folder stands for the tests in it, `@FILE` for the paths that the file lists.

use crate::input;
use std::fs;
use std::path::{Path, PathBuf};

/// How deep lists may name lists.
const DEEPEST: usize = 16;

/// The files that paths stand for, in order; all complaints otherwise.
pub(super) fn collect(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Vec<String>> {
    let mut files = Vec::new();
    let mut wrong = Vec::new();
    for path in paths {
        add(path, DEEPEST, &mut files, &mut wrong);
    }
    if wrong.is_empty() { Ok(files) } else { Err(wrong) }
}

fn add(path: &Path, depth: usize, files: &mut Vec<PathBuf>, wrong: &mut Vec<String>) {
    let listed = path.file_name().and_then(|name| name.to_str()?.strip_prefix('@'));
    // On the command line `@` may also stand before a folder: `@tests/all`.
    let whole = path.to_str().and_then(|text| text.strip_prefix('@')).map(PathBuf::from);
    if let Some(list) = whole {
        return add_list(&list, depth, files, wrong);
    }
    if listed.is_some() && path.is_file() {
        return add_list(path, depth, files, wrong);
    }
    match input::expand(path) {
        Ok(found) => {
            let named = found.len() == 1 && found[0] == *path;
            let is_test = |file: &PathBuf| file.extension().is_some_and(|e| e == "litmus");
            files.extend(found.into_iter().filter(|file| named || is_test(file)));
        }
        Err(message) => wrong.push(message),
    }
}

/// The paths in a list are relative to it. Lines that begin with `#` are comments.
fn add_list(list: &Path, depth: usize, files: &mut Vec<PathBuf>, wrong: &mut Vec<String>) {
    if depth == 0 {
        wrong.push(format!("{}: lists name each other without end", input::shown(list)));
        return;
    }
    let text = match fs::read_to_string(list) {
        Ok(text) => text,
        Err(error) => {
            wrong.push(format!("cannot read the list {}: {error}", input::shown(list)));
            return;
        }
    };
    let folder = list.parent().unwrap_or(Path::new(""));
    for line in text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')) {
        match line.strip_prefix('@') {
            Some(inner) => add_list(&folder.join(inner), depth - 1, files, wrong),
            None => add(&folder.join(line), depth - 1, files, wrong),
        }
    }
}
