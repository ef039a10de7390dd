//! Litmus tests as questions for inference.
//!
//! A test asks whether an outcome `exists`; fences are there to forbid it. So what is asked for becomes what
//! must not be. `~exists` and `forall` say what must hold already.

use fencepost_frontends::litmus::ast::{Arch, Body};
use fencepost_frontends::litmus::parse;
use fencepost_infer::spelling::Spelling;
use fencepost_ir::{Problem, Property, Quantifier};

/// How a test writes fences: as it writes what it has.
pub(super) fn spelling(text: &str) -> Spelling {
    let Ok(file) = parse(text, "") else { return Spelling::default() };
    match &file.body {
        Body::X86(columns) => {
            let cells = columns.iter().flat_map(|column| &column.cells);
            let first = cells.filter_map(|cell| cell.instruction.as_ref()).next();
            let lower = match first {
                Some(instruction) => {
                    instruction.span.text(text).starts_with(|c: char| c.is_ascii_lowercase())
                }
                None => file.arch == Arch::X86_64,
            };
            Spelling::X86 { lower }
        }
        Body::C(functions) => {
            let mut linux = false;
            for function in functions {
                function.body.for_each(&mut |expression| {
                    let call = expression.span.text(text);
                    linux |= call.starts_with("smp_") || is_once(call);
                });
            }
            if linux { Spelling::Linux } else { Spelling::C11 }
        }
    }
}

/// Whether this is a call of `READ_ONCE` or its like.
fn is_once(call: &str) -> bool {
    call.split('(').next().is_some_and(|name| name.trim_end().ends_with("_ONCE"))
}

/// Makes what a test asks for what must not be. Returns how that reads, if it does ask.
pub(super) fn forbid(text: &str, problems: &mut [Problem]) -> Option<String> {
    let filtered = parse(text, "").is_ok_and(|file| file.constraint.filter.is_some());
    let mut told = None;
    for problem in problems {
        for condition in std::mem::take(&mut problem.sometimes) {
            let those = if filtered { " that passes the filter" } else { "" };
            told = Some(format!("no run{those} may end with {}", condition.text));
            problem.properties.push(Property::FinalNever(condition));
        }
    }
    told
}

/// The text of a test with its outcome forbidden: what a stored run violates when it is replayed.
pub(super) fn forbidden(text: &str) -> Option<String> {
    let file = parse(text, "").ok().filter(|f| f.constraint.quantifier == Quantifier::Exists)?;
    let (before, rest) = text.split_at(file.constraint.span.start as usize);
    let rest = ["exists", "final"].iter().find_map(|word| rest.strip_prefix(word)).unwrap_or(rest);
    Some(format!("{before}~exists {}", rest.trim_start()))
}
