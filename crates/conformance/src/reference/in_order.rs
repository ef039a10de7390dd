//! Threads that perform their statements in program order: SC, TSO and PSO.
//!
//! Only stores may be pending. Each model implements [`Pending`].

use std::hash::Hash;

use fencepost_ir::{Expr, Fault, FenceKinds, Loc, Op, Pc, Reg, Thread, Value};

use super::memory::{self, Memory};
use super::{Rules, StepFailure, Steps, ThreadState, block, section};

/// The pending stores of a thread under one model.
///
/// A location parameter is `None` if the address faults. No pending store has that location.
pub(super) trait Pending: Clone + Eq + Hash + Default {
    fn is_empty(&self) -> bool;

    /// Returns whether the bound allows another pending store.
    fn fits_bound(&self, loc: Option<Loc>, bound: usize) -> bool;

    /// Issues a store.
    fn store(
        &mut self,
        rules: &Rules,
        memory: &mut Memory,
        loc: Loc,
        value: Value,
    ) -> Result<(), Fault>;

    fn may_load(&self) -> bool;

    /// Returns the value of the youngest pending store to the location.
    fn youngest(&self, loc: Loc) -> Option<Value>;

    fn may_update(&self, loc: Option<Loc>) -> bool;

    /// Passes a fence. Returns `false` if the fence is not enabled.
    fn fence(&mut self, kinds: FenceKinds) -> bool;

    /// Returns each store that may commit now, with the pending stores after the commit.
    fn commits(&self) -> Vec<(Loc, Value, Self)>;
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct InOrder<P> {
    pub(super) pc: Pc,
    pub(super) registers: Vec<Value>,
    pub(super) pending: P,
    /// The result registers of the operations that control has passed.
    pub(super) ends: Vec<Option<Reg>>,
}

impl<P: Pending> ThreadState for InOrder<P> {
    fn start(thread: &Thread) -> Self {
        let registers = vec![0; thread.registers.len()];
        InOrder { pc: Pc(0), registers, pending: P::default(), ends: Vec::new() }
    }

    fn steps(&self, rules: &Rules, thread: &Thread, memory: &Memory) -> Steps<Self> {
        let mut steps = self.statement(rules, thread, memory);
        for (loc, value, pending) in self.pending.commits() {
            let mut memory = memory.clone();
            let written = memory.write(rules.program, loc, value);
            let next = InOrder { pending, ..self.clone() };
            steps.next.push(written.map(|()| (next, memory)).map_err(StepFailure::Fault));
        }
        steps
    }

    fn pc(&self) -> Pc {
        self.pc
    }

    fn has_nothing_pending(&self) -> bool {
        self.pending.is_empty()
    }

    fn returned_operations(&self) -> usize {
        self.ends.len()
    }

    fn invoke(&self, pc: Pc, seen: &[(Reg, Value)]) -> Self {
        let mut next = InOrder { pc, ..self.clone() };
        for (reg, value) in seen {
            next.registers[reg.index()] = *value;
        }
        next
    }

    fn stores(before: &Self, after: &Self, thread: &Thread) -> bool {
        let is_store = matches!(thread.stmt(before.pc).op, Op::Store { .. });
        is_store || !before.pending.is_empty() || !after.pending.is_empty()
    }

    fn register(&self, reg: Reg) -> Value {
        self.registers[reg.index()]
    }
}

impl<P: Pending> InOrder<P> {
    /// Returns the steps of the thread's next statement.
    pub(super) fn statement(&self, rules: &Rules, thread: &Thread, memory: &Memory) -> Steps<Self> {
        self.try_statement(rules, thread, memory)
            .unwrap_or_else(|error| Steps { next: vec![Err(error)], bound_hit: false })
    }

    /// Returns the steps of the thread's next statement. Checks first whether the statement is
    /// enabled: only an enabled statement can fault.
    fn try_statement(
        &self,
        rules: &Rules,
        thread: &Thread,
        memory: &Memory,
    ) -> Result<Steps<Self>, StepFailure> {
        let program = rules.program;
        let stmt = thread.stmt(self.pc);
        let mut next = InOrder { pc: stmt.next, ..self.clone() };
        let mut memory = memory.clone();
        match &stmt.op {
            Op::Skip | Op::Leave => {}
            Op::Assign { reg, expr } => {
                next.set(rules, thread, *reg, self.eval(expr)?)?;
            }
            Op::Choose { reg, lo, hi } => {
                let choice = |value| {
                    let mut next = next.clone();
                    next.set(rules, thread, *reg, value)?;
                    Ok((next, memory.clone()))
                };
                return Ok(Steps { next: (*lo..=*hi).map(choice).collect(), bound_hit: false });
            }
            Op::Branch { cond, then, otherwise } => {
                next.pc = if self.eval(cond)? != 0 { *then } else { *otherwise };
            }
            Op::Assume(cond) => {
                if self.eval(cond)? == 0 {
                    return Ok(Steps::none());
                }
            }
            Op::Assert(cond) => {
                if self.eval(cond)? == 0 {
                    return Err(StepFailure::Assertion(stmt.label));
                }
            }
            Op::Load { reg, from } => {
                if !self.pending.may_load() {
                    return Ok(Steps::none());
                }
                let loc = memory.locate(program, from, &self.registers)?;
                let value = self.pending.youngest(loc).unwrap_or_else(|| memory.read(loc));
                next.set(rules, thread, *reg, value)?;
            }
            Op::Store { to, value } => {
                let loc = memory.locate(program, to, &self.registers);
                if !self.pending.fits_bound(loc.ok(), rules.bound) {
                    return Ok(Steps::disabled_by_bound());
                }
                let loc = loc?;
                let value = memory::check_location_range(program, loc, self.eval(value)?)?;
                next.pending.store(rules, &mut memory, loc, value)?;
            }
            Op::Update { reg, at, update } => {
                let loc = memory.locate(program, at, &self.registers);
                if !self.pending.may_update(loc.ok()) {
                    return Ok(Steps::none());
                }
                let yields = memory.update(program, at, update, &self.registers)?;
                if let Some(reg) = reg {
                    next.set(rules, thread, *reg, yields)?;
                }
            }
            Op::Fence(kinds) => {
                if !next.pending.fence(*kinds) {
                    return Ok(Steps::none());
                }
            }
            Op::Drain(at) => {
                let loc = memory.locate(program, at, &self.registers)?;
                if self.pending.youngest(loc).is_some() {
                    return Ok(Steps::none());
                }
            }
            Op::New { reg, pool } => {
                let reference = memory.allocate(program, *pool)?;
                next.set(rules, thread, *reg, reference)?;
            }
            Op::Free { pool, cell } => {
                let cell = self.eval(cell)?;
                let mut fields = memory::cell_locations(program, *pool, cell);
                if fields.any(|loc| self.pending.youngest(loc).is_some()) {
                    return Ok(Steps::none());
                }
                memory.free(*pool, cell)?;
            }
            Op::AtomicBegin => {
                if !self.pending.is_empty() {
                    return Ok(Steps::none());
                }
                let ends = block::run(program, thread, stmt.next, self.registers.clone(), memory);
                let after = |end: block::End| {
                    let next = InOrder { pc: end.pc, registers: end.registers, ..self.clone() };
                    (next, end.memory)
                };
                let next = ends.into_iter().map(|end| end.map(after)).collect();
                return Ok(Steps { next, bound_hit: false });
            }
            Op::AtomicEnd => unreachable!("`block::run` runs a whole atomic block"),
            Op::Return { result } => next.ends.push(*result),
            Op::SectionBegin { held, index, .. } => {
                let now = (*held, self.registers[held.index()]);
                for (reg, value) in section::begin(program, thread, now, *index)? {
                    next.registers[reg.index()] = value;
                }
            }
            Op::SectionEnd { held, index, .. } => {
                let index = index.as_ref().map(|index| self.eval(index)).transpose()?;
                next.registers[held.index()] = section::end(self.registers[held.index()], index)?;
            }
            // These read the state of other threads. `super` makes the steps.
            Op::Invoke { .. } | Op::Join | Op::GracePeriod { .. } | Op::Halt => {
                return Ok(Steps::none());
            }
        }
        Ok(Steps::one(next, memory))
    }

    fn eval(&self, expr: &Expr<Reg>) -> Result<Value, Fault> {
        memory::eval(expr, &self.registers)
    }

    fn set(
        &mut self,
        rules: &Rules,
        thread: &Thread,
        reg: Reg,
        value: Value,
    ) -> Result<(), StepFailure> {
        self.registers[reg.index()] =
            memory::check_register_range(rules.program, thread, reg, value)?;
        Ok(())
    }
}
