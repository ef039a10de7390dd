//! Violations of properties.
//!
//! The same type is used from the machine that detects a violation to the report that shows it.
//! Indices refer to [`Problem::properties`](crate::Problem::properties) or
//! [`Problem::sometimes`](crate::Problem::sometimes).

use crate::expr::Fault;
use crate::ids::{Label, Loc, ThreadId};

/// A violated property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Violation {
    /// A fault, with its thread (`None`: in `init`) and statement.
    Fault(Fault, Option<ThreadId>, Option<Label>),
    /// A failed assertion, with its thread (`None`: in `init`) and statement.
    Assertion(Option<ThreadId>, Option<Label>),
    /// Two threads are in critical sections at the same time.
    MutualExclusion(ThreadId, ThreadId),
    /// The invariant with this index in `properties` does not hold.
    Invariant(usize),
    /// The final-state condition with this index in `properties` does not hold.
    Final(usize),
    /// The results of the operations violate the property with this index.
    Operations(usize),
    /// No thread that has not finished can ever change memory or finish: each waits forever or is
    /// blocked.
    Hang,
    /// A fair infinite run in which a thread never gets on. The run is a path to a state and a cycle
    /// from there.
    Livelock {
        /// The thread that never gets on.
        thread: ThreadId,
        /// The number of the first step of the cycle.
        cycle_start: usize,
    },
    /// No final state satisfies the condition with this index in `sometimes`. No single run can
    /// show this violation.
    NoWitness(usize),
    /// The run is not sequentially consistent.
    NotRobust,
    /// Two accesses of the run are a data race.
    DataRace(DataRace),
}

/// Two accesses to a location that no synchronisation orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DataRace {
    /// The location.
    pub loc: Loc,
    /// The accesses, in the order of the run.
    pub accesses: [RacingAccess; 2],
}

/// An access of a data race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RacingAccess {
    /// The thread.
    pub thread: ThreadId,
    /// The statement.
    pub label: Label,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it is plain. At least one of the accesses is.
    pub is_plain: bool,
}
