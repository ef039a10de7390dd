//! Turns expressions of the program representation, in which every value is a number, into typed
//! `.fp` expressions with numbers, truth values, enum constants and references.
//!
//! Numbers and truth values are converted where the program needs it: `b ? 1 : 0`, `n != 0`. A
//! number is never converted to an enum constant or a reference. A program that needs such a
//! conversion has no `.fp` text.

use super::fixed::FixedWidth;
use fencepost_ir::{BinOp, Expr, PoolId, Program, Type, UnOp, Value};

/// The `.fp` type of a value, without ranges.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ValueType {
    Bool,
    Int,
    /// A constant of the enum with this name and these constants.
    Enum(String, Vec<String>),
    Ref(PoolId),
    /// A number literal, which takes any type.
    Literal,
}

impl ValueType {
    pub(super) fn of(ty: &Type) -> ValueType {
        match ty {
            Type::Bool => ValueType::Bool,
            Type::Int { .. } | Type::U64 => ValueType::Int,
            Type::Enum { name, constants } => ValueType::Enum(name.clone(), constants.clone()),
            Type::Ref(pool) => ValueType::Ref(*pool),
        }
    }

    /// Returns the common type of two values, if there is one.
    fn join(self, other: ValueType) -> Option<ValueType> {
        match (self, other) {
            (ValueType::Literal, kind) | (kind, ValueType::Literal) => Some(kind),
            (a, b) if a == b => Some(a),
            (ValueType::Bool, ValueType::Int) | (ValueType::Int, ValueType::Bool) => {
                Some(ValueType::Int)
            }
            _ => None,
        }
    }
}

/// A typed `.fp` expression; a leaf is its text.
pub(super) type TypedExpr = Expr<String>;

/// Returns a leaf with this text.
pub(super) fn atom(text: impl Into<String>) -> TypedExpr {
    Expr::Var(text.into())
}

/// Returns the `.fp` literal for a value of this type; `None` if there is none.
pub(super) fn constant(value: Value, expected: &ValueType) -> Option<TypedExpr> {
    match (expected, value) {
        (ValueType::Int | ValueType::Literal, _) => Some(Expr::Const(value)),
        (ValueType::Bool, 0) => Some(atom("false")),
        (ValueType::Bool, 1) => Some(atom("true")),
        (ValueType::Enum(_, constants), _) => {
            Some(atom(constants.get(usize::try_from(value).ok()?)?.clone()))
        }
        (ValueType::Ref(_), 0) => Some(atom("null")),
        (ValueType::Bool | ValueType::Ref(_), _) => None,
    }
}

/// Writes expressions with leaves of one kind.
pub(super) struct TypedWriter<'a, V> {
    /// Returns the name and the type of a leaf.
    pub(super) leaf: &'a dyn Fn(&V) -> (String, ValueType),
}

impl<V> TypedWriter<'_, V> {
    /// Writes an expression of the expected type; `None` if it cannot have this type.
    pub(super) fn write(&self, expr: &Expr<V>, expected: &ValueType) -> Option<TypedExpr> {
        if let Expr::Const(value) = expr {
            // A number other than 0 and 1 has no boolean literal: as a condition it holds, as a
            // value it is a fault.
            return constant(*value, expected);
        }
        if let Expr::Select(c, a, b) = expr {
            let part = |e| Some(Box::new(self.write(e, expected)?));
            return Some(Expr::Select(
                Box::new(self.write(c, &ValueType::Bool)?),
                part(a)?,
                part(b)?,
            ));
        }
        let (written, kind) = self.write_natural(expr)?;
        convert(written, &kind, expected)
    }

    /// Writes an expression with its own type.
    fn write_natural(&self, expr: &Expr<V>) -> Option<(TypedExpr, ValueType)> {
        let kind = self.value_type(expr)?;
        let written = match expr {
            Expr::Const(value) => Expr::Const(*value),
            Expr::Var(var) => atom((self.leaf)(var).0),
            Expr::Unary(op, a) => {
                let operand = match op {
                    UnOp::Not => ValueType::Bool,
                    UnOp::Neg | UnOp::BitNot => ValueType::Int,
                };
                Expr::Unary(*op, Box::new(self.write(a, &operand)?))
            }
            Expr::Binary(op, a, b) => {
                let operands = match op {
                    BinOp::And | BinOp::Or => ValueType::Bool,
                    BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => kind.clone(),
                    BinOp::Eq | BinOp::Ne => self.value_type(a)?.join(self.value_type(b)?)?,
                    BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => ValueType::Int,
                    BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Rem => {
                        ValueType::Int
                    }
                    BinOp::Shl | BinOp::Shr | BinOp::Wide(_) => ValueType::Int,
                };
                let part = |e| Some(Box::new(self.write(e, &operands)?));
                Expr::Binary(*op, part(a)?, part(b)?)
            }
            Expr::Select(..) => self.write(expr, &kind)?,
        };
        Some((written, kind))
    }

    fn value_type(&self, expr: &Expr<V>) -> Option<ValueType> {
        Some(match expr {
            Expr::Const(_) => ValueType::Literal,
            Expr::Var(var) => (self.leaf)(var).1,
            Expr::Unary(UnOp::Not, _) => ValueType::Bool,
            Expr::Unary(UnOp::Neg | UnOp::BitNot, _) => ValueType::Int,
            Expr::Binary(op, a, b) => match op {
                BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => {
                    ValueType::Bool
                }
                BinOp::And | BinOp::Or => ValueType::Bool,
                BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => {
                    let small = |e: &Expr<V>| e.as_const().is_none_or(|v| v == 0 || v == 1);
                    match self.value_type(a)?.join(self.value_type(b)?)? {
                        ValueType::Bool if small(a) && small(b) => ValueType::Bool,
                        _ => ValueType::Int,
                    }
                }
                BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Rem => ValueType::Int,
                BinOp::Shl | BinOp::Shr | BinOp::Wide(_) => ValueType::Int,
            },
            Expr::Select(_, a, b) => self.value_type(a)?.join(self.value_type(b)?)?,
        })
    }
}

/// Converts an expression from one type to another; `None` if there is no conversion.
pub(super) fn convert(written: TypedExpr, from: &ValueType, to: &ValueType) -> Option<TypedExpr> {
    let test =
        |other: TypedExpr, e: TypedExpr| Expr::Binary(BinOp::Ne, Box::new(e), Box::new(other));
    match (from, to) {
        (from, to) if from == to => Some(written),
        (_, ValueType::Literal) | (ValueType::Literal, ValueType::Int) => Some(written),
        (ValueType::Bool, ValueType::Int) => {
            let (one, zero) = (Expr::Const(1), Expr::Const(0));
            Some(Expr::Select(Box::new(written), Box::new(one), Box::new(zero)))
        }
        (ValueType::Literal | ValueType::Int, ValueType::Bool) => {
            Some(test(Expr::Const(0), written))
        }
        (ValueType::Ref(_), ValueType::Bool) => Some(test(atom("null"), written)),
        (ValueType::Enum(_, constants), ValueType::Bool) => {
            Some(test(atom(constants[0].clone()), written))
        }
        _ => None,
    }
}

/// Returns the name of a type. With a width, all integers have this type.
pub(super) fn type_name(program: &Program, ty: &Type, width: Option<FixedWidth>) -> String {
    match ty {
        Type::Bool => "bool".into(),
        Type::Int { range: None } => width.map_or("int", FixedWidth::name).into(),
        Type::U64 => "u64".into(),
        Type::Int { range: Some((lo, hi)) } => format!("int({lo}..={hi})"),
        Type::Enum { name, .. } => name.clone(),
        Type::Ref(pool) => program.pool(*pool).name.clone(),
    }
}
