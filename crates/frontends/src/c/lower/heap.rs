//! Allocated memory.
//!
//! Objects of one type come from one pool. The type comes from the context: the pointer type that
//! the result is converted to, also through functions that return `void *`. A pool has a cell for
//! each allocation in the code of all threads, and [`IN_LOOP`] cells for an allocation in a loop.
//! More allocations reach a bound. `malloc` yields memory with zeros, as `calloc` does.

use fencepost_ir::{BinOp, Expr, Op, PoolId, Span, WideOp};

use super::arithmetic::{Val, binary};
use super::layout::{INT, POINTER, size_of};
use super::plan::ObjectId;
use super::thread::Lowerer;
use crate::c::codes;
use crate::c::typed::{Expr as TypedExpr, RecordId, Type, TypeKind};

/// The number of cells for an allocation in a loop.
const IN_LOOP: u32 = 4;

impl<'p> Lowerer<'_, 'p> {
    /// Allocates an object. Returns its address.
    pub(super) fn allocate(&mut self, size: &'p TypedExpr, hint: Option<&Type>, span: Span) -> Val {
        let size = self.value(size);
        if !self.is_live() {
            return Expr::Const(0);
        }
        let Some(ty) = self.allocated_type(&size, hint, span) else { return Expr::Const(0) };
        let cells = if self.loops > 0 { IN_LOOP } else { 1 };
        let number = self.pass.count_allocation(&ty, cells, self.loops > 0);
        let plan = self.pass.plan.pools.get(number).filter(|pool| pool.ty == ty).cloned();
        let place = self.pass.memory.pool_addresses.get(number).cloned();
        let (Some(plan), Some(place)) = (plan, place) else {
            // The next pass knows the pool.
            return Expr::Var(self.temporary(POINTER));
        };
        let cell = self.temporary(INT);
        let pool = PoolId::from_index(number);
        self.emit(Op::New { reg: cell, pool }, span, "new");
        self.know(cell, None);
        if plan.is_bounded {
            let (full, done) = (self.code.target(), self.code.target());
            let is_full = binary(BinOp::Eq, Expr::Var(cell), Expr::Const(0));
            let text =
                format!("more than {} objects of type `{}` are allocated", plan.cells, plan.name);
            let (no_cell, state) = self.branch_value(is_full, full, done, span);
            self.code.bind(full);
            self.state = no_cell;
            self.reach_bound(text, span);
            self.code.bind(done);
            self.state = state;
        }
        if place.cells == 1 {
            return Expr::Const(place.first);
        }
        let pointer = self.temporary(POINTER);
        let bytes = binary(BinOp::Mul, Expr::Var(cell), Expr::Const(place.stride));
        let address = binary(BinOp::Add, bytes, Expr::Const(place.first - place.stride));
        self.assign(pointer, address, span, 0);
        self.register_value(pointer)
    }

    /// Returns the type of an allocated object.
    fn allocated_type(&mut self, size: &Val, hint: Option<&Type>, span: Span) -> Option<Type> {
        let Some(size) = size.as_const().and_then(|size| u64::try_from(size).ok()) else {
            self.error(
                codes::ALLOCATION,
                span,
                "the size of this allocation is not a constant".into(),
                "allocate objects of a fixed size",
            );
            return None;
        };
        let program = self.pass.program;
        let of_type = |ty: &Type| {
            let one = size_of(program, ty);
            match ty.kind {
                TypeKind::Void | TypeKind::Function(_) | TypeKind::Unsupported { .. } => None,
                _ if one == 0 || size == 0 || size % one != 0 => None,
                _ if size == one => Some(ty.clone()),
                _ => Some(Type::plain(TypeKind::Array(Box::new(ty.clone()), size / one))),
            }
        };
        let by_size = || {
            let mut records = (0..program.records.len() as u32)
                .map(|at| Type::plain(TypeKind::Record(RecordId(at))))
                .filter(|ty| size_of(program, ty) == size);
            match (records.next(), records.next()) {
                (Some(only), None) => Some(only),
                _ => None,
            }
        };
        let found = hint.and_then(of_type).or_else(by_size);
        if found.is_none() {
            self.error(
                codes::ALLOCATION,
                span,
                "the type of the allocated object is not known".into(),
                "convert the result to a pointer to the type, and use `sizeof` of the type",
            );
        }
        found
    }

    /// Frees an object.
    pub(super) fn free(&mut self, pointer: Val, span: Span) {
        let invalid = "free of an invalid pointer";
        if let Some(address) = pointer.as_const() {
            if address == 0 {
                return;
            }
            match self.pass.memory.object_at(address) {
                Some((ObjectId::Cell(pool, cell), 0)) => {
                    let pool = PoolId::from_index(pool as usize);
                    let cell = Expr::Const(i64::from(cell) + 1);
                    self.emit(Op::Free { pool, cell }, span, "free");
                }
                _ => self.assert(Expr::Const(0), span, invalid),
            }
            return;
        }
        let pointer = self.keep(pointer, POINTER, span);
        let (done, mut next) = (self.code.target(), self.code.target());
        let mut after;
        let is_null = binary(BinOp::Eq, pointer.clone(), Expr::Const(0));
        let (null, other) = self.branch_value(is_null, done, next, span);
        after = null;
        self.code.bind(next);
        self.state = other;
        let pools = self.pass.memory.pool_addresses.clone();
        for (number, pool) in pools.iter().enumerate() {
            let end = pool.first + pool.stride * i64::from(pool.cells);
            let low = binary(BinOp::Ge, pointer.clone(), Expr::Const(pool.first));
            let high = binary(BinOp::Lt, pointer.clone(), Expr::Const(end));
            let distance =
                binary(BinOp::Wide(WideOp::Sub), pointer.clone(), Expr::Const(pool.first));
            let stride = Expr::Const(pool.stride);
            let rest = binary(BinOp::Wide(WideOp::Rem), distance.clone(), stride.clone());
            let is_start = binary(BinOp::Eq, rest, Expr::Const(0));
            let inside = binary(BinOp::And, binary(BinOp::And, low, high), is_start);
            let here = self.code.target();
            next = self.code.target();
            let (state, other) = self.branch_value(inside, here, next, span);
            self.code.bind(here);
            self.state = state;
            let cell = binary(
                BinOp::Wide(WideOp::Add),
                binary(BinOp::Wide(WideOp::Div), distance, stride),
                Expr::Const(1),
            );
            let pool = PoolId::from_index(number);
            self.emit_numbered(Op::Free { pool, cell }, span, "free", number as u32);
            let state = self.state.clone();
            self.jump(done, span);
            after = self.merge(after, state, span);
            self.code.bind(next);
            self.state = other;
        }
        self.assert(Expr::Const(0), span, invalid);
        self.code.bind(done);
        self.state = after;
    }

    /// Evaluates `realloc`. Only an object at a known address can be resized.
    pub(super) fn reallocate(
        &mut self,
        pointer: &'p TypedExpr,
        size: &'p TypedExpr,
        hint: Option<&Type>,
        span: Span,
    ) -> Val {
        let old = self.value(pointer);
        match old.as_const() {
            Some(0) => self.allocate(size, hint, span),
            Some(address) => {
                let new = self.allocate(size, hint, span);
                let found = self.pass.memory.object_at(address);
                let ty = found.and_then(|(id, _)| self.pass.memory.object(id));
                if let Some(ty) = ty.map(|object| object.ty.clone()) {
                    let from = self.spot_at(old.clone());
                    let to = self.spot_at(new.clone());
                    let values = self.load_record(&from, &ty, span);
                    self.store_common(&to, &ty, values, span);
                }
                self.free(old, span);
                new
            }
            None => {
                self.error(
                    codes::ALLOCATION,
                    span,
                    "`realloc` of an object that is not known is not supported".into(),
                    "allocate a new object and copy the values",
                );
                Expr::Const(0)
            }
        }
    }

    /// Stores the scalars of an object that the target has, too.
    fn store_common(&mut self, to: &super::places::Spot, ty: &Type, values: Vec<Val>, span: Span) {
        let scalars = self.pass.scalars(ty, span);
        let limit = match to {
            super::places::Spot::Object { id, .. } => {
                self.pass.memory.object(*id).map_or(0, |object| object.size)
            }
            _ => u64::MAX,
        };
        for (number, (scalar, value)) in scalars.iter().zip(values).enumerate() {
            if scalar.offset < limit {
                let part = super::places::move_spot(to.clone(), scalar.offset);
                let part_ty = Type::plain(TypeKind::Int(scalar.ty));
                let cell = self.cell(part, &part_ty, span);
                let order = crate::orders::MemoryOrder::Relaxed;
                self.store(&cell, value, order, span, number as u32);
            }
        }
    }
}
