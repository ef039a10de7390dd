//! Detects whether an SC execution could leave SC if stores were buffered.
//!
//! A program is *robust* if store buffers add no behaviour to it. Robustness can be decided from
//! the sequentially consistent (SC) executions alone. A program that is not robust has a
//! *borderline* execution: if the next event is moved before an earlier write, the result is an
//! execution of the memory model that is not SC. Source: \[BM08\], for TSO. This crate adds PSO,
//! fences that are not full, drains and atomic blocks.
//!
//! Correctness: *happens-before* is the union of program order and the conflict order (accesses
//! to the same address, at least one of them a write). An execution is SC if happens-before has
//! no cycle. *Relaxed happens-before* omits the pairs of program order that store buffers do not
//! preserve: a store and a later load; under PSO also two stores to different addresses. The
//! memory model has an execution if relaxed happens-before has no cycle. So an event is
//! borderline if moving it closes a cycle of happens-before and no cycle of relaxed
//! happens-before.
//!
//! Direction: exact for one execution, under TSO and PSO as defined in the book. For a program the
//! answer covers the observed executions. The program is robust if the monitor observed all SC
//! executions, up to the order of independent events, and reported nothing.
//!
//! DIVERGENCE from the paper:
//! - A load that reads its own thread's store is not ordered after the older writes of other
//!   threads: they may reach memory between the load and the store. With definition 3 of the
//!   paper it would be ordered after them, and the litmus test `n6` (`x=1; r1=x; r2=y` in
//!   parallel with `y=2; x=2`) would be reported as robust.
//! - Events that write can be moved too. Under PSO this is necessary: there may be no other event
//!   to move. Under TSO only direct accesses, which the paper does not have, make it necessary.
//!
//! Modules:
//! - [`event`](Action): the actions of threads.
//! - [`monitor`](Monitor): the online monitor, with vector clocks and undo for a search.
//! - [`execution`](Execution): the oracle, directly from the definitions; it also computes the
//!   cycle and the order of accesses that explain an answer.
//! - `clock`: vector clocks with undo.
//!
//! ```
//! use fencepost_monitor::{Action, Borderline, Edge, EdgeKind, Execution, Model, Monitor};
//!
//! // Each of two threads stores to one address and loads from the other.
//! let (x, y) = (0, 1);
//! let events =
//!     [(0, Action::Store(x)), (0, Action::Load(y)), (1, Action::Store(y)), (1, Action::Load(x))];
//! let mut monitor = Monitor::new(Model::Tso, 2, 2);
//! let answers: Vec<_> = events.iter().map(|&(p, action)| monitor.add_event(p, action)).collect();
//! // The last load can overtake the first store: then both loads read the initial values.
//! assert_eq!(answers, [None, None, None, Some(Borderline { event: 3, before: 0 })]);
//!
//! let mut execution = Execution::new(Model::Tso);
//! for (p, action) in events {
//!     execution.push(p, action);
//! }
//! assert_eq!(execution.cycle(3, 0).len(), 4);
//! assert_eq!(execution.cycle(3, 0)[0], Edge { from: 3, to: 0, kind: EdgeKind::FromRead });
//! assert_eq!(execution.reordered(3, 0), [1, 2, 3, 0]);
//! ```

mod block;
mod clock;
mod event;
mod execution;
mod history;
mod layout;
mod monitor;
mod mutation;
mod retention;
mod stream;

pub use event::{Access, Action, Borderline, Model};
pub use execution::{Edge, EdgeKind, Execution};
pub use monitor::{Mark, Monitor};
pub use mutation::Mutation;
pub use stream::{DroppedHistory, Retained, StreamMonitor};
