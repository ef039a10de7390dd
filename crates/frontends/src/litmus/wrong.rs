//! What is wrong with a test, and the codes of the messages.
//!
//! Functions that read a part of a test return its first mistake. Their callers collect it in [`Errors`] and go on
//! with the next part: item of the initial state, cell, statement, part of the condition. What may only follow
//! from a mistake is not said. A code never changes its meaning; the book's chapter on litmus tests explains each.

use fencepost_ir::{Diagnostics, Span};

use crate::fp::limits;

/// The text is not that of a litmus test.
pub const SYNTAX: &str = "LT0001";
/// Well-formed, but nothing we know the meaning of.
pub const UNSUPPORTED: &str = "LT0002";
/// A name that stands for nothing, or for two things.
pub const NAME: &str = "LT0003";
/// Something is too large.
pub const TOO_LARGE: &str = "LT0004";

/// Warning: a condition about something that nothing ever changes.
pub const UNTOUCHED: &str = "LT0101";

/// Every code, in order.
pub const ALL: &[&str] = &[SYNTAX, UNSUPPORTED, NAME, TOO_LARGE, UNTOUCHED];

/// What is wrong with a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wrong {
    /// One of [`ALL`].
    pub code: &'static str,
    /// Where.
    pub span: Span,
    /// What.
    pub message: String,
    /// Short text under the caret; may be empty.
    pub label: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Wrong {
    /// With a code.
    pub fn new(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Wrong { code, span, message: message.into(), label: String::new(), hint: None }
    }

    /// The text is not that of a litmus test.
    pub fn syntax(span: Span, message: impl Into<String>) -> Self {
        Wrong::new(SYNTAX, span, message)
    }

    /// Nothing we know the meaning of.
    pub fn unsupported(span: Span, message: impl Into<String>) -> Self {
        Wrong::new(UNSUPPORTED, span, message)
    }

    /// A name that stands for nothing, or for two things.
    pub fn name(span: Span, message: impl Into<String>) -> Self {
        Wrong::new(NAME, span, message)
    }

    /// Something is too large.
    pub fn too_large(span: Span, message: impl Into<String>) -> Self {
        Wrong::new(TOO_LARGE, span, message)
    }

    /// With a text under the caret.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.label = text.into();
        self
    }

    /// With advice.
    #[must_use]
    pub fn hint(mut self, text: impl Into<String>) -> Self {
        self.hint = Some(text.into());
        self
    }

    fn tell(self, diagnostics: &mut Diagnostics) {
        let told = diagnostics.error(self.code, self.span, self.message).label(self.label);
        told.hint = self.hint;
    }
}

/// All that is wrong with a test, as far as it is known.
#[derive(Clone, Debug, Default)]
pub struct Errors {
    list: Vec<Wrong>,
    /// Where the errors of the current thread begin.
    thread: usize,
}

impl Errors {
    /// A new thread begins, with names of its own.
    pub(super) fn begin_thread(&mut self) {
        self.thread = self.list.len();
    }

    /// Adds one, unless it follows from another: there is one already at its place, or one about the same name
    /// in the same thread.
    pub fn push(&mut self, wrong: Wrong) {
        let at_place = self.list.iter().any(|other| other.span == wrong.span);
        let of_name = |other: &Wrong| other.code == NAME && other.message == wrong.message;
        let has_room = self.list.len() <= limits::ERRORS;
        if has_room && !at_place && !self.list[self.thread..].iter().any(of_name) {
            self.list.push(wrong);
        }
    }

    /// What was made, if nothing went wrong.
    pub fn check<T>(&mut self, made: Result<T, Wrong>) -> Option<T> {
        made.map_err(|wrong| self.push(wrong)).ok()
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All of them, by position.
    pub fn sorted(mut self) -> Vec<Wrong> {
        self.list.sort_by_key(|wrong| (wrong.span.start, wrong.span.end));
        self.list
    }

    /// Says them, up to [`limits::ERRORS`].
    pub fn tell(self, diagnostics: &mut Diagnostics) {
        for (at, wrong) in self.sorted().into_iter().enumerate() {
            if at == limits::ERRORS {
                let message = format!("more than {} errors", limits::ERRORS);
                let wrong = Wrong::too_large(wrong.span, message);
                wrong.label("from here on they are not shown").tell(diagnostics);
                return;
            }
            wrong.tell(diagnostics);
        }
    }
}
