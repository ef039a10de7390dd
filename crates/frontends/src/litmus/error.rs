//! Errors in litmus tests, and the codes of the diagnostics.
//!
//! A function that parses or lowers a part of a test returns the first error of this part. Its
//! caller adds the error to [`Errors`] and continues with the next part: item of the initial state,
//! cell, statement, part of the condition. Errors that are only consequences of other errors are
//! not reported. A code never changes its meaning. The book's chapter on litmus tests explains each
//! code.

use fencepost_ir::{Diagnostics, Span};

use crate::fp::limits;

/// Syntax error: the text is not a litmus test.
pub const SYNTAX: &str = "LT0001";
/// Unsupported feature in a well-formed test.
pub const UNSUPPORTED: &str = "LT0002";
/// Undefined or ambiguous name.
pub const NAME: &str = "LT0003";
/// A size limit is exceeded.
pub const TOO_LARGE: &str = "LT0004";

/// Warning: the condition names a location or local that no statement accesses or writes.
pub const NEVER_WRITTEN: &str = "LT0101";

/// Every code, in order.
pub const ALL: &[&str] = &[SYNTAX, UNSUPPORTED, NAME, TOO_LARGE, NEVER_WRITTEN];

/// An error in a litmus test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LitmusError {
    /// One of [`ALL`].
    pub code: &'static str,
    /// The span of the invalid text.
    pub span: Span,
    /// The message.
    pub message: String,
    /// Short text under the caret; may be empty.
    pub label: String,
    /// How to fix the error.
    pub hint: Option<String>,
}

impl LitmusError {
    /// Creates an error with this code, without label and hint.
    pub fn new(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        LitmusError { code, span, message: message.into(), label: String::new(), hint: None }
    }

    /// Creates a syntax error.
    pub fn syntax(span: Span, message: impl Into<String>) -> Self {
        LitmusError::new(SYNTAX, span, message)
    }

    /// Creates an error about an unsupported feature.
    pub fn unsupported(span: Span, message: impl Into<String>) -> Self {
        LitmusError::new(UNSUPPORTED, span, message)
    }

    /// Creates an error about an undefined or ambiguous name.
    pub fn name(span: Span, message: impl Into<String>) -> Self {
        LitmusError::new(NAME, span, message)
    }

    /// Creates an error about an exceeded limit.
    pub fn too_large(span: Span, message: impl Into<String>) -> Self {
        LitmusError::new(TOO_LARGE, span, message)
    }

    /// Sets the text under the caret.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.label = text.into();
        self
    }

    /// Sets the hint.
    #[must_use]
    pub fn hint(mut self, text: impl Into<String>) -> Self {
        self.hint = Some(text.into());
        self
    }

    fn report(self, diagnostics: &mut Diagnostics) {
        let diagnostic = diagnostics.error(self.code, self.span, self.message).label(self.label);
        diagnostic.hint = self.hint;
    }
}

/// The errors found in a test so far.
#[derive(Clone, Debug, Default)]
pub struct Errors {
    list: Vec<LitmusError>,
    /// The index of the first error of the current thread.
    thread_start: usize,
}

impl Errors {
    /// Starts a new thread. Names have a separate meaning in each thread, so an error about the
    /// same name is reported again.
    pub(super) fn begin_thread(&mut self) {
        self.thread_start = self.list.len();
    }

    /// Adds an error, unless it is redundant: there already is an error with the same span, or a
    /// name error with the same message in the same thread. Keeps one error more than
    /// [`limits::ERRORS`].
    pub fn push(&mut self, error: LitmusError) {
        let has_same_span = self.list.iter().any(|other| other.span == error.span);
        let same_name = |other: &LitmusError| other.code == NAME && other.message == error.message;
        let below_limit = self.list.len() <= limits::ERRORS;
        if below_limit && !has_same_span && !self.list[self.thread_start..].iter().any(same_name) {
            self.list.push(error);
        }
    }

    /// Returns the value of a result, or adds its error and returns `None`.
    pub fn check<T>(&mut self, result: Result<T, LitmusError>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Returns whether there are no errors.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns all errors, sorted by position.
    pub fn sorted(mut self) -> Vec<LitmusError> {
        self.list.sort_by_key(|error| (error.span.start, error.span.end));
        self.list
    }

    /// Adds the errors to `diagnostics`, sorted by position, up to [`limits::ERRORS`].
    pub fn report(self, diagnostics: &mut Diagnostics) {
        for (at, error) in self.sorted().into_iter().enumerate() {
            if at == limits::ERRORS {
                let message = format!("more than {} errors", limits::ERRORS);
                let error = LitmusError::too_large(error.span, message);
                error.label("errors from here on are not shown").report(diagnostics);
                return;
            }
            error.report(diagnostics);
        }
    }
}
