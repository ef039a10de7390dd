//! The formatter: prints the syntax tree, with every comment and the author's blank lines.
//!
//! - Two spaces for each level, one statement on a line. What the source has on a single line stays
//!   on one, if it fits: `do { w = x; } while (w);`.
//! - A comment on its own line stays before what follows it. A comment behind code, or inside of it,
//!   goes to the end of the line, in its old column if it can; when there are two `//` comments for
//!   one line, the first goes before it.
//! - Blank lines are kept where there are some, one for each run, but not at the edges of a block.
//! - Lines end with a line feed; a byte order mark is dropped.
//! - Tokens are never added or removed, except the comma after the last constant of an enum.
//!
//! Formatting twice is the same as formatting once.

mod flat;
mod item;
mod stmt;

#[cfg(test)]
mod tests;

use fencepost_ir::{Diagnostics, Span};

use super::ast::Block;
use super::lexer::{BYTE_ORDER_MARK, Lexed, Tok, lex};
use super::{codes, limits, messages, parser};

/// No line that could be split is longer.
const WIDTH: usize = 100;

/// The text in its standard form; `None` exactly when a syntax error was reported.
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
    messages::hand_over(&own, diagnostics);
    if failed { None } else { result }
}

fn format_checked(source: &str, diagnostics: &mut Diagnostics) -> Option<String> {
    if source.len() > limits::SOURCE {
        let start = Span { line: 1, column: 1, ..Span::default() };
        diagnostics.error(codes::TOO_LARGE, start, "this file is too large to format");
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

/// Prints line by line, and keeps track of which comments are still to come.
struct Printer<'a> {
    source: &'a str,
    lexed: &'a Lexed,
    /// The offset of each line's first byte.
    lines: Vec<usize>,
    out: String,
    indent: usize,
    /// The first comment that is not printed yet.
    comment: usize,
    /// The source line on which the last printed thing ends.
    last_line: usize,
    /// Whether nothing was printed yet in this block.
    fresh: bool,
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
            fresh: true,
        }
    }

    fn line_of(&self, offset: usize) -> usize {
        self.lines.partition_point(|start| *start <= offset)
    }

    /// The line of the last byte before an offset.
    fn last_line_of(&self, end: usize) -> usize {
        self.line_of(end.saturating_sub(1))
    }

    /// The position of the first token that starts at or after an offset.
    fn token_at(&self, offset: usize) -> usize {
        self.lexed.tokens.partition_point(|t| (t.span.start as usize) < offset)
    }

    /// The end of what ends at `end`, with a semicolon that follows.
    fn with_semicolon(&self, end: u32) -> usize {
        let token = self.lexed.tokens[self.token_at(end as usize)];
        if token.kind == Tok::Semi { token.span.end as usize } else { end as usize }
    }

    /// The first token of a kind at or after an offset.
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

    /// Whether a stretch of source is on one line and has no comments, so that it may stay so.
    fn may_be_flat(&self, start: usize, end: usize) -> bool {
        self.line_of(start) == self.last_line_of(end) && !self.has_comments(start, end)
    }

    /// A blank line, if the source has one before `line`.
    fn blank_before(&mut self, line: usize) {
        if !self.fresh && line > self.last_line + 1 {
            self.out.push('\n');
        }
        self.fresh = false;
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

    /// Prints one line of code that stands for the source from `start` to `end`.
    fn line(&mut self, start: usize, end: usize, text: &str) {
        self.comments_before(start);
        self.blank_before(self.line_of(start));
        self.code(start, end, text, self.indent);
    }

    /// Prints a line that begins with the brace that ends the block at hand.
    fn closing_line(&mut self, start: usize, end: usize, text: &str) {
        self.comments_before(start);
        self.fresh = false;
        self.indent -= 1;
        self.code(start, end, text, self.indent + 1);
    }

    /// A line of code and the comments that belong on it; those that do not fit on it go before
    /// it, indented by `before` levels.
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
        // At most one `//` comment is left, and nothing can stand behind it.
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

    /// The column (from 0) that a comment behind code should keep, if there is room; 0 if any will
    /// do. Authors line comments up, and on a line of its own the code has no say in that.
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

    /// Takes the comments inside of code that ends at `end`, and those behind it on its line.
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

    /// Prints what is inside of a block whose opening line was just printed.
    fn inside(&mut self, block: &Block) {
        self.open();
        for stmt in &block.stmts {
            self.stmt("", stmt.span.start as usize, stmt);
        }
    }

    fn open(&mut self) {
        self.indent += 1;
        self.fresh = true;
    }
}
