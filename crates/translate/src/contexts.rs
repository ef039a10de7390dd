//! Store buffers simulated without buffers: every store says beforehand when it will be committed.
//!
//! Source: \[Zac\], after the construction that Atig, Bouajjani and Parlato gave for TSO. Direction: exact
//! within the bound: the shared states that the translation reaches under SC are those that the original
//! reaches under the model within the bound (`tests/translate` of the conformance crate compares them).
//! The listings of \[Zac\] are not a correct translation as printed; PAPERS.md says where this one differs.
//!
//! A *context* of a thread is a longest stretch of a run in which only this thread acts: its statements and
//! the commits of its own stores. k context switches of a thread are k + 1 contexts. All commits of a
//! context may as well happen at its beginning, since nobody else looks before it ends, and of the stores
//! to one location only the last matters. So no buffer is needed. For each thread and each location x
//! that it stores to there are
//!
//! - `last_T_x`: in which context its last store to x is committed, counted from the current one: 0 when
//!   nothing is pending, k + 1 when that store is not committed in this run any more;
//! - `mask_T_x`, `queue_T_x`: for each of the next k contexts whether a store to x is committed there, and
//!   the value that x has then;
//! - `view_T_x`: what the thread itself reads while something is pending;
//!
//! and for each thread
//!
//! - `r_SC_T`: how many contexts it has begun (with [`Bound::Switches`]);
//! - `latest_T`: the last context for which any store is scheduled. Stores do not go back behind it under
//!   TSO; under PSO they do not go back behind `last_T_x` and
//! - `r_Fence_T`: what `latest_T` was at the last store-store fence;
//! - `r_Load_T`: what it was at the last store-load fence, for which loads wait;
//! - `left_T`: how many contexts it may still begin, once a store is not committed any more (with
//!   [`Bound::Ages`]).
//!
//! Every statement between a thread and memory is one atomic block that runs only while its thread is `running`.
//! Local ones and leaving a critical section touch nothing that others see and are not asked: they could as well
//! happen in the thread's next context. Nor is the beginning of an operation, which sees how far others are: a
//! violation of `linearizable` may need one context more than was allowed. A helper for each thread begins its contexts: it makes the thread the running one, commits what is due and
//! counts everything down by one. Since stores are scheduled relative to the current context, runs without a
//! bound on contexts need nothing else.
//!
//! The rooms: this file is the translation of a thread; [`data`] the locations, [`helper`] the helpers.

mod data;
mod helper;

use crate::blocks::inside_blocks;
use crate::formula::{add, any, eq, guarded, le, not, num};
use crate::groups::{Group, Match, groups, identifier};
use crate::{Origin, Translation, Unsupported};
use data::{Data, Memory};
use fencepost_ir::assemble::{Assembler, Target};
use fencepost_ir::{
    Address, Expr, FenceKinds, LabelInfo, Loc, MemoryOp, Op, Pc, Problem, Program, Property, Reg,
    Span, Stmt, StoreBuffers, Thread, ThreadId, Type, Value,
};

/// What is bounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Every thread has at most so many context switches (and one context more).
    Switches(u32),
    /// There is no limit on context switches, but a store is pending for at most so many of its thread.
    Ages(u32),
}

impl Bound {
    /// The number.
    pub fn k(self) -> u32 {
        match self {
            Bound::Switches(k) | Bound::Ages(k) => k,
        }
    }
}

/// The largest bound: more is not simulated in practice, and data grow with it.
pub const LARGEST: u32 = 1_000;

/// How many threads the original may have.
const THREADS: usize = 32;

/// Who decides when a context begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Schedule {
    /// The helpers, which run beside the threads.
    Helpers,
    /// The one who runs the threads one after another.
    Sequence,
}

/// The program that simulates the runs of the original within the bound.
///
/// Deadlock freedom is left out: a thread that has no context left is not in a deadlock.
pub fn contexts(
    problem: &Problem,
    model: StoreBuffers,
    bound: Bound,
) -> Result<Translation, Unsupported> {
    translate(problem, model, bound, Schedule::Helpers)
}

/// The same for a program that runs its threads one after another: statements do not ask whose turn it is,
/// and what the helpers' code does is to be done wherever a context begins.
pub fn sequence(
    problem: &Problem,
    model: StoreBuffers,
    switches: u32,
) -> Result<Translation, Unsupported> {
    translate(problem, model, Bound::Switches(switches), Schedule::Sequence)
}

fn translate(
    problem: &Problem,
    model: StoreBuffers,
    bound: Bound,
    schedule: Schedule,
) -> Result<Translation, Unsupported> {
    check(problem, bound)?;
    let original = &problem.program;
    let mut program = original.clone();
    program.places.clear();
    let mut memory = Memory::new(original, bound);
    let running = match schedule {
        Schedule::Helpers => Some(memory.running(original.threads.len())),
        Schedule::Sequence => None,
    };
    let data: Vec<Data> =
        (original.thread_ids()).map(|t| memory.thread(original, model, t)).collect();
    let (locations, owners) = memory.finish();
    program.locations = locations;
    let mut origins = Vec::new();
    let mut threads = Vec::new();
    for (t, data) in original.thread_ids().zip(&data) {
        let simulation = Simulation { original, model, bound, running, thread: t, data };
        let (thread, origin) = simulation.run();
        threads.push(thread);
        origins.push(origin);
    }
    for (t, data) in original.thread_ids().zip(&data) {
        let name = format!("context_{}", identifier(&original.thread(t).name));
        program.labels.push(LabelInfo {
            span: Span::default(),
            text: format!("a new context of {}", original.thread(t).name),
            function: name.clone(),
        });
        let label = fencepost_ir::Label::from_index(program.labels.len() - 1);
        let simulation = Simulation { original, model, bound, running, thread: t, data };
        let code = simulation.helper(label);
        origins.push(vec![Origin::Context(t); code.1.len()]);
        threads.push(Thread { name, registers: code.0, code: code.1 });
    }
    program.threads = threads;
    let properties = problem.properties.iter().filter(|p| **p != Property::DeadlockFree);
    let problem = Problem {
        name: problem.name.clone(),
        program,
        properties: properties.cloned().collect(),
        sometimes: problem.sometimes.clone(),
        observed: problem.observed.clone(),
    };
    Ok(Translation { problem, origins, owners })
}

fn check(problem: &Problem, bound: Bound) -> Result<(), Unsupported> {
    let program = &problem.program;
    if bound.k() > LARGEST {
        return Err(Unsupported::ManySwitches(LARGEST));
    }
    if program.threads.len() > THREADS {
        return Err(Unsupported::ManyThreads(THREADS));
    }
    let frees = |stmt: &Stmt| matches!(stmt.op, Op::Free { .. });
    if program.threads.iter().any(|thread| thread.code.iter().any(frees)) {
        return Err(Unsupported::ContextsWithFree);
    }
    let data = program.threads.iter().map(|thread| {
        let locations: u32 = groups(program, thread).iter().map(Group::size).sum();
        u64::from(locations) * (2 + 2 * u64::from(bound.k())) + 6
    });
    if program.locations.len() as u64 + data.sum::<u64>() > 65_000 {
        return Err(Unsupported::ManyLocations("65,000"));
    }
    Ok(())
}

/// One thread's simulation in the making.
struct Simulation<'a> {
    original: &'a Program,
    model: StoreBuffers,
    bound: Bound,
    /// Whose turn it is, counted from 1; none when nobody asks.
    running: Option<Loc>,
    thread: ThreadId,
    data: &'a Data,
}

/// Registers of the simulation; they hold nothing between steps.
struct Scratch {
    /// For what is read to be tested.
    test: Reg,
    /// A value on its way.
    value: Reg,
    /// The context that a store is scheduled for.
    when: Reg,
}

impl Simulation<'_> {
    /// The number that stands for "not any more".
    fn never(&self) -> Expr<Reg> {
        num(self.bound.k() + 1)
    }

    /// The number of the thread in `running`.
    fn me(&self) -> Expr<Reg> {
        num(self.thread.index() as u32 + 1)
    }

    /// The thread, with what each of its statements stands for.
    fn run(&self) -> (Thread, Vec<Origin>) {
        let thread = self.original.thread(self.thread);
        let mut code = Assembler::new(thread.registers.clone());
        let scratch = Scratch {
            test: code.register("%test", Type::INT),
            value: code.register("%value", Type::INT),
            when: code.register("%when", Type::INT),
        };
        let targets: Vec<Target> = thread.code.iter().map(|_| code.target()).collect();
        let inside = inside_blocks(thread);
        let mut origins = Vec::new();
        for (at, stmt) in thread.code.iter().enumerate() {
            code.bind(targets[at]);
            code.at(stmt.label, stmt.critical);
            let before = code.len();
            let next = targets[stmt.next.index()];
            if inside[at] {
                self.verbatim(&mut code, stmt, &targets);
            } else {
                self.statement(&mut code, &scratch, stmt, next, &targets);
            }
            let first =
                if inside[at] { Origin::Nothing } else { Origin::Statement(Pc::from_index(at)) };
            origins.push(first);
            origins.resize(code.len(), Origin::Nothing);
            debug_assert!(code.len() > before, "every statement leaves something");
        }
        let (registers, code) = code.finish();
        (Thread { name: thread.name.clone(), registers, code }, origins)
    }

    /// A statement that does the same as in the original.
    fn verbatim(&self, code: &mut Assembler, stmt: &Stmt, targets: &[Target]) {
        match &stmt.op {
            Op::Branch { cond, then, otherwise } => {
                code.branch(cond.clone(), targets[then.index()], targets[otherwise.index()]);
            }
            op => code.op_then(op.clone(), targets[stmt.next.index()]),
        }
    }

    fn statement(
        &self,
        code: &mut Assembler,
        scratch: &Scratch,
        stmt: &Stmt,
        next: Target,
        targets: &[Target],
    ) {
        match &stmt.op {
            Op::Skip
            | Op::Assign { .. }
            | Op::Choose { .. }
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::Return { .. }
            | Op::Leave
            | Op::Invoke { .. }
            | Op::AtomicEnd => self.verbatim(code, stmt, targets),
            Op::AtomicBegin => {
                self.begin(code, scratch);
                self.wait(code, scratch, self.data.latest);
                code.op_then(Op::Skip, next);
            }
            Op::New { .. } | Op::Free { .. } => {
                self.begin(code, scratch);
                code.op(stmt.op.clone());
                code.op_then(Op::AtomicEnd, next);
            }
            Op::Halt => self.halt(code, scratch),
            Op::Load { .. }
            | Op::Store { .. }
            | Op::Update { .. }
            | Op::Fence(_)
            | Op::Drain(_) => {
                let op = stmt.op.memory().expect("these are");
                self.begin(code, scratch);
                self.memory(code, scratch, op, stmt);
                code.op_then(Op::AtomicEnd, next);
            }
        }
    }

    /// The thread is done when nothing is pending any more. One that others wait for in vain just stays; one
    /// that runs alone ends without being done.
    fn halt(&self, code: &mut Assembler, scratch: &Scratch) {
        code.op(Op::AtomicBegin);
        let end = code.target();
        match self.running {
            Some(_) => self.wait(code, scratch, self.data.latest),
            None => {
                if let Some(latest) = self.data.latest {
                    load(code, scratch.test, latest);
                    code.jump_if(Expr::Var(scratch.test), end);
                }
            }
        }
        store(code, self.data.done, num(1));
        code.bind(end);
        code.op(Op::AtomicEnd);
        code.op(Op::Halt);
    }

    /// Begins a step of the thread.
    fn begin(&self, code: &mut Assembler, scratch: &Scratch) {
        code.op(Op::AtomicBegin);
        if let Some(running) = self.running {
            load(code, scratch.test, running);
            code.op(Op::Assume(eq(Expr::Var(scratch.test), self.me())));
        }
    }

    /// Goes on only when this number is 0: nothing is scheduled for later.
    fn wait(&self, code: &mut Assembler, scratch: &Scratch, at: Option<Loc>) {
        if let Some(at) = at {
            load(code, scratch.test, at);
            code.op(Op::Assume(eq(Expr::Var(scratch.test), num(0))));
        }
    }

    fn memory(&self, code: &mut Assembler, scratch: &Scratch, op: MemoryOp<'_>, stmt: &Stmt) {
        match op {
            MemoryOp::Load { reg, from } => {
                code.op(Op::Load { reg: scratch.value, from: from.clone() });
                self.wait(code, scratch, self.data.load);
                for found in self.data.find(from) {
                    self.view(code, scratch, found);
                }
                code.op(Op::Assign { reg, expr: Expr::Var(scratch.value) });
            }
            MemoryOp::Store { to, value } => self.store(code, scratch, to, value),
            MemoryOp::Update { at, .. } => {
                self.probe(code, scratch, at);
                match self.model {
                    StoreBuffers::Tso => self.wait(code, scratch, self.data.latest),
                    StoreBuffers::Pso => {
                        self.wait_for(code, scratch, at);
                        self.wait(code, scratch, self.data.fence);
                        self.wait(code, scratch, self.data.load);
                    }
                }
                code.op(stmt.op.clone());
            }
            MemoryOp::Fence(FenceKinds::FULL) => self.wait(code, scratch, self.data.latest),
            MemoryOp::Fence(kinds) => {
                for (kind, at) in [
                    (FenceKinds::STORE_STORE, self.data.fence),
                    (FenceKinds::STORE_LOAD, self.data.load),
                ] {
                    if let (Some(at), Some(latest), true) =
                        (at, self.data.latest, kinds.contains(kind))
                    {
                        load(code, scratch.test, latest);
                        store(code, at, Expr::Var(scratch.test));
                    }
                }
            }
            MemoryOp::Drain(at) => {
                self.probe(code, scratch, at);
                self.wait_for(code, scratch, at);
            }
        }
    }

    /// Faults where the address does.
    fn probe(&self, code: &mut Assembler, scratch: &Scratch, at: &Address) {
        if at.as_fixed().is_none() {
            code.op(Op::Load { reg: scratch.value, from: at.clone() });
        }
    }

    /// Goes on only when no store to the address is pending.
    fn wait_for(&self, code: &mut Assembler, scratch: &Scratch, at: &Address) {
        for Match { group, when, offset } in self.data.find(at) {
            let last = self.data.shadows[group].last.at(guarded(&when, offset));
            code.op(Op::Load { reg: scratch.test, from: last });
            let elsewhere = when.map(not);
            let committed = eq(Expr::Var(scratch.test), num(0));
            code.op(Op::Assume(any(elsewhere.into_iter().chain([committed]))));
        }
    }

    /// What the thread itself has stored last, if that is pending.
    fn view(&self, code: &mut Assembler, scratch: &Scratch, found: Match) {
        let Match { group, when, offset } = found;
        let shadow = &self.data.shadows[group];
        let seen = code.target();
        if let Some(when) = when {
            code.jump_unless(when, seen);
        }
        code.op(Op::Load { reg: scratch.test, from: shadow.last.at(offset.clone()) });
        code.jump_unless(Expr::Var(scratch.test), seen);
        code.op(Op::Load { reg: scratch.value, from: shadow.view.at(offset) });
        code.bind(seen);
    }

    /// A store: guesses a context that is not too early, and is scheduled for it.
    fn store(&self, code: &mut Assembler, scratch: &Scratch, to: &Address, value: &Expr<Reg>) {
        let found = self.data.find(to).pop().expect("a thread's stores have their data");
        let (shadow, index) = (&self.data.shadows[found.group], found.offset);
        let Scratch { test, value: kept, when } = *scratch;
        let (never, k) = (self.never(), self.bound.k());
        self.probe(code, scratch, to);
        code.op(Op::Assign { reg: kept, expr: value.clone() });
        code.op(Op::Choose { reg: when, lo: 0, hi: k as Value + 1 });
        let not_before = |code: &mut Assembler, from: Address| {
            code.op(Op::Load { reg: test, from });
            code.op(Op::Assume(le(Expr::Var(test), Expr::Var(when))));
        };
        let latest = self.data.latest.expect("a thread that stores has it");
        match self.model {
            StoreBuffers::Tso => not_before(code, Address::fixed(latest)),
            StoreBuffers::Pso => {
                not_before(code, shadow.last.at(index.clone()));
                if let Some(fence) = self.data.fence {
                    not_before(code, Address::fixed(fence));
                }
            }
        }
        if let Some(begun) = self.data.begun {
            // A context that is too late to be one is the same as never.
            load(code, test, begun);
            let soon = le(add(Expr::Var(when), Expr::Var(test)), never.clone());
            code.op(Op::Assume(any([soon, eq(Expr::Var(when), never.clone())])));
        }
        let (later, scheduled) = (code.target(), code.target());
        code.jump_if(Expr::Var(when), later);
        code.op_then(Op::Store { to: to.clone(), value: Expr::Var(kept) }, scheduled);
        code.bind(later);
        code.op(Op::Store { to: shadow.view.at(index.clone()), value: Expr::Var(kept) });
        code.op(Op::Store { to: shadow.last.at(index.clone()), value: Expr::Var(when) });
        if k > 0 {
            code.jump_if(eq(Expr::Var(when), never.clone()), scheduled);
            let slot = shadow.slot(Expr::Var(when), index);
            code.op(Op::Store { to: shadow.mask.at(slot.clone()), value: num(1) });
            code.op(Op::Store { to: shadow.queue.at(slot), value: Expr::Var(kept) });
        }
        code.bind(scheduled);
        let done = code.target();
        load(code, test, latest);
        code.jump_if(le(Expr::Var(when), Expr::Var(test)), done);
        store(code, latest, Expr::Var(when));
        if let Some(left) = self.data.left {
            code.jump_unless(eq(Expr::Var(when), never), done);
            store(code, left, num(k));
        }
        code.bind(done);
    }
}

fn load(code: &mut Assembler, reg: Reg, at: Loc) {
    code.op(Op::Load { reg, from: Address::fixed(at) });
}

fn store(code: &mut Assembler, at: Loc, value: Expr<Reg>) {
    code.op(Op::Store { to: Address::fixed(at), value });
}
