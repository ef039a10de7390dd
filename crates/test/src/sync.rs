//! Shared objects.

pub mod atomic;
mod condvar;
mod mutex;

pub use condvar::Condvar;
pub use mutex::{Mutex, MutexGuard};
