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

/// Where a system puts what it finds while it expands one state.
pub trait Sink {
    /// A successor of the state.
    fn successor(&mut self, state: &[u8]);

    /// Whether a state is farther from the initial states than the one being expanded, as far as the
    /// search knows. Depths grow along such steps, so a partial-order reduction that keeps only them
    /// puts no other step off around a whole cycle.
    fn is_farther(&self, state: &[u8]) -> bool;

    /// The state, or a step from it, is what someone is looking for. `class` says what it is, `detail`
    /// is handed back with it.
    fn target(&mut self, class: u32, detail: u32);

    /// Adds a fact to the set of facts the search returns.
    fn fact(&mut self, fact: &[u8]);

    /// A step exists that the system leaves out because of a bound of its own.
    fn bounded(&mut self);
}
