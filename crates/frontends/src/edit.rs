//! Text edits that insert fences into a source text and leave the rest unchanged.
//!
//! A front end translates a placement into the [`TextEdit`]s of each file, sorted by position.
//! [`apply`] applies them. Text outside of the edits stays byte for byte the same.
//!
//! - [`blocks`]: edits for languages with statements and braces. The X86 tables of litmus tests use
//!   [`crate::litmus::edit`].

pub mod blocks;

use fencepost_ir::{Diagnostics, FenceKinds, Place, Program};
use std::fmt;

/// A byte range of a source text and its replacement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextEdit {
    /// The first byte of the range.
    pub start: usize,
    /// One past the last byte of the range. Equal to `start` for an insertion.
    pub end: usize,
    /// The replacement.
    pub text: String,
}

/// A file of a source and the edits of its text, sorted by position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileEdits {
    /// The name of the file, for messages. May be empty for the main file.
    pub name: String,
    /// Whether the file is the one that the user named. All others are included.
    pub is_main: bool,
    /// The text without the edits.
    pub text: String,
    /// The edits.
    pub edits: Vec<TextEdit>,
}

impl FileEdits {
    /// Returns the edits of a source that is one file.
    pub fn of_main_file(name: &str, text: &str, edits: Vec<TextEdit>) -> Vec<FileEdits> {
        vec![FileEdits { name: name.into(), is_main: true, text: text.into(), edits }]
    }
}

/// Applies edits that are sorted by position.
///
/// ```
/// use fencepost_frontends::edit::{TextEdit, apply};
/// let edits = [TextEdit { start: 6, end: 6, text: " fence;".into() }];
/// assert_eq!(apply("x = 1; y = 1;", &edits), "x = 1; fence; y = 1;");
/// ```
///
/// # Panics
/// If edits overlap or are not sorted. Front ends return neither.
pub fn apply(source: &str, edits: &[TextEdit]) -> String {
    let mut text = String::with_capacity(source.len() + 64);
    let mut done = 0;
    for edit in edits {
        assert!(done <= edit.start, "edits must be sorted by position and must not overlap");
        text.push_str(&source[done..edit.start]);
        text.push_str(&edit.text);
        done = edit.end;
    }
    text.push_str(&source[done..]);
    text
}

/// Returns the line terminator of a text, taken from its first line.
pub(crate) fn line_end(source: &str) -> &'static str {
    match source.find('\n') {
        Some(at) if source[..at].ends_with('\r') => "\r\n",
        Some(_) | None => "\n",
    }
}

/// The reason why a placement cannot be inserted into a source text.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EditError {
    /// The source text has syntax errors.
    Unreadable,
    /// No combination of fences of the language has exactly these kinds.
    NoSuchFence {
        /// The name of the language.
        language: &'static str,
        /// The requested kinds.
        kinds: FenceKinds,
    },
    /// The language has no statement that drains the stores to one location.
    NoDrain {
        /// The name of the language.
        language: &'static str,
    },
    /// The text has no position for a fence at a place of the program.
    NoPosition {
        /// The line of the place.
        line: u32,
    },
    /// The text with fences does not compile.
    Rejected(Diagnostics),
    /// The text with fences describes a different number of problems.
    ClientCountChanged {
        /// The number of problems of the original text.
        before: usize,
        /// The number of problems of the text with fences.
        after: usize,
    },
}

impl EditError {
    /// Builds the error for a place without a text position.
    pub(crate) fn no_position(program: &Program, place: &Place) -> EditError {
        EditError::NoPosition { line: program.label(place.label).span.line }
    }
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EditError::Unreadable => f.write_str("the source text has syntax errors"),
            EditError::NoSuchFence { language, kinds } => {
                write!(f, "{language} has no fence for {}", kinds.name())
            }
            EditError::NoDrain { language } => write!(f, "{language} has no drain statement"),
            EditError::NoPosition { line } => {
                write!(f, "no fence can be inserted at line {line}")
            }
            EditError::Rejected(diagnostics) => {
                f.write_str("the source text with fences does not compile")?;
                match diagnostics.sorted().first() {
                    Some(first) => write!(f, ": line {}: {}", first.span.line, first.message),
                    None => Ok(()),
                }
            }
            EditError::ClientCountChanged { before, after } => {
                write!(f, "the source text with fences has {after} clients instead of {before}")
            }
        }
    }
}

impl std::error::Error for EditError {}

#[cfg(test)]
mod tests;
