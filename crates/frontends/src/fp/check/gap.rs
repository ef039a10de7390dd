//! Gaps: the positions in the source where a fence can be inserted.
//!
//! - Before each statement of a block, and at the end of the block.
//! - Before and after an unbraced body of an `if` or a loop. A fence there needs braces, so the gap
//!   stores the statement to wrap.
//! - Before a `case` or `default` of a `switch`, at the end of the part before it.
//! - After a label. A jump to the label executes a fence after the label, but not one before it.
//! - An existing fence is itself a gap. There is no other gap directly before or after it.
//!
//! There is no gap before a statement without code (`int r;`, `;`), because the gap before the next
//! statement is equivalent.

use fencepost_ir::Span;

use super::Checker;
use crate::fp::ast::{self, StmtKind as Ast};
use crate::fp::limits;
use crate::fp::tree::{Gap, Stmt, StmtKind};

impl Checker<'_> {
    /// Checks the statements of a block. Statements with errors are left out.
    pub(super) fn block(&mut self, block: &ast::Block) -> Vec<Stmt> {
        self.stmts(&block.stmts, block.close)
    }

    /// Checks statements of a block up to its closing brace.
    pub(super) fn stmts(&mut self, stmts: &[ast::Stmt], close: Span) -> Vec<Stmt> {
        let at = Span { end: close.start, ..close };
        self.stmts_until(stmts, Gap { at, head: close, at_end: true, wrap: None })
    }

    /// Checks statements that are followed by a gap.
    pub(super) fn stmts_until(&mut self, stmts: &[ast::Stmt], last: Gap) -> Vec<Stmt> {
        let mut code = Vec::new();
        // Whether an existing fence is at the position of the next gap.
        let mut fence_at_gap = false;
        for stmt in stmts {
            if limits::error_limit_reached(self.diagnostics) {
                break;
            }
            let Some(checked) = self.stmt(stmt, None) else {
                continue;
            };
            let empty = matches!(&checked.kind, StmtKind::Block(code) if code.is_empty());
            if !empty {
                if !fence_at_gap && !matches!(checked.kind, StmtKind::Fence(..)) {
                    code.push(gap_stmt(before(stmt, None)));
                }
                fence_at_gap = ends_with_fence(&checked);
            }
            code.push(checked);
        }
        if !fence_at_gap {
            code.push(gap_stmt(last));
        }
        code
    }

    /// Checks the body of an `if` or a loop, with or without braces.
    pub(super) fn nested_body(&mut self, stmt: &ast::Stmt) -> Option<Box<Stmt>> {
        if matches!(stmt.kind, Ast::Block(_)) {
            return self.stmt(stmt, None).map(Box::new);
        }
        let wrap = Span { end: stmt.end.end, ..stmt.span };
        let checked = self.stmt(stmt, Some(wrap))?;
        let begins_with_fence = matches!(checked.kind, StmtKind::Fence(..));
        let first = (!begins_with_fence).then(|| before(stmt, Some(wrap)));
        let no_second_gap = matches!(stmt.kind, Ast::Empty) || ends_with_fence(&checked);
        let last = (!no_second_gap).then_some({
            // The head is the position of the closing brace that a fence here needs.
            Gap { at: stmt.end, head: stmt.end, at_end: true, wrap: Some(wrap) }
        });
        let span = stmt.span;
        Some(Box::new(Stmt { kind: StmtKind::Unbraced(first, Box::new(checked), last), span }))
    }
}

/// Wraps a gap in a statement.
fn gap_stmt(gap: Gap) -> Stmt {
    Stmt { kind: StmtKind::Gap(gap), span: gap.at }
}

/// Returns the gap before a statement.
pub(super) fn before(stmt: &ast::Stmt, wrap: Option<Span>) -> Gap {
    let at = Span { end: stmt.span.start, ..stmt.span };
    Gap { at, head: head(stmt), at_end: false, wrap }
}

fn ends_with_fence(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Fence(..) => true,
        StmtKind::Label(_, _, body) => ends_with_fence(body),
        StmtKind::Block(_)
        | StmtKind::Unbraced(..)
        | StmtKind::Gap(_)
        | StmtKind::Reset(_)
        | StmtKind::Assign(..)
        | StmtKind::AssignWaiting(..)
        | StmtKind::AssignElement(..)
        | StmtKind::Switch(..)
        | StmtKind::Modify(..)
        | StmtKind::Store(..)
        | StmtKind::StoreModify(..)
        | StmtKind::Eval(_)
        | StmtKind::If(..)
        | StmtKind::While { .. }
        | StmtKind::DoWhile(..)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Goto(..)
        | StmtKind::Return(_)
        | StmtKind::Skip
        | StmtKind::Drain(_)
        | StmtKind::Assume(_)
        | StmtKind::Await(_)
        | StmtKind::Assert(_)
        | StmtKind::Free(..)
        | StmtKind::Critical(..)
        | StmtKind::Atomic(..)
        | StmtKind::Either(..) => false,
    }
}

/// Returns the span that reports show: the whole statement, or the head of a compound statement.
fn head(stmt: &ast::Stmt) -> Span {
    let end = match &stmt.kind {
        Ast::Block(_) => stmt.span.start + 1,
        Ast::Critical(block) | Ast::Atomic(block) => block.span.start,
        Ast::Switch { head, .. } => head.end,
        Ast::Either(_) => stmt.span.start + "either".len() as u32,
        Ast::If { then: part, .. }
        | Ast::Label(_, part)
        | Ast::While { body: part, .. }
        | Ast::DoWhile { body: part, .. }
        | Ast::For { body: part, .. }
        | Ast::Loop(part) => part.span.start,
        Ast::Declare(..)
        | Ast::Assign(..)
        | Ast::Step(..)
        | Ast::Eval(_)
        | Ast::Break
        | Ast::Continue
        | Ast::Goto(_)
        | Ast::Return(_)
        | Ast::Skip
        | Ast::Fence(_)
        | Ast::Drain(_)
        | Ast::Assume(_)
        | Ast::Await(_)
        | Ast::When(_)
        | Ast::Assert(_)
        | Ast::Free(_)
        | Ast::Empty => stmt.span.end,
    };
    Span { end, ..stmt.span }
}
