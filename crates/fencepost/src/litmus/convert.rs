//! `fencepost litmus --to fp`: tests as programs in our language.

use super::run::{Read, read};
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

/// Writes tests: one to standard output or into a file, several into a folder.
pub(super) fn run(files: &[PathBuf], to: Option<&Path>, output: &mut Output) -> Exit {
    if files.len() > 1 && to.is_none() {
        output.error("several tests: name a folder for them with --output");
        return Exit::Unusable;
    }
    let folder = to.filter(|to| files.len() > 1 || to.is_dir());
    if let Some(folder) = folder
        && let Err(error) = std::fs::create_dir_all(folder)
    {
        output.error(&format!("cannot make the folder {}: {error}", input::shown(folder)));
        return Exit::Unusable;
    }
    let mut exit = Exit::Fine;
    let mut used = BTreeSet::new();
    for path in files {
        let Read { file, said, test } = read(path, output.paint_messages);
        output.message(&said);
        let Ok(test) = test else {
            exit = exit.and(Exit::Unusable);
            continue;
        };
        let text = match text(&file, &test) {
            Ok(text) => text,
            Err(why) => {
                output.error(&format!("{file}: {why}"));
                exit = exit.and(Exit::Unusable);
                continue;
            }
        };
        let into = match folder {
            Some(folder) => Some(folder.join(free_name(path, &mut used))),
            None => to.map(Path::to_path_buf),
        };
        match into {
            None => output.print(&text),
            Some(path) => {
                if let Err(error) = replace(&path, text.as_bytes()) {
                    output.error(&format!("cannot write {}: {error}", input::shown(&path)));
                    return Exit::Unusable;
                }
            }
        }
    }
    exit
}

/// The name of a file after its test, told apart from those already used.
fn free_name(path: &Path, used: &mut BTreeSet<String>) -> String {
    let stem = path.file_stem().map_or_else(|| "test".into(), |s| s.to_string_lossy().to_string());
    let numbered = (2..).map(|number| format!("{stem}-{number}.fp"));
    let mut names = std::iter::once(format!("{stem}.fp")).chain(numbered);
    let name = names.find(|name| used.insert(name.clone()));
    name.expect("there are more names than files")
}

fn text(file: &str, test: &Test) -> Result<String, Unsupported> {
    let about = [format!("The litmus test {} ({file}): {}.", test.name, test.kind())];
    let line = |span: Span| (span.line > 0).then_some(span.line);
    fp::fp(&Export { problem: &test.problem, about: &about, line: &line })
}
