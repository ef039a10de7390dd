//! Mutexes.
//!
//! In a check, the scheduler decides which thread holds the mutex. The data is in a mutex of `std`,
//! which is free whenever the scheduler lets a thread lock it. A mutex is never poisoned in a check,
//! because a panic ends the check.

use crate::object::Object;
use crate::op::{Kind, Site, Target};
use crate::run::{Mode, lock, mode, perform};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

/// A mutex. Use it instead of [`std::sync::Mutex`].
pub struct Mutex<T: ?Sized> {
    object: Object,
    inner: std::sync::Mutex<T>,
}

/// The right to access the data of a [`Mutex`].
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    /// `None` while the guard is dropped or its thread waits on a condition variable.
    inner: Option<std::sync::MutexGuard<'a, T>>,
    /// Whether the scheduler knows about the lock.
    checked: bool,
    at: Site,
}

impl<T> Mutex<T> {
    /// Creates a mutex.
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Mutex { object: Object::new(), inner: std::sync::Mutex::new(value) }
    }

    /// Returns the data.
    ///
    /// # Errors
    ///
    /// Outside of a check: a thread panicked while it held the mutex.
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Locks the mutex.
    ///
    /// # Errors
    ///
    /// Outside of a check: a thread panicked while it held the mutex.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let at = Location::caller();
        match mode() {
            Mode::Checked => {
                perform(Kind::Lock(self.target()), at);
                Ok(self.guard(at))
            }
            Mode::Outside => match self.inner.lock() {
                Ok(inner) => Ok(self.unchecked(inner, at)),
                Err(error) => Err(PoisonError::new(self.unchecked(error.into_inner(), at))),
            },
            Mode::Unwinding => Ok(self.unchecked(lock(&self.inner), at)),
        }
    }

    /// Locks the mutex if it is free.
    ///
    /// # Errors
    ///
    /// The mutex is not free. Outside of a check also: a thread panicked while it held the mutex.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let at = Location::caller();
        if mode() == Mode::Checked {
            return match perform(Kind::TryLock(self.target()), at) {
                0 => Err(TryLockError::WouldBlock),
                _ => Ok(self.guard(at)),
            };
        }
        match self.inner.try_lock() {
            Ok(inner) => Ok(self.unchecked(inner, at)),
            Err(TryLockError::Poisoned(error)) => {
                Err(PoisonError::new(self.unchecked(error.into_inner(), at)).into())
            }
            Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
        }
    }

    /// Returns a reference to the data.
    ///
    /// # Errors
    ///
    /// Outside of a check: a thread panicked while it held the mutex.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.inner.get_mut()
    }

    /// Returns whether a thread panicked while it held the mutex.
    pub fn is_poisoned(&self) -> bool {
        self.inner.is_poisoned()
    }

    pub(crate) fn target(&self) -> Target {
        self.object.target(0)
    }

    /// Returns the guard of a mutex that the scheduler has locked.
    fn guard(&self, at: Site) -> MutexGuard<'_, T> {
        MutexGuard { mutex: self, inner: Some(self.take()), checked: true, at }
    }

    fn unchecked<'a>(&'a self, inner: std::sync::MutexGuard<'a, T>, at: Site) -> MutexGuard<'a, T> {
        MutexGuard { mutex: self, inner: Some(inner), checked: false, at }
    }

    /// Locks the mutex of `std` after the scheduler has locked the mutex.
    pub(crate) fn take(&self) -> std::sync::MutexGuard<'_, T> {
        match self.inner.try_lock() {
            Ok(inner) => inner,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => {
                panic!("a mutex is locked in a check while code outside of the check holds it")
            }
        }
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Returns the parts of the guard: the mutex, the guard of `std` and whether the scheduler
    /// knows about the lock.
    pub(crate) fn into_parts(
        mut self,
    ) -> (&'a Mutex<T>, Option<std::sync::MutexGuard<'a, T>>, bool) {
        let checked = std::mem::replace(&mut self.checked, false);
        (self.mutex, self.inner.take(), checked)
    }

    /// Puts a guard together again.
    pub(crate) fn from_parts(
        mutex: &'a Mutex<T>,
        inner: std::sync::MutexGuard<'a, T>,
        checked: bool,
        at: Site,
    ) -> Self {
        MutexGuard { mutex, inner: Some(inner), checked, at }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.inner = None;
        if self.checked && mode() == Mode::Checked {
            perform(Kind::Unlock(self.mutex.target()), self.at);
        }
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner.as_deref().expect("a guard holds the lock")
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.inner.as_deref_mut().expect("a guard holds the lock")
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Mutex::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
