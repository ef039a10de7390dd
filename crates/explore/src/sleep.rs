//! Sleep sets: moves that need not be explored from a state, because everything that begins with them was.
//!
//! Source: \[AAJS14\], after Godefroid. A move stays asleep until something happens that it does not commute with.

use crate::event::{Move, Touch, conflict};
use crate::wakeup::Item;

/// A move that need not be explored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sleeper {
    /// The move.
    pub made: Move,
    /// What it and its alternatives touch: whatever conflicts with that wakes it.
    pub footprint: Vec<Touch>,
}

impl Sleeper {
    /// As an item of a sequence.
    pub(crate) fn item(&self) -> Item<'_> {
        Item { made: &self.made, footprint: &self.footprint }
    }
}

/// The moves that need not be explored from a state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SleepSet {
    sleepers: Vec<Sleeper>,
}

impl SleepSet {
    /// All of them, in the order in which they fell asleep.
    pub fn iter(&self) -> impl Iterator<Item = &Sleeper> {
        self.sleepers.iter()
    }

    /// Whether this move is asleep.
    pub(crate) fn contains(&self, made: &Move) -> bool {
        self.sleepers.iter().any(|sleeper| sleeper.made == *made)
    }

    /// Adds a move.
    pub(crate) fn insert(&mut self, sleeper: Sleeper) {
        self.sleepers.push(sleeper);
    }

    /// Those that are still asleep after a move of a thread.
    pub(crate) fn after(&self, thread: usize, footprint: &[Touch]) -> SleepSet {
        let still = |sleeper: &&Sleeper| {
            sleeper.made.thread != thread && !conflict(&sleeper.footprint, footprint)
        };
        self.sleepers.iter().filter(still).cloned().collect()
    }
}

impl FromIterator<Sleeper> for SleepSet {
    fn from_iter<I: IntoIterator<Item = Sleeper>>(sleepers: I) -> Self {
        SleepSet { sleepers: sleepers.into_iter().collect() }
    }
}
