//! The values of memory orders in C programs.
//!
//! `memory_order_*` and `__ATOMIC_*` are integer constants in our headers. A wrapper function may
//! take an order as an argument, so orders stay expressions until lowering knows their values.

use crate::orders::MemoryOrder;

/// All orders, in the order of their values. `Full` is the order of Linux functions without suffix.
const ORDERS: [MemoryOrder; 6] = [
    MemoryOrder::Relaxed,
    MemoryOrder::Acquire,
    MemoryOrder::Release,
    MemoryOrder::AcqRel,
    MemoryOrder::SeqCst,
    MemoryOrder::Full,
];

/// Returns the value of an order: `relaxed` 0, `acquire` 1, `release` 2, `acq_rel` 3, `seq_cst` 4,
/// `full` 5. Our headers define `consume` as `acquire`.
pub fn order_value(order: MemoryOrder) -> i64 {
    ORDERS.iter().position(|known| *known == order).unwrap_or(0) as i64
}

/// Returns the order with a value.
pub fn order_of_value(value: i64) -> Option<MemoryOrder> {
    usize::try_from(value).ok().and_then(|at| ORDERS.get(at).copied())
}
