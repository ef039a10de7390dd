//! Jumps: where `break`, `continue`, `goto` and `return` may go.

use std::collections::BTreeMap;

use fencepost_ir::Span;

use super::{BodyKind, Checker};
use crate::fp::ast::{self, StmtKind as Ast};
use crate::fp::codes;
use crate::fp::suggest::hint;
use crate::fp::tree::StmtKind;

/// A loop or block around a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Region {
    /// A loop.
    Loop,
    /// A `critical` block; the span tells which.
    Critical(Span),
    /// An `atomic` block; the span tells which.
    Atomic(Span),
}

/// A label of a body.
#[derive(Clone, Debug)]
pub(super) struct LabelPlace {
    id: usize,
    span: Span,
    /// The `critical` and `atomic` blocks around it.
    blocks: Vec<Region>,
}

impl Checker<'_> {
    /// Finds the labels of a body.
    pub(super) fn find_labels(&mut self, block: &ast::Block) {
        let mut labels = BTreeMap::new();
        for stmt in &block.stmts {
            self.labels_in(stmt, &mut Vec::new(), &mut labels);
        }
        self.labels = labels;
    }

    fn labels_in(
        &mut self,
        stmt: &ast::Stmt,
        blocks: &mut Vec<Region>,
        labels: &mut BTreeMap<String, LabelPlace>,
    ) {
        let mut nested = |checker: &mut Self, region: Option<Region>, stmts: &[ast::Stmt]| {
            blocks.extend(region);
            for stmt in stmts {
                checker.labels_in(stmt, blocks, labels);
            }
            if region.is_some() {
                blocks.pop();
            }
        };
        match &stmt.kind {
            Ast::Block(block) => nested(self, None, &block.stmts),
            Ast::Critical(block) => nested(self, Some(Region::Critical(block.span)), &block.stmts),
            Ast::Atomic(block) => nested(self, Some(Region::Atomic(block.span)), &block.stmts),
            Ast::Label(name, body) => {
                if let Some(first) = labels.get(&name.text) {
                    let message = format!("label `{}` is declared twice", name.text);
                    self.diagnostics
                        .error(codes::DUPLICATE, name.span, message)
                        .label("second label")
                        .related(first.span, "first one");
                } else {
                    let id = labels.len();
                    let place = LabelPlace { id, span: name.span, blocks: blocks.clone() };
                    labels.insert(name.text.clone(), place);
                }
                self.labels_in(body, blocks, labels);
            }
            Ast::If { then, otherwise, .. } => {
                self.labels_in(then, blocks, labels);
                if let Some(otherwise) = otherwise {
                    self.labels_in(otherwise, blocks, labels);
                }
            }
            Ast::While { body, .. }
            | Ast::DoWhile { body, .. }
            | Ast::For { body, .. }
            | Ast::Loop(body) => self.labels_in(body, blocks, labels),
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
            | Ast::Empty => {}
        }
    }

    /// The number of a label.
    pub(super) fn label(&self, name: &ast::Name) -> usize {
        self.labels.get(&name.text).map_or(0, |label| label.id)
    }

    pub(super) fn goto(&mut self, name: &ast::Name, span: Span) -> Option<StmtKind> {
        let Some(label) = self.labels.get(&name.text).cloned() else {
            if self.globals.is_lost(&name.text) {
                return None;
            }
            let near =
                hint(&name.text, self.labels.keys().map(String::as_str), self.diagnostics.len());
            let message = format!("there is no label `{}` here", name.text);
            self.diagnostics
                .error(codes::UNKNOWN_LABEL, name.span, message)
                .label("unknown label")
                .hint = near;
            return None;
        };
        let here: Vec<Region> =
            self.regions.iter().copied().filter(|r| *r != Region::Loop).collect();
        if !here.starts_with(&label.blocks) {
            let into =
                label.blocks.iter().zip(here.iter().map(Some).chain(std::iter::repeat(None)));
            let into = into.filter(|(a, b)| Some(*a) != *b).map(|(a, _)| *a).next();
            let (what, block) = match into {
                Some(Region::Atomic(block)) => ("an `atomic`", block),
                Some(Region::Critical(block)) => ("a `critical`", block),
                Some(Region::Loop) | None => ("a", label.span),
            };
            self.diagnostics
                .error(codes::JUMP_INTO, span, format!("this jumps into {what} block"))
                .label("not allowed")
                .related(label.span, "the label")
                .related(block, "the block");
            return None;
        }
        let left = &here[label.blocks.len()..];
        if !self.may_leave(left, span) {
            return None;
        }
        let outside = !label.blocks.iter().any(|b| matches!(b, Region::Critical(_)));
        Some(StmtKind::Goto(label.id, outside))
    }

    /// Reports a jump out of an `atomic` block.
    fn may_leave(&mut self, left: &[Region], span: Span) -> bool {
        for region in left {
            if let Region::Atomic(block) = region {
                self.diagnostics
                    .error(codes::LEAVES_ATOMIC, span, "this jumps out of an `atomic` block")
                    .label("not allowed")
                    .related(*block, "the block")
                    .hint("set a register and jump after the block");
                return false;
            }
        }
        true
    }

    pub(super) fn loop_jump(&mut self, kind: StmtKind, span: Span) -> Option<StmtKind> {
        let Some(at) = self.regions.iter().rposition(|r| *r == Region::Loop) else {
            // The loop around it may be what could not be parsed.
            if self.globals.lost.is_some() {
                return None;
            }
            let word = span.text(self.source);
            self.diagnostics
                .error(codes::NO_LOOP, span, format!("`{word}` outside of a loop"))
                .label("no loop around this");
            return None;
        };
        let left = self.regions[at..].to_vec();
        self.may_leave(&left, span).then_some(kind)
    }

    pub(super) fn return_stmt(
        &mut self,
        value: Option<&ast::Expr>,
        span: Span,
    ) -> Option<StmtKind> {
        let all = self.regions.clone();
        let leaves = self.may_leave(&all, span);
        let value = match (self.kind, value) {
            (BodyKind::Procedure(Some(ty)), Some(value)) => Some(self.expr_of(value, ty.ty)?),
            (BodyKind::Procedure(Some(_)), None) if self.globals.lost.is_some() => return None,
            (BodyKind::Procedure(Some(_)), None) => {
                self.diagnostics
                    .error(codes::RETURN, span, "this procedure returns a value")
                    .label("a value is missing");
                return None;
            }
            (BodyKind::Procedure(None) | BodyKind::Init | BodyKind::Thread, Some(value)) => {
                let what = match self.kind {
                    BodyKind::Procedure(_) => "a `void` procedure returns nothing",
                    BodyKind::Init => "`init` returns nothing",
                    BodyKind::Thread => "a thread returns nothing",
                };
                self.diagnostics.error(codes::RETURN, value.span, what).label("remove this value");
                return None;
            }
            (BodyKind::Procedure(None) | BodyKind::Init | BodyKind::Thread, None) => None,
        };
        leaves.then_some(StmtKind::Return(value))
    }
}

/// Whether control may reach the end of a list of statements, as far as its shape tells.
pub(super) fn falls_through(stmts: &[ast::Stmt]) -> bool {
    let mut open = true;
    for stmt in stmts {
        // A label may be jumped to, even after a jump.
        open = (open || has_label(stmt)) && passes(stmt);
    }
    open
}

fn has_label(stmt: &ast::Stmt) -> bool {
    let mut found = false;
    super::infer::walk(stmt, &mut |stmt| found |= matches!(stmt.kind, Ast::Label(..)));
    found
}

fn passes(stmt: &ast::Stmt) -> bool {
    match &stmt.kind {
        Ast::Return(_) | Ast::Goto(_) | Ast::Break | Ast::Continue => false,
        Ast::Block(block) | Ast::Critical(block) | Ast::Atomic(block) => {
            falls_through(&block.stmts)
        }
        Ast::Label(_, body) => passes(body),
        Ast::If { then, otherwise, .. } => {
            passes(then) || otherwise.as_ref().is_none_or(|otherwise| passes(otherwise))
        }
        Ast::Loop(body) | Ast::For { cond: None, body, .. } => breaks(body),
        Ast::While { cond, body, .. } => {
            !matches!(cond.kind, ast::ExprKind::Bool(true)) || breaks(body)
        }
        // The body runs at least once, but `continue` goes to the condition.
        Ast::DoWhile { body, .. } => passes(body) || breaks(body) || continues(body),
        Ast::For { cond: Some(_), .. }
        | Ast::Declare(..)
        | Ast::Assign(..)
        | Ast::Step(..)
        | Ast::Eval(_)
        | Ast::Skip
        | Ast::Fence(_)
        | Ast::Drain(_)
        | Ast::Assume(_)
        | Ast::Assert(_)
        | Ast::Free(_)
        | Ast::Empty => true,
    }
}

/// Whether a loop body has a `break` of its own loop.
fn breaks(stmt: &ast::Stmt) -> bool {
    own_jump(stmt, &|kind| matches!(kind, Ast::Break))
}

fn continues(stmt: &ast::Stmt) -> bool {
    own_jump(stmt, &|kind| matches!(kind, Ast::Continue))
}

fn own_jump(stmt: &ast::Stmt, wanted: &impl Fn(&Ast) -> bool) -> bool {
    match &stmt.kind {
        kind if wanted(kind) => true,
        Ast::Block(block) | Ast::Critical(block) | Ast::Atomic(block) => {
            block.stmts.iter().any(|stmt| own_jump(stmt, wanted))
        }
        Ast::Label(_, body) => own_jump(body, wanted),
        Ast::If { then, otherwise, .. } => {
            own_jump(then, wanted) || otherwise.as_ref().is_some_and(|s| own_jump(s, wanted))
        }
        Ast::Loop(_)
        | Ast::For { .. }
        | Ast::While { .. }
        | Ast::DoWhile { .. }
        | Ast::Return(_)
        | Ast::Goto(_)
        | Ast::Break
        | Ast::Continue
        | Ast::Declare(..)
        | Ast::Assign(..)
        | Ast::Step(..)
        | Ast::Eval(_)
        | Ast::Skip
        | Ast::Fence(_)
        | Ast::Drain(_)
        | Ast::Assume(_)
        | Ast::Assert(_)
        | Ast::Free(_)
        | Ast::Empty => false,
    }
}
