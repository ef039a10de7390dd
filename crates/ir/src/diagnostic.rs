//! What a front end has to say about its input.
//!
//! A front end collects all it finds in [`Diagnostics`] and goes on; codes are stable and each has a
//! page in the book (`FP0012`). Rendering with source lines and carets is the report layer's work.

use crate::span::Span;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// The input cannot be used.
    Error,
    /// The input is used, but probably does not mean what its author thinks.
    Warning,
}

/// One message about one place in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// Stable code such as `FP0012`.
    pub code: &'static str,
    /// What is wrong, one line, lower case, no full stop.
    pub message: String,
    /// Where.
    pub span: Span,
    /// Short text under the caret; may be empty.
    pub label: String,
    /// Other places that matter, each with its own text.
    pub related: Vec<(Span, String)>,
    /// What to do about it.
    pub hint: Option<String>,
}

/// A collection of messages in the order they were found.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// An empty collection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an error and returns it for further detail.
    pub fn error(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        self.add(Severity::Error, code, span, message.into())
    }

    /// Adds a warning and returns it for further detail.
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

    /// Adds all messages of another collection.
    pub fn append(&mut self, other: Diagnostics) {
        self.list.extend(other.list);
    }

    /// Whether the input cannot be used.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }

    /// All messages by position in the source, errors before warnings at one position.
    pub fn sorted(&self) -> Vec<&Diagnostic> {
        let mut all: Vec<&Diagnostic> = self.list.iter().collect();
        all.sort_by_key(|d| (d.span.start, d.severity, d.span.end));
        all
    }

    /// All messages in the order they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether nothing was said.
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

    /// Sets the advice.
    pub fn hint(&mut self, text: impl Into<String>) -> &mut Self {
        self.hint = Some(text.into());
        self
    }

    /// Adds another place that matters.
    pub fn related(&mut self, span: Span, text: impl Into<String>) -> &mut Self {
        self.related.push((span, text.into()));
        self
    }
}
