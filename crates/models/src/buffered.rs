//! Store-buffer models: loads happen at once, stores may wait in queues.
//!
//! A [`Discipline`] says which stores share a queue and what a fence waits for; everything else is
//! the same for SC, TSO and PSO and is written here once.
//! Source: \[KVY11\] 3.3 (PSO), \[LW10\] section 2 (TSO). Direction: exact, up to the bound.

use crate::address::{apply_update, check_allocated, check_limits, locate};
use crate::bits::{Reader, Writer};
use crate::event::{Event, EventKind, Record, Source};
use crate::model::{Fidelity, Issue, MemoryModel, Stumble};
use crate::shape::Shape;
use crate::state::State;
use fencepost_ir::{
    Address, Expr, Fault, FenceKinds, Label, Loc, MemoryOp, Op, Pc, Reg, ThreadId, Update, Value,
};
use std::fmt::Debug;

/// Which stores share a queue, and what waits for what.
///
/// Queues may stand for several contents at once. A question that takes them as `&mut` is then
/// asked of each content, and those for which the answer is no are left out; the answer is yes if any stays.
pub trait Discipline: Sync {
    /// The queues of all threads.
    type Queues: Clone + PartialEq + Debug;

    /// Whether stores go to memory at once, so that there is never anything pending.
    const DIRECT: bool = false;

    /// Which way it errs.
    const FIDELITY: Fidelity = Fidelity::Exact;

    /// Whether it may not know which of several pending stores is the youngest.
    const GUESSES: bool = false;

    /// All queues empty.
    fn empty(&self, shape: &Shape<'_>) -> Self::Queues;

    /// Appends a store. False when the bound forbids it.
    fn push(&self, shape: &Shape<'_>, q: &mut Self::Queues, t: ThreadId, store: Store) -> bool;

    /// What the thread sees at the location before memory does: the value of its youngest pending store.
    /// Where the discipline does not know which one that is, `way` tells (see
    /// [`Self::ways`]).
    fn youngest(
        &self,
        shape: &Shape<'_>,
        q: &mut Self::Queues,
        t: ThreadId,
        place: Place,
        way: u32,
    ) -> Option<Value>;

    /// How many values a load of the place may yield.
    #[inline]
    fn ways(&self, _: &Shape<'_>, _: &Self::Queues, _: ThreadId, _: Place) -> u32 {
        1
    }

    /// Whether no fence makes the thread's loads wait.
    fn may_load(&self, q: &mut Self::Queues, t: ThreadId) -> bool;

    /// Whether the thread may update the location in memory.
    fn may_update(&self, shape: &Shape<'_>, q: &mut Self::Queues, t: ThreadId, loc: Loc) -> bool;

    /// Whether the thread has no pending store to any of these locations.
    fn is_clear_of(
        &self,
        shape: &Shape<'_>,
        q: &mut Self::Queues,
        t: ThreadId,
        these: &dyn Fn(Loc) -> bool,
    ) -> bool {
        let mut found = false;
        self.for_each(shape, q, t, &mut |loc| found |= these(loc));
        !found
    }

    /// Whether the thread has nothing pending, as [`Self::is_empty`].
    fn is_drained(&self, q: &mut Self::Queues, t: ThreadId) -> bool {
        self.is_empty(q, t)
    }

    /// Passes a fence. False when it must wait.
    fn fence(&self, q: &mut Self::Queues, t: ThreadId, kinds: FenceKinds) -> bool;

    /// Whether a full fence, or a fence of this kind, could be passed now.
    fn may_fence(&self, q: &Self::Queues, t: ThreadId, kinds: FenceKinds) -> bool;

    /// Whether the thread has nothing pending.
    fn is_empty(&self, q: &Self::Queues, t: ThreadId) -> bool;

    /// Calls `visit` with the location of each pending store of the thread.
    fn for_each(
        &self,
        shape: &Shape<'_>,
        q: &Self::Queues,
        t: ThreadId,
        visit: &mut dyn FnMut(Loc),
    );

    /// The commits possible for a thread, by numbers that [`Self::commit`] understands.
    fn commits(&self, q: &Self::Queues, t: ThreadId, out: &mut Vec<u32>);

    /// The location a commit would write.
    fn commit_location(&self, shape: &Shape<'_>, q: &Self::Queues, t: ThreadId, which: u32) -> Loc;

    /// Removes the store a commit writes to memory.
    fn commit(&self, shape: &Shape<'_>, q: &mut Self::Queues, t: ThreadId, which: u32)
    -> Committed;

    /// Whether a store to the location enters the queues in the same way now and after any commits.
    #[inline]
    fn push_commutes(&self, _: &Shape<'_>, _: &Self::Queues, _: ThreadId, _: Loc) -> bool {
        true
    }

    /// Whether a commit takes the only store that can be committed to its location next.
    #[inline]
    fn commit_commutes(&self, _: &Self::Queues, _: ThreadId, _: u32) -> bool {
        true
    }

    /// Makes the queues of one thread in `to` the same as in `from`.
    fn copy_thread(&self, from: &Self::Queues, to: &mut Self::Queues, t: ThreadId);

    /// Packs the queues of one thread.
    fn encode(&self, shape: &Shape<'_>, q: &Self::Queues, t: ThreadId, writer: &mut Writer);

    /// Unpacks them.
    fn decode(&self, shape: &Shape<'_>, reader: &mut Reader<'_>, q: &mut Self::Queues, t: ThreadId);
}

/// A location with what memory holds there.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Where.
    pub loc: Loc,
    /// What.
    pub memory: Value,
}

impl Place {
    fn of<P>(state: &State<P>, loc: Loc) -> Self {
        Place { loc, memory: state.memory.values[loc.index()] }
    }
}

/// A store on its way to a queue.
#[derive(Clone, Copy, Debug)]
pub struct Store {
    /// To where.
    pub loc: Loc,
    /// What.
    pub value: Value,
    /// By which statement.
    pub label: Label,
}

/// A store that becomes visible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Committed {
    /// To where.
    pub loc: Loc,
    /// What.
    pub value: Value,
    /// Whether it may be committed again: an abstraction does not know how often it is pending.
    pub stays: bool,
}

/// A store-buffer model with this discipline.
#[derive(Clone, Copy, Debug)]
pub struct Buffered<D>(pub D);

/// The pieces of one statement's execution.
struct Access<'a, 'p, D: Discipline> {
    discipline: &'a D,
    shape: &'a Shape<'p>,
    t: ThreadId,
    pc: Pc,
    label: Label,
    /// Which way the discipline goes where it does not know.
    way: u32,
}

impl<D: Discipline> Access<'_, '_, D> {
    fn event(&self, kind: EventKind) -> Event {
        Event { thread: self.t, label: Some(self.label), pc: Some(self.pc), ahead: None, kind }
    }

    #[inline]
    fn locate(&self, state: &State<D::Queues>, address: &Address) -> Result<Loc, Fault> {
        match address.as_fixed() {
            Some(loc) => Ok(loc),
            None => locate(self.shape, address, &|r| state.register(self.shape, self.t, *r)),
        }
    }

    #[inline]
    fn set(&self, state: &mut State<D::Queues>, reg: Reg, value: Value) -> Result<(), Fault> {
        let thread = self.shape.thread(self.t);
        let value = check_limits(thread.register_limits[reg.index()], value)?;
        state.registers[thread.registers + reg.index()] = value;
        Ok(())
    }

    #[inline]
    fn load(
        &self,
        state: &mut State<D::Queues>,
        reg: Reg,
        from: &Address,
        record: &mut dyn Record,
    ) -> Result<Issue, Fault> {
        let loc = self.locate(state, from)?;
        if !self.discipline.may_load(&mut state.pending, self.t) {
            return Ok(Issue::Blocked);
        }
        check_allocated(self.shape, &state.memory, loc)?;
        let place = Place::of(state, loc);
        let queues = &mut state.pending;
        let own = self.discipline.youngest(self.shape, queues, self.t, place, self.way);
        let value = own.unwrap_or(place.memory);
        let source = if own.is_some() { Source::Forwarded } else { Source::Memory };
        record.event(|| self.event(EventKind::Load { loc, value, source }));
        self.set(state, reg, value)?;
        Ok(Issue::Done)
    }

    #[inline]
    fn store(
        &self,
        state: &mut State<D::Queues>,
        to: &Address,
        value: &Expr<Reg>,
        record: &mut dyn Record,
    ) -> Result<Issue, Fault> {
        let loc = self.locate(state, to)?;
        let value = value.eval(&|r| state.register(self.shape, self.t, *r))?;
        check_allocated(self.shape, &state.memory, loc)?;
        let value = check_limits(self.shape.location_limits[loc.index()], value)?;
        if D::DIRECT {
            state.memory.values[loc.index()] = value;
            record.event(|| self.event(EventKind::Write { loc, value }));
            return Ok(Issue::Done);
        }
        let store = Store { loc, value, label: self.label };
        if !self.discipline.push(self.shape, &mut state.pending, self.t, store) {
            return Ok(Issue::Bounded);
        }
        record.event(|| self.event(EventKind::Store { loc, value }));
        Ok(Issue::Done)
    }

    fn update(
        &self,
        state: &mut State<D::Queues>,
        reg: Option<Reg>,
        at: &Address,
        update: &Update,
        record: &mut dyn Record,
    ) -> Result<Issue, Fault> {
        let loc = self.locate(state, at)?;
        if !self.discipline.may_update(self.shape, &mut state.pending, self.t, loc) {
            return Ok(Issue::Blocked);
        }
        check_allocated(self.shape, &state.memory, loc)?;
        let old = state.memory.values[loc.index()];
        let (new, yields) = apply_update(update, old, &|r| state.register(self.shape, self.t, *r))?;
        if let Some(new) = new {
            let new = check_limits(self.shape.location_limits[loc.index()], new)?;
            state.memory.values[loc.index()] = new;
        }
        record.event(|| self.event(EventKind::Update { loc, old, new }));
        if let Some(reg) = reg {
            self.set(state, reg, yields)?;
        }
        Ok(Issue::Done)
    }

    fn execute(
        &self,
        state: &mut State<D::Queues>,
        op: MemoryOp<'_>,
        record: &mut dyn Record,
    ) -> Result<Issue, Fault> {
        match op {
            MemoryOp::Load { reg, from } => self.load(state, reg, from, record),
            MemoryOp::Store { to, value } => self.store(state, to, value, record),
            MemoryOp::Update { reg, at, update } => self.update(state, reg, at, update, record),
            MemoryOp::Fence(kinds) => {
                if !self.discipline.fence(&mut state.pending, self.t, kinds) {
                    return Ok(Issue::Blocked);
                }
                record.event(|| self.event(EventKind::Fence(kinds)));
                Ok(Issue::Done)
            }
            MemoryOp::Drain(at) => {
                let loc = self.locate(state, at)?;
                let (queues, here) = (&mut state.pending, |pending| pending == loc);
                if !self.discipline.is_clear_of(self.shape, queues, self.t, &here) {
                    return Ok(Issue::Blocked);
                }
                check_allocated(self.shape, &state.memory, loc)?;
                record.event(|| self.event(EventKind::Drain(loc)));
                Ok(Issue::Done)
            }
        }
    }
}

impl<D: Discipline> MemoryModel for Buffered<D> {
    type Pending = D::Queues;

    const FIDELITY: Fidelity = D::FIDELITY;

    fn nothing(&self, shape: &Shape<'_>) -> D::Queues {
        self.0.empty(shape)
    }

    #[inline]
    fn ways(&self, shape: &Shape<'_>, state: &State<D::Queues>, t: ThreadId, pc: Pc) -> u32 {
        let Op::Load { from, .. } = &shape.stmt(t, pc).op else { return 1 };
        if !D::GUESSES {
            return 1;
        }
        let loc = locate(shape, from, &|r| state.register(shape, t, *r));
        loc.map_or(1, |loc| self.0.ways(shape, &state.pending, t, Place::of(state, loc)))
    }

    #[inline]
    fn issue(
        &self,
        shape: &Shape<'_>,
        state: &mut State<D::Queues>,
        t: ThreadId,
        pc: Pc,
        way: u32,
        record: &mut dyn Record,
    ) -> Result<Issue, Stumble> {
        let stmt = shape.stmt(t, pc);
        let access = Access { discipline: &self.0, shape, t, pc, label: stmt.label, way };
        access
            .execute(state, stmt.op.memory().expect("only memory operations are issued"), record)
            .map_err(|fault| Stumble { fault: Some(fault), label: Some(stmt.label) })
    }

    fn internal(&self, _: &Shape<'_>, state: &State<D::Queues>, t: ThreadId, out: &mut Vec<u32>) {
        self.0.commits(&state.pending, t, out);
    }

    #[inline]
    fn perform(
        &self,
        shape: &Shape<'_>,
        state: &mut State<D::Queues>,
        t: ThreadId,
        step: u32,
        record: &mut dyn Record,
    ) -> Result<(), Stumble> {
        let Committed { loc, value, stays } = self.0.commit(shape, &mut state.pending, t, step);
        let kind =
            if stays { EventKind::Stay { loc, value } } else { EventKind::Commit { loc, value } };
        record.event(|| Event { thread: t, label: None, pc: None, ahead: None, kind });
        check_allocated(shape, &state.memory, loc)
            .map_err(|fault| Stumble { fault: Some(fault), label: None })?;
        state.memory.values[loc.index()] = value;
        Ok(())
    }

    fn is_idle(&self, pending: &D::Queues, t: ThreadId) -> bool {
        self.0.is_empty(pending, t)
    }

    fn is_drained(&self, pending: &mut D::Queues, t: ThreadId) -> bool {
        self.0.is_drained(pending, t)
    }

    fn lets_go(
        &self,
        shape: &Shape<'_>,
        pending: &mut D::Queues,
        t: ThreadId,
        cell: usize,
    ) -> bool {
        let inside = |loc: Loc| shape.cell[loc.index()] == Some(cell as u32);
        self.0.is_clear_of(shape, pending, t, &inside)
    }

    #[inline]
    fn pending_at(
        &self,
        shape: &Shape<'_>,
        pending: &D::Queues,
        t: ThreadId,
        loc: Loc,
    ) -> fencepost_ir::Access {
        let mut stores = false;
        self.0.for_each(shape, pending, t, &mut |other| stores |= other == loc);
        fencepost_ir::Access { loads: false, stores }
    }

    /// A store enters a queue that nobody else sees, at the end that no commit touches. A load or
    /// update commutes when no other thread can still write what it reads, or read what it writes; its own
    /// commits do not change what it sees. A fence that can be passed stays so.
    fn issue_commutes(
        &self,
        shape: &Shape<'_>,
        state: &State<D::Queues>,
        t: ThreadId,
        pc: Pc,
    ) -> bool {
        let location = |at: &Address| locate(shape, at, &|r| state.register(shape, t, *r)).ok();
        let Some(op) = shape.stmt(t, pc).op.memory() else { return false };
        match op {
            MemoryOp::Store { to, .. } => {
                let waits = |loc| {
                    let commutes = || self.0.push_commutes(shape, &state.pending, t, loc);
                    !D::DIRECT && !shape.is_freeable(loc) && commutes()
                };
                let private = |loc| D::DIRECT && !self.others_access(shape, state, t, loc);
                location(to).is_some_and(|loc| waits(loc) || private(loc))
            }
            MemoryOp::Load { from, .. } => {
                let known = |loc| self.0.ways(shape, &state.pending, t, Place::of(state, loc)) == 1;
                let alone = |loc| !self.others_store(shape, state, t, loc);
                location(from).is_some_and(|loc| alone(loc) && known(loc))
            }
            MemoryOp::Update { at, .. } => {
                location(at).is_some_and(|loc| !self.others_access(shape, state, t, loc))
            }
            MemoryOp::Fence(kinds) => self.0.may_fence(&state.pending, t, kinds),
            MemoryOp::Drain(at) => location(at).is_some_and(|loc| !shape.is_freeable(loc)),
        }
    }

    fn internal_commutes(
        &self,
        shape: &Shape<'_>,
        state: &State<D::Queues>,
        t: ThreadId,
        step: u32,
    ) -> bool {
        let loc = self.0.commit_location(shape, &state.pending, t, step);
        !self.others_access(shape, state, t, loc) && self.0.commit_commutes(&state.pending, t, step)
    }

    #[inline]
    fn copy_thread(&self, from: &D::Queues, to: &mut D::Queues, t: ThreadId) {
        self.0.copy_thread(from, to, t);
    }

    #[inline]
    fn encode(&self, shape: &Shape<'_>, pending: &D::Queues, t: ThreadId, writer: &mut Writer) {
        self.0.encode(shape, pending, t, writer);
    }

    #[inline]
    fn decode(
        &self,
        shape: &Shape<'_>,
        reader: &mut Reader<'_>,
        pending: &mut D::Queues,
        t: ThreadId,
    ) {
        self.0.decode(shape, reader, pending, t);
    }
}
