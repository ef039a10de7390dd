//! Limits of a search, its coverage, cancellation and progress.
//!
//! A search reads no clock. The caller measures the time and calls [`Cancel::time_out`].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// The reason why a search stopped before it visited all states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The limit on stored states is reached.
    States,
    /// The limit on memory is reached.
    Memory,
    /// The time limit is reached.
    Time,
    /// The search was interrupted.
    Interrupted,
    /// The limit on the length of paths is reached.
    Depth,
}

/// How much of the state space a search visited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coverage {
    /// All reachable states.
    Exhaustive,
    /// All states that are reachable without the steps that the system omitted because of its own
    /// bound (see [`Sink::bounded`]).
    ///
    /// [`Sink::bounded`]: crate::Sink::bounded
    Bounded,
    /// The search stopped early, for this reason.
    Cut(Stop),
    /// The search stopped because it found a target of the class to stop at.
    Found,
}

/// The limits of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The number of stored states.
    pub states: u64,
    /// The number of bytes for states, their table, and successors in flight.
    pub bytes: u64,
    /// The number of steps on a path.
    pub depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { states: u64::MAX, bytes: u64::MAX, depth: u32::MAX }
    }
}

/// A cancellation flag. If it is set several times, the first reason is kept. A clone is the same
/// flag; a [child](Cancel::child) is another one.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    own: Arc<AtomicU8>,
    /// The flags of all ancestors.
    ancestors: Vec<Arc<AtomicU8>>,
    /// Whether a search of the task has reached its limit on memory.
    out_of_memory: Arc<AtomicBool>,
}

impl Cancel {
    /// Creates a child flag. Cancelling this flag also cancels the child, but not vice versa.
    pub fn child(&self) -> Cancel {
        let ancestors = self.ancestors.iter().chain([&self.own]).map(Arc::clone).collect();
        Cancel { own: Arc::default(), ancestors, out_of_memory: Arc::clone(&self.out_of_memory) }
    }

    /// Creates a child flag for a task: a job of several searches, which use children of this flag.
    /// [`is_out_of_memory`](Cancel::is_out_of_memory) of the child is about this task only.
    pub fn task(&self) -> Cancel {
        Cancel { out_of_memory: Arc::default(), ..self.child() }
    }

    /// Records that a search has reached its limit on memory. This cancels nothing.
    pub fn record_out_of_memory(&self) {
        self.out_of_memory.store(true, Ordering::Relaxed);
    }

    /// Returns whether a search of the task has reached its limit on memory. The answer of the task
    /// may have another reason, or none: other searches may have answered the question.
    pub fn is_out_of_memory(&self) -> bool {
        self.out_of_memory.load(Ordering::Relaxed)
    }

    /// Cancels the search because its time limit is reached.
    pub fn time_out(&self) {
        let _ = self.own.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Cancels the search because of an interruption.
    pub fn interrupt(&self) {
        let _ = self.own.compare_exchange(0, 2, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Cancels the search because a part of its work needs more memory than it may use.
    pub fn exceed_memory(&self) {
        self.record_out_of_memory();
        let _ = self.own.compare_exchange(0, 3, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Clears a time-out, so that the flag can be used for another search. An interruption remains.
    pub fn clear_time_out(&self) {
        let _ = self.own.compare_exchange(1, 0, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Returns the reason of the cancellation, or `None` if the flag is not set.
    #[inline]
    pub fn reason(&self) -> Option<Stop> {
        let flags = [&self.own].into_iter().chain(&self.ancestors);
        let reason = flags.map(|flag| flag.load(Ordering::Relaxed)).find(|reason| *reason != 0)?;
        Some(match reason {
            1 => Stop::Time,
            3 => Stop::Memory,
            _ => Stop::Interrupted,
        })
    }
}

/// The limits of work inside one step of a system: work whose amount the search does not see,
/// because it stores no states.
///
/// A system that gives up such work sets the flag, or finds it set. The search then ends early, so
/// the missing result of the work is never taken for an answer.
#[derive(Clone, Debug)]
pub struct WorkLimits {
    /// The flag of the search.
    pub cancel: Cancel,
    /// The number of bytes that one piece of work may use.
    pub bytes: u64,
}

impl WorkLimits {
    /// The part of the memory of a search that one piece of work may use in addition.
    const SHARE: u64 = 4;

    /// Returns the limits of work inside a search with these limits. The flag should belong to this
    /// search alone: see [`Cancel::child`].
    pub fn of_search(cancel: &Cancel, limits: Limits) -> Self {
        WorkLimits { cancel: cancel.clone(), bytes: limits.bytes / Self::SHARE }
    }

    /// Returns whether the search was cancelled.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.reason().is_some()
    }
}

impl Default for WorkLimits {
    /// Returns limits that limit nothing.
    fn default() -> Self {
        WorkLimits { cancel: Cancel::default(), bytes: u64::MAX }
    }
}

/// The progress of a search, updated while it runs.
#[derive(Debug, Default)]
pub struct Progress {
    /// The number of states stored so far.
    pub states: AtomicU64,
    /// The current depth.
    pub depth: AtomicU64,
    /// For a job of several searches: how many are done.
    pub done: AtomicU64,
    /// For a job of several searches: how many there are. 0 means a single search.
    pub parts: AtomicU64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cancellation_propagates_to_children_only() {
        let parent = Cancel::default();
        let (one, other) = (parent.child(), parent.child());
        one.interrupt();
        assert_eq!(
            (parent.reason(), one.reason(), other.reason()),
            (None, Some(Stop::Interrupted), None)
        );
        parent.time_out();
        assert_eq!(other.child().reason(), Some(Stop::Time));
        parent.clear_time_out();
        assert_eq!(other.reason(), None);
    }

    #[test]
    fn a_limit_on_memory_is_recorded_for_its_task_only() {
        let whole = Cancel::default();
        let (one, other) = (whole.task(), whole.task());
        one.child().child().record_out_of_memory();
        assert!(one.is_out_of_memory() && one.reason().is_none());
        assert!(!other.is_out_of_memory() && !whole.is_out_of_memory());
        other.child().exceed_memory();
        assert!(other.is_out_of_memory() && other.reason().is_none());
    }
}
