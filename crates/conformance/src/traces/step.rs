//! The steps of a program under SC, TSO and PSO. Each step extends a trace.
//!
//! Source: the book's page on semantics (`book/src/semantics.md`). Each thread has one list of
//! pending stores, in issue order. The models differ in which pending store may commit: under SC
//! the list is empty, under TSO the oldest store, under PSO the oldest store of its location if no
//! pending store has an older epoch. Direction: exact. If a program faults, fails an assertion, or
//! has records or operations, the functions here return `None`.

use fencepost_ir::{
    Address, BinOp, CasResult, Expr, FenceKinds, Loc, Op, Pc, Program, Reg, Thread, Type, Update,
    Value,
};

use super::Recorder;

/// The maximum number of statements that an `atomic` block may run.
const MAX_STATEMENTS: usize = 1_000;

/// The store buffers of a memory model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BufferModel {
    /// No buffers.
    Sc,
    /// One queue per thread.
    Tso,
    /// One queue per thread and location.
    Pso,
}

/// A pending store.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Pending {
    loc: Loc,
    value: Value,
    /// The number of `store_store` fences that its thread had passed.
    epoch: usize,
    /// Whether the store must commit before its thread may load.
    before_barrier: bool,
}

/// A thread's part of a state.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Local {
    pc: Pc,
    /// The values of the registers.
    pub registers: Vec<Value>,
    pending: Vec<Pending>,
    epoch: usize,
    /// How often the thread jumped back, if that is bounded.
    back_jumps: usize,
}

/// A state with the trace that led to it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// The values in memory, by location.
    pub memory: Vec<Value>,
    /// The state of each thread.
    pub threads: Vec<Local>,
    /// The trace so far.
    pub recorder: Recorder,
}

/// A program under a memory model.
pub struct Machine<'a> {
    /// The program.
    pub program: &'a Program,
    /// The memory model.
    pub model: BufferModel,
    /// If set, failed spin iterations are events, and a thread stops before it jumps back more often
    /// than this.
    pub max_back_jumps: Option<usize>,
}

impl<'a> Machine<'a> {
    /// The machine in which failed spin iterations are not events.
    pub fn new(program: &'a Program, model: BufferModel) -> Self {
        Machine { program, model, max_back_jumps: None }
    }

    /// Returns the initial states. The `init` block runs first, alone, directly on memory. Then all
    /// threads start at their first statement with all registers 0.
    pub fn initial(&self) -> Option<Vec<State>> {
        let start = |thread: &Thread| Local {
            pc: Pc(0),
            registers: vec![0; thread.registers.len()],
            pending: Vec::new(),
            epoch: 0,
            back_jumps: 0,
        };
        let threads: Vec<Local> = self.program.threads.iter().map(start).collect();
        let memory: Vec<Value> = self.program.locations.iter().map(|l| l.init).collect();
        let mut memories = vec![memory.clone()];
        if let Some(init) = &self.program.init {
            // While `init` runs, it is an additional thread.
            let at = threads.len();
            let mut recorder = Recorder::new(memory.clone(), at + 1);
            recorder.begin_atomic(at);
            let threads = threads.iter().cloned().chain([start(init)]).collect();
            let ends = self.block(State { memory, threads, recorder }, at)?;
            memories = ends.into_iter().map(|end| end.memory).collect();
            memories.sort();
            memories.dedup();
        }
        let state = |memory: Vec<Value>| State {
            recorder: Recorder::new(memory.clone(), threads.len()),
            memory,
            threads: threads.clone(),
        };
        Some(memories.into_iter().map(state).collect())
    }

    /// Returns whether every thread has halted.
    pub fn all_halted(&self, state: &State) -> bool {
        (0..state.threads.len()).all(|t| matches!(self.op(state, t), Op::Halt))
    }

    /// Returns whether the thread's next statement is invisible: it commutes with all steps of
    /// other threads and with commits, so it can be taken as soon as it is enabled.
    ///
    /// A store that only enters its queue is invisible, because it enters behind all other stores.
    /// Fences and `drain` are invisible, because their condition stays true once it holds.
    pub fn is_invisible(&self, state: &State, t: usize) -> bool {
        match self.op(state, t) {
            Op::Store { .. } => self.model != BufferModel::Sc,
            Op::Fence(_) | Op::Drain(_) | Op::Leave => true,
            Op::Choose { .. } => false,
            op => op.is_local(),
        }
    }

    /// Returns the states after each possible commit of a thread.
    pub fn commits(&self, state: &State, t: usize) -> Vec<State> {
        let pending = &state.threads[t].pending;
        let is_committable = |at: usize| match self.model {
            BufferModel::Sc => unreachable!("nothing is ever pending"),
            BufferModel::Tso => at == 0,
            BufferModel::Pso => {
                let oldest = pending[..at].iter().all(|other| other.loc != pending[at].loc);
                oldest && pending.iter().all(|other| other.epoch >= pending[at].epoch)
            }
        };
        let commit = |at: usize| {
            let mut next = state.clone();
            let Pending { loc, value, .. } = next.threads[t].pending.remove(at);
            next.memory[loc.index()] = value;
            next.recorder.commit(t, loc);
            next
        };
        (0..pending.len()).filter(|at| is_committable(*at)).map(commit).collect()
    }

    /// Returns the states after the thread's next statement. There are none if it is not enabled.
    pub fn statement(&self, state: &State, t: usize) -> Option<Vec<State>> {
        let local = &state.threads[t];
        let stmt = self.code(t).stmt(local.pc);
        let mut next = state.clone();
        next.threads[t].pc = stmt.next;
        let enabled = match &stmt.op {
            Op::Skip | Op::Leave | Op::Return { .. } => true,
            Op::Assign { reg, expr } => {
                self.set(&mut next, t, *reg, eval(expr, local)?)?;
                true
            }
            Op::Choose { reg, lo, hi } => {
                let choose = |value| {
                    let mut next = next.clone();
                    self.set(&mut next, t, *reg, value)?;
                    next.recorder.choose(t, value);
                    Some(next)
                };
                return (*lo..=*hi).map(choose).collect();
            }
            Op::Branch { cond, then, otherwise } => {
                next.threads[t].pc = if eval(cond, local)? != 0 { *then } else { *otherwise };
                true
            }
            Op::Assume(cond) => eval(cond, local)? != 0,
            Op::Assert(cond) => {
                if eval(cond, local)? == 0 {
                    return None;
                }
                true
            }
            Op::Load { reg, from } => {
                let loc = locate(from, local)?;
                let enabled = !local.pending.iter().any(|p| p.before_barrier);
                if enabled {
                    let own = local.pending.iter().rfind(|p| p.loc == loc);
                    let value = own.map_or(state.memory[loc.index()], |p| p.value);
                    self.set(&mut next, t, *reg, value)?;
                    next.recorder.load(t, loc);
                }
                enabled && !self.fails_spin_iteration(&next, t, local.pc)?
            }
            Op::Store { to, value } => {
                let loc = locate(to, local)?;
                let value = self.check_location_range(loc, eval(value, local)?)?;
                if self.model == BufferModel::Sc || state.recorder.is_in_atomic(t) {
                    next.memory[loc.index()] = value;
                    next.recorder.write(t, loc);
                } else {
                    let epoch = local.epoch;
                    let pending = Pending { loc, value, epoch, before_barrier: false };
                    next.threads[t].pending.push(pending);
                    next.recorder.store(t, loc);
                }
                true
            }
            Op::Update { reg, at, update } => {
                let loc = locate(at, local)?;
                let enabled = self.may_update(local, loc);
                if enabled {
                    let (new, yields) = updated(update, state.memory[loc.index()], local)?;
                    if let Some(new) = new {
                        next.memory[loc.index()] = self.check_location_range(loc, new)?;
                    }
                    if let Some(reg) = reg {
                        self.set(&mut next, t, *reg, yields)?;
                    }
                    next.recorder.update(t, loc, new.is_some());
                    if new.is_none() && self.fails_spin_iteration(&next, t, local.pc)? {
                        return Some(Vec::new());
                    }
                }
                enabled
            }
            Op::Fence(kinds) => self.fence(&mut next.threads[t], *kinds),
            Op::Drain(at) => {
                let loc = locate(at, local)?;
                local.pending.iter().all(|p| p.loc != loc)
            }
            Op::AtomicBegin => {
                if !local.pending.is_empty() {
                    return Some(Vec::new());
                }
                next.recorder.begin_atomic(t);
                return self.block(next, t);
            }
            Op::AtomicEnd => unreachable!("`block` runs a whole atomic block"),
            Op::Halt => false,
            Op::New { .. }
            | Op::Free { .. }
            | Op::Invoke { .. }
            | Op::Join
            | Op::SectionBegin { .. }
            | Op::SectionEnd { .. }
            | Op::GracePeriod { .. } => return None,
        };
        if let Some(max_back_jumps) = self.max_back_jumps {
            next.threads[t].back_jumps += usize::from(next.threads[t].pc <= local.pc);
            if next.threads[t].back_jumps > max_back_jumps {
                return Some(Vec::new());
            }
        }
        Some(if enabled { vec![next] } else { Vec::new() })
    }

    /// Runs an `atomic` block to its end in one step. Returns a state for each sequence of `choose`
    /// results.
    fn block(&self, first: State, t: usize) -> Option<Vec<State>> {
        let mut ends = Vec::new();
        let mut level = vec![first];
        for _ in 0..MAX_STATEMENTS {
            let mut after = Vec::new();
            for mut state in level {
                let stmt = self.code(t).stmt(state.threads[t].pc);
                if matches!(stmt.op, Op::AtomicEnd | Op::Halt) {
                    state.threads[t].pc = stmt.next;
                    state.recorder.end_atomic();
                    ends.push(state);
                } else {
                    after.extend(self.statement(&state, t)?);
                }
            }
            if after.is_empty() {
                return Some(ends);
            }
            level = after;
        }
        None
    }

    /// Returns whether a thread that has just read at `start` returns to `start` through branches
    /// only: a failed spin iteration.
    fn fails_spin_iteration(&self, state: &State, t: usize, start: Pc) -> Option<bool> {
        if state.recorder.is_in_atomic(t) || self.max_back_jumps.is_some() {
            return Some(false);
        }
        let mut local = state.threads[t].clone();
        for _ in 0..MAX_STATEMENTS {
            if local.pc == start {
                return Some(true);
            }
            let stmt = self.code(t).stmt(local.pc);
            local.pc = match &stmt.op {
                Op::Skip => stmt.next,
                Op::Branch { cond, then, otherwise } => {
                    if eval(cond, &local)? != 0 {
                        *then
                    } else {
                        *otherwise
                    }
                }
                Op::Assign { .. }
                | Op::Choose { .. }
                | Op::Load { .. }
                | Op::Store { .. }
                | Op::Update { .. }
                | Op::Fence(_)
                | Op::Drain(_)
                | Op::Assume(_)
                | Op::Assert(_)
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
                | Op::Halt => return Some(false),
            };
        }
        Some(false)
    }

    fn may_update(&self, local: &Local, loc: Loc) -> bool {
        match self.model {
            BufferModel::Sc => true,
            BufferModel::Tso => local.pending.is_empty(),
            BufferModel::Pso => local.pending.iter().all(|pending| {
                pending.loc != loc && !pending.before_barrier && pending.epoch >= local.epoch
            }),
        }
    }

    /// Passes a fence. Returns `false` if the fence is not enabled.
    fn fence(&self, local: &mut Local, kinds: FenceKinds) -> bool {
        if kinds == FenceKinds::FULL {
            return local.pending.is_empty();
        }
        if kinds.contains(FenceKinds::STORE_STORE) {
            local.epoch += 1;
        }
        if kinds.contains(FenceKinds::STORE_LOAD) {
            local.pending.iter_mut().for_each(|pending| pending.before_barrier = true);
        }
        true
    }

    fn op(&self, state: &State, t: usize) -> &Op {
        &self.code(t).stmt(state.threads[t].pc).op
    }

    /// Returns the code of a thread. The index after the last thread means `init`.
    fn code(&self, t: usize) -> &Thread {
        let init =
            || self.program.init.as_ref().expect("only `init` has an index after the threads");
        self.program.threads.get(t).unwrap_or_else(init)
    }

    fn set(&self, state: &mut State, t: usize, reg: Reg, value: Value) -> Option<()> {
        let value = self.check_range(&self.code(t).registers[reg.index()].ty, value)?;
        state.threads[t].registers[reg.index()] = value;
        Some(())
    }

    fn check_location_range(&self, loc: Loc, value: Value) -> Option<Value> {
        self.check_range(&self.program.location(loc).ty, value)
    }

    fn check_range(&self, ty: &Type, value: Value) -> Option<Value> {
        let limits = self.program.limits(ty);
        limits.is_none_or(|(lo, hi)| lo <= value && value <= hi).then_some(value)
    }
}

fn eval(expr: &Expr<Reg>, local: &Local) -> Option<Value> {
    expr.eval(&|reg: &Reg| local.registers[reg.index()]).ok()
}

fn locate(address: &Address, local: &Local) -> Option<Loc> {
    if address.cell.is_some() {
        return None;
    }
    if let Some(pointer) = &address.pointer {
        return pointer.locate(eval(&pointer.value, local)?).ok();
    }
    let Some((length, index)) = &address.index else { return Some(address.base) };
    let index = u32::try_from(eval(index, local)?).ok()?;
    (index < *length).then_some(Loc(address.base.0 + index))
}

/// Returns the value that an update writes, if it writes, and its result.
fn updated(update: &Update, old: Value, local: &Local) -> Option<(Option<Value>, Value)> {
    Some(match update {
        Update::Cas { expected, new, result } => {
            let (expected, new) = (eval(expected, local)?, eval(new, local)?);
            match (old == expected, result) {
                (true, CasResult::Success) => (Some(new), 1),
                (false, CasResult::Success) => (None, 0),
                (true, CasResult::Old) => (Some(new), old),
                (false, CasResult::Old) => (None, old),
            }
        }
        Update::Swap { new } => (Some(eval(new, local)?), old),
        Update::Add { by, wrap: None } => {
            (Some(BinOp::Add.apply(old, eval(by, local)?).ok()?), old)
        }
        Update::Add { by, wrap: Some(range) } => {
            let sum = i128::from(old) + i128::from(eval(by, local)?);
            (Some(crate::reference::congruent(sum, *range)), old)
        }
        Update::Bits { op, by } => (Some(op.apply(old, eval(by, local)?).ok()?), old),
    })
}
