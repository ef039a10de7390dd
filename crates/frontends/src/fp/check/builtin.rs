//! Checks updates, `choose` and `new`.

use fencepost_ir::{BinOp, CasResult, Span};

use super::Checker;
use super::expr::arguments;
use crate::fp::ast;
use crate::fp::codes;
use crate::fp::limits;
use crate::fp::names::{Global, report_no_pool, too_many};
use crate::fp::suggest::did_you_mean;
use crate::fp::tree::{Expr, ExprKind, Place, Update};
use crate::fp::types::{Outside, Ty};

impl Checker<'_> {
    /// Checks an update: `cas`, `cmpxchg`, `swap` or a fetch operation.
    pub(super) fn builtin_update(
        &mut self,
        name: &ast::Name,
        args: &[ast::Expr],
        span: Span,
    ) -> Option<Expr> {
        let expected = if matches!(name.text.as_str(), "cas" | "cmpxchg") { 3 } else { 2 };
        let [place, operands @ ..] = args else {
            return self.update_arguments(name, args.len(), expected, span);
        };
        if args.len() != expected {
            return self.update_arguments(name, args.len(), expected, span);
        }
        let place = self.place(place);
        self.update(name, place, operands, span)
    }

    /// Checks an update of a place. The caller has checked the number of operands.
    pub(super) fn update(
        &mut self,
        name: &ast::Name,
        place: Option<Place>,
        operands: &[ast::Expr],
        span: Span,
    ) -> Option<Expr> {
        let mut checked = Vec::new();
        for operand in operands {
            let operand = self.expr(operand);
            checked.push(match (&place, operand) {
                (Some(place), Some(operand)) if name.text.starts_with("fetch_") => {
                    self.coerce(operand, place.ty.ty)
                }
                (Some(place), Some(operand)) => self.fit(operand, place.ty),
                (None, operand) => operand,
                (Some(_), None) => None,
            });
        }
        let place = place?;
        let ty = place.ty.ty;
        if place.ty.outside == Outside::Block {
            self.diagnostics
                .error(codes::BLOCK, place.span, "an update cannot wait for a range that blocks")
                .label("a store to this location may block")
                .hint("write `atomic { x = x + 1; }`, which waits until the value fits");
            return None;
        }
        let mut operands =
            checked.into_iter().collect::<Option<Vec<Expr>>>()?.into_iter().map(Box::new);
        let (first, second) = (operands.next()?, operands.next());
        let (update, allowed) = match (name.text.as_str(), second) {
            ("cas" | "compare_exchange", Some(new)) => {
                (Update::Cas(first, new, CasResult::Success), true)
            }
            ("cmpxchg", Some(new)) => (Update::Cas(first, new, CasResult::Old), true),
            ("swap", None) => (Update::Swap(first), true),
            ("fetch_add", None) => (Update::Add(first), ty.is_number()),
            ("fetch_sub", None) => (Update::Sub(first), ty.is_number()),
            (other, _) => {
                let op = match other {
                    "fetch_and" => BinOp::BitAnd,
                    "fetch_or" => BinOp::BitOr,
                    _ => BinOp::BitXor,
                };
                // The result of a bitwise operator may leave a range that is not a power of two.
                let stays = place.ty.wraps().is_none_or(|(lo, hi)| {
                    matches!(ty, Ty::Fixed(_)) || (lo == 0 && hi & hi.wrapping_add(1) == 0)
                });
                (Update::Bits(op, first), stays && (ty == Ty::Bool || ty.is_number()))
            }
        };
        if !allowed {
            let message = format!("`{}` cannot update {}", name.text, self.globals.show(ty));
            self.diagnostics
                .error(codes::TYPE_MISMATCH, place.span, message)
                .label(format!("this is {}", self.globals.show(ty)))
                .hint("use `cas` or `swap`, which work on all types");
            return None;
        }
        let yields = match update {
            Update::Cas(_, _, CasResult::Success) => Ty::Bool,
            Update::Cas(_, _, CasResult::Old)
            | Update::Swap(_)
            | Update::Add(_)
            | Update::Sub(_)
            | Update::Bits(..) => ty,
        };
        Some(Expr { kind: ExprKind::Update(place, update), ty: yields, span, pure: false })
    }

    fn update_arguments(
        &mut self,
        name: &ast::Name,
        found: usize,
        expected: usize,
        span: Span,
    ) -> Option<Expr> {
        let shape = match name.text.as_str() {
            "cas" | "cmpxchg" => format!("{}(x, old, new)", name.text),
            "swap" => "swap(x, new)".into(),
            other => format!("{other}(x, value)"),
        };
        let message = format!("`{}` takes {}, not {found}", name.text, arguments(expected));
        self.diagnostics
            .error(codes::ARGUMENTS, span, message)
            .label(arguments(found))
            .hint(format!("write `{shape}`"));
        None
    }

    pub(super) fn choose_list(&mut self, list: &[ast::Expr], span: Span) -> Option<Expr> {
        if !self.require_body(span, "`choose`") {
            return None;
        }
        if list.len() > limits::CHOICES {
            let limit = limits::CHOICES as u64;
            too_many(self.diagnostics, span, "choices", list.len() as u64, limit);
            return None;
        }
        let mut checked = Vec::new();
        let mut ty = None;
        for value in list {
            // Numbers are converted when their common type is known.
            let expected = ty.filter(|ty: &Ty| !ty.is_number());
            let value = self.thread_constant(value, expected)?;
            let joined = ty.map_or(Some(value.ty), |ty: Ty| ty.join(value.ty));
            let Some(joined) = joined else {
                self.mismatch(&value, ty?);
                return None;
            };
            ty = Some(joined);
            checked.push(value);
        }
        let converted = checked.into_iter().map(|value| self.coerce(value, ty?));
        let checked = converted.collect::<Option<Vec<Expr>>>()?;
        Some(Expr { kind: ExprKind::ChooseList(checked), ty: ty?, span, pure: false })
    }

    /// Checks an expression that is constant in each thread.
    pub(super) fn thread_constant(
        &mut self,
        expr: &ast::Expr,
        expected: Option<Ty>,
    ) -> Option<Expr> {
        let checked = match expected {
            Some(ty) => self.expr_of(expr, ty)?,
            None => self.expr(expr)?,
        };
        if !is_thread_constant(&checked) {
            self.diagnostics
                .error(codes::NOT_CONSTANT, expr.span, "the values of `choose` must be constants")
                .label("not a constant")
                .hint("use numbers, constants and the parameter of the thread");
            return None;
        }
        Some(checked)
    }

    pub(super) fn new_record(&mut self, name: &ast::Name, span: Span) -> Option<Expr> {
        if !self.require_body(span, "`new`") {
            return None;
        }
        match self.globals.get(&name.text) {
            Some((Global::Record(pool), _)) => {
                Some(Expr { kind: ExprKind::New(pool), ty: Ty::Ref(pool), span, pure: false })
            }
            Some((Global::Invalid, _)) => None,
            Some((Global::ValueRecord(_), declared)) => {
                report_no_pool(name, declared, self.diagnostics);
                None
            }
            Some(_) | None => {
                let records = self.globals.names(|g| matches!(g, Global::Record(_)));
                let near = did_you_mean(&name.text, records, self.diagnostics.len());
                let message = format!("there is no record `{}`", name.text);
                let declare = || format!("declare it: `record {} {{ ... }}`", name.text);
                self.diagnostics
                    .error(codes::UNKNOWN_TYPE, name.span, message)
                    .label("unknown record")
                    .hint(near.unwrap_or_else(declare));
                None
            }
        }
    }
}

/// Returns whether an expression contains only constants and the parameter of the template.
fn is_thread_constant(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Param => true,
        ExprKind::Unary(_, a) | ExprKind::Wrap(a, _) | ExprKind::ToInt(a) => is_thread_constant(a),
        ExprKind::Binary(_, a, b) => is_thread_constant(a) && is_thread_constant(b),
        ExprKind::Select(c, a, b) => {
            is_thread_constant(c) && is_thread_constant(a) && is_thread_constant(b)
        }
        ExprKind::Local(_)
        | ExprKind::LocalElement(_)
        | ExprKind::Load(_)
        | ExprKind::Update(..)
        | ExprKind::ChooseRange(..)
        | ExprKind::ChooseList(_)
        | ExprKind::New(_)
        | ExprKind::Call(..)
        | ExprKind::ThreadRegister(..)
        | ExprKind::At(..)
        | ExprKind::ClientResult(..)
        | ExprKind::WholeArray(_) => false,
    }
}
