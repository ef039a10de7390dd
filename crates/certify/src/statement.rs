//! The effect of each statement on a state, and its faults.
//!
//! Source: the book's page "Semantics". Address faults that depend only on registers are reported
//! even if the statement is not enabled: they persist until it is enabled.

use fencepost_ir::{Address, CasResult, Expr, Fault, Loc, Op, Pointer, Reg, Thread, Update, Value};

use crate::buffer::Rules;
use crate::format::{CertState, CertThread, Model};
use crate::semantics::{FailureKind, Semantics};

fn evaluate(thread: &CertThread, expr: &Expr<Reg>) -> Result<Value, Fault> {
    expr.eval(&|reg: &Reg| thread.registers[reg.index()])
}

impl Semantics<'_> {
    /// Executes a statement with a single alternative. Returns the successor state; `None` if the
    /// statement is not enabled.
    pub(crate) fn execute(
        &self,
        rules: Rules,
        code: &Thread,
        state: &CertState,
        thread_index: usize,
    ) -> Result<Option<CertState>, FailureKind> {
        let before = &state.threads[thread_index];
        let stmt = code.stmt(before.pc);
        let value = |expr: &Expr<Reg>| evaluate(before, expr);
        if matches!(stmt.op, Op::Halt) {
            return Ok(None);
        }
        let mut after = state.clone();
        let thread_state = &mut after.threads[thread_index];
        thread_state.pc = stmt.next;
        match &stmt.op {
            // In a reachable state, no thread is inside a block. Other states are harmless.
            Op::Skip | Op::Leave | Op::Return { .. } | Op::AtomicEnd => {}
            Op::Assign { reg, expr } => {
                self.write_register(code, thread_state, *reg, value(expr)?)?
            }
            Op::Branch { cond, then, otherwise } => {
                thread_state.pc = if value(cond)? != 0 { *then } else { *otherwise };
            }
            Op::Assume(cond) => {
                if value(cond)? == 0 {
                    return Ok(None);
                }
            }
            Op::Assert(cond) => {
                if value(cond)? == 0 {
                    return Err(FailureKind::Assertion);
                }
            }
            Op::Store { to, value: expr } => {
                let loc = self.resolve_address(before, to)?;
                self.check_allocated(state, loc)?;
                let value = self.check_range(loc, value(expr)?)?;
                match rules.model {
                    Model::Sc => after.memory[loc.index()] = value,
                    Model::Tso | Model::Pso => rules.store(thread_state, loc, value),
                }
            }
            Op::Update { reg, at, update } => {
                let loc = self.resolve_address(before, at)?;
                if !rules.may_update(before, loc) {
                    return Ok(None);
                }
                self.check_allocated(state, loc)?;
                let old = state.memory[loc.index()];
                let (written, result) = apply_update(before, update, old)?;
                if let Some(new) = written {
                    after.memory[loc.index()] = self.check_range(loc, new)?;
                }
                if let Some(reg) = reg {
                    self.write_register(code, &mut after.threads[thread_index], *reg, result)?;
                }
            }
            Op::Fence(kinds) => {
                if !rules.fence(thread_state, *kinds) {
                    return Ok(None);
                }
            }
            Op::Drain(at) => {
                let loc = self.resolve_address(before, at)?;
                if !before.has_no_pending_store_to(loc) {
                    return Ok(None);
                }
                self.check_allocated(state, loc)?;
            }
            Op::New { reg, pool } => {
                let mut cells = self.cell_range(*pool).zip(1..);
                let free = cells.find(|(at, _)| !state.allocated[*at]);
                let reference = match free {
                    Some((at, reference)) => {
                        after.allocated[at] = true;
                        for field in self.record_fields(*pool, reference) {
                            after.memory[field.index()] = self.program.location(field).init;
                        }
                        reference
                    }
                    None if self.program.pool(*pool).yields_null => 0,
                    None => return Err(Fault::PoolExhausted.into()),
                };
                self.write_register(code, &mut after.threads[thread_index], *reg, reference)?;
            }
            Op::Free { pool, cell } => {
                let reference = value(cell)?;
                if reference == 0 {
                    return Err(Fault::NullReference.into());
                }
                let mut cells = self.cell_range(*pool).zip(1..);
                let cell = cells.find(|(_, number)| *number == reference);
                let (at, _) = cell.ok_or(Fault::DoubleFree)?;
                if !self
                    .record_fields(*pool, reference)
                    .all(|loc| before.has_no_pending_store_to(loc))
                {
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
                    let returned = self.returned_operations[other.index()][pc.index()];
                    let returned = Value::try_from(returned).map_err(|_| Fault::Overflow)?;
                    self.write_register(code, thread_state, *reg, returned)?;
                }
            }
            Op::Join => {
                let finished = |other: usize| {
                    let state = &state.threads[other];
                    let code = &self.program.threads[other];
                    matches!(code.stmt(state.pc).op, Op::Halt) && state.has_no_pending_store()
                };
                let mut others = (0..state.threads.len()).filter(|other| *other != thread_index);
                if !others.all(finished) {
                    return Ok(None);
                }
            }
            Op::SectionBegin { .. } | Op::SectionEnd { .. } | Op::GracePeriod { .. } => {
                unreachable!("`check_certifiable` rejects these programs")
            }
            Op::Choose { .. } | Op::Load { .. } | Op::AtomicBegin | Op::Halt => {
                unreachable!("statements with several or no alternatives are handled before")
            }
        }
        Ok(Some(after))
    }

    /// Writes a value to a register. Returns a fault if the value is out of range.
    pub(crate) fn write_register(
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

    /// Returns the values that a load may read; none if the load is not enabled.
    pub(crate) fn readable_values(
        &self,
        rules: Rules,
        state: &CertState,
        thread_index: usize,
        from: &Address,
    ) -> Result<Vec<Value>, Fault> {
        let thread_state = &state.threads[thread_index];
        let loc = self.resolve_address(thread_state, from)?;
        if thread_state.has_store_before_barrier() {
            return Ok(Vec::new());
        }
        self.check_allocated(state, loc)?;
        let mut values = rules.forwarded_values(thread_state, loc);
        if values.is_empty() {
            values.push(state.memory[loc.index()]);
        }
        Ok(values)
    }

    /// Returns the location of an address. [`Semantics::check_allocated`] checks whether it is
    /// allocated.
    fn resolve_address(&self, thread: &CertThread, address: &Address) -> Result<Loc, Fault> {
        if let Some(pointer) = &address.pointer {
            return resolve_pointer(pointer, evaluate(thread, &pointer.value)?);
        }
        let mut place = i64::from(address.base.0);
        if let Some((pool, cell)) = &address.cell {
            let pool = self.program.pool(*pool);
            let reference = evaluate(thread, cell)?;
            if reference == 0 {
                return Err(Fault::NullReference);
            }
            if reference < 0 || reference > i64::from(pool.cells) {
                return Err(Fault::UseAfterFree);
            }
            place += (reference - 1) * i64::from(pool.stride);
        }
        if let Some((length, index)) = &address.index {
            let index = evaluate(thread, index)?;
            if index < 0 || index >= i64::from(*length) {
                return Err(Fault::OutOfBounds);
            }
            place += index;
        }
        Ok(Loc(u32::try_from(place).expect("a checked address must be inside memory")))
    }

    /// Returns the value, or a fault if the type of the location does not allow it.
    fn check_range(&self, loc: Loc, value: Value) -> Result<Value, Fault> {
        match self.program.limits(&self.program.location(loc).ty) {
            Some((lo, hi)) if value < lo || hi < value => Err(Fault::OutOfRange),
            Some(_) | None => Ok(value),
        }
    }

    /// Returns the locations of a record. References start at 1.
    fn record_fields(
        &self,
        pool: fencepost_ir::PoolId,
        reference: Value,
    ) -> impl Iterator<Item = Loc> {
        let pool = self.program.pool(pool);
        let cell = reference.unsigned_abs() as u32 - 1;
        let first = pool.base.0 + cell * pool.stride;
        (first..first + pool.stride).map(Loc)
    }
}

/// Returns the location that a pointer with this number points to.
fn resolve_pointer(pointer: &Pointer, number: Value) -> Result<Loc, Fault> {
    let target = pointer.targets.iter().find(|(known, _)| *known == number);
    let is_null = Pointer::NULL.contains(&number);
    let fault = match pointer.is_ended(number) {
        _ if is_null => Fault::NullReference,
        true => Fault::EndedLifetime,
        false => Fault::InvalidPointer,
    };
    target.map(|(_, loc)| *loc).ok_or(fault)
}

/// Returns the value that an update writes, if any, and its result.
fn apply_update(
    thread: &CertThread,
    update: &Update,
    old: Value,
) -> Result<(Option<Value>, Value), Fault> {
    let value = |expr: &Expr<Reg>| evaluate(thread, expr);
    Ok(match update {
        Update::Cas { expected, new, result } => {
            let (expected, new) = (value(expected)?, value(new)?);
            let (written, succeeds) = if old == expected { (Some(new), 1) } else { (None, 0) };
            (written, if *result == CasResult::Old { old } else { succeeds })
        }
        Update::Swap { new } => (Some(value(new)?), old),
        Update::Add { by, wrap: None } => {
            (Some(fencepost_ir::BinOp::Add.apply(old, value(by)?)?), old)
        }
        Update::Add { by, wrap: Some((lo, hi)) } => {
            let (lo, hi) = (i128::from(*lo), i128::from(*hi));
            let size = hi - lo + 1;
            let offset = (i128::from(old) + i128::from(value(by)?) - lo).rem_euclid(size);
            (Some(Value::try_from(lo + offset).map_err(|_| Fault::Overflow)?), old)
        }
        Update::Bits { op, by } => (Some(op.apply(old, value(by)?)?), old),
    })
}
