//! Formats statements, on one or several lines.

use fencepost_ir::Span;

use super::flat::Flat;
use super::{Printer, WIDTH};
use crate::fp::ast::{Block, Case, Stmt, StmtKind};
use crate::fp::lexer::Tok;

impl Printer<'_> {
    /// Prints a statement after `prefix` (`} else `, `L: `). The prefix begins at `start` in the
    /// source.
    pub(super) fn stmt(&mut self, prefix: &str, start: usize, stmt: &Stmt) {
        // The span of a statement excludes its semicolon, but includes the semicolon of its body.
        let open = !is_compound(stmt) && !matches!(stmt.kind, StmtKind::Empty);
        let end = match open || matches!(stmt.kind, StmtKind::DoWhile { .. }) {
            true => self.with_semicolon(stmt.span.end),
            false => stmt.span.end as usize,
        };
        let closes = prefix.starts_with('}');
        let own = stmt.span.start as usize;
        let single = self.line_of(own) == self.last_line_of(end);
        if !is_compound(stmt) || (single && !self.has_comments(start, end)) {
            let levels = if closes { self.indent - 1 } else { self.indent };
            let limit = match is_compound(stmt) {
                true => WIDTH.saturating_sub(2 * levels + prefix.len()),
                false => usize::MAX,
            };
            let mut flat = Flat::within(self.source, limit);
            flat.stmt(stmt);
            if let Some(text) = flat.if_fits() {
                self.line_or_close(start, end, &format!("{prefix}{text}"));
                return;
            }
        }
        self.print_multiline(prefix, start, end, stmt);
    }

    fn line_or_close(&mut self, start: usize, end: usize, text: &str) {
        if text.starts_with('}') {
            self.closing_line(start, end, text);
        } else {
            self.line(start, end, text);
        }
    }

    /// Prints a compound statement on several lines.
    fn print_multiline(&mut self, prefix: &str, start: usize, end: usize, stmt: &Stmt) {
        let head = |write: &dyn Fn(&mut Flat<'_>)| {
            let mut flat = Flat::new(self.source).push(prefix);
            write(&mut flat);
            flat.text()
        };
        match &stmt.kind {
            StmtKind::Block(block) => self.block(prefix.trim_end(), start, block),
            StmtKind::Critical(block) => self.block(&format!("{prefix}critical"), start, block),
            StmtKind::Atomic(block) => self.block(&format!("{prefix}atomic"), start, block),
            StmtKind::Either(branches) => {
                let mut head = (format!("{prefix}either"), start);
                for (at, branch) in branches.iter().enumerate() {
                    let (text, from) = &head;
                    let open = branch.span.start as usize + 1;
                    self.line_or_close(*from, open, &format!("{text} {{"));
                    self.block_contents(branch);
                    let close = branch.span.end as usize - 1;
                    if at + 1 == branches.len() {
                        self.closing_line(close, close + 1, "}");
                    }
                    head = ("} or".into(), close);
                }
            }
            StmtKind::Switch { value, cases, close, .. } => {
                let text = head(&|flat| flat.head("switch", value));
                self.switch(&text, start, cases, *close);
            }
            StmtKind::Label(name, body) => {
                let colon = self.find(Tok::Colon, name.span.end);
                let body_start = body.span.start as usize;
                let text = format!("{prefix}{}:", name.text);
                if self.line_of(body_start) == self.line_of(colon.start as usize) {
                    self.stmt(&format!("{text} "), start, body);
                } else {
                    self.line_or_close(start, colon.end as usize, &text);
                    self.stmt("", body_start, body);
                }
            }
            StmtKind::If { cond, head: span, then, otherwise } => {
                let text = head(&|flat| flat.head("if", cond));
                let open = self.body(&text, start, span.end as usize, then);
                self.else_part(then, open, otherwise.as_deref());
            }
            StmtKind::While { cond, head: span, body, .. } => {
                let text = head(&|flat| flat.head("while", cond));
                let open = self.body(&text, start, span.end as usize, body);
                self.close(body, open);
            }
            StmtKind::For { init, cond, step, body } => {
                let text = head(&|flat| {
                    flat.for_head(init.as_deref(), cond.as_ref(), step.as_deref());
                });
                // The head ends with the last token before the body.
                let before = self.token_at(body.span.start as usize).saturating_sub(1);
                let head_end = self.lexed.tokens[before].span.end as usize;
                let open = self.body(&text, start, head_end, body);
                self.close(body, open);
            }
            StmtKind::Loop(body) => {
                let word = self.find(Tok::Loop, stmt.span.start);
                let open = self.body(&format!("{prefix}loop"), start, word.end as usize, body);
                self.close(body, open);
            }
            StmtKind::DoWhile { body, cond, head: span } => {
                let word = self.find(Tok::Do, stmt.span.start);
                let text = Flat::new(self.source);
                let open = self.body(&format!("{prefix}do"), start, word.end as usize, body);
                let mut text = if open { text.push("} ") } else { text };
                text.head("while", cond);
                text.add(";");
                let text = text.text();
                if open {
                    self.closing_line(body.span.end as usize - 1, end, &text);
                } else {
                    self.line(span.start as usize, end, &text);
                }
            }
            StmtKind::Declare(..)
            | StmtKind::Assign(..)
            | StmtKind::Step(..)
            | StmtKind::Eval(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Goto(_)
            | StmtKind::Return(_)
            | StmtKind::Skip
            | StmtKind::Fence(_)
            | StmtKind::Drain(_)
            | StmtKind::Assume(_)
            | StmtKind::Await(_)
            | StmtKind::When(_)
            | StmtKind::Assert(_)
            | StmtKind::Free(_)
            | StmtKind::Empty => unreachable!("only compound statements have several lines"),
        }
    }

    /// Prints the head and the body of a statement. Returns whether the closing brace must still be
    /// printed.
    fn body(&mut self, head: &str, start: usize, head_end: usize, body: &Stmt) -> bool {
        if let StmtKind::Block(block) = &body.kind {
            self.line_or_close(start, block.span.start as usize + 1, &format!("{head} {{"));
            self.block_contents(block);
            return true;
        }
        self.line_or_close(start, head_end, head);
        self.begin_block();
        self.stmt("", body.span.start as usize, body);
        self.indent -= 1;
        false
    }

    fn close(&mut self, body: &Stmt, open: bool) {
        if open {
            let end = body.span.end as usize;
            self.closing_line(end - 1, end, "}");
        }
    }

    fn else_part(&mut self, then: &Stmt, open: bool, otherwise: Option<&Stmt>) {
        let Some(otherwise) = otherwise else {
            self.close(then, open);
            return;
        };
        let word = self.find(Tok::Else, then.span.end);
        let (text, start) = if open {
            ("} else", then.span.end as usize - 1)
        } else {
            ("else", word.start as usize)
        };
        if matches!(otherwise.kind, StmtKind::Block(_) | StmtKind::If { .. }) {
            self.stmt(&format!("{text} "), start, otherwise);
            return;
        }
        self.line_or_close(start, word.end as usize, text);
        self.begin_block();
        self.stmt("", otherwise.span.start as usize, otherwise);
        self.indent -= 1;
    }

    /// Prints a `switch` on several lines. Labels are one level deeper than the head, statements two
    /// levels.
    fn switch(&mut self, head: &str, start: usize, cases: &[Case], close: Span) {
        let brace = match cases.first().and_then(|case| case.labels.first()) {
            Some(label) => self.lexed.tokens[self.token_at(label.span.start as usize) - 1].span,
            None => self.lexed.tokens[self.token_at(close.start as usize) - 1].span,
        };
        self.line_or_close(start, brace.end as usize, &format!("{head} {{"));
        self.begin_block();
        for case in cases {
            for label in &case.labels {
                let mut flat = Flat::new(self.source);
                flat.case_label(label);
                self.line(label.span.start as usize, label.span.end as usize, &flat.text());
            }
            self.begin_block();
            for stmt in &case.stmts {
                self.stmt("", stmt.span.start as usize, stmt);
            }
            self.indent -= 1;
        }
        self.closing_line(close.start as usize, close.end as usize, "}");
    }

    /// Prints `head { ... }` on several lines.
    pub(super) fn block(&mut self, head: &str, start: usize, block: &Block) {
        let (open, close) = (block.span.start as usize, block.span.end as usize);
        let space = if head.is_empty() { "" } else { " " };
        if block.stmts.is_empty() && !self.has_comments(open, close) {
            self.line_or_close(start, close, &format!("{head}{space}{{}}"));
            return;
        }
        self.line_or_close(start, open + 1, &format!("{head}{space}{{"));
        self.block_contents(block);
        self.closing_line(close - 1, close, "}");
    }
}

/// Returns whether a statement contains other statements.
fn is_compound(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Block(_)
        | StmtKind::Label(..)
        | StmtKind::If { .. }
        | StmtKind::While { .. }
        | StmtKind::DoWhile { .. }
        | StmtKind::For { .. }
        | StmtKind::Loop(_)
        | StmtKind::Critical(_)
        | StmtKind::Atomic(_)
        | StmtKind::Switch { .. }
        | StmtKind::Either(_) => true,
        StmtKind::Declare(..)
        | StmtKind::Assign(..)
        | StmtKind::Step(..)
        | StmtKind::Eval(_)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Goto(_)
        | StmtKind::Return(_)
        | StmtKind::Skip
        | StmtKind::Fence(_)
        | StmtKind::Drain(_)
        | StmtKind::Assume(_)
        | StmtKind::Await(_)
        | StmtKind::When(_)
        | StmtKind::Assert(_)
        | StmtKind::Free(_)
        | StmtKind::Empty => false,
    }
}
