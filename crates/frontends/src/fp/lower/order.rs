//! Lowers accesses: an access with a memory order is a plain access between fences, and a store to a
//! range that blocks waits.
//!
//! The fences belong to the access. They have labels of their own and are no places for fences, so
//! inference neither removes nor replaces them as statements. If the request asks for it, they mark
//! an order place instead: inference may change the order. Where the order has no fence, a `skip`
//! marks the position.

use fencepost_ir::{
    AccessKind, AccessOrder, Address, BinOp, CasResult, Expr, FenceKinds, Op, Reg, Span, Update,
    Value,
};

use super::labels::Kind;
use super::thread::Lowerer;
use crate::fp::tree::Place;
use crate::fp::types::{Outside, Ty, VarTy};
use crate::order_sites::{WrittenOrder, order_site};
use crate::orders::{MemoryOrder, exchange_order};

impl Lowerer<'_, '_> {
    /// Emits a load with the fences of its order.
    pub(super) fn emit_load(&mut self, place: &Place, load: Op, span: Span) {
        let (before, after) = place.order.load_fences().unwrap_or_default();
        let marks = self.mark_order(AccessKind::Load, place, (Kind::Load, span));
        self.emit_order_fence(before, (Kind::FenceBefore, marks), span);
        self.emit_ordered(load, place.order.load_order(), span, Kind::Load);
        self.emit_order_fence(after, (Kind::FenceAfter, marks), span);
    }

    /// Emits a store with the fences of its order.
    pub(super) fn emit_store(&mut self, place: &Place, to: Address, value: Expr<Reg>, span: Span) {
        if let Some(range) = place.ty.range.filter(|_| place.ty.outside == Outside::Block) {
            self.wait_for_range(&value, range, span);
        }
        let (before, after) = place.order.store_fences().unwrap_or_default();
        let marks = self.mark_order(AccessKind::Store, place, (Kind::Store, span));
        self.emit_order_fence(before, (Kind::FenceBefore, marks), span);
        self.emit_ordered(Op::Store { to, value }, place.order.store_order(), span, Kind::Store);
        self.emit_order_fence(after, (Kind::FenceAfter, marks), span);
    }

    /// Emits an update with the fences of its order. The fence after a compare-and-exchange depends
    /// on its result if its two orders differ. The fence before it does not.
    pub(super) fn emit_update(
        &mut self,
        place: &Place,
        at: Address,
        update: Update,
        reg: Option<Reg>,
        span: Span,
    ) {
        let (before, after) = place.order.update_fences();
        let on_failure = match (&update, place.failure.load_fences()) {
            (Update::Cas { .. }, Some((_, fence))) => fence,
            _ => after,
        };
        let order = match update {
            Update::Cas { .. } => exchange_order(place.order, place.failure),
            Update::Swap { .. } | Update::Add { .. } | Update::Bits { .. } => {
                place.order.update_order()
            }
        };
        let marks = self.mark_order(AccessKind::Update, place, (Kind::Update, span));
        self.emit_order_fence(before, (Kind::FenceBefore, marks), span);
        if after == on_failure || self.atomic || self.isolated {
            self.emit_ordered(Op::Update { reg, at, update }, order, span, Kind::Update);
            self.emit_order_fence(after, (Kind::FenceAfter, marks), span);
            return;
        }
        let (reg, update, succeeds) = self.with_success(place.ty.ty, reg, update, span);
        let update = Op::Update { reg: Some(reg), at, update };
        self.emit_ordered(update, order, span, Kind::Update);
        // The fences of orders are those of an acquire or nothing, so one of the two is nothing.
        let (fenced, done) = (self.code.target(), self.code.target());
        let (then, otherwise) = match after == FenceKinds::default() {
            true => (done, fenced),
            false => (fenced, done),
        };
        let branch = self.label(span, Kind::FenceBranch);
        self.context.implied.insert(branch);
        self.emit_branch_of(succeeds, then, otherwise, span, Kind::FenceBranch);
        self.code.bind(fenced);
        self.emit_order_fence(after.union(on_failure), (Kind::FenceAfter, false), span);
        self.code.bind(done);
    }

    /// Returns an update, its result register and the condition that it has succeeded.
    fn with_success(
        &mut self,
        ty: Ty,
        reg: Option<Reg>,
        update: Update,
        span: Span,
    ) -> (Reg, Update, Expr<Reg>) {
        match (reg, update) {
            (Some(reg), Update::Cas { expected, new, result: CasResult::Old }) => {
                let expected = match expected.as_const() {
                    Some(_) => expected,
                    // The result may overwrite a register of the expected value.
                    None => {
                        let known = self.temporary(VarTy::plain(ty), span);
                        self.emit(Op::Assign { reg: known, expr: expected }, span, Kind::Expected);
                        Expr::Var(known)
                    }
                };
                let holds = Box::new(Expr::Var(reg));
                let succeeds = Expr::Binary(BinOp::Eq, holds, Box::new(expected.clone()));
                (reg, Update::Cas { expected, new, result: CasResult::Old }, succeeds)
            }
            (None, Update::Cas { expected, new, .. }) => {
                let reg = self.temporary(VarTy::plain(Ty::Bool), span);
                (reg, Update::cas(expected, new), Expr::Var(reg))
            }
            (reg, update) => {
                let reg = reg.unwrap_or_else(|| self.temporary(VarTy::plain(Ty::Bool), span));
                (reg, update, Expr::Var(reg))
            }
        }
    }

    /// Emits an access with its order.
    fn emit_ordered(&mut self, op: Op, order: AccessOrder, span: Span, kind: Kind) {
        let label = self.label(span, kind);
        let known = self.context.orders.entry(label).or_insert(order);
        *known = known.weaker(order);
        self.emit(op, span, kind);
    }

    /// Emits a fence of an order. Without kinds, marks its position if the access has an order place.
    fn emit_order_fence(&mut self, kinds: FenceKinds, (kind, marks): (Kind, bool), span: Span) {
        // Isolated code and atomic blocks access memory directly.
        if self.atomic || self.isolated {
            return;
        }
        if kinds != FenceKinds::default() {
            let label = self.label(span, kind);
            self.context.implied.insert(label);
            self.emit(Op::Fence(kinds), span, kind);
        } else if marks && self.check_size(span) {
            let label = self.label(span, kind);
            self.code.at(label, self.critical);
            self.code.mark(label);
        }
    }

    /// Records the order place of an access, if its order can be changed. Returns whether there is
    /// one.
    fn mark_order(&mut self, kind: AccessKind, place: &Place, (own, span): (Kind, Span)) -> bool {
        if !self.is_marking_orders() || place.written_orders.is_empty() {
            return false;
        }
        let orders = place.written_orders.iter().zip([place.order, place.failure]);
        let texts: Vec<(String, Span, MemoryOrder)> =
            orders.map(|(at, order)| (self.context.labels.text(*at), *at, order)).collect();
        let written: Vec<WrittenOrder<'_>> = texts
            .iter()
            .map(|(text, span, order)| WrittenOrder { order: *order, span: *span, text })
            .collect();
        let before = self.label(span, Kind::FenceBefore);
        let labels = (self.label(span, own), self.label(span, Kind::FenceAfter));
        let Some(site) = order_site(kind, &written, labels) else { return false };
        self.order_place(before, place.written_orders[0], site);
        true
    }

    /// Waits until a value is in a range. The value depends on registers only, so the thread either
    /// continues at once or waits forever. Inside `atomic` the block waits; in isolated code, where
    /// nothing can change, the store faults.
    pub(super) fn wait_for_range(
        &mut self,
        value: &Expr<Reg>,
        (lo, hi): (Value, Value),
        span: Span,
    ) {
        let bound =
            |op, limit| Expr::Binary(op, Box::new(value.clone()), Box::new(Expr::Const(limit)));
        let inside = Expr::Binary(
            BinOp::And,
            Box::new(bound(BinOp::Ge, lo)),
            Box::new(bound(BinOp::Le, hi)),
        )
        .fold();
        if self.isolated || inside.as_const().is_some_and(|inside| inside != 0) {
            return;
        }
        if self.atomic {
            self.emit(Op::Assume(inside), span, Kind::Assume);
            return;
        }
        let (start, exit) = (self.code.target(), self.code.target());
        self.code.bind(start);
        self.emit_branch(inside, exit, start, span);
        self.code.bind(exit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fences_after_an_update_are_an_acquire_or_nothing() {
        for order in [
            MemoryOrder::Relaxed,
            MemoryOrder::Acquire,
            MemoryOrder::Release,
            MemoryOrder::AcqRel,
            MemoryOrder::SeqCst,
        ] {
            let (_, after) = order.update_fences();
            assert!([FenceKinds::default(), FenceKinds::ACQUIRE].contains(&after));
            let load = order.load_fences().unwrap_or_default();
            assert!([FenceKinds::default(), FenceKinds::ACQUIRE].contains(&load.1));
            assert_eq!(load.0, FenceKinds::default());
        }
    }
}
