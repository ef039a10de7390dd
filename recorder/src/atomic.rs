//! Atomic types that record their accesses.
//!
//! A word holds a value in its low half and its coherence index in its high half: the number of
//! writes so far. A write replaces both with a compare-and-swap.

use crate::log::{FenceKind, Kind, Target, record, record_fence};
use std::panic::Location;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32 as StdAtomicU32, AtomicU64, Ordering};

/// The number of the next location.
static NEXT_LOCATION: StdAtomicU32 = StdAtomicU32::new(0);

/// A recorded [`std::sync::atomic::AtomicU32`].
#[derive(Debug)]
pub struct AtomicU32 {
    word: AtomicU64,
    name: &'static str,
    number: OnceLock<u32>,
}

impl AtomicU32 {
    /// A location with this name in the trace. If several locations have the same name, the trace
    /// numbers them: `x`, `x#2`, ...
    pub const fn new(name: &'static str, value: u32) -> Self {
        AtomicU32 { word: AtomicU64::new(value as u64), name, number: OnceLock::new() }
    }

    /// Loads the value.
    ///
    /// # Panics
    /// If the ordering is `Release` or `AcqRel`, as for the standard type.
    #[track_caller]
    pub fn load(&self, order: Ordering) -> u32 {
        assert!(
            !matches!(order, Ordering::Release | Ordering::AcqRel),
            "a load cannot have the ordering {order:?}"
        );
        let word = self.word.load(Ordering::SeqCst);
        record(Kind::Load, self.target(index(word)), Location::caller());
        value(word)
    }

    /// Stores a value. A `Release` store is recorded with a store-store fence before it. A `SeqCst`
    /// store has a full fence after it, too.
    ///
    /// # Panics
    /// If the ordering is `Acquire` or `AcqRel`, as for the standard type.
    #[track_caller]
    pub fn store(&self, new: u32, order: Ordering) {
        assert!(
            !matches!(order, Ordering::Acquire | Ordering::AcqRel),
            "a store cannot have the ordering {order:?}"
        );
        let at = Location::caller();
        if order != Ordering::Relaxed {
            record_fence(FenceKind::StoreStore, at);
        }
        let old = self.replace(|_| Some(new)).unwrap_or_else(|old| old);
        record(Kind::Store, self.target(index(old) + 1), at);
        if order == Ordering::SeqCst {
            record_fence(FenceKind::Full, at);
        }
    }

    /// Stores a value and returns the old one, in one step.
    #[track_caller]
    pub fn swap(&self, new: u32, order: Ordering) -> u32 {
        self.update(|_| new, order)
    }

    /// Adds to the value, wrapping on overflow, and returns the old value.
    #[track_caller]
    pub fn fetch_add(&self, by: u32, order: Ordering) -> u32 {
        self.update(|old| old.wrapping_add(by), order)
    }

    /// Subtracts from the value, wrapping on overflow, and returns the old value.
    #[track_caller]
    pub fn fetch_sub(&self, by: u32, order: Ordering) -> u32 {
        self.update(|old| old.wrapping_sub(by), order)
    }

    /// Stores `new` if the value is `current`. Returns the old value, as an error if it is another
    /// one.
    #[track_caller]
    pub fn compare_exchange(
        &self,
        current: u32,
        new: u32,
        success: Ordering,
        _failure: Ordering,
    ) -> Result<u32, u32> {
        let at = Location::caller();
        record_order_of_update(success, at);
        match self.replace(|old| (old == current).then_some(new)) {
            Ok(old) => {
                record(Kind::Update, self.target(index(old) + 1), at);
                Ok(value(old))
            }
            Err(old) => {
                record(Kind::Failed, self.target(index(old)), at);
                Err(value(old))
            }
        }
    }

    #[track_caller]
    fn update(&self, new: impl Fn(u32) -> u32, order: Ordering) -> u32 {
        let at = Location::caller();
        record_order_of_update(order, at);
        let old = self.replace(|old| Some(new(old))).unwrap_or_else(|old| old);
        record(Kind::Update, self.target(index(old) + 1), at);
        value(old)
    }

    /// Replaces the value and increments the coherence index, unless `new` returns `None`. Returns
    /// the old word.
    fn replace(&self, new: impl Fn(u32) -> Option<u32>) -> Result<u64, u64> {
        self.word.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |word| {
            let next = u64::from(index(word).wrapping_add(1));
            Some(next << 32 | u64::from(new(value(word))?))
        })
    }

    fn target(&self, index: u32) -> Target {
        let number = self.number.get_or_init(|| NEXT_LOCATION.fetch_add(1, Ordering::Relaxed));
        Target { location: *number, name: self.name, index }
    }
}

/// A recorded [`std::sync::atomic::AtomicBool`].
#[derive(Debug)]
pub struct AtomicBool(AtomicU32);

impl AtomicBool {
    /// A location with this name in the trace. See [`AtomicU32::new`].
    pub const fn new(name: &'static str, value: bool) -> Self {
        AtomicBool(AtomicU32::new(name, value as u32))
    }

    /// Loads the value. See [`AtomicU32::load`].
    #[track_caller]
    pub fn load(&self, order: Ordering) -> bool {
        self.0.load(order) != 0
    }

    /// Stores a value. See [`AtomicU32::store`].
    #[track_caller]
    pub fn store(&self, new: bool, order: Ordering) {
        self.0.store(u32::from(new), order);
    }

    /// Stores a value and returns the old one, in one step.
    #[track_caller]
    pub fn swap(&self, new: bool, order: Ordering) -> bool {
        self.0.swap(u32::from(new), order) != 0
    }

    /// Stores `new` if the value is `current`. See [`AtomicU32::compare_exchange`].
    #[track_caller]
    pub fn compare_exchange(
        &self,
        current: bool,
        new: bool,
        success: Ordering,
        failure: Ordering,
    ) -> Result<bool, bool> {
        let result = self.0.compare_exchange(u32::from(current), u32::from(new), success, failure);
        result.map(|old| old != 0).map_err(|old| old != 0)
    }
}

/// Records the fence that an update implies. Under TSO, every update waits for all pending stores.
/// Under PSO, an update waits only for the stores to its location.
fn record_order_of_update(order: Ordering, at: &'static Location<'static>) {
    match order {
        Ordering::SeqCst => record_fence(FenceKind::Full, at),
        Ordering::Release | Ordering::AcqRel => record_fence(FenceKind::StoreStore, at),
        // The enum is open. `Relaxed` and `Acquire` do not order earlier stores.
        _ => {}
    }
}

fn value(word: u64) -> u32 {
    word as u32
}

fn index(word: u64) -> u32 {
    (word >> 32) as u32
}
