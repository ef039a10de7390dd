//! The changes of a repair as one unified diff, with a section for each file.
//!
//! `patch -p1` accepts only names inside of its folder. If a name leaves the current folder, as in
//! `../lock.h`, all names are relative to the innermost folder that contains all files and the
//! current folder.

use fencepost_frontends::repair::Changes;
use fencepost_report::diff;
use std::path::{Component, Path, PathBuf};

/// A unified diff and the folder in which it applies.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct FileDiff {
    /// The diff. Empty if nothing changes.
    pub(crate) text: String,
    /// The folder in which `patch -p1` applies the diff, if it is not the current one.
    pub(crate) folder: Option<String>,
}

impl FileDiff {
    /// Returns the diff of changes.
    pub(crate) fn new(changes: &Changes) -> FileDiff {
        let names: Vec<&str> = changes.files.iter().map(|file| &*file.name).collect();
        let current = || std::env::current_dir().ok();
        let (names, folder) = names_for_patch(&names, current);
        let sections = changes.files.iter().zip(names);
        let sections = sections.map(|(file, name)| diff::unified(&name, &file.before, &file.after));
        FileDiff { text: sections.collect(), folder }
    }
}

/// Returns the names of files in a diff, and the folder to which they are relative, if it is not the
/// current one.
fn names_for_patch(
    names: &[&str],
    current: impl FnOnce() -> Option<PathBuf>,
) -> (Vec<String>, Option<String>) {
    let unchanged = || names.iter().map(|name| (*name).to_string()).collect();
    let absolute = names.iter().filter(|name| Path::new(name).is_absolute()).count();
    let leaves =
        |name: &&str| Path::new(name).components().any(|part| part == Component::ParentDir);
    if absolute == 0 && !names.iter().any(leaves) {
        return (unchanged(), None);
    }
    let Some(current) = current() else { return (unchanged(), None) };
    let paths: Vec<PathBuf> = names.iter().map(|name| resolved(&current.join(name))).collect();
    let is_root = |folder: &Path| paths.iter().all(|path| path.starts_with(folder));
    let start = if absolute == names.len() { Path::new("/") } else { &current };
    let Some(root) = start.ancestors().find(|folder| is_root(folder)) else {
        return (unchanged(), None);
    };
    let relative = |path: &PathBuf| {
        let path = path.strip_prefix(root).unwrap_or(path);
        path.to_string_lossy().into_owned()
    };
    let ups = start.components().count() - root.components().count();
    let folder = if root == Path::new("/") { "/".into() } else { vec![".."; ups].join("/") };
    (paths.iter().map(relative).collect(), Some(folder).filter(|folder| !folder.is_empty()))
}

/// Removes `.` and `..` from an absolute path, without reading links.
fn resolved(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => clean.push(part),
        }
    }
    clean
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn names_in_a_diff_are_inside_of_one_folder() {
        let check = |names: &[&str], expected: &[&str], folder: Option<&str>| {
            let found = names_for_patch(names, || Some("/home/me/queue/variants".into()));
            assert_eq!(found.0, expected, "{names:?}");
            assert_eq!(found.1.as_deref(), folder, "{names:?}");
        };
        check(&["main.c", "lib/lock.h"], &["main.c", "lib/lock.h"], None);
        check(&["./main.c"], &["./main.c"], None);
        check(&["../queue.c"], &["queue.c"], Some(".."));
        check(&["main.c", "../queue.c"], &["variants/main.c", "queue.c"], Some(".."));
        check(&["../../lock.h"], &["lock.h"], Some("../.."));
        check(&["main.c", "/home/me/lock.h"], &["queue/variants/main.c", "lock.h"], Some("../.."));
        check(
            &["main.c", "/opt/lock.h"],
            &["home/me/queue/variants/main.c", "opt/lock.h"],
            Some("/"),
        );
        check(&["/opt/lock.h"], &["opt/lock.h"], Some("/"));
        check(&["/home/me/queue/variants/a.h", "b.h"], &["a.h", "b.h"], None);
    }
}
