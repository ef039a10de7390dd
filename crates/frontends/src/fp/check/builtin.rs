//! Updates, `choose` and `new`.

use fencepost_ir::{BinOp, Span};

use super::Checker;
use super::expr::arguments;
use crate::fp::ast;
use crate::fp::codes;
use crate::fp::limits;
use crate::fp::names::{Global, too_many};
use crate::fp::suggest::hint;
use crate::fp::tree::{Expr, ExprKind, Update};
use crate::fp::types::Ty;

impl Checker<'_> {
    /// `cas(x, old, new)` and its friends.
    pub(super) fn update(
        &mut self,
        name: &ast::Name,
        args: &[ast::Expr],
        span: Span,
    ) -> Option<Expr> {
        let wanted = if name.text == "cas" { 3 } else { 2 };
        let [place, operands @ ..] = args else {
            return self.update_arguments(name, args.len(), wanted, span);
        };
        if args.len() != wanted {
            return self.update_arguments(name, args.len(), wanted, span);
        }
        let place = self.place(place);
        let ty = place.as_ref().map(|p| p.ty.ty);
        let mut checked = Vec::new();
        for operand in operands {
            checked.push(match ty {
                Some(ty) => self.expr_of(operand, ty),
                None => self.expr(operand),
            });
        }
        let (place, ty) = (place?, ty?);
        let mut operands =
            checked.into_iter().collect::<Option<Vec<Expr>>>()?.into_iter().map(Box::new);
        let (first, second) = (operands.next()?, operands.next());
        let (update, allowed) = match (name.text.as_str(), second) {
            ("cas", Some(new)) => (Update::Cas(first, new), true),
            ("swap", None) => (Update::Swap(first), true),
            ("fetch_add", None) => (Update::Add(first), ty == Ty::Int),
            ("fetch_sub", None) => (Update::Sub(first), ty == Ty::Int),
            (other, _) => {
                let op = match other {
                    "fetch_and" => BinOp::BitAnd,
                    "fetch_or" => BinOp::BitOr,
                    _ => BinOp::BitXor,
                };
                (Update::Bits(op, first), matches!(ty, Ty::Int | Ty::Bool))
            }
        };
        if !allowed {
            let message = format!("`{}` does not work on {}", name.text, self.globals.show(ty));
            self.diagnostics
                .error(codes::TYPE_MISMATCH, place.span, message)
                .label(format!("this is {}", self.globals.show(ty)));
            return None;
        }
        let yields = match update {
            Update::Cas(..) => Ty::Bool,
            Update::Swap(_) | Update::Add(_) | Update::Sub(_) | Update::Bits(..) => ty,
        };
        Some(Expr { kind: ExprKind::Update(place, update), ty: yields, span, pure: false })
    }

    fn update_arguments(
        &mut self,
        name: &ast::Name,
        found: usize,
        wanted: usize,
        span: Span,
    ) -> Option<Expr> {
        let shape = match name.text.as_str() {
            "cas" => "cas(x, old, new)",
            "swap" => "swap(x, new)",
            _ => "fetch_add(x, by)",
        };
        let message = format!("`{}` takes {}, not {found}", name.text, arguments(wanted));
        self.diagnostics
            .error(codes::ARGUMENTS, span, message)
            .label(arguments(found))
            .hint(format!("it is written like `{shape}`"));
        None
    }

    pub(super) fn choose_list(&mut self, list: &[ast::Expr], span: Span) -> Option<Expr> {
        if !self.admits(span, "`choose`") {
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
            let value = self.fixed(value, ty)?;
            ty = Some(ty.and_then(|ty: Ty| ty.join(value.ty)).unwrap_or(value.ty));
            checked.push(value);
        }
        Some(Expr { kind: ExprKind::ChooseList(checked), ty: ty?, span, pure: false })
    }

    /// An expression that is constant in each thread.
    pub(super) fn fixed(&mut self, expr: &ast::Expr, wanted: Option<Ty>) -> Option<Expr> {
        let checked = match wanted {
            Some(ty) => self.expr_of(expr, ty)?,
            None => self.expr(expr)?,
        };
        if !is_fixed(&checked) {
            self.diagnostics
                .error(codes::NOT_CONSTANT, expr.span, "`choose` is between constants")
                .label("not a constant");
            return None;
        }
        Some(checked)
    }

    pub(super) fn new_record(&mut self, name: &ast::Name, span: Span) -> Option<Expr> {
        if !self.admits(span, "`new`") {
            return None;
        }
        match self.globals.get(&name.text) {
            Some((Global::Record(pool), _)) => {
                Some(Expr { kind: ExprKind::New(pool), ty: Ty::Ref(pool), span, pure: false })
            }
            Some((Global::Broken, _)) => None,
            Some(_) | None => {
                let records = self.globals.names(|g| matches!(g, Global::Record(_)));
                let near = hint(&name.text, records, self.diagnostics.len());
                let message = format!("there is no record `{}`", name.text);
                self.diagnostics
                    .error(codes::UNKNOWN_TYPE, name.span, message)
                    .label("unknown record")
                    .hint = near;
                None
            }
        }
    }
}

/// Whether an expression is made of constants and the template's parameter.
fn is_fixed(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Param => true,
        ExprKind::Unary(_, a) => is_fixed(a),
        ExprKind::Binary(_, a, b) => is_fixed(a) && is_fixed(b),
        ExprKind::Select(c, a, b) => is_fixed(c) && is_fixed(a) && is_fixed(b),
        ExprKind::Local(_)
        | ExprKind::Load(_)
        | ExprKind::Update(..)
        | ExprKind::ChooseRange(..)
        | ExprKind::ChooseList(_)
        | ExprKind::New(_)
        | ExprKind::Call(..)
        | ExprKind::ThreadRegister(..)
        | ExprKind::ClientResult(..)
        | ExprKind::WholeArray(_) => false,
    }
}
