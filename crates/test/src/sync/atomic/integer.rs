//! Atomic integers.

use super::{common_methods, update_method};
use crate::object::Object;
use crate::op::{Site, Target};
use crate::run::{Mode, mode};
use std::fmt;
use std::panic::Location;
use std::sync::atomic::Ordering;

macro_rules! atomic_integer {
    ($name:ident, $value:ty) => {
        #[doc = concat!("An atomic `", stringify!($value), "`.")]
        pub struct $name {
            object: Object,
            inner: std::sync::atomic::$name,
        }

        common_methods!([] $name, std::sync::atomic::$name, $value,
            (|value: $value| value as u64), (|value: u64| value as $value));

        impl $name {
            update_method!(
                /// Adds to the value, with wrapping, and returns the old one.
                fetch_add, $value, (|value: $value| value as u64), (|value: u64| value as $value),
                |old, operand| (old as $value).wrapping_add(operand as $value) as u64
            );
            update_method!(
                /// Subtracts from the value, with wrapping, and returns the old one.
                fetch_sub, $value, (|value: $value| value as u64), (|value: u64| value as $value),
                |old, operand| (old as $value).wrapping_sub(operand as $value) as u64
            );
            update_method!(
                /// Bitwise "and" with the value; returns the old one.
                fetch_and, $value, (|value: $value| value as u64), (|value: u64| value as $value),
                |old, operand| old & operand
            );
            update_method!(
                /// Bitwise "nand" with the value; returns the old one.
                fetch_nand, $value, (|value: $value| value as u64), (|value: u64| value as $value),
                |old, operand| !(old as $value & operand as $value) as u64
            );
            update_method!(
                /// Bitwise "or" with the value; returns the old one.
                fetch_or, $value, (|value: $value| value as u64), (|value: u64| value as $value),
                |old, operand| old | operand
            );
            update_method!(
                /// Bitwise "xor" with the value; returns the old one.
                fetch_xor, $value, (|value: $value| value as u64), (|value: u64| value as $value),
                |old, operand| (old as $value ^ operand as $value) as u64
            );
            update_method!(
                /// Replaces the value by the maximum; returns the old one.
                fetch_max, $value, (|value: $value| value as u64), (|value: u64| value as $value),
                |old, operand| (old as $value).max(operand as $value) as u64
            );
            update_method!(
                /// Replaces the value by the minimum; returns the old one.
                fetch_min, $value, (|value: $value| value as u64), (|value: u64| value as $value),
                |old, operand| (old as $value).min(operand as $value) as u64
            );
        }

        impl Default for $name {
            #[track_caller]
            fn default() -> Self {
                Self::new(0)
            }
        }
    };
}

atomic_integer!(AtomicI8, i8);
atomic_integer!(AtomicI16, i16);
atomic_integer!(AtomicI32, i32);
atomic_integer!(AtomicI64, i64);
atomic_integer!(AtomicIsize, isize);
atomic_integer!(AtomicU8, u8);
atomic_integer!(AtomicU16, u16);
atomic_integer!(AtomicU32, u32);
atomic_integer!(AtomicU64, u64);
atomic_integer!(AtomicUsize, usize);
