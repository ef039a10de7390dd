//! What goes wrong in a run.
//!
//! The one type for it, from the machine that meets a violation to the report that shows it. Indices refer to
//! [`Problem::properties`](crate::Problem::properties) or [`Problem::sometimes`](crate::Problem::sometimes).

use crate::expr::Fault;
use crate::ids::{Label, ThreadId};

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Violation {
    /// A fault, in this thread (none: in `init`), at this statement.
    Fault(Fault, Option<ThreadId>, Option<Label>),
    /// An assertion that fails, in this thread (none: in `init`), at this statement.
    Assertion(Option<ThreadId>, Option<Label>),
    /// Two threads are in critical sections.
    MutualExclusion(ThreadId, ThreadId),
    /// The invariant at this position of the properties does not hold.
    Invariant(usize),
    /// The condition on final states at this position of the properties does not hold.
    Final(usize),
    /// The property at this position does not allow the results of the operations.
    Operations(usize),
    /// No step is possible, and not all threads have halted.
    Deadlock,
    /// No final state satisfies the condition at this position of `sometimes`. No single run shows it.
    NoWitness(usize),
    /// The run is not sequentially consistent.
    NotRobust,
}
