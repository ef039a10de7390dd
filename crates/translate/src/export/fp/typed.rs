//! Expressions of the program representation, where every value is a number, as expressions of the language,
//! where numbers, truth values, constants of enums and references are different things.
//!
//! Numbers and truth values are turned into each other where the program needs it: `b ? 1 : 0`, `n != 0`.
//! Nothing turns a number into a constant of an enum or into a reference; a program that does has no text.

use fencepost_ir::{BinOp, Expr, PoolId, Program, Type, UnOp, Value};

/// What a value is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Bool,
    Int,
    /// A constant of this enum.
    Enum(String, Vec<String>),
    Ref(PoolId),
    /// A number that may stand for something else.
    Open,
}

impl Kind {
    pub(super) fn of(ty: &Type) -> Kind {
        match ty {
            Type::Bool => Kind::Bool,
            Type::Int { .. } => Kind::Int,
            Type::Enum { name, constants } => Kind::Enum(name.clone(), constants.clone()),
            Type::Ref(pool) => Kind::Ref(*pool),
        }
    }

    /// What both of two values can be written as, if there is anything.
    fn join(self, other: Kind) -> Option<Kind> {
        match (self, other) {
            (Kind::Open, kind) | (kind, Kind::Open) => Some(kind),
            (a, b) if a == b => Some(a),
            (Kind::Bool, Kind::Int) | (Kind::Int, Kind::Bool) => Some(Kind::Int),
            _ => None,
        }
    }
}

/// A value of the program as the language writes it.
pub(super) type Written = Expr<String>;

/// A text that stands where a name could.
pub(super) fn atom(text: impl Into<String>) -> Written {
    Expr::Var(text.into())
}

/// The language's word for a value.
pub(super) fn constant(value: Value, wanted: &Kind) -> Option<Written> {
    match (wanted, value) {
        (Kind::Int | Kind::Open, _) => Some(Expr::Const(value)),
        (Kind::Bool, 0) => Some(atom("false")),
        (Kind::Bool, 1) => Some(atom("true")),
        (Kind::Enum(_, constants), _) => {
            Some(atom(constants.get(usize::try_from(value).ok()?)?.clone()))
        }
        (Kind::Ref(_), 0) => Some(atom("null")),
        (Kind::Bool | Kind::Ref(_), _) => None,
    }
}

/// Writes an expression with leaves of one sort.
pub(super) struct Typed<'a, V> {
    /// The name of a leaf and what it holds.
    pub(super) leaf: &'a dyn Fn(&V) -> (String, Kind),
}

impl<V> Typed<'_, V> {
    /// The expression where a value of this kind is wanted. None when it cannot be one.
    pub(super) fn write(&self, expr: &Expr<V>, wanted: &Kind) -> Option<Written> {
        if let Expr::Const(value) = expr {
            // As a condition, any number but 0 holds; as a value it would be a fault.
            return constant(*value, wanted);
        }
        if let Expr::Select(c, a, b) = expr {
            let part = |e| Some(Box::new(self.write(e, wanted)?));
            return Some(Expr::Select(Box::new(self.write(c, &Kind::Bool)?), part(a)?, part(b)?));
        }
        let (written, kind) = self.natural(expr)?;
        convert(written, &kind, wanted)
    }

    /// The expression as what it is by itself.
    fn natural(&self, expr: &Expr<V>) -> Option<(Written, Kind)> {
        let kind = self.kind(expr)?;
        let written = match expr {
            Expr::Const(value) => Expr::Const(*value),
            Expr::Var(var) => atom((self.leaf)(var).0),
            Expr::Unary(op, a) => {
                let operand = match op {
                    UnOp::Not => Kind::Bool,
                    UnOp::Neg | UnOp::BitNot => Kind::Int,
                };
                Expr::Unary(*op, Box::new(self.write(a, &operand)?))
            }
            Expr::Binary(op, a, b) => {
                let operands = match op {
                    BinOp::And | BinOp::Or => Kind::Bool,
                    BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => kind.clone(),
                    BinOp::Eq | BinOp::Ne => self.kind(a)?.join(self.kind(b)?)?,
                    BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => Kind::Int,
                    BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Rem => Kind::Int,
                    BinOp::Shl | BinOp::Shr => Kind::Int,
                };
                let part = |e| Some(Box::new(self.write(e, &operands)?));
                Expr::Binary(*op, part(a)?, part(b)?)
            }
            Expr::Select(..) => self.write(expr, &kind)?,
        };
        Some((written, kind))
    }

    fn kind(&self, expr: &Expr<V>) -> Option<Kind> {
        Some(match expr {
            Expr::Const(_) => Kind::Open,
            Expr::Var(var) => (self.leaf)(var).1,
            Expr::Unary(UnOp::Not, _) => Kind::Bool,
            Expr::Unary(UnOp::Neg | UnOp::BitNot, _) => Kind::Int,
            Expr::Binary(op, a, b) => match op {
                BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => Kind::Bool,
                BinOp::And | BinOp::Or => Kind::Bool,
                BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => {
                    let small = |e: &Expr<V>| e.as_const().is_none_or(|v| v == 0 || v == 1);
                    match self.kind(a)?.join(self.kind(b)?)? {
                        Kind::Bool if small(a) && small(b) => Kind::Bool,
                        _ => Kind::Int,
                    }
                }
                BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Rem => Kind::Int,
                BinOp::Shl | BinOp::Shr => Kind::Int,
            },
            Expr::Select(_, a, b) => self.kind(a)?.join(self.kind(b)?)?,
        })
    }
}

/// A value of one kind where another one is wanted.
pub(super) fn convert(written: Written, from: &Kind, to: &Kind) -> Option<Written> {
    let test = |other: Written, e: Written| Expr::Binary(BinOp::Ne, Box::new(e), Box::new(other));
    match (from, to) {
        (from, to) if from == to => Some(written),
        (_, Kind::Open) | (Kind::Open, Kind::Int) => Some(written),
        (Kind::Bool, Kind::Int) => {
            let (one, zero) = (Expr::Const(1), Expr::Const(0));
            Some(Expr::Select(Box::new(written), Box::new(one), Box::new(zero)))
        }
        (Kind::Open | Kind::Int, Kind::Bool) => Some(test(Expr::Const(0), written)),
        (Kind::Ref(_), Kind::Bool) => Some(test(atom("null"), written)),
        (Kind::Enum(_, constants), Kind::Bool) => Some(test(atom(constants[0].clone()), written)),
        _ => None,
    }
}

/// The name of a type.
pub(super) fn type_name(program: &Program, ty: &Type) -> String {
    match ty {
        Type::Bool => "bool".into(),
        Type::Int { range: None } => "int".into(),
        Type::Int { range: Some((lo, hi)) } => format!("int({lo}..={hi})"),
        Type::Enum { name, .. } => name.clone(),
        Type::Ref(pool) => program.pool(*pool).name.clone(),
    }
}
