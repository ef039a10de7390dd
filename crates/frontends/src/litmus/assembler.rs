//! Builds the code of one thread, with its source statements and the places for fences.

use fencepost_ir::assemble::{self, Sources, Target};
use fencepost_ir::rotate_waits::rotate_waits;
use fencepost_ir::{AccessOrder, Expr, FenceKinds, Label, Op, Reg, Span, Thread, Type};

use super::error::LitmusError;
use crate::fp::limits;

/// The code of one thread under construction.
#[derive(Debug)]
pub struct Assembler<'a> {
    name: String,
    sources: &'a mut Sources,
    code: assemble::Assembler,
    label: Label,
    /// Whether the last addition is a fence of the source. A place directly after it would be
    /// redundant.
    after_written_fence: bool,
}

impl<'a> Assembler<'a> {
    /// Creates an assembler without code for the thread `name`.
    pub fn new(name: &str, sources: &'a mut Sources) -> Self {
        let code = assemble::Assembler::new(Vec::new());
        Assembler {
            name: name.to_string(),
            sources,
            code,
            label: Label(0),
            after_written_fence: false,
        }
    }

    /// Sets the source statement of the code that is emitted next.
    pub fn set_source(&mut self, span: Span, text: &str) {
        self.label = self.sources.label(span, text, &self.name);
        self.code.at(self.label, false);
    }

    /// Returns the label of the current source statement.
    pub fn label(&self) -> Label {
        self.label
    }

    /// Notes the order of the accesses of the current source statement. The fences of this statement
    /// then only implement the order.
    pub fn note_order(&mut self, order: AccessOrder) {
        self.sources.note_order(self.label, order);
    }

    /// Notes that the assignment of the current source statement is a conditional selection.
    pub fn note_selection(&mut self) {
        self.sources.selections.insert(self.label);
    }

    /// Adds a place for a fence before this source statement or, if `at_end` is set, after the code
    /// so far. `loops` is the number of loops around the place.
    pub fn add_place(&mut self, span: Span, text: &str, at_end: bool, loops: u32) {
        if !self.sources.marks_places || std::mem::take(&mut self.after_written_fence) {
            return;
        }
        let label = self.sources.label(span, text, &self.name);
        self.sources.place(label, span.start, at_end, loops);
        self.code.mark(label);
    }

    /// Emits a fence of the source, which is also a place.
    pub fn emit_written_fence(&mut self, kinds: FenceKinds, span: Span, loops: u32) {
        self.emit(Op::Fence(kinds));
        if self.sources.marks_places {
            self.sources.written(self.label, kinds, span, loops);
            self.after_written_fence = true;
        }
    }

    /// Allows a place directly after a fence of the source. Needed where control can also arrive
    /// without passing this fence.
    pub fn allow_place(&mut self) {
        self.after_written_fence = false;
    }

    /// Returns the register of this name. Creates it if there is none.
    pub fn register(&mut self, name: &str) -> Reg {
        self.code.named_register(name, Type::INT)
    }

    /// Creates a new unnamed register.
    pub fn temporary(&mut self) -> Reg {
        self.code.temporary(Type::INT)
    }

    /// Emits a statement.
    pub fn emit(&mut self, op: Op) {
        self.code.op(op);
    }

    /// Emits `reg = expr`, unless `expr` is `reg`.
    pub fn assign(&mut self, reg: Reg, expr: Expr<Reg>) {
        if expr != Expr::Var(reg) {
            self.emit(Op::Assign { reg, expr: expr.fold() });
        }
    }

    /// Creates a jump target to be bound later.
    pub fn target(&mut self) -> Target {
        self.code.target()
    }

    /// Binds a target to the statement that is emitted next.
    pub fn bind(&mut self, target: Target) {
        self.code.bind(target);
    }

    /// Emits a jump to a target.
    pub fn jump(&mut self, target: Target) {
        self.code.jump(target);
    }

    /// Emits a jump to a target that is taken if the condition holds.
    pub fn jump_if(&mut self, cond: Expr<Reg>, target: Target) {
        self.code.jump_if(cond.fold(), target);
    }

    /// Emits a jump to a target that is taken if the condition does not hold.
    pub fn jump_unless(&mut self, cond: Expr<Reg>, target: Target) {
        self.code.jump_unless(cond.fold(), target);
    }

    /// Returns the finished thread. All targets must be bound. Fails if the thread is too long.
    pub fn finish(mut self, span: Span) -> Result<Thread, LitmusError> {
        self.set_source(span, "end");
        self.emit(Op::Halt);
        if self.code.len() > limits::STATEMENTS {
            return Err(LitmusError::too_large(span, "this thread has too many statements")
                .hint(limits::SIZE_HINT));
        }
        let (registers, code) = self.code.finish();
        let mut thread = Thread { name: self.name, registers, code };
        rotate_waits(&mut thread);
        Ok(thread)
    }
}
