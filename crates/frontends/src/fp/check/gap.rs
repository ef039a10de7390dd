//! Gaps: where in the source a fence may be put.
//!
//! - Before each statement of a block, and at the block's end.
//! - Before and after a statement where a block could stand: the body of an `if` or a loop without
//!   braces. A fence there needs braces, so the gap names the statement to wrap.
//! - Behind a label: what jumps to the label passes it, unlike the gap before the label.
//! - A fence of the author is itself the gap: there is no other one right before or after it.
//!
//! A statement without code (`int r;`, `;`) has no gap before it; the next one will do.

use fencepost_ir::Span;

use super::Checker;
use crate::fp::ast::{self, StmtKind as Ast};
use crate::fp::limits;
use crate::fp::tree::{Gap, Stmt, StmtKind};

impl Checker<'_> {
    /// Checks the statements of a block; those with errors are left out.
    pub(super) fn block(&mut self, block: &ast::Block) -> Vec<Stmt> {
        let mut code = Vec::new();
        // Whether a fence stands where the next gap would be.
        let mut filled = false;
        for stmt in &block.stmts {
            if limits::enough(self.diagnostics) {
                break;
            }
            let Some(checked) = self.stmt(stmt, None) else {
                continue;
            };
            let empty = matches!(&checked.kind, StmtKind::Block(code) if code.is_empty());
            if !empty {
                if !filled && !matches!(checked.kind, StmtKind::Fence(..)) {
                    code.push(alone(before(stmt, None)));
                }
                filled = ends_with_fence(&checked);
            }
            code.push(checked);
        }
        if !filled {
            let at = Span { end: block.close.start, ..block.close };
            code.push(alone(Gap { at, head: block.close, at_end: true, wrap: None }));
        }
        code
    }

    /// A statement where a block could stand.
    pub(super) fn part(&mut self, stmt: &ast::Stmt) -> Option<Box<Stmt>> {
        if matches!(stmt.kind, Ast::Block(_)) {
            return self.stmt(stmt, None).map(Box::new);
        }
        let wrap = Span { end: stmt.end.end, ..stmt.span };
        let checked = self.stmt(stmt, Some(wrap))?;
        let begins_with_fence = matches!(checked.kind, StmtKind::Fence(..));
        let first = (!begins_with_fence).then(|| before(stmt, Some(wrap)));
        let one_is_enough = matches!(stmt.kind, Ast::Empty) || ends_with_fence(&checked);
        let last = (!one_is_enough).then_some({
            // The brace that a fence needs here would be what follows.
            Gap { at: stmt.end, head: stmt.end, at_end: true, wrap: Some(wrap) }
        });
        let span = stmt.span;
        Some(Box::new(Stmt { kind: StmtKind::Alone(first, Box::new(checked), last), span }))
    }
}

/// A gap as a statement.
fn alone(gap: Gap) -> Stmt {
    Stmt { kind: StmtKind::Gap(gap), span: gap.at }
}

/// The gap before a statement.
pub(super) fn before(stmt: &ast::Stmt, wrap: Option<Span>) -> Gap {
    let at = Span { end: stmt.span.start, ..stmt.span };
    Gap { at, head: head(stmt), at_end: false, wrap }
}

fn ends_with_fence(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Fence(..) => true,
        StmtKind::Label(_, _, body) => ends_with_fence(body),
        StmtKind::Block(_)
        | StmtKind::Alone(..)
        | StmtKind::Gap(_)
        | StmtKind::Reset(_)
        | StmtKind::Assign(..)
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
        | StmtKind::Assert(_)
        | StmtKind::Free(..)
        | StmtKind::Critical(..)
        | StmtKind::Atomic(..) => false,
    }
}

/// What is shown of a statement: all of it, or what comes before its first part.
fn head(stmt: &ast::Stmt) -> Span {
    let end = match &stmt.kind {
        Ast::Block(_) => stmt.span.start + 1,
        Ast::Critical(block) | Ast::Atomic(block) => block.span.start,
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
        | Ast::Assert(_)
        | Ast::Free(_)
        | Ast::Empty => stmt.span.end,
    };
    Span { end, ..stmt.span }
}
