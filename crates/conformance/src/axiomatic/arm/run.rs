//! The runs of one thread, for every value that its reads may return.
//!
//! A run is a list of reads and writes with known locations and values. A read-modify-write is a
//! read, followed by a write unless its comparison fails. Each event has the earlier reads that its
//! address, its value and its execution depend on. Dependencies are syntactic: `r ^ r` depends on
//! `r`. Beside them are the reads that it *picks*: the result of a compare-and-swap that succeeds
//! picks its read, that of a conditional selection picks the reads that decide its condition.

use fencepost_ir::{
    AccessOrder, Acquire, Address, BinOp, CasResult, Expr, Fault, FenceKinds, Label, Loc, Op, Pc,
    Program, Reg, Stmt, Thread, Type, Update, Value,
};

use super::super::{PossibleValues, Unsupported};

/// A set of events of a run, one bit per event.
pub(super) type Events = u64;

/// The maximum number of events of all threads together.
pub(super) const MAX_EVENTS: usize = Events::BITS as usize;

/// The maximum number of runs of a thread.
const MAX_RUNS: usize = 1 << 16;

/// A read or a write.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) loc: Loc,
    pub(super) value: Value,
    pub(super) kind: Kind,
    /// The reads that the address depends on: `addr`.
    pub(super) addr: Events,
    /// The reads that the written value depends on through registers: `data`.
    pub(super) data: Events,
    /// The reads that decide an earlier branch: `ctrl`.
    pub(super) ctrl: Events,
    /// The reads that the address, the value or an earlier branch picks: `pick`.
    pub(super) pick: Events,
    /// Of these, the reads that the address picks.
    pub(super) address_pick: Events,
    /// For a write: the reads that a read of this write in the same thread picks.
    pub(super) passed_pick: Events,
}

/// What an event does, and its order.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Read {
        acquire: Acquire,
        /// Whether a fence for loads does not order the read.
        discarded: bool,
    },
    Write {
        release: bool,
        /// The read of the read-modify-write or of the exclusive pair: `rmw`.
        pair: Option<Pair>,
    },
}

/// The first event of an `rmw` edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    /// The read.
    pub(super) read: usize,
    /// Whether both are one read-modify-write, not an exclusive pair, which it may be in C.
    pub(super) is_update: bool,
    /// Whether the value of the read decides the value of the write, without registers.
    pub(super) decides_value: bool,
}

impl Event {
    pub(super) fn is_read(&self) -> bool {
        matches!(self.kind, Kind::Read { .. })
    }

    pub(super) fn is_write(&self) -> bool {
        matches!(self.kind, Kind::Write { .. })
    }

    /// Returns the order of a read; none for a write.
    pub(super) fn acquire(&self) -> Acquire {
        match self.kind {
            Kind::Read { acquire, .. } => acquire,
            Kind::Write { .. } => Acquire::None,
        }
    }

    /// Returns whether it is a read whose value is discarded.
    pub(super) fn is_discarded(&self) -> bool {
        matches!(self.kind, Kind::Read { discarded: true, .. })
    }

    pub(super) fn is_release(&self) -> bool {
        matches!(self.kind, Kind::Write { release: true, .. })
    }

    /// Returns the `rmw` edge to this event.
    pub(super) fn pair(&self) -> Option<Pair> {
        match self.kind {
            Kind::Read { .. } => None,
            Kind::Write { pair, .. } => pair,
        }
    }
}

/// A barrier of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Barrier {
    /// `DMB SY`.
    Full,
    /// `DMB LD`.
    Load,
    /// `DMB ST`.
    Store,
    /// `ISB`.
    Instruction,
}

/// A barrier in a run.
#[derive(Clone, Debug)]
pub(super) struct Fence {
    pub(super) barrier: Barrier,
    /// The number of events before it.
    pub(super) position: usize,
    /// The reads that decide an earlier branch.
    pub(super) ctrl: Events,
    /// The reads that an earlier branch picks.
    pub(super) pick: Events,
}

/// A run of one thread, from its start to its end or to the statement where it is stuck.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// Whether the run reaches the end of the thread.
    pub(super) halts: bool,
    /// The events, in program order.
    pub(super) events: Vec<Event>,
    pub(super) fences: Vec<Fence>,
    /// The final values of the registers.
    pub(super) registers: Vec<Value>,
    /// For each event: the events that are ordered before it inside the thread. Computed by
    /// [`order`](super::order).
    pub(super) before: Vec<Events>,
}

impl Run {
    /// Returns the locations and values of the writes.
    pub(super) fn writes(&self) -> impl Iterator<Item = (Loc, Value)> {
        self.events.iter().filter(|event| event.is_write()).map(|event| (event.loc, event.value))
    }
}

/// Returns all runs of a thread whose reads return these values.
pub(super) fn runs(
    program: &Program,
    thread: &Thread,
    values: &PossibleValues,
) -> Result<Vec<Run>, Unsupported> {
    let start = PartialRun {
        program,
        thread,
        pc: Pc(0),
        registers: vec![0; thread.registers.len()],
        sources: vec![0; thread.registers.len()],
        picks: vec![0; thread.registers.len()],
        events: Vec::new(),
        fences: Vec::new(),
        ctrl: 0,
        ctrl_pick: 0,
        reservation: None,
        stuck: false,
    };
    let mut todo = vec![start];
    let mut done = Vec::new();
    while let Some(partial) = todo.pop() {
        let halts = !partial.stuck && matches!(thread.stmt(partial.pc).op, Op::Halt);
        if halts || partial.stuck {
            let PartialRun { events, fences, registers, .. } = partial;
            done.push(Run { halts, events, fences, registers, before: Vec::new() });
        } else {
            todo.extend(partial.step(values)?);
        }
        if done.len() + todo.len() > MAX_RUNS {
            return Err(Unsupported::TooLarge);
        }
    }
    Ok(done)
}

/// A prefix of a run.
#[derive(Clone)]
struct PartialRun<'a> {
    program: &'a Program,
    thread: &'a Thread,
    pc: Pc,
    registers: Vec<Value>,
    /// The reads that each register depends on.
    sources: Vec<Events>,
    /// The reads that each register picks.
    picks: Vec<Events>,
    events: Vec<Event>,
    fences: Vec<Fence>,
    /// The reads that decide the branches so far.
    ctrl: Events,
    /// The reads that the branches so far pick.
    ctrl_pick: Events,
    /// The exclusive load that the next exclusive store uses.
    reservation: Option<usize>,
    /// Whether an `assume` blocks, an `assert` has failed, or an exclusive store has no load.
    stuck: bool,
}

impl PartialRun<'_> {
    /// Returns all extensions by the next statement.
    fn step(mut self, values: &PossibleValues) -> Result<Vec<Self>, Unsupported> {
        let stmt = self.thread.stmt(self.pc);
        self.pc = stmt.next;
        match &stmt.op {
            Op::Skip | Op::Leave => {}
            Op::Assign { reg, expr } => {
                let value = self.eval(expr)?;
                let (sources, picks) = match expr {
                    Expr::Select(cond, then, otherwise)
                        if self.program.selections.contains(&stmt.label) =>
                    {
                        let selected = if self.eval(cond)? != 0 { then } else { otherwise };
                        let picks = self.sources(cond) | self.picks(cond) | self.picks(selected);
                        (self.sources(selected), picks)
                    }
                    _ => (self.sources(expr), self.picks(expr)),
                };
                self.set(*reg, value, sources, picks)?;
            }
            Op::Choose { reg, lo, hi } => {
                let with = |value| {
                    let mut chosen = self.clone();
                    chosen.set(*reg, value, 0, 0)?;
                    Ok(chosen)
                };
                return (*lo..=*hi).map(with).collect();
            }
            Op::Load { reg, from } => {
                let loc = self.locate(from)?;
                let with = |value: &Value| {
                    let mut next = self.clone();
                    let read = next.read(stmt, from, loc, *value)?;
                    next.set(*reg, *value, 1 << read, 0)?;
                    Ok(next)
                };
                return values[loc.index()].iter().map(with).collect();
            }
            Op::Store { to, value } => self.store(stmt, to, value)?,
            Op::Update { reg, at, update } => {
                let loc = self.locate(at)?;
                let with = |old: &Value| self.update(stmt, *reg, at, update, loc, *old);
                return values[loc.index()].iter().map(with).collect();
            }
            Op::Fence(kinds) => self.fence(stmt.label, *kinds),
            Op::Branch { then, .. } if self.program.implied.contains(&stmt.label) => {
                self.pc = *then
            }
            Op::Branch { cond, then, otherwise } => {
                self.ctrl |= self.sources(cond);
                self.ctrl_pick |= self.picks(cond);
                self.pc = if self.eval(cond)? != 0 { *then } else { *otherwise };
            }
            Op::Assume(cond) => {
                self.ctrl |= self.sources(cond);
                self.ctrl_pick |= self.picks(cond);
                self.stuck = self.eval(cond)? == 0;
            }
            Op::Assert(cond) => self.stuck = self.eval(cond)? == 0,
            Op::Drain(_) => return Err(Unsupported::Drain),
            Op::AtomicBegin | Op::AtomicEnd => return Err(Unsupported::Atomic),
            Op::New { .. } | Op::Free { .. } => return Err(Unsupported::Records),
            Op::Invoke { .. } | Op::Return { .. } => return Err(Unsupported::Operations),
            Op::Join => return Err(Unsupported::LastThread),
            Op::SectionBegin { .. } | Op::SectionEnd { .. } | Op::GracePeriod { .. } => {
                return Err(Unsupported::GracePeriods);
            }
            Op::Halt => unreachable!("a thread that has halted takes no step"),
        }
        Ok(vec![self])
    }

    fn order(&self, label: Label) -> AccessOrder {
        self.program.orders.get(&label).copied().unwrap_or(AccessOrder::PLAIN)
    }

    /// Adds a fence. A fence that implements the order of an access is for other models.
    fn fence(&mut self, label: Label, kinds: FenceKinds) {
        if self.program.orders.contains_key(&label) || self.program.implied.contains(&label) {
            return;
        }
        let barriers = [
            memory_barrier(kinds),
            kinds.contains(FenceKinds::INSTRUCTION).then_some(Barrier::Instruction),
        ];
        for barrier in barriers.into_iter().flatten() {
            let (position, ctrl, pick) = (self.events.len(), self.ctrl, self.ctrl_pick);
            let fence = Fence { barrier, position, ctrl, pick };
            self.fences.push(fence);
        }
    }

    /// Adds the read of a load or of an update. Returns the event.
    fn read(
        &mut self,
        stmt: &Stmt,
        from: &Address,
        loc: Loc,
        value: Value,
    ) -> Result<usize, Unsupported> {
        let order = self.order(stmt.label);
        let kind = Kind::Read { acquire: order.acquire, discarded: order.discards_value };
        let read = self.push(kind, from, loc, value, 0)?;
        if order.exclusive && matches!(stmt.op, Op::Load { .. }) {
            self.reservation = Some(read);
        }
        Ok(read)
    }

    fn store(&mut self, stmt: &Stmt, to: &Address, value: &Expr<Reg>) -> Result<(), Unsupported> {
        let order = self.order(stmt.label);
        let (loc, data, pick) = (self.locate(to)?, self.sources(value), self.picks(value));
        let value = self.in_range(&self.program.location(loc).ty, self.eval(value)?)?;
        let mut pair = None;
        if order.exclusive {
            let reservation = self.reservation.take();
            let Some(read) = reservation.filter(|read| self.events[*read].loc == loc) else {
                self.stuck = true;
                return Ok(());
            };
            pair = Some(Pair { read, is_update: false, decides_value: false });
        }
        let write =
            self.push(Kind::Write { release: order.release, pair }, to, loc, value, data)?;
        self.events[write].pick |= pick;
        self.events[write].passed_pick = pick | self.events[write].address_pick;
        Ok(())
    }

    fn update(
        &self,
        stmt: &Stmt,
        reg: Option<Reg>,
        at: &Address,
        update: &Update,
        loc: Loc,
        old: Value,
    ) -> Result<Self, Unsupported> {
        let mut next = self.clone();
        let read = next.read(stmt, at, loc, old)?;
        let mut result = (old, 1 << read);
        // The reads that decide whether the update writes, and those that this picks.
        let mut condition = 0;
        let pick;
        let mut passed_pick = 0;
        let mut result_pick = 0;
        let (new, data, decides_value) = match update {
            Update::Cas { expected, new, result: yields } => {
                condition = self.sources(expected);
                pick = self.picks(expected) | self.picks(new);
                passed_pick = 1 << read | condition | pick;
                let equal = old == self.eval(expected)?;
                let value = match yields {
                    CasResult::Success => Value::from(equal),
                    CasResult::Old => old,
                };
                if equal || *yields == CasResult::Success {
                    result_pick = self.picks(expected);
                }
                if equal {
                    result_pick |= 1 << read;
                }
                result = match (equal, yields) {
                    (true, _) => (value, condition),
                    (false, CasResult::Old) => (value, 1 << read),
                    (false, CasResult::Success) => (value, 1 << read | condition),
                };
                (equal.then_some(self.eval(new)?), self.sources(new), false)
            }
            Update::Swap { new } => {
                pick = self.picks(new);
                (Some(self.eval(new)?), self.sources(new), false)
            }
            Update::Add { by, wrap } => {
                pick = self.picks(by);
                let by_value = self.eval(by)?;
                let sum = match wrap {
                    None => BinOp::Add.apply(old, by_value)?,
                    Some(range) => {
                        let sum = i128::from(old) + i128::from(by_value);
                        crate::reference::congruent(sum, *range)
                    }
                };
                (Some(sum), self.sources(by), true)
            }
            Update::Bits { op, by } => {
                pick = self.picks(by);
                (Some(op.apply(old, self.eval(by)?)?), self.sources(by), true)
            }
        };
        if let Some(new) = new {
            let new = self.in_range(&self.program.location(loc).ty, new)?;
            let order = self.order(stmt.label);
            let pair = Some(Pair { read, is_update: !order.exclusive, decides_value });
            let release = order.release;
            let write = next.push(Kind::Write { release, pair }, at, loc, new, data)?;
            let address_pick = next.events[write].address_pick;
            next.events[write].ctrl |= condition;
            next.events[write].pick |= pick;
            next.events[write].passed_pick = passed_pick | pick | address_pick;
        }
        if let Some(reg) = reg {
            next.set(reg, result.0, result.1, result_pick)?;
        }
        Ok(next)
    }

    fn push(
        &mut self,
        kind: Kind,
        at: &Address,
        loc: Loc,
        value: Value,
        data: Events,
    ) -> Result<usize, Unsupported> {
        if self.events.len() == MAX_EVENTS {
            return Err(Unsupported::TooLarge);
        }
        let (addr, ctrl) = (self.address_sources(at), self.ctrl);
        let address_pick = self.address_picks(at);
        let pick = address_pick | self.ctrl_pick;
        let passed_pick = 0;
        self.events.push(Event {
            loc,
            value,
            kind,
            addr,
            data,
            ctrl,
            pick,
            address_pick,
            passed_pick,
        });
        Ok(self.events.len() - 1)
    }

    fn set(
        &mut self,
        reg: Reg,
        value: Value,
        sources: Events,
        picks: Events,
    ) -> Result<(), Unsupported> {
        let ty = &self.thread.registers[reg.index()].ty;
        self.registers[reg.index()] = self.in_range(ty, value)?;
        self.sources[reg.index()] = sources;
        self.picks[reg.index()] = picks;
        Ok(())
    }

    /// Returns the value if it is in the range of the type.
    fn in_range(&self, ty: &Type, value: Value) -> Result<Value, Fault> {
        match self.program.limits(ty) {
            Some((lo, hi)) if !(lo..=hi).contains(&value) => Err(Fault::OutOfRange),
            Some(_) | None => Ok(value),
        }
    }

    fn eval(&self, expr: &Expr<Reg>) -> Result<Value, Fault> {
        expr.eval(&|reg: &Reg| self.registers[reg.index()])
    }

    fn sources(&self, expr: &Expr<Reg>) -> Events {
        let mut all = 0;
        expr.for_each_var(&mut |reg| all |= self.sources[reg.index()]);
        all
    }

    fn picks(&self, expr: &Expr<Reg>) -> Events {
        let mut all = 0;
        expr.for_each_var(&mut |reg| all |= self.picks[reg.index()]);
        all
    }

    fn address_picks(&self, at: &Address) -> Events {
        let index = at.index.as_ref().map_or(0, |(_, index)| self.picks(index));
        index | at.pointer.as_ref().map_or(0, |pointer| self.picks(&pointer.value))
    }

    fn address_sources(&self, at: &Address) -> Events {
        let index = at.index.as_ref().map_or(0, |(_, index)| self.sources(index));
        index | at.pointer.as_ref().map_or(0, |pointer| self.sources(&pointer.value))
    }

    fn locate(&self, at: &Address) -> Result<Loc, Fault> {
        if let Some(pointer) = &at.pointer {
            return pointer.locate(self.eval(&pointer.value)?);
        }
        let Some((length, index)) = &at.index else { return Ok(at.base) };
        let index = self.eval(index)?;
        let index = u32::try_from(index).ok().filter(|index| index < length);
        Ok(Loc(at.base.0 + index.ok_or(Fault::OutOfBounds)?))
    }
}

/// Returns the barrier of a fence that orders accesses: the weakest one that is as strong.
fn memory_barrier(kinds: FenceKinds) -> Option<Barrier> {
    let has = |kind| kinds.contains(kind);
    let loads = has(FenceKinds::LOAD_LOAD) || has(FenceKinds::LOAD_STORE);
    let stores = has(FenceKinds::STORE_STORE) || has(FenceKinds::STORE_LOAD);
    match (loads, stores) {
        _ if has(FenceKinds::STORE_LOAD) => Some(Barrier::Full),
        (true, true) => Some(Barrier::Full),
        (true, false) => Some(Barrier::Load),
        (false, true) => Some(Barrier::Store),
        (false, false) => None,
    }
}
