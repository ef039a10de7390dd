//! Evaluation of expressions over abstract values, as expressions.
//!
//! For an expression e, [`Formulas::unknown`] is an expression that is true if the abstract operands
//! do not determine the value of e, [`Formulas::value`] is the value of e otherwise, and
//! [`Formulas::can`] is true if e can be true (or false) for some values that the abstract operands
//! stand for. Direction: over-approximation. Correlations between operands are lost.

use super::{CannotAbstract, Domain};
use fencepost_ir::{BinOp, Expr, UnOp, Value};
use std::cell::Cell;

/// The largest number of nodes of the expressions for one expression of the program.
const MAX_NODES: u32 = 20_000;

/// Builds expressions over abstract values.
pub(super) struct Formulas<'a, V> {
    domain: &'a Domain,
    is_abstract: &'a dyn Fn(&V) -> bool,
    /// How many nodes may still be built.
    fuel: Cell<u32>,
}

/// Returns whether the value of an expression is always 0 or 1.
pub(super) fn is_boolean<V>(expr: &Expr<V>) -> bool {
    match expr {
        Expr::Const(value) => matches!(value, 0 | 1),
        Expr::Var(_) => false,
        Expr::Unary(op, _) => *op == UnOp::Not,
        Expr::Binary(op, ..) => is_boolean_operator(*op),
        Expr::Select(_, a, b) => is_boolean(a) && is_boolean(b),
    }
}

fn is_boolean_operator(op: BinOp) -> bool {
    match op {
        BinOp::Eq
        | BinOp::Ne
        | BinOp::Lt
        | BinOp::Le
        | BinOp::Gt
        | BinOp::Ge
        | BinOp::And
        | BinOp::Or => true,
        BinOp::Add
        | BinOp::Sub
        | BinOp::Mul
        | BinOp::Div
        | BinOp::Rem
        | BinOp::BitAnd
        | BinOp::BitOr
        | BinOp::BitXor
        | BinOp::Shl
        | BinOp::Shr
        | BinOp::Wide(_) => false,
    }
}

/// Returns the negation.
pub(super) fn not<V>(a: Expr<V>) -> Expr<V> {
    Expr::Unary(UnOp::Not, Box::new(a)).fold()
}

fn binary<V>(op: BinOp, a: Expr<V>, b: Expr<V>) -> Expr<V> {
    Expr::Binary(op, Box::new(a), Box::new(b)).fold()
}

fn select<V>(c: Expr<V>, a: Expr<V>, b: Expr<V>) -> Expr<V> {
    Expr::Select(Box::new(c), Box::new(a), Box::new(b)).fold()
}

fn truth<V>(value: bool) -> Expr<V> {
    Expr::Const(Value::from(value))
}

impl<'a, V: Clone> Formulas<'a, V> {
    pub(super) fn new(domain: &'a Domain, is_abstract: &'a dyn Fn(&V) -> bool) -> Self {
        Formulas { domain, is_abstract, fuel: Cell::new(MAX_NODES) }
    }

    /// Returns the expression, unless it or another one since the last call is too large.
    pub(super) fn finish(&self, expr: Expr<V>) -> Result<Expr<V>, CannotAbstract> {
        match self.fuel.replace(MAX_NODES) {
            0 => Err(CannotAbstract::TooLarge),
            _ => Ok(expr),
        }
    }

    /// Returns whether an expression reads an abstract value.
    pub(super) fn reads(&self, expr: &Expr<V>) -> bool {
        let mut reads = false;
        expr.for_each_var(&mut |var| reads |= (self.is_abstract)(var));
        reads
    }

    /// Checks that the right operands of divisions and shifts of abstract values are constants with
    /// which the operator does not fault.
    pub(super) fn check(&self, expr: &Expr<V>) -> Result<(), CannotAbstract> {
        if !self.reads(expr) {
            return Ok(());
        }
        match expr {
            Expr::Const(_) | Expr::Var(_) => Ok(()),
            Expr::Unary(_, a) => self.check(a),
            Expr::Binary(op, a, b) => {
                let is_safe = match op {
                    BinOp::Div | BinOp::Rem => b.as_const().is_some_and(|b| b > 0),
                    BinOp::Shl | BinOp::Shr => b.as_const().is_some_and(|b| (0..32).contains(&b)),
                    BinOp::Wide(_) => false,
                    BinOp::Add
                    | BinOp::Sub
                    | BinOp::Mul
                    | BinOp::Eq
                    | BinOp::Ne
                    | BinOp::Lt
                    | BinOp::Le
                    | BinOp::Gt
                    | BinOp::Ge
                    | BinOp::And
                    | BinOp::Or
                    | BinOp::BitAnd
                    | BinOp::BitOr
                    | BinOp::BitXor => true,
                };
                if !is_safe {
                    return Err(CannotAbstract::Divisor);
                }
                self.check(a)?;
                self.check(b)
            }
            Expr::Select(c, a, b) => {
                self.check(c)?;
                self.check(a)?;
                self.check(b)
            }
        }
    }

    /// Checks that no part without abstract values may fault, if the expression reads one. The
    /// evaluation may skip such a part.
    pub(super) fn check_no_fault(&self, expr: &Expr<V>) -> Result<(), CannotAbstract> {
        let mut parts = Vec::new();
        if self.reads(expr) {
            self.exact_parts(expr, &mut parts);
        }
        if parts.is_empty() { Ok(()) } else { Err(CannotAbstract::Condition) }
    }

    /// Collects the largest parts without abstract values that may fault.
    pub(super) fn exact_parts<'e>(&self, expr: &'e Expr<V>, parts: &mut Vec<&'e Expr<V>>) {
        if !self.reads(expr) {
            if may_fault(expr) {
                parts.push(expr);
            }
            return;
        }
        match expr {
            Expr::Const(_) | Expr::Var(_) => {}
            Expr::Unary(_, a) => self.exact_parts(a, parts),
            Expr::Binary(_, a, b) => {
                self.exact_parts(a, parts);
                self.exact_parts(b, parts);
            }
            Expr::Select(c, a, b) => {
                self.exact_parts(c, parts);
                self.exact_parts(a, parts);
                self.exact_parts(b, parts);
            }
        }
    }

    /// Returns whether an expression is one abstract variable.
    fn is_variable(&self, expr: &Expr<V>) -> bool {
        matches!(expr, Expr::Var(var) if (self.is_abstract)(var))
    }

    /// Returns whether the encoded operands determine the abstract value of an expression: it
    /// combines only comparisons of variables with kept values, and no arithmetic. `many` differs
    /// from every kept value, and is true.
    pub(super) fn is_determined(&self, expr: &Expr<V>) -> bool {
        if !self.reads(expr) || self.is_variable(expr) {
            return true;
        }
        let is_kept = |expr: &Expr<V>| {
            expr.as_const().is_some_and(|value| self.domain.kept.binary_search(&value).is_ok())
        };
        match expr {
            Expr::Const(_) | Expr::Var(_) => true,
            Expr::Unary(op, a) => *op == UnOp::Not && self.is_determined(a),
            Expr::Binary(BinOp::And | BinOp::Or, a, b) => {
                self.is_determined(a) && self.is_determined(b)
            }
            Expr::Binary(BinOp::Eq | BinOp::Ne, a, b) => {
                self.is_variable(a) && is_kept(b) || is_kept(a) && self.is_variable(b)
            }
            Expr::Binary(..) => false,
            Expr::Select(c, a, b) => [c, a, b].iter().all(|part| self.is_determined(part)),
        }
    }

    /// Returns an expression that is true if a value is kept.
    pub(super) fn is_kept(&self, value: &Expr<V>) -> Expr<V> {
        let mut runs: Vec<(Value, Value)> = Vec::new();
        for kept in &self.domain.kept {
            match runs.last_mut() {
                Some((_, last)) if last.checked_add(1) == Some(*kept) => *last = *kept,
                _ => runs.push((*kept, *kept)),
            }
        }
        let within = |(lo, hi): (Value, Value)| match lo == hi {
            true => binary(BinOp::Eq, value.clone(), Expr::Const(lo)),
            false => binary(
                BinOp::And,
                binary(BinOp::Ge, value.clone(), Expr::Const(lo)),
                binary(BinOp::Le, value.clone(), Expr::Const(hi)),
            ),
        };
        let all = runs.into_iter().map(within);
        all.reduce(|a, b| binary(BinOp::Or, a, b)).unwrap_or(truth(false))
    }

    /// Returns the abstract value of a value.
    pub(super) fn abstraction(&self, value: &Expr<V>) -> Expr<V> {
        select(self.is_kept(value), value.clone(), Expr::Const(self.domain.many))
    }

    /// Uses fuel. Returns whether there is none left.
    fn is_exhausted(&self) -> bool {
        let left = self.fuel.get().saturating_sub(1);
        self.fuel.set(left);
        left == 0
    }

    /// Returns whether the abstract operands do not determine the value.
    pub(super) fn unknown(&self, expr: &Expr<V>) -> Expr<V> {
        if self.is_exhausted() || !self.reads(expr) {
            return truth(false);
        }
        if is_boolean(expr) {
            return match self.is_determined(expr) {
                true => truth(false),
                false => binary(BinOp::And, self.can(expr, true), self.can(expr, false)),
            };
        }
        match expr {
            Expr::Const(_) => truth(false),
            Expr::Var(_) => binary(BinOp::Eq, expr.clone(), Expr::Const(self.domain.many)),
            Expr::Unary(_, a) => self.unknown(a),
            Expr::Binary(_, a, b) => binary(BinOp::Or, self.unknown(a), self.unknown(b)),
            Expr::Select(c, a, b) => {
                let chosen = select(self.can(c, true), self.unknown(a), self.unknown(b));
                let open = binary(BinOp::And, self.can(c, true), self.can(c, false));
                select(open, truth(true), chosen)
            }
        }
    }

    /// Returns the value, if it is not unknown.
    pub(super) fn value(&self, expr: &Expr<V>) -> Expr<V> {
        if self.is_exhausted() || self.is_determined(expr) {
            return expr.clone();
        }
        if is_boolean(expr) {
            return self.can(expr, true);
        }
        match expr {
            Expr::Const(_) | Expr::Var(_) => expr.clone(),
            Expr::Unary(op, a) => Expr::Unary(*op, Box::new(self.value(a))).fold(),
            Expr::Binary(op, a, b) => binary(*op, self.value(a), self.value(b)),
            Expr::Select(c, a, b) => select(self.can(c, true), self.value(a), self.value(b)),
        }
    }

    /// Returns whether the value can be true (`wanted`) or false (otherwise).
    pub(super) fn can(&self, expr: &Expr<V>, wanted: bool) -> Expr<V> {
        let zero = if wanted { BinOp::Ne } else { BinOp::Eq };
        if self.is_exhausted() || self.is_determined(expr) {
            return binary(zero, expr.clone(), Expr::Const(0));
        }
        match expr {
            Expr::Unary(UnOp::Not, a) => self.can(a, !wanted),
            Expr::Binary(op @ (BinOp::And | BinOp::Or), a, b) => {
                let both = (*op == BinOp::And) == wanted;
                let combine = if both { BinOp::And } else { BinOp::Or };
                binary(combine, self.can(a, wanted), self.can(b, wanted))
            }
            Expr::Binary(op @ (BinOp::Eq | BinOp::Ne), a, b) => {
                self.can_be_equal(a, b, (*op == BinOp::Eq) == wanted)
            }
            Expr::Binary(op, a, b) if is_boolean_operator(*op) => {
                let open = binary(BinOp::Or, self.unknown(a), self.unknown(b));
                let known = binary(*op, self.value(a), self.value(b));
                select(open, truth(true), if wanted { known } else { not(known) })
            }
            Expr::Select(c, a, b) => {
                let then = binary(BinOp::And, self.can(c, true), self.can(a, wanted));
                let otherwise = binary(BinOp::And, self.can(c, false), self.can(b, wanted));
                binary(BinOp::Or, then, otherwise)
            }
            Expr::Const(_) | Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) => {
                let known = binary(zero, self.value(expr), Expr::Const(0));
                select(self.unknown(expr), truth(true), known)
            }
        }
    }

    /// Returns whether two values can be equal (`wanted`) or different (otherwise).
    fn can_be_equal(&self, a: &Expr<V>, b: &Expr<V>, wanted: bool) -> Expr<V> {
        let open = [self.unknown(a), self.unknown(b)];
        let (left, right) = (self.value(a), self.value(b));
        if !wanted {
            let [one, other] = open;
            let known = binary(BinOp::Ne, left, right);
            return select(binary(BinOp::Or, one, other), truth(true), known);
        }
        // `many` differs from every kept value.
        let may_equal = |unknown: &Expr<V>, known: &Expr<V>| match self.is_variable(unknown) {
            true => not(self.is_kept(known)),
            false => truth(true),
        };
        let [one, other] = open;
        let with_left = select(other.clone(), truth(true), may_equal(a, &right));
        let with_right = may_equal(b, &left);
        let known = binary(BinOp::Eq, left, right);
        select(one, with_left, select(other, with_right, known))
    }
}

/// Returns whether an expression contains an operator that may fault.
fn may_fault<V>(expr: &Expr<V>) -> bool {
    match expr {
        Expr::Const(_) | Expr::Var(_) => false,
        Expr::Unary(op, a) => *op == UnOp::Neg || may_fault(a),
        Expr::Binary(op, a, b) => {
            let faults = match op {
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
                | BinOp::BitXor => false,
            };
            faults || may_fault(a) || may_fault(b)
        }
        Expr::Select(c, a, b) => may_fault(c) || may_fault(a) || may_fault(b),
    }
}
