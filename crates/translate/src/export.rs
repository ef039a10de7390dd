//! Programs, meant to run under SC, as text for other tools.
//!
//! Every export has the same stages. Each stage knows only those before it.
//!
//! 1. [`lower`] removes what other languages do not have: records become arrays, critical sections a location.
//! 2. [`structure`] finds `if`, loops and atomic blocks in the control flow of each thread.
//! 3. [`steps`] says what a statement does: an [`Action`](steps::Action), with assignments and conditions over the
//!    state. This is the only reading of [`Op`](fencepost_ir::Op) for Promela, C and sequential C.
//! 4. [`checks`] adds what must hold so that an action does not fault, where the ranges of values do not show it. [`guards`] adds
//!    when an atomic block can be entered, for languages in which a block cannot be taken back.
//! 5. A printer writes the tree: [`mod@promela`], [`mod@c`], [`mod@sequential`]. They share names ([`names`]), expressions
//!    with one printer for all languages ([`expr`]), and lines with comments (`text`).
//!
//! Two exports need less. [`mod@fp`] writes types, records and critical sections as such, so it prints operations and lowers
//! only what has no text. [`mod@litmus`] is for straight-line programs, which it writes as instructions.
//!
//! To export to another language, add a printer over steps 1 to 4 and a dialect in [`expr`].

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
