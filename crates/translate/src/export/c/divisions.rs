//! Computes the conditions under which divisions do not fault, without those that range analysis
//! proves.

use super::super::actions::Leaf;
use super::super::checks::RangeFacts;
use super::super::expr::negated_condition;
use fencepost_ir::{BinOp, Expr};

/// Returns the conditions under which no division in the expression is by zero.
pub(super) fn nonzero_divisor_conditions(
    expr: &Expr<Leaf>,
    facts: &RangeFacts<'_>,
) -> Vec<Expr<Leaf>> {
    let may_be_zero = |expr: &Expr<Leaf>| {
        let (lo, hi) = facts.interval(expr);
        lo <= 0 && 0 <= hi
    };
    let mut found = Vec::new();
    collect(expr, None, &may_be_zero, &mut found);
    found
}

/// Returns the condition that `cond` holds and its evaluation does not divide by zero.
pub(in crate::export) fn holds_without_fault<V: Clone>(cond: &Expr<V>) -> Expr<V> {
    let mut found = Vec::new();
    collect(cond, None, &|divisor: &Expr<V>| divisor.as_const().is_none_or(|n| n == 0), &mut found);
    found.push(cond.clone());
    let all = found.into_iter().reduce(|a, b| binary(BinOp::And, &a, &b));
    all.expect("the list contains `cond`")
}

/// Collects the conditions. `path` is the condition under which this part of the expression is
/// evaluated.
fn collect<V: Clone>(
    expr: &Expr<V>,
    path: Option<&Expr<V>>,
    may_be_zero: &impl Fn(&Expr<V>) -> bool,
    found: &mut Vec<Expr<V>>,
) {
    let both = |a: &Expr<V>| match path {
        Some(path) => binary(BinOp::And, path, a),
        None => a.clone(),
    };
    match expr {
        Expr::Const(_) | Expr::Var(_) => {}
        Expr::Unary(_, a) => collect(a, path, may_be_zero, found),
        Expr::Binary(op @ (BinOp::And | BinOp::Or), a, b) => {
            collect(a, path, may_be_zero, found);
            let needed = if *op == BinOp::And { (**a).clone() } else { negated_condition(a) };
            collect(b, Some(&both(&needed)), may_be_zero, found);
        }
        Expr::Binary(op, a, b) => {
            collect(a, path, may_be_zero, found);
            collect(b, path, may_be_zero, found);
            if matches!(op, BinOp::Div | BinOp::Rem) && may_be_zero(b) {
                let not_zero = binary(BinOp::Ne, b, &Expr::Const(0));
                found.push(match path {
                    Some(path) => binary(BinOp::Or, &negated_condition(path), &not_zero),
                    None => not_zero,
                });
            }
        }
        Expr::Select(c, a, b) => {
            collect(c, path, may_be_zero, found);
            collect(a, Some(&both(c)), may_be_zero, found);
            collect(b, Some(&both(&negated_condition(c))), may_be_zero, found);
        }
    }
}

fn binary<V: Clone>(op: BinOp, a: &Expr<V>, b: &Expr<V>) -> Expr<V> {
    Expr::Binary(op, Box::new(a.clone()), Box::new(b.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_ir::range::ranges;
    use fencepost_ir::{Program, Reg};

    #[test]
    fn a_division_is_checked_only_where_it_is_evaluated() {
        let (x, y) = (Expr::Var(Leaf::Reg(Reg(0))), Expr::Var(Leaf::Reg(Reg(1))));
        let program = Program::default();
        let ranges = ranges(&program);
        let divisions = |expr: &Expr<Leaf>, registers: &[_]| {
            super::nonzero_divisor_conditions(
                expr,
                &RangeFacts { program: &program, ranges: &ranges, registers },
            )
        };
        let divide = binary(BinOp::Div, &Expr::Const(1), &y);
        let open = [(0, 9), (-1, 1)];
        assert_eq!(divisions(&divide, &open), [binary(BinOp::Ne, &y, &Expr::Const(0))]);
        assert_eq!(divisions(&divide, &[(0, 9), (1, 2)]), []);
        let offset_or_zero = binary(BinOp::And, &binary(BinOp::Gt, &x, &Expr::Const(0)), &divide);
        let or = binary(
            BinOp::Or,
            &binary(BinOp::Le, &x, &Expr::Const(0)),
            &binary(BinOp::Ne, &y, &Expr::Const(0)),
        );
        assert_eq!(divisions(&offset_or_zero, &open), [or]);
    }
}
