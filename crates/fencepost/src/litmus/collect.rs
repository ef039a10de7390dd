//! Expands paths to files: a directory denotes the tests in it, `@FILE` denotes the paths listed in
//! the file.

use crate::input;
use crate::output::Output;
use crate::reader::read_text;
use std::fs;
use std::path::{Path, PathBuf};

/// The number of lists that are read, at most. Lists that contain lists can otherwise denote an
/// exponential number of files.
const MAX_LISTS: usize = 10_000;

/// The files that paths denote.
#[derive(Default)]
pub(super) struct Collected {
    /// The files, in order.
    pub(super) files: Vec<PathBuf>,
    /// Messages about paths that cannot be read.
    pub(super) errors: Vec<String>,
    /// The stack of lists that are being read, to detect cycles.
    open_lists: Vec<PathBuf>,
    /// The number of lists that were read.
    lists: usize,
}

/// Returns the files that paths denote. Prints a note about each file that is skipped.
pub(super) fn collect(paths: &[PathBuf], output: &Output) -> Collected {
    let mut collected = Collected::default();
    for path in paths {
        collected.add(path, output);
    }
    collected
}

impl Collected {
    fn add(&mut self, path: &Path, output: &Output) {
        // `@tests/all` and `tests/@all` both name a list.
        let text = path.to_str();
        if let Some(list) = text.and_then(|text| text.strip_prefix('@')).filter(|_| !path.exists())
        {
            return self.add_list(Path::new(list), output);
        }
        let name = path.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| name.starts_with('@')) && path.is_file() {
            return self.add_list(path, output);
        }
        match input::expand(path, output) {
            Ok(found) => {
                let named = found.len() == 1 && found[0] == *path;
                let is_test = |file: &PathBuf| file.extension().is_some_and(|e| e == "litmus");
                self.files.extend(found.into_iter().filter(|file| named || is_test(file)));
            }
            Err(message) => self.errors.push(message),
        }
    }

    /// Adds the paths in a list, which are relative to the list. Lines that begin with `#` are
    /// comments.
    fn add_list(&mut self, list: &Path, output: &Output) {
        let canonical = fs::canonicalize(list).unwrap_or_else(|_| list.into());
        if self.open_lists.contains(&canonical) {
            let message = format!("the list {} contains itself", input::display_path(list));
            if !self.errors.contains(&message) {
                self.errors.push(message);
            }
            return;
        }
        self.lists += 1;
        if self.lists > MAX_LISTS {
            if self.lists == MAX_LISTS + 1 {
                self.errors.push(format!("there are more than {MAX_LISTS} lists, the limit"));
            }
            return;
        }
        let text = match read_text(list) {
            Ok(text) => text,
            Err(error) => {
                self.errors
                    .push(format!("cannot read the list {}: {error}", input::display_path(list)));
                return;
            }
        };
        self.open_lists.push(canonical);
        let dir = list.parent().unwrap_or(Path::new(""));
        for line in text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')) {
            match line.strip_prefix('@') {
                Some(inner) if !dir.join(line).exists() => self.add_list(&dir.join(inner), output),
                _ => self.add(&dir.join(line), output),
            }
        }
        self.open_lists.pop();
    }
}
