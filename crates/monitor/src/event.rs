//! The input of the monitor: accesses, fences and drains of threads, without values.
//!
//! Source: \[BM08\] section 2 has loads, stores and interlocked operations. Direction: exact, for
//! TSO and PSO as defined in the book. The documentation of [`Action`] specifies which pending
//! stores an action waits for. The vector clocks ([`crate::Monitor`]) and the relations
//! ([`crate::Execution`]) are two independent implementations of this specification.

/// A memory model with store buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Total store order: one queue of pending stores for each thread.
    Tso,
    /// Partial store order: one queue for each thread and address.
    Pso,
}

/// An access of an atomic block to one address. A block has at most one access for each address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The address.
    pub address: u32,
    /// Whether the block reads the value from before the block.
    pub reads: bool,
    /// Whether the block writes the address.
    pub writes: bool,
}

impl Access {
    /// Returns an access that only reads.
    pub fn read(address: u32) -> Access {
        Access { address, reads: true, writes: false }
    }

    /// Returns an access that only writes.
    pub fn write(address: u32) -> Access {
        Access { address, reads: false, writes: true }
    }

    /// Returns an access that reads, then writes.
    pub fn update(address: u32) -> Access {
        Access { address, reads: true, writes: true }
    }
}

/// The action of a thread in one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action<'a> {
    /// A plain load of an address.
    Load(u32),
    /// A plain store to an address. It may stay pending in a store buffer.
    Store(u32),
    /// An update (interlocked operation): reads and writes memory atomically. Under TSO it waits
    /// for all pending stores of its thread. Under PSO it waits for the pending stores to its
    /// address and for those that a fence orders before it.
    Update {
        /// The address.
        address: u32,
        /// Whether the update writes. False for a compare-and-swap that failed: it waits for the
        /// same pending stores as one that succeeds, but only reads.
        writes: bool,
    },
    /// A direct access, such as the step of an allocator: reads and writes the address atomically
    /// and waits only for its thread's pending stores to this address. It overtakes the other
    /// pending stores, also those before a store-load fence.
    Direct(u32),
    /// An atomic block: waits for all pending stores of its thread, then makes its accesses
    /// atomically. An empty block is a full fence.
    Block(&'a [Access]),
    /// A fence that is not full.
    Fence {
        /// Whether the fence orders earlier stores before later stores and updates.
        store_store: bool,
        /// Whether the fence orders earlier stores before later loads and updates.
        store_load: bool,
    },
    /// A drain: waits for the thread's pending stores to the address.
    Drain(u32),
}

/// A borderline event: with store buffers it can take effect before an earlier write, and the
/// resulting execution is not SC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Borderline {
    /// The number of the event, from 0.
    pub event: usize,
    /// The number of the write that the event can overtake.
    pub before: usize,
}
