//! Mutations: deliberate errors in the monitor that the tests must detect.
//!
//! Without debug assertions, as in a release build, [`is_active`] is the constant `false`, and the
//! compiler removes the mutations.

/// A deliberate error in a rule of the monitor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mutation {
    /// Loads do not forward from the store buffer: a load of the own store waits for its commit.
    NoForwarding,
    /// A write is not ordered after the readers of the value that it overwrites.
    ReadersIgnored,
    /// Store-load fences order nothing.
    StoreLoadIgnored,
    /// Store-store fences order nothing.
    StoreStoreIgnored,
    /// Drains do not wait.
    DrainIgnored,
    /// A write can be moved between an update and the write that the update reads.
    UpdatesNotAtomic,
    /// A block is moved only to its earliest position.
    BlocksMovedToEarliestOnly,
    /// Undo does not remove writes.
    WritesNotUndone,
    /// Undo does not remove the events that cover writes.
    CoversNotUndone,
    /// The streaming monitor drops writes that a later event can still overtake.
    WritesDroppedTooEarly,
    /// The streaming monitor drops events that cover writes too early.
    CoversDroppedTooEarly,
    /// The streaming monitor drops the clock of a store that another thread overwrites.
    OverwrittenStoresDropped,
}

/// Returns whether a mutation is active. Always false without debug assertions.
#[inline]
pub(crate) fn is_active(active: Option<Mutation>, mutation: Mutation) -> bool {
    cfg!(debug_assertions) && active == Some(mutation)
}
