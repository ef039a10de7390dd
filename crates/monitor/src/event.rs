//! What the monitor is told: accesses, fences and drains of threads, without values.
//!
//! Source: \[BM08\] section 2 has loads, stores and interlocked operations. Direction: exact, for the TSO and PSO of
//! the book. What waits for what is said here once in words; the clocks ([`crate::Monitor`]) and the relations
//! ([`crate::Execution`]) are two readings of it.

/// A memory model whose store buffers the monitor imagines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// One queue of pending stores for each thread.
    Tso,
    /// One queue for each thread and address.
    Pso,
}

/// What a block does to one address. A block has at most one of them for each address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The address.
    pub address: u32,
    /// Whether it sees what was there before the block.
    pub reads: bool,
    /// Whether it changes what is there.
    pub writes: bool,
}

impl Access {
    /// Reads the address only.
    pub fn read(address: u32) -> Access {
        Access { address, reads: true, writes: false }
    }

    /// Writes the address without having looked at it.
    pub fn write(address: u32) -> Access {
        Access { address, reads: false, writes: true }
    }

    /// Reads the address, then writes it.
    pub fn update(address: u32) -> Access {
        Access { address, reads: true, writes: true }
    }
}

/// What a thread does in one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action<'a> {
    /// A plain load of an address.
    Load(u32),
    /// A plain store to an address: it may wait in a buffer.
    Store(u32),
    /// An interlocked operation: reads and writes memory at once. Under TSO it waits for all pending stores of its
    /// thread, under PSO for those to its own address and those that a fence put before it.
    Update {
        /// The address.
        address: u32,
        /// False for a compare-and-swap that failed: it waits as one that succeeds, but only reads.
        writes: bool,
    },
    /// Reads and writes the address at once and waits for nothing but its own thread's stores to that address: the
    /// step of an allocator. It overtakes the other pending stores, also those before a store-load fence.
    Direct(u32),
    /// An atomic block: waits for all pending stores of its thread, then acts at once. An empty one is a full fence.
    Block(&'a [Access]),
    /// A fence that is not full.
    Fence {
        /// Whether earlier stores come before later stores (and updates).
        store_store: bool,
        /// Whether earlier stores come before later loads (and updates).
        store_load: bool,
    },
    /// Waits for the thread's own pending stores to the address.
    Drain(u32),
}

/// An event that store buffers let come too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Borderline {
    /// The number of the event, from 0.
    pub event: usize,
    /// The number of the write that it could have come before.
    pub before: usize,
}
