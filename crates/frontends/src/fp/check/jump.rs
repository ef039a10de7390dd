//! Checks jumps: `break`, `continue`, `goto` and `return`.

use std::collections::BTreeMap;

use fencepost_ir::Span;

use super::{BodyKind, Checker};
use crate::fp::ast::{self, StmtKind as Ast};
use crate::fp::codes;
use crate::fp::suggest::did_you_mean;
use crate::fp::tree::{LabelName, StmtKind};

/// A loop or block that encloses a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Region {
    /// A loop.
    Loop,
    /// A `switch`, which `break` leaves.
    Switch,
    /// A `critical` block. The span identifies the block.
    Critical(Span),
    /// An `atomic` block. The span identifies the block.
    Atomic(Span),
}

/// A label of a body.
#[derive(Clone, Debug)]
pub(super) struct LabelSite {
    id: usize,
    span: Span,
    /// The enclosing `critical` and `atomic` blocks.
    blocks: Vec<Region>,
}

impl Checker<'_> {
    /// Finds the labels of a body.
    pub(super) fn find_labels(&mut self, block: &ast::Block) {
        let mut labels = BTreeMap::new();
        for stmt in &block.stmts {
            self.collect_labels(stmt, &mut Vec::new(), &mut labels);
        }
        self.labels = labels;
    }

    /// Returns the labels of the body, by number.
    pub(super) fn label_names(&self) -> Vec<LabelName> {
        let mut sites: Vec<(&String, &LabelSite)> = self.labels.iter().collect();
        sites.sort_by_key(|(_, site)| site.id);
        let names = sites.into_iter().map(|(name, site)| LabelName {
            name: name.clone(),
            span: site.span,
            in_atomic: site.blocks.iter().any(|block| matches!(block, Region::Atomic(_))),
        });
        names.collect()
    }

    fn collect_labels(
        &mut self,
        stmt: &ast::Stmt,
        blocks: &mut Vec<Region>,
        labels: &mut BTreeMap<String, LabelSite>,
    ) {
        let mut nested = |checker: &mut Self, region: Option<Region>, stmts: &[ast::Stmt]| {
            blocks.extend(region);
            for stmt in stmts {
                checker.collect_labels(stmt, blocks, labels);
            }
            if region.is_some() {
                blocks.pop();
            }
        };
        match &stmt.kind {
            Ast::Block(block) => nested(self, None, &block.stmts),
            Ast::Critical(block) => nested(self, Some(Region::Critical(block.span)), &block.stmts),
            Ast::Atomic(block) => nested(self, Some(Region::Atomic(block.span)), &block.stmts),
            Ast::Either(branches) => {
                branches.iter().for_each(|block| nested(self, None, &block.stmts));
            }
            Ast::Switch { cases, .. } => {
                cases.iter().for_each(|case| nested(self, None, &case.stmts));
            }
            Ast::Label(name, body) => {
                if let Some(first) = labels.get(&name.text) {
                    let message = format!("label `{}` is declared twice", name.text);
                    self.diagnostics
                        .error(codes::DUPLICATE, name.span, message)
                        .label("second label")
                        .related(first.span, "first label")
                        .hint("rename one of the labels");
                } else {
                    let id = labels.len();
                    let place = LabelSite { id, span: name.span, blocks: blocks.clone() };
                    labels.insert(name.text.clone(), place);
                }
                self.collect_labels(body, blocks, labels);
            }
            Ast::If { then, otherwise, .. } => {
                self.collect_labels(then, blocks, labels);
                if let Some(otherwise) = otherwise {
                    self.collect_labels(otherwise, blocks, labels);
                }
            }
            Ast::While { body, .. }
            | Ast::DoWhile { body, .. }
            | Ast::For { body, .. }
            | Ast::Loop(body) => self.collect_labels(body, blocks, labels),
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
            | Ast::Empty => {}
        }
    }

    /// Returns the number of a label.
    pub(super) fn label(&self, name: &ast::Name) -> usize {
        self.labels.get(&name.text).map_or(0, |label| label.id)
    }

    pub(super) fn goto(&mut self, name: &ast::Name, span: Span) -> Option<StmtKind> {
        let Some(label) = self.labels.get(&name.text).cloned() else {
            if self.globals.is_in_unparsed(&name.text) {
                return None;
            }
            let near = did_you_mean(
                &name.text,
                self.labels.keys().map(String::as_str),
                self.diagnostics.len(),
            );
            let message = format!("there is no label `{}` in this body", name.text);
            let declare = || format!("write `{}:` before a statement of this body", name.text);
            self.diagnostics
                .error(codes::UNKNOWN_LABEL, name.span, message)
                .label("unknown label")
                .hint(near.unwrap_or_else(declare));
            return None;
        };
        let is_block = |r: &Region| !matches!(r, Region::Loop | Region::Switch);
        let here: Vec<Region> = self.regions.iter().copied().filter(is_block).collect();
        if !here.starts_with(&label.blocks) {
            let into =
                label.blocks.iter().zip(here.iter().map(Some).chain(std::iter::repeat(None)));
            let into = into.filter(|(a, b)| Some(*a) != *b).map(|(a, _)| *a).next();
            let (what, block) = match into {
                Some(Region::Atomic(block)) => ("an `atomic`", block),
                Some(Region::Critical(block)) => ("a `critical`", block),
                Some(Region::Loop | Region::Switch) | None => ("a", label.span),
            };
            self.diagnostics
                .error(codes::JUMP_INTO, span, format!("this jumps into {what} block"))
                .label("not allowed")
                .related(label.span, "the label")
                .related(block, "the block")
                .hint("put the label before the block");
            return None;
        }
        let left = &here[label.blocks.len()..];
        if !self.may_leave(left, span) {
            return None;
        }
        let outside = !label.blocks.iter().any(|b| matches!(b, Region::Critical(_)));
        Some(StmtKind::Goto(label.id, outside))
    }

    /// Returns whether a jump can leave these regions. Reports a jump out of an `atomic` block.
    fn may_leave(&mut self, left: &[Region], span: Span) -> bool {
        for region in left {
            if let Region::Atomic(block) = region {
                self.diagnostics
                    .error(codes::LEAVES_ATOMIC, span, "this jumps out of an `atomic` block")
                    .label("not allowed")
                    .related(*block, "the block")
                    .hint("set a register inside the block and jump after the block");
                return false;
            }
        }
        true
    }

    pub(super) fn loop_jump(&mut self, kind: StmtKind, span: Span) -> Option<StmtKind> {
        let breaks = matches!(kind, StmtKind::Break);
        let is_target = |r: &Region| *r == Region::Loop || (breaks && *r == Region::Switch);
        let Some(at) = self.regions.iter().rposition(is_target) else {
            // The enclosing loop may be an unparsed part.
            if self.globals.unparsed_names.is_some() {
                return None;
            }
            let word = span.text(self.source);
            self.diagnostics
                .error(codes::NO_LOOP, span, format!("`{word}` outside of a loop"))
                .label("this statement is not in a loop")
                .hint("use `return;` to end the body, or `goto` to jump to a label");
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
            (BodyKind::Procedure(Some(ty)), Some(value)) => {
                let value = self.expr(value)?;
                Some(self.fit(value, ty)?)
            }
            (BodyKind::Procedure(Some(_)), None) if self.globals.unparsed_names.is_some() => {
                return None;
            }
            (BodyKind::Procedure(Some(_)), None) => {
                self.diagnostics
                    .error(codes::RETURN, span, "this procedure must return a value")
                    .label("the value is missing")
                    .hint("write `return VALUE;`");
                return None;
            }
            (
                BodyKind::Procedure(None) | BodyKind::Init | BodyKind::Finally | BodyKind::Thread,
                Some(value),
            ) => {
                let what = match self.kind {
                    BodyKind::Procedure(_) => "a `void` procedure cannot return a value",
                    BodyKind::Init => "`init` cannot return a value",
                    BodyKind::Finally => "`finally` cannot return a value",
                    BodyKind::Thread => "a thread cannot return a value",
                };
                self.diagnostics
                    .error(codes::RETURN, value.span, what)
                    .label("unexpected value")
                    .hint("write `return;`");
                return None;
            }
            (
                BodyKind::Procedure(None) | BodyKind::Init | BodyKind::Finally | BodyKind::Thread,
                None,
            ) => None,
        };
        leaves.then_some(StmtKind::Return(value))
    }
}

/// Returns whether control may reach the end of a list of statements. Over-approximation: uses the
/// structure of the statements, but not the values of conditions other than `true`.
pub(super) fn falls_through(stmts: &[ast::Stmt]) -> bool {
    let mut open = true;
    for stmt in stmts {
        // A label is reachable by `goto`, even after a jump.
        open = (open || has_label(stmt)) && can_complete(stmt);
    }
    open
}

fn has_label(stmt: &ast::Stmt) -> bool {
    let mut found = false;
    super::infer::walk(stmt, &mut |stmt| found |= matches!(stmt.kind, Ast::Label(..)));
    found
}

fn can_complete(stmt: &ast::Stmt) -> bool {
    match &stmt.kind {
        Ast::Return(_) | Ast::Goto(_) | Ast::Break | Ast::Continue => false,
        Ast::Block(block) | Ast::Critical(block) | Ast::Atomic(block) => {
            falls_through(&block.stmts)
        }
        Ast::Either(branches) => branches.iter().any(|block| falls_through(&block.stmts)),
        Ast::Switch { cases, .. } => {
            let covers_all = cases.iter().flat_map(|c| &c.labels).any(|l| l.value.is_none());
            let mut stmts = cases.iter().flat_map(|case| &case.stmts);
            !covers_all
                || cases.last().is_none_or(|case| falls_through(&case.stmts))
                || stmts.any(has_break)
        }
        Ast::Label(_, body) => can_complete(body),
        Ast::If { then, otherwise, .. } => {
            can_complete(then) || otherwise.as_ref().is_none_or(|otherwise| can_complete(otherwise))
        }
        Ast::Loop(body) | Ast::For { cond: None, body, .. } => has_break(body),
        Ast::While { cond, body, .. } => {
            !matches!(cond.kind, ast::ExprKind::Bool(true)) || has_break(body)
        }
        // The body runs at least once, and `continue` jumps to the condition.
        Ast::DoWhile { body, .. } => can_complete(body) || has_break(body) || has_continue(body),
        Ast::For { cond: Some(_), .. }
        | Ast::Declare(..)
        | Ast::Assign(..)
        | Ast::Step(..)
        | Ast::Eval(_)
        | Ast::Skip
        | Ast::Fence(_)
        | Ast::Drain(_)
        | Ast::Assume(_)
        | Ast::Await(_)
        | Ast::When(_)
        | Ast::Assert(_)
        | Ast::Free(_)
        | Ast::Empty => true,
    }
}

/// Returns whether a loop body has a `break` of that loop.
fn has_break(stmt: &ast::Stmt) -> bool {
    has_own_jump(stmt, &|kind| matches!(kind, Ast::Break))
}

fn has_continue(stmt: &ast::Stmt) -> bool {
    has_own_jump(stmt, &|kind| matches!(kind, Ast::Continue))
}

fn has_own_jump(stmt: &ast::Stmt, is_jump: &impl Fn(&Ast) -> bool) -> bool {
    match &stmt.kind {
        kind if is_jump(kind) => true,
        Ast::Block(block) | Ast::Critical(block) | Ast::Atomic(block) => {
            block.stmts.iter().any(|stmt| has_own_jump(stmt, is_jump))
        }
        Ast::Either(branches) => {
            let mut stmts = branches.iter().flat_map(|block| &block.stmts);
            stmts.any(|stmt| has_own_jump(stmt, is_jump))
        }
        // A `break` inside belongs to the `switch`.
        Ast::Switch { cases, .. } => {
            let mut stmts = cases.iter().flat_map(|case| &case.stmts);
            !is_jump(&Ast::Break) && stmts.any(|stmt| has_own_jump(stmt, is_jump))
        }
        Ast::Label(_, body) => has_own_jump(body, is_jump),
        Ast::If { then, otherwise, .. } => {
            has_own_jump(then, is_jump)
                || otherwise.as_ref().is_some_and(|s| has_own_jump(s, is_jump))
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
        | Ast::Await(_)
        | Ast::When(_)
        | Ast::Assert(_)
        | Ast::Free(_)
        | Ast::Empty => false,
    }
}
