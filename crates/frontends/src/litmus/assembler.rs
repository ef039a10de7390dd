//! Code for one thread, with the source statements that it belongs to and the places for fences.

use fencepost_ir::assemble::{self, Sources, Target};
use fencepost_ir::{Expr, FenceKinds, Label, Op, Reg, Span, Thread, Type};

use super::wrong::Wrong;
use crate::fp::limits;

/// Code for one thread.
#[derive(Debug)]
pub struct Assembler<'a> {
    name: String,
    sources: &'a mut Sources,
    code: assemble::Assembler,
    label: Label,
    /// Whether a fence of the author has just been added, so that another place right after it is useless.
    filled: bool,
}

impl<'a> Assembler<'a> {
    /// For the thread of this name.
    pub fn new(name: &str, sources: &'a mut Sources) -> Self {
        let code = assemble::Assembler::new(Vec::new());
        Assembler { name: name.to_string(), sources, code, label: Label(0), filled: false }
    }

    /// What follows belongs to this source statement.
    pub fn begin(&mut self, span: Span, text: &str) {
        self.label = self.sources.label(span, text, &self.name);
        self.code.at(self.label, false);
    }

    /// A fence may be put here, before this source statement (or, at the end of the code, behind what comes
    /// before).
    pub fn place(&mut self, span: Span, text: &str, at_end: bool, loops: u32) {
        if !self.sources.wants_places || std::mem::take(&mut self.filled) {
            return;
        }
        let label = self.sources.label(span, text, &self.name);
        self.sources.place(label, span.start, at_end, loops);
        self.code.mark(label);
    }

    /// A fence of the author, which is a place itself.
    pub fn written_fence(&mut self, kinds: FenceKinds, span: Span, loops: u32) {
        self.emit(Op::Fence(kinds));
        if self.sources.wants_places {
            self.sources.written(self.label, kinds, span, loops);
            self.filled = true;
        }
    }

    /// Control may come here from elsewhere, too, past a fence that was just added.
    pub fn reopen(&mut self) {
        self.filled = false;
    }

    /// The register of this name.
    pub fn register(&mut self, name: &str) -> Reg {
        self.code.named(name, Type::INT)
    }

    /// A register of its own.
    pub fn temporary(&mut self) -> Reg {
        self.code.temporary(Type::INT)
    }

    /// Adds a statement.
    pub fn emit(&mut self, op: Op) {
        self.code.op(op);
    }

    /// `reg = expr`.
    pub fn assign(&mut self, reg: Reg, expr: Expr<Reg>) {
        if expr != Expr::Var(reg) {
            self.emit(Op::Assign { reg, expr: expr.fold() });
        }
    }

    /// A place in the code to be told later.
    pub fn target(&mut self) -> Target {
        self.code.target()
    }

    /// The target is here.
    pub fn bind(&mut self, target: Target) {
        self.code.bind(target);
    }

    /// Goes to a target.
    pub fn jump(&mut self, target: Target) {
        self.code.jump(target);
    }

    /// Goes to a target when the condition holds, else on.
    pub fn jump_if(&mut self, cond: Expr<Reg>, target: Target) {
        self.code.jump_if(cond.fold(), target);
    }

    /// Goes to a target unless the condition holds.
    pub fn jump_unless(&mut self, cond: Expr<Reg>, target: Target) {
        self.code.jump_unless(cond.fold(), target);
    }

    /// The thread; all targets are bound.
    pub fn finish(mut self, span: Span) -> Result<Thread, Wrong> {
        self.begin(span, "end");
        self.emit(Op::Halt);
        if self.code.len() > limits::STATEMENTS {
            return Err(Wrong::too_large(span, "this thread is too long").hint(limits::ADVICE));
        }
        let (registers, code) = self.code.finish();
        Ok(Thread { name: self.name, registers, code })
    }
}
