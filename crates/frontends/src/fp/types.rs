//! The types of the language, and what to say when two of them meet that do not go together.

use fencepost_ir::{BinOp, PoolId, Type, Value};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);

        impl $name {
            /// The position of this id in a vector indexed by it.
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
    /// A shared variable: one location, or an array of them.
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
    /// A register of a body (thread, procedure, `init`), before it is placed in a thread.
    LocalId
);

/// The type of a value. Ranges belong to the variable, not to the value it holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ty {
    /// `true` or `false`.
    Bool,
    /// A number.
    Int,
    /// A constant of an enum.
    Enum(EnumId),
    /// A reference to a record; each record has one pool.
    Ref(PoolId),
    /// `null`, which fits every reference.
    Null,
}

/// The type of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VarTy {
    /// What it holds.
    pub ty: Ty,
    /// The smallest and largest value of a ranged `int`.
    pub range: Option<(Value, Value)>,
}

impl VarTy {
    /// A variable without a declared range.
    pub fn plain(ty: Ty) -> Self {
        VarTy { ty, range: None }
    }

    /// Whether the range, if there is one, has the value.
    pub fn admits(self, value: Value) -> bool {
        self.range.is_none_or(|(lo, hi)| lo <= value && value <= hi)
    }
}

/// An enum.
#[derive(Clone, Debug)]
pub struct EnumInfo {
    /// Its name.
    pub name: String,
    /// The names of its constants.
    pub constants: Vec<String>,
}

impl Ty {
    /// Whether a value of type `self` may be put where `wanted` is wanted.
    pub fn fits(self, wanted: Ty) -> bool {
        self == wanted || matches!((self, wanted), (Ty::Null, Ty::Ref(_)))
    }

    /// The type of something that is either a `self` or an `other`, if the two go together.
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

/// What to write instead, when a value of type `found` stands where `wanted` is wanted.
pub fn advice(found: Ty, wanted: Ty, constant: Option<Value>, text: &str) -> Option<String> {
    match (wanted, found) {
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

/// Whether an operator works on numbers only, and yields one.
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

/// Whether an operator yields a truth value, whatever it works on.
pub fn is_truth(op: BinOp) -> bool {
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

/// A variable's type in the program representation.
pub fn to_ir(ty: VarTy, enums: &[EnumInfo]) -> Type {
    match ty.ty {
        Ty::Bool => Type::Bool,
        Ty::Int => Type::Int { range: ty.range },
        Ty::Enum(id) => {
            let info = &enums[id.index()];
            Type::Enum { name: info.name.clone(), constants: info.constants.clone() }
        }
        Ty::Ref(pool) => Type::Ref(pool),
        // A register never has this type; a temporary for a bare `null` may.
        Ty::Null => Type::Int { range: Some((0, 0)) },
    }
}
