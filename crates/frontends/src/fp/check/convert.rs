//! Conversions between number types: an `int` becomes a fixed-width integer modulo its size, and a
//! value stored to a range that wraps is taken modulo the size of the range.

use fencepost_ir::{BinOp, Value, wrap_into};

use super::Checker;
use crate::fp::codes;
use crate::fp::tree::{Expr, ExprKind};
use crate::fp::types::{Ty, VarTy};

impl Checker<'_> {
    /// Checks that a value has the expected type, and converts numbers.
    pub(super) fn coerce(&mut self, expr: Expr, expected: Ty) -> Option<Expr> {
        if !expr.ty.fits(expected) {
            self.mismatch(&expr, expected);
            return None;
        }
        self.convert(expr, expected)
    }

    /// Converts a number to a fixed-width integer. Other values stay as they are.
    fn convert(&mut self, expr: Expr, to: Ty) -> Option<Expr> {
        let Ty::Fixed(width) = to else {
            return Some(expr);
        };
        if expr.ty == to {
            return Some(expr);
        }
        let (lo, hi) = width.range();
        if let ExprKind::Const(value) = expr.kind {
            if value < lo || hi < value {
                let message = format!("{value} is not a value of `{}`", width.name());
                self.diagnostics
                    .error(codes::BAD_CONSTANT, expr.span, message)
                    .label(format!("the values are {lo} to {hi}"))
                    .hint("write the wrapped value, or use `int`");
                return None;
            }
            return Some(Expr { ty: to, ..expr });
        }
        Some(wrapped(expr, (lo, hi), to))
    }

    /// Checks that a value can be stored to a variable, and converts it.
    pub(super) fn fit(&mut self, expr: Expr, to: VarTy) -> Option<Expr> {
        let expr = self.coerce(expr, to.ty)?;
        let Some((lo, hi)) = to.wraps().filter(|_| to.ty == Ty::Int) else {
            return Some(expr);
        };
        if let ExprKind::Const(value) = expr.kind {
            return Some(self.constant(wrap_into(value.into(), (lo, hi)), Ty::Int, expr.span));
        }
        match self.range_of(&expr) {
            Some((first, last)) if lo <= first && last <= hi => Some(expr),
            Some(_) | None => Some(wrapped(expr, (lo, hi), Ty::Int)),
        }
    }

    /// Returns the declared range of a value that is a variable.
    fn range_of(&self, expr: &Expr) -> Option<(Value, Value)> {
        match &expr.kind {
            ExprKind::Load(place) => place.ty.range,
            ExprKind::Local(id) => self.registers[id.index()].local.ty.range,
            ExprKind::LocalElement(element) => element.ty.range,
            ExprKind::Wrap(_, range) => Some(*range),
            ExprKind::Const(_)
            | ExprKind::Param
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Select(..)
            | ExprKind::Update(..)
            | ExprKind::ChooseRange(..)
            | ExprKind::ChooseList(_)
            | ExprKind::New(_)
            | ExprKind::Call(..)
            | ExprKind::ThreadRegister(..)
            | ExprKind::At(..)
            | ExprKind::ClientResult(..)
            | ExprKind::WholeArray(_) => None,
        }
    }

    /// Converts the operands of an operator if one of them is a fixed-width integer and the other an
    /// `int`. A comparison with a variable compares the values as they are.
    pub(super) fn balance(&mut self, op: BinOp, left: Expr, right: Expr) -> Option<(Expr, Expr)> {
        let converts = |other: &Expr| match op {
            BinOp::Shl | BinOp::Shr => false,
            BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => {
                matches!(other.kind, ExprKind::Const(_))
            }
            BinOp::Add
            | BinOp::Sub
            | BinOp::Mul
            | BinOp::Div
            | BinOp::Rem
            | BinOp::BitAnd
            | BinOp::BitOr
            | BinOp::BitXor
            | BinOp::And
            | BinOp::Or
            | BinOp::Wide(_) => true,
        };
        match (left.ty, right.ty) {
            (Ty::Fixed(_), Ty::Int) if converts(&right) => {
                let right = self.convert(right, left.ty)?;
                Some((left, right))
            }
            (Ty::Int, Ty::Fixed(_)) if converts(&left) => {
                let left = self.convert(left, right.ty)?;
                Some((left, right))
            }
            _ => Some((left, right)),
        }
    }
}

/// Returns the value modulo the size of a range.
fn wrapped(expr: Expr, range: (Value, Value), ty: Ty) -> Expr {
    let (span, pure) = (expr.span, expr.pure);
    Expr { kind: ExprKind::Wrap(Box::new(expr), range), ty, span, pure }
}
