//! `fencepost fmt`: formats `.fp` programs.

use crate::args::{CPrograms, Fmt};
use crate::exit::Exit;
use crate::input::{self, InputFile};
use crate::output::Output;
use crate::store::replace;
use fencepost_ir::Diagnostics;
use fencepost_report::diagnostics::render;
use std::path::{Path, PathBuf};

/// Formats programs, or lists those that are not formatted.
pub(crate) fn run(options: &Fmt, output: &mut Output) -> Exit {
    let mut exit = Exit::Success;
    for path in &options.files {
        match input::expand(path, output) {
            Ok(files) => {
                // A directory may also contain programs in other languages.
                let is_fp =
                    |file: &PathBuf| file == path || file.extension() == Some("fp".as_ref());
                for file in files.into_iter().filter(is_fp) {
                    exit = exit.combine(format_file(&file, options.check, output));
                }
            }
            Err(message) => {
                output.error(&message);
                exit = exit.combine(Exit::Unusable);
            }
        }
    }
    exit
}

fn format_file(path: &Path, check: bool, output: &mut Output) -> Exit {
    let source = match InputFile::read(path, &CPrograms::default()) {
        Ok(source) => source,
        Err(message) => {
            output.error(&message);
            return Exit::Unusable;
        }
    };
    let other = match path.extension().and_then(|end| end.to_str()) {
        Some("litmus") => Some("a litmus test"),
        Some("c") => Some("a C program"),
        _ => None,
    };
    if let Some(what) = other {
        output.error(&format!("{} is {what}: `fmt` formats only .fp files", source.name));
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
        (_, true) if formatted == text => Exit::Success,
        (_, true) => {
            output.print(&format!("{}\n", source.name));
            Exit::Differs
        }
        (None, false) => {
            output.program(&formatted);
            Exit::Success
        }
        (Some(_), false) if formatted == text => Exit::Success,
        (Some(path), false) => match replace(path, formatted.as_bytes()) {
            Ok(()) => Exit::Success,
            Err(error) => {
                output.error(&format!("cannot write {}: {error}", source.name));
                Exit::Unusable
            }
        },
    }
}
