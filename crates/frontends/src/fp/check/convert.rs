//! Conversions between number types. A number becomes a fixed-width integer modulo its size, and a
//! value stored to a range that wraps is taken modulo the size of the range. A wide integer becomes
//! an `int` if it fits, otherwise the conversion is a fault. A constant must be a value of its type.

use fencepost_ir::{BinOp, Diagnostics, Span, Value, wrap_into};

use super::Checker;
use crate::fp::codes;
use crate::fp::tree::{Expr, ExprKind};
use crate::fp::types::{Ty, VarTy};
use crate::fp::width::Width;

impl Checker<'_> {
    /// Checks that a value has the expected type, and converts numbers.
    pub(super) fn coerce(&mut self, expr: Expr, expected: Ty) -> Option<Expr> {
        if !expr.ty.fits(expected) {
            self.mismatch(&expr, expected);
            return None;
        }
        self.convert(expr, expected)
    }

    /// Converts a number to another number type. Other values stay as they are.
    fn convert(&mut self, expr: Expr, to: Ty) -> Option<Expr> {
        if expr.ty == to || !expr.ty.is_number() {
            return Some(expr);
        }
        if let ExprKind::Const(value) = expr.kind {
            let number = expr.ty.number(value);
            return check_constant(number, to, expr.span, self.diagnostics)
                .then_some(Expr { ty: to, ..expr });
        }
        if let (Ty::Int, ExprKind::ChooseList(list)) = (to, &expr.kind) {
            let list = list.iter().map(|value| self.convert(value.clone(), to));
            let kind = ExprKind::ChooseList(list.collect::<Option<Vec<Expr>>>()?);
            return Some(Expr { kind, ty: to, ..expr });
        }
        Some(match (to, expr.ty) {
            (Ty::Fixed(width), _) => wrapped(expr, width.range(), to),
            (Ty::Int, Ty::Fixed(width)) if !width.fits_int() => {
                let (span, pure) = (expr.span, expr.pure);
                Expr { kind: ExprKind::ToInt(Box::new(expr)), ty: to, span, pure }
            }
            (Ty::Bool | Ty::Int | Ty::Enum(_) | Ty::Ref(_) | Ty::Null, _) => expr,
        })
    }

    /// Converts the constant if only one of two numbers is a constant of a fixed-width type: a large
    /// literal has the type of the other operand.
    pub(super) fn adapt_literal(&mut self, left: Expr, right: Expr) -> Option<(Expr, Expr)> {
        let is_constant = |expr: &Expr| matches!(expr.kind, ExprKind::Const(_));
        let is_literal = |expr: &Expr| is_constant(expr) && matches!(expr.ty, Ty::Fixed(_));
        match (is_literal(&left), is_literal(&right)) {
            // The other constant becomes a constant of the type of the literal.
            (true, false) | (false, true) if is_constant(&left) && is_constant(&right) => {
                Some((left, right))
            }
            (true, false) => Some((self.convert(left, right.ty)?, right)),
            (false, true) => {
                let right = self.convert(right, left.ty)?;
                Some((left, right))
            }
            // Two literals of 64 bits, one of them from 2^63.
            (true, true) if left.ty != right.ty => {
                let ty = Ty::Fixed(Width::U64);
                Some((self.convert(left, ty)?, self.convert(right, ty)?))
            }
            (true, true) | (false, false) => Some((left, right)),
        }
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
            | ExprKind::ToInt(_)
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

/// Checks that a number is a value of a type. Reports an error and returns `false` if it is not.
pub(in crate::fp) fn check_constant(
    number: i128,
    ty: Ty,
    span: Span,
    diagnostics: &mut Diagnostics,
) -> bool {
    match ty {
        Ty::Fixed(width) if !width.has(number) => {
            let (lo, hi) = width.numbers();
            let message = format!("{number} is not a value of `{}`", width.name());
            diagnostics
                .error(codes::BAD_CONSTANT, span, message)
                .label(format!("the values are {lo} to {hi}"))
                .hint("write the wrapped value, or use a wider type");
            false
        }
        Ty::Int if Ty::of_literal(number) != Some(Ty::Int) => {
            diagnostics
                .error(codes::BAD_NUMBER, span, "this number does not fit in 32 bits")
                .label("too large for `int`")
                .hint("use a number from -2147483648 to 2147483647, or a type such as `u64`");
            false
        }
        Ty::Fixed(_) | Ty::Int | Ty::Bool | Ty::Enum(_) | Ty::Ref(_) | Ty::Null => true,
    }
}

/// Returns the value modulo the size of a range.
fn wrapped(expr: Expr, range: (Value, Value), ty: Ty) -> Expr {
    let (span, pure) = (expr.span, expr.pure);
    Expr { kind: ExprKind::Wrap(Box::new(expr), range), ty, span, pure }
}
