//! Places in memory: where an lvalue is, and the cell that an access uses.
//!
//! A place of a known object is a fixed location, or an array element with a bounds check. Only
//! places behind pointers whose value is not known use the targets of pointers. An access to a part
//! of a known scalar is not supported.

use fencepost_ir::{Address, BinOp, Expr, Loc, Pointer, Reg, Span, Value, WideOp};

use super::arithmetic::{Val, binary, element, offset, select};
use super::layout::{POINTER, scalar_type, size_of};
use super::plan::ObjectId;
use super::thread::{Lowerer, Slot};
use crate::c::codes;
use crate::c::typed::{
    Expr as TypedExpr, ExprKind, IntType, Place, PlaceKind, Type, TypeKind, Variable, VariableId,
};

/// Where an lvalue is.
#[derive(Clone, Debug)]
pub(super) enum Spot {
    /// A local scalar without an address.
    Register(Reg, IntType),
    /// A part of a known object.
    Object { id: ObjectId, offset: u64, steps: Vec<Step> },
    /// Behind a pointer.
    Pointer(Val),
    /// A part of a record that is only a value: its scalars by offset.
    Values(Vec<(u64, Val)>),
}

/// An array element with an index that is not a constant.
#[derive(Clone, Debug)]
pub(super) struct Step {
    index: Val,
    len: u64,
    /// The size of an element in bytes.
    size: u64,
}

/// The storage of one scalar.
#[derive(Clone, Debug)]
pub(super) enum Cell {
    Register(Reg, IntType),
    Memory {
        at: Address,
        /// The scalar, if it is known.
        scalar: Option<(ObjectId, u32)>,
        /// The type of the location, if it is known.
        ty: Option<IntType>,
        /// Whether it is accessed as a pointer.
        is_pointer: bool,
    },
    Value(Val),
    /// A part of a larger scalar: its first bit.
    Part(Box<Cell>, IntType, u8),
}

impl<'p> Lowerer<'_, 'p> {
    /// Returns where a place is.
    pub(super) fn spot(&mut self, place: &'p Place) -> Spot {
        match &place.kind {
            PlaceKind::Variable(variable) => self.variable(*variable),
            PlaceKind::Deref(pointer) => self.pointee(pointer),
            PlaceKind::Field(base, field) => {
                let bytes = match &base.ty.kind {
                    TypeKind::Record(id) => {
                        let record = self.pass.program.records.get(id.0 as usize);
                        record.and_then(|r| r.fields.get(*field as usize)).map_or(0, |f| f.offset)
                    }
                    _ => 0,
                };
                let spot = self.spot(base);
                move_spot(spot, bytes)
            }
            PlaceKind::Index(base, index) => {
                let (size, len) = match &base.ty.kind {
                    TypeKind::Array(element, len) => (size_of(self.pass.program, element), *len),
                    _ => (1, 0),
                };
                let spot = self.spot(base);
                let index = self.value(index);
                self.indexed(spot, index, (len, size), place.span)
            }
            PlaceKind::Compound { variable, init } => {
                if let VariableId::Local(local) = variable {
                    self.declare(*local);
                    self.initialize(*local, Some(init), place.span);
                }
                self.variable(*variable)
            }
            PlaceKind::Value(value) => {
                let scalars = self.pass.scalars(&value.ty, value.span);
                let values = self.eval(value, None).scalars();
                Spot::Values(scalars.iter().map(|scalar| scalar.offset).zip(values).collect())
            }
        }
    }

    fn variable(&mut self, variable: VariableId) -> Spot {
        let object = |id| Spot::Object { id, offset: 0, steps: Vec::new() };
        match variable {
            VariableId::Global(at) => {
                let global = self.pass.program.globals.get(at as usize);
                if !global.is_some_and(|global| global.thread_local) {
                    return object(ObjectId::Global(at));
                }
                let id = ObjectId::ThreadLocal(self.thread, at);
                self.pass.next.thread_locals.insert(id);
                if let Some(global) = global {
                    self.pass.know_object(id, &global.name, &global.ty);
                    self.hold_thread_local(id, global);
                }
                object(id)
            }
            VariableId::Local(local) => match self.declare(local) {
                Slot::Register(reg, ty) => Spot::Register(reg, ty),
                Slot::Object(id) => object(id),
                Slot::None => Spot::Pointer(Expr::Const(0)),
            },
        }
    }

    /// Returns the place behind a pointer.
    pub(super) fn pointee(&mut self, pointer: &'p TypedExpr) -> Spot {
        match &pointer.kind {
            ExprKind::AddressOf(place) => return self.spot(place),
            // `a[i]` that is written as `*(a + i)`.
            ExprKind::PointerAdd { pointer: base, index, size } => {
                if let ExprKind::AddressOf(Place { kind: PlaceKind::Index(array, first), .. }) =
                    &base.kind
                    && first.kind == ExprKind::Const(0)
                    && let TypeKind::Array(element, len) = &array.ty.kind
                    && size_of(self.pass.program, element) == *size
                {
                    let spot = self.spot(array);
                    let index = self.value(index);
                    return self.indexed(spot, index, (*len, *size), pointer.span);
                }
            }
            _ => {}
        }
        let value = self.value(pointer);
        self.spot_at(value)
    }

    /// Returns the place of an element of an array with a length and an element size.
    fn indexed(&mut self, spot: Spot, index: Val, (len, size): (u64, u64), span: Span) -> Spot {
        let constant = index.as_const().and_then(|at| u64::try_from(at).ok());
        match (constant, spot) {
            // A flexible array member has length 0.
            (Some(at), spot @ (Spot::Object { .. } | Spot::Values(_))) if at < len || len == 0 => {
                move_spot(spot, at.saturating_mul(size))
            }
            (_, Spot::Object { id, offset, mut steps }) if len > 0 => {
                steps.push(Step { index, len, size });
                Spot::Object { id, offset, steps }
            }
            (_, Spot::Pointer(pointer)) => Spot::Pointer(element(pointer, index, size as Value)),
            (_, spot) => {
                let address = self.address_of(spot, span);
                Spot::Pointer(element(address, index, size as Value))
            }
        }
    }

    /// Returns the place with an address.
    pub(super) fn spot_at(&mut self, address: Val) -> Spot {
        let known = address.as_const().and_then(|address| self.pass.memory.object_at(address));
        match known {
            Some((id, offset)) => Spot::Object { id, offset, steps: Vec::new() },
            None => Spot::Pointer(address),
        }
    }

    /// Returns the address of a place.
    pub(super) fn address_of(&mut self, spot: Spot, span: Span) -> Val {
        match spot {
            Spot::Object { id, offset: bytes, steps } => {
                let Some(object) = self.pass.memory.object(id) else { return Expr::Const(0) };
                let start = Expr::Const(object.address + bytes as Value);
                steps
                    .into_iter()
                    .fold(start, |at, step| element(at, step.index, step.size as Value))
            }
            Spot::Pointer(address) => address,
            Spot::Register(..) | Spot::Values(_) => {
                self.error(
                    codes::RECORD_ACCESS,
                    span,
                    "the address of this value is not supported".into(),
                    "store the value in a variable first",
                );
                Expr::Const(0)
            }
        }
    }

    /// Returns the cell of a scalar of a type at a place.
    pub(super) fn cell(&mut self, spot: Spot, ty: &Type, span: Span) -> Cell {
        let holds_pointer = matches!(ty.kind, TypeKind::Pointer(_));
        let ty = scalar_type(ty).unwrap_or(POINTER);
        let mut cell = match spot {
            Spot::Register(reg, ty) => Cell::Register(reg, ty),
            Spot::Values(values) => {
                let value = values.into_iter().find(|(offset, _)| *offset == 0);
                Cell::Value(value.map_or(Expr::Const(0), |(_, value)| value))
            }
            Spot::Pointer(value) => self.pointer_cell(value, ty, span),
            Spot::Object { id, offset, steps } => self.object_cell(id, offset, &steps, ty, span),
        };
        if let Cell::Memory { is_pointer, .. } = &mut cell {
            *is_pointer = holds_pointer;
        }
        cell
    }

    fn pointer_cell(&mut self, value: Val, ty: IntType, span: Span) -> Cell {
        if let Some(is_inner) = self.pass.memory.parts(ty.bits) {
            self.pass.next.mixed_signs.insert(ty.bits);
            if is_inner {
                self.error(
                    codes::UNION,
                    span,
                    "a pointer may point to a part of a larger member of a union".into(),
                    "use members of the same size, or shifts",
                );
            }
        }
        if ty.bits < 64 && self.pass.effects.has_both_signs(ty.bits) {
            self.pass.next.mixed_signs.insert(ty.bits);
        }
        let (targets, ended) = self.reachable(ty);
        let at = Address::through(Pointer { value, targets, ended });
        Cell::Memory { at, scalar: None, ty: None, is_pointer: false }
    }

    fn object_cell(
        &mut self,
        id: ObjectId,
        bytes: u64,
        steps: &[Step],
        ty: IntType,
        span: Span,
    ) -> Cell {
        if self.is_ended(id) {
            self.fail_ended(span);
            return Cell::Value(Expr::Const(0));
        }
        let Some(object) = self.pass.memory.object(id) else { return Cell::Value(Expr::Const(0)) };
        let (address, name) = (object.address, object.name.clone());
        let found = object.scalar_at(bytes).filter(|(_, found)| found.bits == ty.bits);
        let Some((number, own)) = found else {
            if bytes >= object.size {
                return self.pointer_cell(Expr::Const(address + bytes as Value), ty, span);
            }
            let container = object.container_at(bytes, ty.bits).filter(|_| steps.is_empty());
            if let Some((number, own, shift)) = container {
                return Cell::Part(Box::new(self.fixed_cell(id, number, own)), own, shift);
            }
            if self.pass.report_unknown_type(id) {
                return Cell::Value(Expr::Const(0));
            }
            self.error(
                codes::PARTIAL_ACCESS,
                span,
                format!("this access has another size than the scalar at its place in `{name}`"),
                "access the object with its own type",
            );
            return Cell::Value(Expr::Const(0));
        };
        if steps.is_empty() {
            return self.fixed_cell(id, number, own);
        }
        // The number of scalars between two elements.
        let counts: Vec<u64> = steps
            .iter()
            .map(|step| {
                let next = object.scalar_at(bytes + step.size).map(|(next, _)| next);
                next.map_or(0, |next| u64::from(next.saturating_sub(number)))
            })
            .collect();
        let total = object.scalars.len() as u32;
        if id.owner().is_some() && !self.pass.is_in_memory(id) {
            self.pass.next.in_memory.insert(id);
        }
        if id.owner().is_none() {
            self.pass.next.used.insert(id);
        }
        for scalar in 0..total {
            self.pass.note_access(self.thread, id, scalar, true, true);
        }
        let len: u64 = steps.iter().zip(&counts).map(|(step, count)| (step.len - 1) * count).sum();
        let index = scalar_index(steps, &counts);
        let base = self.pass.memory.object(id).and_then(|object| object.base);
        let base = Loc(base.map_or(0, |base| base.0) + number);
        let mut at = Address::element(base, len as u32 + 1, index);
        if let Some((pool, cell, first)) = self.pass.memory.cell(id) {
            let first = self.pass.memory.object(first);
            at.base = Loc(first.and_then(|first| first.base).map_or(0, |b| b.0) + number);
            at.cell = Some((pool, Expr::Const(Value::from(cell) + 1)));
        }
        Cell::Memory { at, scalar: None, ty: Some(own), is_pointer: false }
    }

    /// Returns the cell of a scalar of a known object.
    pub(super) fn fixed_cell(&mut self, id: ObjectId, number: u32, ty: IntType) -> Cell {
        if let Some(owner) = id.owner() {
            if owner != self.thread {
                self.pass.next.in_memory.insert(id);
            } else if let Some(registers) = self.held.get(&id) {
                return match registers.get(number as usize) {
                    Some(reg) => Cell::Register(*reg, ty),
                    None => Cell::Value(Expr::Const(0)),
                };
            }
        } else {
            self.pass.next.used.insert(id);
        }
        let base_of = |id| self.pass.memory.object(id).and_then(|object| object.base);
        let at = match self.pass.memory.cell(id) {
            Some((pool, cell, first)) => {
                let first = base_of(first).map_or(0, |base| base.0);
                let cell = Some((pool, Expr::Const(Value::from(cell) + 1)));
                Address { cell, ..Address::fixed(Loc(first + number)) }
            }
            None => Address::fixed(Loc(base_of(id).map_or(0, |base| base.0) + number)),
        };
        Cell::Memory { at, scalar: Some((id, number)), ty: Some(ty), is_pointer: false }
    }

    /// Gives a thread-local variable registers, unless it is in memory. Registers start as 0.
    fn hold_thread_local(&mut self, id: ObjectId, global: &Variable) {
        if global.init.as_ref().is_some_and(|init| !init.items.is_empty()) {
            self.pass.next.in_memory.insert(id);
        } else {
            self.hold(id, &global.name);
        }
    }

    /// Returns whether no other thread accesses an address.
    pub(super) fn is_private(&self, at: &Address) -> bool {
        at.as_fixed().is_some_and(|loc| {
            super::aux::is_auxiliary(loc)
                || self
                    .pass
                    .scalar_of(loc)
                    .is_some_and(|(id, scalar)| self.pass.plan.is_private(self.thread, id, scalar))
        })
    }
}

/// Returns the index of a scalar in its array, or -1 if an inner index is out of bounds.
fn scalar_index(steps: &[Step], counts: &[u64]) -> Val {
    let mut sum = None;
    let mut inside: Option<Val> = None;
    for (step, count) in steps.iter().zip(counts) {
        let index = step.index.clone();
        let part = match count {
            1 => index.clone(),
            count => {
                let count = Expr::Const(*count as Value);
                binary(BinOp::Wide(WideOp::Mul), index.clone(), count)
            }
        };
        sum = Some(match sum {
            None => part,
            Some(sum) => binary(BinOp::Wide(WideOp::Add), sum, part),
        });
        if steps.len() > 1 || *count == 0 {
            let low = binary(BinOp::Ge, index.clone(), Expr::Const(0));
            let high = binary(BinOp::Lt, index, Expr::Const(step.len as Value));
            let both = binary(BinOp::And, low, high);
            inside = Some(match inside {
                None => both,
                Some(inside) => binary(BinOp::And, inside, both),
            });
        }
    }
    let sum = sum.unwrap_or(Expr::Const(0));
    match inside {
        Some(inside) => select(inside, sum, Expr::Const(-1)),
        None => sum,
    }
}

/// Moves a place by a constant number of bytes.
pub(super) fn move_spot(spot: Spot, bytes: u64) -> Spot {
    match spot {
        Spot::Object { id, offset, steps } => Spot::Object { id, offset: offset + bytes, steps },
        Spot::Pointer(pointer) => Spot::Pointer(offset(pointer, bytes as Value)),
        Spot::Values(values) => Spot::Values(
            values
                .into_iter()
                .filter_map(|(at, value)| Some((at.checked_sub(bytes)?, value)))
                .collect(),
        ),
        Spot::Register(..) => spot,
    }
}
