//! Executing statements: control flow, registers, records, atomic blocks.

use super::choice::Choices;
use super::direct::Block;
use super::{Machine, Taken};
use crate::address::check_limits;
use crate::event::{Event, EventKind, Record};
use crate::model::{Issue, MemoryModel, Stumble};
use crate::state::State;
use fencepost_ir::{Expr, Fault, Op, Pc, Reg, Stmt, ThreadId, Value};

/// How many local statements run together at most. A loop without shared accesses then takes several
/// steps instead of one that never ends.
const FUSED: usize = 1_000;

/// How a local statement ended.
pub(super) enum Local {
    /// Control is here now.
    At(Pc),
    /// An assumption does not hold.
    Blocked,
    /// A register it needs is not known yet.
    Unknown,
}

impl<M: MemoryModel> Machine<'_, M> {
    /// Executes the next statement of a thread and the local ones after it. When it is not taken, or
    /// stumbles, the state is not to be used any more.
    #[inline]
    pub fn run(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        choices: &mut Choices,
        record: &mut dyn Record,
    ) -> Result<Taken, Stumble> {
        let pc = state.pcs[t.index()];
        let stmt = self.shape.stmt(t, pc);
        let stumble = |fault| Stumble { fault: Some(fault), label: Some(stmt.label) };
        let event =
            |kind| Event { thread: t, label: Some(stmt.label), pc: Some(pc), ahead: None, kind };
        let next = match &stmt.op {
            Op::Halt | Op::AtomicEnd => return Ok(Taken::Blocked),
            Op::Load { .. }
            | Op::Store { .. }
            | Op::Update { .. }
            | Op::Drain(_)
            | Op::Fence(_) => {
                let ways = self.model.ways(&self.shape, state, t, pc);
                let way = if ways > 1 { choices.choose(ways) } else { 0 };
                match self.model.issue(&self.shape, state, t, pc, way, record)? {
                    Issue::Done => stmt.next,
                    Issue::Blocked => return Ok(Taken::Blocked),
                    Issue::Bounded => return Ok(Taken::Bounded),
                }
            }
            Op::Choose { reg, lo, hi } => {
                let value = chosen(choices, *lo, *hi);
                self.assign(state, t, *reg, value).map_err(stumble)?;
                record.event(|| event(EventKind::Set { reg: *reg, value }));
                stmt.next
            }
            Op::New { reg, pool } => {
                if !self.model.may_allocate(&self.shape, &state.pending, t) {
                    return Ok(Taken::Blocked);
                }
                let reference = self.shape.allocate(&mut state.memory, *pool).map_err(stumble)?;
                self.assign(state, t, *reg, reference).map_err(stumble)?;
                record.event(|| event(EventKind::New(reference)));
                stmt.next
            }
            Op::Free { pool, cell } => {
                if !self.model.known(state, t, &self.shape.thread(t).uses[pc.index()]) {
                    return Ok(Taken::Blocked);
                }
                let reference = self.eval(state, t, cell).map_err(stumble)?;
                if reference == 0 {
                    return Err(stumble(Fault::NullReference));
                }
                let index = self.shape.cell_index(*pool, reference);
                if !self.model.lets_go(&self.shape, &mut state.pending, t, index)
                    || !self.model.may_allocate(&self.shape, &state.pending, t)
                {
                    return Ok(Taken::Blocked);
                }
                if !state.memory.allocated[index] {
                    return Err(stumble(Fault::DoubleFree));
                }
                state.memory.allocated[index] = false;
                record.event(|| event(EventKind::Free(reference)));
                stmt.next
            }
            Op::Invoke { seen } => {
                for (other, reg) in seen {
                    let returned = self.returned(state, *other);
                    self.assign(state, t, *reg, returned).map_err(stumble)?;
                }
                record.event(|| event(EventKind::Skip));
                stmt.next
            }
            Op::Leave => {
                record.event(|| event(EventKind::Leave));
                stmt.next
            }
            Op::AtomicBegin => {
                if !self.model.is_drained(&mut state.pending, t) {
                    return Ok(Taken::Blocked);
                }
                record.event(|| event(EventKind::AtomicBegin));
                match self.run_atomic(state, t, stmt.next, choices, record)? {
                    Some(next) => next,
                    None => return Ok(Taken::Blocked),
                }
            }
            Op::Skip
            | Op::Assign { .. }
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::Return { .. } => match self.local(state, t, pc, record)? {
                Local::At(next) => next,
                Local::Blocked => return Ok(Taken::Blocked),
                Local::Unknown => match self.defer(state, t, pc, record)? {
                    Issue::Done => stmt.next,
                    Issue::Blocked => return Ok(Taken::Blocked),
                    Issue::Bounded => return Ok(Taken::Bounded),
                },
            },
        };
        state.pcs[t.index()] = next;
        self.settle(state, t, record)?;
        Ok(Taken::Yes)
    }

    /// After a step: runs local statements, fetches what the model fetches at once, and clears what is
    /// dead.
    #[inline]
    pub(super) fn settle(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        record: &mut dyn Record,
    ) -> Result<(), Stumble> {
        if self.reductions.fuse {
            for _ in 0..FUSED {
                let pc = state.pcs[t.index()];
                let stmt = self.shape.stmt(t, pc);
                let next = if stmt.op.is_local() && !matches!(stmt.op, Op::Choose { .. }) {
                    match self.local(state, t, pc, record)? {
                        Local::At(next) => next,
                        Local::Blocked => break,
                        Local::Unknown => match self.defer(state, t, pc, record)? {
                            Issue::Done => stmt.next,
                            Issue::Blocked | Issue::Bounded => break,
                        },
                    }
                } else if self.model.fetches(&stmt.op) {
                    match self.model.issue(&self.shape, state, t, pc, 0, record)? {
                        Issue::Done => stmt.next,
                        Issue::Blocked | Issue::Bounded => break,
                    }
                } else {
                    break;
                };
                state.pcs[t.index()] = next;
            }
        }
        if self.reductions.clear_dead {
            for reg in &self.shape.thread(t).dead[state.pcs[t.index()].index()] {
                self.model.forget(&self.shape, state, t, *reg);
            }
        }
        Ok(())
    }

    /// How many of a thread's operations have returned: control has passed their ends, and their results
    /// are known.
    fn returned(&self, state: &State<M::Pending>, t: ThreadId) -> Value {
        let passed = &self.shape.thread(t).returned[state.pcs[t.index()].index()];
        let known =
            |result: &&Option<Reg>| result.is_none_or(|reg| self.model.known(state, t, &[reg]));
        passed.iter().take_while(known).count() as Value
    }

    /// Lets the model keep an assignment or assertion for later.
    fn defer(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        pc: Pc,
        record: &mut dyn Record,
    ) -> Result<Issue, Stumble> {
        match self.shape.stmt(t, pc).op {
            Op::Assign { .. } | Op::Assert(_) => {
                self.model.issue(&self.shape, state, t, pc, 0, record)
            }
            // Control waits for its registers: nothing is speculated.
            Op::Skip
            | Op::Choose { .. }
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Update { .. }
            | Op::Fence(_)
            | Op::Drain(_)
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::New { .. }
            | Op::Free { .. }
            | Op::Leave
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Invoke { .. }
            | Op::Return { .. }
            | Op::Halt => Ok(Issue::Blocked),
        }
    }

    #[inline]
    fn local(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        pc: Pc,
        record: &mut dyn Record,
    ) -> Result<Local, Stumble> {
        let stmt = self.shape.stmt(t, pc);
        if !self.model.known(state, t, &self.shape.thread(t).uses[pc.index()]) {
            return Ok(Local::Unknown);
        }
        let registers = &mut state.registers[self.shape.thread(t).registers..];
        let limits = &self.shape.thread(t).register_limits;
        let event =
            |kind| Event { thread: t, label: Some(stmt.label), pc: Some(pc), ahead: None, kind };
        let result = local(stmt, registers, limits, |kind| record.event(|| event(kind)))?;
        if let Op::Assign { reg, .. } = stmt.op {
            self.model.define(&self.shape, state, t, reg);
        }
        Ok(result)
    }

    fn eval(&self, state: &State<M::Pending>, t: ThreadId, e: &Expr<Reg>) -> Result<Value, Fault> {
        e.eval(&|reg| state.register(&self.shape, t, *reg))
    }

    fn assign(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        reg: Reg,
        value: Value,
    ) -> Result<(), Fault> {
        let value = check_limits(self.shape.thread(t).register_limits[reg.index()], value)?;
        state.registers[self.shape.register(t, reg)] = value;
        self.model.define(&self.shape, state, t, reg);
        Ok(())
    }

    /// Runs the inside of an atomic block directly on memory. None when it is blocked.
    fn run_atomic(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        from: Pc,
        choices: &mut Choices,
        record: &mut dyn Record,
    ) -> Result<Option<Pc>, Stumble> {
        let shape = self.shape.thread(t);
        let thread = self.shape.program().thread(t);
        let registers = shape.registers..shape.registers + thread.registers.len();
        let block = Block { thread, id: Some(t), limits: &shape.register_limits };
        self.shape.run_directly(
            &block,
            from,
            &mut state.registers[registers],
            &mut state.memory,
            choices,
            record,
        )
    }

    /// Runs the `init` block. False when it is blocked.
    pub(super) fn run_init(
        &self,
        state: &mut State<M::Pending>,
        choices: &mut Choices,
        record: &mut dyn Record,
    ) -> Result<bool, Stumble> {
        let program = self.shape.program();
        let Some(init) = &program.init else {
            return Ok(true);
        };
        Ok(self.shape.run_alone(init, &mut state.memory, choices, record)?.is_some())
    }
}

/// The value taken from a range, both ends included.
pub(super) fn chosen(choices: &mut Choices, lo: Value, hi: Value) -> Value {
    lo + choices.choose(hi.abs_diff(lo) + 1) as Value
}

/// Executes a local statement on a thread's registers.
#[inline]
pub(super) fn local(
    stmt: &Stmt,
    registers: &mut [Value],
    limits: &[Option<(Value, Value)>],
    mut event: impl FnMut(EventKind),
) -> Result<Local, Stumble> {
    let stumble = |fault| Stumble { fault: Some(fault), label: Some(stmt.label) };
    let eval = |e: &Expr<Reg>| e.eval(&|reg| registers[reg.index()]).map_err(stumble);
    match &stmt.op {
        Op::Skip | Op::Return { .. } => {
            event(EventKind::Skip);
            Ok(Local::At(stmt.next))
        }
        Op::Assign { reg, expr } => {
            let value = check_limits(limits[reg.index()], eval(expr)?).map_err(stumble)?;
            event(EventKind::Set { reg: *reg, value });
            registers[reg.index()] = value;
            Ok(Local::At(stmt.next))
        }
        Op::Branch { cond, then, otherwise } => {
            let holds = eval(cond)? != 0;
            event(EventKind::Test(holds));
            Ok(Local::At(if holds { *then } else { *otherwise }))
        }
        Op::Assume(cond) => {
            if eval(cond)? == 0 {
                return Ok(Local::Blocked);
            }
            event(EventKind::Test(true));
            Ok(Local::At(stmt.next))
        }
        Op::Assert(cond) => {
            let holds = eval(cond)? != 0;
            event(EventKind::Test(holds));
            if holds {
                Ok(Local::At(stmt.next))
            } else {
                Err(Stumble { fault: None, label: Some(stmt.label) })
            }
        }
        Op::Choose { .. }
        | Op::Load { .. }
        | Op::Store { .. }
        | Op::Update { .. }
        | Op::Fence(_)
        | Op::Drain(_)
        | Op::New { .. }
        | Op::Free { .. }
        | Op::Leave
        | Op::AtomicBegin
        | Op::AtomicEnd
        | Op::Invoke { .. }
        | Op::Halt => unreachable!("only local statements get here"),
    }
}
