//! Writes conditions on final states in herd's syntax.
//!
//! An atom compares a location or register with a number or with another location or register.
//! Other operators, such as `+` and `<`, are not available.

use crate::UnsupportedInLitmus;
use fencepost_ir::{BinOp, Expr, Observable, Type, UnOp, Value};

/// The precedence of the outermost operator of a text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Or,
    And,
    Atom,
}

/// Writes conditions, with the names and types of observables.
pub(super) struct Conditions<'a> {
    /// Returns the name of a location or register.
    pub(super) name: &'a dyn Fn(Observable) -> String,
    /// Returns the type of a location or register.
    pub(super) ty: &'a dyn Fn(Observable) -> Type,
}

impl Conditions<'_> {
    /// Writes a condition in parentheses, or returns the reason why it cannot be expressed.
    pub(super) fn text(&self, condition: &Expr<Observable>) -> Result<String, UnsupportedInLitmus> {
        let (text, _) = self.holds(condition)?;
        Ok(format!("({text})"))
    }

    /// Writes the condition that an expression is not zero.
    fn holds(&self, expr: &Expr<Observable>) -> Result<(String, Binding), UnsupportedInLitmus> {
        Ok(match expr {
            Expr::Const(0) => ("false".into(), Binding::Atom),
            Expr::Const(_) => ("true".into(), Binding::Atom),
            Expr::Var(what) => match (self.ty)(*what) {
                Type::Bool => (self.is(*what, 1), Binding::Atom),
                Type::Int { .. } | Type::U64 | Type::Enum { .. } | Type::Ref(_) => {
                    not(&self.is(*what, 0))
                }
            },
            Expr::Unary(UnOp::Not, inner) => match inner.as_ref() {
                Expr::Var(what) => (self.is(*what, 0), Binding::Atom),
                inner => not(&self.holds(inner)?.0),
            },
            Expr::Binary(BinOp::And, a, b) => (self.both(a, b, Binding::And)?, Binding::And),
            Expr::Binary(BinOp::Or, a, b) => (self.both(a, b, Binding::Or)?, Binding::Or),
            Expr::Binary(BinOp::Eq, a, b) => (self.equal(a, b)?, Binding::Atom),
            Expr::Binary(BinOp::Ne, a, b) => not(&self.equal(a, b)?),
            Expr::Binary(op, ..) => {
                return Err(UnsupportedInLitmus::ConditionOperator(op.symbol()));
            }
            Expr::Unary(op, _) => return Err(UnsupportedInLitmus::ConditionOperator(op.symbol())),
            Expr::Select(..) => return Err(UnsupportedInLitmus::ConditionOperator("?:")),
        })
    }

    fn both(
        &self,
        a: &Expr<Observable>,
        b: &Expr<Observable>,
        binding: Binding,
    ) -> Result<String, UnsupportedInLitmus> {
        let operator = if binding == Binding::And { "/\\" } else { "\\/" };
        let mut sides = Vec::new();
        for side in [a, b] {
            let (text, inner) = self.holds(side)?;
            sides.push(if inner < binding { format!("({text})") } else { text });
        }
        Ok(sides.join(&format!(" {operator} ")))
    }

    fn equal(
        &self,
        a: &Expr<Observable>,
        b: &Expr<Observable>,
    ) -> Result<String, UnsupportedInLitmus> {
        match (a, b) {
            (Expr::Var(what), Expr::Const(value)) | (Expr::Const(value), Expr::Var(what)) => {
                Ok(self.is(*what, *value))
            }
            (Expr::Var(a), Expr::Var(b)) => Ok(format!("{}={}", self.of(*a), self.of(*b))),
            _ => Err(UnsupportedInLitmus::Comparison),
        }
    }

    fn is(&self, what: Observable, value: Value) -> String {
        format!("{}={value}", self.of(what))
    }

    fn of(&self, what: Observable) -> String {
        match what {
            Observable::Loc(_) => format!("[{}]", (self.name)(what)),
            Observable::Reg(..) | Observable::At(..) => (self.name)(what),
        }
    }
}

fn not(text: &str) -> (String, Binding) {
    (format!("~({text})"), Binding::Atom)
}
