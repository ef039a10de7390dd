//! Sleep sets: moves that are not explored from a state because an earlier execution covers them.
//!
//! Source: \[AAJS14\], after Godefroid. A move stays in the sleep set until a conflicting event.

use crate::event::{CellAccess, Move, TrackedMove, conflict};

/// The moves that are not explored from a state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SleepSet {
    sleepers: Vec<TrackedMove>,
}

impl SleepSet {
    /// Iterates over the moves in insertion order.
    pub fn iter(&self) -> impl Iterator<Item = &TrackedMove> {
        self.sleepers.iter()
    }

    /// Returns whether the set is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.sleepers.is_empty()
    }

    /// Returns whether the set contains a move.
    pub(crate) fn contains(&self, mv: &Move) -> bool {
        self.sleepers.iter().any(|sleeper| sleeper.mv == *mv)
    }

    /// Adds a move.
    pub(crate) fn insert(&mut self, sleeper: TrackedMove) {
        self.sleepers.push(sleeper);
    }

    /// Returns the sleep set after a move of `thread` with this footprint.
    pub(crate) fn after(&self, thread: usize, footprint: &[CellAccess]) -> SleepSet {
        let stays_asleep = |sleeper: &&TrackedMove| {
            sleeper.mv.thread != thread && !conflict(&sleeper.footprint, footprint)
        };
        self.sleepers.iter().filter(stays_asleep).cloned().collect()
    }
}

impl FromIterator<TrackedMove> for SleepSet {
    fn from_iter<I: IntoIterator<Item = TrackedMove>>(sleepers: I) -> Self {
        SleepSet { sleepers: sleepers.into_iter().collect() }
    }
}
