//! Interval arithmetic on expressions.
//!
//! Over-approximation: the interval of an expression contains every value that the expression can
//! have without a fault.

use crate::expr::{BinOp, Expr, UnOp};
use crate::ids::Reg;
use crate::value::Value;

/// The smallest and the largest value, both included.
pub type Range = (Value, Value);

/// All 32-bit values.
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
            (hi.checked_neg().unwrap_or(Value::MAX), lo.checked_neg().unwrap_or(Value::MAX))
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
        | BinOp::Shr => return None,
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
        | BinOp::Shr) => other,
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
        | BinOp::Shr => FULL,
    };
    match meet(*slot, allowed) {
        Some(narrowed) => {
            *slot = narrowed;
            true
        }
        None => false,
    }
}

/// Returns an interval that contains all results of an operator on two intervals. Results outside
/// 32 bits are faults and are excluded.
pub fn binary(op: BinOp, a: Range, b: Range) -> Range {
    let clamp = |lo: i64, hi: i64| {
        let (min, max) = (i64::from(Value::MIN), i64::from(Value::MAX));
        (lo.clamp(min, max) as Value, hi.clamp(min, max) as Value)
    };
    let (a0, a1) = (i64::from(a.0), i64::from(a.1));
    let (b0, b1) = (i64::from(b.0), i64::from(b.1));
    match op {
        BinOp::Add => clamp(a0 + b0, a1 + b1),
        BinOp::Sub => clamp(a0 - b1, a1 - b0),
        BinOp::Mul => {
            let corners = [a0 * b0, a0 * b1, a1 * b0, a1 * b1];
            clamp(
                *corners.iter().min().expect("four corners"),
                *corners.iter().max().expect("four corners"),
            )
        }
        // In absolute value, the quotient is at most the dividend and the remainder is less than
        // the divisor.
        BinOp::Div => {
            let most = a0.abs().max(a1.abs());
            clamp(if a0 < 0 || b0 < 0 { -most } else { 0 }, if a1 > 0 || b0 < 0 { most } else { 0 })
        }
        BinOp::Rem => {
            let most = (b0.abs().max(b1.abs()) - 1).max(0).min(a0.abs().max(a1.abs()));
            clamp(if a0 < 0 { -most } else { 0 }, if a1 > 0 { most } else { 0 })
        }
        BinOp::Eq
        | BinOp::Ne
        | BinOp::Lt
        | BinOp::Le
        | BinOp::Gt
        | BinOp::Ge
        | BinOp::And
        | BinOp::Or => (0, 1),
        BinOp::BitAnd if a0 >= 0 && b0 >= 0 => (0, a.1.min(b.1)),
        BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => bits(a0.min(b0), a1.max(b1)),
        BinOp::Shl => FULL,
        BinOp::Shr => (a.0.min(0), a.1.max(0)),
    }
}

/// Returns the interval of all numbers that have as many bits as the larger of the two bounds.
fn bits(lo: i64, hi: i64) -> Range {
    let mut bound: i64 = 1;
    while lo < -bound || hi >= bound {
        bound *= 2;
    }
    ((if lo < 0 { -bound } else { 0 }) as Value, (bound - 1) as Value)
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
        for op in ops {
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
