//! Loads and stores of scalars, with the fences of their memory orders.
//!
//! An access with an order is a plain access between fences ([`crate::orders`]). Atomic blocks access
//! memory directly, so their accesses have no fences. Plain and volatile accesses have none either.
//!
//! A location may be accessed with the other sign. Then the value is converted.

use fencepost_ir::{AccessKind, Address, BinOp, Expr, FenceKinds, Op, Span, WideOp};

use super::arithmetic::{Val, binary, convert};
use super::layout::{POINTER, scalar_type};
use super::order_places::SourceOrder;
use super::places::{Cell, Spot};
use super::thread::Lowerer;
use super::uninitialised::written_range;
use crate::c::codes;
use crate::c::orders::order_of_value;
use crate::c::typed::{Access, Expr as TypedExpr, IntType, Type, TypeKind};
use crate::orders::MemoryOrder;

/// Whether an access may be part of a data race, and its memory order otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AccessMode {
    /// A plain access, which orders nothing.
    Plain,
    /// An atomic or volatile access with a memory order.
    Ordered(SourceOrder),
}

impl AccessMode {
    /// Returns the mode of a use of an object by name.
    pub(super) fn of(access: Access) -> Self {
        match access {
            Access::Plain => AccessMode::Plain,
            Access::Volatile => AccessMode::Ordered(SourceOrder::implied(MemoryOrder::Relaxed)),
            Access::SeqCst => AccessMode::Ordered(SourceOrder::implied(MemoryOrder::SeqCst)),
        }
    }

    /// Returns the memory order.
    pub(super) fn order(self) -> SourceOrder {
        match self {
            AccessMode::Plain => SourceOrder::implied(MemoryOrder::Relaxed),
            AccessMode::Ordered(order) => order,
        }
    }
}

impl<'p> Lowerer<'_, 'p> {
    /// Converts a value to an integer type.
    pub(super) fn converted(&self, value: Val, to: IntType) -> Val {
        convert(value, to, &|reg| self.registers.limits(reg))
    }

    /// Emits a fence of an access that has no order place, unless the fence has no effect.
    pub(super) fn emit_fence(&mut self, kinds: FenceKinds, kind: &'static str, span: Span) {
        if kinds != FenceKinds::default() && !self.is_atomic() {
            if self.pass.marks_orders {
                let label = self.label(span, kind, 0);
                self.pass.mixed_orders.insert(label);
            }
            self.emit(Op::Fence(kinds), span, kind);
        }
    }

    /// Emits a load or store. A plain access has a label of its own, because several accesses of a
    /// macro may have the same position. The functions of our own headers have no plain accesses.
    fn emit_access(&mut self, op: Op, mode: AccessMode, (span, number): (Span, u32)) {
        let is_plain = mode == AccessMode::Plain && self.frame().shown.is_none();
        let kind = match (&op, is_plain) {
            (Op::Load { .. }, true) => "plain load",
            (Op::Load { .. }, false) => "load",
            (_, true) => "plain store",
            (_, false) => "store",
        };
        if is_plain && self.is_live() {
            let label = self.label(span, kind, number);
            self.pass.plain.insert(label);
        }
        self.emit_numbered(op, span, kind, number);
    }

    /// Loads a scalar.
    pub(super) fn load(&mut self, cell: &Cell, ty: &Type, mode: AccessMode, span: Span) -> Val {
        let ty = scalar_type(ty).unwrap_or(POINTER);
        match cell {
            Cell::Value(value) => value.clone(),
            Cell::Part(whole, own, shift) => {
                let own = Type::plain(TypeKind::Int(*own));
                let whole = self.load(whole, &own, mode, span);
                let amount = Expr::Const(i64::from(*shift));
                let moved = binary(BinOp::Wide(WideOp::UnsignedShr), whole, amount);
                let mask = Expr::Const(((1_u64 << ty.bits) - 1) as i64);
                self.converted(binary(BinOp::BitAnd, moved, mask), ty)
            }
            Cell::Register(reg, own) => {
                self.require_set(*reg, span);
                let value = self.register_value(*reg);
                if own.signed == ty.signed { value } else { self.converted(value, ty) }
            }
            Cell::Memory { at, scalar, ty: own, .. } => {
                if let Some((id, number)) = scalar {
                    self.pass.note_access(self.thread, *id, *number, true, false);
                }
                if let Some(value) = self.known_location(at) {
                    return Expr::Const(value);
                }
                let order = mode.order();
                let Some((before, after)) = order.order.load_fences() else {
                    self.invalid_order(order.order, "a load", span);
                    return Expr::Const(0);
                };
                let is_mixed = ty.bits < 64
                    && (own.is_some_and(|own| own.signed != ty.signed)
                        || self.pass.plan.mixed_signs.contains(&ty.bits));
                let reg = match self.may_have_marker(cell, ty) {
                    true => self.temporary_for_load(written_range(own.unwrap_or(ty))),
                    false => self.temporary(if is_mixed { POINTER } else { ty }),
                };
                let marks = self.mark_order(AccessKind::Load, &[order], ("load", 0), span);
                self.emit_order_fence(before, ("fence before", marks), span);
                self.access_order = order.order.load_order();
                self.emit_access(Op::Load { reg, from: at.clone() }, mode, (span, 0));
                self.know(reg, None);
                self.emit_order_fence(after, ("fence after", marks), span);
                if is_mixed { self.converted(Expr::Var(reg), ty) } else { Expr::Var(reg) }
            }
        }
    }

    /// Loads a scalar for a copy. A scalar without a value yields 0, a pointer without a value yields
    /// its mark.
    pub(super) fn load_copy(&mut self, cell: &Cell, ty: &Type, span: Span) -> Val {
        match cell {
            Cell::Register(reg, _) => {
                let unset = self.state.as_mut().and_then(|state| state.unset.remove(reg));
                let value = self.load(cell, ty, AccessMode::Plain, span);
                if let (Some(unset), Some(state)) = (unset, &mut self.state) {
                    state.unset.insert(*reg, unset);
                }
                value
            }
            Cell::Memory { at, scalar, ty: own, .. }
                if scalar_type(ty)
                    .is_some_and(|ty| ty.bits < 64 && self.may_have_marker(cell, ty)) =>
            {
                if let Some((id, number)) = scalar {
                    self.pass.note_access(self.thread, *id, *number, true, false);
                }
                let ty = scalar_type(ty).unwrap_or(POINTER);
                let reg = self.temporary(POINTER);
                self.emit_access(Op::Load { reg, from: at.clone() }, AccessMode::Plain, (span, 0));
                self.know(reg, None);
                let value = self.without_marker(Expr::Var(reg), own.unwrap_or(ty));
                self.converted(value, ty)
            }
            Cell::Memory { .. } | Cell::Value(_) | Cell::Part(..) => {
                self.load(cell, ty, AccessMode::Plain, span)
            }
        }
    }

    /// Stores a part of a scalar. In memory this is possible only if the store may change the rest
    /// of the scalar: the part is at its start, as a member of a union.
    fn store_part(
        &mut self,
        whole: &Cell,
        own: IntType,
        shift: u8,
        (value, ty): (Val, IntType),
        mode: AccessMode,
        span: Span,
    ) {
        let mask = ((1_u64 << ty.bits) - 1) as i64;
        let value = binary(BinOp::BitAnd, value, Expr::Const(mask));
        if let Cell::Register(reg, _) = whole {
            let old = self.register_value(*reg);
            let kept = binary(BinOp::BitAnd, old, Expr::Const(!(mask << shift)));
            let amount = Expr::Const(i64::from(shift));
            let moved = binary(BinOp::Wide(WideOp::WrapShl), value, amount);
            let new = binary(BinOp::BitOr, kept, moved);
            return self.store(whole, new, own, mode, (span, 0));
        }
        if shift == 0 {
            return self.store(whole, value, own, mode, (span, 0));
        }
        self.error(
            codes::PARTIAL_ACCESS,
            span,
            "a store to a part of a shared scalar is not supported".into(),
            "store the whole scalar",
        );
    }

    /// Stores a scalar of a type. The number distinguishes the stores of one source position.
    pub(super) fn store(
        &mut self,
        cell: &Cell,
        value: Val,
        ty: IntType,
        mode: AccessMode,
        (span, number): (Span, u32),
    ) {
        match cell {
            Cell::Value(_) => {}
            Cell::Part(whole, own, shift) => {
                self.store_part(whole, *own, *shift, (value, ty), mode, span);
            }
            Cell::Register(reg, own) => {
                let value = self.converted(value, *own);
                self.assign(*reg, value, span, number);
            }
            Cell::Memory { at, scalar, ty, .. } => {
                let order = mode.order();
                let Some((before, after)) = order.order.store_fences() else {
                    return self.invalid_order(order.order, "a store", span);
                };
                let value = match ty {
                    Some(ty) => self.converted(value, *ty),
                    None => value,
                };
                let constant = value.as_const();
                let own = ("store", number);
                let marks = self.mark_order(AccessKind::Store, &[order], own, span);
                self.emit_order_fence(before, ("fence before", marks), span);
                let op = Op::Store { to: at.clone(), value };
                self.access_order = order.order.store_order();
                self.emit_access(op, mode, (span, number));
                self.emit_order_fence(after, ("fence after", marks), span);
                if let Some((id, scalar)) = scalar {
                    self.pass.note_access(self.thread, *id, *scalar, false, true);
                    let wide = ty.is_some_and(|ty| ty.bits == 64);
                    if wide && self.pass.plan.is_only_writer(self.thread, *id, *scalar) {
                        self.know_location(at, constant);
                    }
                }
            }
        }
    }

    /// Notes that an update writes a cell.
    pub(super) fn note_update(&mut self, cell: &Cell) {
        if let Cell::Memory { at, scalar: Some((id, scalar)), .. } = cell {
            self.pass.note_access(self.thread, *id, *scalar, true, true);
            let at = at.clone();
            self.know_location(&at, None);
        }
    }

    fn known_location(&self, at: &Address) -> Option<i64> {
        let loc = at.as_fixed()?;
        self.state.as_ref()?.locations.get(&loc).copied()
    }

    fn know_location(&mut self, at: &Address, constant: Option<i64>) {
        if let (Some(state), Some(loc)) = (&mut self.state, at.as_fixed()) {
            match constant {
                Some(value) => state.locations.insert(loc, value),
                None => state.locations.remove(&loc),
            };
        }
    }

    /// Evaluates a memory order. Reports an error if it is not a constant.
    pub(super) fn order(&mut self, order: &'p TypedExpr) -> SourceOrder {
        let span = Some(order.span);
        let value = self.value(order);
        let known = value.as_const().and_then(order_of_value);
        let known = known.unwrap_or_else(|| {
            if self.is_live() {
                self.error(
                    codes::MEMORY_ORDER,
                    order.span,
                    "the memory order is not a constant".into(),
                    "pass a constant such as `memory_order_acquire`",
                );
            }
            MemoryOrder::SeqCst
        });
        SourceOrder { order: known, span }
    }

    pub(super) fn invalid_order(&mut self, order: MemoryOrder, what: &str, span: Span) {
        self.error(
            codes::MEMORY_ORDER,
            span,
            format!("{what} cannot have the memory order `{}`", order.name()),
            "use an order that C11 allows here",
        );
    }

    /// Returns the cell behind a pointer, and the type of the scalar there.
    pub(super) fn pointee_cell(&mut self, pointer: &'p TypedExpr) -> (Cell, Type) {
        let ty = pointee_type(pointer);
        let spot = self.pointee(pointer);
        if scalar_type(&ty).is_none() {
            self.error(
                codes::RECORD_ACCESS,
                pointer.span,
                "an atomic access to a whole record is not supported".into(),
                "use an atomic integer or pointer",
            );
            return (Cell::Value(Expr::Const(0)), Type::int(32, true));
        }
        let cell = self.cell(spot, &ty, pointer.span);
        if let Cell::Part(..) = cell {
            self.error(
                codes::PARTIAL_ACCESS,
                pointer.span,
                "an atomic access to a part of a scalar is not supported".into(),
                "access the whole scalar",
            );
            return (Cell::Value(Expr::Const(0)), ty);
        }
        (cell, ty)
    }

    /// Loads all scalars of a record.
    pub(super) fn load_record(&mut self, spot: &Spot, ty: &Type, span: Span) -> Vec<Val> {
        let scalars = self.pass.scalars(ty, span);
        let mut values = Vec::new();
        for scalar in scalars.iter() {
            let part = super::places::move_spot(spot.clone(), scalar.offset);
            let part_ty = Type::plain(TypeKind::Int(scalar.ty));
            let cell = self.cell(part, &part_ty, span);
            values.push(self.load_copy(&cell, &part_ty, span));
        }
        values
    }

    /// Stores all scalars of a record.
    pub(super) fn store_record(&mut self, spot: &Spot, ty: &Type, values: Vec<Val>, span: Span) {
        let scalars = self.pass.scalars(ty, span);
        for (number, (scalar, value)) in scalars.iter().zip(values).enumerate() {
            let part = super::places::move_spot(spot.clone(), scalar.offset);
            let part_ty = Type::plain(TypeKind::Int(scalar.ty));
            let cell = self.cell(part, &part_ty, span);
            self.store(&cell, value, scalar.ty, AccessMode::Plain, (span, number as u32));
        }
    }

    /// Copies a value that may change to a temporary.
    pub(super) fn keep(&mut self, value: Val, ty: IntType, span: Span) -> Val {
        let mut changes = false;
        value.for_each_var(&mut |reg| changes |= !self.temporaries.contains(reg));
        if !changes {
            return value;
        }
        let reg = self.temporary(ty);
        self.assign(reg, value, span, 0);
        self.register_value(reg)
    }

    /// Emits a nondeterministic choice.
    pub(super) fn choose(&mut self, ty: IntType, lo: i64, hi: i64, span: Span) -> Val {
        let reg = self.temporary(ty);
        self.emit(Op::Choose { reg, lo, hi }, span, "choose");
        self.know(reg, None);
        Expr::Var(reg)
    }
}

/// Returns the type that a pointer points to.
pub(super) fn pointee_type(pointer: &TypedExpr) -> Type {
    match &pointer.ty.kind {
        TypeKind::Pointer(to) => (**to).clone(),
        _ => Type::plain(TypeKind::Void),
    }
}

/// Returns the condition that two values are equal.
pub(super) fn equal(a: Val, b: Val) -> Val {
    binary(BinOp::Eq, a, b)
}
