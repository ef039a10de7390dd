//! Events: what one step does, for traces and reports.

use fencepost_ir::{FenceKinds, Label, Loc, Pc, Reg, ThreadId, Value};

/// The source of the value that a load reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The value is in memory.
    Memory,
    /// The value is in a pending store of the same thread.
    Forwarded {
        /// Whether the store belongs to an update or to a pair of exclusive accesses.
        by_pair: bool,
        /// Whether the value is presumed: it relies on a guess that is not resolved. A later
        /// [`EventKind::Confirm`] says when it is.
        presumed: bool,
    },
}

/// The kind of an event. Each statement and each internal step has one event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventKind {
    /// A statement enters the thread's window and is performed later (table-driven models). For a
    /// store, the location and the value are given if they are already known.
    Fetch {
        /// Whether the access may write memory when it is performed.
        stores: bool,
        /// The location, if known.
        loc: Option<Loc>,
        /// The value, if known.
        value: Option<Value>,
    },
    /// A load reads its value.
    Load {
        /// The location read.
        loc: Loc,
        /// The value read.
        value: Value,
        /// The source of the value.
        source: Source,
    },
    /// The presumed value that a read has taken becomes known.
    Confirm,
    /// A store is issued and becomes pending.
    Store {
        /// The location to write.
        loc: Loc,
        /// The value to write.
        value: Value,
    },
    /// A store is issued and becomes visible at once.
    Write {
        /// The location written.
        loc: Loc,
        /// The value written.
        value: Value,
    },
    /// A pending store becomes visible to all threads.
    Commit {
        /// The location written.
        loc: Loc,
        /// The value written.
        value: Value,
    },
    /// A pending store becomes visible to all threads and stays pending. Only abstract models have
    /// this event: they do not count how often an element of a set is pending.
    CommitAndKeep {
        /// The location written.
        loc: Loc,
        /// The value written.
        value: Value,
    },
    /// A pending store repeats an earlier pending store of the same value to the same location. It
    /// becomes visible together with that store.
    Repeat {
        /// The location.
        loc: Loc,
        /// The value.
        value: Value,
        /// The number of accesses that are pending before the earlier store.
        earlier: u32,
    },
    /// An update reads and, unless a compare-and-swap fails, writes.
    Update {
        /// The location.
        loc: Loc,
        /// The value read.
        old: Value,
        /// The value written, or `None` if a compare-and-swap fails.
        new: Option<Value>,
    },
    /// A fence is passed.
    Fence(FenceKinds),
    /// A drain of one location is passed: no store to the location is pending.
    Drain(Loc),
    /// An assignment or a choice sets a register.
    Set {
        /// The register.
        reg: Reg,
        /// Its new value.
        value: Value,
    },
    /// A branch, an assumption or an assertion evaluates its condition.
    Test(bool),
    /// A branch or an assumption enters the thread's window. The thread guesses whether the
    /// condition holds and continues.
    Guess(bool),
    /// A record is allocated. The value is the reference.
    New(Value),
    /// A record is freed. The value is the reference.
    Free(Value),
    /// The thread leaves a critical section.
    Leave,
    /// A read-side section begins.
    SectionBegin,
    /// A read-side section ends.
    SectionEnd,
    /// A grace period sees other threads outside of their sections.
    GracePeriod {
        /// Whether the grace period ends.
        ends: bool,
    },
    /// An atomic block begins.
    AtomicBegin,
    /// An atomic block ends.
    AtomicEnd,
    /// A statement without an effect.
    Skip,
    /// An assignment, an assertion or a fence enters the thread's window and takes effect later.
    Defer,
}

/// One event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// The thread that takes the step.
    pub thread: ThreadId,
    /// The source statement. A store-buffer model does not know the label of a commit; the replay
    /// adds it.
    pub label: Option<Label>,
    /// The program counter of that statement.
    pub pc: Option<Pc>,
    /// For an access performed from a window: the number of earlier accesses that are still
    /// pending. For the resolution of a guess: the number of earlier guesses that are not resolved.
    /// For the confirmation of a value: the number of earlier reads whose value is presumed.
    pub earlier_pending: Option<u32>,
    /// What happens.
    pub kind: EventKind,
}

/// A receiver for the events of a step.
pub trait EventRecorder {
    /// Returns whether events are used. Searches pass `()`, and then no event is built.
    fn is_enabled(&self) -> bool {
        true
    }

    /// Records one event.
    fn record(&mut self, event: Event);
}

impl dyn EventRecorder + '_ {
    /// Builds and records an event if the recorder is enabled.
    #[inline]
    pub fn record_with(&mut self, event: impl FnOnce() -> Event) {
        if self.is_enabled() {
            self.record(event());
        }
    }
}

impl EventRecorder for () {
    fn is_enabled(&self) -> bool {
        false
    }

    fn record(&mut self, _: Event) {}
}

impl EventRecorder for Vec<Event> {
    fn record(&mut self, event: Event) {
        self.push(event);
    }
}
