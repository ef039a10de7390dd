//! Arithmetic of fixed-width integers and of ranges that wrap, in terms of exact 32-bit arithmetic.
//!
//! The program representation has only 32-bit numbers whose overflow is a fault. The values of a
//! fixed-width integer have at most 16 bits, so that sums and products of them fit, and one
//! reduction after each operation gives the wrapped result. Direction: exact.

use fencepost_ir::{BinOp, Expr, UnOp, Value, wrap_into};

use super::types::Width;

fn binary<V>(op: BinOp, a: Expr<V>, b: Value) -> Expr<V> {
    Expr::Binary(op, Box::new(a), Box::new(Expr::Const(b)))
}

/// Returns an expression for the number of a range that is congruent to `value`. The range has at
/// most 2^28 values, so that nothing overflows.
pub(super) fn wrap<V>(value: Expr<V>, (lo, hi): (Value, Value)) -> Expr<V> {
    if let Expr::Const(value) = value {
        return Expr::Const(wrap_into(value.into(), (lo, hi)));
    }
    let size = hi - lo + 1;
    let is_power = size & (size - 1) == 0;
    if is_power && lo == 0 {
        return binary(BinOp::BitAnd, value, size - 1);
    }
    if is_power && lo == -(size / 2) {
        return sign_extended(value, size);
    }
    // (value % size) is between -size and size, and the summand makes it positive.
    let summand = (-lo).rem_euclid(size) + size;
    let positive = binary(BinOp::Add, binary(BinOp::Rem, value, size), summand);
    binary(BinOp::Add, binary(BinOp::Rem, positive, size), lo)
}

/// Returns the low bits of a value as a signed number. `size` is a power of two.
fn sign_extended<V>(value: Expr<V>, size: Value) -> Expr<V> {
    let half = size / 2;
    binary(BinOp::Sub, binary(BinOp::BitXor, binary(BinOp::BitAnd, value, size - 1), half), half)
}

/// Returns `a op b` for operands of a fixed-width integer type, wrapped. The right operand of a
/// shift can be any number; a shift by a negative number or by the width or more is a fault.
pub(super) fn binary_op<V>(op: BinOp, width: Width, a: Expr<V>, b: Expr<V>) -> Expr<V>
where
    V: Clone,
{
    let plain = |a, b| Expr::Binary(op, Box::new(a), Box::new(b));
    match op {
        BinOp::Add | BinOp::Sub | BinOp::Div => wrap(plain(a, b), width.range()),
        BinOp::Mul => {
            // Two unsigned numbers of 16 bits may have a product of 32 bits, two signed ones not.
            // The low 16 bits are the same.
            let signed = |value| match width {
                Width::U16 => sign_extended(value, 1 << 16),
                Width::U8 | Width::I8 | Width::I16 => value,
            };
            wrap(plain(signed(a), signed(b)), width.range())
        }
        BinOp::Shl => wrap(plain(a, shift_amount(width, b)), width.range()),
        BinOp::Shr => plain(a, shift_amount(width, b)),
        BinOp::Rem | BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => plain(a, b),
        BinOp::Eq
        | BinOp::Ne
        | BinOp::Lt
        | BinOp::Le
        | BinOp::Gt
        | BinOp::Ge
        | BinOp::And
        | BinOp::Or
        | BinOp::Wide(_) => plain(a, b),
    }
}

/// Returns the amount of a shift. An amount of at least the width becomes 32, which is a fault.
fn shift_amount<V: Clone>(width: Width, amount: Expr<V>) -> Expr<V> {
    if matches!(amount, Expr::Const(n) if n < width.bits()) {
        return amount;
    }
    let fits = binary(BinOp::Lt, amount.clone(), width.bits());
    Expr::Select(Box::new(fits), Box::new(amount), Box::new(Expr::Const(32)))
}

/// Returns `op a` for an operand of a fixed-width integer type, wrapped.
pub(super) fn unary_op<V>(op: UnOp, width: Width, a: Expr<V>) -> Expr<V> {
    let plain = Expr::Unary(op, Box::new(a));
    match op {
        UnOp::Neg | UnOp::BitNot => wrap(plain, width.range()),
        UnOp::Not => plain,
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
            let samples = [lo, lo + 1, lo / 2, -3, -1, 0, 1, 2, 5, 13, hi / 2, hi - 1, hi];
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
                        let found = binary_op(op, $width, Expr::Var(0), Expr::Var(1));
                        let expected = expected.map(Value::from);
                        assert_eq!(eval(&found, [*a, *b]), expected, "{a} {op:?} {b}");
                        let folded = binary_op(op, $width, Expr::Const(*a), Expr::Const(*b));
                        assert_eq!(eval(&folded, [0, 0]), expected, "constants {a} {op:?} {b}");
                    }
                }
                let x = *a as $ty;
                for (op, expected) in [(UnOp::Neg, x.wrapping_neg()), (UnOp::BitNot, !x)] {
                    let found = unary_op(op, $width, Expr::Var(0));
                    assert_eq!(eval(&found, [*a, 0]), Some(Value::from(expected)));
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
                let size = i64::from(range.1 - range.0 + 1);
                assert_eq!((i64::from(found) - i64::from(value)).rem_euclid(size), 0);
            }
        }
    }
}
