//! Exports programs, for execution under SC, as text for other tools.
//!
//! Most exports have the same stages. Each stage depends only on earlier ones.
//!
//! 1. [`lower`] removes constructs that the target languages lack: records become arrays, critical
//!    sections become a location, and control points in invariants become locations.
//! 2. [`structure`] recovers `if`, loops and atomic blocks from the control flow of each thread.
//! 3. [`actions`] turns a statement into an [`Action`](actions::Action): assignments and conditions
//!    over the state. For Promela, C and sequential C this is the only place that interprets
//!    [`Op`].
//! 4. [`checks`] computes the condition under which an action does not fault, unless value ranges
//!    prove it. [`guards`] computes the entry condition of an atomic block, for languages in which
//!    a block cannot be rolled back.
//! 5. A printer writes the tree: [`mod@promela`], [`mod@c`], [`mod@sequential`]. The printers share
//!    names ([`names`]), one expression printer for all languages ([`expr`]), and lines with
//!    comments (`text`).
//!
//! Two exports need fewer stages. [`mod@fp`] has syntax for types, records and critical sections,
//! so it prints operations directly and lowers only what has no syntax. [`mod@litmus`] writes
//! straight-line programs as instructions.
//!
//! To add a language, write a printer over stages 1 to 4 and add a dialect to [`expr`].

pub mod actions;
pub mod c;
pub mod checks;
mod control_points;
pub mod expr;
pub mod fp;
pub mod guards;
pub mod litmus;
pub mod lower;
pub mod names;
pub mod promela;
pub mod sequential;
pub mod structure;
pub mod substitute;
mod text;

use fencepost_ir::{Op, Problem, Program, Span, Update};

/// The input of an export.
#[derive(Clone, Copy)]
pub struct Export<'a> {
    /// The program, for execution under SC.
    pub problem: &'a Problem,
    /// The lines of the leading comment, which describe the program.
    pub about: &'a [String],
    /// Returns the line of the original source on which a span begins; `None` if the span is not in
    /// the source.
    pub line: &'a dyn Fn(Span) -> Option<u32>,
}

/// Returns whether a program has an update that wraps. No target language has one.
pub(crate) fn has_wrapping_update(program: &Program) -> bool {
    let code = program.threads.iter().chain(&program.init).flat_map(|thread| &thread.code);
    code.into_iter().any(|stmt| {
        matches!(&stmt.op, Op::Update { update: Update::Add { wrap: Some(_), .. }, .. })
    })
}
