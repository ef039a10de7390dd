//! Read-modify-write operations.
//!
//! A compare-and-exchange is one update, which yields whether it succeeds or, if the old value is
//! used, that value. The fence after the operation is that of the success or the failure order. A
//! weak compare-and-exchange is treated as a strong one: it never fails spuriously.
//!
//! A call of Linux with full order is only a load if it fails, and the fences are around the update:
//!
//! ```text
//!       found = x
//!       if found != expected: done
//!       fence; found = cmpxchg(x, expected, new); fence
//! done:
//! ```
//!
//! The run in which no other thread acts between the two accesses is the single step. If the update
//! fails, the run is that of a failing load with fences, which are not needed.
//!
//! Operators that are no update (`*=`, `<<=`, ...) on an `_Atomic` object are an atomic block.

use fencepost_ir::{AccessKind, BinOp, CasResult, Expr, FenceKinds, Op, Reg, Span, Update, WideOp};

use super::access::{AccessMode, equal};
use super::arithmetic::{Val, apply, binary, element};
use super::layout::{POINTER, limits, scalar_type, size_of};
use super::order_places::SourceOrder;
use super::places::Cell;
use super::thread::Lowerer;
use super::uninitialised::written_range;
use crate::c::typed::{
    Access, BinaryOp, Expr as TypedExpr, ExprKind, IntType, Type, TypeKind, Yields,
};
use crate::orders::{MemoryOrder, exchange_order};

const BOOL: IntType = IntType { bits: 8, signed: false, is_bool: true };

/// A compare-and-exchange on a cell.
pub(super) struct Exchange {
    pub(super) cell: Cell,
    pub(super) ty: IntType,
    pub(super) expected: Val,
    pub(super) desired: Val,
    pub(super) success: SourceOrder,
    pub(super) failure: SourceOrder,
}

impl Exchange {
    /// Returns the orders that the source contains: an implied failure order follows the other one.
    fn source_orders(&self) -> Vec<SourceOrder> {
        let failure = Some(self.failure).filter(|failure| failure.span.is_some());
        [Some(self.success), failure].into_iter().flatten().collect()
    }
}

impl<'p> Lowerer<'_, 'p> {
    /// Evaluates `place op= value`, `++place`, `place--`. Returns the value of the expression.
    pub(super) fn modify(&mut self, expr: &'p TypedExpr, is_used: bool) -> Val {
        let ExprKind::Modify { place, op, value, computed, yields_old, access } = &expr.kind else {
            return Expr::Const(0);
        };
        let span = expr.span;
        let ty = scalar_type(&place.ty).unwrap_or(POINTER);
        let spot = self.spot(place);
        let amount = self.value(value);
        let cell = self.cell(spot, &place.ty, span);
        let size = match &place.ty.kind {
            TypeKind::Pointer(to) => Some(size_of(self.pass.program, to) as i64),
            _ => None,
        };
        let is_memory = matches!(cell, Cell::Memory { .. });
        let is_update = !ty.is_bool
            && matches!(
                op,
                BinaryOp::Add
                    | BinaryOp::Sub
                    | BinaryOp::BitAnd
                    | BinaryOp::BitOr
                    | BinaryOp::BitXor
            );
        if *access == Access::SeqCst && is_memory && is_update {
            let amount = match size {
                Some(size) => element(Expr::Const(0), amount, size),
                None => self.converted(amount, ty),
            };
            let yields = if *yields_old { Yields::Old } else { Yields::New };
            return self.fetch(
                &cell,
                ty,
                *op,
                amount,
                SourceOrder::implied(MemoryOrder::SeqCst),
                (yields, is_used),
                span,
            );
        }
        let in_block = *access == Access::SeqCst && is_memory;
        let mode = match in_block {
            true => AccessMode::Ordered(SourceOrder::implied(MemoryOrder::Relaxed)),
            false => AccessMode::of(*access),
        };
        let (before, after) = AccessMode::of(*access).order().order.update_fences();
        if in_block {
            self.emit_fence(before, "fence before", span);
            self.begin_atomic(span);
        }
        let mut old = self.load(&cell, &place.ty, mode, span);
        if *yields_old && is_used {
            old = self.keep(old, ty, span);
        }
        let new = match size {
            Some(size) => {
                let amount = match op {
                    BinaryOp::Sub => binary(BinOp::Wide(WideOp::Sub), Expr::Const(0), amount),
                    _ => amount,
                };
                element(old.clone(), amount, size)
            }
            None => {
                let wide = scalar_type(computed).unwrap_or(ty);
                let operand = self.converted(old.clone(), wide);
                let result = apply(*op, wide, operand, amount);
                self.converted(result, ty)
            }
        };
        self.store(&cell, new.clone(), ty, mode, (span, 0));
        if in_block {
            self.end_atomic(span);
            self.emit_fence(after, "fence after", span);
        }
        match (&cell, *yields_old) {
            (_, true) => old,
            // The register may have the type of another member of a union.
            (Cell::Register(reg, _), false) => {
                let value = self.register_value(*reg);
                self.converted(value, ty)
            }
            (Cell::Memory { .. } | Cell::Value(_) | Cell::Part(..), false) => new,
        }
    }

    /// Evaluates a fetch-and-modify. For pointers the amount is in bytes.
    #[expect(clippy::too_many_arguments, reason = "the parts of one operation")]
    pub(super) fn fetch(
        &mut self,
        cell: &Cell,
        ty: IntType,
        op: BinaryOp,
        amount: Val,
        order: SourceOrder,
        (yields, is_used): (Yields, bool),
        span: Span,
    ) -> Val {
        let negative = |amount: Val| binary(BinOp::Wide(WideOp::WrapSub), Expr::Const(0), amount);
        let (update, bits) = match op {
            BinaryOp::BitAnd => (None, Some(BinOp::BitAnd)),
            BinaryOp::BitOr => (None, Some(BinOp::BitOr)),
            BinaryOp::BitXor => (None, Some(BinOp::BitXor)),
            BinaryOp::Sub => (Some(negative(amount.clone())), None),
            _ => (Some(amount.clone()), None),
        };
        let new_value = |old: Val| match (&update, bits) {
            (_, Some(bits)) => binary(bits, old, amount.clone()),
            (Some(by), None) => binary(BinOp::Wide(WideOp::WrapAdd), old, by.clone()),
            (None, None) => old,
        };
        let Cell::Memory { at, ty: own, .. } = cell else {
            let Cell::Register(reg, own) = cell else { return Expr::Const(0) };
            let old = self.register_value(*reg);
            let old = self.converted(old, ty);
            let old = if is_used { self.keep(old, ty, span) } else { old };
            let new = self.converted(new_value(old.clone()), *own);
            self.assign(*reg, new, span, 0);
            let new = self.register_value(*reg);
            return if yields == Yields::Old { old } else { self.converted(new, ty) };
        };
        let own = own.unwrap_or(ty);
        let operation = match (&update, bits) {
            (_, Some(op)) => Update::Bits { op, by: self.converted(amount.clone(), own) },
            (Some(by), None) => Update::Add { by: by.clone(), wrap: Some(limits(own)) },
            (None, None) => return Expr::Const(0),
        };
        let (reg, is_mixed) = self.result_register(cell, ty);
        let (before, after) = order.order.update_fences();
        let marks = self.mark_order(AccessKind::Update, &[order], ("update", 0), span);
        self.emit_order_fence(before, ("fence before", marks), span);
        let target = is_used.then_some(reg);
        self.access_order = order.order.update_order();
        self.emit(Op::Update { reg: target, at: at.clone(), update: operation }, span, "update");
        self.know(reg, None);
        self.note_update(cell);
        self.emit_order_fence(after, ("fence after", marks), span);
        let old = if is_mixed { self.converted(Expr::Var(reg), ty) } else { Expr::Var(reg) };
        match yields {
            Yields::Old | Yields::Success => old,
            Yields::New => self.converted(new_value(old), ty),
        }
    }

    /// Evaluates an exchange.
    pub(super) fn swap(
        &mut self,
        cell: &Cell,
        ty: IntType,
        new: Val,
        order: SourceOrder,
        (span, is_used): (Span, bool),
    ) -> Val {
        let Cell::Memory { at, ty: own, .. } = cell else {
            let Cell::Register(reg, own) = cell else { return Expr::Const(0) };
            let old = self.register_value(*reg);
            let old = self.converted(old, ty);
            let old = self.keep(old, ty, span);
            let new = self.converted(new, *own);
            self.assign(*reg, new, span, 0);
            return old;
        };
        let new = self.converted(new, own.unwrap_or(ty));
        let (reg, is_mixed) = self.result_register(cell, ty);
        let (before, after) = order.order.update_fences();
        let marks = self.mark_order(AccessKind::Update, &[order], ("update", 0), span);
        self.emit_order_fence(before, ("fence before", marks), span);
        let target = is_used.then_some(reg);
        self.access_order = order.order.update_order();
        let update = Update::Swap { new };
        self.emit(Op::Update { reg: target, at: at.clone(), update }, span, "update");
        self.know(reg, None);
        self.note_update(cell);
        self.emit_order_fence(after, ("fence after", marks), span);
        if is_mixed { self.converted(Expr::Var(reg), ty) } else { Expr::Var(reg) }
    }

    /// Returns a register for the old value of a cell, and whether the value must be converted.
    fn result_register(&mut self, cell: &Cell, ty: IntType) -> (Reg, bool) {
        let own = match cell {
            Cell::Memory { ty, .. } => *ty,
            Cell::Register(..) | Cell::Value(_) | Cell::Part(..) => None,
        };
        let is_mixed = ty.bits < 64
            && (own.is_some_and(|own| own.signed != ty.signed)
                || self.pass.plan.mixed_signs.contains(&ty.bits));
        let reg = match self.may_have_marker(cell, ty) {
            true => self.temporary_for_load(written_range(own.unwrap_or(ty))),
            false => self.temporary(if is_mixed { POINTER } else { ty }),
        };
        (reg, is_mixed)
    }

    /// Emits a compare-and-exchange whose old value is not used. Returns whether it succeeds.
    pub(super) fn compare_and_swap(&mut self, exchange: Exchange, span: Span) -> Val {
        // Reading an uninitialised value is a fault. For a pointer, the check would hide from the
        // analysis of spin loops whether the operation fails.
        if exchange.ty.bits < 64 && self.may_have_marker(&exchange.cell, exchange.ty) {
            let expected = exchange.expected.clone();
            let found = self.compare_and_find(exchange, span);
            return self.keep_always(equal(found, expected), BOOL, span);
        }
        let orders = exchange.source_orders();
        let Exchange { cell, ty, expected, desired, success, failure } = exchange;
        let (success, failure) = (success.order, failure.order);
        let Cell::Memory { at, ty: own, .. } = &cell else {
            let Cell::Register(reg, own) = cell else { return Expr::Const(0) };
            let old = self.register_value(reg);
            let old = self.converted(old, ty);
            let holds = equal(old.clone(), expected);
            let holds = self.keep(holds, BOOL, span);
            let new = super::arithmetic::select(holds.clone(), desired, old);
            let new = self.converted(new, own);
            self.assign(reg, new, span, 0);
            return holds;
        };
        let own = own.unwrap_or(ty);
        let (expected, new) = (self.converted(expected, own), self.converted(desired, own));
        let ok = self.temporary(BOOL);
        let (before, after) = success.update_fences();
        let marks = self.mark_order(AccessKind::Update, &orders, ("update", 0), span);
        self.emit_order_fence(before, ("fence before", marks), span);
        let update = Update::cas(expected, new);
        self.access_order = exchange_order(success, failure);
        self.emit(Op::Update { reg: Some(ok), at: at.clone(), update }, span, "update");
        self.know(ok, None);
        self.note_update(&cell);
        self.fence_after_exchange(Expr::Var(ok), (after, marks), failure, span);
        Expr::Var(ok)
    }

    /// Emits a compare-and-exchange. Returns the old value.
    pub(super) fn compare_and_find(&mut self, exchange: Exchange, span: Span) -> Val {
        let orders = exchange.source_orders();
        let Exchange { cell, ty, expected, desired, success, failure } = exchange;
        let (success, failure) = (success.order, failure.order);
        let Cell::Memory { at, ty: own, .. } = &cell else {
            let Cell::Register(reg, own) = cell else { return Expr::Const(0) };
            let old = self.register_value(reg);
            let old = self.converted(old, ty);
            let old = self.keep(old, ty, span);
            let new = super::arithmetic::select(equal(old.clone(), expected), desired, old.clone());
            let new = self.converted(new, own);
            self.assign(reg, new, span, 0);
            return old;
        };
        let own = own.unwrap_or(ty);
        let (found, is_mixed) = self.result_register(&cell, ty);
        let (before, after) = success.update_fences();
        let (expected, new) = (self.converted(expected, own), self.converted(desired, own));
        let holds = equal(Expr::Var(found), expected.clone());
        let update = Update::Cas { expected, new, result: CasResult::Old };
        let update = Op::Update { reg: Some(found), at: at.clone(), update };
        self.know(found, None);
        if success == MemoryOrder::Full && !self.is_atomic() {
            let (swap, done) = (self.code.target(), self.code.target());
            self.emit(Op::Load { reg: found, from: at.clone() }, span, "find");
            self.emit_branch(holds, swap, done, span);
            self.code.bind(swap);
            self.emit_fence(before, "fence before", span);
            self.emit(update, span, "update");
            self.emit_fence(after, "fence after", span);
            self.code.bind(done);
            self.note_update(&cell);
        } else {
            let marks = self.mark_order(AccessKind::Update, &orders, ("update", 0), span);
            self.emit_order_fence(before, ("fence before", marks), span);
            self.access_order = exchange_order(success, failure);
            self.emit(update, span, "update");
            self.note_update(&cell);
            self.fence_after_exchange(holds, (after, marks), failure, span);
        }
        if is_mixed { self.converted(Expr::Var(found), ty) } else { Expr::Var(found) }
    }

    /// Emits the fence after a compare-and-exchange, which depends on its result.
    fn fence_after_exchange(
        &mut self,
        holds: Val,
        (success, marks): (FenceKinds, bool),
        failure: MemoryOrder,
        span: Span,
    ) {
        let on_failure = failure.load_fences().map_or(success, |(_, after)| after);
        if success == on_failure || self.is_atomic() {
            return self.emit_order_fence(success, ("fence after", marks), span);
        }
        let (yes, no, done) = (self.code.target(), self.code.target(), self.code.target());
        if self.is_live() && self.check_size(span) {
            let label = self.label(span, "fence branch", 0);
            self.pass.implied.insert(label);
            self.code.at(label, false);
            self.code.branch(holds, yes, no);
        }
        let state = self.state.clone();
        self.code.bind(yes);
        self.emit_order_fence(success, ("fence after", false), span);
        self.jump(done, span);
        self.state = state;
        self.code.bind(no);
        self.emit_order_fence(on_failure, ("fence after failure", false), span);
        self.code.bind(done);
    }

    /// Evaluates `atomic_compare_exchange_*`: `expected` is a pointer.
    pub(super) fn compare_exchange(
        &mut self,
        (pointer, expected, desired): (&'p TypedExpr, &'p TypedExpr, &'p TypedExpr),
        (success, failure): (&'p TypedExpr, &'p TypedExpr),
        span: Span,
    ) -> Val {
        let (cell, ty) = self.pointee_cell(pointer);
        let (holder, _) = self.pointee_cell(expected);
        let desired = self.value(desired);
        let (success, failure) = (self.order(success), self.order(failure));
        let scalar = scalar_type(&ty).unwrap_or(POINTER);
        let known = self.load(&holder, &ty, AccessMode::Plain, expected.span);
        let exchange =
            |expected| Exchange { cell, ty: scalar, expected, desired, success, failure };
        let label = self.label(span, "old value", 0);
        if let Cell::Register(reg, _) = holder {
            if self.pass.plan.unused_old_values.contains(&(self.thread, label)) {
                let ok = self.compare_and_swap(exchange(known), span);
                // Removed later, if no code reads the variable.
                self.keep_old_value(reg, Expr::Const(0), label);
                return ok;
            }
            let found = self.compare_and_find(exchange(known.clone()), span);
            let ok = equal(found.clone(), known);
            let ok = self.keep_always(ok, BOOL, span);
            self.keep_old_value(reg, found, label);
            return ok;
        }
        let found = self.compare_and_find(exchange(known.clone()), span);
        let ok = equal(found.clone(), known);
        let (fails, done) = (self.code.target(), self.code.target());
        let (succeeded, failed) = self.branch_value(ok.clone(), done, fails, span);
        self.code.bind(fails);
        self.state = failed;
        self.store(&holder, found, scalar, AccessMode::Plain, (span, 0));
        self.code.bind(done);
        let failed = self.state.take();
        self.state = self.merge(succeeded, failed, span);
        ok
    }

    /// Copies a value to a temporary.
    fn keep_always(&mut self, value: Val, ty: IntType, span: Span) -> Val {
        let reg = self.temporary(ty);
        self.assign(reg, value, span, 1);
        self.register_value(reg)
    }

    /// Emits the assignment of the old value, which the plan of the next pass may leave out.
    fn keep_old_value(&mut self, reg: Reg, value: Val, label: fencepost_ir::Label) {
        if self.is_live() {
            self.code.at(label, false);
            self.code.op(Op::Assign { reg, expr: value });
            self.know(reg, None);
            self.old_values.push(label);
        }
    }

    /// Evaluates `__sync_*_compare_and_swap` and `cmpxchg`: `expected` is a value.
    pub(super) fn compare_swap(
        &mut self,
        (pointer, expected, desired): (&'p TypedExpr, &'p TypedExpr, &'p TypedExpr),
        order: &'p TypedExpr,
        yields: Yields,
        (span, is_used): (Span, bool),
    ) -> Val {
        let (cell, ty) = self.pointee_cell(pointer);
        let expected = self.value(expected);
        let desired = self.value(desired);
        let order = self.order(order);
        let scalar = scalar_type(&ty).unwrap_or(POINTER);
        let success = order;
        let order = order.order;
        let failure = SourceOrder::implied(match order {
            MemoryOrder::Full => MemoryOrder::Relaxed,
            MemoryOrder::AcqRel => MemoryOrder::Acquire,
            MemoryOrder::Release => MemoryOrder::Relaxed,
            MemoryOrder::Relaxed | MemoryOrder::Acquire | MemoryOrder::SeqCst => order,
        });
        let exchange = Exchange { cell, ty: scalar, expected, desired, success, failure };
        match yields {
            Yields::Success if order == MemoryOrder::Full => {
                let expected = exchange.expected.clone();
                let found = self.compare_and_find(exchange, span);
                equal(found, expected)
            }
            Yields::Success => self.compare_and_swap(exchange, span),
            Yields::Old | Yields::New if !is_used && order != MemoryOrder::Full => {
                self.compare_and_swap(exchange, span);
                Expr::Const(0)
            }
            Yields::Old | Yields::New => self.compare_and_find(exchange, span),
        }
    }

    /// Returns the scalar type behind a pointer.
    pub(super) fn scalar_of(ty: &Type) -> IntType {
        scalar_type(ty).unwrap_or(POINTER)
    }
}
