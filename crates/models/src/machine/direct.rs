//! Code that runs directly on memory, with no memory model in between: the `init` block, the inside of `atomic`
//! blocks, and the operations of a specification. It needs only the [`Shape`], so it is compiled once for all models.

use super::choice::Choices;
use super::run::{Local, chosen, local};
use crate::address::{apply_update, check_allocated, check_limits, locate};
use crate::event::{Event, EventKind, Record, Source};
use crate::model::Stumble;
use crate::shape::Shape;
use crate::state::Memory;
use fencepost_ir::{Fault, Op, Pc, PoolId, Reg, Thread, ThreadId, Value};

/// How many statements an `atomic` or `init` block may run before it counts as endless.
const ATOMIC: usize = 100_000;

/// Code that runs directly on memory.
pub(super) struct Block<'a> {
    pub(super) thread: &'a Thread,
    /// Whose it is; none for `init` and for an operation that runs alone.
    pub(super) id: Option<ThreadId>,
    pub(super) limits: &'a [Option<(Value, Value)>],
}

impl Shape<'_> {
    /// Takes the lowest free cell of a pool and gives its fields their initial values.
    pub(super) fn allocate(&self, memory: &mut Memory, pool: PoolId) -> Result<Value, Fault> {
        let program = self.program();
        let first = self.pool_cells[pool.index()] as usize;
        let pool = program.pool(pool);
        let free = memory.allocated[first..first + pool.cells as usize].iter().position(|a| !a);
        let cell = free.ok_or(Fault::PoolExhausted)?;
        memory.allocated[first + cell] = true;
        let start = pool.base.index() + cell * pool.stride as usize;
        for loc in start..start + pool.stride as usize {
            memory.values[loc] = program.locations[loc].init;
        }
        Ok(cell as Value + 1)
    }

    /// Runs code that is no thread's from its beginning to `Halt`, all registers 0, directly on memory.
    /// The registers at its end; none when it is blocked.
    pub(crate) fn run_alone(
        &self,
        code: &Thread,
        memory: &mut Memory,
        choices: &mut Choices,
        record: &mut dyn Record,
    ) -> Result<Option<Vec<Value>>, Stumble> {
        let program = self.program();
        let limits: Vec<_> = code.registers.iter().map(|r| program.limits(&r.ty)).collect();
        let mut registers = vec![0; code.registers.len()];
        let block = Block { thread: code, id: None, limits: &limits };
        let end = self.run_directly(&block, Pc(0), &mut registers, memory, choices, record)?;
        Ok(end.map(|_| registers))
    }

    /// Runs statements on memory until the end of the block.
    pub(super) fn run_directly(
        &self,
        block: &Block<'_>,
        from: Pc,
        registers: &mut [Value],
        memory: &mut Memory,
        choices: &mut Choices,
        record: &mut dyn Record,
    ) -> Result<Option<Pc>, Stumble> {
        let mut pc = from;
        for _ in 0..ATOMIC {
            let stmt = block.thread.stmt(pc);
            let stumble = |fault| Stumble { fault: Some(fault), label: Some(stmt.label) };
            let mut event = |kind| {
                if let Some(thread) = block.id {
                    record.event(|| Event {
                        thread,
                        label: Some(stmt.label),
                        pc: Some(pc),
                        ahead: None,
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
                Op::AtomicBegin | Op::AtomicEnd | Op::Fence(_) | Op::Leave | Op::Invoke { .. } => {
                    stmt.next
                }
                Op::Drain(at) => {
                    let loc = locate(self, at, &|r| registers[r.index()]);
                    check_allocated(self, memory, loc.map_err(stumble)?).map_err(stumble)?;
                    stmt.next
                }
                Op::Load { reg, from } => {
                    let loc = locate(self, from, &|r| registers[r.index()]);
                    let loc = loc.map_err(stumble)?;
                    check_allocated(self, memory, loc).map_err(stumble)?;
                    let value = memory.values[loc.index()];
                    event(EventKind::Load { loc, value, source: Source::Memory });
                    put(registers, *reg, value).map_err(stumble)?;
                    stmt.next
                }
                Op::Store { to, value } => {
                    let read = |r: &Reg| registers[r.index()];
                    let loc = locate(self, to, &read).map_err(stumble)?;
                    let value = value.eval(&read).map_err(stumble)?;
                    check_allocated(self, memory, loc).map_err(stumble)?;
                    check_limits(self.location_limits[loc.index()], value).map_err(stumble)?;
                    memory.values[loc.index()] = value;
                    event(EventKind::Write { loc, value });
                    stmt.next
                }
                Op::Update { reg, at, update } => {
                    let read = |r: &Reg| registers[r.index()];
                    let loc = locate(self, at, &read).map_err(stumble)?;
                    check_allocated(self, memory, loc).map_err(stumble)?;
                    let old = memory.values[loc.index()];
                    let (new, yields) = apply_update(update, old, &read).map_err(stumble)?;
                    if let Some(new) = new {
                        check_limits(self.location_limits[loc.index()], new).map_err(stumble)?;
                        memory.values[loc.index()] = new;
                    }
                    event(EventKind::Update { loc, old, new });
                    if let Some(reg) = reg {
                        put(registers, *reg, yields).map_err(stumble)?;
                    }
                    stmt.next
                }
                Op::Choose { reg, lo, hi } => {
                    if choices.are_too_many() {
                        return Err(stumble(Fault::Endless));
                    }
                    let value = chosen(choices, *lo, *hi);
                    put(registers, *reg, value).map_err(stumble)?;
                    event(EventKind::Set { reg: *reg, value });
                    stmt.next
                }
                Op::New { reg, pool } => {
                    let reference = self.allocate(memory, *pool).map_err(stumble)?;
                    put(registers, *reg, reference).map_err(stumble)?;
                    event(EventKind::New(reference));
                    stmt.next
                }
                Op::Free { pool, cell } => {
                    let reference = cell.eval(&|r| registers[r.index()]).map_err(stumble)?;
                    if reference == 0 {
                        return Err(stumble(Fault::NullReference));
                    }
                    let index = self.cell_index(*pool, reference);
                    if !std::mem::replace(&mut memory.allocated[index], false) {
                        return Err(stumble(Fault::DoubleFree));
                    }
                    event(EventKind::Free(reference));
                    stmt.next
                }
                Op::Skip
                | Op::Assign { .. }
                | Op::Branch { .. }
                | Op::Assume(_)
                | Op::Assert(_)
                | Op::Return { .. } => match local(stmt, registers, block.limits, event)? {
                    Local::At(next) => next,
                    Local::Blocked | Local::Unknown => return Ok(None),
                },
            };
        }
        let label = Some(block.thread.stmt(pc).label);
        Err(Stumble { fault: Some(Fault::Endless), label })
    }
}
