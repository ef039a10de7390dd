//! The steps of a program under SC, TSO and PSO, with the trace that each of them extends.
//!
//! Source: the book's page "What a program means"; where a comment quotes, it quotes that page. The three models
//! are one list of pending stores for each thread, in the order of issue, and differ in who
//! may leave it: nobody is in it, the oldest, the oldest of its location and epoch.
//! Direction: exact, but a program that faults, fails an assertion, or has records or operations is not read on:
//! every function here returns `None` then.

use fencepost_ir::{
    Address, BinOp, Expr, FenceKinds, Loc, Op, Pc, Program, Reg, Thread, Type, Update, Value,
};

use super::Recorder;

/// How many statements an `atomic` block may run.
const LIMIT: usize = 1_000;

/// Which stores may wait, and which of them may go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Discipline {
    /// No buffers.
    Sc,
    /// One queue for each thread.
    Tso,
    /// One queue for each thread and location.
    Pso,
}

/// A store that was issued and has not taken effect.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Pending {
    loc: Loc,
    value: Value,
    /// How many `store_store` fences its thread had passed.
    epoch: usize,
    /// Whether its thread must not load before it has left.
    before_barrier: bool,
}

/// A thread's part of a state.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Local {
    pc: Pc,
    /// Its registers.
    pub registers: Vec<Value>,
    pending: Vec<Pending>,
    epoch: usize,
}

/// A state, and the trace that led to it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// By location.
    pub memory: Vec<Value>,
    /// By thread.
    pub threads: Vec<Local>,
    /// The trace so far.
    pub recorder: Recorder,
}

/// A program under a model.
pub struct Steps<'a> {
    /// The program.
    pub program: &'a Program,
    /// Which buffers it runs with.
    pub discipline: Discipline,
}

impl Steps<'_> {
    /// "The `init` block runs first, alone, directly on memory. Then all threads start at their first
    /// statement with all registers 0."
    pub fn initial(&self) -> Option<Vec<State>> {
        let start = |thread: &Thread| Local {
            pc: Pc(0),
            registers: vec![0; thread.registers.len()],
            pending: Vec::new(),
            epoch: 0,
        };
        let threads: Vec<Local> = self.program.threads.iter().map(start).collect();
        let memory: Vec<Value> = self.program.locations.iter().map(|l| l.init).collect();
        let mut memories = vec![memory.clone()];
        if let Some(init) = &self.program.init {
            // For as long as it runs, it is one more thread.
            let at = threads.len();
            let mut recorder = Recorder::new(memory.clone(), at + 1);
            recorder.begin(at);
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

    /// Whether every thread has halted.
    pub fn all_halted(&self, state: &State) -> bool {
        (0..state.threads.len()).all(|t| matches!(self.op(state, t), Op::Halt))
    }

    /// Whether the thread's next statement is one that nobody else notices, and that notices nobody else: taken
    /// as soon as it is enabled, it changes no other step.
    ///
    /// That is so for a store that only enters its queue, too, since it goes behind all others; and for fences and
    /// `drain`, since what they wait for stays true.
    pub fn is_invisible(&self, state: &State, t: usize) -> bool {
        match self.op(state, t) {
            Op::Store { .. } => self.discipline != Discipline::Sc,
            Op::Fence(_) | Op::Drain(_) | Op::Leave => true,
            Op::Choose { .. } => false,
            op => op.is_local(),
        }
    }

    /// Internal steps of a thread: "commit".
    pub fn commits(&self, state: &State, t: usize) -> Vec<State> {
        let pending = &state.threads[t].pending;
        let may_go = |at: usize| match self.discipline {
            Discipline::Sc => unreachable!("nothing is ever pending"),
            Discipline::Tso => at == 0,
            Discipline::Pso => {
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
        (0..pending.len()).filter(|at| may_go(*at)).map(commit).collect()
    }

    /// The steps that are a thread's next statement: none when it is not enabled.
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
                enabled && !self.goes_round(&next, t, local.pc)?
            }
            Op::Store { to, value } => {
                let loc = locate(to, local)?;
                let value = self.for_location(loc, eval(value, local)?)?;
                if self.discipline == Discipline::Sc || state.recorder.is_inside(t) {
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
                        next.memory[loc.index()] = self.for_location(loc, new)?;
                    }
                    if let Some(reg) = reg {
                        self.set(&mut next, t, *reg, yields)?;
                    }
                    next.recorder.update(t, loc, new.is_some());
                    if new.is_none() && self.goes_round(&next, t, local.pc)? {
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
                next.recorder.begin(t);
                return self.block(next, t);
            }
            Op::AtomicEnd => unreachable!("a block ends where it is run"),
            Op::Halt => false,
            Op::New { .. } | Op::Free { .. } | Op::Invoke { .. } => return None,
        };
        Some(if enabled { vec![next] } else { Vec::new() })
    }

    /// Runs a block to its end: "everything inside happens in one step. With `choose` inside, each choice is a
    /// step of its own."
    fn block(&self, first: State, t: usize) -> Option<Vec<State>> {
        let mut ends = Vec::new();
        let mut level = vec![first];
        for _ in 0..LIMIT {
            let mut after = Vec::new();
            for mut state in level {
                let stmt = self.code(t).stmt(state.threads[t].pc);
                if matches!(stmt.op, Op::AtomicEnd | Op::Halt) {
                    state.threads[t].pc = stmt.next;
                    state.recorder.end();
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

    /// Whether a thread that has just read at `start` comes back there by nothing but branches, without
    /// having written: a wait, and this was a round of it in vain.
    fn goes_round(&self, state: &State, t: usize, start: Pc) -> Option<bool> {
        if state.recorder.is_inside(t) {
            return Some(false);
        }
        let mut local = state.threads[t].clone();
        for _ in 0..LIMIT {
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
                | Op::Halt => return Some(false),
            };
        }
        Some(false)
    }

    fn may_update(&self, local: &Local, loc: Loc) -> bool {
        match self.discipline {
            Discipline::Sc => true,
            Discipline::Tso => local.pending.is_empty(),
            Discipline::Pso => local.pending.iter().all(|pending| {
                pending.loc != loc && !pending.before_barrier && pending.epoch >= local.epoch
            }),
        }
    }

    /// Passes a fence, if it is enabled.
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

    /// The code of a thread; after the last one comes `init`.
    fn code(&self, t: usize) -> &Thread {
        let init = || self.program.init.as_ref().expect("only `init` comes after the threads");
        self.program.threads.get(t).unwrap_or_else(init)
    }

    fn set(&self, state: &mut State, t: usize, reg: Reg, value: Value) -> Option<()> {
        let value = self.within(&self.code(t).registers[reg.index()].ty, value)?;
        state.threads[t].registers[reg.index()] = value;
        Some(())
    }

    fn for_location(&self, loc: Loc, value: Value) -> Option<Value> {
        self.within(&self.program.location(loc).ty, value)
    }

    fn within(&self, ty: &Type, value: Value) -> Option<Value> {
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
    let Some((length, index)) = &address.index else { return Some(address.base) };
    let index = u32::try_from(eval(index, local)?).ok()?;
    (index < *length).then_some(Loc(address.base.0 + index))
}

/// What an update writes, if it writes, and what it yields.
fn updated(update: &Update, old: Value, local: &Local) -> Option<(Option<Value>, Value)> {
    Some(match update {
        Update::Cas { expected, new } => {
            let (expected, new) = (eval(expected, local)?, eval(new, local)?);
            if old == expected { (Some(new), 1) } else { (None, 0) }
        }
        Update::Swap { new } => (Some(eval(new, local)?), old),
        Update::Add { by } => (Some(BinOp::Add.apply(old, eval(by, local)?).ok()?), old),
        Update::Bits { op, by } => (Some(op.apply(old, eval(by, local)?).ok()?), old),
    })
}
