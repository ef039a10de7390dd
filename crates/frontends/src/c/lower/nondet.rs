//! Nondeterministic values.
//!
//! Only small values are explored; others reach a bound. If the next statement assumes that the
//! value is in a range, exactly this range is explored.

use fencepost_ir::{BinOp, Expr, Span};

use super::arithmetic::{Val, binary};
use super::layout::{INT, limits, scalar_type};
use super::thread::Lowerer;
use crate::c::typed::{
    BinaryOp, Expr as TypedExpr, ExprKind, Intrinsic, Place, PlaceKind, Stmt, StmtKind, Type,
    VariableId,
};

/// The largest value that is explored without an assumption.
const LAST: i64 = 7;
/// The largest number of values that are explored.
const MAX_VALUES: i64 = 4096;

impl Lowerer<'_, '_> {
    /// Emits any value of a type.
    pub(super) fn nondet(&mut self, ty: &Type, span: Span) -> Val {
        let ty = scalar_type(ty).unwrap_or(INT);
        if ty.is_bool {
            return self.choose(ty, 0, 1, span);
        }
        let (lo, hi) = limits(ty);
        if let Some((first, last)) = self.assumed.take()
            && lo <= first
            && last <= hi
        {
            return self.choose(ty, first, last, span);
        }
        let value = self.choose(ty, 0, LAST + 1, span);
        let (inside, outside) = (self.code.target(), self.code.target());
        let limit = binary(BinOp::Gt, value.clone(), Expr::Const(LAST));
        let (too_large, state) = self.branch_value(limit, outside, inside, span);
        self.code.bind(outside);
        self.state = too_large;
        let text = self.pass.labels.text(self.shown(span));
        self.reach_bound(format!("`{text}` is explored for the values 0 to {LAST} only"), span);
        self.code.bind(inside);
        self.state = state;
        value
    }
}

/// Returns the range that the statements assume for a variable: the first statement gives it a
/// nondeterministic value, and the next one with code is an assumption about it.
pub(super) fn assumed_range(stmts: &[Stmt]) -> Option<(i64, i64)> {
    let (first, rest) = stmts.split_first()?;
    let local = match &first.kind {
        StmtKind::Declare { local, init: Some(init) } => match init.items.as_slice() {
            [item] if is_nondet(&item.value) => *local,
            _ => return None,
        },
        StmtKind::Expr(TypedExpr { kind: ExprKind::Assign { place, value, .. }, .. }) => {
            match place.kind {
                PlaceKind::Variable(VariableId::Local(local)) if is_nondet(value) => local,
                _ => return None,
            }
        }
        _ => return None,
    };
    let has_code =
        |stmt: &&Stmt| !matches!(stmt.kind, StmtKind::Declare { init: None, .. } | StmtKind::Empty);
    let StmtKind::Expr(expr) = &rest.iter().find(has_code)?.kind else { return None };
    let ExprKind::Intrinsic(intrinsic) = &strip(expr).kind else { return None };
    let Intrinsic::Assume(condition) = &**intrinsic else { return None };
    let (mut lo, mut hi) = (i64::MIN, i64::MAX);
    bounds(condition, local, &mut lo, &mut hi);
    let values = hi.checked_sub(lo)?;
    (0..MAX_VALUES).contains(&values).then_some((lo, hi))
}

fn strip(expr: &TypedExpr) -> &TypedExpr {
    match &expr.kind {
        ExprKind::Convert(inner) => strip(inner),
        _ => expr,
    }
}

fn is_nondet(expr: &TypedExpr) -> bool {
    matches!(&expr.kind, ExprKind::Intrinsic(intrinsic) if **intrinsic == Intrinsic::Nondet)
}

/// Collects the bounds that a condition gives for a variable. Other conjuncts are checked by the
/// assumption itself.
fn bounds(condition: &TypedExpr, local: u32, lo: &mut i64, hi: &mut i64) {
    match &strip(condition).kind {
        ExprKind::And(a, b) => {
            bounds(a, local, lo, hi);
            bounds(b, local, lo, hi);
        }
        // `!!condition`.
        ExprKind::Binary(BinaryOp::Eq, a, b)
            if b.kind == ExprKind::Const(0) && negated(a).is_some() =>
        {
            if let Some(inner) = negated(a) {
                bounds(inner, local, lo, hi);
            }
        }
        // A test `condition != 0`.
        ExprKind::Binary(BinaryOp::Ne, a, b)
            if b.kind == ExprKind::Const(0) && !is_variable(a, local) =>
        {
            bounds(a, local, lo, hi);
        }
        ExprKind::Binary(op, a, b) => {
            let (op, value) = match (&strip(a).kind, &strip(b).kind) {
                (_, ExprKind::Const(value)) if is_variable(a, local) => (*op, *value),
                (ExprKind::Const(value), _) if is_variable(b, local) => (mirrored(*op), *value),
                _ => return,
            };
            match op {
                BinaryOp::Lt => *hi = (*hi).min(value.saturating_sub(1)),
                BinaryOp::Le => *hi = (*hi).min(value),
                BinaryOp::Gt => *lo = (*lo).max(value.saturating_add(1)),
                BinaryOp::Ge => *lo = (*lo).max(value),
                BinaryOp::Eq => {
                    *lo = (*lo).max(value);
                    *hi = (*hi).min(value);
                }
                _ => {}
            }
        }
        _ => {}
    }
}

/// Returns `a` if the expression is `!a`.
fn negated(expr: &TypedExpr) -> Option<&TypedExpr> {
    match &strip(expr).kind {
        ExprKind::Binary(BinaryOp::Eq, a, b) if b.kind == ExprKind::Const(0) => Some(a),
        _ => None,
    }
}

/// Returns whether an expression is the value of a variable, without a conversion that changes it.
fn is_variable(expr: &TypedExpr, local: u32) -> bool {
    let is_it = |place: &Place| place.kind == PlaceKind::Variable(VariableId::Local(local));
    match &expr.kind {
        // Numbers of 64 bits without a sign are compared as patterns.
        ExprKind::Load(place, _) => {
            is_it(place) && scalar_type(&expr.ty).is_some_and(|ty| ty.signed || ty.bits < 64)
        }
        ExprKind::Convert(inner) => {
            let keeps = match (scalar_type(&expr.ty), scalar_type(&inner.ty)) {
                (Some(to), Some(from)) => {
                    let is_wider = limits(to).0 <= limits(from).0 && limits(from).1 <= limits(to).1;
                    is_wider && (to.signed || !from.signed)
                }
                _ => false,
            };
            keeps && is_variable(inner, local)
        }
        _ => false,
    }
}

fn mirrored(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Ge => BinaryOp::Le,
        _ => op,
    }
}
