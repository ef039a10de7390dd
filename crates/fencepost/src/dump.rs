//! `fencepost dump`: prints the intermediate representation of a program.

use crate::args::Dump;
use crate::exit::Exit;
use crate::input::InputFile;
use crate::output::Output;

/// Prints the intermediate representation of every program of a file.
pub(crate) fn run(options: &Dump, output: &mut Output) -> Exit {
    let source = match InputFile::read(&options.file, &options.c) {
        Ok(source) => source,
        Err(message) => {
            output.error(&message);
            return Exit::Unusable;
        }
    };
    let Ok(source) = source.parse(&[], false, output) else { return Exit::Unusable };
    let texts: Vec<String> = source.programs().iter().map(fencepost_ir::text::print).collect();
    output.print(&texts.join("\n"));
    Exit::Success
}
