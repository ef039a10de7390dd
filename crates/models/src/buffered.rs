//! Store-buffer models: loads take effect at once, stores may be pending in queues.
//!
//! A [`Discipline`] defines which stores share a queue and what a fence waits for. Everything else
//! is the same for SC, TSO and PSO and is implemented here once.
//! Source: \[KVY11\] 3.3 (PSO), \[LW10\] section 2 (TSO). Direction: exact, up to the bound.

use crate::address::{apply_update, check_allocated, check_limits, locate};
use crate::bits::{Reader, Writer};
use crate::event::{Event, EventKind, EventRecorder, Source};
use crate::model::{Fidelity, IssueResult, MemoryModel, RacingStep, StepFailure};
use crate::shape::Shape;
use crate::state::State;
use fencepost_ir::{
    Address, Expr, Fault, FenceKinds, Label, Loc, MemoryOp, Op, Pc, Reg, ThreadId, Update, Value,
};
use std::fmt::Debug;

/// A store-buffer discipline: which stores share a queue, and what waits for what.
///
/// The queues may represent several contents at once. A predicate with a `&mut` argument then tests
/// each content and removes the contents for which it does not hold. It returns whether any content
/// remains.
pub trait Discipline: Sync {
    /// The queues of all threads.
    type Queues: Clone + PartialEq + Debug;

    /// Whether stores write memory directly, so that nothing is ever pending.
    const WRITES_DIRECTLY: bool = false;

    /// The direction of approximation.
    const FIDELITY: Fidelity = Fidelity::Exact;

    /// Whether a load may have several possible values, because the youngest pending store is
    /// unknown.
    const LOADS_HAVE_ALTERNATIVES: bool = false;

    /// Whether the queues represent one content, and a thread reads its youngest pending store.
    const HAS_EXACT_QUEUES: bool = false;

    /// Returns empty queues.
    fn empty(&self, shape: &Shape<'_>) -> Self::Queues;

    /// Appends a store. Returns false if the bound forbids it.
    fn push(&self, shape: &Shape<'_>, q: &mut Self::Queues, t: ThreadId, store: Store) -> bool;

    /// Returns the value of the thread's youngest pending store to the location, which the thread
    /// sees instead of the value in memory. If the discipline does not know the youngest store,
    /// `alternative` selects one (see [`Self::alternatives`]).
    fn youngest_value(
        &self,
        shape: &Shape<'_>,
        q: &mut Self::Queues,
        t: ThreadId,
        target: LoadTarget,
        alternative: u32,
    ) -> Option<Value>;

    /// Returns the number of values that a load may read.
    #[inline]
    fn alternatives(&self, _: &Shape<'_>, _: &Self::Queues, _: ThreadId, _: LoadTarget) -> u32 {
        1
    }

    /// Returns whether no earlier fence blocks the thread's loads.
    fn may_load(&self, q: &mut Self::Queues, t: ThreadId) -> bool;

    /// Returns whether the thread may update the location in memory.
    fn may_update(&self, shape: &Shape<'_>, q: &mut Self::Queues, t: ThreadId, loc: Loc) -> bool;

    /// Returns whether the thread has no pending store to a location for which `matches` holds.
    fn has_no_pending_store_to(
        &self,
        shape: &Shape<'_>,
        q: &mut Self::Queues,
        t: ThreadId,
        matches: &dyn Fn(Loc) -> bool,
    ) -> bool {
        let mut found = false;
        self.for_each_pending(shape, q, t, &mut |loc| found |= matches(loc));
        !found
    }

    /// Returns whether the thread has nothing pending. Restricts the contents, unlike
    /// [`Self::is_empty`].
    fn is_drained(&self, q: &mut Self::Queues, t: ThreadId) -> bool {
        self.is_empty(q, t)
    }

    /// Passes a fence. Returns false if the fence is blocked.
    fn fence(&self, q: &mut Self::Queues, t: ThreadId, kinds: FenceKinds) -> bool;

    /// Returns whether a fence of these kinds can be passed now.
    fn may_fence(&self, q: &Self::Queues, t: ThreadId, kinds: FenceKinds) -> bool;

    /// Returns whether the thread has nothing pending.
    fn is_empty(&self, q: &Self::Queues, t: ThreadId) -> bool;

    /// Calls `visit` with the location of each pending store of the thread.
    fn for_each_pending(
        &self,
        shape: &Shape<'_>,
        q: &Self::Queues,
        t: ThreadId,
        visit: &mut dyn FnMut(Loc),
    );

    /// Appends the enabled commits of a thread to `out`, as arguments of [`Self::commit`].
    fn enabled_commits(&self, q: &Self::Queues, t: ThreadId, out: &mut Vec<u32>);

    /// Returns the location that a commit writes.
    fn commit_location(&self, shape: &Shape<'_>, q: &Self::Queues, t: ThreadId, which: u32) -> Loc;

    /// Removes the store that a commit writes to memory.
    fn commit(&self, shape: &Shape<'_>, q: &mut Self::Queues, t: ThreadId, which: u32)
    -> Committed;

    /// Returns whether pushing a store to the location has the same effect now and after any
    /// commits.
    #[inline]
    fn push_commutes(&self, _: &Shape<'_>, _: &Self::Queues, _: ThreadId, _: Loc) -> bool {
        true
    }

    /// Returns whether the commit takes the only store that can be the next commit to its location.
    #[inline]
    fn commit_commutes(&self, _: &Self::Queues, _: ThreadId, _: u32) -> bool {
        true
    }

    /// Copies the queues of one thread from `from` to `to`.
    fn copy_thread(&self, from: &Self::Queues, to: &mut Self::Queues, t: ThreadId);

    /// Packs the queues of one thread.
    fn encode(&self, shape: &Shape<'_>, q: &Self::Queues, t: ThreadId, writer: &mut Writer);

    /// Unpacks the queues of one thread.
    fn decode(&self, shape: &Shape<'_>, reader: &mut Reader<'_>, q: &mut Self::Queues, t: ThreadId);
}

/// The location of a load and its value in memory.
#[derive(Clone, Copy, Debug)]
pub struct LoadTarget {
    /// The location.
    pub loc: Loc,
    /// The value in memory.
    pub memory_value: Value,
}

impl LoadTarget {
    fn of<P>(state: &State<P>, loc: Loc) -> Self {
        LoadTarget { loc, memory_value: state.memory.values[loc.index()] }
    }
}

/// A store to append to a queue.
#[derive(Clone, Copy, Debug)]
pub struct Store {
    /// The location to write.
    pub loc: Loc,
    /// The value to write.
    pub value: Value,
    /// The statement.
    pub label: Label,
}

/// A committed store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Committed {
    /// The location written.
    pub loc: Loc,
    /// The value written.
    pub value: Value,
    /// Whether the store stays pending. Only in abstractions, which do not count how often an
    /// element of a set is pending.
    pub stays_pending: bool,
}

/// A store-buffer model with a discipline.
#[derive(Clone, Copy, Debug)]
pub struct Buffered<D>(pub D);

/// The context in which one statement is executed.
struct StatementContext<'a, 'p, D: Discipline> {
    discipline: &'a D,
    shape: &'a Shape<'p>,
    t: ThreadId,
    pc: Pc,
    label: Label,
    /// The chosen alternative of a load with several possible values.
    alternative: u32,
}

impl<D: Discipline> StatementContext<'_, '_, D> {
    fn event(&self, kind: EventKind) -> Event {
        Event {
            thread: self.t,
            label: Some(self.label),
            pc: Some(self.pc),
            earlier_pending: None,
            kind,
        }
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
        recorder: &mut dyn EventRecorder,
    ) -> Result<IssueResult, Fault> {
        let loc = self.locate(state, from)?;
        if !self.discipline.may_load(&mut state.pending, self.t) {
            return Ok(IssueResult::Blocked);
        }
        check_allocated(self.shape, &state.memory, loc)?;
        let target = LoadTarget::of(state, loc);
        let queues = &mut state.pending;
        let own =
            self.discipline.youngest_value(self.shape, queues, self.t, target, self.alternative);
        let value = own.unwrap_or(target.memory_value);
        let source = match own {
            Some(_) => Source::Forwarded { by_pair: false, presumed: false },
            None => Source::Memory,
        };
        recorder.record_with(|| self.event(EventKind::Load { loc, value, source }));
        self.set(state, reg, value)?;
        Ok(IssueResult::Done)
    }

    #[inline]
    fn store(
        &self,
        state: &mut State<D::Queues>,
        to: &Address,
        value: &Expr<Reg>,
        recorder: &mut dyn EventRecorder,
    ) -> Result<IssueResult, Fault> {
        let loc = self.locate(state, to)?;
        let value = value.eval(&|r| state.register(self.shape, self.t, *r))?;
        check_allocated(self.shape, &state.memory, loc)?;
        let value = check_limits(self.shape.location_limits[loc.index()], value)?;
        if D::WRITES_DIRECTLY {
            state.memory.values[loc.index()] = value;
            recorder.record_with(|| self.event(EventKind::Write { loc, value }));
            return Ok(IssueResult::Done);
        }
        let store = Store { loc, value, label: self.label };
        if !self.discipline.push(self.shape, &mut state.pending, self.t, store) {
            return Ok(IssueResult::BoundReached);
        }
        recorder.record_with(|| self.event(EventKind::Store { loc, value }));
        Ok(IssueResult::Done)
    }

    fn update(
        &self,
        state: &mut State<D::Queues>,
        reg: Option<Reg>,
        at: &Address,
        update: &Update,
        recorder: &mut dyn EventRecorder,
    ) -> Result<IssueResult, Fault> {
        let loc = self.locate(state, at)?;
        if !self.discipline.may_update(self.shape, &mut state.pending, self.t, loc) {
            return Ok(IssueResult::Blocked);
        }
        check_allocated(self.shape, &state.memory, loc)?;
        let old = state.memory.values[loc.index()];
        let (new, yields) = apply_update(update, old, &|r| state.register(self.shape, self.t, *r))?;
        if let Some(new) = new {
            let new = check_limits(self.shape.location_limits[loc.index()], new)?;
            state.memory.values[loc.index()] = new;
        }
        recorder.record_with(|| self.event(EventKind::Update { loc, old, new }));
        if let Some(reg) = reg {
            self.set(state, reg, yields)?;
        }
        Ok(IssueResult::Done)
    }

    fn execute(
        &self,
        state: &mut State<D::Queues>,
        op: MemoryOp<'_>,
        recorder: &mut dyn EventRecorder,
    ) -> Result<IssueResult, Fault> {
        match op {
            MemoryOp::Load { reg, from } => self.load(state, reg, from, recorder),
            MemoryOp::Store { to, value } => self.store(state, to, value, recorder),
            MemoryOp::Update { reg, at, update } => self.update(state, reg, at, update, recorder),
            MemoryOp::Fence(kinds) => {
                if !self.discipline.fence(&mut state.pending, self.t, kinds) {
                    return Ok(IssueResult::Blocked);
                }
                recorder.record_with(|| self.event(EventKind::Fence(kinds)));
                Ok(IssueResult::Done)
            }
            MemoryOp::Drain(at) => {
                let loc = self.locate(state, at)?;
                let (queues, is_loc) = (&mut state.pending, |pending| pending == loc);
                if !self.discipline.has_no_pending_store_to(self.shape, queues, self.t, &is_loc) {
                    return Ok(IssueResult::Blocked);
                }
                check_allocated(self.shape, &state.memory, loc)?;
                recorder.record_with(|| self.event(EventKind::Drain(loc)));
                Ok(IssueResult::Done)
            }
        }
    }
}

impl<D: Discipline> MemoryModel for Buffered<D> {
    type Pending = D::Queues;

    fn fidelity(&self) -> Fidelity {
        D::FIDELITY
    }

    fn empty_pending(&self, shape: &Shape<'_>) -> D::Queues {
        self.0.empty(shape)
    }

    #[inline]
    fn alternatives(
        &self,
        shape: &Shape<'_>,
        state: &State<D::Queues>,
        t: ThreadId,
        pc: Pc,
    ) -> u32 {
        let Op::Load { from, .. } = &shape.stmt(t, pc).op else { return 1 };
        if !D::LOADS_HAVE_ALTERNATIVES {
            return 1;
        }
        let loc = locate(shape, from, &|r| state.register(shape, t, *r));
        loc.map_or(1, |loc| {
            self.0.alternatives(shape, &state.pending, t, LoadTarget::of(state, loc))
        })
    }

    #[inline]
    fn becomes_pending(&self, op: &Op) -> bool {
        !D::WRITES_DIRECTLY && matches!(op, Op::Store { .. })
    }

    fn can_issue_late(&self) -> bool {
        D::HAS_EXACT_QUEUES
    }

    #[inline]
    fn issue(
        &self,
        shape: &Shape<'_>,
        state: &mut State<D::Queues>,
        t: ThreadId,
        pc: Pc,
        alternative: u32,
        recorder: &mut dyn EventRecorder,
    ) -> Result<IssueResult, StepFailure> {
        let stmt = shape.stmt(t, pc);
        let context =
            StatementContext { discipline: &self.0, shape, t, pc, label: stmt.label, alternative };
        context
            .execute(state, stmt.op.memory().expect("only memory operations are issued"), recorder)
            .map_err(|fault| StepFailure { fault: Some(fault), label: Some(stmt.label) })
    }

    fn internal_steps(
        &self,
        _: &Shape<'_>,
        state: &State<D::Queues>,
        t: ThreadId,
        out: &mut Vec<u32>,
    ) {
        self.0.enabled_commits(&state.pending, t, out);
    }

    fn step_location(
        &self,
        shape: &Shape<'_>,
        state: &State<D::Queues>,
        t: ThreadId,
        step: u32,
    ) -> Option<Loc> {
        Some(self.0.commit_location(shape, &state.pending, t, step))
    }

    #[inline]
    fn perform_internal_step(
        &self,
        shape: &Shape<'_>,
        state: &mut State<D::Queues>,
        t: ThreadId,
        step: u32,
        recorder: &mut dyn EventRecorder,
    ) -> Result<bool, StepFailure> {
        let Committed { loc, value, stays_pending } =
            self.0.commit(shape, &mut state.pending, t, step);
        let kind = if stays_pending {
            EventKind::CommitAndKeep { loc, value }
        } else {
            EventKind::Commit { loc, value }
        };
        recorder.record_with(|| Event {
            thread: t,
            label: None,
            pc: None,
            earlier_pending: None,
            kind,
        });
        check_allocated(shape, &state.memory, loc)
            .map_err(|fault| StepFailure { fault: Some(fault), label: None })?;
        state.memory.values[loc.index()] = value;
        Ok(true)
    }

    fn has_no_pending_access(&self, pending: &D::Queues, t: ThreadId) -> bool {
        self.0.is_empty(pending, t)
    }

    fn is_drained(&self, pending: &mut D::Queues, t: ThreadId) -> bool {
        self.0.is_drained(pending, t)
    }

    fn has_no_pending_access_to(
        &self,
        shape: &Shape<'_>,
        pending: &mut D::Queues,
        t: ThreadId,
        cell: usize,
    ) -> bool {
        let is_in_cell = |loc: Loc| shape.cell[loc.index()] == Some(cell as u32);
        self.0.has_no_pending_store_to(shape, pending, t, &is_in_cell)
    }

    #[inline]
    fn pending_accesses_to(
        &self,
        shape: &Shape<'_>,
        pending: &D::Queues,
        t: ThreadId,
        loc: Loc,
    ) -> fencepost_ir::Access {
        let mut stores = false;
        self.0.for_each_pending(shape, pending, t, &mut |other| stores |= other == loc);
        fencepost_ir::Access { loads: false, stores }
    }

    /// A store enters a queue that other threads do not see, at the end that no commit touches. A
    /// load or update commutes if no other thread may still write what it reads or read what it
    /// writes; the thread's own commits do not change what the load or update sees. A fence that
    /// can be passed stays passable.
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
                let is_buffered = |loc| {
                    let commutes = || self.0.push_commutes(shape, &state.pending, t, loc);
                    !D::WRITES_DIRECTLY && !self.others_may_free(shape, state, t, loc) && commutes()
                };
                let is_private =
                    |loc| D::WRITES_DIRECTLY && !self.others_may_access(shape, state, t, loc);
                location(to).is_some_and(|loc| is_buffered(loc) || is_private(loc))
            }
            MemoryOp::Load { from, .. } => {
                let has_one_value = |loc| {
                    self.0.alternatives(shape, &state.pending, t, LoadTarget::of(state, loc)) == 1
                };
                let is_unshared = |loc| !self.others_may_store(shape, state, t, loc);
                location(from).is_some_and(|loc| is_unshared(loc) && has_one_value(loc))
            }
            MemoryOp::Update { at, .. } => {
                location(at).is_some_and(|loc| !self.others_may_access(shape, state, t, loc))
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
        !self.others_may_access(shape, state, t, loc)
            && self.0.commit_commutes(&state.pending, t, step)
    }

    fn racing_locations(
        &self,
        shape: &Shape<'_>,
        state: &State<D::Queues>,
        t: ThreadId,
        out: &mut Vec<Loc>,
    ) {
        if !D::HAS_EXACT_QUEUES {
            return;
        }
        let mut commits = Vec::new();
        self.0.enabled_commits(&state.pending, t, &mut commits);
        let commits = commits.into_iter();
        out.extend(commits.map(|step| self.0.commit_location(shape, &state.pending, t, step)));
        out.extend(next_location::<D>(shape, state, t));
    }

    /// With a pending store to the location, the thread reads its own store, and its later stores
    /// and updates wait. So the commit of the oldest one is the first access in memory. Without a
    /// pending store, the thread does nothing behind its next statement but commit other stores.
    fn racing_step(
        &self,
        shape: &Shape<'_>,
        state: &State<D::Queues>,
        t: ThreadId,
        loc: Loc,
    ) -> Option<RacingStep> {
        if !D::HAS_EXACT_QUEUES {
            return None;
        }
        if self.pending_accesses_to(shape, &state.pending, t, loc).stores {
            let mut commits = Vec::new();
            self.0.enabled_commits(&state.pending, t, &mut commits);
            let writes =
                |step: &u32| self.0.commit_location(shape, &state.pending, t, *step) == loc;
            return commits.into_iter().find(writes).map(RacingStep::Internal);
        }
        (next_location::<D>(shape, state, t) == Some(loc)).then_some(RacingStep::Run)
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

/// Returns the location that the next statement of a thread accesses in memory, if it does so and
/// the address is valid.
fn next_location<D: Discipline>(
    shape: &Shape<'_>,
    state: &State<D::Queues>,
    t: ThreadId,
) -> Option<Loc> {
    let at = match shape.stmt(t, state.pcs[t.index()]).op.memory()? {
        MemoryOp::Load { from: at, .. } | MemoryOp::Update { at, .. } => at,
        MemoryOp::Store { to, .. } if D::WRITES_DIRECTLY => to,
        MemoryOp::Store { .. } | MemoryOp::Fence(_) | MemoryOp::Drain(_) => return None,
    };
    locate(shape, at, &|r| state.register(shape, t, *r)).ok()
}
