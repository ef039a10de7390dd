//! Lines of text in the making: indentation, and comments that say which line of the source is meant.

use super::Export;
use fencepost_ir::{Label, Stmt};

/// Where the comment of a line begins, if the line is short enough.
const COLUMN: usize = 44;

/// Text in the making.
pub(crate) struct Text<'a> {
    export: &'a Export<'a>,
    out: String,
    depth: usize,
    /// The statement that the last comment was about.
    last: Option<Label>,
    /// How a comment at the end of a line begins and ends.
    comment: (&'static str, &'static str),
}

impl<'a> Text<'a> {
    pub(crate) fn new(export: &'a Export<'a>, comment: (&'static str, &'static str)) -> Self {
        Text { export, out: String::new(), depth: 0, last: None, comment }
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }

    /// A line.
    pub(crate) fn line(&mut self, line: &str) {
        if !line.is_empty() {
            self.out.extend(std::iter::repeat_n("  ", self.depth));
            self.out.push_str(line);
        }
        self.out.push('\n');
    }

    /// A line that ends with an opening brace; what follows is deeper.
    pub(crate) fn open(&mut self, line: &str) {
        self.line(line);
        self.depth += 1;
    }

    /// A line that begins with a closing brace.
    pub(crate) fn close(&mut self, line: &str) {
        self.depth -= 1;
        self.line(line);
    }

    /// What follows is deeper, after a line such as `} else {`.
    pub(crate) fn open_again(&mut self) {
        self.depth += 1;
    }

    /// A line that begins with a closing brace, for a statement.
    pub(crate) fn close_statement(&mut self, line: &str, stmt: &Stmt) {
        self.depth -= 1;
        self.statement(line, stmt);
    }

    /// A line for a statement, with the line and the text of the source, unless the line before it has them.
    pub(crate) fn statement(&mut self, line: &str, stmt: &Stmt) {
        let comment = self.source(stmt.label);
        if comment.is_empty() {
            self.line(line);
        } else {
            let width = COLUMN.saturating_sub(2 * self.depth);
            self.line(&format!("{line:<width$}  {comment}"));
        }
    }

    /// The same for a line that ends with an opening brace.
    pub(crate) fn open_statement(&mut self, line: &str, stmt: &Stmt) {
        self.statement(line, stmt);
        self.depth += 1;
    }

    /// Comments may repeat what was said before: other code follows.
    pub(crate) fn fresh(&mut self) {
        self.last = None;
    }

    fn source(&mut self, label: Label) -> String {
        if self.last == Some(label) {
            return String::new();
        }
        self.last = Some(label);
        let info = self.export.problem.program.label(label);
        let Some(line) = (self.export.line)(info.span) else { return String::new() };
        let text = harmless(&info.text);
        format!("{}line {line}: {text}{}", self.comment.0, self.comment.1)
    }
}

/// Text that stays inside of a comment of any language.
pub(crate) fn harmless(text: &str) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    line.join(" ").replace("*/", "* /").replace("/*", "/ *").replace('\\', "/")
}
