//! Simulates TSO and PSO without buffers: every store guesses, when it is issued, when it is
//! committed.
//!
//! Source: \[Zac\], after the construction for TSO by Atig, Bouajjani and Parlato. Direction: exact
//! within the bound. The shared states that the translation reaches under SC are those that the
//! original reaches under the model within the bound (`tests/translate` of the conformance crate
//! compares them). DIVERGENCE: the listings of \[Zac\] are not a correct translation as printed;
//! PAPERS.md lists the differences.
//!
//! A *context* of a thread is a maximal part of a run in which only this thread acts: it executes
//! statements and commits its own stores. k context switches of a thread give k + 1 contexts. All
//! commits of a context can be moved to its beginning, because no other thread reads memory before
//! the context ends. Of several stores to one location only the last one matters. So no buffer is
//! needed. For each thread T and each location x that it stores to, there are:
//!
//! - `last_T_x`: the context in which the last store to x is committed, relative to the current
//!   context. 0 if no store is pending, k + 1 if the store is never committed in this run.
//! - `mask_T_x`, `queue_T_x`: for each of the next k contexts, whether a store to x is committed
//!   there, and the value that x then has.
//! - `view_T_x`: the value that the thread itself reads while a store is pending.
//!
//! For each thread T there are:
//!
//! - `r_SC_T`: the number of contexts begun (with [`Bound::Switches`]).
//! - `latest_T`: the last context for which any store is scheduled. Under TSO, a new store is not
//!   scheduled before it. Under PSO, a new store is not scheduled before `last_T_x` and
//!   `r_Fence_T`.
//! - `r_Fence_T`: the value of `latest_T` at the last store-store fence.
//! - `r_Load_T`: the value of `latest_T` at the last store-load fence. Loads wait for it.
//! - `left_T`: the number of contexts that may still begin once a store is never committed (with
//!   [`Bound::Ages`]).
//!
//! Every statement that accesses memory is one atomic block that is enabled only while its thread
//! is `running`. Local statements and leaving a critical section are not observable by other
//! threads. They do not check `running`, because they could equally happen in the next context of
//! the thread. The beginning of an operation does not check `running` either, although it reads the
//! progress of other threads. Neither does leaving the label of a control point, which an invariant
//! observes. So a violation of `linearizable` or of such an invariant may need more contexts than the
//! bound.
//!
//! One helper per thread begins its contexts. It makes the thread the running one, commits the
//! stores that are due, and decrements all counters. Stores are scheduled relative to the current
//! context, so runs without a bound on contexts need nothing else.
//!
//! This file translates the threads. [`data`] lays out the locations and [`helper`] builds the
//! helpers.

mod data;
mod helper;

use crate::atomic_blocks::in_atomic_block;
use crate::formula::{add, any, eq, le, not, num, offset_or_zero};
use crate::groups::{Match, StoreGroup, identifier, store_groups};
use crate::{Origin, Translation, Unsupported};
use data::{LocationLayout, ThreadData};
use fencepost_ir::assemble::{Assembler, Target};
use fencepost_ir::{
    Address, Expr, FenceKinds, LabelInfo, Loc, MemoryOp, Op, Pc, Problem, Program, Property, Reg,
    Span, Stmt, StoreBuffers, Thread, ThreadId, Type, Value,
};

/// The bound of the simulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// The largest number of context switches of each thread. A thread has one context more.
    Switches(u32),
    /// The largest number of context switches of its thread during which a store may stay pending.
    /// The total number of context switches is unbounded.
    Ages(u32),
}

impl Bound {
    /// Returns the number k of the bound.
    pub fn k(self) -> u32 {
        match self {
            Bound::Switches(k) | Bound::Ages(k) => k,
        }
    }
}

/// The largest supported bound. Larger bounds are not simulated in practice, and the number of
/// locations grows with the bound.
pub const MAX_BOUND: u32 = 1_000;

/// The largest number of threads of the original.
const MAX_THREADS: usize = 32;

/// How the threads of the translation are scheduled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Schedule {
    /// Threads run concurrently. Helpers run beside them and begin contexts.
    Concurrent,
    /// Threads run one after another. The exporter begins contexts.
    Sequential,
}

/// Returns the program that simulates the runs of the original within the bound.
///
/// The simulation may hang: a thread without remaining contexts waits forever.
pub fn contexts(
    problem: &Problem,
    model: StoreBuffers,
    bound: Bound,
) -> Result<Translation, Unsupported> {
    translate(problem, model, bound, Schedule::Concurrent)
}

/// Returns the simulation for a program that runs its threads one after another.
///
/// Statements do not check which thread is running. The exporter executes the code of a helper
/// wherever a context begins.
pub fn sequentialize(
    problem: &Problem,
    model: StoreBuffers,
    switches: u32,
) -> Result<Translation, Unsupported> {
    translate(problem, model, Bound::Switches(switches), Schedule::Sequential)
}

fn translate(
    problem: &Problem,
    model: StoreBuffers,
    bound: Bound,
    schedule: Schedule,
) -> Result<Translation, Unsupported> {
    check_supported(problem, bound)?;
    let original = &problem.program;
    let mut program = original.clone();
    program.places.clear();
    let mut layout = LocationLayout::new(original, bound);
    let running = match schedule {
        Schedule::Concurrent => Some(layout.add_running(original.threads.len())),
        Schedule::Sequential => None,
    };
    let data: Vec<ThreadData> =
        (original.thread_ids()).map(|t| layout.add_thread(original, model, t)).collect();
    let (locations, owners) = layout.finish();
    program.locations = locations;
    let mut origins = Vec::new();
    let mut threads = Vec::new();
    for (t, data) in original.thread_ids().zip(&data) {
        let simulation = Simulation { original, model, bound, running, thread: t, data };
        let (thread, origin) = simulation.translate_thread();
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
        let code = simulation.helper_code(label);
        origins.push(vec![Origin::Context(t); code.1.len()]);
        threads.push(Thread { name, registers: code.0, code: code.1 });
    }
    program.threads = threads;
    let is_kept = |p: &&Property| !matches!(p, Property::DeadlockFree | Property::Progress);
    let properties = problem.properties.iter().filter(is_kept);
    let problem = Problem {
        name: problem.name.clone(),
        program,
        properties: properties.cloned().collect(),
        sometimes: problem.sometimes.clone(),
        may_hang: true,
        observed: problem.observed.clone(),
    };
    Ok(Translation { problem, origins, owners })
}

fn check_supported(problem: &Problem, bound: Bound) -> Result<(), Unsupported> {
    let program = &problem.program;
    if bound.k() > MAX_BOUND {
        return Err(Unsupported::LargeBound(MAX_BOUND));
    }
    if program.threads.len() > MAX_THREADS {
        return Err(Unsupported::TooManyThreads(MAX_THREADS));
    }
    Unsupported::check(program)?;
    Unsupported::check_control_points(problem)?;
    let frees = |stmt: &Stmt| matches!(stmt.op, Op::Free { .. });
    if program.threads.iter().any(|thread| thread.code.iter().any(frees)) {
        return Err(Unsupported::ContextsWithFree);
    }
    let data = program.threads.iter().map(|thread| {
        let locations: u32 = store_groups(program, thread).iter().map(StoreGroup::size).sum();
        u64::from(locations) * (2 + 2 * u64::from(bound.k())) + 6
    });
    if program.locations.len() as u64 + data.sum::<u64>() > 65_000 {
        return Err(Unsupported::TooManyLocations("65,000"));
    }
    Ok(())
}

/// The simulation of one thread.
struct Simulation<'a> {
    original: &'a Program,
    model: StoreBuffers,
    bound: Bound,
    /// The location with the number of the running thread, from 1; `None` if threads run one after
    /// another.
    running: Option<Loc>,
    thread: ThreadId,
    data: &'a ThreadData,
}

/// Scratch registers of the simulation. Their values are not used across steps.
struct Scratch {
    /// Holds a value that is tested.
    test: Reg,
    /// Holds a value that is loaded or stored.
    value: Reg,
    /// Holds the context for which a store is scheduled.
    when: Reg,
}

impl Simulation<'_> {
    /// Returns the number for a commit that never happens.
    fn never(&self) -> Expr<Reg> {
        num(self.bound.k() + 1)
    }

    /// Returns the number of this thread in `running`.
    fn thread_number(&self) -> Expr<Reg> {
        num(self.thread.index() as u32 + 1)
    }

    /// Translates the thread, with the origin of each statement.
    fn translate_thread(&self) -> (Thread, Vec<Origin>) {
        let thread = self.original.thread(self.thread);
        let mut code = Assembler::new(thread.registers.clone());
        let scratch = Scratch {
            test: code.register("%test", Type::INT),
            value: code.register("%value", Type::INT),
            when: code.register("%when", Type::INT),
        };
        let targets: Vec<Target> = thread.code.iter().map(|_| code.target()).collect();
        let inside = in_atomic_block(thread);
        let mut origins = Vec::new();
        for (at, stmt) in thread.code.iter().enumerate() {
            code.bind(targets[at]);
            code.at(stmt.label, stmt.critical);
            let before = code.len();
            let next = targets[stmt.next.index()];
            if inside[at] {
                self.copy_statement(&mut code, stmt, &targets);
            } else {
                self.translate_statement(&mut code, &scratch, stmt, next, &targets);
            }
            let first =
                if inside[at] { Origin::Nothing } else { Origin::Statement(Pc::from_index(at)) };
            origins.push(first);
            origins.resize(code.len(), Origin::Nothing);
            debug_assert!(
                code.len() > before,
                "every statement is translated to at least one statement"
            );
        }
        let (registers, code) = code.finish();
        (Thread { name: thread.name.clone(), registers, code }, origins)
    }

    /// Copies a statement unchanged.
    fn copy_statement(&self, code: &mut Assembler, stmt: &Stmt, targets: &[Target]) {
        match &stmt.op {
            Op::Branch { cond, then, otherwise } => {
                code.branch(cond.clone(), targets[then.index()], targets[otherwise.index()]);
            }
            op => code.op_then(op.clone(), targets[stmt.next.index()]),
        }
    }

    fn translate_statement(
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
            | Op::AtomicEnd => self.copy_statement(code, stmt, targets),
            Op::AtomicBegin => {
                self.begin_step(code, scratch);
                self.wait_until_zero(code, scratch, self.data.latest);
                code.op_then(Op::Skip, next);
            }
            Op::New { .. } | Op::Free { .. } => {
                self.begin_step(code, scratch);
                code.op(stmt.op.clone());
                code.op_then(Op::AtomicEnd, next);
            }
            Op::Join | Op::SectionBegin { .. } | Op::SectionEnd { .. } | Op::GracePeriod { .. } => {
                unreachable!("`Unsupported::check` rejects these programs")
            }
            Op::Halt => self.translate_halt(code, scratch),
            Op::Load { .. }
            | Op::Store { .. }
            | Op::Update { .. }
            | Op::Fence(_)
            | Op::Drain(_) => {
                let op = stmt.op.memory().expect("these operations access memory");
                self.begin_step(code, scratch);
                self.translate_memory_op(code, scratch, op, stmt);
                code.op_then(Op::AtomicEnd, next);
            }
        }
    }

    /// Halts the thread and marks it as done if no store is pending.
    ///
    /// With helpers, a thread with a store that is never committed blocks here. In a sequential
    /// run, the thread ends without being marked.
    fn translate_halt(&self, code: &mut Assembler, scratch: &Scratch) {
        code.op(Op::AtomicBegin);
        let end = code.target();
        match self.running {
            Some(_) => self.wait_until_zero(code, scratch, self.data.latest),
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

    /// Begins the block of a step, which is enabled only if the thread is running.
    fn begin_step(&self, code: &mut Assembler, scratch: &Scratch) {
        code.op(Op::AtomicBegin);
        if let Some(running) = self.running {
            load(code, scratch.test, running);
            code.op(Op::Assume(eq(Expr::Var(scratch.test), self.thread_number())));
        }
    }

    /// Blocks until this counter is 0: no store is scheduled for a later context.
    fn wait_until_zero(&self, code: &mut Assembler, scratch: &Scratch, at: Option<Loc>) {
        if let Some(at) = at {
            load(code, scratch.test, at);
            code.op(Op::Assume(eq(Expr::Var(scratch.test), num(0))));
        }
    }

    fn translate_memory_op(
        &self,
        code: &mut Assembler,
        scratch: &Scratch,
        op: MemoryOp<'_>,
        stmt: &Stmt,
    ) {
        match op {
            MemoryOp::Load { reg, from } => {
                code.op(Op::Load { reg: scratch.value, from: from.clone() });
                self.wait_until_zero(code, scratch, self.data.store_load_barrier);
                for found in self.data.matching_groups(from) {
                    self.forward(code, scratch, found);
                }
                code.op(Op::Assign { reg, expr: Expr::Var(scratch.value) });
            }
            MemoryOp::Store { to, value } => self.schedule_store(code, scratch, to, value),
            MemoryOp::Update { at, .. } => {
                self.check_address(code, scratch, at);
                match self.model {
                    StoreBuffers::Tso => self.wait_until_zero(code, scratch, self.data.latest),
                    StoreBuffers::Pso => {
                        self.wait_until_committed(code, scratch, at);
                        self.wait_until_zero(code, scratch, self.data.store_store_barrier);
                        self.wait_until_zero(code, scratch, self.data.store_load_barrier);
                    }
                }
                code.op(stmt.op.clone());
            }
            MemoryOp::Fence(FenceKinds::FULL) => {
                self.wait_until_zero(code, scratch, self.data.latest)
            }
            MemoryOp::Fence(kinds) => {
                for (kind, at) in [
                    (FenceKinds::STORE_STORE, self.data.store_store_barrier),
                    (FenceKinds::STORE_LOAD, self.data.store_load_barrier),
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
                self.check_address(code, scratch, at);
                self.wait_until_committed(code, scratch, at);
            }
        }
    }

    /// Emits a load that faults if the address does.
    fn check_address(&self, code: &mut Assembler, scratch: &Scratch, at: &Address) {
        if at.as_fixed().is_none() {
            code.op(Op::Load { reg: scratch.value, from: at.clone() });
        }
    }

    /// Blocks until no store to the address is pending.
    fn wait_until_committed(&self, code: &mut Assembler, scratch: &Scratch, at: &Address) {
        for Match { group, when, offset } in self.data.matching_groups(at) {
            let last = self.data.shadows[group].last.at(offset_or_zero(&when, offset));
            code.op(Op::Load { reg: scratch.test, from: last });
            let elsewhere = when.map(not);
            let committed = eq(Expr::Var(scratch.test), num(0));
            code.op(Op::Assume(any(elsewhere.into_iter().chain([committed]))));
        }
    }

    /// Forwards the last pending store of the thread, if there is one.
    fn forward(&self, code: &mut Assembler, scratch: &Scratch, found: Match) {
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

    /// Translates a store: guesses a context that is not too early, and schedules the store for it.
    fn schedule_store(
        &self,
        code: &mut Assembler,
        scratch: &Scratch,
        to: &Address,
        value: &Expr<Reg>,
    ) {
        let found = self.data.matching_groups(to).pop().expect("every store has a group");
        let (shadow, index) = (&self.data.shadows[found.group], found.offset);
        let Scratch { test, value: kept, when } = *scratch;
        let (never, k) = (self.never(), self.bound.k());
        self.check_address(code, scratch, to);
        code.op(Op::Assign { reg: kept, expr: value.clone() });
        code.op(Op::Choose { reg: when, lo: 0, hi: k as Value + 1 });
        let not_before = |code: &mut Assembler, from: Address| {
            code.op(Op::Load { reg: test, from });
            code.op(Op::Assume(le(Expr::Var(test), Expr::Var(when))));
        };
        let latest = self.data.latest.expect("a thread with stores has `latest`");
        match self.model {
            StoreBuffers::Tso => not_before(code, Address::fixed(latest)),
            StoreBuffers::Pso => {
                not_before(code, shadow.last.at(index.clone()));
                if let Some(fence) = self.data.store_store_barrier {
                    not_before(code, Address::fixed(fence));
                }
            }
        }
        if let Some(begun) = self.data.contexts_begun {
            // A context beyond the bound is represented by `never` only.
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
        if let Some(left) = self.data.contexts_left {
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
