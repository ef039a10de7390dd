//! Values and their types.
//!
//! Every value is one integer. Booleans are 0 and 1. Enum constants count from 0 in declaration
//! order. A reference is 0 for `null` and `k` for cell `k - 1` of its pool.

use crate::ids::PoolId;

/// A value of any type. Values of wider unsigned types are 64-bit patterns.
pub type Value = i64;

/// The smallest and largest value of an integer without a declared range, which has 32 bits.
pub const INT_LIMITS: (Value, Value) = (i32::MIN as Value, i32::MAX as Value);

/// Returns whether a value is a value of an integer without a declared range.
#[inline]
pub fn is_int(value: Value) -> bool {
    value == Value::from(value as i32)
}

/// Returns the number of a range that is congruent to `value` modulo the size of the range.
pub fn wrap_into(value: i128, (lo, hi): (Value, Value)) -> Value {
    let (lo, hi) = (i128::from(lo), i128::from(hi));
    // The result is in the range, so it fits.
    (lo + (value - lo).rem_euclid((hi - lo + 1).max(1))) as Value
}

/// The type of a register or location. It limits the values and determines how they print.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    /// `true` or `false`.
    Bool,
    /// An integer. Without a declared range it has 32 bits, and its arithmetic faults outside of
    /// them. Storing a value outside of a declared range is a fault.
    Int {
        /// The declared smallest and largest value, both included.
        range: Option<(Value, Value)>,
    },
    /// An unsigned integer of 64 bits. Its values are bit patterns: 2^63 is the smallest [`Value`].
    U64,
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

    /// Returns the smallest and largest legal value, or `None` for integers without a declared
    /// range. `cells` gives the number of cells of a pool.
    pub fn limits(&self, cells: impl Fn(PoolId) -> u32) -> Option<(Value, Value)> {
        match self {
            Type::Bool => Some((0, 1)),
            Type::Int { range } => *range,
            Type::U64 => Some((Value::MIN, Value::MAX)),
            Type::Enum { constants, .. } => Some((0, constants.len() as Value - 1)),
            Type::Ref(pool) => Some((0, cells(*pool) as Value)),
        }
    }

    /// Formats a value as in the source language. References print as `null`, `#1`, `#2`, ...
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
            Type::U64 => (value as u64).to_string(),
            Type::Bool | Type::Int { .. } => value.to_string(),
        }
    }
}
