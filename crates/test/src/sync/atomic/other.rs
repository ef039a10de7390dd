//! Atomic `bool` and atomic pointers.
//!
//! In a check, a pointer is stored as an address with exposed provenance.

use super::{common_methods, update_method};
use crate::object::Object;
use crate::op::{Site, Target};
use crate::run::{Mode, mode};
use std::fmt;
use std::panic::Location;
use std::ptr;
use std::sync::atomic::Ordering;

/// An atomic `bool`.
pub struct AtomicBool {
    object: Object,
    inner: std::sync::atomic::AtomicBool,
}

/// An atomic pointer.
pub struct AtomicPtr<T> {
    object: Object,
    inner: std::sync::atomic::AtomicPtr<T>,
}

fn from_bool(value: bool) -> u64 {
    u64::from(value)
}

fn to_bool(value: u64) -> bool {
    value != 0
}

fn from_ptr<T>(value: *mut T) -> u64 {
    value.expose_provenance() as u64
}

fn to_ptr<T>(value: u64) -> *mut T {
    ptr::with_exposed_provenance_mut(value as usize)
}

common_methods!([] AtomicBool, std::sync::atomic::AtomicBool, bool, from_bool, to_bool);
common_methods!([T] AtomicPtr<T>, std::sync::atomic::AtomicPtr<T>, *mut T, from_ptr, to_ptr);

impl AtomicBool {
    update_method!(
        /// Logical "and" with the value; returns the old one.
        fetch_and, bool, from_bool, to_bool, |old, operand| old & operand
    );
    update_method!(
        /// Logical "nand" with the value; returns the old one.
        fetch_nand, bool, from_bool, to_bool, |old, operand| 1 - (old & operand)
    );
    update_method!(
        /// Logical "or" with the value; returns the old one.
        fetch_or, bool, from_bool, to_bool, |old, operand| old | operand
    );
    update_method!(
        /// Logical "xor" with the value; returns the old one.
        fetch_xor, bool, from_bool, to_bool, |old, operand| old ^ operand
    );

    /// Logical "not" of the value; returns the old one.
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }
}

impl Default for AtomicBool {
    #[track_caller]
    fn default() -> Self {
        Self::new(false)
    }
}

impl<T> Default for AtomicPtr<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(ptr::null_mut())
    }
}
