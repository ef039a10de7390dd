//! Writes indented lines of text, with comments that name the source line of a statement.

use super::Export;
use fencepost_ir::{Label, Stmt};

/// The column at which a comment begins, if the line is short enough.
const COMMENT_COLUMN: usize = 44;

/// Text under construction.
pub(crate) struct TextWriter<'a> {
    export: &'a Export<'a>,
    out: String,
    depth: usize,
    /// The statement of the last comment.
    last: Option<Label>,
    /// The beginning and the end of a comment.
    comment: (&'static str, &'static str),
}

impl<'a> TextWriter<'a> {
    pub(crate) fn new(export: &'a Export<'a>, comment: (&'static str, &'static str)) -> Self {
        TextWriter { export, out: String::new(), depth: 0, last: None, comment }
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, line: &str) {
        if !line.is_empty() {
            self.out.extend(std::iter::repeat_n("  ", self.depth));
            self.out.push_str(line);
        }
        self.out.push('\n');
    }

    /// Writes a line that ends with an opening brace, and indents the following lines.
    pub(crate) fn open(&mut self, line: &str) {
        self.line(line);
        self.depth += 1;
    }

    /// Writes a line that begins with a closing brace, with one level less.
    pub(crate) fn close(&mut self, line: &str) {
        self.depth -= 1;
        self.line(line);
    }

    /// Indents the following lines, after a line such as `} else {`.
    pub(crate) fn indent_again(&mut self) {
        self.depth += 1;
    }

    /// Writes a line that begins with a closing brace, with the comment of a statement.
    pub(crate) fn close_statement(&mut self, line: &str, stmt: &Stmt) {
        self.depth -= 1;
        self.statement(line, stmt);
    }

    /// Writes a line for a statement. Adds the source line and text, unless the last comment has
    /// them.
    pub(crate) fn statement(&mut self, line: &str, stmt: &Stmt) {
        let comment = self.source(stmt.label);
        if comment.is_empty() {
            self.line(line);
        } else {
            let width = COMMENT_COLUMN.saturating_sub(2 * self.depth);
            self.line(&format!("{line:<width$}  {comment}"));
        }
    }

    /// Writes a line for a statement that ends with an opening brace.
    pub(crate) fn open_statement(&mut self, line: &str, stmt: &Stmt) {
        self.statement(line, stmt);
        self.depth += 1;
    }

    /// Allows the next comment to repeat the last one, because unrelated code follows.
    pub(crate) fn forget_last_comment(&mut self) {
        self.last = None;
    }

    fn source(&mut self, label: Label) -> String {
        if self.last == Some(label) {
            return String::new();
        }
        self.last = Some(label);
        let info = self.export.problem.program.label(label);
        let Some(line) = (self.export.line)(info.span) else { return String::new() };
        let text = comment_safe(&info.text);
        format!("{}line {line}: {text}{}", self.comment.0, self.comment.1)
    }
}

/// Escapes text so that it cannot end or open a comment in any language.
pub(crate) fn comment_safe(text: &str) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    line.join(" ").replace("*/", "* /").replace("/*", "/ *").replace('\\', "/")
}
