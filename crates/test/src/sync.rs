//! Shared objects.

pub mod atomic;
mod barrier;
mod condvar;
mod mutex;

pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::Condvar;
pub use mutex::{Mutex, MutexGuard};
