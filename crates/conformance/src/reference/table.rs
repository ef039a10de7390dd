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
//!   the run. A refuted guess ends it, too, but counts as a step that is not enabled.

mod entry;

use std::collections::BTreeSet;

use fencepost_ir::{Fault, FenceKinds, Loc, Op, Pc, Program, Reg, Thread, Value, flow};

use super::memory::{self, Memory};
use super::{Rules, StepFailure, Steps, ThreadState, block, section};
use entry::{Entry, Kind, Operand, bypasses, orders};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Windowed {
    /// The next statement to fetch.
    pc: Pc,
    registers: Vec<Operand>,
    window: Vec<Entry>,
    /// The operations whose ends were fetched.
    ends: Vec<OperationEnd>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct OperationEnd {
    result: Option<Reg>,
    /// The number of window entries before the end. 0 if none of them is a guess.
    entries_before: usize,
}

/// The reason why a step does not lead to a state.
enum NoState {
    Failure(StepFailure),
    /// The step refutes a guess, so it is not enabled.
    Refuted,
}

impl From<StepFailure> for NoState {
    fn from(failure: StepFailure) -> Self {
        NoState::Failure(failure)
    }
}

impl From<Fault> for NoState {
    fn from(fault: Fault) -> Self {
        NoState::Failure(fault.into())
    }
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

impl ThreadState for Windowed {
    fn start(thread: &Thread) -> Self {
        let registers = vec![Operand::Value(0); thread.registers.len()];
        Windowed { pc: Pc(0), registers, window: Vec::new(), ends: Vec::new() }
    }

    fn steps(&self, rules: &Rules, thread: &Thread, memory: &Memory) -> Steps<Self> {
        let mut steps = self
            .fetch(rules, thread, memory)
            .unwrap_or_else(|error| Steps { next: vec![Err(error)], bound_hit: false });
        if self.has_guess() {
            // A speculative statement that would fail is not enabled.
            steps.next.retain(Result::is_ok);
        }
        for at in 0..self.window.len() {
            if self.may_perform(rules, thread, at) {
                let (mut next, mut memory) = (self.clone(), memory.clone());
                let done = match next.perform(rules, thread, &mut memory, at) {
                    Err(NoState::Failure(StepFailure::Fault(fault))) if self.is_speculative(at) => {
                        next.window[at].failed = Some(fault);
                        Ok(())
                    }
                    Err(error) => Err(error),
                    Ok(()) => next.perform_due_entries(rules, thread, &mut memory),
                };
                match done {
                    Ok(()) => steps.next.push(Ok((next, memory))),
                    Err(NoState::Failure(failure)) => steps.next.push(Err(failure)),
                    Err(NoState::Refuted) => {}
                }
            }
        }
        steps
    }

    fn pc(&self) -> Pc {
        self.pc
    }

    fn control_point(&self) -> Pc {
        let oldest = self.window.iter().find(|entry| entry.guess.is_some());
        oldest.map_or(self.pc, |entry| entry.pc)
    }

    fn has_guess(&self) -> bool {
        self.is_speculative(self.window.len())
    }

    fn has_nothing_pending(&self) -> bool {
        self.window.is_empty()
    }

    fn returned_operations(&self) -> usize {
        let known = |reg: &Reg| matches!(self.registers[reg.index()], Operand::Value(_));
        let returned = |end: &&OperationEnd| {
            !self.is_speculative(end.entries_before) && end.result.as_ref().is_none_or(known)
        };
        self.ends.iter().take_while(returned).count()
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
        let fetched = Entry { pc: self.pc, operands, guess: None, failed: None };
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
                let at = self.window.len();
                if self.has_guess() && known.is_some() && next.fails(rules, thread, &memory, at) {
                    return Ok(Steps::none());
                }
                next.fetch_due_entries(rules, thread, &mut memory)?;
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
                next.fetch_due_entries(rules, thread, &mut memory)?;
            }
            Op::Branch { cond, then, otherwise } => {
                let Some(registers) = known else {
                    let guesses = [(true, *then), (false, *otherwise)];
                    return Ok(next.guess(rules, thread, &memory, &fetched, &guesses));
                };
                next.pc = if memory::eval(cond, &registers)? != 0 { *then } else { *otherwise };
            }
            Op::Assume(cond) => {
                let Some(registers) = known else {
                    let guesses = [(true, stmt.next)];
                    return Ok(next.guess(rules, thread, &memory, &fetched, &guesses));
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
                let writes = |entry: &&Entry| entry.kinds(thread).contains(&Kind::W);
                let mut writes = self.window.iter().filter(writes);
                if writes.any(|entry| entry.possible_locations(program, thread).contains(&loc)) {
                    return Ok(Steps::none());
                }
            }
            Op::New { .. } | Op::Free { .. } if self.has_guess() => return Ok(Steps::none()),
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
            Op::Return { result } => {
                let entries_before = if self.has_guess() { self.window.len() } else { 0 };
                next.ends.push(OperationEnd { result: *result, entries_before });
            }
            Op::SectionBegin { held, index, .. } => {
                let now = (*held, self.register(*held));
                for (reg, value) in section::begin(program, thread, now, *index)? {
                    next.registers[reg.index()] = Operand::Value(value);
                }
            }
            Op::SectionEnd { held, index, .. } => {
                let Some(registers) = known else {
                    return Ok(Steps::none());
                };
                let index = index.as_ref().map(|index| memory::eval(index, &registers));
                let after = section::end(self.register(*held), index.transpose()?)?;
                next.registers[held.index()] = Operand::Value(after);
            }
            // These read the state of other threads. `super` makes the steps.
            Op::Invoke { .. } | Op::Join | Op::GracePeriod { .. } | Op::Halt => {
                return Ok(Steps::none());
            }
        }
        Ok(Steps::one(next, memory))
    }

    /// Performs the entries that are due after a fetch. A fetch produces no value that an earlier
    /// entry waits for, so it refutes no guess.
    fn fetch_due_entries(
        &mut self,
        rules: &Rules,
        thread: &Thread,
        memory: &mut Memory,
    ) -> Result<(), StepFailure> {
        match self.perform_due_entries(rules, thread, memory) {
            Ok(()) => Ok(()),
            Err(NoState::Failure(failure)) => Err(failure),
            Err(NoState::Refuted) => unreachable!("a fetch refutes no guess"),
        }
    }

    /// Returns the steps that fetch a branch or `assume` with each of these guesses and continue at
    /// the given statements.
    fn guess(
        &self,
        rules: &Rules,
        thread: &Thread,
        memory: &Memory,
        fetched: &Entry,
        guesses: &[(bool, Pc)],
    ) -> Steps<Self> {
        if !rules.table.speculation {
            return Steps::none();
        }
        if self.window.len() >= rules.bound {
            return Steps::disabled_by_bound();
        }
        let step = |(guess, pc): &(bool, Pc)| {
            let mut next = Windowed { pc: *pc, ..self.clone() };
            next.push_entry(thread, Entry { guess: Some(*guess), ..fetched.clone() });
            Ok((next, memory.clone()))
        };
        Steps { next: guesses.iter().map(step).collect(), bound_hit: false }
    }

    /// Returns whether an entry of the window before position `at` is a guess.
    fn is_speculative(&self, at: usize) -> bool {
        self.window[..at].iter().any(|entry| entry.guess.is_some())
    }

    /// Returns whether performing the entry at `at` ends the run with a fault or a failed assertion.
    fn fails(&self, rules: &Rules, thread: &Thread, memory: &Memory, at: usize) -> bool {
        let done = self.clone().perform(rules, thread, &mut memory.clone(), at);
        matches!(done, Err(NoState::Failure(_)))
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
        let holds = |kind| self.window.iter().any(|e| e.kinds(thread).contains(&kind));
        (rules.table.r_w || !holds(Kind::R)) && (rules.table.w_r || !holds(Kind::W))
    }

    /// Returns whether the entry at `at` is an access that may be performed.
    fn may_perform(&self, rules: &Rules, thread: &Thread, at: usize) -> bool {
        let entry = &self.window[at];
        if entry.kinds(thread).is_empty() || entry.operand_values(thread).is_none() {
            return false;
        }
        let has_location = !entry.possible_locations(rules.program, thread).is_empty();
        if self.is_speculative(at) && (entry.kinds(thread).contains(&Kind::W) || !has_location) {
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
        if same_location && !may_forward && d.failed.is_none() {
            return true;
        }
        let fences =
            || self.window[earlier + 1..later].iter().filter_map(|entry| entry.fence(thread));
        d.kinds(thread).iter().any(|x| {
            e.kinds(thread).iter().any(|y| {
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
    ) -> Result<(), NoState> {
        let program = rules.program;
        let entry = &self.window[at];
        let registers =
            entry.operand_values(thread).expect("a performed entry has no unknown operand");
        let stmt = thread.stmt(entry.pc);
        if let Some(fault) = entry.failed {
            return Err(fault.into());
        }
        let yields = match &stmt.op {
            Op::Assign { expr, .. } => Some(memory::eval(expr, &registers)?),
            Op::Assert(cond) => {
                if memory::eval(cond, &registers)? == 0 {
                    return Err(StepFailure::Assertion(stmt.label).into());
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
            Op::Branch { cond, .. } | Op::Assume(cond) => {
                let holds = memory::eval(cond, &registers)? != 0;
                if entry.guess != Some(holds) {
                    return Err(NoState::Refuted);
                }
                None
            }
            Op::Skip
            | Op::Choose { .. }
            | Op::Drain(_)
            | Op::New { .. }
            | Op::Free { .. }
            | Op::Leave
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Invoke { .. }
            | Op::Return { .. }
            | Op::Join
            | Op::SectionBegin { .. }
            | Op::SectionEnd { .. }
            | Op::GracePeriod { .. }
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
        let mut ends = std::mem::take(&mut self.ends);
        for end in &mut ends {
            end.entries_before -= usize::from(end.entries_before > at);
            if !self.is_speculative(end.entries_before) {
                end.entries_before = 0;
            }
        }
        self.ends = ends;
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

    /// Performs the entries that are performed as soon as possible: assigns, asserts and branches
    /// whose operands are known, loads that have failed, and fences with no earlier access left to
    /// order. Speculative entries that would fail wait.
    fn perform_due_entries(
        &mut self,
        rules: &Rules,
        thread: &Thread,
        memory: &mut Memory,
    ) -> Result<(), NoState> {
        let is_due = |this: &Self, memory: &Memory, at: usize| {
            let entry = &this.window[at];
            if let Some(fence) = entry.fence(thread) {
                let mut earlier = this.window[..at].iter().flat_map(|d| d.kinds(thread));
                return !earlier.any(|x| orders(fence, *x, Kind::R) || orders(fence, *x, Kind::W));
            }
            entry.kinds(thread).is_empty()
                && entry.operand_values(thread).is_some()
                && !(this.is_speculative(at) && this.fails(rules, thread, memory, at))
        };
        while let Some(at) = (0..self.window.len()).find(|at| is_due(self, memory, *at)) {
            self.perform(rules, thread, memory, at)?;
        }
        Ok(())
    }
}
