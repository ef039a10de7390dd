//! Condition variables.
//!
//! In a check, a notification ends the wait of any one thread that waits at that moment: all
//! choices are explored. DIVERGENCE: there are no spurious wake-ups.

use super::mutex::MutexGuard;
use crate::object::Object;
use crate::op::Kind;
use crate::run::{Mode, mode, perform};
use std::panic::Location;
use std::sync::{LockResult, PoisonError};

/// A condition variable. Use it instead of [`std::sync::Condvar`].
pub struct Condvar {
    object: Object,
    inner: std::sync::Condvar,
}

impl Condvar {
    /// Creates a condition variable.
    #[track_caller]
    pub const fn new() -> Self {
        Condvar { object: Object::new(), inner: std::sync::Condvar::new() }
    }

    /// Unlocks the mutex, waits for a notification, and locks the mutex again.
    ///
    /// # Errors
    ///
    /// Outside of a check: a thread panicked while it held the mutex.
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let at = Location::caller();
        if mode() == Mode::Unwinding {
            return Ok(guard);
        }
        let (mutex, inner, checked) = guard.into_parts();
        if mode() == Mode::Checked && checked {
            drop(inner);
            let (condvar, target) = (self.object.target(0), mutex.target());
            perform(Kind::Wait { condvar, mutex: target }, at);
            perform(Kind::WaitEnd { condvar, mutex: target }, at);
            return Ok(MutexGuard::from_parts(mutex, mutex.take(), true, at));
        }
        let inner = inner.expect("a guard holds the lock");
        match self.inner.wait(inner) {
            Ok(inner) => Ok(MutexGuard::from_parts(mutex, inner, false, at)),
            Err(error) => {
                let inner = error.into_inner();
                Err(PoisonError::new(MutexGuard::from_parts(mutex, inner, false, at)))
            }
        }
    }

    /// Waits until the condition is false.
    ///
    /// # Errors
    ///
    /// Outside of a check: a thread panicked while it held the mutex.
    #[track_caller]
    pub fn wait_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'a, T>> {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Ends the wait of one thread, if one waits.
    #[track_caller]
    pub fn notify_one(&self) {
        self.notify(false);
        if mode() == Mode::Outside {
            self.inner.notify_one();
        }
    }

    /// Ends the wait of all threads that wait.
    #[track_caller]
    pub fn notify_all(&self) {
        self.notify(true);
        if mode() == Mode::Outside {
            self.inner.notify_all();
        }
    }

    #[track_caller]
    fn notify(&self, all: bool) {
        if mode() == Mode::Checked {
            perform(Kind::Notify { condvar: self.object.target(0), all }, Location::caller());
        }
    }
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Self {
        Condvar::new()
    }
}

impl std::fmt::Debug for Condvar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.fmt(f)
    }
}
