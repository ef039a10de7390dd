//! The arithmetic of C on the operators of the program representation.
//!
//! A value of a signed type is the number. A value of an unsigned type below 64 bits is the number,
//! too; one of 64 bits is its bit pattern. `int` uses the exact operators of 32 bits and `long`
//! those of 64 bits, so overflow is a fault. Unsigned results are reduced with a mask. A shift by a
//! wrong amount is a fault. A signed left shift drops the upper bits, as GCC documents.
//!
//! Direction: exact. Conversions that cannot change the value are left out.

use fencepost_ir::{BinOp, Expr, Reg, UnOp, Value, WideOp};

use super::layout::limits;
use crate::c::typed::{BinaryOp, IntType};

/// A value of a thread: an expression over its registers.
pub(super) type Val = Expr<Reg>;

/// Builds a binary expression and folds it.
pub(super) fn binary(op: BinOp, a: Val, b: Val) -> Val {
    Expr::Binary(op, Box::new(a), Box::new(b)).fold_top()
}

fn wide(op: WideOp, a: Val, b: Val) -> Val {
    binary(BinOp::Wide(op), a, b)
}

/// Folding of the outermost operator: the operands are folded already.
trait FoldTop {
    fn fold_top(self) -> Self;
}

impl FoldTop for Val {
    fn fold_top(self) -> Self {
        let constant = match &self {
            Expr::Unary(op, a) => a.as_const().and_then(|a| op.apply(a).ok()),
            Expr::Binary(op, a, b) => match (op, a.as_const(), b.as_const()) {
                (BinOp::And, Some(0), _) => Some(0),
                (BinOp::Or, Some(a), _) if a != 0 => Some(1),
                (_, Some(a), Some(b)) => op.apply(a, b).ok(),
                (_, None, _) | (_, _, None) => None,
            },
            Expr::Const(_) | Expr::Var(_) | Expr::Select(..) => None,
        };
        constant.map_or(self, Expr::Const)
    }
}

/// Returns `condition ? a : b`.
pub(super) fn select(condition: Val, a: Val, b: Val) -> Val {
    match condition.as_const() {
        Some(0) => b,
        Some(_) => a,
        None if a == b && !can_fault(&condition) => a,
        None => Expr::Select(Box::new(condition), Box::new(a), Box::new(b)),
    }
}

/// Returns whether the evaluation of an expression may fault.
pub(super) fn can_fault(value: &Val) -> bool {
    match value {
        Expr::Const(_) | Expr::Var(_) => false,
        Expr::Unary(UnOp::Neg, _) => true,
        Expr::Unary(UnOp::Not | UnOp::BitNot, a) => can_fault(a),
        Expr::Binary(op, a, b) => {
            let total = match op {
                BinOp::Eq
                | BinOp::Ne
                | BinOp::Lt
                | BinOp::Le
                | BinOp::Gt
                | BinOp::Ge
                | BinOp::And
                | BinOp::Or
                | BinOp::BitAnd
                | BinOp::BitOr
                | BinOp::BitXor => true,
                BinOp::Wide(op) => match op {
                    WideOp::WrapAdd
                    | WideOp::WrapSub
                    | WideOp::WrapMul
                    | WideOp::UnsignedLt
                    | WideOp::UnsignedLe => true,
                    WideOp::Shr | WideOp::WrapShl | WideOp::UnsignedShr => {
                        b.as_const().is_some_and(|amount| (0..64).contains(&amount))
                    }
                    WideOp::Add
                    | WideOp::Sub
                    | WideOp::Mul
                    | WideOp::Div
                    | WideOp::Rem
                    | WideOp::Shl
                    | WideOp::WrapDiv
                    | WideOp::WrapRem
                    | WideOp::UnsignedDiv
                    | WideOp::UnsignedRem => false,
                },
                BinOp::Add
                | BinOp::Sub
                | BinOp::Mul
                | BinOp::Div
                | BinOp::Rem
                | BinOp::Shl
                | BinOp::Shr => false,
            };
            !total || can_fault(a) || can_fault(b)
        }
        Expr::Select(c, a, b) => can_fault(c) || can_fault(a) || can_fault(b),
    }
}

/// Returns bounds of a value. `of` gives the bounds of a register.
fn bounds(value: &Val, of: &dyn Fn(Reg) -> (Value, Value)) -> (Value, Value) {
    let all = (Value::MIN, Value::MAX);
    match value {
        Expr::Const(value) => (*value, *value),
        Expr::Var(reg) => of(*reg),
        Expr::Unary(UnOp::Not, _) => (0, 1),
        Expr::Unary(UnOp::Neg | UnOp::BitNot, _) => all,
        Expr::Binary(op, a, b) => match op {
            BinOp::Eq
            | BinOp::Ne
            | BinOp::Lt
            | BinOp::Le
            | BinOp::Gt
            | BinOp::Ge
            | BinOp::And
            | BinOp::Or
            | BinOp::Wide(WideOp::UnsignedLt | WideOp::UnsignedLe) => (0, 1),
            BinOp::BitAnd => {
                let of_operands = [bounds(a, of), bounds(b, of)];
                let masks = of_operands.iter().filter(|(lo, _)| *lo >= 0).map(|(_, hi)| *hi);
                masks.min().map_or(all, |hi| (0, hi))
            }
            BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Rem | BinOp::Shl => {
                (Value::from(i32::MIN), Value::from(i32::MAX))
            }
            BinOp::Shr => bounds(a, of),
            BinOp::BitOr | BinOp::BitXor | BinOp::Wide(_) => all,
        },
        Expr::Select(_, a, b) => {
            let (a, b) = (bounds(a, of), bounds(b, of));
            (a.0.min(b.0), a.1.max(b.1))
        }
    }
}

/// Converts a number to a type. `of` gives the bounds of a register.
pub(super) fn convert(value: Val, to: IntType, of: &dyn Fn(Reg) -> (Value, Value)) -> Val {
    let (lo, hi) = bounds(&value, of);
    if to.is_bool {
        let known = lo >= 0 && hi <= 1;
        return if known { value } else { binary(BinOp::Ne, value, Expr::Const(0)) };
    }
    let (smallest, largest) = limits(to);
    if smallest <= lo && hi <= largest {
        return value;
    }
    if to.signed {
        sign_extend(value, to.bits)
    } else {
        binary(BinOp::BitAnd, value, Expr::Const(largest))
    }
}

/// Returns the number that the lowest bits of a value are in a signed type.
fn sign_extend(value: Val, bits: u8) -> Val {
    let unused = Expr::Const(Value::from(64 - bits));
    wide(WideOp::Shr, wide(WideOp::WrapShl, value, unused.clone()), unused)
}

/// An expression that faults as an overflow.
fn overflow() -> Val {
    Expr::Binary(BinOp::Shl, Box::new(Expr::Const(1)), Box::new(Expr::Const(64)))
}

/// Reduces a value of an unsigned type.
fn reduce(value: Val, ty: IntType) -> Val {
    match ty.bits {
        64 => value,
        _ => binary(BinOp::BitAnd, value, Expr::Const(limits(ty).1)),
    }
}

/// Returns whether a type is unsigned after the integer promotions.
fn is_unsigned(ty: IntType) -> bool {
    !ty.signed && ty.bits >= 32
}

/// Returns `-a`.
pub(super) fn negate(a: Val, ty: IntType) -> Val {
    match (is_unsigned(ty), ty.bits) {
        (true, _) => reduce(wide(WideOp::WrapSub, Expr::Const(0), a), ty),
        (false, 64) => wide(WideOp::Sub, Expr::Const(0), a),
        (false, _) => Expr::Unary(UnOp::Neg, Box::new(a)).fold_top(),
    }
}

/// Returns `~a`.
pub(super) fn complement(a: Val, ty: IntType) -> Val {
    if is_unsigned(ty) && ty.bits < 64 {
        binary(BinOp::BitXor, a, Expr::Const(limits(ty).1))
    } else {
        Expr::Unary(UnOp::BitNot, Box::new(a)).fold_top()
    }
}

/// Returns the result of an operator on two operands of a type. The right operand of a shift may
/// have another type.
pub(super) fn apply(op: BinaryOp, ty: IntType, a: Val, b: Val) -> Val {
    let unsigned = is_unsigned(ty);
    let pick = |int: BinOp, long: WideOp, wrap: WideOp, a: Val, b: Val| match (unsigned, ty.bits) {
        (true, _) => reduce(wide(wrap, a, b), ty),
        (false, 64) => wide(long, a, b),
        (false, _) => binary(int, a, b),
    };
    match op {
        BinaryOp::Add => match (a.as_const(), b.as_const()) {
            (Some(0), _) => b,
            (_, Some(0)) => a,
            _ => pick(BinOp::Add, WideOp::Add, WideOp::WrapAdd, a, b),
        },
        BinaryOp::Sub if b.as_const() == Some(0) => a,
        BinaryOp::Sub => pick(BinOp::Sub, WideOp::Sub, WideOp::WrapSub, a, b),
        BinaryOp::Mul => match (a.as_const(), b.as_const()) {
            (Some(1), _) => b,
            (_, Some(1)) => a,
            _ => pick(BinOp::Mul, WideOp::Mul, WideOp::WrapMul, a, b),
        },
        BinaryOp::Div if unsigned && ty.bits < 64 => wide(WideOp::Div, a, b),
        BinaryOp::Div => pick(BinOp::Div, WideOp::Div, WideOp::UnsignedDiv, a, b),
        BinaryOp::Rem if unsigned && ty.bits < 64 => wide(WideOp::Rem, a, b),
        BinaryOp::Rem => pick(BinOp::Rem, WideOp::Rem, WideOp::UnsignedRem, a, b),
        BinaryOp::Shl | BinaryOp::Shr => shift(op == BinaryOp::Shl, ty, a, b),
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => compare(op, ty, a, b),
        BinaryOp::Eq => binary(BinOp::Eq, a, b),
        BinaryOp::Ne => binary(BinOp::Ne, a, b),
        BinaryOp::BitAnd => binary(BinOp::BitAnd, a, b),
        BinaryOp::BitXor => binary(BinOp::BitXor, a, b),
        BinaryOp::BitOr => binary(BinOp::BitOr, a, b),
    }
}

fn shift(left: bool, ty: IntType, a: Val, amount: Val) -> Val {
    let bits = Value::from(ty.bits.max(32));
    let in_range = match amount.as_const() {
        Some(amount) if (0..bits).contains(&amount) => None,
        Some(_) => return overflow(),
        None => Some(binary(
            BinOp::And,
            binary(BinOp::Ge, amount.clone(), Expr::Const(0)),
            binary(BinOp::Lt, amount.clone(), Expr::Const(bits)),
        )),
    };
    let result = match (left, is_unsigned(ty), ty.bits) {
        (true, true, _) => reduce(wide(WideOp::WrapShl, a, amount), ty),
        (true, false, 64) => wide(WideOp::WrapShl, a, amount),
        (true, false, _) => sign_extend(wide(WideOp::WrapShl, a, amount), 32),
        (false, true, _) => wide(WideOp::UnsignedShr, a, amount),
        (false, false, 64) => return wide(WideOp::Shr, a, amount),
        (false, false, _) => return binary(BinOp::Shr, a, amount),
    };
    match in_range {
        // The operators of 64 bits accept larger amounts.
        Some(in_range) if bits < 64 => select(in_range, result, overflow()),
        Some(_) | None => result,
    }
}

fn compare(op: BinaryOp, ty: IntType, a: Val, b: Val) -> Val {
    let (less, or_equal, swap) = match op {
        BinaryOp::Lt => (true, false, false),
        BinaryOp::Le => (true, true, false),
        BinaryOp::Gt => (false, false, true),
        _ => (false, true, true),
    };
    if ty.bits == 64 && !ty.signed {
        let op = if or_equal { WideOp::UnsignedLe } else { WideOp::UnsignedLt };
        return if swap { wide(op, b, a) } else { wide(op, a, b) };
    }
    let op = match (less, or_equal) {
        (true, false) => BinOp::Lt,
        (true, true) => BinOp::Le,
        (false, false) => BinOp::Gt,
        (false, true) => BinOp::Ge,
    };
    binary(op, a, b)
}

/// Returns `pointer + bytes`.
pub(super) fn offset(pointer: Val, bytes: Value) -> Val {
    if bytes == 0 {
        return pointer;
    }
    if let Expr::Binary(BinOp::Wide(WideOp::Add), base, old) = &pointer
        && let Some(sum) = old.as_const().and_then(|old| old.checked_add(bytes))
    {
        return offset((**base).clone(), sum);
    }
    wide(WideOp::Add, pointer, Expr::Const(bytes))
}

/// Returns `pointer + index * size`.
pub(super) fn element(pointer: Val, index: Val, size: Value) -> Val {
    match index.as_const().and_then(|index| index.checked_mul(size)) {
        Some(bytes) => offset(pointer, bytes),
        None => {
            let bytes = if size == 1 { index } else { wide(WideOp::Mul, index, Expr::Const(size)) };
            wide(WideOp::Add, pointer, bytes)
        }
    }
}

/// Returns `(left - right) / size` for two pointers.
pub(super) fn difference(left: Val, right: Val, size: Value) -> Val {
    let bytes = wide(WideOp::Sub, left, right);
    if size <= 1 { bytes } else { wide(WideOp::Div, bytes, Expr::Const(size)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const U32: IntType = IntType { bits: 32, signed: false, is_bool: false };
    const I8: IntType = IntType { bits: 8, signed: true, is_bool: false };
    const INT: IntType = IntType { bits: 32, signed: true, is_bool: false };
    const U64: IntType = IntType { bits: 64, signed: false, is_bool: false };

    fn value(op: BinaryOp, ty: IntType, a: Value, b: Value) -> Option<Value> {
        apply(op, ty, Expr::Const(a), Expr::Const(b)).as_const()
    }

    #[test]
    fn unsigned_arithmetic_wraps_and_signed_arithmetic_faults() {
        assert_eq!(value(BinaryOp::Add, U32, 0xffff_ffff, 1), Some(0));
        assert_eq!(value(BinaryOp::Sub, U32, 0, 1), Some(0xffff_ffff));
        assert_eq!(value(BinaryOp::Add, INT, 0x7fff_ffff, 1), None);
        assert_eq!(value(BinaryOp::Sub, U64, 0, 1), Some(-1));
        assert_eq!(value(BinaryOp::Lt, U64, 1, -1), Some(1));
        assert_eq!(value(BinaryOp::Shl, U32, 0x8000_0001, 1), Some(2));
        assert_eq!(value(BinaryOp::Shl, U32, 1, 32), None);
        assert_eq!(value(BinaryOp::Shl, INT, 1, 32), None);
        assert_eq!(value(BinaryOp::Shl, INT, 3, 31), Some(Value::from(i32::MIN)));
        assert_eq!(value(BinaryOp::Shl, INT, -1, 4), Some(-16));
        assert_eq!(value(BinaryOp::Shr, U64, -1, 63), Some(1));
    }

    #[test]
    fn conversions_extend_and_cut() {
        let all = |_: Reg| (Value::MIN, Value::MAX);
        let convert = |value, to| convert(Expr::Const(value), to, &all).as_const();
        assert_eq!(convert(200, I8), Some(-56));
        assert_eq!(convert(-1, U32), Some(0xffff_ffff));
        assert_eq!(convert(-1, U64), Some(-1));
        assert_eq!(convert(7, IntType { bits: 8, signed: false, is_bool: true }), Some(1));
    }
}
