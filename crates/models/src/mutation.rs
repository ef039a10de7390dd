//! Deliberate errors in the semantics, to show that the tests would notice them.
//!
//! A mutation is a value, so that tests need no build of their own. Without debug assertions, as in a release build,
//! [`Mutated::is`] is the constant `false`, and nothing is left of them.

/// One error: in a rule of a model, of the partial-order reduction, or of how clauses are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mutation {
    /// Loads ignore the thread's own pending stores.
    NoForwarding,
    /// Any pending store may be committed, not only the oldest.
    OutOfOrderCommit,
    /// Fences do nothing.
    IgnoredFence,
    /// Updates do not wait for pending stores.
    UpdateWithoutDrain,
    /// Table: an access whose address is not known yet blocks none behind it.
    UnknownAddressIgnored,
    /// Abstract: what is committed from a set is never pending again.
    NoStay,
    /// Abstract: what is committed from a set is always pending again.
    NoLeave,
    /// Abstract: the last value may leave before the others (`fd`), another one may be the last to
    /// leave (`pd`).
    LastLeaves,
    /// Abstract: the first value in a set counts as the last.
    StaleLast,
    /// Abstract: what is behind the head is committed before it.
    SetBeforeHead,
    /// Abstract: stores enter the head although older ones are in the set.
    HeadReopened,
    /// Abstract: states that differ in what is pending are confused.
    CoversTooMuch,
    /// Symbolic: a cycle is taken to be possible again and again without trying it.
    CyclesUntried,
    /// Symbolic: a cycle may do anything to the buffer that it makes longer.
    CyclesUnwatched,
    /// Partial order: every access commutes with what other threads do.
    AccessesCommute,
    /// Partial order: every commit commutes with what other threads do.
    CommitsCommute,
    /// Partial order: a step goes alone although it leads back to a state that is known.
    PostponedForEver,
    /// Partial order: entering and leaving a critical section go alone.
    SectionsUnwatched,
    /// Clauses: a full fence is thought to order nothing but loads after stores.
    OnlyStoreLoad,
    /// Clauses: drains are thought to block nothing.
    DrainsIgnored,
    /// Clauses: a full fence is thought to block every run that has an access before it.
    FencesBlockAll,
}

/// The mutation in force, if any.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mutated(Option<Mutation>);

impl Mutated {
    /// None.
    pub const NONE: Mutated = Mutated(None);

    /// With this mutation.
    pub const fn by(mutation: Mutation) -> Self {
        Mutated(Some(mutation))
    }

    /// Whether this mutation is in force: never without debug assertions.
    #[inline]
    pub fn is(self, mutation: Mutation) -> bool {
        cfg!(debug_assertions) && self.0 == Some(mutation)
    }
}
