//! What the lexers of all languages share: positions of tokens, the byte order mark, and comments
//! that are not closed. The kinds of tokens differ from language to language.

use fencepost_ir::{Diagnostics, Span};

/// The byte order mark that some editors write at the start of a file.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns the length of the byte order mark at the start of a text, in bytes.
pub(crate) fn byte_order_mark_length(text: &str) -> usize {
    if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 }
}

/// Converts byte offsets to lines and columns, in linear time. The offsets must not decrease.
pub(crate) struct LineColumns<'a> {
    text: &'a str,
    last: Span,
}

impl<'a> LineColumns<'a> {
    /// Begins at the start of a text. A byte order mark has no column.
    pub(crate) fn new(text: &'a str) -> Self {
        let start = byte_order_mark_length(text) as u32;
        LineColumns::after(text, Span { start, end: start, line: 1, column: 1 })
    }

    /// Begins at the start of a known position.
    pub(crate) fn after(text: &'a str, last: Span) -> Self {
        LineColumns { text, last }
    }

    /// Returns the span of the bytes `start..end`.
    pub(crate) fn span(&mut self, start: usize, end: usize) -> Span {
        let Span { start: from, mut line, mut column, .. } = self.last;
        for c in self.text.get(from as usize..start).unwrap_or("").chars() {
            (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        self.last = Span { start: start as u32, end: end as u32, line, column };
        self.last
    }
}

/// Reports a comment that begins at a span and is not closed.
pub(crate) fn report_open_comment(code: &'static str, span: Span, diagnostics: &mut Diagnostics) {
    diagnostics
        .error(code, span, "this comment is not closed")
        .label("the comment begins here")
        .hint("add `*/` at the end of the comment");
}
