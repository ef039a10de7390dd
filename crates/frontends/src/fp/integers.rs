//! Arithmetic of fixed-width integers and of ranges that wrap, in terms of the operators of the
//! program representation.
//!
//! Sums and products of two numbers of at most 16 bits have at most 32 bits. The exact operators
//! compute them, and one reduction after each operation gives the wrapped result. Such programs can
//! be translated. Wider types use the operators that wrap at 64 bits. Direction: exact.

use fencepost_ir::{BinOp, Expr, UnOp, Value, WideOp, wrap_into};

use super::types::Ty;
use super::width::Width;

fn binary<V>(op: BinOp, a: Expr<V>, b: Expr<V>) -> Expr<V> {
    Expr::Binary(op, Box::new(a), Box::new(b))
}

fn with<V>(op: BinOp, a: Expr<V>, b: Value) -> Expr<V> {
    binary(op, a, Expr::Const(b))
}

fn wide<V>(op: WideOp, a: Expr<V>, b: Expr<V>) -> Expr<V> {
    binary(BinOp::Wide(op), a, b)
}

/// Returns an expression for the number of a range that is congruent to `value`. The range is that
/// of a fixed-width integer, or it has at most 2^28 values and `value` is an `int`, so that nothing
/// overflows.
pub(super) fn wrap<V>(value: Expr<V>, (lo, hi): (Value, Value)) -> Expr<V> {
    if let Expr::Const(value) = value {
        return Expr::Const(wrap_into(value.into(), (lo, hi)));
    }
    if (lo, hi) == Width::I64.range() {
        return value;
    }
    let size = hi - lo + 1;
    let is_power = size & (size - 1) == 0;
    if is_power && lo == 0 {
        return with(BinOp::BitAnd, value, size - 1);
    }
    if is_power && lo == -(size / 2) {
        return sign_extended(value, size);
    }
    // (value % size) is between -size and size, and the summand makes it positive.
    let summand = (-lo).rem_euclid(size) + size;
    let positive = with(BinOp::Add, with(BinOp::Rem, value, size), summand);
    with(BinOp::Add, with(BinOp::Rem, positive, size), lo)
}

/// Returns the low bits of a value as a signed number. `size` is a power of two, at most 2^32.
fn sign_extended<V>(value: Expr<V>, size: Value) -> Expr<V> {
    let half = size / 2;
    with(BinOp::Sub, with(BinOp::BitXor, with(BinOp::BitAnd, value, size - 1), half), half)
}

/// Returns a number as an `int`. A number outside 32 bits is a fault.
pub(super) fn to_int<V>(ty: Ty, value: Expr<V>) -> Expr<V> {
    let Ty::Fixed(width) = ty else { return value };
    let value = match width {
        // The exact sum overflows for the patterns of the numbers from 2^63.
        Width::U64 => {
            let low = with(BinOp::Wide(WideOp::Add), value, Value::MIN);
            with(BinOp::Wide(WideOp::Sub), low, Value::MIN)
        }
        Width::U8 | Width::U16 | Width::U32 | Width::I8 | Width::I16 | Width::I32 | Width::I64 => {
            value
        }
    };
    if width.fits_int() { value } else { with(BinOp::Add, value, 0) }
}

/// Returns `a op b` with a result of type `ty` for operands of these types. The arithmetic of a
/// fixed-width integer wraps. A comparison compares the numbers.
pub(super) fn typed<V: Clone>(
    op: BinOp,
    ty: Ty,
    (left, right): (Ty, Ty),
    a: Expr<V>,
    b: Expr<V>,
) -> Expr<V> {
    let is_u64 = |ty: Ty| ty == Ty::Fixed(Width::U64);
    match ty {
        Ty::Fixed(width) => arithmetic(op, width, a, b),
        Ty::Bool => match (is_u64(left), is_u64(right)) {
            (true, true) => compare_u64(op, a, b),
            (true, false) => compare_with_signed(op, a, b),
            (false, true) => compare_with_signed(mirrored(op), b, a),
            (false, false) => binary(op, a, b),
        },
        Ty::Int | Ty::Enum(_) | Ty::Ref(_) | Ty::Null => binary(op, a, b),
    }
}

/// Returns the comparison with swapped operands.
fn mirrored(op: BinOp) -> BinOp {
    match op {
        BinOp::Lt => BinOp::Gt,
        BinOp::Le => BinOp::Ge,
        BinOp::Gt => BinOp::Lt,
        BinOp::Ge => BinOp::Le,
        BinOp::Eq
        | BinOp::Ne
        | BinOp::Add
        | BinOp::Sub
        | BinOp::Mul
        | BinOp::Div
        | BinOp::Rem
        | BinOp::And
        | BinOp::Or
        | BinOp::BitAnd
        | BinOp::BitOr
        | BinOp::BitXor
        | BinOp::Shl
        | BinOp::Shr
        | BinOp::Wide(_) => op,
    }
}

/// Returns a comparison of two numbers of type `u64`.
fn compare_u64<V>(op: BinOp, a: Expr<V>, b: Expr<V>) -> Expr<V> {
    match op {
        BinOp::Lt => wide(WideOp::UnsignedLt, a, b),
        BinOp::Le => wide(WideOp::UnsignedLe, a, b),
        BinOp::Gt => wide(WideOp::UnsignedLt, b, a),
        BinOp::Ge => wide(WideOp::UnsignedLe, b, a),
        BinOp::Eq
        | BinOp::Ne
        | BinOp::Add
        | BinOp::Sub
        | BinOp::Mul
        | BinOp::Div
        | BinOp::Rem
        | BinOp::And
        | BinOp::Or
        | BinOp::BitAnd
        | BinOp::BitOr
        | BinOp::BitXor
        | BinOp::Shl
        | BinOp::Shr
        | BinOp::Wide(_) => binary(op, a, b),
    }
}

/// Returns a comparison of a number of type `u64` with a signed number. A negative number is less
/// than every `u64`. Both operands are always evaluated, because they may fault.
fn compare_with_signed<V: Clone>(op: BinOp, a: Expr<V>, b: Expr<V>) -> Expr<V> {
    let inverse = match op {
        BinOp::Lt | BinOp::Le | BinOp::Eq => {
            let positive = with(BinOp::Ge, b.clone(), 0);
            return binary(BinOp::BitAnd, compare_u64(op, a, b), positive);
        }
        BinOp::Gt => BinOp::Le,
        BinOp::Ge => BinOp::Lt,
        BinOp::Ne => BinOp::Eq,
        BinOp::Add
        | BinOp::Sub
        | BinOp::Mul
        | BinOp::Div
        | BinOp::Rem
        | BinOp::And
        | BinOp::Or
        | BinOp::BitAnd
        | BinOp::BitOr
        | BinOp::BitXor
        | BinOp::Shl
        | BinOp::Shr
        | BinOp::Wide(_) => return binary(op, a, b),
    };
    Expr::Unary(UnOp::Not, Box::new(compare_with_signed(inverse, a, b)))
}

/// Returns `a op b` for operands of a fixed-width integer type, wrapped. The right operand of a
/// shift can be any number; a shift by a negative number or by the width or more is a fault.
fn arithmetic<V: Clone>(op: BinOp, width: Width, a: Expr<V>, b: Expr<V>) -> Expr<V> {
    let b = match op {
        BinOp::Shl | BinOp::Shr => shift_amount(width, b),
        BinOp::Add
        | BinOp::Sub
        | BinOp::Mul
        | BinOp::Div
        | BinOp::Rem
        | BinOp::Eq
        | BinOp::Ne
        | BinOp::Lt
        | BinOp::Le
        | BinOp::Gt
        | BinOp::Ge
        | BinOp::And
        | BinOp::Or
        | BinOp::BitAnd
        | BinOp::BitOr
        | BinOp::BitXor
        | BinOp::Wide(_) => b,
    };
    if !width.is_narrow() {
        return wide_arithmetic(op, width, a, b);
    }
    match op {
        BinOp::Add | BinOp::Sub | BinOp::Div | BinOp::Shl => wrap(binary(op, a, b), width.range()),
        BinOp::Mul => {
            // Two unsigned numbers of 16 bits may have a product of 32 bits, two signed ones not.
            // The low 16 bits are the same.
            let signed =
                |value| if width == Width::U16 { sign_extended(value, 1 << 16) } else { value };
            wrap(binary(op, signed(a), signed(b)), width.range())
        }
        BinOp::Shr | BinOp::Rem | BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => binary(op, a, b),
        BinOp::Eq
        | BinOp::Ne
        | BinOp::Lt
        | BinOp::Le
        | BinOp::Gt
        | BinOp::Ge
        | BinOp::And
        | BinOp::Or
        | BinOp::Wide(_) => binary(op, a, b),
    }
}

/// The same as [`arithmetic`] for types of 32 and 64 bits. The amounts of shifts are checked.
fn wide_arithmetic<V>(op: BinOp, width: Width, a: Expr<V>, b: Expr<V>) -> Expr<V> {
    let is_u64 = width == Width::U64;
    let op = match op {
        BinOp::Add => WideOp::WrapAdd,
        BinOp::Sub => WideOp::WrapSub,
        BinOp::Mul => WideOp::WrapMul,
        BinOp::Div if is_u64 => WideOp::UnsignedDiv,
        BinOp::Div => WideOp::WrapDiv,
        BinOp::Rem if is_u64 => WideOp::UnsignedRem,
        BinOp::Rem => WideOp::WrapRem,
        BinOp::Shl => WideOp::WrapShl,
        BinOp::Shr if is_u64 => WideOp::UnsignedShr,
        BinOp::Shr => WideOp::Shr,
        BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => return binary(op, a, b),
        BinOp::Eq
        | BinOp::Ne
        | BinOp::Lt
        | BinOp::Le
        | BinOp::Gt
        | BinOp::Ge
        | BinOp::And
        | BinOp::Or
        | BinOp::Wide(_) => return binary(op, a, b),
    };
    wrap(wide(op, a, b), width.range())
}

/// Returns the amount of a shift. An amount of at least the width becomes one that is a fault.
fn shift_amount<V: Clone>(width: Width, amount: Expr<V>) -> Expr<V> {
    let bits = width.bits();
    // The operators of 64 bits check the amount.
    if bits == 64 || matches!(amount, Expr::Const(n) if n < bits) {
        return amount;
    }
    let fits = with(BinOp::Lt, amount.clone(), bits);
    let fault = if width.is_narrow() { 32 } else { 64 };
    Expr::Select(Box::new(fits), Box::new(amount), Box::new(Expr::Const(fault)))
}

/// Returns `op a` for an operand of a fixed-width integer type, wrapped.
pub(super) fn unary_op<V>(op: UnOp, width: Width, a: Expr<V>) -> Expr<V> {
    match op {
        UnOp::Neg => wrap(negated(width, a), width.range()),
        UnOp::BitNot => wrap(Expr::Unary(op, Box::new(a)), width.range()),
        UnOp::Not => Expr::Unary(op, Box::new(a)),
    }
}

/// Returns a number that is congruent to `-a`.
pub(super) fn negated<V>(width: Width, a: Expr<V>) -> Expr<V> {
    if width.is_narrow() {
        Expr::Unary(UnOp::Neg, Box::new(a))
    } else {
        wide(WideOp::WrapSub, Expr::Const(0), a)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_ir::INT_LIMITS;

    fn eval(expr: &Expr<usize>, values: [Value; 2]) -> Option<Value> {
        expr.eval(&|at| values[*at]).ok()
    }

    /// Compares an operator with Rust's wrapping operator on many pairs of values.
    macro_rules! check {
        ($width:expr, $ty:ty) => {
            let (lo, hi) = $width.range();
            let samples =
                [lo, lo + 1, lo / 2, -3, -1, 0, 1, 2, 5, 13, 31, 32, 63, 64, hi / 2, hi - 1, hi];
            let samples: Vec<Value> =
                samples.into_iter().filter(|v| (lo..=hi).contains(v)).collect();
            for a in &samples {
                for b in &samples {
                    let (x, y) = (*a as $ty, *b as $ty);
                    let shift = u32::try_from(*b).ok().filter(|n| *n < <$ty>::BITS);
                    for (op, expected) in [
                        (BinOp::Add, Some(x.wrapping_add(y))),
                        (BinOp::Sub, Some(x.wrapping_sub(y))),
                        (BinOp::Mul, Some(x.wrapping_mul(y))),
                        (BinOp::Div, (y != 0).then(|| x.wrapping_div(y))),
                        (BinOp::Rem, (y != 0).then(|| x.wrapping_rem(y))),
                        (BinOp::BitAnd, Some(x & y)),
                        (BinOp::BitOr, Some(x | y)),
                        (BinOp::BitXor, Some(x ^ y)),
                        (BinOp::Shl, shift.map(|n| x.wrapping_shl(n))),
                        (BinOp::Shr, shift.map(|n| x.wrapping_shr(n))),
                    ] {
                        let found = arithmetic(op, $width, Expr::Var(0), Expr::Var(1));
                        let expected = expected.map(|value| value as Value);
                        assert_eq!(eval(&found, [*a, *b]), expected, "{a} {op:?} {b}");
                        let folded = arithmetic(op, $width, Expr::Const(*a), Expr::Const(*b));
                        assert_eq!(eval(&folded, [0, 0]), expected, "constants {a} {op:?} {b}");
                    }
                }
                let x = *a as $ty;
                for (op, expected) in [(UnOp::Neg, x.wrapping_neg()), (UnOp::BitNot, !x)] {
                    let found = unary_op(op, $width, Expr::Var(0));
                    assert_eq!(eval(&found, [*a, 0]), Some(expected as Value));
                }
            }
        };
    }

    #[test]
    fn arithmetic_wraps_as_in_rust() {
        check!(Width::U8, u8);
        check!(Width::I8, i8);
        check!(Width::U16, u16);
        check!(Width::I16, i16);
        check!(Width::U32, u32);
        check!(Width::I32, i32);
        check!(Width::U64, u64);
        check!(Width::I64, i64);
    }

    #[test]
    fn comparisons_compare_the_numbers() {
        let int = [Ty::Int, Ty::Fixed(Width::I64), Ty::Fixed(Width::U64)];
        let samples = [Value::MIN, -(1 << 31), -1, 0, 1, 7, 1 << 31, Value::MAX];
        for (left, right) in int.iter().flat_map(|left| int.map(|right| (*left, right))) {
            for (a, b) in samples.iter().flat_map(|a| samples.map(|b| (*a, b))) {
                let (x, y) = (left.number(a), right.number(b));
                for (op, expected) in [
                    (BinOp::Eq, x == y),
                    (BinOp::Ne, x != y),
                    (BinOp::Lt, x < y),
                    (BinOp::Le, x <= y),
                    (BinOp::Gt, x > y),
                    (BinOp::Ge, x >= y),
                ] {
                    let found = typed(op, Ty::Bool, (left, right), Expr::Var(0), Expr::Var(1));
                    assert_eq!(eval(&found, [a, b]), Some(expected.into()), "{x} {op:?} {y}");
                }
            }
        }
    }

    #[test]
    fn a_comparison_evaluates_both_operands() {
        let fault = || with(BinOp::Div, Expr::Var(0), 0);
        let types = (Ty::Fixed(Width::U64), Ty::Int);
        let found = typed(BinOp::Lt, Ty::Bool, types, fault(), Expr::Const(-1));
        assert_eq!(eval(&found, [0, 0]), None);
    }

    #[test]
    fn only_numbers_of_32_bits_become_an_int() {
        for width in Width::ALL {
            let (lo, hi) = width.range();
            for value in [lo, hi, -1, 0, 1, i32::MAX.into(), 1 << 31, i32::MIN.into()] {
                if value < lo || hi < value {
                    continue;
                }
                let number = width.number(value);
                let expected = i32::try_from(number).ok().map(Value::from);
                let found = eval(&to_int(Ty::Fixed(width), Expr::Var(0)), [value, 0]);
                assert_eq!(found, expected, "{number} of {width:?}");
            }
        }
    }

    #[test]
    fn narrow_types_use_no_wide_operators() {
        for width in Width::ALL.into_iter().filter(|width| width.is_narrow()) {
            for op in [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::Div, BinOp::Shl, BinOp::Shr] {
                let result = arithmetic(op, width, Expr::Var(0), Expr::Var(1));
                assert!(!result.is_wide(), "{width:?} {op:?}");
            }
        }
    }

    #[test]
    fn values_wrap_into_any_range() {
        for range in [(0, 3), (0, 4), (-2, 1), (-2, 2), (3, 9), (-9, -4), (5, 5), (0, 255)] {
            let values =
                (-40..40).chain([INT_LIMITS.0, INT_LIMITS.0 + 1, INT_LIMITS.1 - 1, INT_LIMITS.1]);
            for value in values {
                let found = eval(&wrap(Expr::Var(0), range), [value, 0]).expect("no fault");
                assert_eq!(found, wrap_into(value.into(), range), "{value} into {range:?}");
                assert!(range.0 <= found && found <= range.1);
                let size = range.1 - range.0 + 1;
                assert_eq!((found - value).rem_euclid(size), 0);
            }
        }
    }
}
