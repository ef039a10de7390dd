//! Atomics and fences.
//!
//! In a check, the value is in the state of the execution, and the real object does not change. A
//! failed `compare_exchange` is a read for the exploration, a successful one a write.
//! DIVERGENCE: `compare_exchange_weak` does not fail spuriously.

mod integer;
mod other;

pub use integer::{
    AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32,
    AtomicU64, AtomicUsize,
};
pub use other::{AtomicBool, AtomicPtr};
pub use std::sync::atomic::{Ordering, compiler_fence};

use crate::op::{Kind, Modify, Site, Target};
use crate::run::{Mode, mode, perform};
use std::panic::Location;

/// A fence. Use it instead of [`std::sync::atomic::fence`].
///
/// # Panics
///
/// Panics if `order` is [`Relaxed`](Ordering::Relaxed).
#[track_caller]
pub fn fence(order: Ordering) {
    match mode() {
        Mode::Outside => std::sync::atomic::fence(order),
        Mode::Unwinding => {}
        Mode::Checked => {
            assert!(order != Ordering::Relaxed, "there is no such thing as a relaxed fence");
            perform(Kind::Fence(order), Location::caller());
        }
    }
}

/// Loads a value in a check.
#[track_caller]
fn load(target: Target, order: Ordering) -> u64 {
    assert!(
        !matches!(order, Ordering::Release | Ordering::AcqRel),
        "there is no such thing as a release or acquire-release load"
    );
    perform(Kind::Load(target), Location::caller())
}

/// Stores a value in a check.
#[track_caller]
fn store(target: Target, value: u64, order: Ordering) {
    assert!(
        !matches!(order, Ordering::Acquire | Ordering::AcqRel),
        "there is no such thing as an acquire or acquire-release store"
    );
    perform(Kind::Store { target, value, order }, Location::caller());
}

/// Changes a value in a check. Returns the old value.
#[track_caller]
fn update(
    target: Target,
    modify: Modify,
    operand: u64,
    order: Ordering,
    name: &'static str,
) -> u64 {
    perform(Kind::Update { target, modify, operand, order, name }, Location::caller())
}

/// Compares and exchanges a value in a check. Returns the old value.
#[track_caller]
fn compare_exchange(
    target: Target,
    (expected, new): (u64, u64),
    success: Ordering,
    failure: Ordering,
) -> u64 {
    assert!(
        !matches!(failure, Ordering::Release | Ordering::AcqRel),
        "there is no such thing as a release or acquire-release failure ordering"
    );
    let order = stronger(success, failure);
    perform(Kind::CompareExchange { target, expected, new, order }, Location::caller())
}

/// Returns an ordering that orders stores before a compare-exchange as both do. On the modelled
/// hardware, an attempt is the same instruction whether it succeeds or not.
fn stronger(success: Ordering, failure: Ordering) -> Ordering {
    if failure == Ordering::SeqCst { Ordering::SeqCst } else { success }
}

/// Accesses a value through a unique reference in a check.
fn exclusive(target: Target, at: Site) -> u64 {
    perform(Kind::Exclusive(target), at)
}

/// Implements the methods that all atomics have. `$to` converts a value to `u64` and `$from` back.
macro_rules! common_methods {
    ([$($generics:tt)*] $name:ty, $std:path, $value:ty, $to:expr, $from:expr) => {
        impl<$($generics)*> $name {
            /// Creates an atomic with this value.
            #[track_caller]
            pub const fn new(value: $value) -> Self {
                Self { object: Object::new(), inner: <$std>::new(value) }
            }

            fn target(&self) -> Target {
                self.object.target($to(self.inner.load(Ordering::Relaxed)))
            }

            /// Loads the value.
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                match mode() {
                    Mode::Outside => self.inner.load(order),
                    Mode::Unwinding => self.inner.load(Ordering::Relaxed),
                    Mode::Checked => $from(super::load(self.target(), order)),
                }
            }

            /// Stores a value.
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                match mode() {
                    Mode::Outside => self.inner.store(value, order),
                    Mode::Unwinding => {}
                    Mode::Checked => super::store(self.target(), $to(value), order),
                }
            }

            /// Stores a value and returns the old one.
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                match mode() {
                    Mode::Outside => self.inner.swap(value, order),
                    Mode::Unwinding => self.inner.load(Ordering::Relaxed),
                    Mode::Checked => {
                        $from(super::update(self.target(), |_, new| new, $to(value), order, "swap"))
                    }
                }
            }

            /// Stores a value if the old value is `current`. Returns the old value; `Ok` if it was
            /// `current`.
            ///
            /// # Errors
            ///
            /// The old value is not `current`.
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                match mode() {
                    Mode::Outside => self.inner.compare_exchange(current, new, success, failure),
                    Mode::Unwinding => Ok(current),
                    Mode::Checked => {
                        let values = ($to(current), $to(new));
                        let old = super::compare_exchange(self.target(), values, success, failure);
                        if old == $to(current) { Ok($from(old)) } else { Err($from(old)) }
                    }
                }
            }

            /// As [`compare_exchange`](Self::compare_exchange). Outside of a check it can fail
            /// spuriously.
            ///
            /// # Errors
            ///
            /// The old value is not `current`, or a spurious failure.
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                match mode() {
                    Mode::Outside => {
                        self.inner.compare_exchange_weak(current, new, success, failure)
                    }
                    Mode::Checked | Mode::Unwinding => {
                        self.compare_exchange(current, new, success, failure)
                    }
                }
            }

            /// Replaces the value by a function of it, until no other thread interferes. Returns
            /// the old value.
            ///
            /// # Errors
            ///
            /// The function returned `None` for the value.
            #[track_caller]
            pub fn fetch_update<F>(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut function: F,
            ) -> Result<$value, $value>
            where
                F: FnMut($value) -> Option<$value>,
            {
                let mut old = self.load(fetch_order);
                while let Some(new) = function(old) {
                    match self.compare_exchange_weak(old, new, set_order, fetch_order) {
                        Ok(old) => return Ok(old),
                        Err(other) => old = other,
                    }
                }
                Err(old)
            }

            /// Returns the value.
            #[track_caller]
            pub fn into_inner(mut self) -> $value {
                self.synchronize(Location::caller());
                self.inner.into_inner()
            }

            /// Returns a reference to the value.
            #[track_caller]
            pub fn get_mut(&mut self) -> &mut $value {
                self.synchronize(Location::caller());
                self.inner.get_mut()
            }

            /// Writes the value of a check to the real object.
            fn synchronize(&mut self, at: Site) {
                if mode() == Mode::Checked {
                    let value = $from(super::exclusive(self.target(), at));
                    *self.inner.get_mut() = value;
                    self.object.reset();
                }
            }
        }

        impl<$($generics)*> fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.load(Ordering::Relaxed), f)
            }
        }

        impl<$($generics)*> From<$value> for $name {
            #[track_caller]
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }
    };
}

/// Implements a read-modify-write with one operand.
macro_rules! update_method {
    ($(#[$doc:meta])* $method:ident, $value:ty, $to:expr, $from:expr, $modify:expr) => {
        $(#[$doc])*
        #[track_caller]
        pub fn $method(&self, value: $value, order: Ordering) -> $value {
            match mode() {
                Mode::Outside => self.inner.$method(value, order),
                Mode::Unwinding => self.inner.load(Ordering::Relaxed),
                Mode::Checked => {
                    let name = stringify!($method);
                    $from(super::update(self.target(), $modify, $to(value), order, name))
                }
            }
        }
    };
}

use {common_methods, update_method};
