//! The types of the `.fp` language, and hints for type mismatches.

use fencepost_ir::{BinOp, INT_LIMITS, PoolId, Type, Value};

use super::width::Width;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns the index into a vector of these items.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// An enum.
    EnumId
);
id!(
    /// A shared variable: one location, or an array of locations.
    SharedId
);
id!(
    /// A procedure or operation.
    ProcId
);
id!(
    /// A thread template.
    TemplateId
);
id!(
    /// A register of a body (thread, procedure, `init`), before lowering assigns an IR register.
    LocalId
);

/// The type of a value. A range belongs to a variable, not to a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ty {
    /// `true` or `false`.
    Bool,
    /// A number.
    Int,
    /// A fixed-width integer, whose arithmetic wraps.
    Fixed(Width),
    /// A constant of an enum.
    Enum(EnumId),
    /// A reference to a record. Each record has one pool.
    Ref(PoolId),
    /// The type of `null`, which is compatible with every reference type.
    Null,
}

/// What happens if a value outside the range of a variable is stored to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outside {
    /// A fault.
    Fault,
    /// The value is taken modulo the size of the range.
    Wrap,
    /// The store waits.
    Block,
}

/// The type of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VarTy {
    /// The type of the values.
    pub ty: Ty,
    /// The smallest and largest value of a ranged `int` or of a fixed-width integer.
    pub range: Option<(Value, Value)>,
    /// What happens if a value outside the range is stored.
    pub outside: Outside,
}

impl VarTy {
    /// Returns the type of a variable without a declared range.
    pub fn plain(ty: Ty) -> Self {
        match ty {
            Ty::Fixed(width) => VarTy { ty, range: Some(width.range()), outside: Outside::Wrap },
            Ty::Bool | Ty::Int | Ty::Enum(_) | Ty::Ref(_) | Ty::Null => {
                VarTy { ty, range: None, outside: Outside::Fault }
            }
        }
    }

    /// Returns the range that values are wrapped into when they are stored to this variable.
    pub fn wraps(self) -> Option<(Value, Value)> {
        self.range.filter(|_| self.outside == Outside::Wrap)
    }

    /// Returns whether a value is in the range. Without a range, every value is.
    pub fn contains(self, value: Value) -> bool {
        self.range.is_none_or(|(lo, hi)| lo <= value && value <= hi)
    }
}

/// An enum.
#[derive(Clone, Debug)]
pub struct EnumInfo {
    /// The name.
    pub name: String,
    /// The names of the constants.
    pub constants: Vec<String>,
}

impl Ty {
    /// Returns whether a value of type `self` can be used where type `expected` is required. A
    /// number is converted to a fixed-width integer; the checker inserts the conversion.
    pub fn fits(self, expected: Ty) -> bool {
        self == expected
            || matches!((self, expected), (Ty::Null, Ty::Ref(_)))
            || (self.is_number() && expected.is_number())
    }

    /// Returns the type of a literal: the first of `int`, `i64` and `u64` that has the number.
    pub fn of_literal(number: i128) -> Option<Ty> {
        let (least, largest) = INT_LIMITS;
        if (i128::from(least)..=i128::from(largest)).contains(&number) {
            return Some(Ty::Int);
        }
        [Width::I64, Width::U64].into_iter().find(|width| width.has(number)).map(Ty::Fixed)
    }

    /// Returns the number that a stored value stands for.
    pub fn number(self, stored: Value) -> i128 {
        match self {
            Ty::Fixed(width) => width.number(stored),
            Ty::Bool | Ty::Int | Ty::Enum(_) | Ty::Ref(_) | Ty::Null => stored.into(),
        }
    }

    /// Returns whether the values are numbers.
    pub fn is_number(self) -> bool {
        matches!(self, Ty::Int | Ty::Fixed(_))
    }

    /// Returns the common type of two types, if they are compatible.
    pub fn join(self, other: Ty) -> Option<Ty> {
        match (self, other) {
            (Ty::Fixed(_), Ty::Int) => return Some(self),
            (Ty::Fixed(a), Ty::Fixed(b)) if a != b => return None,
            _ => {}
        }
        if self.fits(other) {
            Some(other)
        } else if other.fits(self) {
            Some(self)
        } else {
            None
        }
    }
}

/// Returns a hint that converts a value of type `found` to type `expected`, if there is a simple
/// conversion.
pub fn conversion_hint(
    found: Ty,
    expected: Ty,
    constant: Option<Value>,
    text: &str,
) -> Option<String> {
    match (expected, found) {
        (Ty::Bool, Ty::Int | Ty::Fixed(_)) => match constant {
            Some(0) if text == "0" => Some("write `false`".into()),
            Some(1) if text == "1" => Some("write `true`".into()),
            Some(_) if text.starts_with(|c: char| c.is_ascii_digit()) => None,
            Some(_) | None => Some(format!("write `{text} != 0`")),
        },
        (Ty::Bool, Ty::Ref(_)) => Some(format!("write `{text} != null`")),
        (Ty::Int | Ty::Fixed(_), Ty::Bool) => match constant {
            Some(value) => Some(format!("write `{value}`, or declare it as `bool`")),
            None => Some(format!("write `({text} ? 1 : 0)`")),
        },
        (Ty::Ref(_), Ty::Int) if constant == Some(0) => Some("write `null`".into()),
        (Ty::Fixed(_), Ty::Fixed(_)) => {
            Some("assign it to a register of the other type first, which wraps".into())
        }
        (Ty::Bool | Ty::Int | Ty::Fixed(_) | Ty::Enum(_) | Ty::Ref(_) | Ty::Null, _) => None,
    }
}

/// Returns whether an operator takes numbers only and returns a number.
pub fn is_arithmetic(op: BinOp) -> bool {
    match op {
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
    }
}

/// Returns whether an operator always returns a `bool`.
pub fn is_boolean(op: BinOp) -> bool {
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
        | BinOp::Shl
        | BinOp::Shr
        | BinOp::BitAnd
        | BinOp::BitOr
        | BinOp::BitXor
        | BinOp::Wide(_) => false,
    }
}

/// Converts the type of a variable to the program representation.
pub fn to_ir(ty: VarTy, enums: &[EnumInfo]) -> Type {
    match ty.ty {
        Ty::Bool => Type::Bool,
        Ty::Int => Type::Int { range: ty.range },
        Ty::Fixed(width) => width.to_ir(),
        Ty::Enum(id) => {
            let info = &enums[id.index()];
            Type::Enum { name: info.name.clone(), constants: info.constants.clone() }
        }
        Ty::Ref(pool) => Type::Ref(pool),
        // Only a temporary for a bare `null` has this type.
        Ty::Null => Type::Int { range: Some((0, 0)) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_has_the_first_type_that_holds_it() {
        let (signed, unsigned) = (Some(Ty::Fixed(Width::I64)), Some(Ty::Fixed(Width::U64)));
        for (number, ty) in [
            (0, Some(Ty::Int)),
            (i128::from(i32::MAX), Some(Ty::Int)),
            (i128::from(i32::MIN), Some(Ty::Int)),
            (1 << 31, signed),
            (-(1 << 31) - 1, signed),
            (i128::from(i64::MIN), signed),
            (1 << 63, unsigned),
            (i128::from(u64::MAX), unsigned),
            (1 << 64, None),
            (i128::from(i64::MIN) - 1, None),
        ] {
            assert_eq!(Ty::of_literal(number), ty, "{number}");
        }
    }
}
