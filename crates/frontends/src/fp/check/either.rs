//! Checks `either`: its guards, and that `property progress` does not occur with it.
//!
//! A guard loads at most once, so that it is evaluated in one step: the load and the test. It has
//! no effect, because a guard that does not hold must leave everything as it is.
//!
//! `either` is lowered to a loop that chooses a branch and starts again if the guard does not hold.
//! A run that chooses the same branch forever would be a livelock of this loop, but not of the
//! program: a branch whose guard does not hold is not taken. Therefore `property progress` is
//! rejected in a file with guards.

use fencepost_ir::{Diagnostics, Span};

use super::Checker;
use super::infer::walk;
use crate::fp::ast::{self, ItemKind, StmtKind as Ast};
use crate::fp::codes;
use crate::fp::tree::{EitherBranch, Expr, ExprKind, Place, Root, StmtKind};
use crate::fp::types::Ty;
use crate::orders::MemoryOrder;

impl Checker<'_> {
    /// Checks `either`, which starts at `span`.
    pub(super) fn either(&mut self, branches: &[ast::Block], span: Span) -> Option<StmtKind> {
        let mut checked = Vec::new();
        let mut is_valid = true;
        for block in branches {
            let (guard, rest) = match block.stmts.split_first() {
                Some((ast::Stmt { kind: Ast::When(cond), span, .. }, rest)) => {
                    (Some((cond, *span)), rest)
                }
                Some(_) | None => (None, &block.stmts[..]),
            };
            let guard = guard.map(|(cond, span)| Some((self.guard(cond)?, span)));
            is_valid &= !matches!(guard, Some(None));
            let body = self.stmts(rest, block.close);
            checked.push(EitherBranch { guard: guard.flatten(), body });
        }
        let word = Span { end: span.start + "either".len() as u32, ..span };
        is_valid.then_some(StmtKind::Either(checked, word))
    }

    fn guard(&mut self, cond: &ast::Expr) -> Option<Expr> {
        self.in_guard = true;
        let guard = self.expr_of(cond, Ty::Bool);
        self.in_guard = false;
        let guard = guard?;
        let mut loads = Vec::new();
        if let Err(effect) = collect_loads(&guard, &mut loads) {
            self.diagnostics
                .error(codes::GUARD, effect, "a guard can only read")
                .label("this may have an effect")
                .hint("put this into a statement before `either`");
            return None;
        }
        if let [_, second, ..] = loads[..] {
            self.diagnostics
                .error(codes::GUARD, second, "a guard can load only one location")
                .label("this is the second load")
                .hint("load one of the locations into a register before `either`");
            return None;
        }
        Some(guard)
    }
}

/// Collects the positions of the loads of an expression. The error is the position of a part that
/// may have an effect.
fn collect_loads(expr: &Expr, loads: &mut Vec<Span>) -> Result<(), Span> {
    let mut inside = |part: &Expr| collect_loads(part, loads);
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Local(_) | ExprKind::Param => Ok(()),
        ExprKind::LocalElement(element) => element.indices.iter().try_for_each(inside),
        // The fence of an ordered load would be a second step.
        ExprKind::Load(Place { order, .. }) if *order != MemoryOrder::Relaxed => Err(expr.span),
        ExprKind::Load(Place { root, indices, .. }) => {
            if let Root::Field { of, .. } = root {
                inside(of)?;
            }
            indices.iter().try_for_each(inside)?;
            loads.push(expr.span);
            Ok(())
        }
        ExprKind::Unary(_, a) | ExprKind::Wrap(a, _) | ExprKind::ToInt(a) => inside(a),
        ExprKind::Binary(_, a, b) => inside(a).and_then(|()| inside(b)),
        ExprKind::Select(c, a, b) => inside(c).and_then(|()| inside(a)).and_then(|()| inside(b)),
        ExprKind::Update(..)
        | ExprKind::ChooseRange(..)
        | ExprKind::ChooseList(_)
        | ExprKind::New(_)
        | ExprKind::Call(..)
        | ExprKind::ThreadRegister(..)
        | ExprKind::At(..)
        | ExprKind::ClientResult(..)
        | ExprKind::WholeArray(_) => Err(expr.span),
    }
}

/// Reports `property progress` in a file with guards. Without guards, `either` is a choice and no
/// loop. `progress` is the position of the property.
pub(super) fn check_progress(file: &ast::File, progress: Span, diagnostics: &mut Diagnostics) {
    let mut first = None;
    for item in &file.items {
        let block = match &item.kind {
            ItemKind::Thread(thread) => &thread.body,
            ItemKind::Procedure(procedure) => &procedure.body,
            ItemKind::Init(_)
            | ItemKind::Finally(_)
            | ItemKind::Const(..)
            | ItemKind::Enum(..)
            | ItemKind::Record(..)
            | ItemKind::Pool(..)
            | ItemKind::Shared(..)
            | ItemKind::Client(_)
            | ItemKind::Property(..)
            | ItemKind::Final(..)
            | ItemKind::Invariant(_)
            | ItemKind::Observe(_) => continue,
        };
        for stmt in &block.stmts {
            walk(stmt, &mut |stmt| {
                let is_guarded = |block: &ast::Block| {
                    block.stmts.first().is_some_and(|stmt| matches!(stmt.kind, Ast::When(_)))
                };
                if let Ast::Either(branches) = &stmt.kind
                    && branches.iter().any(is_guarded)
                {
                    first.get_or_insert(stmt.span);
                }
            });
        }
    }
    let Some(either) = first else { return };
    let word = Span { end: either.start + "either".len() as u32, ..either };
    diagnostics
        .error(
            codes::PROGRESS_EITHER,
            progress,
            "`progress` is not supported with guards of `either`",
        )
        .label("cannot be checked in this file")
        .related(word, "the first `either` with a guard")
        .hint("remove the property, or replace `either` by a loop with `choose`");
}
