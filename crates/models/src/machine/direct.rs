//! Execution directly on memory, without a memory model: the `init` block, the inside of `atomic`
//! blocks, and the operations of a specification. This code needs only the [`Shape`], so it is
//! compiled once for all models.

use super::choice::Choices;
use super::run::{LocalResult, choose_in_range, execute_local};
use crate::address::{apply_update, check_allocated, check_limits, locate};
use crate::event::{Event, EventKind, EventRecorder, Source};
use crate::model::StepFailure;
use crate::shape::Shape;
use crate::state::Memory;
use fencepost_ir::{Fault, Op, Pc, PoolId, Reg, Thread, ThreadId, Value};

/// The maximal number of statements that an `atomic` or `init` block may execute. A longer
/// execution is a fault.
const MAX_BLOCK_STATEMENTS: usize = 100_000;

/// A block of code that runs directly on memory.
pub(super) struct Block<'a> {
    pub(super) thread: &'a Thread,
    /// The thread. `None` for `init` and for an operation of a specification.
    pub(super) id: Option<ThreadId>,
    pub(super) limits: &'a [Option<(Value, Value)>],
}

impl Shape<'_> {
    /// Allocates the first free cell of a pool, sets its fields to their initial values, and
    /// returns the reference.
    pub(super) fn allocate(&self, memory: &mut Memory, pool: PoolId) -> Result<Value, Fault> {
        let program = self.program();
        let first = self.pool_cells[pool.index()] as usize;
        let pool = program.pool(pool);
        let free = memory.allocated[first..first + pool.cells as usize].iter().position(|a| !a);
        let cell = match free {
            Some(cell) => cell,
            None if pool.yields_null => return Ok(0),
            None => return Err(Fault::PoolExhausted),
        };
        memory.allocated[first + cell] = true;
        let start = pool.base.index() + cell * pool.stride as usize;
        for loc in start..start + pool.stride as usize {
            memory.values[loc] = program.locations[loc].init;
        }
        Ok(cell as Value + 1)
    }

    /// Runs code that belongs to no thread directly on memory, from its first statement to `Halt`.
    /// All registers start at 0. Returns the registers at the end, or `None` if the code is
    /// blocked.
    pub(crate) fn run_alone(
        &self,
        code: &Thread,
        memory: &mut Memory,
        choices: &mut Choices,
        recorder: &mut dyn EventRecorder,
    ) -> Result<Option<Vec<Value>>, StepFailure> {
        let program = self.program();
        let limits: Vec<_> = code.registers.iter().map(|r| program.limits(&r.ty)).collect();
        let mut registers = vec![0; code.registers.len()];
        let block = Block { thread: code, id: None, limits: &limits };
        let end = self.run_directly(&block, Pc(0), &mut registers, memory, choices, recorder)?;
        Ok(end.map(|_| registers))
    }

    /// Runs statements directly on memory until the end of the block. Returns the program counter
    /// after the block, or `None` if the block is blocked.
    pub(super) fn run_directly(
        &self,
        block: &Block<'_>,
        from: Pc,
        registers: &mut [Value],
        memory: &mut Memory,
        choices: &mut Choices,
        recorder: &mut dyn EventRecorder,
    ) -> Result<Option<Pc>, StepFailure> {
        let mut pc = from;
        for _ in 0..MAX_BLOCK_STATEMENTS {
            let stmt = block.thread.stmt(pc);
            let failure = |fault| StepFailure { fault: Some(fault), label: Some(stmt.label) };
            let mut event = |kind| {
                if let Some(thread) = block.id {
                    recorder.record_with(|| Event {
                        thread,
                        label: Some(stmt.label),
                        pc: Some(pc),
                        earlier_pending: None,
                        kind,
                    });
                }
            };
            let put = |registers: &mut [Value], reg: Reg, value: Value| {
                registers[reg.index()] = check_limits(block.limits[reg.index()], value)?;
                Ok::<(), Fault>(())
            };
            pc = match &stmt.op {
                Op::Halt => return Ok(Some(pc)),
                Op::AtomicEnd if block.id.is_some() => {
                    event(EventKind::AtomicEnd);
                    return Ok(Some(stmt.next));
                }
                Op::AtomicBegin
                | Op::AtomicEnd
                | Op::Fence(_)
                | Op::Leave
                | Op::Invoke { .. }
                | Op::Join
                | Op::SectionBegin { .. }
                | Op::SectionEnd { .. }
                | Op::GracePeriod { .. } => stmt.next,
                Op::Drain(at) => {
                    let loc = locate(self, at, &|r| registers[r.index()]);
                    check_allocated(self, memory, loc.map_err(failure)?).map_err(failure)?;
                    stmt.next
                }
                Op::Load { reg, from } => {
                    let loc = locate(self, from, &|r| registers[r.index()]);
                    let loc = loc.map_err(failure)?;
                    check_allocated(self, memory, loc).map_err(failure)?;
                    let value = memory.values[loc.index()];
                    event(EventKind::Load { loc, value, source: Source::Memory });
                    put(registers, *reg, value).map_err(failure)?;
                    stmt.next
                }
                Op::Store { to, value } => {
                    let read = |r: &Reg| registers[r.index()];
                    let loc = locate(self, to, &read).map_err(failure)?;
                    let value = value.eval(&read).map_err(failure)?;
                    check_allocated(self, memory, loc).map_err(failure)?;
                    check_limits(self.location_limits[loc.index()], value).map_err(failure)?;
                    memory.values[loc.index()] = value;
                    event(EventKind::Write { loc, value });
                    stmt.next
                }
                Op::Update { reg, at, update } => {
                    let read = |r: &Reg| registers[r.index()];
                    let loc = locate(self, at, &read).map_err(failure)?;
                    check_allocated(self, memory, loc).map_err(failure)?;
                    let old = memory.values[loc.index()];
                    let (new, yields) = apply_update(update, old, &read).map_err(failure)?;
                    if let Some(new) = new {
                        check_limits(self.location_limits[loc.index()], new).map_err(failure)?;
                        memory.values[loc.index()] = new;
                    }
                    event(EventKind::Update { loc, old, new });
                    if let Some(reg) = reg {
                        put(registers, *reg, yields).map_err(failure)?;
                    }
                    stmt.next
                }
                Op::Choose { reg, lo, hi } => {
                    if choices.exceeds_limit() {
                        return Err(failure(Fault::BlockTooLong));
                    }
                    let value = choose_in_range(choices, *lo, *hi);
                    put(registers, *reg, value).map_err(failure)?;
                    event(EventKind::Set { reg: *reg, value });
                    stmt.next
                }
                Op::New { reg, pool } => {
                    let reference = self.allocate(memory, *pool).map_err(failure)?;
                    put(registers, *reg, reference).map_err(failure)?;
                    event(EventKind::New(reference));
                    stmt.next
                }
                Op::Free { pool, cell } => {
                    let reference = cell.eval(&|r| registers[r.index()]).map_err(failure)?;
                    if reference == 0 {
                        return Err(failure(Fault::NullReference));
                    }
                    let index = self.cell_index(*pool, reference);
                    if !std::mem::replace(&mut memory.allocated[index], false) {
                        return Err(failure(Fault::DoubleFree));
                    }
                    event(EventKind::Free(reference));
                    stmt.next
                }
                Op::Skip
                | Op::Assign { .. }
                | Op::Branch { .. }
                | Op::Assume(_)
                | Op::Assert(_)
                | Op::Return { .. } => match execute_local(stmt, registers, block.limits, event)? {
                    LocalResult::Next(next) => next,
                    LocalResult::Blocked | LocalResult::UnknownRegister => return Ok(None),
                },
            };
        }
        let label = Some(block.thread.stmt(pc).label);
        Err(StepFailure { fault: Some(Fault::BlockTooLong), label })
    }
}
