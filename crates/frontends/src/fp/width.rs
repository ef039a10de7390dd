//! The fixed-width integers: their widths, values and stored form.
//!
//! A stored value has 64 bits with a sign. For every type except `u64` it is the number itself. A
//! `u64` is stored as its bit pattern, so the numbers from 2^63 are stored as negative values.

use fencepost_ir::{Type, Value};

/// The width of a fixed-width integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "each variant is the type of that name")]
pub enum Width {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
}

impl Width {
    /// All widths.
    pub const ALL: [Width; 8] = [
        Width::U8,
        Width::U16,
        Width::U32,
        Width::U64,
        Width::I8,
        Width::I16,
        Width::I32,
        Width::I64,
    ];

    /// The integer types of Rust and C without a width of their own, or with too many bits.
    pub const REJECTED: [&'static str; 5] = ["u128", "i128", "usize", "isize", "size_t"];

    /// Returns the width of this name.
    pub fn by_name(name: &str) -> Option<Width> {
        Self::ALL.into_iter().find(|width| width.name() == name)
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Width::U8 => "u8",
            Width::U16 => "u16",
            Width::U32 => "u32",
            Width::U64 => "u64",
            Width::I8 => "i8",
            Width::I16 => "i16",
            Width::I32 => "i32",
            Width::I64 => "i64",
        }
    }

    /// Returns the number of bits.
    pub fn bits(self) -> Value {
        match self {
            Width::U8 | Width::I8 => 8,
            Width::U16 | Width::I16 => 16,
            Width::U32 | Width::I32 => 32,
            Width::U64 | Width::I64 => 64,
        }
    }

    /// Returns the smallest and largest number.
    pub fn numbers(self) -> (i128, i128) {
        let size = 1_i128 << self.bits();
        match self {
            Width::U8 | Width::U16 | Width::U32 | Width::U64 => (0, size - 1),
            Width::I8 | Width::I16 | Width::I32 | Width::I64 => (-size / 2, size / 2 - 1),
        }
    }

    /// Returns whether a number is a number of the type.
    pub fn has(self, number: i128) -> bool {
        let (lo, hi) = self.numbers();
        (lo..=hi).contains(&number)
    }

    /// Returns the smallest and largest stored value.
    pub fn range(self) -> (Value, Value) {
        match self {
            Width::U64 => (Value::MIN, Value::MAX),
            Width::U8
            | Width::U16
            | Width::U32
            | Width::I8
            | Width::I16
            | Width::I32
            | Width::I64 => {
                let (lo, hi) = self.numbers();
                (lo as Value, hi as Value)
            }
        }
    }

    /// Returns the number that a stored value stands for.
    pub fn number(self, stored: Value) -> i128 {
        match self {
            Width::U64 => i128::from(stored as u64),
            Width::U8
            | Width::U16
            | Width::U32
            | Width::I8
            | Width::I16
            | Width::I32
            | Width::I64 => i128::from(stored),
        }
    }

    /// Returns whether sums and products of two numbers have at most 32 bits, so that the exact
    /// operators suffice.
    pub fn is_narrow(self) -> bool {
        self.bits() <= 16
    }

    /// Returns whether every number is an `int`.
    pub fn fits_int(self) -> bool {
        self.is_narrow() || self == Width::I32
    }

    /// Returns the type of a location or register.
    pub fn to_ir(self) -> Type {
        match self {
            Width::U64 => Type::U64,
            Width::U8
            | Width::U16
            | Width::U32
            | Width::I8
            | Width::I16
            | Width::I32
            | Width::I64 => Type::Int { range: Some(self.range()) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_value_stands_for_one_number() {
        for width in Width::ALL {
            let ((lo, hi), (least, largest)) = (width.range(), width.numbers());
            assert!(width.has(width.number(lo)) && width.has(width.number(hi)));
            assert_eq!(largest - least, i128::from(hi) - i128::from(lo), "{width:?}");
            assert_eq!(Width::by_name(width.name()), Some(width));
        }
        assert_eq!(Width::U64.number(-1), i128::from(u64::MAX));
        assert_eq!(Width::I64.number(-1), -1);
    }
}
