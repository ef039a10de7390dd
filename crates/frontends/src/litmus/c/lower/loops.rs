//! Lowers loops, `break` and `continue`.

use fencepost_ir::Span;
use fencepost_ir::assemble::Target;

use super::super::super::error::LitmusError;
use super::super::ast::{Expression, For, Statement, StatementKind};
use super::Lowerer;

/// The jump targets of a loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoopTargets {
    /// The statement after the loop, for `break`.
    end: Target,
    /// The end of an iteration, for `continue`.
    next: Target,
}

impl Lowerer<'_> {
    /// Lowers `while (condition) body`.
    pub(super) fn while_loop(&mut self, head: Span, condition: &Expression, body: &Statement) {
        let (again, end) = (self.asm.target(), self.asm.target());
        self.asm.bind(again);
        self.loops.push(LoopTargets { end, next: again });
        let condition = self.condition(condition);
        self.mark_source(head);
        self.asm.jump_unless(condition, end);
        self.substatement(body);
        self.loops.pop();
        self.mark_source(head);
        self.asm.jump(again);
        self.join(end);
    }

    /// Lowers `do body while (condition);`.
    pub(super) fn do_while_loop(&mut self, head: Span, body: &Statement, condition: &Expression) {
        let (again, next, end) = (self.asm.target(), self.asm.target(), self.asm.target());
        self.asm.bind(again);
        self.loops.push(LoopTargets { end, next });
        self.substatement(body);
        self.asm.bind(next);
        (self.statement_span, self.used) = (head, 0);
        let condition = self.condition(condition);
        self.loops.pop();
        self.mark_source(head);
        self.asm.jump_if(condition, again);
        self.join(end);
    }

    /// Lowers `for (first; condition; step) body`.
    pub(super) fn for_loop(&mut self, head: Span, parts: &For) {
        for statement in &parts.first {
            self.for_part(statement);
        }
        let (again, next, end) = (self.asm.target(), self.asm.target(), self.asm.target());
        self.asm.bind(again);
        self.loops.push(LoopTargets { end, next });
        if let Some(condition) = &parts.condition {
            (self.statement_span, self.used) = (head, 0);
            let condition = self.condition(condition);
            self.mark_source(head);
            self.asm.jump_unless(condition, end);
        }
        self.substatement(&parts.body);
        self.asm.bind(next);
        for statement in &parts.step {
            self.for_part(statement);
        }
        self.loops.pop();
        self.mark_source(head);
        self.asm.jump(again);
        self.join(end);
    }

    /// Lowers a statement in the head of `for`. The counters of two loops may have the same name.
    fn for_part(&mut self, statement: &Statement) {
        if let StatementKind::Declare(all) = &statement.kind {
            for declared in all.iter().filter(|declared| declared.value.is_some()) {
                if let Some(local) = self.locals.get_mut(&declared.name) {
                    local.declared = false;
                }
            }
        }
        self.statement(statement);
    }

    /// Lowers `break` or `continue`.
    pub(super) fn leave_iteration(
        &mut self,
        head: Span,
        kind: &StatementKind,
    ) -> Result<(), LitmusError> {
        let is_break = matches!(kind, StatementKind::Break);
        let Some(LoopTargets { end, next }) = self.loops.last().copied() else {
            let word = if is_break { "break" } else { "continue" };
            return Err(LitmusError::syntax(head, format!("`{word}` is not inside of a loop")));
        };
        self.mark_source(head);
        self.asm.jump(if is_break { end } else { next });
        Ok(())
    }
}
