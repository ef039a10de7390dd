//! The types of the `.fp` language, and hints for type mismatches.

use fencepost_ir::{BinOp, PoolId, Type, Value};

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
    /// A constant of an enum.
    Enum(EnumId),
    /// A reference to a record. Each record has one pool.
    Ref(PoolId),
    /// The type of `null`, which is compatible with every reference type.
    Null,
}

/// The type of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VarTy {
    /// The type of the values.
    pub ty: Ty,
    /// The smallest and largest value of a ranged `int`.
    pub range: Option<(Value, Value)>,
}

impl VarTy {
    /// Returns the type of a variable without a range.
    pub fn plain(ty: Ty) -> Self {
        VarTy { ty, range: None }
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
    /// Returns whether a value of type `self` can be used where type `expected` is required.
    pub fn fits(self, expected: Ty) -> bool {
        self == expected || matches!((self, expected), (Ty::Null, Ty::Ref(_)))
    }

    /// Returns the common type of two types, if they are compatible.
    pub fn join(self, other: Ty) -> Option<Ty> {
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
        (Ty::Bool, Ty::Int) => match constant {
            Some(0) if text == "0" => Some("write `false`".into()),
            Some(1) if text == "1" => Some("write `true`".into()),
            Some(_) if text.starts_with(|c: char| c.is_ascii_digit()) => None,
            Some(_) | None => Some(format!("write `{text} != 0`")),
        },
        (Ty::Bool, Ty::Ref(_)) => Some(format!("write `{text} != null`")),
        (Ty::Int, Ty::Bool) => match constant {
            Some(value) => Some(format!("write `{value}`, or declare it as `bool`")),
            None => Some(format!("write `({text} ? 1 : 0)`")),
        },
        (Ty::Ref(_), Ty::Int) if constant == Some(0) => Some("write `null`".into()),
        (Ty::Bool | Ty::Int | Ty::Enum(_) | Ty::Ref(_) | Ty::Null, _) => None,
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
        | BinOp::Shr => true,
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
        | BinOp::BitXor => false,
    }
}

/// Converts the type of a variable to the program representation.
pub fn to_ir(ty: VarTy, enums: &[EnumInfo]) -> Type {
    match ty.ty {
        Ty::Bool => Type::Bool,
        Ty::Int => Type::Int { range: ty.range },
        Ty::Enum(id) => {
            let info = &enums[id.index()];
            Type::Enum { name: info.name.clone(), constants: info.constants.clone() }
        }
        Ty::Ref(pool) => Type::Ref(pool),
        // Only a temporary for a bare `null` has this type.
        Ty::Null => Type::Int { range: Some((0, 0)) },
    }
}
