//! Expressions over registers, as short as constants allow.

use fencepost_ir::{BinOp, Expr, Reg, UnOp, Value};

/// A number.
pub(crate) fn num(value: u32) -> Expr<Reg> {
    Expr::Const(value as Value)
}

/// Two operands, with what is constant evaluated.
pub(crate) fn binary(op: BinOp, a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    Expr::Binary(op, Box::new(a), Box::new(b)).fold()
}

/// A sum.
pub(crate) fn add(a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    match (a.as_const(), b.as_const()) {
        (Some(0), _) => b,
        (_, Some(0)) => a,
        _ => binary(BinOp::Add, a, b),
    }
}

/// A difference.
pub(crate) fn sub(a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    if b.as_const() == Some(0) { a } else { binary(BinOp::Sub, a, b) }
}

/// A product.
pub(crate) fn mul(a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    if b.as_const() == Some(1) { a } else { binary(BinOp::Mul, a, b) }
}

/// Whether they are equal.
pub(crate) fn eq(a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    binary(BinOp::Eq, a, b)
}

/// Whether they differ.
pub(crate) fn ne(a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    binary(BinOp::Ne, a, b)
}

/// Whether the first is less.
pub(crate) fn lt(a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    binary(BinOp::Lt, a, b)
}

/// Whether the first is not more.
pub(crate) fn le(a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    binary(BinOp::Le, a, b)
}

/// Whether it is more than 0.
pub(crate) fn positive(a: Expr<Reg>) -> Expr<Reg> {
    binary(BinOp::Gt, a, num(0))
}

/// Whether it does not hold.
pub(crate) fn not(a: Expr<Reg>) -> Expr<Reg> {
    Expr::Unary(UnOp::Not, Box::new(a)).fold()
}

/// Whether all hold; with none, 1.
pub(crate) fn all(these: impl IntoIterator<Item = Expr<Reg>>) -> Expr<Reg> {
    these.into_iter().reduce(|a, b| binary(BinOp::And, a, b)).unwrap_or(num(1))
}

/// Whether one holds; with none, 0.
pub(crate) fn any(these: impl IntoIterator<Item = Expr<Reg>>) -> Expr<Reg> {
    these.into_iter().reduce(|a, b| binary(BinOp::Or, a, b)).unwrap_or(num(0))
}

/// The offset where the condition holds, else a harmless one.
pub(crate) fn guarded(when: &Option<Expr<Reg>>, offset: Expr<Reg>) -> Expr<Reg> {
    match when {
        None => offset,
        Some(when) => Expr::Select(Box::new(when.clone()), Box::new(offset), Box::new(num(0))),
    }
}
