//! Diagnostics: messages of a front end about its input.
//!
//! A front end collects all messages in [`Diagnostics`] instead of stopping at the first. Codes
//! such as `FP0012` are stable, and the book explains each. The `report` crate renders messages
//! with source lines and carets.

use crate::span::Span;

/// The severity of a diagnostic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// The input cannot be used.
    Error,
    /// The input can be used, but probably does not mean what its author intended.
    Warning,
}

/// One message about one position in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The stable code, such as `FP0012`.
    pub code: &'static str,
    /// The message: one line, lower case, no full stop.
    pub message: String,
    /// The source position.
    pub span: Span,
    /// The text under the caret; may be empty.
    pub label: String,
    /// Related positions, each with its own text.
    pub related: Vec<(Span, String)>,
    /// A suggestion to the user.
    pub hint: Option<String>,
}

/// A collection of diagnostics, in order of discovery.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Creates an empty collection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an error. The result allows adding details.
    pub fn error(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        self.add(Severity::Error, code, span, message.into())
    }

    /// Adds a warning. The result allows adding details.
    pub fn warning(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        self.add(Severity::Warning, code, span, message.into())
    }

    fn add(
        &mut self,
        severity: Severity,
        code: &'static str,
        span: Span,
        message: String,
    ) -> &mut Diagnostic {
        self.list.push(Diagnostic {
            severity,
            code,
            message,
            span,
            label: String::new(),
            related: Vec::new(),
            hint: None,
        });
        self.list.last_mut().expect("just pushed")
    }

    /// Adds all diagnostics of another collection.
    pub fn append(&mut self, other: Diagnostics) {
        self.list.extend(other.list);
    }

    /// Returns whether there is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }

    /// Returns all diagnostics by source position. At one position, errors come before warnings.
    pub fn sorted(&self) -> Vec<&Diagnostic> {
        let mut all: Vec<&Diagnostic> = self.list.iter().collect();
        all.sort_by_key(|d| (d.span.start, d.severity, d.span.end));
        all
    }

    /// Iterates over all diagnostics in order of discovery.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// Returns the number of diagnostics.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns whether there are no diagnostics.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl Diagnostic {
    /// Sets the text under the caret.
    pub fn label(&mut self, text: impl Into<String>) -> &mut Self {
        self.label = text.into();
        self
    }

    /// Sets the suggestion.
    pub fn hint(&mut self, text: impl Into<String>) -> &mut Self {
        self.hint = Some(text.into());
        self
    }

    /// Adds a related position.
    pub fn related(&mut self, span: Span, text: impl Into<String>) -> &mut Self {
        self.related.push((span, text.into()));
        self
    }
}
