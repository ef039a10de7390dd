//! How far a search may go, why it stopped, and how others stop or watch it.
//!
//! A search never looks at a clock: whoever owns the clock raises the [`Cancel`] flag.

use std::sync::Arc;
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
pub struct Cancel {
    own: Arc<AtomicU8>,
    /// Flags that end it, too.
    above: Vec<Arc<AtomicU8>>,
}

impl Cancel {
    /// A flag for a part of a job: raised when this one is, but not the other way round.
    pub fn below(&self) -> Cancel {
        let above = self.above.iter().chain([&self.own]).map(Arc::clone).collect();
        Cancel { own: Arc::default(), above }
    }

    /// Asks the search to stop because its time is over.
    pub fn time_is_over(&self) {
        let _ = self.own.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Asks the search to stop because someone wants it to.
    pub fn interrupt(&self) {
        let _ = self.own.compare_exchange(0, 2, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Makes the flag usable for another search, unless it was an interruption.
    pub fn reset_time(&self) {
        let _ = self.own.compare_exchange(1, 0, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The reason, if it was raised.
    pub fn raised(&self) -> Option<Stop> {
        let flags = [&self.own].into_iter().chain(&self.above);
        let reason = flags.map(|flag| flag.load(Ordering::Relaxed)).find(|reason| *reason != 0)?;
        Some(if reason == 1 { Stop::Time } else { Stop::Interrupted })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_stops_with_the_whole_but_not_the_other_way_round() {
        let whole = Cancel::default();
        let (one, other) = (whole.below(), whole.below());
        one.interrupt();
        assert_eq!(
            (whole.raised(), one.raised(), other.raised()),
            (None, Some(Stop::Interrupted), None)
        );
        whole.time_is_over();
        assert_eq!(other.below().raised(), Some(Stop::Time));
        whole.reset_time();
        assert_eq!(other.raised(), None);
    }
}
