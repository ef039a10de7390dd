//! Constant expressions: evaluation with the wraparound and the conversions of C.
//!
//! Evaluation works on the typed tree, where every conversion is explicit. Signed overflow wraps.

use fencepost_ir::Span;

use super::Checker;
use crate::c::ast;
use crate::c::codes;
use crate::c::typed::{
    BinaryOp, Expr, ExprKind, IntType, Place, PlaceKind, Type, TypeKind, VariableId,
};

/// The reason why an expression has no constant value, with its position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Failure {
    NotConstant(Span),
    DivisionByZero(Span),
    Shift(Span),
}

/// Returns the value that an integer type stores for a value.
pub(super) fn wrap(value: i64, ty: IntType) -> i64 {
    if ty.is_bool {
        return i64::from(value != 0);
    }
    match (ty.bits, ty.signed) {
        (8, true) => i64::from(value as i8),
        (8, false) => i64::from(value as u8),
        (16, true) => i64::from(value as i16),
        (16, false) => i64::from(value as u16),
        (32, true) => i64::from(value as i32),
        (32, false) => i64::from(value as u32),
        _ => value,
    }
}

/// Computes an operator on two values of a type. The result is not yet wrapped.
fn binary(op: BinaryOp, ty: IntType, a: i64, b: i64, span: Span) -> Result<i64, Failure> {
    let (ua, ub) = (a as u64, b as u64);
    let order = if ty.signed { a.cmp(&b) } else { ua.cmp(&ub) };
    Ok(match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div | BinaryOp::Rem if b == 0 => return Err(Failure::DivisionByZero(span)),
        BinaryOp::Div if ty.signed => a.wrapping_div(b),
        BinaryOp::Div => (ua / ub) as i64,
        BinaryOp::Rem if ty.signed => a.wrapping_rem(b),
        BinaryOp::Rem => (ua % ub) as i64,
        BinaryOp::Shl | BinaryOp::Shr if !(0..i64::from(ty.bits)).contains(&b) => {
            return Err(Failure::Shift(span));
        }
        BinaryOp::Shl => a << b,
        BinaryOp::Shr if ty.signed => a >> b,
        BinaryOp::Shr => (ua >> b) as i64,
        BinaryOp::Lt => i64::from(order.is_lt()),
        BinaryOp::Le => i64::from(order.is_le()),
        BinaryOp::Gt => i64::from(order.is_gt()),
        BinaryOp::Ge => i64::from(order.is_ge()),
        BinaryOp::Eq => i64::from(a == b),
        BinaryOp::Ne => i64::from(a != b),
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::BitOr => a | b,
    })
}

/// Returns the integer type in which values of a type are computed. Pointers are 64-bit numbers.
fn computed(ty: &Type) -> Option<IntType> {
    match &ty.kind {
        TypeKind::Int(int) => Some(*int),
        TypeKind::Pointer(_) => Some(IntType { bits: 64, signed: false, is_bool: false }),
        TypeKind::Void
        | TypeKind::Array(..)
        | TypeKind::Record(_)
        | TypeKind::Function(_)
        | TypeKind::Unsupported { .. } => None,
    }
}

impl Checker<'_> {
    /// Evaluates an expression of an integer or pointer type.
    pub(super) fn evaluate(&self, expr: &Expr) -> Result<i64, Failure> {
        let not_constant = Failure::NotConstant(expr.span);
        let ty = computed(&expr.ty).ok_or(not_constant)?;
        let value = match &expr.kind {
            ExprKind::Const(value) => *value,
            ExprKind::Negate(operand) => self.evaluate(operand)?.wrapping_neg(),
            ExprKind::Complement(operand) => !self.evaluate(operand)?,
            ExprKind::Binary(op, left, right) => {
                let operands = computed(&left.ty).ok_or(not_constant)?;
                let (a, b) = (self.evaluate(left)?, self.evaluate(right)?);
                binary(*op, operands, a, b, expr.span)?
            }
            ExprKind::PointerAdd { pointer, index, size } => {
                let index = self.evaluate(index)?;
                self.evaluate(pointer)?.wrapping_add(index.wrapping_mul(*size as i64))
            }
            ExprKind::PointerDifference { left, right, size } => {
                let bytes = self.evaluate(left)?.wrapping_sub(self.evaluate(right)?);
                bytes.checked_div(*size as i64).ok_or(Failure::DivisionByZero(expr.span))?
            }
            ExprKind::Convert(operand) => self.evaluate(operand)?,
            ExprKind::And(left, right) => {
                i64::from(self.evaluate(left)? != 0 && self.evaluate(right)? != 0)
            }
            ExprKind::Or(left, right) => {
                i64::from(self.evaluate(left)? != 0 || self.evaluate(right)? != 0)
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                self.evaluate(if self.evaluate(condition)? != 0 { then } else { otherwise })?
            }
            ExprKind::AddressOf(place) => self.fixed_address(place)?,
            ExprKind::Function(_)
            | ExprKind::Load(..)
            | ExprKind::Comma(..)
            | ExprKind::Assign { .. }
            | ExprKind::Modify { .. }
            | ExprKind::Call { .. }
            | ExprKind::Intrinsic(_)
            | ExprKind::Statements(_) => return Err(not_constant),
        };
        Ok(wrap(value, ty))
    }

    /// Returns the address of a place at a constant address, as in `&((struct s *)0)->field`.
    fn fixed_address(&self, place: &Place) -> Result<i64, Failure> {
        let not_constant = Failure::NotConstant(place.span);
        match &place.kind {
            PlaceKind::Deref(pointer) => self.evaluate(pointer),
            PlaceKind::Field(base, index) => {
                let TypeKind::Record(id) = base.ty.kind else { return Err(not_constant) };
                let (_, offset) = self.field_offset(id, *index).ok_or(not_constant)?;
                Ok(self.fixed_address(base)?.wrapping_add(offset as i64))
            }
            PlaceKind::Index(base, index) => {
                let size = self.size_of(&place.ty).ok_or(not_constant)? as i64;
                let index = self.evaluate(index)?;
                Ok(self.fixed_address(base)?.wrapping_add(index.wrapping_mul(size)))
            }
            PlaceKind::Variable(_) | PlaceKind::Compound { .. } | PlaceKind::Value(_) => {
                Err(not_constant)
            }
        }
    }

    /// Returns whether an expression is the address of a global or function, with an offset.
    fn is_address_constant(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Function(_) => true,
            ExprKind::AddressOf(place) => self.is_static_place(place),
            ExprKind::PointerAdd { pointer, index, .. } => {
                self.is_address_constant(pointer) && self.evaluate(index).is_ok()
            }
            ExprKind::Convert(operand) => {
                computed(&expr.ty).is_some_and(|ty| ty.bits == 64)
                    && self.is_address_constant(operand)
            }
            ExprKind::Negate(_)
            | ExprKind::Complement(_)
            | ExprKind::Binary(..)
            | ExprKind::PointerDifference { .. }
            | ExprKind::And(..)
            | ExprKind::Or(..)
            | ExprKind::Conditional(..)
            | ExprKind::Load(..)
            | ExprKind::Comma(..)
            | ExprKind::Assign { .. }
            | ExprKind::Modify { .. }
            | ExprKind::Call { .. }
            | ExprKind::Intrinsic(_)
            | ExprKind::Statements(_) => false,
        }
    }

    fn is_static_place(&self, place: &Place) -> bool {
        match &place.kind {
            PlaceKind::Variable(VariableId::Global(index)) => {
                !self.globals[*index as usize].variable.thread_local
            }
            PlaceKind::Variable(VariableId::Local(_))
            | PlaceKind::Compound { .. }
            | PlaceKind::Value(_) => false,
            PlaceKind::Deref(pointer) => self.is_address_constant(pointer),
            PlaceKind::Field(base, _) => self.is_static_place(base),
            PlaceKind::Index(base, index) => {
                self.is_static_place(base) && self.evaluate(index).is_ok()
            }
        }
    }

    /// Reduces the initialiser of a global to a constant or an address, or reports an error.
    pub(super) fn static_value(&mut self, expr: Expr) -> Option<Expr> {
        if let ExprKind::Conditional(condition, then, otherwise) = &expr.kind
            && let Ok(condition) = self.evaluate(condition)
        {
            let chosen = if condition != 0 { then } else { otherwise };
            return self.static_value((**chosen).clone());
        }
        match self.evaluate(&expr) {
            Ok(value) => Some(Expr { kind: ExprKind::Const(value), ..expr }),
            Err(_) if self.is_address_constant(&expr) => Some(expr),
            Err(failure) => {
                self.report_failure(failure);
                None
            }
        }
    }

    /// Evaluates an integer constant expression, or reports an error.
    pub(super) fn constant(&mut self, expr: &ast::Expr) -> Option<i64> {
        let value = self.value(expr)?;
        if !matches!(value.ty.kind, TypeKind::Int(_)) {
            let message = format!(
                "an integer constant is required, but this has type `{}`",
                self.type_text(&value.ty)
            );
            self.error(codes::TYPE_MISMATCH, expr.span, message);
            return None;
        }
        match self.evaluate(&value) {
            Ok(value) => Some(value),
            Err(failure) => {
                self.report_failure(failure);
                None
            }
        }
    }

    /// Reports an operation of a constant expression that has no value. Returns whether there is
    /// one.
    pub(super) fn reports_bad_constant(&mut self, expr: &Expr) -> bool {
        match self.evaluate(expr) {
            Err(failure @ (Failure::DivisionByZero(_) | Failure::Shift(_))) => {
                self.report_failure(failure);
                true
            }
            Err(Failure::NotConstant(_)) | Ok(_) => false,
        }
    }

    fn report_failure(&mut self, failure: Failure) {
        match failure {
            Failure::NotConstant(span) => self
                .error(codes::NOT_CONSTANT, span, "a constant is required here")
                .label("its value is only known when the program runs")
                .hint("use a number, a constant of an `enum`, or a macro"),
            Failure::DivisionByZero(span) => {
                self.error(codes::BAD_CONSTANT, span, "this constant divides by zero")
            }
            Failure::Shift(span) => self
                .error(codes::BAD_CONSTANT, span, "this constant shifts by too many bits")
                .hint("the number of bits is at least 0 and less than the width of the type"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INT: IntType = IntType { bits: 32, signed: true, is_bool: false };
    const UNSIGNED_LONG: IntType = IntType { bits: 64, signed: false, is_bool: false };

    #[test]
    fn values_wrap_as_in_c() {
        let of = |bits, signed| IntType { bits, signed, is_bool: false };
        assert_eq!(wrap(200, of(8, true)), -56);
        assert_eq!(wrap(-1, of(16, false)), 65535);
        assert_eq!(wrap(1 << 32, of(32, true)), 0);
        assert_eq!(wrap(-1, UNSIGNED_LONG), -1);
        assert_eq!(wrap(256, IntType { bits: 8, signed: false, is_bool: true }), 1);
    }

    #[test]
    fn operators_respect_the_sign() {
        let run = |op, ty, a, b| binary(op, ty, a, b, Span::default());
        assert_eq!(run(BinaryOp::Div, INT, -7, 2), Ok(-3));
        assert_eq!(run(BinaryOp::Rem, INT, -7, 2), Ok(-1));
        assert_eq!(run(BinaryOp::Div, UNSIGNED_LONG, -1, 2), Ok(i64::MAX));
        assert_eq!(run(BinaryOp::Lt, UNSIGNED_LONG, -1, 2), Ok(0));
        assert_eq!(run(BinaryOp::Shr, INT, -8, 1), Ok(-4));
        assert_eq!(run(BinaryOp::Div, INT, i64::MIN, -1), Ok(i64::MIN));
        assert_eq!(run(BinaryOp::Rem, INT, 1, 0), Err(Failure::DivisionByZero(Span::default())));
        assert_eq!(run(BinaryOp::Shl, INT, 1, 32), Err(Failure::Shift(Span::default())));
    }
}
