//! Lowers one thread: registers, temporaries, frames.

use std::collections::BTreeMap;

use fencepost_ir::assemble::{Assembler, Target};
use fencepost_ir::{Address, Expr, Label, Loc, Op, Reg, Span, Thread, Value};

use super::Context;
use super::client::{ClientThread, OperationRegisters, OperationUse};
use super::control_point::control_points;
use super::labels::Kind;
use crate::fp::codes;
use crate::fp::limits;
use crate::fp::tree::{Body, Template};
use crate::fp::types::{LocalId, ProcId, VarTy, to_ir};

/// The storage of a local of the current body.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// A register of its own.
    Reg(Reg),
    /// A constant or a register of the caller.
    Alias(Expr<Reg>),
}

/// A loop or `switch` that encloses the current statement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loop {
    pub(super) exit: Target,
    /// The target of `continue`: the innermost loop. Unused in a `switch` outside of all loops.
    pub(super) again: Target,
    /// Whether the whole loop or `switch` is inside a `critical` block.
    pub(super) critical: bool,
    /// Whether the whole innermost loop is inside a `critical` block.
    pub(super) continue_critical: bool,
    /// Whether this is a `switch`.
    pub(super) switch: bool,
}

/// The current body.
pub(super) struct Frame<'a> {
    /// The name of the procedure or template.
    pub(super) function: &'a str,
    pub(super) slots: Vec<Slot>,
    pub(super) labels: Vec<Target>,
    /// The labels that invariants mention, each with its position.
    pub(super) control_points: BTreeMap<usize, Span>,
    pub(super) loops: Vec<Loop>,
    /// The target of `return`.
    pub(super) end: Target,
    /// The register of the returned value.
    pub(super) result: Option<Reg>,
    /// Whether the whole body is inside a `critical` block.
    pub(super) critical: bool,
    /// The `await` whose condition is being lowered.
    pub(super) awaiting: Option<Span>,
}

/// A temporary register.
struct Temporary {
    reg: Reg,
    ty: VarTy,
    busy: bool,
}

/// Lowers one thread.
pub(super) struct Lowerer<'c, 'a> {
    pub(super) context: &'c mut Context<'a>,
    pub(super) code: Assembler,
    temporaries: Vec<Temporary>,
    /// The temporaries in use, the newest last.
    in_use: Vec<usize>,
    /// The registers of the locals of each procedure. One set is enough, because calls are not
    /// recursive.
    pub(super) procedures: BTreeMap<(ProcId, LocalId), Reg>,
    /// The value of the parameter of the template.
    pub(super) param: Option<Value>,
    /// Whether the code runs isolated: without other threads, directly on memory, in one step. This
    /// holds for `init` and `finally`, and for operations that properties compare with.
    pub(super) isolated: bool,
    /// Whether to mark places for fences.
    pub(super) mark_places: bool,
    pub(super) critical: bool,
    pub(super) atomic: bool,
    pub(super) frame: Frame<'a>,
    depth: u32,
    fuel: u64,
    /// Whether a limit is exceeded. The result is then unused.
    pub(super) failed: bool,
}

impl<'c, 'a> Lowerer<'c, 'a> {
    pub(super) fn new(context: &'c mut Context<'a>, function: &'a str) -> Self {
        let mut code = Assembler::new(Vec::new());
        let end = code.target();
        let failed = context.built > limits::TOTAL;
        let mark_places = context.places.is_some();
        Lowerer {
            context,
            code,
            temporaries: Vec::new(),
            in_use: Vec::new(),
            procedures: BTreeMap::new(),
            param: None,
            isolated: false,
            mark_places,
            critical: false,
            atomic: false,
            frame: Frame {
                function,
                slots: Vec::new(),
                labels: Vec::new(),
                loops: Vec::new(),
                end,
                result: None,
                critical: false,
                awaiting: None,
                control_points: BTreeMap::new(),
            },
            depth: 0,
            fuel: limits::FUEL,
            failed,
        }
    }

    /// Lowers the following code for isolated execution.
    pub(super) fn set_isolated(&mut self) {
        self.isolated = true;
        self.mark_places = false;
    }

    /// Lowers an instance of a thread template.
    pub(super) fn template(
        context: &'c mut Context<'a>,
        template: &'a Template,
        param: Option<Value>,
    ) -> Thread {
        let mut lowerer = Self::new(context, &template.name);
        lowerer.param = param;
        lowerer.frame.control_points = control_points(lowerer.context.unit, template);
        lowerer.body(&template.body);
        let name = match param {
            Some(value) => format!("{}({value})", template.name),
            None => template.name.clone(),
        };
        lowerer.finish(name, template.body.close)
    }

    /// Lowers the `init` block, followed by the initial operations of a client. `results` has the
    /// locations for the results of the first operations, where they are stored.
    pub(super) fn init(
        context: &'c mut Context<'a>,
        first: Option<&[OperationUse]>,
        results: &[Option<Loc>],
    ) -> Thread {
        let mut lowerer = Self::new(context, "init");
        lowerer.set_isolated();
        let mut close = Span::default();
        if let Some(body) = &lowerer.context.unit.init {
            lowerer.body(body);
            close = body.close;
        }
        if let Some(first) = first {
            // A `return` in the block continues here.
            let end = lowerer.frame.end;
            lowerer.code.bind(end);
            lowerer.frame.end = lowerer.code.target();
            let kept = lowerer.result_registers(if results.is_empty() { &[] } else { first });
            for (at, used) in first.iter().enumerate() {
                let result = kept.get(at).and_then(OperationRegisters::result);
                lowerer.operation(used, result);
                if let (Some(result), Some(loc)) = (result, results.get(at).copied().flatten()) {
                    let op = Op::Store { to: Address::fixed(loc), value: Expr::Var(result) };
                    lowerer.emit(op, used.span, Kind::Return);
                }
            }
            close = first.last().map_or(close, |u| u.span);
        }
        lowerer.finish("init".into(), close)
    }

    /// Lowers the thread that runs last: the operations of a client after the threads, then the
    /// `finally` block.
    pub(super) fn last_thread(context: &'c mut Context<'a>, uses: &[OperationUse]) -> ClientThread {
        let mut lowerer = Self::new(context, "finally");
        lowerer.set_isolated();
        let block = lowerer.context.unit.finally.as_ref();
        let start = match (uses.first(), block) {
            (Some(used), _) => used.span,
            (None, Some((_, word))) => *word,
            (None, None) => Span::default(),
        };
        let kept = lowerer.result_registers(uses);
        lowerer.emit(Op::Join, start, Kind::Join);
        lowerer.emit(Op::AtomicBegin, start, Kind::AtomicBegin);
        for (used, kept) in uses.iter().zip(&kept) {
            lowerer.operation(used, kept.result());
        }
        let mut close = uses.last().map_or(start, |used| used.span);
        if let Some((body, _)) = block {
            lowerer.body(body);
            close = body.close;
        }
        // A `return` in the block continues here.
        let end = lowerer.frame.end;
        lowerer.code.bind(end);
        lowerer.frame.end = lowerer.code.target();
        lowerer.emit(Op::AtomicEnd, close, Kind::AtomicEnd);
        ClientThread { thread: lowerer.finish("finally".into(), close), kept }
    }

    /// Lowers the body of a thread, of `init` or of `finally`. The locals are the first registers.
    fn body(&mut self, body: &'a Body) {
        for local in &body.locals {
            let reg = self.register(local.name.clone(), local.ty, local.span);
            self.frame.slots.push(Slot::Reg(reg));
        }
        self.frame.labels = (0..body.labels.len()).map(|_| self.code.target()).collect();
        self.stmts(&body.code);
    }

    pub(super) fn finish(mut self, name: String, close: Span) -> Thread {
        let end = self.frame.end;
        self.code.bind(end);
        self.emit(Op::Halt, close, Kind::Halt);
        let size = self.code.len() + self.code.registers().len();
        self.failed |= !self.context.spend(size as u64, close);
        if self.failed {
            let registers = self.code.registers().to_vec();
            return Thread { name, registers, code: Vec::new() };
        }
        // Every target is bound: each belongs to a statement that was lowered.
        let (registers, code) = self.code.finish_compact();
        Thread { name, registers, code }
    }

    /// Adds a register.
    pub(super) fn register(&mut self, name: String, ty: VarTy, span: Span) -> Reg {
        if self.code.registers().len() >= limits::REGISTERS {
            self.fail(span, format!("more than {} registers in a thread", limits::REGISTERS));
            return Reg(0);
        }
        self.code.register(&name, to_ir(ty, &self.context.unit.enums))
    }

    /// Returns whether a register has exactly this type.
    pub(super) fn has_type(&self, reg: Reg, ty: VarTy) -> bool {
        self.code.registers()[reg.index()].ty == to_ir(ty, &self.context.unit.enums)
    }

    /// Returns a temporary that is in use until the end of the statement.
    pub(super) fn temporary(&mut self, ty: VarTy, span: Span) -> Reg {
        let free = self.temporaries.iter().position(|t| !t.busy && t.ty == ty);
        let at = free.unwrap_or_else(|| {
            let reg = self.register(format!("%{}", self.temporaries.len()), ty, span);
            self.temporaries.push(Temporary { reg, ty, busy: false });
            self.temporaries.len() - 1
        });
        self.temporaries[at].busy = true;
        self.in_use.push(at);
        self.temporaries[at].reg
    }

    /// Runs `work` and releases the temporaries that it allocated.
    pub(super) fn scoped<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.in_use.len();
        let result = work(self);
        for at in self.in_use.drain(mark..) {
            self.temporaries[at].busy = false;
        }
        result
    }

    /// Adds an operation.
    pub(super) fn emit(&mut self, op: Op, span: Span, kind: Kind) {
        if self.check_size(span) {
            let label = self.label(span, kind);
            self.code.at(label, self.critical);
            self.code.op(op);
        }
    }

    /// Returns the label of an operation. In the condition of an `await`, the text of loads and
    /// branches is the whole statement. An update keeps its own text, which has its name.
    pub(super) fn label(&mut self, span: Span, kind: Kind) -> Label {
        let waits = matches!(kind, Kind::Load | Kind::Branch);
        let text = self.frame.awaiting.filter(|_| waits).unwrap_or(span);
        self.context.labels.get_with_text(span, kind, self.frame.function, text)
    }

    pub(super) fn emit_reset(&mut self, reg: Reg, span: Span) {
        if self.check_size(span) {
            let label = self.context.labels.get(span, Kind::Reset, self.frame.function);
            self.code.at(label, self.critical);
            self.code.reset(reg);
        }
    }

    pub(super) fn emit_branch(
        &mut self,
        cond: Expr<Reg>,
        then: Target,
        otherwise: Target,
        span: Span,
    ) {
        self.emit_branch_of(cond, then, otherwise, span, Kind::Branch);
    }

    /// Emits a branch whose label has this kind.
    pub(super) fn emit_branch_of(
        &mut self,
        cond: Expr<Reg>,
        then: Target,
        otherwise: Target,
        span: Span,
        kind: Kind,
    ) {
        match cond.as_const() {
            Some(0) => self.emit_jump(otherwise, span),
            Some(_) => self.emit_jump(then, span),
            None => {
                if self.check_size(span) {
                    let label = self.label(span, kind);
                    self.code.at(label, self.critical);
                    self.code.branch(cond, then, otherwise);
                }
            }
        }
    }

    pub(super) fn emit_jump(&mut self, target: Target, span: Span) {
        if self.check_size(span) {
            let label = self.context.labels.get(span, Kind::Skip, self.frame.function);
            self.code.at(label, self.critical);
            self.code.jump(target);
        }
    }

    /// Returns whether another statement can be added. Reports an error if the thread is too large.
    pub(super) fn check_size(&mut self, span: Span) -> bool {
        if !self.failed && self.code.len() >= limits::STATEMENTS {
            self.fail(span, format!("more than {} statements in a thread", limits::STATEMENTS));
        }
        !self.failed
    }

    /// Runs `work` one nesting level deeper. Reports an error if the depth limit or the limit on
    /// visited nodes is exceeded.
    pub(super) fn nested(&mut self, span: Span, work: impl FnOnce(&mut Self)) {
        if self.failed {
            return;
        }
        self.fuel = self.fuel.saturating_sub(1);
        if self.fuel == 0 {
            self.fail(span, "inlining makes this thread too large".into());
            return;
        }
        if self.depth >= limits::LOWERING_DEPTH {
            self.fail(span, "calls are nested too deeply".into());
            return;
        }
        self.depth += 1;
        work(self);
        self.depth -= 1;
    }

    fn fail(&mut self, span: Span, message: String) {
        if !self.failed {
            self.failed = true;
            self.context
                .diagnostics
                .error(codes::TOO_LARGE, span, message)
                .label("the limit is exceeded here")
                .hint(limits::SIZE_HINT);
        }
    }
}
