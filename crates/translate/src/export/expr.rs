//! Prints expressions with few parentheses: enough for readers and for C compiler warnings.
//!
//! The operators of `.fp`, C and Promela have the same names and the same precedence order. Only
//! the conditional expression differs.

use fencepost_ir::{BinOp, Expr, INT_LIMITS, UnOp, Value};

/// The syntax in which the languages differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// `c ? a : b`; the smallest number is written as a difference.
    C,
    /// `(c -> a : b)`.
    Promela,
    /// `c ? a : b`.
    Fp,
}

/// The precedence of the outermost operator of a text; a larger number binds more tightly.
type Binding = u8;

const SELECT: Binding = 0;
const UNARY: Binding = 11;
const ATOM: Binding = 12;

fn binding(op: BinOp) -> Binding {
    match op {
        BinOp::Or => 1,
        BinOp::And => 2,
        BinOp::BitOr => 3,
        BinOp::BitXor => 4,
        BinOp::BitAnd => 5,
        BinOp::Eq | BinOp::Ne => 6,
        BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => 7,
        BinOp::Shl | BinOp::Shr => 8,
        BinOp::Add | BinOp::Sub => 9,
        BinOp::Mul | BinOp::Div | BinOp::Rem => 10,
        BinOp::Wide(_) => unreachable!("`Unsupported::check` rejects these programs"),
    }
}

/// Prints an expression. `leaf` prints its leaves, which must bind more tightly than any operator.
pub fn text<V>(expr: &Expr<V>, dialect: Dialect, leaf: &impl Fn(&V) -> String) -> String {
    write(expr, dialect, leaf).0
}

/// Returns the negation of a condition: inverts a comparison, removes a `!`, or adds one. The
/// result may differ from `!cond` as a number, but not as a condition.
pub fn negated_condition<V: Clone>(cond: &Expr<V>) -> Expr<V> {
    match cond {
        Expr::Unary(UnOp::Not, a) => (**a).clone(),
        Expr::Const(_) | Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => {
            opposite(cond.clone())
        }
    }
}

/// Returns the negation as a value, which is 0 or 1. So it does not cancel two negations. Folds
/// constants.
pub fn logical_not<V>(cond: Expr<V>) -> Expr<V> {
    opposite(cond).fold()
}

fn opposite<V>(cond: Expr<V>) -> Expr<V> {
    let Expr::Binary(op, a, b) = cond else { return Expr::Unary(UnOp::Not, Box::new(cond)) };
    let turned = match op {
        BinOp::Eq => BinOp::Ne,
        BinOp::Ne => BinOp::Eq,
        BinOp::Lt => BinOp::Ge,
        BinOp::Le => BinOp::Gt,
        BinOp::Gt => BinOp::Le,
        BinOp::Ge => BinOp::Lt,
        BinOp::Add
        | BinOp::Sub
        | BinOp::Mul
        | BinOp::Div
        | BinOp::Rem
        | BinOp::And
        | BinOp::Or
        | BinOp::BitAnd
        | BinOp::BitOr
        | BinOp::BitXor
        | BinOp::Shl
        | BinOp::Shr
        | BinOp::Wide(_) => return Expr::Unary(UnOp::Not, Box::new(Expr::Binary(op, a, b))),
    };
    Expr::Binary(turned, a, b)
}

/// Prints a number.
pub fn number(value: Value, dialect: Dialect) -> String {
    match dialect {
        // C has no negative literals, and the absolute value of the smallest number is not an
        // `int`.
        Dialect::C | Dialect::Promela if value == INT_LIMITS.0 => {
            format!("({} - 1)", value + 1)
        }
        Dialect::C | Dialect::Promela | Dialect::Fp => value.to_string(),
    }
}

fn write<V>(expr: &Expr<V>, dialect: Dialect, leaf: &impl Fn(&V) -> String) -> (String, Binding) {
    let at_least = |expr: &Expr<V>, least: Binding| {
        let (text, binding) = write(expr, dialect, leaf);
        if binding < least { format!("({text})") } else { text }
    };
    match expr {
        Expr::Const(value) => {
            let text = number(*value, dialect);
            let binding = if text.starts_with('-') { UNARY } else { ATOM };
            (text, binding)
        }
        Expr::Var(var) => (leaf(var), ATOM),
        Expr::Unary(op, a) => (format!("{}{}", op.symbol(), at_least(a, ATOM)), UNARY),
        Expr::Binary(op, a, b) => {
            let (left, right) = (operand(*op, a, false), operand(*op, b, true));
            let text = format!("{} {} {}", at_least(a, left), op.symbol(), at_least(b, right));
            (text, binding(*op))
        }
        Expr::Select(c, a, b) => {
            let part = |e| at_least(e, SELECT + 1);
            match dialect {
                Dialect::C | Dialect::Fp => {
                    (format!("{} ? {} : {}", part(c), part(a), at_least(b, SELECT)), SELECT)
                }
                Dialect::Promela => (format!("({} -> {} : {})", part(c), part(a), part(b)), ATOM),
            }
        }
    }
}

/// Returns the precedence that an operand needs to stand without parentheses. It is higher than the
/// grammar requires where readers and compilers find the order unclear.
fn operand<V>(op: BinOp, operand: &Expr<V>, right: bool) -> Binding {
    let own = binding(op);
    let inner = match operand {
        Expr::Binary(inner, ..) => Some(*inner),
        Expr::Const(_) | Expr::Var(_) | Expr::Unary(..) | Expr::Select(..) => None,
    };
    match op {
        BinOp::And | BinOp::Or | BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => match inner {
            Some(inner) if inner == op && !right => own,
            Some(inner) if matches!(op, BinOp::And) && binding(inner) > own => own + 1,
            // `a || b == c`, but not `a || b && c`.
            Some(inner) if matches!(op, BinOp::Or) && binding(inner) > 2 => own + 1,
            Some(_) => UNARY,
            None => own + 1,
        },
        BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => {
            // Sums and shifts need no parentheses beside a comparison; another comparison does.
            binding(BinOp::Shl)
        }
        BinOp::Shl | BinOp::Shr | BinOp::Wide(_) => UNARY,
        BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Rem => {
            own + Binding::from(right)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bin(op: BinOp, a: Expr<char>, b: Expr<char>) -> Expr<char> {
        Expr::Binary(op, Box::new(a), Box::new(b))
    }

    fn var(name: char) -> Expr<char> {
        Expr::Var(name)
    }

    fn c(expr: &Expr<char>) -> String {
        text(expr, Dialect::C, &|name| name.to_string())
    }

    #[test]
    fn parentheses_are_printed_where_needed() {
        let sum = || bin(BinOp::Sub, var('a'), var('b'));
        assert_eq!(c(&bin(BinOp::Sub, sum(), var('c'))), "a - b - c");
        assert_eq!(c(&bin(BinOp::Sub, var('c'), sum())), "c - (a - b)");
        assert_eq!(c(&bin(BinOp::Mul, sum(), Expr::Const(-1))), "(a - b) * -1");
        assert_eq!(c(&bin(BinOp::Lt, sum(), var('c'))), "a - b < c");
        let less = || bin(BinOp::Lt, var('a'), var('b'));
        assert_eq!(c(&bin(BinOp::Eq, less(), var('c'))), "(a < b) == c");
        assert_eq!(c(&bin(BinOp::And, less(), less())), "a < b && a < b");
        let both = || bin(BinOp::And, var('a'), var('b'));
        assert_eq!(c(&bin(BinOp::And, both(), both())), "a && b && (a && b)");
        assert_eq!(c(&bin(BinOp::Or, both(), less())), "(a && b) || a < b");
        assert_eq!(c(&bin(BinOp::BitAnd, less(), sum())), "(a < b) & (a - b)");
        assert_eq!(c(&bin(BinOp::Shl, sum(), var('c'))), "(a - b) << c");
        let not = |e| Expr::Unary(UnOp::Not, Box::new(e));
        assert_eq!(c(&not(not(less()))), "!(!(a < b))");
        assert_eq!(c(&Expr::Unary(UnOp::Neg, Box::new(Expr::Const(-3)))), "-(-3)");
        assert_eq!(c(&Expr::Const(INT_LIMITS.0)), "(-2147483647 - 1)");
    }

    #[test]
    fn conditional_expressions_follow_the_dialect() {
        let select = |a, b, c| Expr::Select(Box::new(a), Box::new(b), Box::new(c));
        let inner = || select(var('a'), var('b'), var('c'));
        let outer = bin(BinOp::Add, select(inner(), inner(), inner()), var('d'));
        assert_eq!(c(&outer), "((a ? b : c) ? (a ? b : c) : a ? b : c) + d");
        let promela = text(&outer, Dialect::Promela, &|name| name.to_string());
        assert_eq!(promela, "((a -> b : c) -> (a -> b : c) : (a -> b : c)) + d");
    }
}
