//! What a memory model is to the machine.
//!
//! The machine knows program counters and control flow; a model knows what happens between a thread
//! and memory. A model sees one operation at a time, with the thread that executes it; it never sees
//! where control goes, and never a property.

use crate::bits::{Reader, Writer};
use crate::event::Record;
use crate::shape::Shape;
use crate::state::State;
use fencepost_ir::{Access, Fault, Label, Loc, Op, Pc, Reg, ThreadId, Violation};
use std::fmt::Debug;

/// What came of an attempt to execute an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Issue {
    /// It happened; the thread goes on.
    Done,
    /// It cannot happen in this state.
    Blocked,
    /// It could happen, but the bound on what may be pending forbids it.
    Bounded,
}

/// A step that goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stumble {
    /// What went wrong: a fault, or (none) an assertion that fails.
    pub fault: Option<Fault>,
    /// Where, if the model knows.
    pub label: Option<Label>,
}

impl Stumble {
    /// What it violates; the thread is none for `init`.
    pub fn violation(self, thread: Option<ThreadId>) -> Violation {
        match self.fault {
            Some(fault) => Violation::Fault(fault, thread, self.label),
            None => Violation::Assertion(thread, self.label),
        }
    }
}

/// Which way a model errs, if it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fidelity {
    /// It has exactly the behaviours it stands for.
    Exact,
    /// It has all of them and perhaps more: what it finds may be spurious.
    Over,
    /// It has some of them: what it does not find may exist.
    Under,
}

/// A memory model.
pub trait MemoryModel: Sync {
    /// What is pending in a state, for all threads.
    type Pending: Clone + PartialEq + Debug;

    /// Which way it errs.
    const FIDELITY: Fidelity;

    /// The bound on what may be pending, where it decides how far a step goes: a window is filled in
    /// the same step, as far as there is room.
    fn bound(&self) -> Option<u32> {
        None
    }

    /// Nothing pending.
    fn nothing(&self, shape: &Shape<'_>) -> Self::Pending;

    /// Whether the thread can use the values of these registers now.
    fn known(&self, _: &State<Self::Pending>, _: ThreadId, _: &[Reg]) -> bool {
        true
    }

    /// Forgets the value of a register that is never read again.
    fn forget(&self, shape: &Shape<'_>, state: &mut State<Self::Pending>, t: ThreadId, reg: Reg) {
        state.registers[shape.register(t, reg)] = 0;
    }

    /// Makes a register hold the value the machine just computed for it.
    fn define(&self, _: &Shape<'_>, _: &mut State<Self::Pending>, _: ThreadId, _: Reg) {}

    /// Whether executing this operation is invisible to everyone else and always possible, so that
    /// it may as well happen at once (a fetch into a window).
    fn fetches(&self, _: &Op) -> bool {
        false
    }

    /// In how many ways the operation at `pc` can go: more than one only where an abstraction does not
    /// know the value that a load reads.
    #[inline]
    fn ways(&self, _: &Shape<'_>, _: &State<Self::Pending>, _: ThreadId, _: Pc) -> u32 {
        1
    }

    /// Executes the memory operation at `pc`, or (for a model that defers) an assignment or assertion
    /// whose registers are not known yet; in this of its [ways](Self::ways).
    fn issue(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Self::Pending>,
        t: ThreadId,
        pc: Pc,
        way: u32,
        record: &mut dyn Record,
    ) -> Result<Issue, Stumble>;

    /// The internal steps of a thread that are possible now, as numbers that [`Self::perform`]
    /// understands, in a fixed order.
    fn internal(
        &self,
        shape: &Shape<'_>,
        state: &State<Self::Pending>,
        t: ThreadId,
        out: &mut Vec<u32>,
    );

    /// Takes an internal step.
    fn perform(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Self::Pending>,
        t: ThreadId,
        step: u32,
        record: &mut dyn Record,
    ) -> Result<(), Stumble>;

    /// Whether nothing is pending for the thread.
    fn is_idle(&self, pending: &Self::Pending, t: ThreadId) -> bool;

    /// The same, asked by a step that waits for it. A model whose states stand for several leaves out
    /// those that wait.
    fn is_drained(&self, pending: &mut Self::Pending, t: ThreadId) -> bool {
        self.is_idle(pending, t)
    }

    /// Whether the thread has no pending access that may be to this record cell (counted over all
    /// pools), asked in the same way.
    fn lets_go(
        &self,
        shape: &Shape<'_>,
        pending: &mut Self::Pending,
        t: ThreadId,
        cell: usize,
    ) -> bool;

    /// Whether the thread may allocate or free records now: not before its earlier loads, in a model
    /// that keeps loads in order with later stores, and so on.
    fn may_allocate(&self, _: &Shape<'_>, _: &Self::Pending, _: ThreadId) -> bool {
        true
    }

    /// Whether something that is pending for the thread may load the location, and whether something may store to it.
    fn pending_at(
        &self,
        shape: &Shape<'_>,
        pending: &Self::Pending,
        t: ThreadId,
        loc: Loc,
    ) -> Access;

    /// Whether another thread may still store to the location, or free it.
    #[inline]
    fn others_store(
        &self,
        shape: &Shape<'_>,
        state: &State<Self::Pending>,
        t: ThreadId,
        loc: Loc,
    ) -> bool {
        shape.is_freeable(loc)
            || shape.others(t, shape.writers[loc.index()]).any(|other| {
                shape.thread(other).ahead.stores(state.pcs[other.index()], loc)
                    || self.pending_at(shape, &state.pending, other, loc).stores
            })
    }

    /// Whether another thread may still access the location, or a property looks at it before the end.
    #[inline]
    fn others_access(
        &self,
        shape: &Shape<'_>,
        state: &State<Self::Pending>,
        t: ThreadId,
        loc: Loc,
    ) -> bool {
        let who = shape.readers[loc.index()] | shape.writers[loc.index()];
        !shape.is_quiet(loc)
            || shape.others(t, who).any(|other| {
                let (ahead, pc) = (&shape.thread(other).ahead, state.pcs[other.index()]);
                let pending = || self.pending_at(shape, &state.pending, other, loc);
                ahead.stores(pc, loc)
                    || ahead.loads(pc, loc)
                    || pending() != Access { loads: false, stores: false }
            })
    }

    /// Whether issuing the operation now commutes with everything that other threads can do before
    /// it and with the internal steps of this thread. `false` is always right.
    fn issue_commutes(&self, _: &Shape<'_>, _: &State<Self::Pending>, _: ThreadId, _: Pc) -> bool {
        false
    }

    /// The same for an internal step.
    fn internal_commutes(
        &self,
        _: &Shape<'_>,
        _: &State<Self::Pending>,
        _: ThreadId,
        _: u32,
    ) -> bool {
        false
    }

    /// Makes what is pending for one thread in `to` the same as in `from`.
    fn copy_thread(&self, from: &Self::Pending, to: &mut Self::Pending, t: ThreadId);

    /// Packs what is pending for one thread.
    fn encode(&self, shape: &Shape<'_>, pending: &Self::Pending, t: ThreadId, writer: &mut Writer);

    /// Unpacks it.
    fn decode(
        &self,
        shape: &Shape<'_>,
        reader: &mut Reader<'_>,
        pending: &mut Self::Pending,
        t: ThreadId,
    );
}

/// An abstract model, whose pending accesses may stand for others.
pub trait Covering: MemoryModel {
    /// Packs what must be the same for one thread when states are compared: what a thread sees of its own
    /// accesses.
    fn encode_key(
        &self,
        shape: &Shape<'_>,
        pending: &Self::Pending,
        t: ThreadId,
        writer: &mut Writer,
    );

    /// Whether `big` stands for all that `small` stands for. Their keys are the same.
    fn covers(&self, big: &Self::Pending, small: &Self::Pending) -> bool;

    /// Makes `into` stand for all that `from` stands for, too, if the domain joins such states. Their
    /// keys are the same.
    fn join(&self, into: &mut Self::Pending, from: &Self::Pending) -> bool;
}
