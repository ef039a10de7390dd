//! Deliberate errors in the monitor, to show that the tests would notice them.
//!
//! Without debug assertions, as in a release build, [`is`] is the constant `false`, and nothing is left of them.

/// One error in a rule of the monitor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mutation {
    /// A thread reads its own store only when all others can.
    NoForwarding,
    /// A write is not after the readers of what it overwrites.
    ReadersForgotten,
    /// Store-load fences order nothing.
    StoreLoadIgnored,
    /// Store-store fences order nothing.
    StoreStoreIgnored,
    /// A drain does not wait.
    DrainIgnored,
    /// A write may come between an update and what it read.
    UpdatesTorn,
    /// A block is moved to its earliest place only.
    BlocksTriedOnce,
    /// Going back forgets no writes.
    WritesKept,
}

/// Whether this mutation is in force: never without debug assertions.
#[inline]
pub(crate) fn is(mutated: Option<Mutation>, mutation: Mutation) -> bool {
    cfg!(debug_assertions) && mutated == Some(mutation)
}
