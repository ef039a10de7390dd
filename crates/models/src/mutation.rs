//! Deliberate errors in the semantics, to show that the tests would notice them.
//!
//! Only compiled in with the feature `mutations`, which only the conformance tests ask for.

/// One wrong reading of a store-buffer model.
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
}

/// The mutation in force, if any.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mutated {
    #[cfg(feature = "mutations")]
    mutation: Option<Mutation>,
}

impl Mutated {
    /// None.
    pub const NONE: Mutated = Mutated {
        #[cfg(feature = "mutations")]
        mutation: None,
    };

    /// With this mutation.
    #[cfg(feature = "mutations")]
    pub fn by(mutation: Mutation) -> Self {
        Mutated { mutation: Some(mutation) }
    }

    /// Whether this mutation is in force.
    #[cfg(feature = "mutations")]
    #[inline]
    pub fn is(self, mutation: Mutation) -> bool {
        self.mutation == Some(mutation)
    }

    /// Never: mutations are not compiled in.
    #[cfg(not(feature = "mutations"))]
    #[inline]
    pub fn is(self, _: Mutation) -> bool {
        false
    }
}
