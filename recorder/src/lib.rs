//! Records an execution of a real program for `fencepost monitor`.
//!
//! The types here replace those of [`std::sync::atomic`]. Each access is recorded with its *issue
//! index* (its position in its thread) and its *coherence index* (the number of the write that it
//! makes or reads, for its location). These are the events of \[BM08\], section 2. They determine
//! happens-before exactly. Locations hold their coherence index next to their value, in one 64-bit
//! word, so one atomic operation takes both. There is no lock and no shared counter on the path of
//! an access. Each thread has its own log.
//!
//! *What is recorded.* Every operation on a word is sequentially consistent, so the recorded
//! execution is, too. The requested [`Ordering`](std::sync::atomic::Ordering) does not weaken the
//! execution. It decides which fences are recorded: the monitor answers for the program with these
//! orderings. [`take_trace`] merges the logs into an order that agrees with happens-before. Any such
//! order gives the same answer. If there is none, [`take_trace`] fails.
//!
//! *What is missed.* Accesses to other variables, locks, and the start and end of threads. Record a
//! lock as a location: an update after it is taken and one before it is released. Values have 32
//! bits.
//!
//! ```
//! use fencepost_record::{AtomicU32, take_trace, thread};
//! use std::sync::atomic::Ordering::Relaxed;
//!
//! static READY: AtomicU32 = AtomicU32::new("ready", 0);
//! std::thread::scope(|scope| {
//!     scope.spawn(|| thread("writer", || READY.store(1, Relaxed)));
//! });
//! assert_eq!(READY.load(Relaxed), 1);
//! let trace = take_trace().expect("every thread has ended");
//! assert!(trace.starts_with(r#"{"thread":"writer","op":"store","address":"ready","index":1,"#));
//! ```
//!
//! - [`atomic`]: the recorded types.
//! - [`log`]: the log of each thread.
//! - [`merge`]: the order of all events, and the text of the trace.

mod atomic;
mod log;
mod merge;

pub use atomic::{AtomicBool, AtomicU32};
pub use log::{fence, take_trace, thread};
pub use merge::TraceError;
