//! Lowers `await`, and warns about conditions that do not wait as expected.
//!
//! `await(c)` is the loop `while (!(c)) skip;`. The labels of its loads and branches have the text
//! of the whole statement, so that traces and messages show what the thread waits for.

use fencepost_ir::Span;

use super::thread::Lowerer;
use crate::fp::codes;
use crate::fp::tree::{Expr, ExprKind};

impl<'a> Lowerer<'_, 'a> {
    pub(super) fn await_condition(&mut self, cond: &'a Expr, span: Span) {
        if cond.pure {
            self.warn_local_await(cond.span);
        }
        let (start, exit) = (self.code.target(), self.code.target());
        self.code.bind(start);
        self.frame.awaiting = Some(span);
        self.branch(cond, exit, start, span);
        self.frame.awaiting = None;
        self.code.bind(exit);
    }

    fn warn_local_await(&mut self, span: Span) {
        if self.context.reported.insert((codes::AWAIT_LOCAL, span)) {
            self.context
                .diagnostics
                .warning(codes::AWAIT_LOCAL, span, "this `await` reads no location")
                .label("no other thread can change this condition")
                .hint("use a location in the condition; otherwise this passes or waits forever");
        }
    }

    /// Warns about an `assume` that reads a location outside of `atomic`.
    pub(super) fn warn_assume(&mut self, cond: &Expr, span: Span) {
        if !self.atomic
            && !self.isolated
            && reads_location(cond)
            && self.context.reported.insert((codes::ASSUME_SHARED, span))
        {
            let text = self.context.labels.text(cond.span);
            let text: String = text.chars().take(60).collect();
            self.context
                .diagnostics
                .warning(codes::ASSUME_SHARED, span, "this `assume` does not wait")
                .label("reads once; discards the run if the condition is false")
                .hint(format!("write `await({text});` to wait until the condition holds"));
        }
    }
}

/// Returns whether the expression itself contains a load or an update. A call is an operand like a
/// register: its body is not inspected.
fn reads_location(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Load(_) | ExprKind::Update(..) => true,
        ExprKind::Unary(_, a) | ExprKind::Wrap(a, _) | ExprKind::ToInt(a) => reads_location(a),
        ExprKind::LocalElement(element) => element.indices.iter().any(reads_location),
        ExprKind::Binary(_, a, b) => reads_location(a) || reads_location(b),
        ExprKind::Select(c, a, b) => reads_location(c) || reads_location(a) || reads_location(b),
        ExprKind::Const(_)
        | ExprKind::Local(_)
        | ExprKind::Param
        | ExprKind::ChooseRange(..)
        | ExprKind::ChooseList(_)
        | ExprKind::New(_)
        | ExprKind::Call(..)
        | ExprKind::ThreadRegister(..)
        | ExprKind::At(..)
        | ExprKind::ClientResult(..)
        | ExprKind::WholeArray(_) => false,
    }
}
