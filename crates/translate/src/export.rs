//! Programs, meant to run under SC, as text for other tools.
//!
//! The way of every export: [`lower`] removes what other languages do not have (records, critical
//! sections); [`structure`] finds `if` and loops in the control flow; a printer writes the tree. Litmus
//! tests have neither, so [`mod@litmus`] writes straight-line programs as they are.

pub mod c;
pub mod checks;
pub mod expr;
pub mod fp;
pub mod guards;
pub mod litmus;
pub mod lower;
pub mod names;
pub mod promela;
pub mod sequential;
pub mod steps;
pub mod structure;
pub mod substitute;
mod text;

use fencepost_ir::{Problem, Span};

/// What is exported.
#[derive(Clone, Copy)]
pub struct Export<'a> {
    /// The program, meant to run under SC.
    pub problem: &'a Problem,
    /// What it is, one line of the leading comment each.
    pub about: &'a [String],
    /// The line of the original source that a stretch of it begins on; none for what is not in it.
    pub line: &'a dyn Fn(Span) -> Option<u32>,
}
