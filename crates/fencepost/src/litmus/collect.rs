//! From paths to files: a folder stands for the tests in it, `@FILE` for the paths that the file lists.

use crate::input;
use std::fs;
use std::path::{Path, PathBuf};

/// What paths stand for.
#[derive(Default)]
pub(super) struct Collected {
    /// The files, in order.
    pub(super) files: Vec<PathBuf>,
    /// What is wrong with paths that stand for nothing.
    pub(super) wrong: Vec<String>,
    /// The lists that are being read.
    open: Vec<PathBuf>,
}

/// The files that paths stand for.
pub(super) fn collect(paths: &[PathBuf]) -> Collected {
    let mut collected = Collected::default();
    for path in paths {
        collected.add(path);
    }
    collected
}

impl Collected {
    fn add(&mut self, path: &Path) {
        // `@tests/all` and `tests/@all` both name a list.
        let text = path.to_str();
        if let Some(list) = text.and_then(|text| text.strip_prefix('@')).filter(|_| !path.exists())
        {
            return self.add_list(Path::new(list));
        }
        let name = path.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| name.starts_with('@')) && path.is_file() {
            return self.add_list(path);
        }
        match input::expand(path) {
            Ok(found) => {
                let named = found.len() == 1 && found[0] == *path;
                let is_test = |file: &PathBuf| file.extension().is_some_and(|e| e == "litmus");
                self.files.extend(found.into_iter().filter(|file| named || is_test(file)));
            }
            Err(message) => self.wrong.push(message),
        }
    }

    /// The paths in a list are relative to it. Lines that begin with `#` are comments.
    fn add_list(&mut self, list: &Path) {
        let same = fs::canonicalize(list).unwrap_or_else(|_| list.into());
        if self.open.contains(&same) {
            let message = format!("the list {} names itself", input::shown(list));
            if !self.wrong.contains(&message) {
                self.wrong.push(message);
            }
            return;
        }
        let text = match fs::read_to_string(list) {
            Ok(text) => text,
            Err(error) => {
                self.wrong.push(format!("cannot read the list {}: {error}", input::shown(list)));
                return;
            }
        };
        self.open.push(same);
        let folder = list.parent().unwrap_or(Path::new(""));
        for line in text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')) {
            match line.strip_prefix('@') {
                Some(inner) if !folder.join(line).exists() => self.add_list(&folder.join(inner)),
                _ => self.add(&folder.join(line)),
            }
        }
        self.open.pop();
    }
}
