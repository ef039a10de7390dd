//! Table-driven models: a window of accesses that were fetched but not performed.
//!
//! Source: \[KVY10\] section III-C (RLX, an execution buffer and a bypass table). Direction: exact, up
//! to the bound on the window. Control is never speculated; registers are renamed, so re-use of a
//! register orders nothing; an access whose address is not known yet blocks only what it may alias.
//! TSO and PSO are instances and must agree with the dedicated models on every outcome.
//!
//! - `window`: the entries of one thread, their operands, and who produces which register.
//! - `order`: which entry may be performed before which.

mod order;
mod window;

use crate::address::{apply_update, check_allocated, check_limits, locate};
use crate::bits::{Field, Reader, Writer};
use crate::event::{Event, EventKind, Record, Source};
use crate::model::{Fidelity, Issue, MemoryModel, Stumble};
use crate::mutation::{Mutated, Mutation};
use crate::shape::Shape;
use crate::state::State;
use fencepost_ir::{
    Access, Address, Expr, Fault, FenceKinds, Loc, MemoryOp, Op, Pc, Reg, ThreadId, Value,
};
use order::Forward;
use window::{Operand, Window};

/// Which pairs of accesses of one thread to different locations may change places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bypass {
    /// A load may be performed before an earlier store.
    pub store_load: bool,
    /// A store before an earlier store.
    pub store_store: bool,
    /// A load before an earlier load.
    pub load_load: bool,
    /// A store before an earlier load.
    pub load_store: bool,
    /// A load may read its thread's own store before others can.
    pub read_own_early: bool,
}

/// A table-driven model.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its table.
    pub bypass: Bypass,
    /// How many entries a window may hold.
    pub bound: u32,
    /// For tests of the tests.
    pub mutated: Mutated,
}

impl Table {
    /// The statements in a thread's window, oldest first; the number of an internal step is the position
    /// of what it performs.
    pub fn window<'a>(
        &self,
        pending: &'a [Window],
        t: ThreadId,
    ) -> impl ExactSizeIterator<Item = Pc> + 'a {
        let window = &pending[t.index()];
        (0..window.len()).map(|entry| window.pc(entry))
    }

    fn len_field(&self) -> Field {
        Field::for_count(self.bound as usize + 1)
    }

    /// The location of an entry's access; none when its operands are not known.
    fn location(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        entry: usize,
    ) -> Option<Result<Loc, Fault>> {
        let pc = window.pc(entry);
        let address = shape.stmt(t, pc).op.address().expect("only accesses have a location");
        location_of(shape, t, pc, address, window.operands(shape, t, entry))
    }

    /// Performs one entry whose operands are known and which nothing blocks.
    fn perform_entry(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        entry: usize,
        record: &mut dyn Record,
    ) -> Result<(), Fault> {
        let window = &state.pending[t.index()];
        let pc = window.pc(entry);
        let stmt = shape.stmt(t, pc);
        let uses = &shape.thread(t).uses[pc.index()];
        let operands = window.operands(shape, t, entry);
        let read = |reg: &Reg| value_of(uses, operands, *reg);
        let ahead = Some(order::accesses_before(shape, t, window, entry));
        let event = |kind| Event { thread: t, label: Some(stmt.label), pc: Some(pc), ahead, kind };
        let memory = &mut state.memory;
        let yields = match stmt.op.memory() {
            None => {
                let Op::Assign { reg, expr } = &stmt.op else {
                    unreachable!("such an entry is never performed")
                };
                let value = expr.eval(&read)?;
                record.event(|| event(EventKind::Set { reg: *reg, value }));
                Some(value)
            }
            Some(MemoryOp::Load { from, .. }) => {
                let loc = locate(shape, from, &read)?;
                check_allocated(shape, memory, loc)?;
                let survey = order::survey(shape, t, window);
                let forward = if self.mutated.is(Mutation::NoForwarding) {
                    Forward::Memory
                } else {
                    order::forward(shape, t, window, &survey, entry, loc)
                };
                let (value, source) = match forward {
                    Forward::Memory => (memory.values[loc.index()], Source::Memory),
                    Forward::Value(value) => (value, Source::Forwarded),
                    Forward::Wait => unreachable!("only a load that need not wait is performed"),
                };
                record.event(|| event(EventKind::Load { loc, value, source }));
                Some(value)
            }
            Some(MemoryOp::Store { to, value }) => {
                let loc = locate(shape, to, &read)?;
                check_allocated(shape, memory, loc)?;
                let value = check_limits(shape.location_limits[loc.index()], value.eval(&read)?)?;
                memory.values[loc.index()] = value;
                record.event(|| event(EventKind::Commit { loc, value }));
                None
            }
            Some(MemoryOp::Update { at, update, .. }) => {
                let loc = locate(shape, at, &read)?;
                check_allocated(shape, memory, loc)?;
                let old = memory.values[loc.index()];
                let (new, yields) = apply_update(update, old, &read)?;
                if let Some(new) = new {
                    memory.values[loc.index()] =
                        check_limits(shape.location_limits[loc.index()], new)?;
                }
                record.event(|| event(EventKind::Update { loc, old, new }));
                Some(yields)
            }
            Some(MemoryOp::Fence(_) | MemoryOp::Drain(_)) => {
                unreachable!("such an entry is never performed")
            }
        };
        let value = match (stmt.op.target(), yields) {
            (Some(reg), Some(value)) => {
                check_limits(shape.thread(t).register_limits[reg.index()], value)?
            }
            _ => 0,
        };
        let registers = &mut state.registers[shape.thread(t).registers..];
        state.pending[t.index()].remove(shape, t, entry, value, registers);
        Ok(())
    }

    /// Performs what waits for nothing but its operands, and drops fences that order nothing more.
    fn tidy(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        record: &mut dyn Record,
    ) -> Result<(), Stumble> {
        let mut entry = 0;
        while entry < state.pending[t.index()].len() {
            let window = &state.pending[t.index()];
            let pc = window.pc(entry);
            let stmt = shape.stmt(t, pc);
            let stumble = |fault| Stumble { fault, label: Some(stmt.label) };
            let gone = match &stmt.op {
                Op::Assign { .. } if window.is_ready(shape, t, entry) => {
                    self.perform_entry(shape, state, t, entry, record)
                        .map_err(|fault| stumble(Some(fault)))?;
                    true
                }
                Op::Assert(cond) if window.is_ready(shape, t, entry) => {
                    let uses = &shape.thread(t).uses[pc.index()];
                    let operands = window.operands(shape, t, entry);
                    let value = cond
                        .eval(&|reg| value_of(uses, operands, *reg))
                        .map_err(|fault| stumble(Some(fault)))?;
                    let kind = EventKind::Test(value != 0);
                    let label = Some(stmt.label);
                    record.event(|| Event { thread: t, label, pc: Some(pc), ahead: None, kind });
                    if value == 0 {
                        return Err(stumble(None));
                    }
                    let registers = &mut state.registers[shape.thread(t).registers..];
                    state.pending[t.index()].remove(shape, t, entry, 0, registers);
                    true
                }
                Op::Fence(kinds) if !self.fence_matters(shape, t, window, entry, *kinds) => {
                    let kind = EventKind::Fence(*kinds);
                    let label = Some(stmt.label);
                    record.event(|| Event { thread: t, label, pc: Some(pc), ahead: None, kind });
                    let registers = &mut state.registers[shape.thread(t).registers..];
                    state.pending[t.index()].remove(shape, t, entry, 0, registers);
                    true
                }
                Op::Skip
                | Op::Assign { .. }
                | Op::Choose { .. }
                | Op::Load { .. }
                | Op::Store { .. }
                | Op::Update { .. }
                | Op::Fence(_)
                | Op::Drain(_)
                | Op::Branch { .. }
                | Op::Assume(_)
                | Op::Assert(_)
                | Op::New { .. }
                | Op::Free { .. }
                | Op::Leave
                | Op::AtomicBegin
                | Op::AtomicEnd
                | Op::Invoke { .. }
                | Op::Return { .. }
                | Op::Halt => false,
            };
            // Later entries may have become ready, earlier ones not.
            if !gone {
                entry += 1;
            }
        }
        Ok(())
    }
}

/// The location of an access with these operands; none when they are not known.
#[inline]
fn location_of(
    shape: &Shape<'_>,
    t: ThreadId,
    pc: Pc,
    address: &Address,
    operands: &[Operand],
) -> Option<Result<Loc, Fault>> {
    if let Some(loc) = address.as_fixed() {
        return Some(Ok(loc));
    }
    let uses = &shape.thread(t).uses[pc.index()];
    let ready = operands.iter().all(|operand| matches!(operand, Operand::Value(_)));
    if !ready && !address_exprs(address).all(|e| is_known(e, uses, operands)) {
        return None;
    }
    Some(locate(shape, address, &|reg| value_of(uses, operands, *reg)))
}

fn address_exprs(address: &Address) -> impl Iterator<Item = &Expr<Reg>> {
    let cell = address.cell.as_ref().map(|(_, e)| e);
    let index = address.index.as_ref().map(|(_, e)| e);
    cell.into_iter().chain(index)
}

fn operand(uses: &[Reg], operands: &[Operand], reg: Reg) -> Operand {
    let at = uses.iter().position(|r| *r == reg).expect("a statement's uses are listed");
    operands[at]
}

fn is_known(expr: &Expr<Reg>, uses: &[Reg], operands: &[Operand]) -> bool {
    let mut known = true;
    expr.for_each_var(&mut |reg| {
        known &= matches!(operand(uses, operands, *reg), Operand::Value(_));
    });
    known
}

fn value_of(uses: &[Reg], operands: &[Operand], reg: Reg) -> Value {
    match operand(uses, operands, reg) {
        Operand::Value(value) => value,
        Operand::From(_) => unreachable!("only known operands are read"),
    }
}

impl MemoryModel for Table {
    type Pending = Vec<Window>;

    const FIDELITY: Fidelity = Fidelity::Exact;

    fn bound(&self) -> Option<u32> {
        Some(self.bound)
    }

    fn nothing(&self, shape: &Shape<'_>) -> Vec<Window> {
        shape.threads.iter().map(|t| Window::new(t.register_fields.len())).collect()
    }

    #[inline]
    fn known(&self, state: &State<Vec<Window>>, t: ThreadId, regs: &[Reg]) -> bool {
        let window = &state.pending[t.index()];
        regs.iter().all(|reg| window.is_known(*reg))
    }

    fn forget(&self, shape: &Shape<'_>, state: &mut State<Vec<Window>>, t: ThreadId, reg: Reg) {
        state.registers[shape.register(t, reg)] = 0;
        state.pending[t.index()].define(reg);
    }

    fn define(&self, _: &Shape<'_>, state: &mut State<Vec<Window>>, t: ThreadId, reg: Reg) {
        state.pending[t.index()].define(reg);
    }

    fn fetches(&self, op: &Op) -> bool {
        op.memory().is_some_and(|op| match op {
            MemoryOp::Load { .. } | MemoryOp::Store { .. } | MemoryOp::Update { .. } => true,
            MemoryOp::Fence(kinds) => kinds != FenceKinds::FULL,
            MemoryOp::Drain(_) => false,
        })
    }

    fn issue(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        pc: Pc,
        _: u32,
        record: &mut dyn Record,
    ) -> Result<Issue, Stumble> {
        let stmt = shape.stmt(t, pc);
        let (label, ahead) = (Some(stmt.label), None);
        let event = |kind| Event { thread: t, label, pc: Some(pc), ahead, kind };
        let window = &mut state.pending[t.index()];
        match stmt.op.memory() {
            Some(MemoryOp::Fence(kinds)) if kinds == FenceKinds::FULL => {
                if window.len() > 0 && !self.mutated.is(Mutation::IgnoredFence) {
                    return Ok(Issue::Blocked);
                }
                record.event(|| event(EventKind::Fence(kinds)));
                return Ok(Issue::Done);
            }
            Some(MemoryOp::Drain(address)) => {
                let uses = &shape.thread(t).uses[pc.index()];
                if !uses.iter().all(|reg| window.is_known(*reg)) {
                    return Ok(Issue::Blocked);
                }
                let registers = &state.registers[shape.thread(t).registers..];
                let stumble = |fault| Stumble { fault: Some(fault), label: Some(stmt.label) };
                let loc = locate(shape, address, &|reg| registers[reg.index()]).map_err(stumble)?;
                let waits = (0..window.len()).any(|entry| {
                    order::kinds(shape, t, window, entry).is_some_and(|k| k.stores)
                        && self.may_be_at(shape, t, window, entry, loc)
                });
                if waits {
                    return Ok(Issue::Blocked);
                }
                check_allocated(shape, &state.memory, loc).map_err(stumble)?;
                record.event(|| event(EventKind::Drain(loc)));
                return Ok(Issue::Done);
            }
            Some(
                MemoryOp::Load { .. }
                | MemoryOp::Store { .. }
                | MemoryOp::Update { .. }
                | MemoryOp::Fence(_),
            )
            | None => {}
        }
        if window.len() >= self.bound as usize {
            return Ok(Issue::Bounded);
        }
        let registers = &mut state.registers[shape.thread(t).registers..];
        let entry = window.push(shape, t, pc, registers);
        let window = &state.pending[t.index()];
        match &stmt.op {
            Op::Load { .. } | Op::Store { .. } | Op::Update { .. } => record.event(|| {
                let loc = self.location(shape, t, window, entry).and_then(Result::ok);
                let value = if let Op::Store { value, .. } = &stmt.op
                    && window.is_ready(shape, t, entry)
                {
                    let uses = &shape.thread(t).uses[pc.index()];
                    let operands = window.operands(shape, t, entry);
                    value.eval(&|reg| value_of(uses, operands, *reg)).ok()
                } else {
                    None
                };
                let stores = matches!(stmt.op, Op::Store { .. } | Op::Update { .. });
                event(EventKind::Fetch { stores, loc, value })
            }),
            Op::Assign { .. } | Op::Assert(_) | Op::Fence(_) => {
                record.event(|| event(EventKind::Defer));
            }
            Op::Skip
            | Op::Choose { .. }
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
            | Op::Halt => {}
        }
        self.tidy(shape, state, t, record)?;
        Ok(Issue::Done)
    }

    fn internal(
        &self,
        shape: &Shape<'_>,
        state: &State<Vec<Window>>,
        t: ThreadId,
        out: &mut Vec<u32>,
    ) {
        let window = &state.pending[t.index()];
        let survey = order::survey(shape, t, window);
        for entry in 0..window.len() {
            if self.may_perform(shape, t, window, &survey, entry) {
                out.push(entry as u32);
            }
        }
    }

    fn perform(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        step: u32,
        record: &mut dyn Record,
    ) -> Result<(), Stumble> {
        let label = shape.stmt(t, state.pending[t.index()].pc(step as usize)).label;
        self.perform_entry(shape, state, t, step as usize, record)
            .map_err(|fault| Stumble { fault: Some(fault), label: Some(label) })?;
        self.tidy(shape, state, t, record)
    }

    /// A load commutes when no other thread writes what it reads, a store or update when none accesses
    /// what it writes. Other entries of its own window do not change what it does: those to the same
    /// location keep their order with it, or forward to it what they write.
    fn internal_commutes(
        &self,
        shape: &Shape<'_>,
        state: &State<Vec<Window>>,
        t: ThreadId,
        step: u32,
    ) -> bool {
        let window = &state.pending[t.index()];
        let entry = step as usize;
        let Some(kinds) = order::kinds(shape, t, window, entry) else { return false };
        let Some(Ok(loc)) = self.location(shape, t, window, entry) else { return false };
        if kinds.stores {
            !self.others_access(shape, state, t, loc)
        } else {
            !self.others_store(shape, state, t, loc)
        }
    }

    fn pending_at(
        &self,
        shape: &Shape<'_>,
        pending: &Vec<Window>,
        t: ThreadId,
        loc: Loc,
    ) -> Access {
        let window = &pending[t.index()];
        let mut found = Access { loads: false, stores: false };
        for entry in 0..window.len() {
            if let Some(kinds) = order::kinds(shape, t, window, entry)
                && self.may_be_at(shape, t, window, entry, loc)
            {
                found.loads |= kinds.loads;
                found.stores |= kinds.stores;
            }
        }
        found
    }

    fn is_idle(&self, pending: &Vec<Window>, t: ThreadId) -> bool {
        pending[t.index()].len() == 0
    }

    fn lets_go(
        &self,
        shape: &Shape<'_>,
        pending: &mut Vec<Window>,
        t: ThreadId,
        cell: usize,
    ) -> bool {
        let window = &pending[t.index()];
        let is_in = |loc: &Loc| shape.cell[loc.index()] == Some(cell as u32);
        !(0..window.len()).any(|entry| {
            if order::kinds(shape, t, window, entry).is_none() {
                return false;
            }
            match self.location(shape, t, window, entry) {
                Some(Ok(loc)) => is_in(&loc),
                Some(Err(_)) => false,
                None => shape.thread(t).footprints[window.pc(entry).index()].iter().any(is_in),
            }
        })
    }

    fn may_allocate(&self, shape: &Shape<'_>, pending: &Vec<Window>, t: ThreadId) -> bool {
        let window = &pending[t.index()];
        !(0..window.len())
            .filter_map(|entry| order::kinds(shape, t, window, entry))
            .any(|k| (k.loads && !self.bypass.load_store) || (k.stores && !self.bypass.store_load))
    }

    fn copy_thread(&self, from: &Vec<Window>, to: &mut Vec<Window>, t: ThreadId) {
        to[t.index()].clone_from(&from[t.index()]);
    }

    fn encode(&self, shape: &Shape<'_>, pending: &Vec<Window>, t: ThreadId, writer: &mut Writer) {
        pending[t.index()].encode(shape, t, self.len_field(), writer);
    }

    fn decode(
        &self,
        shape: &Shape<'_>,
        reader: &mut Reader<'_>,
        pending: &mut Vec<Window>,
        t: ThreadId,
    ) {
        pending[t.index()].decode(shape, t, self.len_field(), reader);
    }
}
