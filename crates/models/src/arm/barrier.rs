//! The barriers of the machine, and which of them a fence is.

use fencepost_ir::FenceKinds;

/// The barriers of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Barrier {
    /// `DMB SY`.
    Full,
    /// `DMB LD`.
    Loads,
    /// `DMB ST`.
    Stores,
    /// `ISB`.
    Instruction,
    /// None.
    Nothing,
}

/// Returns the weakest barrier that orders what a fence orders.
pub(super) fn barrier(kinds: FenceKinds) -> Barrier {
    let has = |kind| kinds.contains(kind);
    let loads = has(FenceKinds::LOAD_LOAD) || has(FenceKinds::LOAD_STORE);
    if has(FenceKinds::STORE_LOAD) || loads && has(FenceKinds::STORE_STORE) {
        Barrier::Full
    } else if loads {
        Barrier::Loads
    } else if has(FenceKinds::STORE_STORE) {
        Barrier::Stores
    } else if has(FenceKinds::INSTRUCTION) {
        Barrier::Instruction
    } else {
        Barrier::Nothing
    }
}

/// Returns what the barrier orders that a fence of these kinds is.
pub fn fence_kinds(kinds: FenceKinds) -> FenceKinds {
    match barrier(kinds) {
        Barrier::Full => FenceKinds::FULL,
        Barrier::Loads => FenceKinds::ACQUIRE,
        Barrier::Stores => FenceKinds::STORE_STORE,
        Barrier::Instruction => FenceKinds::INSTRUCTION,
        Barrier::Nothing => FenceKinds::NONE,
    }
}

/// Returns the cost of the barrier that a fence of these kinds is. Two barriers that together order
/// what a stronger one orders are not cheaper than that one.
pub fn fence_cost(kinds: FenceKinds) -> u32 {
    match barrier(kinds) {
        Barrier::Full => 5,
        Barrier::Loads => 3,
        Barrier::Stores => 2,
        Barrier::Instruction | Barrier::Nothing => 0,
    }
}
