//! The integer types of C on a machine with 64 bits: promotion and common types.

use crate::Random;

/// An integer type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct IntType {
    pub(super) name: &'static str,
    pub(super) bits: u32,
    pub(super) signed: bool,
    rank: u8,
}

const fn ty(name: &'static str, bits: u32, signed: bool, rank: u8) -> IntType {
    IntType { name, bits, signed, rank }
}

pub(super) const BOOL: IntType = ty("_Bool", 8, false, 0);
pub(super) const CHAR: IntType = ty("char", 8, true, 1);
pub(super) const INT: IntType = ty("int", 32, true, 3);
pub(super) const UNSIGNED: IntType = ty("unsigned", 32, false, 3);
pub(super) const LONG: IntType = ty("long", 64, true, 4);
pub(super) const UNSIGNED_LONG: IntType = ty("unsigned long", 64, false, 4);
pub(super) const LONG_LONG: IntType = ty("long long", 64, true, 5);
pub(super) const UNSIGNED_LONG_LONG: IntType = ty("unsigned long long", 64, false, 5);

/// The types of variables.
const TYPES: [IntType; 18] = [
    BOOL,
    CHAR,
    ty("signed char", 8, true, 1),
    ty("unsigned char", 8, false, 1),
    ty("int8_t", 8, true, 1),
    ty("uint8_t", 8, false, 1),
    ty("short", 16, true, 2),
    ty("unsigned short", 16, false, 2),
    ty("uint16_t", 16, false, 2),
    INT,
    INT,
    UNSIGNED,
    ty("uint32_t", 32, false, 3),
    LONG,
    UNSIGNED_LONG,
    ty("int64_t", 64, true, 4),
    LONG_LONG,
    UNSIGNED_LONG_LONG,
];

impl IntType {
    /// Draws a type.
    pub(super) fn random(random: &mut Random) -> IntType {
        TYPES[random.below(TYPES.len())]
    }

    /// Draws a type with a number of bits, except `_Bool`.
    pub(super) fn with_bits(bits: u32, random: &mut Random) -> IntType {
        loop {
            let ty = IntType::random(random);
            if ty.bits == bits && ty != BOOL {
                return ty;
            }
        }
    }

    /// Returns the smallest and the largest value.
    pub(super) fn limits(self) -> (i128, i128) {
        match (self == BOOL, self.signed) {
            (true, _) => (0, 1),
            (_, true) => (-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1),
            (_, false) => (0, (1 << self.bits) - 1),
        }
    }

    /// Returns the type after the integer promotions.
    pub(super) fn promoted(self) -> IntType {
        if self.rank < INT.rank { INT } else { self }
    }

    /// Returns the common type of two operands.
    pub(super) fn common(self, other: IntType) -> IntType {
        let (a, b) = (self.promoted(), other.promoted());
        let (high, low) = if a.rank >= b.rank { (a, b) } else { (b, a) };
        if high.signed == low.signed || !high.signed {
            return high;
        }
        if low.rank == high.rank {
            return low;
        }
        if high.bits > low.bits { high } else { UNSIGNED_LONG_LONG }
    }

    /// Returns the range of values after a conversion to this type.
    pub(super) fn converted(self, range: (i128, i128)) -> (i128, i128) {
        let (lo, hi) = self.limits();
        if lo <= range.0 && range.1 <= hi { range } else { (lo, hi) }
    }

    /// Returns whether the type has all values of a range.
    pub(super) fn contains(self, range: (i128, i128)) -> bool {
        let (lo, hi) = self.limits();
        lo <= range.0 && range.1 <= hi
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_types_follow_the_standard() {
        assert_eq!(CHAR.common(BOOL), INT);
        assert_eq!(INT.common(UNSIGNED), UNSIGNED);
        assert_eq!(UNSIGNED.common(LONG), LONG);
        assert_eq!(UNSIGNED_LONG.common(LONG_LONG), UNSIGNED_LONG_LONG);
        assert_eq!(LONG.common(UNSIGNED_LONG), UNSIGNED_LONG);
    }
}
