//! What stops the reading of a test, and the codes of the messages.
//!
//! A litmus test is short: the first mistake ends its reading. A code never changes its meaning; the book's
//! chapter on litmus tests explains each.

use fencepost_ir::{Diagnostics, Span};

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

    /// Says it.
    pub fn tell(self, diagnostics: &mut Diagnostics) {
        let told = diagnostics.error(self.code, self.span, self.message).label(self.label);
        told.hint = self.hint;
    }
}
