//! A resumable exploration: what remains to be explored, and the counts so far.
//!
//! Plain data, so that other crates can write it to a file and read it back. The data read from a
//! file are not trusted: a tree with moves that the program does not allow is rejected.

pub use fencepost_explore::{CellAccess, Counts, Move, NodeState, OpenNode, OpenTree, TrackedMove};

/// An unfinished exploration of one execution for each trace, without a finding so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SavedExploration {
    /// The program as text, and the name of the model.
    pub of: (String, String),
    /// The counts so far.
    pub counts: Counts,
    /// The executions that remain.
    pub traces: Vec<OpenTree>,
}

impl SavedExploration {
    /// Returns the number of sets of executions that remain.
    pub fn parts(&self) -> usize {
        self.traces.iter().map(OpenTree::subtrees).sum()
    }
}
