//! What is searched.

/// A transition system over encoded states. Two states are the same when their bytes are.
pub trait TransitionSystem: Sync {
    /// Working memory of one search thread, reused for every state.
    type Scratch;

    /// Makes the working memory.
    fn scratch(&self) -> Self::Scratch;

    /// Hands the initial states to `sink` as successors.
    fn initial<S: Sink>(&self, scratch: &mut Self::Scratch, sink: &mut S);

    /// Hands the successors of a state to `sink`, always in the same order, and says what else is
    /// remarkable about the state.
    fn expand<S: Sink>(&self, state: &[u8], scratch: &mut Self::Scratch, sink: &mut S);
}

/// How a new state relates to a kept one with the same key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// Neither covers the other, and both are kept.
    Unrelated,
    /// The kept one covers the new one.
    Covered,
    /// The new one covers the kept one.
    Covers,
    /// Both are replaced by their join.
    Joined,
}

/// A transition system whose states are ordered: one may *cover* others, that is, stand for all that they
/// stand for. Whatever a covered state can do, the covering one can, too: for each of its successors
/// the other has one that covers it.
///
/// Covering is a partial order within the states of one key, and states of different keys are not
/// related.
pub trait Ordered: TransitionSystem {
    /// Working memory for comparing.
    type Work;

    /// Makes the working memory.
    fn work(&self) -> Self::Work;

    /// Appends to `key` what two states must agree on to be compared at all.
    fn key(&self, state: &[u8], work: &mut Self::Work, key: &mut Vec<u8>);

    /// Compares a kept state with a new one of the same key; their bytes differ. Puts the join into
    /// `joined`, which is given empty, when it says [`Relation::Joined`]. The join covers both and has
    /// the same key; a join that is one of the two counts as that one covering the other.
    fn relate(
        &self,
        kept: &[u8],
        new: &[u8],
        work: &mut Self::Work,
        joined: &mut Vec<u8>,
    ) -> Relation;
}

/// Where a system puts what it finds while it expands one state.
pub trait Sink {
    /// A successor of the state.
    fn successor(&mut self, state: &[u8]);

    /// Whether a state is farther from the initial states than the one being expanded, as far as the
    /// search knows. Depths grow along such steps, so a partial-order reduction that keeps only them
    /// puts no other step off around a whole cycle. In an [`Ordered`] system: whether no state kept at
    /// the depth being expanded or before covers it.
    fn is_farther(&self, state: &[u8]) -> bool;

    /// The state, or a step from it, is what someone is looking for. `class` says what it is, `detail`
    /// is handed back with it.
    fn target(&mut self, class: u32, detail: u32);

    /// Adds a fact to the set of facts the search returns.
    fn fact(&mut self, fact: &[u8]);

    /// A step exists that the system leaves out because of a bound of its own.
    fn bounded(&mut self);
}
