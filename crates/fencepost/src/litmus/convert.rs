//! `fencepost litmus --to fp`: converts tests to programs in Fencepost's language.

use super::run::{ReadTest, read};
use crate::exit::Exit;
use crate::input;
use crate::output::Output;
use crate::store::replace;
use fencepost_frontends::litmus::Test;
use fencepost_ir::Span;
use fencepost_translate::Unsupported;
use fencepost_translate::export::{Export, fp};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Converts one test to standard output or a file, or several tests to files in a directory.
pub(super) fn run(files: &[PathBuf], to: Option<&Path>, output: &mut Output) -> Exit {
    if files.len() > 1 && to.is_none() {
        output.error("there are several tests: choose a directory for them with --output");
        return Exit::Unusable;
    }
    let dir = to.filter(|to| files.len() > 1 || to.is_dir());
    if let Some(dir) = dir
        && let Err(error) = std::fs::create_dir_all(dir)
    {
        output.error(&format!("cannot create the directory {}: {error}", input::display_path(dir)));
        return Exit::Unusable;
    }
    let mut exit = Exit::Success;
    let mut used = BTreeSet::new();
    for path in files {
        let ReadTest { file, messages, test } = read(path, output.paint_messages);
        output.message(&messages);
        let Ok(test) = test else {
            exit = exit.combine(Exit::Unusable);
            continue;
        };
        let text = match text(&file, &test) {
            Ok(text) => text,
            Err(why) => {
                output.error(&format!("{file}: {why}"));
                exit = exit.combine(Exit::Unusable);
                continue;
            }
        };
        let target = match dir {
            Some(dir) => Some(dir.join(unused_name(path, &mut used))),
            None => to.map(Path::to_path_buf),
        };
        match target {
            None => output.print(&text),
            Some(path) => {
                if let Err(error) = replace(&path, text.as_bytes()) {
                    output.error(&format!("cannot write {}: {error}", input::display_path(&path)));
                    return Exit::Unusable;
                }
            }
        }
    }
    exit
}

/// Returns a file name that is derived from the path of a test and not yet used.
fn unused_name(path: &Path, used: &mut BTreeSet<String>) -> String {
    let stem = path.file_stem().map_or_else(|| "test".into(), |s| s.to_string_lossy().to_string());
    let numbered = (2..).map(|number| format!("{stem}-{number}.fp"));
    let mut names = std::iter::once(format!("{stem}.fp")).chain(numbered);
    let name = names.find(|name| used.insert(name.clone()));
    name.expect("the sequence of names is infinite")
}

fn text(file: &str, test: &Test) -> Result<String, Unsupported> {
    let about = [format!("The litmus test {} ({file}): {}.", test.name, test.kind())];
    let line = |span: Span| (span.line > 0).then_some(span.line);
    fp::fp(&Export { problem: &test.problem, about: &about, line: &line })
}
