//! Visible operations: what a thread asks the scheduler to do.
//!
//! Each operation is one event. The code between two visible operations of a thread runs with the
//! first of them.

use std::panic::Location;
use std::sync::atomic::Ordering;

/// A place in the source of the tested code.
pub(crate) type Site = &'static Location<'static>;

/// A shared object of the tested code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// The number of the object in its execution.
    pub(crate) loc: u32,
    /// The value before the execution.
    pub(crate) init: u64,
    /// Where the object was created.
    pub(crate) site: Site,
}

/// The function of a read-modify-write: from the old value and the operand to the new value.
pub(crate) type Modify = fn(u64, u64) -> u64;

/// What an operation does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Load(Target),
    Store {
        target: Target,
        value: u64,
        order: Ordering,
    },
    Update {
        target: Target,
        modify: Modify,
        operand: u64,
        order: Ordering,
        name: &'static str,
    },
    CompareExchange {
        target: Target,
        expected: u64,
        new: u64,
        order: Ordering,
    },
    /// Access through a unique reference.
    Exclusive(Target),
    Fence(Ordering),
    SpinHint,
    Spawn(usize),
    Begin,
    Finish,
    Join(usize),
    Lock(Target),
    TryLock(Target),
    Unlock(Target),
    Wait {
        condvar: Target,
        mutex: Target,
    },
    /// The end of a wait: the thread was notified and locks the mutex again.
    WaitEnd {
        condvar: Target,
        mutex: Target,
    },
    Notify {
        condvar: Target,
        all: bool,
    },
}

/// A visible operation and its place in the source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub(crate) kind: Kind,
    pub(crate) at: Site,
}

impl Kind {
    /// Returns the object that the operation accesses first, if any.
    pub(crate) fn target(&self) -> Option<Target> {
        match *self {
            Kind::Load(target)
            | Kind::Store { target, .. }
            | Kind::Update { target, .. }
            | Kind::CompareExchange { target, .. }
            | Kind::Exclusive(target)
            | Kind::Lock(target)
            | Kind::TryLock(target)
            | Kind::Unlock(target)
            | Kind::Wait { condvar: target, .. }
            | Kind::WaitEnd { condvar: target, .. }
            | Kind::Notify { condvar: target, .. } => Some(target),
            Kind::Fence(_)
            | Kind::SpinHint
            | Kind::Spawn(_)
            | Kind::Begin
            | Kind::Finish
            | Kind::Join(_) => None,
        }
    }
}

/// Returns whether two operations are the same step of a deterministic program. Values are not
/// compared, because addresses differ between executions.
pub(crate) fn is_same_step(one: &Op, other: &Op) -> bool {
    let sites = |op: &Op| op.kind.target().map(|target| *target.site);
    std::mem::discriminant(&one.kind) == std::mem::discriminant(&other.kind)
        && *one.at == *other.at
        && sites(one) == sites(other)
}
