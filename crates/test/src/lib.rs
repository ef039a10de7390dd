//! Tests concurrent Rust code: runs a closure in all interleavings of its threads, under sequential
//! consistency, TSO (x86) or PSO (SPARC).
//!
//! The tested code uses the types of this crate instead of those of `std`. In a check they are
//! under control of the scheduler. Outside of a check they behave like those of `std`, so no
//! conditional compilation is needed.
//!
//! - [`check`], [`Checker`]: run a closure; [`Report`]: what was explored; [`Failure`]: what failed.
//! - [`sync::atomic`], [`sync::Mutex`], [`sync::Condvar`], [`thread`], [`hint`]: the types.
//!
//! The closure must be deterministic, except for the order of operations. Threads may communicate
//! only through the types of this crate. In particular:
//!
//! - The reference counts of `std::sync::Arc` are not operations. An `Arc` is allowed if no code
//!   reads its counts, and if it does not matter which thread drops the value.
//! - Data in a [`sync::Mutex`] that exists before the check is not reset between executions.
//!   Atomics that exist before the check are reset.
//! - Destructors of thread-local variables run outside of the check.
//! - A panic in any thread is a failure, even if the code catches it.
//!
//! Method: optimal dynamic partial-order reduction of `fencepost-explore`. Each visible operation is
//! an event, and under TSO and PSO each commit of a pending store is an event, too. Direction: exact
//! for the memory model ([`Model`] has the mapping), with the deviations that the verdict states:
//! a spin hint in a loop is a wait, and there are no spurious failures and wake-ups.
//!
//! A failure prints a seed. With the environment variable `FENCEPOST_REPLAY` set to it, a check runs
//! only this execution.
//!
//! # Example
//!
//! Two threads write a variable and read the other one. Under TSO both can read the old value,
//! unless the stores are sequentially consistent.
//!
//! ```
//! use fencepost_test::sync::atomic::{AtomicBool, Ordering};
//! use fencepost_test::{Checker, Model, thread};
//! use std::sync::Arc;
//!
//! fn store_buffering(order: Ordering) {
//!     let x = Arc::new(AtomicBool::new(false));
//!     let y = Arc::new(AtomicBool::new(false));
//!     let (x1, y1) = (Arc::clone(&x), Arc::clone(&y));
//!     let other = thread::spawn(move || {
//!         y1.store(true, order);
//!         x1.load(order)
//!     });
//!     x.store(true, order);
//!     let read_y = y.load(order);
//!     let read_x = other.join().expect("the thread does not panic");
//!     assert!(read_x || read_y);
//! }
//!
//! let tso = Checker::new().model(Model::Tso);
//! assert!(tso.run(|| store_buffering(Ordering::SeqCst)).is_verified());
//! assert!(tso.run(|| store_buffering(Ordering::Relaxed)).failure().is_some());
//! ```

mod checker;
mod evaluate;
pub mod hint;
mod model;
mod names;
mod object;
mod op;
mod run;
mod spin_loop;
mod state;
pub mod sync;
mod system;
pub mod thread;
mod trace;

pub use checker::{Checker, Report};
pub use model::Model;
pub use trace::{Failure, FailureKind};

/// Checks a closure under sequential consistency.
///
/// # Panics
///
/// Panics if an execution fails or is too long; see [`Checker::check`].
#[track_caller]
pub fn check(body: impl Fn() + Send + Sync + 'static) {
    Checker::new().check(body);
}
