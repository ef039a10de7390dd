//! Memory orders of C, C++ and Rust, and the fences that implement them.
//!
//! An access with an order is a plain access between fences, as compilers emit it for machines
//! with the four kinds of fences. This table is the only place that defines the fences; the `.fp`
//! front end and the C litmus tests use it. The book has the table on the page "The language".
//!
//! Machines with ordered accesses, as ARM, use [`MemoryOrder::load_order`] and its like instead. They
//! are the orders of the usual compilers, and the weaker one where compilers differ: an acquire load
//! is `LDAPR`, not `LDAR`, and an update may be a pair of exclusive accesses.
//!
//! Direction: under-approximation of C11. A release fence orders *all* later stores, a release
//! store of C11 only itself; an acquire fence orders *all* earlier loads.

use fencepost_ir::{AccessOrder, Acquire, FenceKinds};

/// The memory order of an access or fence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryOrder {
    /// No ordering.
    Relaxed,
    /// Acquire or consume: ordered before later accesses.
    Acquire,
    /// Release: ordered after earlier accesses.
    Release,
    /// Acquire and release.
    AcqRel,
    /// Sequentially consistent.
    SeqCst,
    /// The order of Linux functions without suffix: ordered with all accesses of the thread.
    Full,
}

/// The fences of an access: before it and after it.
pub type FencesAround = (FenceKinds, FenceKinds);

impl MemoryOrder {
    /// Returns the order of this C11 name.
    pub fn by_c11_name(word: &str) -> Option<MemoryOrder> {
        Some(match word {
            "memory_order_relaxed" => MemoryOrder::Relaxed,
            "memory_order_acquire" | "memory_order_consume" => MemoryOrder::Acquire,
            "memory_order_release" => MemoryOrder::Release,
            "memory_order_acq_rel" => MemoryOrder::AcqRel,
            "memory_order_seq_cst" => MemoryOrder::SeqCst,
            _ => return None,
        })
    }

    /// Returns the order of a name of our language (`acquire`), of C and C++
    /// (`memory_order_acquire`, `std::memory_order::acquire`) or of Rust (`Ordering::Acquire`).
    pub fn by_name(word: &str) -> Option<MemoryOrder> {
        let word = word.rsplit("::").next().unwrap_or(word);
        Some(match word {
            "relaxed" | "Relaxed" => MemoryOrder::Relaxed,
            "acquire" | "Acquire" => MemoryOrder::Acquire,
            "release" | "Release" => MemoryOrder::Release,
            "acq_rel" | "AcqRel" => MemoryOrder::AcqRel,
            "seq_cst" | "SeqCst" => MemoryOrder::SeqCst,
            _ => return Self::by_c11_name(word),
        })
    }

    /// Returns the name in our language.
    pub fn name(self) -> &'static str {
        match self {
            MemoryOrder::Relaxed => "relaxed",
            MemoryOrder::Acquire => "acquire",
            MemoryOrder::Release => "release",
            MemoryOrder::AcqRel => "acq_rel",
            MemoryOrder::SeqCst => "seq_cst",
            MemoryOrder::Full => "full",
        }
    }

    /// Returns the fences of a load; `None` if a load cannot have this order.
    pub fn load_fences(self) -> Option<FencesAround> {
        let none = FenceKinds::default();
        match self {
            MemoryOrder::Relaxed => Some((none, none)),
            MemoryOrder::Acquire | MemoryOrder::SeqCst => Some((none, FenceKinds::ACQUIRE)),
            MemoryOrder::Release | MemoryOrder::AcqRel | MemoryOrder::Full => None,
        }
    }

    /// Returns the fences of a store; `None` if a store cannot have this order.
    pub fn store_fences(self) -> Option<FencesAround> {
        let none = FenceKinds::default();
        match self {
            MemoryOrder::Relaxed => Some((none, none)),
            MemoryOrder::Release => Some((FenceKinds::RELEASE, none)),
            MemoryOrder::SeqCst => Some((FenceKinds::RELEASE, FenceKinds::STORE_LOAD)),
            MemoryOrder::Full => Some((none, FenceKinds::FULL)),
            MemoryOrder::Acquire | MemoryOrder::AcqRel => None,
        }
    }

    /// Returns the fences of an update.
    pub fn update_fences(self) -> FencesAround {
        let none = FenceKinds::default();
        match self {
            MemoryOrder::Relaxed => (none, none),
            MemoryOrder::Acquire => (none, FenceKinds::ACQUIRE),
            MemoryOrder::Release => (FenceKinds::RELEASE, none),
            MemoryOrder::AcqRel | MemoryOrder::SeqCst => (FenceKinds::RELEASE, FenceKinds::ACQUIRE),
            MemoryOrder::Full => (FenceKinds::FULL, FenceKinds::FULL),
        }
    }

    /// Returns the order of a load on machines with ordered accesses. `Full` is a matter of fences.
    pub fn load_order(self) -> AccessOrder {
        let acquire = match self {
            MemoryOrder::SeqCst => Acquire::Strong,
            MemoryOrder::Acquire | MemoryOrder::AcqRel => Acquire::Weak,
            MemoryOrder::Relaxed | MemoryOrder::Release | MemoryOrder::Full => Acquire::None,
        };
        AccessOrder { acquire, ..AccessOrder::PLAIN }
    }

    /// Returns the order of a store on machines with ordered accesses.
    pub fn store_order(self) -> AccessOrder {
        let release = match self {
            MemoryOrder::Release | MemoryOrder::AcqRel | MemoryOrder::SeqCst => true,
            MemoryOrder::Relaxed | MemoryOrder::Acquire | MemoryOrder::Full => false,
        };
        AccessOrder { release, ..AccessOrder::PLAIN }
    }

    /// Returns the order of an update on machines with ordered accesses.
    pub fn update_order(self) -> AccessOrder {
        let acquire = match self.load_order().acquire {
            Acquire::None => Acquire::None,
            Acquire::Weak | Acquire::Strong => Acquire::Strong,
        };
        let order = AccessOrder { acquire, ..self.store_order() };
        AccessOrder { exclusive: order.release && acquire != Acquire::None, ..order }
    }

    /// Returns the kinds of a fence with this order.
    pub fn fence_kinds(self) -> FenceKinds {
        match self {
            MemoryOrder::Relaxed => FenceKinds::default(),
            MemoryOrder::Acquire => FenceKinds::ACQUIRE,
            MemoryOrder::Release => FenceKinds::RELEASE,
            MemoryOrder::AcqRel => FenceKinds::ACQUIRE.union(FenceKinds::RELEASE),
            MemoryOrder::SeqCst | MemoryOrder::Full => FenceKinds::FULL,
        }
    }
}

/// Returns the order of a compare-and-exchange on machines with ordered accesses. The instruction is
/// the same if it fails.
pub fn exchange_order(success: MemoryOrder, failure: MemoryOrder) -> AccessOrder {
    success
        .update_order()
        .union(AccessOrder { acquire: failure.update_order().acquire, ..AccessOrder::PLAIN })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [MemoryOrder; 5] = [
        MemoryOrder::Relaxed,
        MemoryOrder::Acquire,
        MemoryOrder::Release,
        MemoryOrder::AcqRel,
        MemoryOrder::SeqCst,
    ];

    #[test]
    fn all_spellings_of_an_order_are_known() {
        let rust = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];
        for (order, rust) in ALL.into_iter().zip(rust) {
            let name = order.name();
            for spelling in [
                name.to_string(),
                rust.to_string(),
                format!("Ordering::{rust}"),
                format!("memory_order_{name}"),
                format!("std::memory_order::{name}"),
            ] {
                assert_eq!(MemoryOrder::by_name(&spelling), Some(order), "{spelling}");
            }
        }
        assert_eq!(MemoryOrder::by_name("aquire"), None);
    }

    #[test]
    fn an_access_has_only_the_orders_of_c11() {
        let loads: Vec<_> = ALL.iter().filter(|o| o.load_fences().is_some()).collect();
        assert_eq!(loads, [&MemoryOrder::Relaxed, &MemoryOrder::Acquire, &MemoryOrder::SeqCst]);
        let stores: Vec<_> = ALL.iter().filter(|o| o.store_fences().is_some()).collect();
        assert_eq!(stores, [&MemoryOrder::Relaxed, &MemoryOrder::Release, &MemoryOrder::SeqCst]);
    }
}
