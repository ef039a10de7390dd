//! Store-buffer models: loads take effect at once, stores may be pending in queues.
//!
//! A [`Discipline`] defines which stores share a queue and what a fence waits for. Everything else
//! is the same for SC, TSO and PSO and is implemented here once.
//! Source: \[KVY11\] 3.3 (PSO), \[LW10\] section 2 (TSO). Direction: exact, up to the bound.

mod discipline;

pub use discipline::{Committed, Discipline, LoadTarget, Store};

use crate::address::{apply_update, check_allocated, check_limits, locate};
use crate::bits::{Reader, Writer};
use crate::event::{Event, EventKind, EventRecorder, Source};
use crate::model::{Condition, Fidelity, IssueResult, MemoryModel, RacingStep, Scope, StepFailure};
use crate::shape::Shape;
use crate::state::State;
use fencepost_ir::{
    Address, Expr, Fault, Label, Loc, MemoryOp, Op, Pc, Reg, ThreadId, Update, Value,
};

/// A discipline whose queues hold exactly one value for each pending store.
pub trait PlainQueues: Discipline {
    /// Calls `visit` on the location and the value of every pending store of a thread, in an order
    /// that does not depend on the values. `visit` may change the values.
    fn for_each_value(
        &self,
        shape: &Shape<'_>,
        queues: &mut Self::Queues,
        t: ThreadId,
        visit: &mut dyn FnMut(Loc, &mut Value),
    );
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

    fn has_tables(&self) -> bool {
        D::HAS_TABLES
    }

    fn has_quiet_accesses(&self) -> bool {
        D::HAS_EXACT_QUEUES
    }

    fn issue_scope(
        &self,
        shape: &Shape<'_>,
        state: &State<D::Queues>,
        t: ThreadId,
        pc: Pc,
    ) -> Scope {
        let scope = |at: &Address, accesses_memory: bool| match locate(shape, at, &|r| {
            state.register(shape, t, *r)
        }) {
            Ok(loc) if shape.cell[loc.index()].is_some() => Scope::State,
            Ok(loc) if accesses_memory => Scope::Location(loc),
            Ok(_) | Err(_) => Scope::Thread,
        };
        match shape.stmt(t, pc).op.memory() {
            Some(MemoryOp::Load { from: at, .. } | MemoryOp::Update { at, .. }) => scope(at, true),
            Some(MemoryOp::Store { to, .. }) => scope(to, D::WRITES_DIRECTLY),
            Some(MemoryOp::Drain(at)) => scope(at, false),
            Some(MemoryOp::Fence(_)) => Scope::Thread,
            None => Scope::State,
        }
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
    ) -> Condition {
        let location = |at: &Address| locate(shape, at, &|r| state.register(shape, t, *r)).ok();
        let Some(op) = shape.stmt(t, pc).op.memory() else { return Condition::Never };
        let condition = match op {
            MemoryOp::Store { to, .. } if D::WRITES_DIRECTLY => {
                location(to).map(Condition::NoAccess)
            }
            MemoryOp::Store { to, .. } => location(to)
                .filter(|loc| self.0.push_commutes(shape, &state.pending, t, *loc))
                .map(Condition::NoFree),
            MemoryOp::Load { from, .. } => {
                let has_one_value = |loc: &Loc| {
                    self.0.alternatives(shape, &state.pending, t, LoadTarget::of(state, *loc)) == 1
                };
                location(from).filter(has_one_value).map(Condition::NoStore)
            }
            MemoryOp::Update { at, .. } => location(at).map(Condition::NoAccess),
            MemoryOp::Fence(kinds) => {
                self.0.may_fence(&state.pending, t, kinds).then_some(Condition::Always)
            }
            MemoryOp::Drain(at) => {
                location(at).filter(|loc| !shape.is_freeable(*loc)).map(|_| Condition::Always)
            }
        };
        condition.unwrap_or(Condition::Never)
    }

    fn internal_condition(
        &self,
        shape: &Shape<'_>,
        state: &State<D::Queues>,
        t: ThreadId,
        step: u32,
    ) -> Condition {
        if !self.0.commit_commutes(&state.pending, t, step) {
            return Condition::Never;
        }
        Condition::NoAccess(self.0.commit_location(shape, &state.pending, t, step))
    }

    fn internal_commutes(
        &self,
        shape: &Shape<'_>,
        state: &State<D::Queues>,
        t: ThreadId,
        step: u32,
    ) -> bool {
        self.holds(shape, state, t, self.internal_condition(shape, state, t, step))
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

    fn rename_pending(
        &self,
        shape: &Shape<'_>,
        from: (&D::Queues, ThreadId),
        to: (&mut D::Queues, ThreadId),
        store: &dyn Fn(Loc, Value) -> (Loc, Value),
    ) -> bool {
        self.0.rename(shape, from, to, store)
    }

    fn visit_pending_stores(
        &self,
        shape: &Shape<'_>,
        pending: &D::Queues,
        t: ThreadId,
        visit: &mut dyn FnMut(usize, Loc, Value),
    ) {
        self.0.visit_stores(shape, pending, t, visit);
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
    fn pending_bits(&self, shape: &Shape<'_>, bytes: &[u8], bit: usize, t: ThreadId) -> usize {
        self.0.packed_bits(shape, bytes, bit, t)
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
