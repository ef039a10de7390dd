//! Sleep sets: moves that are not explored from a state because an earlier execution covers them.
//!
//! Source: \[AAJS14\], after Godefroid. A move stays in the sleep set until a conflicting event.

use crate::event::{CellAccess, Move, conflict};
use crate::wakeup_tree::SequenceItem;

/// A move in a sleep set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sleeper {
    /// The move.
    pub mv: Move,
    /// The union of the footprints of the move and its alternatives. A conflicting event removes
    /// the move from the sleep set.
    pub footprint: Vec<CellAccess>,
}

impl Sleeper {
    /// Returns the move as an item of a sequence.
    pub(crate) fn item(&self) -> SequenceItem<'_> {
        SequenceItem { mv: &self.mv, footprint: &self.footprint }
    }
}

/// The moves that are not explored from a state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SleepSet {
    sleepers: Vec<Sleeper>,
}

impl SleepSet {
    /// Iterates over the moves in insertion order.
    pub fn iter(&self) -> impl Iterator<Item = &Sleeper> {
        self.sleepers.iter()
    }

    /// Returns whether the set contains a move.
    pub(crate) fn contains(&self, mv: &Move) -> bool {
        self.sleepers.iter().any(|sleeper| sleeper.mv == *mv)
    }

    /// Adds a move.
    pub(crate) fn insert(&mut self, sleeper: Sleeper) {
        self.sleepers.push(sleeper);
    }

    /// Returns the sleep set after a move of `thread` with this footprint.
    pub(crate) fn after(&self, thread: usize, footprint: &[CellAccess]) -> SleepSet {
        let stays_asleep = |sleeper: &&Sleeper| {
            sleeper.mv.thread != thread && !conflict(&sleeper.footprint, footprint)
        };
        self.sleepers.iter().filter(stays_asleep).cloned().collect()
    }
}

impl FromIterator<Sleeper> for SleepSet {
    fn from_iter<I: IntoIterator<Item = Sleeper>>(sleepers: I) -> Self {
        SleepSet { sleepers: sleepers.into_iter().collect() }
    }
}
