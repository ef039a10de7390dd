//! Prints the programs of a `.fp` file, or what is wrong with it.

use std::process::ExitCode;

use fencepost_ir::Diagnostics;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: dump FILE.fp");
        return ExitCode::FAILURE;
    };
    let source = match std::fs::read_to_string(&path) {
        Ok(source) => source,
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut diagnostics = Diagnostics::new();
    let problems = fencepost_frontends::fp::lower(&source, &mut diagnostics);
    for d in diagnostics.sorted() {
        let place = format!("{path}:{}:{}", d.span.line, d.span.column);
        eprintln!("{place}: {:?} {}: {} [{}]", d.severity, d.code, d.message, d.label);
        if let Some(hint) = &d.hint {
            eprintln!("  hint: {hint}");
        }
    }
    for problem in problems.iter().flatten() {
        println!("{problem}");
    }
    if problems.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
