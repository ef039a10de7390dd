//! Stateless exploration of threads: no state is stored, executions are explored one after the other.
//!
//! A [`System`] is some threads that take turns. The exploration knows two things of a move: whose it is, and which
//! cells it reads and writes. It knows nothing of what is executed, and needs neither copies of states nor undo: a system
//! that can only be run again from its start is explored in the same way.
//!
//! Two ways to explore: [one execution for each trace](Exploration::traces), by optimal dynamic partial-order reduction
//! \[AAJS14\], and [all interleavings with few preemptions](Exploration::interleavings). Direction: exact; with a bound on
//! preemptions or on the length of executions, what is not found may exist.
//!
//! - [`system`]: the trait to implement; [`event`]: moves and their footprints.
//! - [`execution`]: events and their happens-before order.
//! - [`optimal`], [`race`], [`wakeup`], [`sleep`]: one execution for each trace.
//! - [`preemption`]: all interleavings within a bound.
//! - [`parts`]: several cores, and resuming; [`explorer`]: counts and limits.
//!
//! # Example
//!
//! Two threads write a variable and read the other one. There are three traces: the threads one after the other, in both
//! orders, and both writes before both reads.
//!
//! ```
//! use fencepost_explore::{
//!     Attempt, Exploration, Limits, Move, Step, System, Touch, explore,
//! };
//!
//! const CODE: [[Touch; 2]; 2] = [
//!     [Touch { cell: 0, writes: true }, Touch { cell: 1, writes: false }],
//!     [Touch { cell: 1, writes: true }, Touch { cell: 0, writes: false }],
//! ];
//!
//! /// Which thread moved, for each event.
//! struct StoreBuffering {
//!     taken: Vec<usize>,
//! }
//!
//! impl StoreBuffering {
//!     fn next(&self, thread: usize) -> &'static [Touch] {
//!         let done = self.taken.iter().filter(|taken| **taken == thread).count();
//!         CODE[thread].get(done..done + 1).unwrap_or(&[])
//!     }
//! }
//!
//! impl System for StoreBuffering {
//!     type Findings = ();
//!
//!     fn threads(&self) -> usize {
//!         CODE.len()
//!     }
//!     fn has_halted(&mut self, thread: usize) -> bool {
//!         self.next(thread).is_empty()
//!     }
//!     fn step(&mut self, made: &Move) -> Step {
//!         self.taken.push(made.thread);
//!         Step::Taken
//!     }
//!     fn footprint(&self) -> &[Touch] {
//!         let thread = *self.taken.last().expect("a step was taken");
//!         let done = self.taken.iter().filter(|taken| **taken == thread).count();
//!         &CODE[thread][done - 1..done]
//!     }
//!     fn truncate(&mut self, events: usize) {
//!         self.taken.truncate(events);
//!     }
//!     fn attempts(&mut self, events: usize, moves: &[&Move], thread: usize) -> Vec<Attempt> {
//!         let mut taken = self.taken[..events].to_vec();
//!         taken.extend(moves.iter().map(|made| made.thread));
//!         let footprint = StoreBuffering { taken }.next(thread).to_vec();
//!         vec![Attempt { made: Move::of(thread), possible: true, footprint }]
//!     }
//!     fn into_findings(self) {}
//! }
//!
//! let start = |_: &[u32]| Some(StoreBuffering { taken: Vec::new() });
//! let explored = explore(start, Exploration::traces([vec![]]), &Limits::default());
//! assert_eq!(explored.counts.complete, 3);
//! assert_eq!(explored.counts.redundant, 0);
//! ```

pub mod event;
pub mod execution;
pub mod explorer;
mod optimal;
pub mod parts;
mod preemption;
mod race;
pub mod sleep;
pub mod system;
mod wakeup;

pub use event::{Event, Move, Touch};
pub use execution::Execution;
pub use explorer::{Counts, Limits, Stopped};
pub use parts::{Exploration, Part, explore, fits};
pub use sleep::{SleepSet, Sleeper};
pub use system::{Attempt, End, Findings, Step, System};

#[cfg(test)]
mod tests;
