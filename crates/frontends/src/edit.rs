//! Text edits: how fences get into a source text without anything else changing.
//!
//! A front end answers a placement with a list of [`TextEdit`]s, in the order of the text. [`apply`] is the one
//! function that carries them out. What no edit concerns stays as it is, to the byte.
//!
//! - [`blocks`]: edits in languages with statements and braces; the X86 tables of litmus tests have their own
//!   ([`crate::litmus::edit`]).

pub mod blocks;

use fencepost_ir::{Diagnostics, FenceKinds, Place, Program};
use std::fmt;

/// A stretch of a text and what takes its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextEdit {
    /// Its first byte.
    pub start: usize,
    /// One past its last byte; the same as `start` for an insertion.
    pub end: usize,
    /// The new text.
    pub text: String,
}

/// The text with some edits, which are in its order.
///
/// ```
/// use fencepost_frontends::edit::{TextEdit, apply};
/// let edits = [TextEdit { start: 6, end: 6, text: " fence;".into() }];
/// assert_eq!(apply("x = 1; y = 1;", &edits), "x = 1; fence; y = 1;");
/// ```
///
/// # Panics
/// When edits overlap or are out of order: front ends do not make such.
pub fn apply(source: &str, edits: &[TextEdit]) -> String {
    let mut text = String::with_capacity(source.len() + 64);
    let mut done = 0;
    for edit in edits {
        assert!(done <= edit.start, "edits are in the order of the text and do not overlap");
        text.push_str(&source[done..edit.start]);
        text.push_str(&edit.text);
        done = edit.end;
    }
    text.push_str(&source[done..]);
    text
}

/// How the lines of a text end.
pub(crate) fn line_end(source: &str) -> &'static str {
    match source.find('\n') {
        Some(at) if source[..at].ends_with('\r') => "\r\n",
        Some(_) | None => "\n",
    }
}

/// Why a placement cannot be written into a text.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EditError {
    /// The text is not one of the language.
    Unreadable,
    /// No fences of the language make up just these kinds.
    NoSuchFence {
        /// The language.
        language: &'static str,
        /// The kinds.
        kinds: FenceKinds,
    },
    /// The language has no statement that waits for the stores to one location.
    NoDrain {
        /// The language.
        language: &'static str,
    },
    /// The text has no position for a fence where the program has a place.
    NoPosition {
        /// The line of the place.
        line: u32,
    },
    /// The new text does not compile.
    Rejected(Diagnostics),
    /// The new text describes another number of problems.
    OtherClients {
        /// As many as there were.
        before: usize,
        /// As many as there are.
        after: usize,
    },
}

impl EditError {
    /// That there is no position for a place.
    pub(crate) fn no_position(program: &Program, place: &Place) -> EditError {
        EditError::NoPosition { line: program.label(place.label).span.line }
    }
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EditError::Unreadable => f.write_str("the text cannot be read"),
            EditError::NoSuchFence { language, kinds } => {
                write!(f, "{language} has no fence for {}", kinds.name())
            }
            EditError::NoDrain { language } => write!(f, "{language} has no drains"),
            EditError::NoPosition { line } => {
                write!(f, "no fence can be written at line {line}")
            }
            EditError::Rejected(diagnostics) => {
                f.write_str("the text with the fences does not compile")?;
                match diagnostics.sorted().first() {
                    Some(first) => write!(f, ": line {}: {}", first.span.line, first.message),
                    None => Ok(()),
                }
            }
            EditError::OtherClients { before, after } => {
                write!(f, "the text with the fences has {after} clients instead of {before}")
            }
        }
    }
}

impl std::error::Error for EditError {}

#[cfg(test)]
mod tests;
