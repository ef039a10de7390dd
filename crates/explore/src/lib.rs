//! Stateless exploration of threads: executions are explored one by one, and no states are stored.
//!
//! A [`System`] is a set of threads that take moves. The exploration uses two properties of a move:
//! its thread and its footprint (the cells that it reads and writes). The exploration needs neither
//! copies of states nor undo. It also works for a system that can only restart from the beginning.
//!
//! There are two kinds of exploration: [one execution for each trace](Exploration::traces), by
//! optimal dynamic partial-order reduction \[AAJS14\], and
//! [all interleavings with a bounded number of preemptions](Exploration::interleavings).
//! Direction: exact. With a bound on preemptions or on the length of executions:
//! under-approximation.
//!
//! - [`system`]: the trait to implement; [`event`]: moves and their footprints.
//! - [`execution`]: events and their happens-before order.
//! - [`optimal`], [`race_reversal`], [`open_races`], [`wakeup_tree`], [`sleep_set`]: one execution
//!   for each trace.
//! - [`preemption_bound`]: all interleavings within a preemption bound.
//! - [`parts`]: parallel and resumable exploration; [`open_tree`]: the traces that remain;
//!   [`explorer`]: counts and limits.
//!
//! # Example
//!
//! Each of two threads writes its own variable and reads the other thread's variable. There are
//! three traces: the threads run one after the other, in either order, or both writes precede
//! both reads.
//!
//! ```
//! use fencepost_explore::{
//!     Attempt, CellAccess, Exploration, Limits, Move, MoveResult, System, explore,
//! };
//!
//! const CODE: [[CellAccess; 2]; 2] = [
//!     [CellAccess { cell: 0, writes: true }, CellAccess { cell: 1, writes: false }],
//!     [CellAccess { cell: 1, writes: true }, CellAccess { cell: 0, writes: false }],
//! ];
//!
//! /// The thread of each event.
//! struct StoreBuffering {
//!     taken: Vec<usize>,
//! }
//!
//! impl StoreBuffering {
//!     fn next(&self, thread: usize) -> &'static [CellAccess] {
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
//!     fn step(&mut self, mv: &Move) -> MoveResult {
//!         self.taken.push(mv.thread);
//!         MoveResult::Taken
//!     }
//!     fn footprint(&self) -> &[CellAccess] {
//!         let thread = *self.taken.last().expect("a step was taken");
//!         let done = self.taken.iter().filter(|taken| **taken == thread).count();
//!         &CODE[thread][done - 1..done]
//!     }
//!     fn truncate(&mut self, events: usize) {
//!         self.taken.truncate(events);
//!     }
//!     fn attempts(&mut self, events: usize, moves: &[&Move], thread: usize) -> Vec<Attempt> {
//!         let mut taken = self.taken[..events].to_vec();
//!         taken.extend(moves.iter().map(|mv| mv.thread));
//!         let footprint = StoreBuffering { taken }.next(thread).to_vec();
//!         vec![Attempt { mv: Move::of(thread), enabled: true, footprint }]
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
mod open_races;
pub mod open_tree;
mod optimal;
pub mod parts;
mod preemption_bound;
mod race_reversal;
pub mod sleep_set;
pub mod system;
mod wakeup_tree;

pub use event::{CellAccess, Event, Move, TrackedMove};
pub use execution::Execution;
pub use explorer::{Counts, Limits, StopReason};
pub use open_tree::{NodeState, OpenNode, OpenTree};
pub use parts::{Exploration, are_valid_traces, explore};
pub use sleep_set::SleepSet;
pub use system::{Attempt, End, Findings, MoveResult, System, moves_of};

#[cfg(test)]
mod tests;
