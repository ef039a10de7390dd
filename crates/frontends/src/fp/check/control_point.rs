//! Checks `p at A` in invariants: whether a thread is at a label.

use fencepost_ir::Span;

use super::{Checker, Scope};
use crate::fp::ast::{self, ExprKind as Ast};
use crate::fp::codes;
use crate::fp::suggest::did_you_mean;
use crate::fp::tree::{Expr, ExprKind};
use crate::fp::types::Ty;

impl Checker<'_> {
    /// Checks `thread at label`. Not inlined, because nested expressions need small stack frames.
    #[inline(never)]
    pub(super) fn at_label(
        &mut self,
        thread: &ast::Expr,
        label: &ast::Name,
        span: Span,
    ) -> Option<Expr> {
        if self.scope != (Scope::Condition { registers: false }) {
            self.diagnostics
                .error(codes::CONDITION, span, "`at` can be used only in an invariant")
                .label("not allowed here")
                .hint("write `invariant !(p at A && q at B);`");
            return None;
        }
        let (name, name_span, args) = if let Ast::Name(name) = &thread.kind {
            (name, thread.span, None)
        } else if let Ast::Call(name, args) = &thread.kind {
            (&name.text, name.span, Some(args.as_slice()))
        } else {
            self.diagnostics
                .error(codes::UNKNOWN_THREAD, thread.span, "this is not a thread")
                .label("expected the name of a thread")
                .hint("write `p at A`, or `p(0) at A` for a thread with a parameter");
            return None;
        };
        let id = self.thread_template(name, name_span)?;
        let instance = self.instance(id, args, name_span, &format!(" at {}", label.text))?;
        let labels = self.thread_labels.get(id.index()).map_or(&[][..], Vec::as_slice);
        let Some(at) = labels.iter().position(|known| known.name == label.text) else {
            if self.globals.is_in_unparsed(&label.text) {
                return None;
            }
            let known = labels.iter().map(|known| known.name.as_str());
            let near = did_you_mean(&label.text, known, self.diagnostics.len());
            let write = format!("write `{}:` before a statement of the thread", label.text);
            let message = format!("thread `{name}` has no label `{}`", label.text);
            self.diagnostics
                .error(codes::UNKNOWN_LABEL, label.span, message)
                .label("unknown label")
                .hint(near.unwrap_or(write));
            return None;
        };
        if labels[at].in_atomic {
            let declared = labels[at].span;
            let message = format!("no thread stops at `{}`, which is inside `atomic`", label.text);
            self.diagnostics
                .error(codes::CONDITION, label.span, message)
                .label("the block is one step")
                .related(declared, "declared here")
                .hint("put the label before or after the `atomic` block");
            return None;
        }
        let kind = ExprKind::At(id, instance, at);
        Some(Expr { kind, ty: Ty::Bool, span, pure: true })
    }
}
