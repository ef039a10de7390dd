//! The orders of accesses on machines whose loads and stores have orders, as ARM's.
//!
//! [`Program::orders`](crate::Program::orders) has the orders of a program by label. Models without
//! ordered accesses use fences instead: a front end emits both. The fences have the label of the
//! access, or a label in [`Program::implied`](crate::Program::implied). A model with ordered accesses
//! ignores such fences.

/// How a load is ordered before later accesses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Acquire {
    /// No order.
    #[default]
    None,
    /// Before all later accesses: `LDAPR`.
    Weak,
    /// Before all later accesses, and after all earlier release stores: `LDAR`.
    Strong,
}

/// The order of an access relative to the other accesses of its thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct AccessOrder {
    /// The order of the load, if the access loads.
    pub acquire: Acquire,
    /// Whether all earlier accesses are before the store, if the access stores.
    pub release: bool,
    /// Whether the access is one of a pair: a load that reserves its location, or the store that
    /// uses the reservation. No other thread writes the location between the two. A program has
    /// such a load only on paths that lead to such a store to the same location. For an update: it
    /// may be such a pair instead of one instruction, so it is no full fence.
    pub exclusive: bool,
    /// Whether a machine discards the value that the access loads: `LDADD` to the zero register,
    /// `STADD`. Then a fence for loads does not order the load.
    pub discards_value: bool,
}

impl AccessOrder {
    /// Returns an order that is not stronger than either of the two.
    pub fn weaker(self, other: AccessOrder) -> AccessOrder {
        AccessOrder {
            acquire: self.acquire.min(other.acquire),
            release: self.release && other.release,
            exclusive: self.exclusive && other.exclusive,
            discards_value: self.discards_value || other.discards_value,
        }
    }

    /// Returns an order that is as strong as both. An update that acquires and releases may be a pair
    /// of accesses.
    pub fn union(self, other: AccessOrder) -> AccessOrder {
        let acquire = self.acquire.max(other.acquire);
        let release = self.release || other.release;
        AccessOrder {
            acquire,
            release,
            exclusive: self.exclusive || other.exclusive || release && acquire != Acquire::None,
            discards_value: self.discards_value || other.discards_value,
        }
    }

    /// Returns whether `self` orders at least what `other` orders.
    pub fn contains(self, other: AccessOrder) -> bool {
        self.acquire >= other.acquire && self.release >= other.release
    }

    /// The order of a plain access.
    pub const PLAIN: AccessOrder = AccessOrder {
        acquire: Acquire::None,
        release: false,
        exclusive: false,
        discards_value: false,
    };
}
