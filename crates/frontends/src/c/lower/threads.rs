//! Threads: creation, the end, and waiting for the end.
//!
//! Every creation is one thread of the program. Creation and the end are atomic blocks, which drain
//! the store buffer, as the functions of operating systems do. A thread begins with a block that
//! waits until it is created. A creation in a loop that is not unrolled creates up to
//! [`MAX_IN_LOOP`] threads.
//!
//! If a thread may never be created, its creator says so at its own end. The thread then halts.
//!
//! A program ends when all threads have ended: the end of `main` does not end other threads. All
//! violations of a thread that runs on could also happen before the end of `main`.

use fencepost_ir::{BinOp, Expr, Op, Reg, Span};

use super::arithmetic::{Val, binary};
use super::aux::{self, Aux};
use super::layout::{INT, POINTER};
use super::memory::function_at;
use super::thread::{Lowerer, Prefix};
use crate::c::codes;
use crate::c::typed::{Expr as TypedExpr, FunctionId};

/// The number of threads that a creation in a loop can create.
const MAX_IN_LOOP: u32 = 4;

/// The largest number of threads of one function that create each other, if there are already
/// [`MANY`] threads.
const MAX_NESTED: usize = 2;
/// The number of threads from which on nested creation is bounded.
const MANY: u32 = 8;
/// The largest number of threads of one function that create each other.
const MAX_GENERATIONS: usize = 8;

/// A creation of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    /// The number of the created thread.
    pub(super) thread: u32,
    /// Whether the creator always executes the creation, if it ends.
    pub(super) is_certain: bool,
}

/// A thread to lower.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) function: FunctionId,
    /// The argument, if it is a constant.
    pub(super) argument: Option<i64>,
    /// Whether the thread is created in every run that ends.
    pub(super) is_certain: bool,
    /// The thread that creates it.
    pub(super) creator: u32,
}

impl<'p> Lowerer<'_, 'p> {
    /// Creates a thread. Returns its number.
    pub(super) fn create_thread(
        &mut self,
        function: &'p TypedExpr,
        argument: &'p TypedExpr,
        span: Span,
    ) -> Val {
        let pointer = self.value(function);
        let argument = self.value(argument);
        if !self.is_live() {
            return Expr::Const(0);
        }
        let known = pointer.as_const().and_then(|at| function_at(self.pass.program, at));
        let Some(id) = known.map(FunctionId) else {
            self.error(
                codes::THREAD_FUNCTION,
                span,
                "the function of this thread is not known".into(),
                "pass the name of a function",
            );
            return Expr::Const(0);
        };
        let nested = self.pass.generations(self.thread, id);
        let is_many = self.pass.threads_so_far() >= MANY;
        if nested >= MAX_GENERATIONS || (nested >= MAX_NESTED && is_many) {
            let name = self.pass.program.functions.get(id.0 as usize).map_or("", |f| &f.name);
            let text = format!("threads of `{name}` that create each other {nested} times");
            self.reach_bound(text, span);
            return Expr::Const(0);
        }
        if self.loops == 0 {
            let Some(thread) = self.new_thread(id, &argument, span) else {
                return Expr::Const(0);
            };
            self.start_thread(thread, &argument, span);
            return Expr::Const(i64::from(thread));
        }
        self.create_in_loop(id, &argument, span)
    }

    fn new_thread(&mut self, id: FunctionId, argument: &Val, span: Span) -> Option<u32> {
        let span = self.shown(span);
        self.pass.new_thread(id, argument.as_const(), self.thread, span)
    }

    /// Creates the next one of the threads of a creation in a loop.
    fn create_in_loop(&mut self, id: FunctionId, argument: &Val, span: Span) -> Val {
        let ty = fencepost_ir::Type::Int { range: Some((0, i64::from(MAX_IN_LOOP))) };
        let counter = self.code.temporary(ty);
        let number = self.temporary(POINTER);
        let done = self.code.target();
        let mut after = None;
        self.conditional += 1;
        for at in 0..MAX_IN_LOOP {
            let Some(thread) = self.new_thread(id, argument, span) else { break };
            let (yes, no) = (self.code.target(), self.code.target());
            let is_next = binary(BinOp::Eq, Expr::Var(counter), Expr::Const(i64::from(at)));
            let (here, other) = self.branch_value(is_next, yes, no, span);
            self.code.bind(yes);
            self.state = here;
            self.start_thread(thread, argument, span);
            let next = Op::Assign { reg: counter, expr: Expr::Const(i64::from(at) + 1) };
            self.emit_numbered(next, span, "count", at);
            self.assign(number, Expr::Const(i64::from(thread)), span, at);
            let state = self.state.clone();
            self.jump(done, span);
            after = self.merge(after, state, span);
            self.code.bind(no);
            self.state = other;
        }
        let text = format!("more than {MAX_IN_LOOP} threads are created here in a loop");
        self.reach_bound(text, span);
        self.conditional -= 1;
        self.code.bind(done);
        self.state = after;
        self.register_value(number)
    }

    fn start_thread(&mut self, thread: u32, argument: &Val, span: Span) {
        let is_certain = !self.is_conditional() && !self.may_end;
        self.sites.push(Site { thread, is_certain });
        self.pass.note_site(thread, is_certain && self.is_certain);
        let in_prefix = self.prefix != Prefix::None;
        if in_prefix && self.is_conditional() {
            self.pass.next.simple_prefix = true;
        }
        if !in_prefix {
            self.begin_atomic(span);
        }
        if argument.as_const().is_none() {
            self.store_auxiliary(Aux::Argument, thread, argument.clone(), span);
        }
        self.store_auxiliary(Aux::Started, thread, Expr::Const(1), span);
        if in_prefix {
            self.prefix = Prefix::Created;
        } else {
            self.end_atomic(span);
        }
    }

    fn store_auxiliary(&mut self, kind: Aux, thread: u32, value: Val, span: Span) {
        let to = aux::address(kind, Expr::Const(thread.into()), thread + 1);
        let number = kind as u32;
        self.emit_numbered(Op::Store { to, value }, span, "thread", number);
    }

    fn load_auxiliary(&mut self, reg: Reg, kind: Aux, thread: Val, span: Span) {
        let from = aux::address(kind, thread, self.pass.threads_so_far());
        self.emit_numbered(Op::Load { reg, from }, span, "thread load", kind as u32);
        self.know(reg, None);
    }

    /// Waits for a thread. Returns its result.
    pub(super) fn join_thread(&mut self, thread: &'p TypedExpr, span: Span) -> Val {
        let thread = self.value(thread);
        let thread = self.keep(thread, POINTER, span);
        let (done, result) = (self.temporary(INT), self.temporary(POINTER));
        self.begin_atomic(span);
        self.load_auxiliary(done, Aux::Done, thread.clone(), span);
        let has_ended = binary(BinOp::Eq, Expr::Var(done), Expr::Const(1));
        self.emit(Op::Assume(has_ended), span, "join");
        self.load_auxiliary(result, Aux::Result, thread, span);
        self.end_atomic(span);
        Expr::Var(result)
    }

    /// Ends the thread.
    pub(super) fn exit_thread(&mut self, value: Val, span: Span) {
        if !self.is_live() {
            return;
        }
        let result = self.result;
        self.assign(result, value, span, 0);
        if self.is_conditional() {
            self.may_end = true;
        }
        self.leave_blocks(span);
        let end = self.end;
        self.jump(end, span);
    }

    /// Emits the beginning of a thread: it waits until it is created. Returns its argument.
    pub(super) fn begin_thread(&mut self, start: &Start, span: Span) -> Val {
        let (started, argument) = (self.temporary(INT), self.temporary(POINTER));
        let me = Expr::Const(i64::from(self.thread));
        self.begin_atomic(span);
        self.load_auxiliary(started, Aux::Started, me.clone(), span);
        let is_created = binary(BinOp::Ne, Expr::Var(started), Expr::Const(0));
        self.emit(Op::Assume(is_created), span, "start");
        if start.argument.is_none() {
            self.load_auxiliary(argument, Aux::Argument, me, span);
        }
        self.end_atomic(span);
        if !start.is_certain {
            let (run, cancelled) = (self.code.target(), self.cancelled);
            let runs = binary(BinOp::Eq, Expr::Var(started), Expr::Const(1));
            self.emit_branch(runs, run, cancelled, span);
            self.code.bind(run);
        }
        start.argument.map_or(Expr::Var(argument), Expr::Const)
    }

    /// Emits the end of a thread.
    pub(super) fn end_thread(&mut self, start: &Start, close: Span) {
        let known = super::state::Known::default();
        self.code.bind(self.end);
        self.state = Some(known.clone());
        (self.conditional, self.may_end) = (0, false);
        (self.may_skip, self.may_return) = (false, false);
        let sites = std::mem::take(&mut self.sites);
        for site in sites.iter().filter(|site| !site.is_certain) {
            self.cancel(site.thread, close);
        }
        if self.thread != 0 {
            let result = Expr::Var(self.result);
            self.begin_atomic(close);
            self.end_all_lifetimes(close);
            self.store_auxiliary(Aux::Result, self.thread, result, close);
            self.store_auxiliary(Aux::Done, self.thread, Expr::Const(1), close);
            self.end_atomic(close);
        }
        self.emit_halt(close);
        self.code.bind(self.cancelled);
        if !start.is_certain {
            self.state = Some(known);
            sites.iter().for_each(|site| self.cancel(site.thread, close));
            self.emit_halt(close);
        }
    }

    fn emit_halt(&mut self, close: Span) {
        let label = self.label(close, "halt", 0);
        self.code.at(label, false);
        self.code.op(Op::Halt);
        self.state = None;
    }

    /// Says that a thread is never created, unless it was.
    fn cancel(&mut self, thread: u32, span: Span) {
        let started = self.temporary(INT);
        self.begin_atomic(span);
        self.load_auxiliary(started, Aux::Started, Expr::Const(thread.into()), span);
        let value = super::arithmetic::select(
            binary(BinOp::Eq, Expr::Var(started), Expr::Const(0)),
            Expr::Const(2),
            Expr::Var(started),
        );
        let to = aux::address(Aux::Started, Expr::Const(thread.into()), thread + 1);
        self.emit_numbered(Op::Store { to, value }, span, "cancel", thread);
        self.end_atomic(span);
    }
}
