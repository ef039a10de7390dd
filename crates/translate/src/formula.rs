//! Builds expressions over registers and simplifies constants.

use fencepost_ir::{BinOp, Expr, Reg, UnOp, Value};

pub(crate) fn num(value: u32) -> Expr<Reg> {
    Expr::Const(value as Value)
}

/// Applies a binary operator and folds constants.
pub(crate) fn binary(op: BinOp, a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    Expr::Binary(op, Box::new(a), Box::new(b)).fold()
}

/// Returns `a + b`, without a term that is 0.
pub(crate) fn add(a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    match (a.as_const(), b.as_const()) {
        (Some(0), _) => b,
        (_, Some(0)) => a,
        _ => binary(BinOp::Add, a, b),
    }
}

/// Returns `a - b`, without a subtrahend that is 0.
pub(crate) fn sub(a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    if b.as_const() == Some(0) { a } else { binary(BinOp::Sub, a, b) }
}

/// Returns `a * b`, without a second factor that is 1.
pub(crate) fn mul(a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    if b.as_const() == Some(1) { a } else { binary(BinOp::Mul, a, b) }
}

pub(crate) fn eq(a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    binary(BinOp::Eq, a, b)
}

pub(crate) fn ne(a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    binary(BinOp::Ne, a, b)
}

pub(crate) fn lt(a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    binary(BinOp::Lt, a, b)
}

pub(crate) fn le(a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    binary(BinOp::Le, a, b)
}

pub(crate) fn positive(a: Expr<Reg>) -> Expr<Reg> {
    binary(BinOp::Gt, a, num(0))
}

pub(crate) fn not(a: Expr<Reg>) -> Expr<Reg> {
    Expr::Unary(UnOp::Not, Box::new(a)).fold()
}

/// Returns the conjunction; 1 if there are no operands.
pub(crate) fn all(these: impl IntoIterator<Item = Expr<Reg>>) -> Expr<Reg> {
    these.into_iter().reduce(|a, b| binary(BinOp::And, a, b)).unwrap_or(num(1))
}

/// Returns the disjunction; 0 if there are no operands.
pub(crate) fn any(these: impl IntoIterator<Item = Expr<Reg>>) -> Expr<Reg> {
    these.into_iter().reduce(|a, b| binary(BinOp::Or, a, b)).unwrap_or(num(0))
}

/// Returns the offset if the condition holds, else 0, which is always in bounds.
pub(crate) fn offset_or_zero(when: &Option<Expr<Reg>>, offset: Expr<Reg>) -> Expr<Reg> {
    match when {
        None => offset,
        Some(when) => Expr::Select(Box::new(when.clone()), Box::new(offset), Box::new(num(0))),
    }
}
