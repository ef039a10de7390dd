//! Sleep sets: moves that are not explored from a state because an earlier execution covers them.
//!
//! Source: \[AAJS14\], after Godefroid. A move stays in the sleep set until a conflicting event.

use crate::event::{CellAccess, Move, TrackedMove, conflict};
use std::sync::Arc;

/// The moves that are not explored from a state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SleepSet {
    // A move is asleep at many states.
    sleepers: Vec<Arc<TrackedMove>>,
}

impl SleepSet {
    /// Iterates over the moves in insertion order.
    pub fn iter(&self) -> impl Iterator<Item = &TrackedMove> {
        self.sleepers.iter().map(Arc::as_ref)
    }

    /// Returns the number of moves.
    pub(crate) fn len(&self) -> usize {
        self.sleepers.len()
    }

    /// Returns whether the set contains a move.
    pub(crate) fn contains(&self, mv: &Move) -> bool {
        self.sleepers.iter().any(|sleeper| sleeper.mv == *mv)
    }

    /// Adds a move.
    pub(crate) fn insert(&mut self, sleeper: TrackedMove) {
        self.sleepers.push(Arc::new(sleeper));
    }

    /// Returns the sleep set after a move of `thread` with this footprint.
    pub(crate) fn after(&self, thread: usize, footprint: &[CellAccess]) -> SleepSet {
        let stays_asleep = |sleeper: &&Arc<TrackedMove>| {
            sleeper.mv.thread != thread && !conflict(&sleeper.footprint, footprint)
        };
        SleepSet { sleepers: self.sleepers.iter().filter(stays_asleep).cloned().collect() }
    }
}

impl FromIterator<TrackedMove> for SleepSet {
    fn from_iter<I: IntoIterator<Item = TrackedMove>>(sleepers: I) -> Self {
        SleepSet { sleepers: sleepers.into_iter().map(Arc::new).collect() }
    }
}
