//! A normal form of conditions: the order of operands does not matter.

use crate::expr::{BinOp, Expr, UnOp};
use crate::property::Observable;

/// Returns the normal form of a condition. Conditions with equal normal forms have the same value in
/// every state, or both fault.
pub(super) fn normal_form(expr: &Expr<Observable>) -> Expr<Observable> {
    match expr {
        Expr::Const(_) | Expr::Var(_) => expr.clone(),
        Expr::Unary(op, a) => Expr::Unary(*op, normal_form(a).into()),
        Expr::Binary(op, a, b) => {
            let (a, b) = (normal_form(a), normal_form(b));
            match op {
                // The evaluation stops at the first operand that decides.
                BinOp::And | BinOp::Or if never_faults(&a) && never_faults(&b) => {
                    let mut operands = Vec::new();
                    flatten(*op, a, &mut operands);
                    flatten(*op, b, &mut operands);
                    operands.sort_by_cached_key(|operand| format!("{operand:?}"));
                    let joined = operands.into_iter().reduce(|a, b| binary(*op, a, b));
                    joined.unwrap_or(Expr::Const(0))
                }
                BinOp::Add
                | BinOp::Mul
                | BinOp::Eq
                | BinOp::Ne
                | BinOp::BitAnd
                | BinOp::BitOr
                | BinOp::BitXor => {
                    let is_sorted = format!("{a:?}") <= format!("{b:?}");
                    if is_sorted { binary(*op, a, b) } else { binary(*op, b, a) }
                }
                BinOp::And
                | BinOp::Or
                | BinOp::Sub
                | BinOp::Div
                | BinOp::Rem
                | BinOp::Lt
                | BinOp::Le
                | BinOp::Gt
                | BinOp::Ge
                | BinOp::Shl
                | BinOp::Shr
                | BinOp::Wide(_) => binary(*op, a, b),
            }
        }
        Expr::Select(c, a, b) => {
            Expr::Select(normal_form(c).into(), normal_form(a).into(), normal_form(b).into())
        }
    }
}

fn binary(op: BinOp, a: Expr<Observable>, b: Expr<Observable>) -> Expr<Observable> {
    Expr::Binary(op, a.into(), b.into())
}

/// Appends the operands of nested conjunctions or disjunctions.
fn flatten(op: BinOp, expr: Expr<Observable>, operands: &mut Vec<Expr<Observable>>) {
    match expr {
        Expr::Binary(other, a, b) if other == op => {
            flatten(op, *a, operands);
            flatten(op, *b, operands);
        }
        Expr::Const(_) | Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => {
            operands.push(expr)
        }
    }
}

/// Returns whether the evaluation of an expression cannot fault.
fn never_faults(expr: &Expr<Observable>) -> bool {
    match expr {
        Expr::Const(_) | Expr::Var(_) => true,
        Expr::Unary(op, a) => matches!(op, UnOp::Not | UnOp::BitNot) && never_faults(a),
        Expr::Binary(op, a, b) => {
            let is_total = matches!(
                op,
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
                    | BinOp::BitXor
            );
            is_total && never_faults(a) && never_faults(b)
        }
        Expr::Select(c, a, b) => never_faults(c) && never_faults(a) && never_faults(b),
    }
}
