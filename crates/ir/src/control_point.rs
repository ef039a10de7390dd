//! Control points in invariants: which ones a problem mentions, and how it depends on them.
//!
//! An invariant *requires* a control point if a thread that arrives there may make the invariant
//! hold, as in `x == 0 || p at A`. Then every statement before the label matters: the thread is
//! not at the label yet. An invariant like `!(p at A && q at B)` requires none. It can be violated
//! only by an arrival. So a state in which a thread has not arrived yet can be left out if the
//! state after the arrival has the same memory. Engines that combine steps, fences and auxiliary
//! statements rely on this.

use crate::expr::{BinOp, Expr, UnOp};
use crate::ids::{Label, ThreadId};
use crate::program::Problem;
use crate::property::{Condition, Observable, Property};

impl Condition {
    /// Returns the control points that the condition mentions, with repetitions.
    pub fn control_points(&self) -> Vec<(ThreadId, Label)> {
        let mut found = Vec::new();
        self.expr.for_each_var(&mut |what| {
            if let Observable::At(thread, label) = what {
                found.push((*thread, *label));
            }
        });
        found
    }

    /// Returns whether the condition may hold because a thread is at a control point. Conservative:
    /// true if that is not obvious from the operators.
    pub fn requires_control_point(&self) -> bool {
        requires(&self.expr, true)
    }

    fn mentions_memory(&self) -> bool {
        let mut found = false;
        self.expr.for_each_var(&mut |what| found |= !matches!(what, Observable::At(..)));
        found
    }
}

impl Problem {
    fn invariants(&self) -> impl Iterator<Item = &Condition> {
        self.properties.iter().filter_map(|property| match property {
            Property::Invariant(condition) => Some(condition),
            Property::Assertions
            | Property::MutualExclusion
            | Property::FinalForall(_)
            | Property::FinalNever(_)
            | Property::DeadlockFree
            | Property::Progress
            | Property::Operations(_) => None,
        })
    }

    /// Returns the control points that invariants mention: threads and labels.
    pub fn control_points(&self) -> Vec<(ThreadId, Label)> {
        self.invariants().flat_map(Condition::control_points).collect()
    }

    /// Returns whether an invariant mentions a control point.
    pub fn has_control_points(&self) -> bool {
        !self.control_points().is_empty()
    }

    /// Returns whether an invariant may hold because a thread is at a control point.
    pub fn requires_control_points(&self) -> bool {
        self.invariants().any(Condition::requires_control_point)
    }

    /// Returns whether an invariant mentions a location.
    pub fn has_memory_invariant(&self) -> bool {
        self.invariants().any(Condition::mentions_memory)
    }

    /// Returns whether one invariant mentions both a control point and a location.
    pub fn relates_control_points_to_memory(&self) -> bool {
        let relates = |c: &Condition| c.mentions_memory() && !c.control_points().is_empty();
        self.invariants().any(relates)
    }
}

/// Returns whether an arrival may make an expression true (`holds`) or false (not `holds`).
fn requires(expr: &Expr<Observable>, holds: bool) -> bool {
    match expr {
        Expr::Const(_) | Expr::Var(Observable::Loc(_) | Observable::Reg(..)) => false,
        Expr::Var(Observable::At(..)) => holds,
        Expr::Unary(UnOp::Not, a) => requires(a, !holds),
        Expr::Unary(UnOp::Neg | UnOp::BitNot, a) => mentions_control_point(a),
        Expr::Binary(op @ (BinOp::And | BinOp::Or), a, b) => {
            // An arrival may skip the evaluation of `b`, and so a fault, which violates.
            let may_skip = holds == (*op == BinOp::And);
            (may_skip && mentions_control_point(a) && may_fault(b))
                || requires(a, holds)
                || requires(b, holds)
        }
        Expr::Binary(_, a, b) => mentions_control_point(a) || mentions_control_point(b),
        Expr::Select(c, a, b) => {
            mentions_control_point(c) || requires(a, holds) || requires(b, holds)
        }
    }
}

fn mentions_control_point(expr: &Expr<Observable>) -> bool {
    let mut found = false;
    expr.for_each_var(&mut |what| found |= matches!(what, Observable::At(..)));
    found
}

/// Returns whether the evaluation of an expression may fault.
fn may_fault(expr: &Expr<Observable>) -> bool {
    match expr {
        Expr::Const(_) | Expr::Var(_) => false,
        Expr::Unary(UnOp::Neg, _) => true,
        Expr::Unary(UnOp::Not | UnOp::BitNot, a) => may_fault(a),
        Expr::Binary(op, a, b) => match op {
            BinOp::Add
            | BinOp::Sub
            | BinOp::Mul
            | BinOp::Div
            | BinOp::Rem
            | BinOp::Shl
            | BinOp::Shr
            | BinOp::Wide(_) => true,
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
            | BinOp::BitXor => may_fault(a) || may_fault(b),
        },
        Expr::Select(c, a, b) => may_fault(c) || may_fault(a) || may_fault(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Loc;
    use crate::span::Span;

    fn at(thread: u16) -> Expr<Observable> {
        Expr::Var(Observable::At(ThreadId(thread), Label(u32::from(thread))))
    }

    fn not(a: Expr<Observable>) -> Expr<Observable> {
        Expr::Unary(UnOp::Not, Box::new(a))
    }

    fn binary(op: BinOp, a: Expr<Observable>, b: Expr<Observable>) -> Expr<Observable> {
        Expr::Binary(op, Box::new(a), Box::new(b))
    }

    fn requires(expr: Expr<Observable>) -> bool {
        Condition { expr, text: String::new(), span: Span::default() }.requires_control_point()
    }

    #[test]
    fn only_an_at_without_a_negation_is_required() {
        let x = || Expr::Var(Observable::Loc(Loc(0)));
        assert!(!requires(not(binary(BinOp::And, at(0), at(1)))));
        assert!(!requires(binary(BinOp::Or, not(at(0)), x())));
        assert!(requires(binary(BinOp::Or, at(0), x())));
        assert!(requires(not(not(at(0)))));
        assert!(requires(binary(BinOp::Eq, at(0), at(1))));
        let select = |c, a, b| Expr::Select(Box::new(c), Box::new(a), Box::new(b));
        assert!(!requires(select(x(), not(at(0)), not(at(1)))));
        assert!(requires(select(at(0), x(), x())));
        assert!(!requires(x()));
    }

    #[test]
    fn an_arrival_that_skips_a_fault_is_required() {
        let faults = || binary(BinOp::Div, Expr::Const(1), Expr::Var(Observable::Loc(Loc(0))));
        assert!(!requires(not(binary(BinOp::And, at(0), faults()))));
        assert!(!requires(binary(BinOp::Or, not(at(0)), faults())));
        assert!(requires(not(binary(BinOp::Or, at(0), faults()))));
        assert!(requires(binary(BinOp::And, not(at(0)), faults())));
    }
}
