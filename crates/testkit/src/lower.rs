//! Lowering of source text to problems.

use fencepost_frontends::Request;
use fencepost_ir::{Diagnostics, Problem};

/// Returns the problems of an `.fp` source text.
///
/// # Errors
/// The diagnostics, one per line.
pub fn lower(source: &str) -> Result<Vec<Problem>, String> {
    lower_for(source, &Request::default())
}

/// Returns the problems of an `.fp` source text, with the places where fences can be inserted.
///
/// # Errors
/// The diagnostics, one per line.
pub fn lower_with_places(source: &str) -> Result<Vec<Problem>, String> {
    lower_for(source, &Request { places: true, ..Request::default() })
}

/// Returns the problems of an `.fp` source text, with the places where fences can be inserted and the
/// accesses whose memory order can be changed.
///
/// # Errors
/// The diagnostics, one per line.
pub fn lower_with_orders(source: &str) -> Result<Vec<Problem>, String> {
    lower_for(source, &Request { places: true, orders: true, ..Request::default() })
}

fn lower_for(source: &str, request: &Request) -> Result<Vec<Problem>, String> {
    let mut diagnostics = Diagnostics::new();
    let frontend = fencepost_frontends::by_extension("fp").expect("a front end exists for .fp");
    frontend.lower_for(source, request, &mut diagnostics).ok_or_else(|| {
        let lines: Vec<String> = diagnostics
            .iter()
            .map(|d| format!("{} line {}: {}", d.code, d.span.line, d.message))
            .collect();
        lines.join("\n")
    })
}

/// Returns the problem of a litmus test.
///
/// # Panics
/// If the text is not well-formed.
pub fn litmus_problem(source: &str) -> Problem {
    let mut diagnostics = Diagnostics::new();
    let frontend =
        fencepost_frontends::by_extension("litmus").expect("a front end for litmus tests");
    let problems = frontend.lower(source, &mut diagnostics);
    let errors = || diagnostics.iter().map(|d| d.message.as_str()).collect::<Vec<_>>().join("; ");
    let problems = problems.unwrap_or_else(|| panic!("{}\n{source}", errors()));
    problems.into_iter().next().expect("a litmus test is one problem")
}

/// Returns the first problem of an `.fp` source text.
///
/// # Panics
/// If the text is not well-formed.
pub fn problem(source: &str) -> Problem {
    let problems = lower(source).unwrap_or_else(|errors| panic!("{errors}\n{source}"));
    problems.into_iter().next().expect("a source text has at least one problem")
}

/// Returns the problem of a C program.
///
/// # Errors
/// The diagnostics, one per line.
pub fn c_problem(source: &str) -> Result<Problem, String> {
    let mut diagnostics = Diagnostics::new();
    let problem =
        fencepost_frontends::c::frontend::compile(source, &Request::default(), &mut diagnostics);
    problem.ok_or_else(|| {
        let show = |d: &fencepost_ir::Diagnostic| {
            format!("{} line {}: {}", d.code, d.span.line, d.message)
        };
        diagnostics.iter().map(show).collect::<Vec<_>>().join("\n")
    })
}
