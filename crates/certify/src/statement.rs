//! Statements: what each does to a state, and where it faults.
//!
//! Source: the book's page "What a program means". Faults of an address that depend on nothing but
//! registers are found before the statement is enabled: they cannot go away while it waits.

use fencepost_ir::{Address, Expr, Fault, Loc, Op, Reg, Thread, Update, Value};

use crate::buffer::Rules;
use crate::format::{CertState, CertThread, Model};
use crate::semantics::{Semantics, Wrong};

fn value_of(thread: &CertThread, expr: &Expr<Reg>) -> Result<Value, Fault> {
    expr.eval(&|reg: &Reg| thread.registers[reg.index()])
}

impl Semantics<'_> {
    /// Executes a statement that can go one way only: the state after it, or none when it is not enabled.
    pub(crate) fn execute(
        &self,
        rules: Rules,
        code: &Thread,
        state: &CertState,
        me: usize,
    ) -> Result<Option<CertState>, Wrong> {
        let before = &state.threads[me];
        let stmt = code.stmt(before.pc);
        let value = |expr: &Expr<Reg>| value_of(before, expr);
        if matches!(stmt.op, Op::Halt) {
            return Ok(None);
        }
        let mut after = state.clone();
        let own = &mut after.threads[me];
        own.pc = stmt.next;
        match &stmt.op {
            // A thread is never between the statements of a block; such a state harms nobody.
            Op::Skip | Op::Leave | Op::Return { .. } | Op::AtomicEnd => {}
            Op::Assign { reg, expr } => self.put(code, own, *reg, value(expr)?)?,
            Op::Branch { cond, then, otherwise } => {
                own.pc = if value(cond)? != 0 { *then } else { *otherwise };
            }
            Op::Assume(cond) => {
                if value(cond)? == 0 {
                    return Ok(None);
                }
            }
            Op::Assert(cond) => {
                if value(cond)? == 0 {
                    return Err(Wrong::Assertion);
                }
            }
            Op::Store { to, value: expr } => {
                let loc = self.place(before, to)?;
                self.live(state, loc)?;
                let value = self.storable(loc, value(expr)?)?;
                match rules.model {
                    Model::Sc => after.memory[loc.index()] = value,
                    Model::Tso | Model::Pso => rules.store(own, loc, value),
                }
            }
            Op::Update { reg, at, update } => {
                let loc = self.place(before, at)?;
                if !rules.may_update(before, loc) {
                    return Ok(None);
                }
                self.live(state, loc)?;
                let old = state.memory[loc.index()];
                let (written, result) = updated(before, update, old)?;
                if let Some(new) = written {
                    after.memory[loc.index()] = self.storable(loc, new)?;
                }
                if let Some(reg) = reg {
                    self.put(code, &mut after.threads[me], *reg, result)?;
                }
            }
            Op::Fence(kinds) => {
                if !rules.fence(own, *kinds) {
                    return Ok(None);
                }
            }
            Op::Drain(at) => {
                let loc = self.place(before, at)?;
                if !before.nothing_pending_to(loc) {
                    return Ok(None);
                }
                self.live(state, loc)?;
            }
            Op::New { reg, pool } => {
                let mut cells = self.cells_of(*pool).zip(1..);
                let free = cells.find(|(at, _)| !state.allocated[*at]);
                let (at, reference) = free.ok_or(Fault::PoolExhausted)?;
                after.allocated[at] = true;
                for field in self.fields(*pool, reference) {
                    after.memory[field.index()] = self.program.location(field).init;
                }
                self.put(code, &mut after.threads[me], *reg, reference)?;
            }
            Op::Free { pool, cell } => {
                let reference = value(cell)?;
                if reference == 0 {
                    return Err(Fault::NullReference.into());
                }
                let mut cells = self.cells_of(*pool).zip(1..);
                let cell = cells.find(|(_, number)| *number == reference);
                let (at, _) = cell.ok_or(Fault::DoubleFree)?;
                if !self.fields(*pool, reference).all(|loc| before.nothing_pending_to(loc)) {
                    return Ok(None);
                }
                if !state.allocated[at] {
                    return Err(Fault::DoubleFree.into());
                }
                after.allocated[at] = false;
            }
            Op::Invoke { seen } => {
                for (other, reg) in seen {
                    let pc = state.threads[other.index()].pc;
                    let returned = self.returned[other.index()][pc.index()];
                    let returned = Value::try_from(returned).map_err(|_| Fault::Overflow)?;
                    self.put(code, own, *reg, returned)?;
                }
            }
            Op::Choose { .. } | Op::Load { .. } | Op::AtomicBegin | Op::Halt => {
                unreachable!("these can go several ways, or none")
            }
        }
        Ok(Some(after))
    }

    /// Puts a value into a register.
    pub(crate) fn put(
        &self,
        code: &Thread,
        thread: &mut CertThread,
        reg: Reg,
        value: Value,
    ) -> Result<(), Fault> {
        match self.program.limits(&code.registers[reg.index()].ty) {
            Some((lo, hi)) if value < lo || hi < value => Err(Fault::OutOfRange),
            Some(_) | None => {
                thread.registers[reg.index()] = value;
                Ok(())
            }
        }
    }

    /// What a load may read: nothing when it is not enabled.
    pub(crate) fn readable(
        &self,
        rules: Rules,
        state: &CertState,
        me: usize,
        from: &Address,
    ) -> Result<Vec<Value>, Fault> {
        let own = &state.threads[me];
        let loc = self.place(own, from)?;
        if own.behind_barrier() {
            return Ok(Vec::new());
        }
        self.live(state, loc)?;
        let mut values = rules.forwarded(own, loc);
        if values.is_empty() {
            values.push(state.memory[loc.index()]);
        }
        Ok(values)
    }

    /// The location of an address; whether it is allocated is asked by [`Semantics::live`].
    fn place(&self, thread: &CertThread, address: &Address) -> Result<Loc, Fault> {
        let mut place = i64::from(address.base.0);
        if let Some((pool, cell)) = &address.cell {
            let pool = self.program.pool(*pool);
            let reference = value_of(thread, cell)?;
            if reference == 0 {
                return Err(Fault::NullReference);
            }
            if reference < 0 || i64::from(reference) > i64::from(pool.cells) {
                return Err(Fault::UseAfterFree);
            }
            place += (i64::from(reference) - 1) * i64::from(pool.stride);
        }
        if let Some((length, index)) = &address.index {
            let index = value_of(thread, index)?;
            if index < 0 || i64::from(index) >= i64::from(*length) {
                return Err(Fault::OutOfBounds);
            }
            place += i64::from(index);
        }
        Ok(Loc(u32::try_from(place).expect("a checked address is inside of memory")))
    }

    /// A value, if a location's type allows it.
    fn storable(&self, loc: Loc, value: Value) -> Result<Value, Fault> {
        match self.program.limits(&self.program.location(loc).ty) {
            Some((lo, hi)) if value < lo || hi < value => Err(Fault::OutOfRange),
            Some(_) | None => Ok(value),
        }
    }

    /// The locations of a record, by its reference (from 1).
    fn fields(&self, pool: fencepost_ir::PoolId, reference: Value) -> impl Iterator<Item = Loc> {
        let pool = self.program.pool(pool);
        let cell = reference.unsigned_abs() - 1;
        let first = pool.base.0 + cell * pool.stride;
        (first..first + pool.stride).map(Loc)
    }
}

/// What an update writes, if anything, and what it yields.
fn updated(
    thread: &CertThread,
    update: &Update,
    old: Value,
) -> Result<(Option<Value>, Value), Fault> {
    let value = |expr: &Expr<Reg>| value_of(thread, expr);
    Ok(match update {
        Update::Cas { expected, new } => {
            let (expected, new) = (value(expected)?, value(new)?);
            if old == expected { (Some(new), 1) } else { (None, 0) }
        }
        Update::Swap { new } => (Some(value(new)?), old),
        Update::Add { by } => (Some(fencepost_ir::BinOp::Add.apply(old, value(by)?)?), old),
        Update::Bits { op, by } => (Some(op.apply(old, value(by)?)?), old),
    })
}
