//! Atomic blocks, and statements that end a run.
//!
//! Atomic blocks of the source may nest; only the outermost one is a block of the program. The code
//! of `main` before the first thread runs alone, so it is one atomic block, too (the prefix). Nothing
//! can be observed between the creations of several threads in a row, so they belong to the prefix.
//! Without the prefix, the stores of initialisation would wait in store buffers.
//!
//! A run that is cut (`exit`, a bound, a false `assume`) ends at `assume(false)` outside of atomic
//! blocks. Inside of a block, a false `assume` makes the whole block wait.

use fencepost_ir::{Expr, Fault, FenceKinds, Op, Span};

use super::arithmetic::Val;
use super::thread::{Lowerer, Prefix};
use crate::c::codes;

/// The largest number of statements of the prefix.
const MAX_PREFIX: usize = 5_000;

impl Lowerer<'_, '_> {
    /// Returns whether the current position is inside an atomic block.
    pub(super) fn is_atomic(&self) -> bool {
        self.prefix != Prefix::None || self.state.as_ref().is_some_and(|state| state.atomic > 0)
    }

    /// Returns whether the current position is inside an atomic block of the source.
    pub(super) fn is_in_source_block(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.atomic > 0)
    }

    /// Emits a statement of a block's boundary.
    fn emit_boundary(&mut self, op: Op, span: Span) {
        if self.is_live() && self.check_size(span) {
            let kind = if op == Op::AtomicBegin { "atomic begin" } else { "atomic end" };
            let label = self.label(span, kind, 0);
            self.code.at(label, false);
            self.code.op(op);
            // A block begins when no store is pending, and its own stores are never pending.
            if let Some(state) = &mut self.state {
                state.drained = true;
            }
        }
    }

    /// Notes whether a store of the thread may be pending after an operation.
    pub(super) fn note_pending(&mut self, op: &Op) {
        let is_atomic = self.is_atomic();
        let Some(state) = &mut self.state else { return };
        match op {
            Op::Store { .. } if !is_atomic => state.drained = false,
            Op::Fence(kinds) if *kinds == FenceKinds::FULL => state.drained = true,
            _ => {}
        }
    }

    /// Begins the prefix of `main`.
    pub(super) fn open_prefix(&mut self, span: Span) {
        self.emit_boundary(Op::AtomicBegin, span);
        self.prefix = Prefix::Open;
    }

    /// Ends the prefix, if the code is in it.
    pub(super) fn close_prefix(&mut self, span: Span) {
        if self.prefix == Prefix::None || !self.is_live() {
            return;
        }
        if self.is_conditional() {
            self.pass.next.simple_prefix = true;
        }
        self.prefix = Prefix::None;
        // Otherwise the prefix continues as the block of the source.
        if !self.is_in_source_block() {
            self.emit_boundary(Op::AtomicEnd, span);
        }
    }

    /// Ends the prefix before an operation that other threads can observe.
    pub(super) fn before_op(&mut self, op: &Op, span: Span) {
        let observable = match op {
            Op::Skip | Op::Assign { .. } => false,
            Op::Store { to, .. } => !self.is_private(to),
            Op::Choose { .. }
            | Op::Load { .. }
            | Op::Update { .. }
            | Op::Fence(_)
            | Op::Drain(_)
            | Op::Branch { .. }
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
            | Op::Halt => true,
        };
        let is_long = self.prefix == Prefix::Open && self.code.len() > MAX_PREFIX;
        if observable && (self.prefix == Prefix::Created || is_long) {
            self.close_prefix(span);
        }
    }

    /// Ends the prefix before a branch, if it cannot contain branches.
    pub(super) fn before_branch(&mut self, span: Span) {
        if self.prefix == Prefix::Created
            || (self.prefix == Prefix::Open && self.pass.plan.simple_prefix)
        {
            self.close_prefix(span);
        }
    }

    /// Begins an atomic block of the source, or one that lowering adds.
    pub(super) fn begin_atomic(&mut self, span: Span) {
        if self.prefix == Prefix::Created {
            self.close_prefix(span);
        }
        if !self.is_atomic() {
            self.emit_boundary(Op::AtomicBegin, span);
        }
        if let Some(state) = &mut self.state {
            state.atomic += 1;
        }
    }

    /// Ends an atomic block.
    pub(super) fn end_atomic(&mut self, span: Span) {
        let Some(state) = &mut self.state else { return };
        if state.atomic == 0 {
            self.error(
                codes::ATOMIC_BLOCK,
                span,
                "there is no atomic block to end here".into(),
                "remove the end, or add the beginning of the block",
            );
            return;
        }
        state.atomic -= 1;
        if !self.is_atomic() {
            self.emit_boundary(Op::AtomicEnd, span);
        }
    }

    /// Leaves all atomic blocks before a jump to the end of the thread.
    pub(super) fn leave_blocks(&mut self, span: Span) {
        if self.is_atomic() {
            self.emit_boundary(Op::AtomicEnd, span);
        }
    }

    /// Cuts the run here. The position after it is not reachable.
    pub(super) fn cut_run(&mut self, span: Span, kind: &'static str, number: u32) {
        if !self.is_live() || !self.check_size(span) {
            return;
        }
        if self.is_atomic() {
            self.emit_boundary(Op::AtomicEnd, span);
        }
        let label = self.label(span, kind, number);
        let here = self.code.here();
        self.code.at(label, false);
        self.code.op_then(Op::Assume(Expr::Const(0)), here);
        self.state = None;
    }

    /// Cuts the run here because a bound is reached.
    pub(super) fn reach_bound(&mut self, text: String, span: Span) {
        if self.is_live() {
            let shown = self.shown(span);
            let number = self.pass.bound_number(&text);
            let label = self.label(span, "bound", number);
            self.pass.bounds.entry(label).or_insert((text, shown));
            self.cut_run(span, "bound", number);
        }
    }

    /// Cuts the runs in which a condition does not hold. Inside an atomic block of the source, the
    /// block waits instead.
    pub(super) fn assume(&mut self, condition: Val, span: Span) {
        match condition.as_const() {
            Some(0) if !self.is_in_source_block() => self.cut_run(span, "assume", 0),
            Some(value) if value != 0 => {}
            _ if self.prefix != Prefix::None && !self.is_in_source_block() => {
                let (holds, fails) = (self.code.target(), self.code.target());
                self.emit_branch(condition, holds, fails, span);
                self.code.bind(fails);
                let state = self.state.clone();
                self.cut_run(span, "assume", 0);
                self.state = state;
                self.code.bind(holds);
            }
            _ => self.emit(Op::Assume(condition), span, "assume"),
        }
    }

    /// Emits an assertion whose failure is a fault of the source.
    pub(super) fn require(&mut self, condition: Val, fault: Fault, span: Span, kind: &'static str) {
        self.note_fault(fault, span, kind);
        self.assert(condition, span, kind);
    }

    /// Notes that the failure of an assertion is a fault of the source.
    pub(super) fn note_fault(&mut self, fault: Fault, span: Span, kind: &'static str) {
        let label = self.label(span, kind, 0);
        self.pass.faults.insert(label, fault);
    }

    /// Emits an assertion. After a failed one there is nothing to execute.
    pub(super) fn assert(&mut self, condition: Val, span: Span, kind: &'static str) {
        self.pass.has_assertions = true;
        let fails = condition.as_const() == Some(0);
        if condition.as_const().is_none_or(|value| value == 0) {
            self.emit(Op::Assert(condition), span, kind);
        }
        if fails {
            self.cut_run(span, "after failure", 0);
        }
    }
}
