//! `fencepost fmt`.

use crate::args::Fmt;
use crate::exit::Exit;
use crate::input::{self, InputFile};
use crate::output::Output;
use crate::store::replace;
use fencepost_ir::Diagnostics;
use fencepost_report::diagnostics::render;
use std::path::{Path, PathBuf};

/// Formats programs, or says which are not formatted.
pub(crate) fn run(options: &Fmt, output: &mut Output) -> Exit {
    let mut exit = Exit::Fine;
    for path in &options.files {
        match input::expand(path) {
            Ok(files) => {
                // Folders may hold programs in other languages, too.
                let ours = |file: &PathBuf| file == path || file.extension() == Some("fp".as_ref());
                for file in files.into_iter().filter(ours) {
                    exit = exit.and(one(&file, options.check, output));
                }
            }
            Err(message) => {
                output.error(&message);
                exit = exit.and(Exit::Unusable);
            }
        }
    }
    exit
}

fn one(path: &Path, check: bool, output: &mut Output) -> Exit {
    let source = match InputFile::read(path) {
        Ok(source) => source,
        Err(message) => {
            output.error(&message);
            return Exit::Unusable;
        }
    };
    if path.extension() == Some("litmus".as_ref()) {
        output.error(&format!("{} is a litmus test: only .fp programs are formatted", source.name));
        return Exit::Unusable;
    }
    let mut diagnostics = Diagnostics::new();
    let text = source.text(&mut diagnostics);
    let formatted = if diagnostics.has_errors() {
        None
    } else {
        fencepost_frontends::fp::format::format(&text, &mut diagnostics)
    };
    let Some(formatted) = formatted else {
        output.message(&render(&diagnostics, &source.name, &text, output.paint_messages));
        return Exit::Unusable;
    };
    match (&source.path, check) {
        (_, true) if formatted == text => Exit::Fine,
        (_, true) => {
            output.print(&format!("{}\n", source.name));
            Exit::Differs
        }
        (None, false) => {
            output.print(&formatted);
            Exit::Fine
        }
        (Some(_), false) if formatted == text => Exit::Fine,
        (Some(path), false) => match replace(path, formatted.as_bytes()) {
            Ok(()) => Exit::Fine,
            Err(error) => {
                output.error(&format!("cannot write {}: {error}", source.name));
                Exit::Unusable
            }
        },
    }
}
