//! The formatter: prints the syntax tree with all comments and the blank lines of the source.
//!
//! - Indentation is two spaces for each level. Each statement has its own line. A statement or item
//!   on a single source line stays on one line if it fits: `do { w = x; } while (w);`.
//! - A comment on its own line stays before the following code. A comment after code or inside code
//!   moves to the end of the line, in its old column if possible. If a line has two `//` comments,
//!   the first moves to the line before.
//! - A run of blank lines becomes one blank line. Blank lines at the start and end of a block are
//!   removed.
//! - Lines end with a line feed. A byte order mark is removed.
//! - Tokens are never added or removed, except the comma after the last constant of an enum.
//!
//! Formatting is idempotent.

mod flat;
mod item;
mod stmt;

#[cfg(test)]
mod tests;

use fencepost_ir::{Diagnostics, Span};

use super::ast::Block;
use super::lexer::{Lexed, Tok, lex};
use super::{codes, limits, messages, parser};
use crate::lexing::BYTE_ORDER_MARK;

/// The maximal length of a line that can be split.
const WIDTH: usize = 100;

/// Formats a source text in the standard style. Returns `None` exactly when it reported a syntax
/// error.
///
/// ```
/// use fencepost_ir::Diagnostics;
/// let ugly = "shared int x;thread p{x=1;   // store\n}";
/// let pretty = fencepost_frontends::fp::format::format(ugly, &mut Diagnostics::new());
/// assert_eq!(pretty.expect("no errors"), "shared int x;\nthread p {\n  x = 1; // store\n}\n");
/// ```
pub fn format(source: &str, diagnostics: &mut Diagnostics) -> Option<String> {
    let mut own = Diagnostics::new();
    let result = format_checked(source, &mut own);
    let failed = own.has_errors();
    messages::append_limited(&own, diagnostics);
    if failed { None } else { result }
}

fn format_checked(source: &str, diagnostics: &mut Diagnostics) -> Option<String> {
    if source.len() > limits::SOURCE {
        let start = Span { line: 1, column: 1, ..Span::default() };
        let message = format!("this file is too large: {} bytes", source.len());
        diagnostics
            .error(codes::TOO_LARGE, start, message)
            .label(format!("the limit is {} bytes", limits::SOURCE));
        return None;
    }
    let lexed = lex(source, diagnostics);
    let file = parser::parse(source, &lexed, diagnostics)?;
    if diagnostics.has_errors() {
        return None;
    }
    let mut printer = Printer::new(source, &lexed);
    for item in &file.items {
        printer.item(item);
    }
    printer.comments_before(source.len());
    Some(printer.out)
}

/// Prints line by line and tracks the comments that are not printed yet.
struct Printer<'a> {
    source: &'a str,
    lexed: &'a Lexed,
    /// The offset of each line's first byte.
    lines: Vec<usize>,
    out: String,
    indent: usize,
    /// The first comment that is not printed yet.
    comment: usize,
    /// The source line on which the last printed code or comment ends.
    last_line: usize,
    /// Whether nothing is printed yet in the current block.
    at_block_start: bool,
}

impl<'a> Printer<'a> {
    fn new(source: &'a str, lexed: &'a Lexed) -> Self {
        let starts = source.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at + 1);
        Printer {
            source,
            lexed,
            lines: std::iter::once(0).chain(starts).collect(),
            out: String::new(),
            indent: 0,
            comment: 0,
            last_line: 0,
            at_block_start: true,
        }
    }

    fn line_of(&self, offset: usize) -> usize {
        self.lines.partition_point(|start| *start <= offset)
    }

    /// Returns the line of the last byte before an offset.
    fn last_line_of(&self, end: usize) -> usize {
        self.line_of(end.saturating_sub(1))
    }

    /// Returns the index of the first token that starts at or after an offset.
    fn token_at(&self, offset: usize) -> usize {
        self.lexed.tokens.partition_point(|t| (t.span.start as usize) < offset)
    }

    /// Returns the end of the semicolon that follows `end`, or `end` if there is none.
    fn with_semicolon(&self, end: u32) -> usize {
        let token = self.lexed.tokens[self.token_at(end as usize)];
        if token.kind == Tok::Semi { token.span.end as usize } else { end as usize }
    }

    /// Returns the span of the first token of a kind at or after an offset.
    fn find(&self, kind: Tok, offset: u32) -> Span {
        let from = self.token_at(offset as usize);
        let found = self.lexed.tokens[from..].iter().find(|t| t.kind == kind);
        found.or(self.lexed.tokens.last()).map(|t| t.span).unwrap_or_default()
    }

    fn has_comments(&self, start: usize, end: usize) -> bool {
        let comments = &self.lexed.comments[self.comment..];
        let from = comments.partition_point(|c| (c.start as usize) < start);
        comments.get(from).is_some_and(|c| (c.start as usize) < end)
    }

    /// Returns whether a part of the source is on one line and has no comments.
    fn may_be_flat(&self, start: usize, end: usize) -> bool {
        self.line_of(start) == self.last_line_of(end) && !self.has_comments(start, end)
    }

    /// Prints a blank line if the source has one before `line`.
    fn blank_before(&mut self, line: usize) {
        if !self.at_block_start && line > self.last_line + 1 {
            self.out.push('\n');
        }
        self.at_block_start = false;
    }

    fn write_indent(&mut self, levels: usize) {
        for _ in 0..levels {
            self.out.push_str("  ");
        }
    }

    /// Prints the comments that start before an offset, each on its own line.
    fn comments_before(&mut self, offset: usize) {
        while let Some(comment) = self.lexed.comments.get(self.comment)
            && (comment.start as usize) < offset
        {
            self.blank_before(self.line_of(comment.start as usize));
            self.write_comment(*comment, self.indent);
            self.last_line = self.last_line_of(comment.end as usize);
            self.comment += 1;
        }
    }

    fn write_comment(&mut self, comment: Span, indent: usize) {
        self.write_indent(indent);
        self.out.push_str(comment.text(self.source).trim_end());
        self.out.push('\n');
    }

    /// Prints one line of code for the source from `start` to `end`.
    fn line(&mut self, start: usize, end: usize, text: &str) {
        self.comments_before(start);
        self.blank_before(self.line_of(start));
        self.code(start, end, text, self.indent);
    }

    /// Prints a line that begins with the closing brace of the current block.
    fn closing_line(&mut self, start: usize, end: usize, text: &str) {
        self.comments_before(start);
        self.at_block_start = false;
        self.indent -= 1;
        self.code(start, end, text, self.indent + 1);
    }

    /// Prints a line of code with its comments. Comments that cannot follow the code are printed
    /// before the line, indented by `before` levels.
    fn code(&mut self, start: usize, end: usize, text: &str, before: usize) {
        let mut own = self.comments_on_line(end);
        let is_line = |c: &Span| c.text(self.source).starts_with("//");
        let last = own.iter().rposition(is_line);
        let mut at = 0;
        let mut earlier = Vec::new();
        own.retain(|comment| {
            let moves = is_line(comment) && Some(at) != last;
            at += 1;
            if moves {
                earlier.push(*comment);
            }
            !moves
        });
        // At most one `//` comment is left. It must be the last comment of the line.
        own.sort_by_key(is_line);
        for comment in earlier {
            self.write_comment(comment, before);
        }
        self.write_indent(self.indent);
        self.out.push_str(text);
        if let [comment] = own[..] {
            let width = 2 * self.indent + text.chars().count() + 1;
            for _ in width..self.kept_column(start, end, comment) {
                self.out.push(' ');
            }
        }
        for comment in own {
            self.out.push(' ');
            self.out.push_str(comment.text(self.source).trim_end());
        }
        self.out.push('\n');
    }

    /// Returns the column (from 0) of a comment after code, so that aligned comments stay aligned.
    /// Returns 0 if the comment has no column to keep.
    fn kept_column(&self, start: usize, end: usize, comment: Span) -> usize {
        let at = comment.start as usize;
        let line = self.line_of(at);
        let line_start = self.lines[line - 1];
        let first = self.lexed.tokens[self.token_at(line_start)].span.start as usize;
        let before = self.source.get(line_start..at).unwrap_or("");
        if at < end || line != self.last_line_of(end) || first < start || before.contains('\t') {
            return 0;
        }
        before.trim_start_matches(BYTE_ORDER_MARK).chars().count()
    }

    /// Removes and returns the comments inside code that ends at `end`, and the comments after this
    /// code on the same line.
    fn comments_on_line(&mut self, end: usize) -> Vec<Span> {
        let next = self.lexed.tokens[self.token_at(end)].span.start as usize;
        self.last_line = self.last_line_of(end);
        let mut own = Vec::new();
        while let Some(comment) = self.lexed.comments.get(self.comment) {
            let start = comment.start as usize;
            let inside = start < end;
            let behind = start < next && self.line_of(start) == self.last_line;
            if !inside && !behind {
                break;
            }
            if !inside {
                self.last_line = self.last_line_of(comment.end as usize);
            }
            own.push(*comment);
            self.comment += 1;
        }
        own
    }

    /// Prints the statements of a block after its opening line.
    fn block_contents(&mut self, block: &Block) {
        self.begin_block();
        for stmt in &block.stmts {
            self.stmt("", stmt.span.start as usize, stmt);
        }
    }

    fn begin_block(&mut self) {
        self.indent += 1;
        self.at_block_start = true;
    }
}
