//! Table-driven models: each thread has a *window*, a list of entries in program order. An entry is
//! a statement that was fetched but not performed.
//!
//! Fetching is an ordinary step here. Nothing is fetched eagerly, so a comparison also tests the
//! claim that eager fetching loses no behaviour.
//!
//! Decisions that the page on semantics leaves open:
//! - An address that is known but faults is no location. It differs from every location.
//! - A store whose value is known but faults has no value. A load that would read it blocks, and
//!   the run ends when the store is performed.
//! - Entries that become known in one step are performed in program order. The first failure ends
//!   the run.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_ir::{
    Address, Expr, Fault, FenceKinds, Loc, Op, Pc, Program, Reg, Thread, Value, flow,
};

use super::memory::{self, Memory};
use super::{Rules, StepFailure, Steps, Table, ThreadState, block};

/// The content of a register: a value, or a reference to the entry that will produce it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Operand {
    Value(Value),
    /// The position of the entry in the window. Renumbered when an earlier entry leaves.
    Entry(usize),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Entry {
    /// The statement.
    pc: Pc,
    /// The registers that the statement reads, as captured when it was fetched.
    operands: BTreeMap<Reg, Operand>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Windowed {
    /// The next statement to fetch.
    pc: Pc,
    registers: Vec<Operand>,
    window: Vec<Entry>,
    /// The result registers of the operations whose ends were fetched.
    ends: Vec<Option<Reg>>,
}

/// The source of the value of a load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    Memory,
    /// A pending store of the same thread, with this value.
    Store(Value),
    /// A pending store whose address or value is not known, or faults. The load must wait.
    Unknown,
}

/// An access kind. A load is an R, a store a W, an update both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    R,
    W,
}

fn kinds(op: &Op) -> &'static [Kind] {
    match op {
        Op::Load { .. } => &[Kind::R],
        Op::Store { .. } => &[Kind::W],
        Op::Update { .. } => &[Kind::R, Kind::W],
        Op::Skip
        | Op::Assign { .. }
        | Op::Choose { .. }
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
        | Op::Halt => &[],
    }
}

fn bypasses(table: Table, earlier: Kind, later: Kind) -> bool {
    match (earlier, later) {
        (Kind::W, Kind::R) => table.w_r,
        (Kind::W, Kind::W) => table.w_w,
        (Kind::R, Kind::R) => table.r_r,
        (Kind::R, Kind::W) => table.r_w,
    }
}

fn orders(fence: FenceKinds, earlier: Kind, later: Kind) -> bool {
    fence.contains(match (earlier, later) {
        (Kind::W, Kind::R) => FenceKinds::STORE_LOAD,
        (Kind::W, Kind::W) => FenceKinds::STORE_STORE,
        (Kind::R, Kind::R) => FenceKinds::LOAD_LOAD,
        (Kind::R, Kind::W) => FenceKinds::LOAD_STORE,
    })
}

impl Entry {
    fn op<'a>(&self, thread: &'a Thread) -> &'a Op {
        &thread.stmt(self.pc).op
    }

    fn fence(&self, thread: &Thread) -> Option<FenceKinds> {
        if let Op::Fence(kinds) = self.op(thread) { Some(*kinds) } else { None }
    }

    /// Returns the registers as captured by the entry, if all its operands are values.
    fn operand_values(&self, thread: &Thread) -> Option<Vec<Value>> {
        let mut registers = vec![0; thread.registers.len()];
        for (reg, operand) in &self.operands {
            match operand {
                Operand::Value(value) => registers[reg.index()] = *value,
                Operand::Entry(_) => return None,
            }
        }
        Some(registers)
    }

    /// Returns the value of an expression of the entry, if every register it reads is a value.
    fn value(&self, expr: &Expr<Reg>) -> Option<Result<Value, Fault>> {
        let mut known = true;
        expr.for_each_var(&mut |reg| known &= matches!(self.operands[reg], Operand::Value(_)));
        known.then(|| {
            expr.eval(&|reg: &Reg| match self.operands[reg] {
                Operand::Value(value) => value,
                Operand::Entry(_) => unreachable!("all operands are values"),
            })
        })
    }

    fn address_known(&self, address: &Address) -> bool {
        let cell = address.cell.as_ref().is_none_or(|(_, cell)| self.value(cell).is_some());
        let index = address.index.as_ref().is_none_or(|(_, index)| self.value(index).is_some());
        cell && index
    }

    /// Returns the locations that the entry may access: one if the address is known, else its
    /// static footprint. Two accesses may be to the same location if these sets overlap.
    fn possible_locations(&self, program: &Program, thread: &Thread) -> BTreeSet<Loc> {
        let Some(address) = self.op(thread).address() else {
            return BTreeSet::new();
        };
        if !self.address_known(address) {
            return footprint(program, address);
        }
        let eval = |expr: &Expr<Reg>| self.value(expr).expect("the address is known");
        memory::resolve_address(program, address, &eval).into_iter().collect()
    }
}

/// Returns the static footprint of an address: all elements of the array, the field of all records
/// of the pool. A constant cell or index restricts it.
fn footprint(program: &Program, address: &Address) -> BTreeSet<Loc> {
    let cells = match &address.cell {
        None => 0..=0,
        Some((pool, cell)) => match cell.as_const() {
            Some(cell) => cell..=cell,
            None => 1..=program.pool(*pool).cells as Value,
        },
    };
    let indices = match &address.index {
        None => 0..=0,
        Some((length, index)) => match index.as_const() {
            Some(index) => index..=index,
            None => 0..=*length as Value - 1,
        },
    };
    let mut places = BTreeSet::new();
    for cell in cells {
        for index in indices.clone() {
            let constant = Address {
                base: address.base,
                cell: address.cell.as_ref().map(|(pool, _)| (*pool, Expr::Const(cell))),
                index: address.index.as_ref().map(|(length, _)| (*length, Expr::Const(index))),
            };
            places.extend(memory::resolve_address(program, &constant, &|expr| {
                memory::eval(expr, &[])
            }));
        }
    }
    places
}

impl ThreadState for Windowed {
    fn start(thread: &Thread) -> Self {
        let registers = vec![Operand::Value(0); thread.registers.len()];
        Windowed { pc: Pc(0), registers, window: Vec::new(), ends: Vec::new() }
    }

    fn steps(&self, rules: &Rules, thread: &Thread, memory: &Memory) -> Steps<Self> {
        let mut steps = self
            .fetch(rules, thread, memory)
            .unwrap_or_else(|error| Steps { next: vec![Err(error)], bound_hit: false });
        for at in 0..self.window.len() {
            if self.may_perform(rules, thread, at) {
                let (mut next, mut memory) = (self.clone(), memory.clone());
                let done = next
                    .perform(rules, thread, &mut memory, at)
                    .and_then(|()| next.perform_due_entries(rules, thread, &mut memory));
                steps.next.push(done.map(|()| (next, memory)));
            }
        }
        steps
    }

    fn pc(&self) -> Pc {
        self.pc
    }

    fn has_nothing_pending(&self) -> bool {
        self.window.is_empty()
    }

    fn returned_operations(&self) -> usize {
        let known = |reg: &Reg| matches!(self.registers[reg.index()], Operand::Value(_));
        self.ends.iter().take_while(|result| result.as_ref().is_none_or(known)).count()
    }

    fn invoke(&self, pc: Pc, seen: &[(Reg, Value)]) -> Self {
        let mut next = Windowed { pc, ..self.clone() };
        for (reg, value) in seen {
            next.registers[reg.index()] = Operand::Value(*value);
        }
        next
    }

    fn stores(before: &Self, after: &Self, thread: &Thread) -> bool {
        let pending = |state: &Self| {
            let is_store = |entry: &&Entry| matches!(thread.stmt(entry.pc).op, Op::Store { .. });
            state.window.iter().filter(is_store).count()
        };
        pending(after) < pending(before)
    }

    fn register(&self, reg: Reg) -> Value {
        match self.registers[reg.index()] {
            Operand::Value(value) => value,
            Operand::Entry(_) => unreachable!("nothing is pending in a final state"),
        }
    }
}

impl Windowed {
    /// Fetches the next statement.
    fn fetch(
        &self,
        rules: &Rules,
        thread: &Thread,
        memory: &Memory,
    ) -> Result<Steps<Self>, StepFailure> {
        let program = rules.program;
        let stmt = thread.stmt(self.pc);
        let reads = flow::uses(&stmt.op);
        let operands = reads.iter().map(|reg| (*reg, self.registers[reg.index()])).collect();
        let fetched = Entry { pc: self.pc, operands };
        let known = fetched.operand_values(thread);
        let mut next = Windowed { pc: stmt.next, ..self.clone() };
        let mut memory = memory.clone();
        match &stmt.op {
            Op::Skip | Op::Leave => {}
            Op::Assign { .. } | Op::Assert(_) => {
                if known.is_none() && self.window.len() >= rules.bound {
                    return Ok(Steps::disabled_by_bound());
                }
                next.push_entry(thread, fetched);
                next.perform_due_entries(rules, thread, &mut memory)?;
            }
            Op::Load { .. } | Op::Store { .. } | Op::Update { .. } => {
                if self.window.len() >= rules.bound {
                    return Ok(Steps::disabled_by_bound());
                }
                next.push_entry(thread, fetched);
            }
            Op::Fence(FenceKinds::FULL) => {
                if !self.window.is_empty() {
                    return Ok(Steps::none());
                }
            }
            Op::Fence(_) => {
                if self.window.len() >= rules.bound {
                    return Ok(Steps::disabled_by_bound());
                }
                next.push_entry(thread, fetched);
                next.perform_due_entries(rules, thread, &mut memory)?;
            }
            Op::Branch { cond, then, otherwise } => {
                let Some(registers) = known else {
                    return Ok(Steps::none());
                };
                next.pc = if memory::eval(cond, &registers)? != 0 { *then } else { *otherwise };
            }
            Op::Assume(cond) => {
                let Some(registers) = known else {
                    return Ok(Steps::none());
                };
                if memory::eval(cond, &registers)? == 0 {
                    return Ok(Steps::none());
                }
            }
            Op::Choose { reg, lo, hi } => {
                let choice = |value| {
                    let value = memory::check_register_range(program, thread, *reg, value)?;
                    let mut next = next.clone();
                    next.registers[reg.index()] = Operand::Value(value);
                    Ok((next, memory.clone()))
                };
                return Ok(Steps { next: (*lo..=*hi).map(choice).collect(), bound_hit: false });
            }
            Op::Drain(at) => {
                let Some(registers) = known else {
                    return Ok(Steps::none());
                };
                let loc = memory.locate(program, at, &registers)?;
                let writes = |entry: &&Entry| kinds(entry.op(thread)).contains(&Kind::W);
                let mut writes = self.window.iter().filter(writes);
                if writes.any(|entry| entry.possible_locations(program, thread).contains(&loc)) {
                    return Ok(Steps::none());
                }
            }
            Op::New { reg, pool } => {
                if !self.may_allocate(rules, thread) {
                    return Ok(Steps::none());
                }
                let reference = memory.allocate(program, *pool)?;
                let reference = memory::check_register_range(program, thread, *reg, reference)?;
                next.registers[reg.index()] = Operand::Value(reference);
            }
            Op::Free { pool, cell } => {
                let Some(registers) = known else {
                    return Ok(Steps::none());
                };
                let cell = memory::eval(cell, &registers)?;
                let fields: BTreeSet<Loc> = memory::cell_locations(program, *pool, cell).collect();
                let mut window = self.window.iter();
                if window
                    .any(|entry| !entry.possible_locations(program, thread).is_disjoint(&fields))
                {
                    return Ok(Steps::none());
                }
                if !self.may_allocate(rules, thread) {
                    return Ok(Steps::none());
                }
                memory.free(*pool, cell)?;
            }
            Op::AtomicBegin => {
                if !self.window.is_empty() {
                    return Ok(Steps::none());
                }
                let registers = (0..self.registers.len()).map(Reg::from_index);
                let registers = registers.map(|reg| self.register(reg)).collect();
                let ends = block::run(program, thread, stmt.next, registers, memory);
                let after = |end: block::End| {
                    let registers = end.registers.into_iter().map(Operand::Value).collect();
                    let next = Windowed { pc: end.pc, registers, ..self.clone() };
                    (next, end.memory)
                };
                let next = ends.into_iter().map(|end| end.map(after)).collect();
                return Ok(Steps { next, bound_hit: false });
            }
            Op::AtomicEnd => unreachable!("`block::run` runs a whole atomic block"),
            Op::Return { result } => next.ends.push(*result),
            // `invoke` reads the state of other threads. `super::invoke` makes its step.
            Op::Invoke { .. } | Op::Halt => return Ok(Steps::none()),
        }
        Ok(Steps::one(next, memory))
    }

    fn push_entry(&mut self, thread: &Thread, entry: Entry) {
        if let Some(reg) = entry.op(thread).target() {
            self.registers[reg.index()] = Operand::Entry(self.window.len());
        }
        self.window.push(entry);
    }

    /// Returns whether `new` and `free` are enabled. If the table preserves R->W, they wait until
    /// the window holds no load and no update. If it preserves W->R, they wait until the window
    /// holds no store and no update.
    fn may_allocate(&self, rules: &Rules, thread: &Thread) -> bool {
        let holds = |kind| self.window.iter().any(|e| kinds(e.op(thread)).contains(&kind));
        (rules.table.r_w || !holds(Kind::R)) && (rules.table.w_r || !holds(Kind::W))
    }

    /// Returns whether the entry at `at` is an access that may be performed.
    fn may_perform(&self, rules: &Rules, thread: &Thread, at: usize) -> bool {
        let entry = &self.window[at];
        if kinds(entry.op(thread)).is_empty() || entry.operand_values(thread).is_none() {
            return false;
        }
        if (0..at).any(|earlier| self.blocks(rules, thread, earlier, at)) {
            return false;
        }
        let is_load = matches!(entry.op(thread), Op::Load { .. });
        !is_load || self.load_source(rules.program, thread, at) != Source::Unknown
    }

    /// Returns whether the entry at `earlier` blocks the entry at `later`.
    fn blocks(&self, rules: &Rules, thread: &Thread, earlier: usize, later: usize) -> bool {
        let (d, e) = (&self.window[earlier], &self.window[later]);
        let (d_op, e_op) = (d.op(thread), e.op(thread));
        let may_forward = rules.table.read_own_early
            && matches!(d_op, Op::Store { .. })
            && matches!(e_op, Op::Load { .. });
        let d_places = d.possible_locations(rules.program, thread);
        let same_location = !d_places.is_disjoint(&e.possible_locations(rules.program, thread));
        if same_location && !may_forward {
            return true;
        }
        let fences =
            || self.window[earlier + 1..later].iter().filter_map(|entry| entry.fence(thread));
        kinds(d_op).iter().any(|x| {
            kinds(e_op).iter().any(|y| {
                !bypasses(rules.table, *x, *y) || fences().any(|fence| orders(fence, *x, *y))
            })
        })
    }

    /// Returns the source of the load E at `at`. Let D be the youngest earlier store in the window
    /// that may be to E's location. If D's address or value is not known, or will fault, E must
    /// wait. If D is known to be to E's location, E reads D's value. If there is no such D, E reads
    /// memory.
    fn load_source(&self, program: &Program, thread: &Thread, at: usize) -> Source {
        let places = self.window[at].possible_locations(program, thread);
        for d in self.window[..at].iter().rev() {
            let Op::Store { to, value } = d.op(thread) else {
                continue;
            };
            if d.possible_locations(program, thread).is_disjoint(&places) {
                continue;
            }
            let fits = |value: Value| {
                let legal = |loc: &Loc| memory::check_location_range(program, *loc, value).is_ok();
                places.iter().all(legal)
            };
            return match d.value(value) {
                Some(Ok(value)) if d.address_known(to) && fits(value) => Source::Store(value),
                Some(_) | None => Source::Unknown,
            };
        }
        Source::Memory
    }

    /// Performs an entry and removes it. All its operands must be values.
    fn perform(
        &mut self,
        rules: &Rules,
        thread: &Thread,
        memory: &mut Memory,
        at: usize,
    ) -> Result<(), StepFailure> {
        let program = rules.program;
        let entry = &self.window[at];
        let registers =
            entry.operand_values(thread).expect("a performed entry has no unknown operand");
        let stmt = thread.stmt(entry.pc);
        let yields = match &stmt.op {
            Op::Assign { expr, .. } => Some(memory::eval(expr, &registers)?),
            Op::Assert(cond) => {
                if memory::eval(cond, &registers)? == 0 {
                    return Err(StepFailure::Assertion(stmt.label));
                }
                None
            }
            Op::Load { from, .. } => {
                let loc = memory.locate(program, from, &registers)?;
                Some(match self.load_source(program, thread, at) {
                    Source::Memory => memory.read(loc),
                    Source::Store(value) => value,
                    Source::Unknown => {
                        unreachable!("a load with an unknown source is not performed")
                    }
                })
            }
            Op::Store { to, value } => {
                let loc = memory.locate(program, to, &registers)?;
                let value = memory::eval(value, &registers)?;
                memory.write(program, loc, memory::check_location_range(program, loc, value)?)?;
                None
            }
            Op::Update { at, update, .. } => Some(memory.update(program, at, update, &registers)?),
            Op::Fence(_) => None,
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
            | Op::Halt => unreachable!("this statement never enters the window"),
        };
        if let (Some(reg), Some(value)) = (stmt.op.target(), yields) {
            memory::check_register_range(program, thread, reg, value)?;
        }
        self.remove(at, yields);
        Ok(())
    }

    /// Removes an entry and puts its value into the window entries and registers that refer to it.
    fn remove(&mut self, at: usize, yields: Option<Value>) {
        self.window.remove(at);
        let operands = self.window.iter_mut().flat_map(|entry| entry.operands.values_mut());
        for operand in operands.chain(&mut self.registers) {
            if let Operand::Entry(producer) = operand {
                if *producer == at {
                    *operand = Operand::Value(yields.expect("a referenced entry yields a value"));
                } else if *producer > at {
                    *producer -= 1;
                }
            }
        }
    }

    /// Performs the entries that are performed as soon as possible: assigns and asserts whose
    /// operands are known, and fences with no earlier access left to order.
    fn perform_due_entries(
        &mut self,
        rules: &Rules,
        thread: &Thread,
        memory: &mut Memory,
    ) -> Result<(), StepFailure> {
        let is_due = |this: &Self, at: usize| {
            let entry = &this.window[at];
            if let Some(fence) = entry.fence(thread) {
                let mut earlier = this.window[..at].iter().flat_map(|d| kinds(d.op(thread)));
                return !earlier.any(|x| orders(fence, *x, Kind::R) || orders(fence, *x, Kind::W));
            }
            kinds(entry.op(thread)).is_empty() && entry.operand_values(thread).is_some()
        };
        while let Some(at) = (0..self.window.len()).find(|at| is_due(self, *at)) {
            self.perform(rules, thread, memory, at)?;
        }
        Ok(())
    }
}
