//! Evaluates constant expressions: sizes, ranges, initial values, indices in conditions.

use std::convert::Infallible;

use fencepost_ir::{BinOp, Diagnostics, Fault, Value, wrap_into};

use super::ast;
use super::check::{Checker, Scope, check_constant};
use super::codes;
use super::integers::{to_int, typed, unary_op};
use super::names::Globals;
use super::tree::{Expr, ExprKind};
use super::types::Ty;

impl Globals {
    /// Evaluates a constant expression and returns its value and type.
    pub fn constant(
        &self,
        expr: &ast::Expr,
        source: &str,
        diagnostics: &mut Diagnostics,
    ) -> Option<(Value, Ty)> {
        let checked = Checker::new(self, source, diagnostics, Scope::Constant).expr(expr)?;
        match evaluate(&checked) {
            Ok(value) => Some((value, checked.ty)),
            Err(fault) => {
                diagnostics
                    .error(codes::BAD_CONSTANT, expr.span, "this constant cannot be evaluated")
                    .label(fault.describe());
                None
            }
        }
    }

    /// Evaluates a constant expression that must have the type `expected`.
    pub fn constant_of(
        &self,
        expr: &ast::Expr,
        expected: Ty,
        source: &str,
        diagnostics: &mut Diagnostics,
    ) -> Option<Value> {
        let mut checker = Checker::new(self, source, diagnostics, Scope::Constant);
        checker.expr_of(expr, expected)?;
        let (value, ty) = self.constant(expr, source, diagnostics)?;
        check_constant(ty.number(value), expected, expr.span, diagnostics).then_some(value)
    }

    /// Evaluates a constant expression of type `int`.
    pub fn constant_int(
        &self,
        expr: &ast::Expr,
        source: &str,
        diagnostics: &mut Diagnostics,
    ) -> Option<Value> {
        self.constant_of(expr, Ty::Int, source, diagnostics)
    }

    /// Evaluates the first and last value of a constant range. If the range is empty, the last
    /// value is less than the first.
    pub fn constant_range(
        &self,
        range: &ast::Range,
        source: &str,
        diagnostics: &mut Diagnostics,
    ) -> Option<(Value, Value)> {
        let lo = self.constant_int(&range.lo, source, diagnostics);
        let hi = self.constant_int(&range.hi, source, diagnostics);
        Some(inclusive_bounds(lo?, hi?, range.inclusive))
    }
}

/// Returns the first and last value of `lo..hi` or `lo..=hi`. If the range is empty, the last value
/// is less than the first.
pub fn inclusive_bounds(lo: Value, hi: Value, inclusive: bool) -> (Value, Value) {
    match hi.checked_sub(Value::from(!inclusive)) {
        Some(last) => (lo, last),
        None => (1, 0),
    }
}

/// An expression of the program representation without variables.
type Constant = fencepost_ir::Expr<Infallible>;

fn value(expr: &Constant) -> Result<Value, Fault> {
    expr.eval(&|never| match *never {})
}

/// Evaluates an expression without variables.
pub fn evaluate(expr: &Expr) -> Result<Value, Fault> {
    Ok(match &expr.kind {
        ExprKind::Const(value) => *value,
        ExprKind::Wrap(a, range) => wrap_into(evaluate(a)?.into(), *range),
        ExprKind::ToInt(a) => value(&to_int(a.ty, Constant::Const(evaluate(a)?)))?,
        ExprKind::Unary(op, a) => match expr.ty {
            Ty::Fixed(width) => value(&unary_op(*op, width, Constant::Const(evaluate(a)?)))?,
            Ty::Bool | Ty::Int | Ty::Enum(_) | Ty::Ref(_) | Ty::Null => op.apply(evaluate(a)?)?,
        },
        ExprKind::Binary(BinOp::And, a, b) => Value::from(evaluate(a)? != 0 && evaluate(b)? != 0),
        ExprKind::Binary(BinOp::Or, a, b) => Value::from(evaluate(a)? != 0 || evaluate(b)? != 0),
        ExprKind::Binary(op, a, b) => {
            let (left, right) = (Constant::Const(evaluate(a)?), Constant::Const(evaluate(b)?));
            value(&typed(*op, expr.ty, (a.ty, b.ty), left, right))?
        }
        ExprKind::Select(c, a, b) => {
            if evaluate(c)? != 0 {
                evaluate(a)?
            } else {
                evaluate(b)?
            }
        }
        ExprKind::Local(_)
        | ExprKind::LocalElement(_)
        | ExprKind::Param
        | ExprKind::Load(_)
        | ExprKind::Update(..)
        | ExprKind::ChooseRange(..)
        | ExprKind::ChooseList(_)
        | ExprKind::New(_)
        | ExprKind::Call(..)
        | ExprKind::ThreadRegister(..)
        | ExprKind::At(..)
        | ExprKind::ClientResult(..)
        | ExprKind::WholeArray(_) => unreachable!("constant expressions contain none of these"),
    })
}
