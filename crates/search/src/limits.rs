//! How far a search may go, why it stopped, and how others stop or watch it.
//!
//! A search never looks at a clock: whoever owns the clock raises the [`Cancel`] flag.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Why a search ended before it had seen everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// As many states as allowed are stored.
    States,
    /// As many bytes as allowed are in use.
    Memory,
    /// The time allowed is over.
    Time,
    /// Someone asked it to stop.
    Interrupted,
    /// No path may be longer.
    Depth,
}

/// How much of the state space a search has seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coverage {
    /// Every reachable state.
    Exhaustive,
    /// Everything, except that the system itself left steps out (see [`Sink::bounded`]).
    ///
    /// [`Sink::bounded`]: crate::Sink::bounded
    Bounded,
    /// Ended early, for this reason.
    Cut(Stop),
    /// Ended because it found what it was to stop at.
    Found,
}

/// What a search may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// States to store.
    pub states: u64,
    /// Bytes to hold, counting the states, their table and the work in flight.
    pub bytes: u64,
    /// Steps on a path.
    pub depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { states: u64::MAX, bytes: u64::MAX, depth: u32::MAX }
    }
}

/// A flag that ends a search from outside. The first reason given stays.
#[derive(Debug, Default)]
pub struct Cancel(AtomicU8);

impl Cancel {
    /// Asks the search to stop because its time is over.
    pub fn time_is_over(&self) {
        let _ = self.0.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Asks the search to stop because someone wants it to.
    pub fn interrupt(&self) {
        let _ = self.0.compare_exchange(0, 2, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Makes the flag usable for another search, unless it was an interruption.
    pub fn reset_time(&self) {
        let _ = self.0.compare_exchange(1, 0, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The reason, if it was raised.
    pub fn raised(&self) -> Option<Stop> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Stop::Time),
            _ => Some(Stop::Interrupted),
        }
    }
}

/// How far a search is, for someone who watches it.
#[derive(Debug, Default)]
pub struct Progress {
    /// States stored so far.
    pub states: AtomicU64,
    /// The length of the paths being extended.
    pub depth: AtomicU64,
    /// Of several searches that are one job: how many are done, and how many there are (0: one).
    pub done: AtomicU64,
    /// See `done`.
    pub parts: AtomicU64,
}
