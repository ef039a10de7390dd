//! Transition systems, ordered transition systems, and the sink for their results.

/// A transition system over encoded states. Two states are equal if their bytes are equal.
pub trait TransitionSystem: Sync {
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
    /// Working memory for comparisons.
    type Work;

    /// Creates the working memory.
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

/// The receiver of the results of expanding one state.
pub trait Sink {
    /// Receives a successor of the state.
    fn successor(&mut self, state: &[u8]);

    /// Returns whether a state has a greater depth than the state being expanded: no state at the
    /// current depth or a smaller one equals it or, in an [`Ordered`] system, covers it. Depth
    /// increases along steps to such states. A partial-order reduction that uses only these steps
    /// therefore satisfies the cycle condition: it postpones no step along a whole cycle.
    fn is_farther(&self, state: &[u8]) -> bool;

    /// Reports that the state, or a step from it, is a target. `class` is the kind of target;
    /// `detail` is returned with the target.
    fn target(&mut self, class: u32, detail: u32);

    /// Adds a fact to the set of facts that the search returns.
    fn fact(&mut self, fact: &[u8]);

    /// Reports that the system omitted a step because of its own bound.
    fn bounded(&mut self);
}
