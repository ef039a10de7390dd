//! Substitutes the leaves of expressions.

use fencepost_ir::Expr;

/// Replaces every leaf of an expression.
pub fn substitute<V, W>(expr: &Expr<V>, leaf: &impl Fn(&V) -> Expr<W>) -> Expr<W> {
    let inner = |e: &Expr<V>| Box::new(substitute(e, leaf));
    match expr {
        Expr::Const(value) => Expr::Const(*value),
        Expr::Var(var) => leaf(var),
        Expr::Unary(op, a) => Expr::Unary(*op, inner(a)),
        Expr::Binary(op, a, b) => Expr::Binary(*op, inner(a), inner(b)),
        Expr::Select(c, a, b) => Expr::Select(inner(c), inner(a), inner(b)),
    }
}
