//! Watches sequentially consistent executions for the moment a store buffer would matter.
//!
//! A program is *robust* when buffering its stores adds no behaviour. To find out, it is enough to look at its
//! sequentially consistent executions, one at a time: a program that is not robust has a *borderline* one, where the
//! next event, moved before an earlier write, gives an execution that the memory model has and sequential consistency
//! has not. Source: \[BM08\], for TSO; here also for PSO, fences that are not full, drains and atomic blocks.
//!
//! Why it works. *Happens-before* is program order together with the order of conflicting accesses (same address, one
//! of them writes). An execution is sequentially consistent when it has no cycle. The *relaxed* order leaves out what
//! store buffers do not keep: a store and a later load of its thread, under PSO also two stores to different
//! addresses. The model has an execution when the relaxed order has no cycle. So an event is borderline when moving
//! it closes a cycle of the first order and none of the second.
//!
//! Direction: exact for one execution, under the TSO and PSO of the book. About a program it says as much as the
//! executions shown to it: that it is robust only when they were all shown, up to the order of independent events.
//!
//! DIVERGENCE from the paper:
//! - A load that reads its own thread's store need not come after the older writes of other threads: they may reach
//!   memory between the load and the store. With the definition 3 of the paper it must, and the litmus test `n6`
//!   (`x=1; r1=x; r2=y` beside `y=2; x=2`) would pass for robust.
//! - Events that write can be moved, too. Under PSO they must be: nothing else may be left to move. Under TSO only
//!   direct accesses, which the paper does not have, make that necessary.
//!
//! The rooms:
//! - [`event`](Action): what a thread does.
//! - [`monitor`](Monitor): the answer for each event as it comes, from vector clocks; with a way back, for a search.
//! - [`relations`](Execution): the same from the definitions, slowly; with the cycle and the order that explain an
//!   answer.
//! - `clock`: numbers that grow and can go back.
//!
//! ```
//! use fencepost_monitor::{Action, Borderline, Execution, Model, Monitor, Reason, Step};
//!
//! // Two threads store to one address and load the other.
//! let (x, y) = (0, 1);
//! let events =
//!     [(0, Action::Store(x)), (0, Action::Load(y)), (1, Action::Store(y)), (1, Action::Load(x))];
//! let mut monitor = Monitor::new(Model::Tso, 2, 2);
//! let answers: Vec<_> = events.iter().map(|&(p, action)| monitor.event(p, action)).collect();
//! // The last load could have come before the first store: then both loads read the initial values.
//! assert_eq!(answers, [None, None, None, Some(Borderline { event: 3, before: 0 })]);
//!
//! let mut execution = Execution::new(Model::Tso);
//! for (p, action) in events {
//!     execution.push(p, action);
//! }
//! assert_eq!(execution.cycle(3, 0).len(), 4);
//! assert_eq!(execution.cycle(3, 0)[0], Step { from: 3, to: 0, reason: Reason::ReadsBefore });
//! assert_eq!(execution.order(3, 0), [1, 2, 3, 0]);
//! ```

mod clock;
mod event;
mod monitor;
mod mutation;
mod relations;

pub use event::{Access, Action, Borderline, Model};
pub use monitor::{Mark, Monitor};
pub use mutation::Mutation;
pub use relations::{Execution, Reason, Step};
