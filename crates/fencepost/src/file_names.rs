//! One name for each file of a C program: `a/../lock.h` and `lock.h` are the same file.
//!
//! A file that a program includes by several paths has its places for fences only once, because it
//! has one name. A link has its own name: a file that it includes may be next to the link.

use crate::input::display_path;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The names of the files that were found, by folder and name in the folder.
#[derive(Default)]
pub(crate) struct FileNames(Mutex<BTreeMap<PathBuf, String>>);

impl FileNames {
    /// Returns the name of an existing file: the one that it got first, or its path without
    /// unnecessary parts.
    pub(crate) fn name(&self, path: &Path) -> String {
        let Some(identity) = identity(path) else { return display_path(path) };
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new_name = || {
            // Behind a link, `..` is not the folder of the link.
            let short = Some(shortened(path)).filter(|short| same_folder(short, &identity));
            display_path(short.as_deref().unwrap_or(path))
        };
        names.entry(identity.clone()).or_insert_with(new_name).clone()
    }

    /// Registers the main file, with its path as its name.
    pub(crate) fn add_main(&self, path: &Path) {
        if let Some(identity) = identity(path) {
            let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            names.insert(identity, display_path(path));
        }
    }
}

fn same_folder(path: &Path, known: &Path) -> bool {
    identity(path).is_some_and(|identity| identity == known)
}

/// Returns the path of a file with a folder that has no links and no `..`.
fn identity(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
    Some(folder.join(path.file_name()?))
}

/// Returns a path without `.` and without `..` behind the name of a folder.
fn shortened(path: &Path) -> PathBuf {
    let mut short = PathBuf::new();
    for part in path.components() {
        let is_name = matches!(short.components().next_back(), Some(Component::Normal(_)));
        match part {
            Component::CurDir => {}
            Component::ParentDir if is_name => {
                short.pop();
            }
            part => short.push(part),
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |path: &str| folder.path().join(path);
        fs::create_dir(at("variants")).expect("a folder");
        for file in ["lock.h", "variants/main.c"] {
            fs::write(at(file), "").expect("a file");
        }
        let names = FileNames::default();
        names.add_main(&at("variants/../variants/main.c"));
        assert_eq!(names.name(&at("variants/../lock.h")), display_path(&at("lock.h")));
        assert_eq!(names.name(&at("lock.h")), display_path(&at("lock.h")));
        let main = display_path(&at("variants/../variants/main.c"));
        assert_eq!(names.name(&at("variants/main.c")), main);
    }

    #[cfg(unix)]
    #[test]
    fn a_parent_of_a_linked_folder_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("real/inner")).expect("folders");
        std::os::unix::fs::symlink(at("real/inner"), at("link")).expect("a link");
        fs::write(at("real/lock.h"), "").expect("a file");
        let path = at("link/../lock.h");
        assert_eq!(FileNames::default().name(&path), display_path(&path));
    }
}
