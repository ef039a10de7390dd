//! Interval arithmetic on expressions.
//!
//! Over-approximation: the interval of an expression contains every value that the expression can
//! have without a fault.

use crate::expr::{BinOp, Expr, UnOp, WideOp};
use crate::ids::Reg;
use crate::value::{INT_LIMITS, Value};

/// The smallest and the largest value, both included.
pub type Range = (Value, Value);

/// All values.
pub const FULL: Range = (Value::MIN, Value::MAX);

/// Returns the smallest range that contains both.
pub fn join(a: Range, b: Range) -> Range {
    (a.0.min(b.0), a.1.max(b.1))
}

/// Returns the intersection, or `None` if it is empty.
pub fn meet(a: Range, b: Range) -> Option<Range> {
    let both = (a.0.max(b.0), a.1.min(b.1));
    (both.0 <= both.1).then_some(both)
}

/// Returns an interval that contains all values of an expression.
pub fn interval(expr: &Expr<Reg>, registers: &[Range]) -> Range {
    match expr {
        Expr::Const(value) => (*value, *value),
        Expr::Var(reg) => registers[reg.index()],
        Expr::Unary(UnOp::Not, _) => (0, 1),
        Expr::Unary(UnOp::Neg, a) => {
            let (lo, hi) = interval(a, registers);
            clamp_to(INT_LIMITS, -i128::from(hi), -i128::from(lo))
        }
        Expr::Unary(UnOp::BitNot, a) => {
            let (lo, hi) = interval(a, registers);
            (!hi, !lo)
        }
        Expr::Binary(op, a, b) => binary(*op, interval(a, registers), interval(b, registers)),
        Expr::Select(_, a, b) => join(interval(a, registers), interval(b, registers)),
    }
}

/// Narrows the ranges of registers to values for which a condition can evaluate to `truth`. Returns
/// false if the condition cannot evaluate to `truth`. Keeps every value for which it does.
pub fn refine(cond: &Expr<Reg>, truth: bool, registers: &mut [Range]) -> bool {
    match cond {
        Expr::Const(value) => (*value != 0) == truth,
        Expr::Unary(UnOp::Not, inner) => refine(inner, !truth, registers),
        Expr::Binary(BinOp::And, a, b) if truth => {
            refine(a, true, registers) && refine(b, true, registers)
        }
        Expr::Binary(BinOp::Or, a, b) if !truth => {
            refine(a, false, registers) && refine(b, false, registers)
        }
        Expr::Binary(op, a, b) => {
            let Some(op) = comparison(*op, truth) else {
                return true;
            };
            narrow(a, op, interval(b, registers), registers)
                && narrow(b, mirrored(op), interval(a, registers), registers)
        }
        Expr::Var(_) => {
            let zero = (0, 0);
            narrow(cond, if truth { BinOp::Ne } else { BinOp::Eq }, zero, registers)
        }
        Expr::Unary(UnOp::Neg | UnOp::BitNot, _) | Expr::Select(..) => true,
    }
}

/// Returns the comparison that holds when `op` evaluates to `truth`.
fn comparison(op: BinOp, truth: bool) -> Option<BinOp> {
    let (yes, no) = match op {
        BinOp::Eq => (BinOp::Eq, BinOp::Ne),
        BinOp::Ne => (BinOp::Ne, BinOp::Eq),
        BinOp::Lt => (BinOp::Lt, BinOp::Ge),
        BinOp::Le => (BinOp::Le, BinOp::Gt),
        BinOp::Gt => (BinOp::Gt, BinOp::Le),
        BinOp::Ge => (BinOp::Ge, BinOp::Lt),
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
        | BinOp::Wide(_) => return None,
    };
    Some(if truth { yes } else { no })
}

/// Returns the comparison with swapped operands.
fn mirrored(op: BinOp) -> BinOp {
    match op {
        BinOp::Lt => BinOp::Gt,
        BinOp::Le => BinOp::Ge,
        BinOp::Gt => BinOp::Lt,
        BinOp::Ge => BinOp::Le,
        other @ (BinOp::Add
        | BinOp::Sub
        | BinOp::Mul
        | BinOp::Div
        | BinOp::Rem
        | BinOp::Eq
        | BinOp::Ne
        | BinOp::And
        | BinOp::Or
        | BinOp::BitAnd
        | BinOp::BitOr
        | BinOp::BitXor
        | BinOp::Shl
        | BinOp::Shr
        | BinOp::Wide(_)) => other,
    }
}

/// Narrows the range of `expr`, if it is a register, to values that satisfy `op` with some value of
/// `other`. Returns false if there is none.
fn narrow(expr: &Expr<Reg>, op: BinOp, other: Range, registers: &mut [Range]) -> bool {
    let Expr::Var(reg) = expr else { return true };
    let slot = &mut registers[reg.index()];
    let allowed = match op {
        BinOp::Eq => other,
        BinOp::Lt => (Value::MIN, other.1.saturating_sub(1)),
        BinOp::Le => (Value::MIN, other.1),
        BinOp::Gt => (other.0.saturating_add(1), Value::MAX),
        BinOp::Ge => (other.0, Value::MAX),
        BinOp::Ne if other.0 == other.1 && slot.0 == other.0 => {
            (other.0.saturating_add(1), Value::MAX)
        }
        BinOp::Ne if other.0 == other.1 && slot.1 == other.0 => {
            (Value::MIN, other.0.saturating_sub(1))
        }
        BinOp::Add
        | BinOp::Sub
        | BinOp::Mul
        | BinOp::Div
        | BinOp::Rem
        | BinOp::Ne
        | BinOp::And
        | BinOp::Or
        | BinOp::BitAnd
        | BinOp::BitOr
        | BinOp::BitXor
        | BinOp::Shl
        | BinOp::Shr
        | BinOp::Wide(_) => FULL,
    };
    match meet(*slot, allowed) {
        Some(narrowed) => {
            *slot = narrowed;
            true
        }
        None => false,
    }
}

/// An interval of exact results, before they are limited to the bits of an operator.
type Exact = (i128, i128);

/// Restricts exact results to a range. Results outside are faults and are excluded.
fn clamp_to((min, max): Range, lo: i128, hi: i128) -> Range {
    let clamp = |value: i128| value.clamp(min.into(), max.into()) as Value;
    (clamp(lo), clamp(hi))
}

fn exact_sum(a: Range, b: Range) -> Exact {
    (i128::from(a.0) + i128::from(b.0), i128::from(a.1) + i128::from(b.1))
}

fn exact_difference(a: Range, b: Range) -> Exact {
    (i128::from(a.0) - i128::from(b.1), i128::from(a.1) - i128::from(b.0))
}

fn exact_product(a: Range, b: Range) -> Exact {
    let corner = |x: Value, y: Value| i128::from(x) * i128::from(y);
    let corners = [corner(a.0, b.0), corner(a.0, b.1), corner(a.1, b.0), corner(a.1, b.1)];
    corners.iter().fold((corners[0], corners[0]), |(lo, hi), at| (lo.min(*at), hi.max(*at)))
}

/// In absolute value, the quotient is at most the dividend.
fn exact_quotient(a: Range, b: Range) -> Exact {
    let most = i128::from(a.0).abs().max(i128::from(a.1).abs());
    let lo = if a.0 < 0 || b.0 < 0 { -most } else { 0 };
    (lo, if a.1 > 0 || b.0 < 0 { most } else { 0 })
}

/// In absolute value, the remainder is at most the dividend and less than the divisor.
fn exact_remainder(a: Range, b: Range) -> Exact {
    let largest = |range: Range| i128::from(range.0).abs().max(i128::from(range.1).abs());
    let most = (largest(b) - 1).max(0).min(largest(a));
    (if a.0 < 0 { -most } else { 0 }, if a.1 > 0 { most } else { 0 })
}

/// Returns an interval that contains all results of an operator on two intervals. Results outside
/// the bits of the operator are faults and are excluded.
pub fn binary(op: BinOp, a: Range, b: Range) -> Range {
    let int = |(lo, hi): Exact| clamp_to(INT_LIMITS, lo, hi);
    match op {
        BinOp::Add => int(exact_sum(a, b)),
        BinOp::Sub => int(exact_difference(a, b)),
        BinOp::Mul => int(exact_product(a, b)),
        BinOp::Div => int(exact_quotient(a, b)),
        BinOp::Rem => int(exact_remainder(a, b)),
        BinOp::Eq
        | BinOp::Ne
        | BinOp::Lt
        | BinOp::Le
        | BinOp::Gt
        | BinOp::Ge
        | BinOp::And
        | BinOp::Or => (0, 1),
        // One operand without a sign is sufficient: the result has no bit that it does not have.
        BinOp::BitAnd if a.0 >= 0 && b.0 >= 0 => (0, a.1.min(b.1)),
        BinOp::BitAnd if a.0 >= 0 => (0, a.1),
        BinOp::BitAnd if b.0 >= 0 => (0, b.1),
        BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => bits(a.0.min(b.0), a.1.max(b.1)),
        BinOp::Shl => match b {
            (0.., ..=31) => int(exact_product(a, (1 << b.0, 1 << b.1))),
            _ => INT_LIMITS,
        },
        BinOp::Shr => shifted_right(a, b, 31),
        BinOp::Wide(op) => wide(op, a, b),
    }
}

/// The same as [`binary`] for the operators of 64 bits.
fn wide(op: WideOp, a: Range, b: Range) -> Range {
    let exact = |(lo, hi): Exact| clamp_to(FULL, lo, hi);
    // A result that may wrap may be anything.
    let wrapping = |(lo, hi): Exact| match (Value::try_from(lo), Value::try_from(hi)) {
        (Ok(lo), Ok(hi)) => (lo, hi),
        (Ok(_) | Err(_), _) => FULL,
    };
    match op {
        WideOp::Add => exact(exact_sum(a, b)),
        WideOp::Sub => exact(exact_difference(a, b)),
        WideOp::Mul => exact(exact_product(a, b)),
        WideOp::Div => exact(exact_quotient(a, b)),
        WideOp::Rem => exact(exact_remainder(a, b)),
        WideOp::Shl => match b {
            (0.., ..=62) => exact(exact_product(a, (1 << b.0, 1 << b.1))),
            _ => FULL,
        },
        WideOp::Shr => shifted_right(a, b, 63),
        WideOp::WrapAdd => wrapping(exact_sum(a, b)),
        WideOp::WrapSub => wrapping(exact_difference(a, b)),
        WideOp::WrapMul => wrapping(exact_product(a, b)),
        WideOp::WrapDiv => wrapping(exact_quotient(a, b)),
        WideOp::WrapRem => exact(exact_remainder(a, b)),
        WideOp::WrapShl => match b {
            (0.., ..=62) => wrapping(exact_product(a, (1 << b.0, 1 << b.1))),
            _ => FULL,
        },
        WideOp::UnsignedShr if a.0 >= 0 => shifted_right(a, b, 63),
        // A shift by at least one leaves a number without a sign.
        WideOp::UnsignedShr if b.0 >= 1 => (0, Value::MAX),
        WideOp::UnsignedDiv if a.0 >= 0 => (0, a.1),
        WideOp::UnsignedRem if a.0 >= 0 && b.0 >= 0 => exact(exact_remainder(a, b)),
        WideOp::UnsignedRem if a.0 >= 0 => (0, a.1),
        WideOp::UnsignedRem if b.0 >= 0 => (0, (b.1 - 1).max(0)),
        WideOp::UnsignedShr | WideOp::UnsignedDiv | WideOp::UnsignedRem => FULL,
        WideOp::UnsignedLt | WideOp::UnsignedLe => (0, 1),
    }
}

/// Returns the results of an arithmetic shift to the right by at most `most`. The results lie
/// between those of the smallest and the largest amount.
fn shifted_right(a: Range, b: Range, most: Value) -> Range {
    let (few, many) = (b.0.clamp(0, most), b.1.clamp(0, most));
    ((a.0 >> few).min(a.0 >> many), (a.1 >> few).max(a.1 >> many))
}

/// Returns the interval of all numbers that have as many bits as the larger of the two bounds.
fn bits(lo: Value, hi: Value) -> Range {
    // The number of bits without the sign: a negative number needs as many as its complement.
    let needed = |value: Value| Value::BITS - (value ^ (value >> 63)).leading_zeros();
    let most = needed(lo).max(needed(hi));
    let largest = if most == 63 { Value::MAX } else { (1 << most) - 1 };
    (if lo < 0 { !largest } else { 0 }, largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_contains_every_result() {
        let ops = [
            BinOp::Add,
            BinOp::Sub,
            BinOp::Mul,
            BinOp::Div,
            BinOp::Rem,
            BinOp::Eq,
            BinOp::BitAnd,
            BinOp::BitOr,
            BinOp::BitXor,
            BinOp::Shl,
            BinOp::Shr,
        ];
        let ends = -5..=5;
        for op in ops.into_iter().chain(WideOp::ALL.map(BinOp::Wide)) {
            for (a0, a1, b0, b1) in ends.clone().flat_map(|a0| {
                let ends = -5..=5;
                ends.flat_map(move |a1| {
                    [(-5, -2), (-3, 0), (-1, 4), (0, 3), (2, 5), (0, 0)]
                        .into_iter()
                        .map(move |(b0, b1)| (a0, a1, b0, b1))
                })
            }) {
                if a0 > a1 {
                    continue;
                }
                let (lo, hi) = binary(op, (a0, a1), (b0, b1));
                for a in a0..=a1 {
                    for b in b0..=b1 {
                        if let Ok(value) = op.apply(a, b) {
                            let shown = format!("{a} {} {b} = {value}", op.symbol());
                            assert!(lo <= value && value <= hi, "{shown} not in {lo}..={hi}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn binary_contains_the_results_of_large_values() {
        let ends = [Value::MIN, -(1 << 31) - 1, -(1 << 31), -1, 0, 1, 62, 63, 1 << 31, Value::MAX];
        let ints = [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::Div, BinOp::Rem, BinOp::Shl];
        let bits = [BinOp::Shr, BinOp::BitAnd, BinOp::BitOr, BinOp::BitXor];
        let ops = ints.into_iter().chain(bits).chain(WideOp::ALL.map(BinOp::Wide));
        for op in ops {
            for (a0, b0) in ends.iter().flat_map(|a| ends.map(|b| (*a, b))) {
                for (a1, b1) in ends.iter().flat_map(|a| ends.map(|b| (*a, b))) {
                    if a0 > a1 || b0 > b1 {
                        continue;
                    }
                    let (lo, hi) = binary(op, (a0, a1), (b0, b1));
                    let inside = |lo: Value, hi: Value| {
                        ends.into_iter().filter(move |v| lo <= *v && *v <= hi)
                    };
                    for (a, b) in inside(a0, a1).flat_map(|a| inside(b0, b1).map(move |b| (a, b))) {
                        if let Ok(value) = op.apply(a, b) {
                            let shown = format!("{a} {} {b} = {value}", op.symbol());
                            assert!(lo <= value && value <= hi, "{shown} not in {lo}..={hi}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn refinement_keeps_every_value_that_satisfies_the_condition() {
        let var = |r| Box::new(Expr::Var(Reg(r)));
        let ops = [BinOp::Eq, BinOp::Ne, BinOp::Lt, BinOp::Le, BinOp::Gt, BinOp::Ge];
        let ranges = [(-2, 2), (0, 0), (0, 3), (2, 2), (-3, -1)];
        for op in ops {
            let plain = Expr::Binary(op, var(0), var(1));
            let both = Expr::Binary(BinOp::And, Box::new(plain.clone()), var(0));
            let not = Expr::Unary(UnOp::Not, Box::new(both.clone()));
            for cond in [plain, both, not] {
                for (a, b, truth) in ranges.iter().flat_map(|a| {
                    ranges.iter().flat_map(move |b| [(*a, *b, true), (*a, *b, false)])
                }) {
                    let mut registers = [a, b];
                    let possible = refine(&cond, truth, &mut registers);
                    for x in a.0..=a.1 {
                        for y in b.0..=b.1 {
                            let value = cond.eval(&|r| [x, y][r.index()]).expect("no fault");
                            if (value != 0) != truth {
                                continue;
                            }
                            let inside = |v: Value, (lo, hi): Range| lo <= v && v <= hi;
                            assert!(possible, "{cond:?} {truth} {x} {y}");
                            assert!(inside(x, registers[0]) && inside(y, registers[1]));
                        }
                    }
                }
            }
        }
    }
}
