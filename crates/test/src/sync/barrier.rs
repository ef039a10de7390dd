//! Barriers.
//!
//! A barrier is a [`Mutex`] and a [`Condvar`] of this crate, so a check sees their operations.

use super::{Condvar, Mutex};
use std::fmt;
use std::sync::PoisonError;

/// A barrier at which threads wait for each other. Use it instead of [`std::sync::Barrier`].
///
/// ```
/// use fencepost_test::sync::Barrier;
/// use fencepost_test::sync::atomic::{AtomicU32, Ordering};
/// use fencepost_test::thread;
///
/// fencepost_test::check(|| {
///     let barrier = Barrier::new(2);
///     let ready = AtomicU32::new(0);
///     thread::scope(|scope| {
///         scope.spawn(|| {
///             ready.store(1, Ordering::Relaxed);
///             barrier.wait();
///         });
///         barrier.wait();
///         assert_eq!(ready.load(Ordering::Relaxed), 1);
///     });
/// });
/// ```
pub struct Barrier {
    state: Mutex<State>,
    condvar: Condvar,
    threads: usize,
}

/// The threads that wait.
struct State {
    waiting: usize,
    /// How often all threads have arrived.
    rounds: usize,
}

/// The result of a wait.
#[derive(Debug)]
pub struct BarrierWaitResult {
    is_leader: bool,
}

impl BarrierWaitResult {
    /// Returns whether this thread arrived last.
    pub fn is_leader(&self) -> bool {
        self.is_leader
    }
}

impl Barrier {
    /// Creates a barrier for this number of threads.
    #[track_caller]
    pub const fn new(threads: usize) -> Self {
        let state = Mutex::new(State { waiting: 0, rounds: 0 });
        Barrier { state, condvar: Condvar::new(), threads }
    }

    /// Waits until all threads have arrived. Exactly one of them is the leader.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.waiting += 1;
        if state.waiting >= self.threads {
            state.waiting = 0;
            state.rounds = state.rounds.wrapping_add(1);
            self.condvar.notify_all();
            return BarrierWaitResult { is_leader: true };
        }
        let round = state.rounds;
        while state.rounds == round {
            state = self.condvar.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        BarrierWaitResult { is_leader: false }
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}
