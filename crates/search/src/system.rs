//! Transition systems, ordered transition systems, and the sink for their results.

use crate::visited::hash;

/// The encoding of states. The default methods are those of an encoding that never changes.
pub trait Encoding {
    /// Returns a function that computes the hash of a state. The order of results depends on it, so
    /// it must be the same in every run.
    fn hasher(&self) -> impl Fn(&[u8]) -> u64 {
        hash
    }

    /// Returns whether the encoding of states has become too small: a successor since the last call
    /// of [`begin_recoding`](Self::begin_recoding) has no encoding. The search then drops what it has expanded
    /// in this round, encodes its states again, and repeats the round.
    fn needs_recoding(&self) -> bool {
        false
    }

    /// Enlarges the encoding. Returns a function that appends the new encoding of a state to its
    /// second argument, from the old one. The hash and the order of states stay the same.
    fn begin_recoding(&self) -> impl Fn(&[u8], &mut Vec<u8>) {
        |state: &[u8], out: &mut Vec<u8>| out.extend_from_slice(state)
    }

    /// Returns whether the system cannot hold more parts of states.
    fn is_full(&self) -> bool {
        false
    }

    /// Returns the memory that the system holds for all stored states. It depends only on the states
    /// that have been expanded.
    fn bytes(&self) -> u64 {
        0
    }
}

/// A transition system over encoded states. Two states are equal if their bytes are equal.
pub trait TransitionSystem: Encoding + Sync {
    /// Working memory of one search thread, reused for every state. It may remember what the thread
    /// has computed, as long as the results do not depend on it.
    type Scratch: Send;

    /// Creates the working memory.
    fn scratch(&self) -> Self::Scratch;

    /// Passes the initial states to `sink` as successors.
    fn initial<S: Sink>(&self, scratch: &mut Self::Scratch, sink: &mut S);

    /// Passes the successors of a state to `sink`, in a deterministic order, together with targets,
    /// facts and the use of bounds.
    fn expand<S: Sink>(&self, state: &[u8], scratch: &mut Self::Scratch, sink: &mut S);
}

/// The relation of a new state to a stored one with the same key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// Neither covers the other; both are kept.
    Unrelated,
    /// The stored state covers the new state.
    Covered,
    /// The new state covers the stored state.
    Covers,
    /// Both are replaced by their join.
    Joined,
}

/// A transition system with a covering relation on states. If state `a` covers state `b`, then
/// every successor of `b` is covered by a successor of `a`.
///
/// Covering is a partial order on the states with the same key. States with different keys are
/// unrelated.
pub trait Ordered: TransitionSystem {
    /// Working memory of one search thread for comparisons.
    type Work: Send;

    /// Creates the working memory. It may remember what a search thread has computed, as long as the
    /// results do not depend on it.
    fn work(&self) -> Self::Work;

    /// Appends the key of a state to `key`. Only states with equal keys are compared.
    fn key(&self, state: &[u8], work: &mut Self::Work, key: &mut Vec<u8>);

    /// Compares a stored state with a new state that has the same key and different bytes. If the
    /// result is [`Relation::Joined`], writes the join to `joined`, which is empty at the call. The
    /// join covers both states and has the same key. A join that equals one of the two states means
    /// that this state covers the other.
    fn relate(
        &self,
        kept: &[u8],
        new: &[u8],
        work: &mut Self::Work,
        joined: &mut Vec<u8>,
    ) -> Relation;
}

/// The length of the block of a [short successor](Sink::short_successor). Blocks of constant length are
/// copied without a call.
pub const BLOCK: usize = 32;

/// The receiver of the results of expanding one state.
pub trait Sink {
    /// Receives a successor of the state.
    fn successor(&mut self, state: &[u8]);

    /// Receives a successor whose [hash](Encoding::hasher) is known.
    fn hashed_successor(&mut self, state: &[u8], _hash: u64) {
        self.successor(state);
    }

    /// Receives a successor of at most [`BLOCK`] bytes whose hash is known. Zeros or other bytes follow
    /// it in the block.
    fn short_successor(&mut self, block: &[u8; BLOCK], len: usize, hash: u64) {
        self.hashed_successor(&block[..len], hash);
    }

    /// Receives the information that the state itself is a successor.
    fn same_state(&mut self, state: &[u8]) {
        self.successor(state);
    }

    /// Returns whether a state has a greater depth than the state being expanded: no state at the
    /// current depth or a smaller one equals it or, in an [`Ordered`] system, covers it. Depth
    /// increases along steps to such states. A partial-order reduction that uses only these steps
    /// therefore satisfies the cycle condition: it postpones no step along a whole cycle.
    fn is_farther(&self, state: &[u8]) -> bool;

    /// Returns the same for a state whose hash is known.
    fn is_hashed_farther(&self, state: &[u8], _hash: u64) -> bool {
        self.is_farther(state)
    }

    /// Reports that the state, or a step from it, is a target. `class` is the kind of target;
    /// `detail` is returned with the target.
    fn target(&mut self, class: u32, detail: u32);

    /// Adds a fact to the set of facts that the search returns.
    fn fact(&mut self, fact: &[u8]);

    /// Reports that the system omitted a step because of its own bound.
    fn bounded(&mut self);
}
