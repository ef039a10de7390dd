//! Places for fences: gaps between the statements of the user's files.
//!
//! - Before each statement of a block, and at the end of the block.
//! - Before and after an unbraced body of an `if` or a loop. A fence there needs braces.
//! - After a label.
//! - An existing fence is itself a place. There is no other place directly before or after it.
//!
//! A statement of a file that is included several times has one place. There are no places inside of
//! macros, because their text is shared, none around a statement that is partly in another file, and
//! none in atomic blocks, which have no pending stores.

use fencepost_ir::{FenceKinds, Op, Place, Span};

use super::labels::Position;
use super::nondet::assumed_range;
use super::thread::Lowerer;
use crate::c::typed::{Expr as TypedExpr, ExprKind, Intrinsic, Stmt, StmtKind};

impl<'p> Lowerer<'_, 'p> {
    /// Lowers the statements of a block.
    pub(super) fn block(&mut self, items: &'p [Stmt], close: Span) {
        let outer = self.around;
        let mut previous = outer;
        let mut after_fence = false;
        for (at, item) in items.iter().enumerate() {
            self.assumed = assumed_range(&items[at..]);
            let own = !is_fence(item) && !is_empty(item);
            if own && !after_fence && item.span != previous {
                self.mark_place(item.span, item.span, false, None);
            }
            if !is_empty(item) {
                after_fence = is_fence(item);
                previous = item.span;
            }
            self.around = item.span;
            self.stmt(item);
        }
        self.around = outer;
        if !after_fence && close.start != outer.start && close.start != previous.start {
            self.mark_place(close, close, true, None);
        }
    }

    /// Lowers the body of an `if` or a loop, with or without braces.
    pub(super) fn nested_body(&mut self, body: &'p Stmt) {
        let around = std::mem::replace(&mut self.around, body.span);
        if matches!(body.kind, StmtKind::Block { .. }) || body.span == around {
            self.stmt(body);
        } else {
            let wrap = Some(body.span);
            if !is_fence(body) {
                self.mark_place(body.span, body.span, false, wrap);
            }
            self.stmt(body);
            if !is_fence(body) && !matches!(body.kind, StmtKind::Empty) {
                let end = Span { start: body.span.end, ..body.span };
                self.mark_place(end, end, true, wrap);
            }
        }
        self.around = around;
    }

    /// Marks the place after a label.
    pub(super) fn after_label(&mut self, body: &'p Stmt) {
        if !is_fence(body) && !is_empty(body) && !matches!(body.kind, StmtKind::Label { .. }) {
            self.mark_place(body.span, body.span, false, None);
        }
    }

    pub(super) fn is_marking_places(&self, span: Span) -> bool {
        self.pass.marks_places
            && self.is_live()
            && !self.is_atomic()
            && self.frame().shown.is_none()
            && self.pass.sources.file(span).is_some_and(|file| file.is_editable)
    }

    fn mark_place(&mut self, at: Span, head: Span, at_end: bool, wrap: Option<Span>) {
        let is_split = wrap.is_some_and(|wrap| !self.pass.sources.is_editable_statement(wrap));
        if !self.is_marking_places(at) || is_split || !self.check_size(at) {
            return;
        }
        let offset = at.start;
        let shown = Span { end: offset.max(head.end), ..at };
        let own = Span { end: offset, ..at };
        let number = wrap.map_or(0, |wrap| wrap.start + 1);
        let function = self.frame().function.name.as_str();
        let kind = if at_end { "place at end" } else { "place" };
        let label = self.pass.labels.get(Position { shown, own }, kind, number, function);
        self.code.mark(label);
        let loops = self.source_loops();
        let (written, order) = (None, None);
        let place = Place { label, offset, at_end, wrap, loops, written, order };
        self.pass.places.insert(label, place);
    }

    /// Returns the number of loops around the current statement in its function.
    pub(super) fn source_loops(&self) -> u32 {
        self.frame().enclosing.iter().filter(|enclosing| enclosing.again.is_some()).count() as u32
    }

    /// Emits a fence of the source.
    pub(super) fn written_fence(&mut self, kinds: FenceKinds, span: Span) {
        if kinds == FenceKinds::default() || self.is_atomic() {
            return;
        }
        self.emit(Op::Fence(kinds), span, "fence");
        let is_stmt = self.fence_stmt.filter(|_| self.is_marking_places(span));
        let is_stmt = is_stmt.filter(|stmt| self.pass.sources.is_editable_statement(*stmt));
        if let Some(stmt) = is_stmt {
            let label = self.label(span, "fence", 0);
            let (offset, loops) = (stmt.start, self.source_loops());
            let written = Some((kinds, stmt));
            let (at_end, wrap, order) = (false, None, None);
            let place = Place { label, offset, at_end, wrap, loops, written, order };
            self.pass.places.insert(label, place);
        }
    }
}

/// Returns whether a statement is a fence of the source.
pub(super) fn is_fence(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Expr(expr) => is_fence_call(expr),
        _ => false,
    }
}

fn is_fence_call(expr: &TypedExpr) -> bool {
    match &expr.kind {
        ExprKind::Intrinsic(intrinsic) => {
            matches!(**intrinsic, Intrinsic::Fence { .. } | Intrinsic::MachineFence(_))
        }
        ExprKind::Convert(inner) => is_fence_call(inner),
        _ => false,
    }
}

/// Returns whether a statement has no code.
fn is_empty(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Empty | StmtKind::Declare { init: None, .. } => true,
        StmtKind::Block { items, .. } => items.is_empty(),
        _ => false,
    }
}
