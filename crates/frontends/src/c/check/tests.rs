//! Tests of the checker: typed trees and messages of small programs.

mod book;
mod errors;
mod print;
mod random;
mod trees;

use fencepost_ir::Diagnostics;

use super::check;
use crate::c::{PreprocessOptions, parse_unit};

/// Checks a program. Returns its messages and, without errors, its typed tree.
fn checked(text: &str) -> String {
    let mut diagnostics = Diagnostics::new();
    let (map, unit) = parse_unit("main.c", text, &PreprocessOptions::default(), &mut diagnostics);
    assert!(!diagnostics.has_errors(), "{}", messages(&diagnostics));
    let program = check(&unit, &map, &mut diagnostics);
    assert_eq!(program.is_none(), diagnostics.has_errors());
    let mut out = messages(&diagnostics);
    if let Some(program) = program {
        out.push_str(&print::program(&program));
    }
    out
}

/// Checks the statements of `main` after some declarations.
fn body(declarations: &str, statements: &str) -> String {
    checked(&format!("{declarations}\nint main(void) {{\n{statements}\n}}"))
}

/// Prints diagnostics, one on each line.
fn messages(diagnostics: &Diagnostics) -> String {
    let mut out = String::new();
    for d in diagnostics.sorted() {
        let (line, column) = (d.span.line, d.span.column);
        out.push_str(&format!("{} {line}:{column} {}\n", d.code, d.message));
        for text in Some(&d.label).filter(|label| !label.is_empty()).into_iter().chain(&d.hint) {
            out.push_str(&format!("    {text}\n"));
        }
        for (span, text) in &d.related {
            out.push_str(&format!("    {}:{}: {text}\n", span.line, span.column));
        }
    }
    out
}
