//! What happens in a step, told so that a reader can follow it.

use fencepost_ir::{FenceKinds, Label, Loc, Pc, Reg, ThreadId, Value};

/// Where a load's value came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// Memory.
    Memory,
    /// The thread's own pending store.
    Forwarded,
}

/// What happened. One event for each statement and for each internal step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventKind {
    /// A statement enters the thread's window to be performed later (table-driven models). For a
    /// store, the location and value where they are known already.
    Fetch {
        /// Whether it may write memory when performed.
        stores: bool,
        /// Location, if known.
        loc: Option<Loc>,
        /// Value, if known.
        value: Option<Value>,
    },
    /// A load gets its value.
    Load {
        /// From where.
        loc: Loc,
        /// What.
        value: Value,
        /// Memory or the thread's own pending store.
        source: Source,
    },
    /// A store is issued and waits.
    Store {
        /// To where.
        loc: Loc,
        /// What.
        value: Value,
    },
    /// A store becomes visible at the moment it is executed.
    Write {
        /// To where.
        loc: Loc,
        /// What.
        value: Value,
    },
    /// A pending store becomes visible to all.
    Commit {
        /// To where.
        loc: Loc,
        /// What.
        value: Value,
    },
    /// A pending store becomes visible to all, and may do so again: only in an abstraction, which
    /// does not know how often it is pending.
    Stay {
        /// To where.
        loc: Loc,
        /// What.
        value: Value,
    },
    /// An update reads and writes.
    Update {
        /// Where.
        loc: Loc,
        /// The value found.
        old: Value,
        /// The value left, or none when a compare-and-swap fails.
        new: Option<Value>,
    },
    /// A fence is passed.
    Fence(FenceKinds),
    /// The wait for the pending stores to one location is over.
    Drain(Loc),
    /// A register is set by an assignment or a choice.
    Set {
        /// Which.
        reg: Reg,
        /// To what.
        value: Value,
    },
    /// A branch is taken, or an assumption or assertion evaluated.
    Test(bool),
    /// A record is allocated.
    New(Value),
    /// A record is freed.
    Free(Value),
    /// A critical section is left.
    Leave,
    /// An atomic block begins.
    AtomicBegin,
    /// It ends.
    AtomicEnd,
    /// Nothing happens.
    Skip,
    /// An assignment, assertion or fence enters the thread's window, to have its effect later.
    Defer,
}

/// One event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// Who.
    pub thread: ThreadId,
    /// Which source statement. A commit of a store-buffer model does not know; the replay fills it in.
    pub label: Option<Label>,
    /// Where in the thread's code, for the same statement.
    pub pc: Option<Pc>,
    /// For an access performed from a window: how many accesses fetched before it are still pending.
    pub ahead: Option<u32>,
    /// What.
    pub kind: EventKind,
}

/// Takes the events of a step.
pub trait Record {
    /// Whether the events are used. The search passes `()`, and then no event is built.
    fn wanted(&self) -> bool {
        true
    }

    /// Takes one event.
    fn take(&mut self, event: Event);
}

impl dyn Record + '_ {
    /// Builds and takes an event if events are wanted.
    #[inline]
    pub fn event(&mut self, event: impl FnOnce() -> Event) {
        if self.wanted() {
            self.take(event());
        }
    }
}

impl Record for () {
    fn wanted(&self) -> bool {
        false
    }

    fn take(&mut self, _: Event) {}
}

impl Record for Vec<Event> {
    fn take(&mut self, event: Event) {
        self.push(event);
    }
}
