//! Values and their types.
//!
//! Every value is one integer: booleans are 0 and 1, enum constants count from 0 in the order of
//! their declaration, a reference is 0 for `null` and `k` for cell `k - 1` of its pool.

use crate::ids::PoolId;

/// A value of any type.
pub type Value = i32;

/// The type of a register or location: what it may hold and how it prints.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    /// `true` or `false`.
    Bool,
    /// A 32-bit integer. With a range, storing a value outside of it is a fault.
    Int {
        /// The declared smallest and largest value, both included.
        range: Option<(Value, Value)>,
    },
    /// One of the named constants.
    Enum {
        /// The type's name.
        name: String,
        /// Constant names; the value is the position.
        constants: Vec<String>,
    },
    /// `null` or a record of this pool.
    Ref(PoolId),
}

impl Type {
    /// An integer without a declared range.
    pub const INT: Type = Type::Int { range: None };

    /// The smallest and largest legal value, where the type limits them. `cells` tells the size of
    /// each pool.
    pub fn limits(&self, cells: impl Fn(PoolId) -> u32) -> Option<(Value, Value)> {
        match self {
            Type::Bool => Some((0, 1)),
            Type::Int { range } => *range,
            Type::Enum { constants, .. } => Some((0, constants.len() as Value - 1)),
            Type::Ref(pool) => Some((0, cells(*pool) as Value)),
        }
    }

    /// A value as the source language writes it; references print as `null` or `#1`, `#2`, ...
    pub fn show(&self, value: Value) -> String {
        match self {
            Type::Bool if value == 0 => "false".into(),
            Type::Bool if value == 1 => "true".into(),
            Type::Enum { constants, .. } => usize::try_from(value)
                .ok()
                .and_then(|at| constants.get(at).cloned())
                .unwrap_or_else(|| value.to_string()),
            Type::Ref(_) if value == 0 => "null".into(),
            Type::Ref(_) => format!("#{value}"),
            Type::Bool | Type::Int { .. } => value.to_string(),
        }
    }
}
