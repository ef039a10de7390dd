//! Allocated memory.
//!
//! The type of an object comes from the context: the pointer type that the result is converted to,
//! also through functions that return `void *`, or a later conversion of its address. An object of
//! an unknown type consists of bytes; it is an error if a pointer may access it.
//!
//! If objects of a type may be freed, they come from one pool for all threads, because an allocator
//! may give the address of a freed object to any thread. If no `free` reaches objects of the type
//! ([`Plan::freed`]), their addresses do not depend on the order of allocations. Then allocations of
//! different threads commute: an allocation that is executed at most once has an object of its own,
//! at a constant address and without a statement, and the allocations of a thread in loops share a
//! pool.
//!
//! A pool has a cell for each of its allocations in the code, and [`IN_LOOP`] cells for an allocation
//! in a loop. More allocations reach a bound. `calloc` has pools of its own, whose objects are 0.
//!
//! [`Plan::freed`]: super::plan::Plan::freed
//!
//! If the size is not a constant, there is a pool for each number of elements up to
//! [`MAX_ELEMENTS`]. More elements reach a bound.

use std::collections::BTreeSet;

use fencepost_ir::{BinOp, Expr, Fault, Op, Reg, Span, WideOp};

use super::access::AccessMode;
use super::arithmetic::{Val, binary, offset};
use super::layout::{INT, POINTER, flexible_member, scalars, size_of};
use super::memory::PoolAddresses;
use super::pass::Pass;
use super::places::Spot;
use super::plan::{ObjectId, PoolPlan, PoolUsers};
use super::thread::Lowerer;
use crate::c::codes;
use crate::c::typed::{Expr as TypedExpr, IntType, RecordId, Type, TypeKind};

/// The number of cells for an allocation in a loop.
const IN_LOOP: u32 = 4;
/// The largest number of elements of an allocation whose size is not a constant.
const MAX_ELEMENTS: u64 = 8;

/// The type of an allocated object, and the number of elements of its flexible array member.
type ObjectType = (Type, u64);

impl<'p> Lowerer<'_, 'p> {
    /// Allocates an object. Returns its address.
    pub(super) fn allocate(
        &mut self,
        size: &'p TypedExpr,
        zero: bool,
        hint: Option<&Type>,
        span: Span,
    ) -> Val {
        let size = self.value(size);
        self.allocate_from((&size, zero), hint, None, span)
    }

    /// Allocates an object of a size, with the values of an old object.
    fn allocate_from(
        &mut self,
        (size, zero): (&Val, bool),
        hint: Option<&Type>,
        old: Option<&Val>,
        span: Span,
    ) -> Val {
        if !self.is_live() {
            return Expr::Const(0);
        }
        let hint = hint.cloned().or_else(|| self.frame().hint.clone());
        let hint = hint.or_else(|| self.pass.plan.inferred_types.get(&span).cloned());
        if let Some(size) = size.as_const() {
            let known = self.object_type(size, hint.as_ref());
            let is_known = known.is_some();
            let object = known.unwrap_or_else(|| bytes(size));
            let new = self.new_cell(&object, zero, span);
            if !is_known && let Some(number) = self.pass.pool_of(&object, zero) {
                self.pass.unknown_types.insert(number, span);
            }
            self.copy_old(old, &new, (&object, size), span);
            return new;
        }
        let element = match &hint {
            Some(ty) => match flexible_member(self.pass.program, ty) {
                Some((_, element)) => Some((ty.clone(), size_of(self.pass.program, element))),
                None => Some((ty.clone(), size_of(self.pass.program, ty))),
            },
            None => None,
        };
        let Some((ty, step)) = element.filter(|(_, step)| *step > 0) else {
            self.error(
                codes::ALLOCATION,
                span,
                "neither the size nor the type of this allocation is known".into(),
                "convert the result to a pointer to the type",
            );
            return Expr::Const(0);
        };
        let first = match flexible_member(self.pass.program, &ty) {
            Some(_) => size_of(self.pass.program, &ty),
            None => 0,
        };
        let size = self.keep(size.clone(), POINTER, span);
        let result = self.temporary(POINTER);
        let done = self.code.target();
        let mut after = None;
        self.conditional += 1;
        for count in 1..=MAX_ELEMENTS {
            let bytes = (first + count * step) as i64;
            let Some(object) = self.object_type(bytes, Some(&ty)) else { continue };
            let (yes, no) = (self.code.target(), self.code.target());
            let is_it = binary(BinOp::Eq, size.clone(), Expr::Const(bytes));
            let (here, other) = self.branch_value(is_it, yes, no, span);
            self.code.bind(yes);
            self.state = here;
            let new = self.new_cell(&object, zero, span);
            self.copy_old(old, &new, (&object, bytes), span);
            self.assign(result, new, span, count as u32);
            let state = self.state.clone();
            self.jump(done, span);
            after = self.merge(after, state, span);
            self.code.bind(no);
            self.state = other;
        }
        let text = format!(
            "more than {MAX_ELEMENTS} elements are allocated with a size that is not a constant"
        );
        self.reach_bound(text, span);
        self.conditional -= 1;
        self.code.bind(done);
        self.state = after;
        self.register_value(result)
    }

    /// Returns the type of an object with a size.
    fn object_type(&self, size: i64, hint: Option<&Type>) -> Option<ObjectType> {
        let size = u64::try_from(size).ok()?;
        let program = self.pass.program;
        let of_type = |ty: &Type| {
            let one = size_of(program, ty);
            if let Some((offset, element)) = flexible_member(program, ty) {
                let tail = size.checked_sub(offset)? / size_of(program, element).max(1);
                return (size >= one).then(|| (ty.clone(), tail));
            }
            match ty.kind {
                TypeKind::Void | TypeKind::Function(_) | TypeKind::Unsupported { .. } => None,
                _ if one == 0 || size == 0 || size % one != 0 => None,
                _ if size == one => Some((ty.clone(), 0)),
                _ => Some((Type::plain(TypeKind::Array(Box::new(ty.clone()), size / one)), 0)),
            }
        };
        let by_size = || {
            let mut records = (0..program.records.len() as u32)
                .map(|at| Type::plain(TypeKind::Record(RecordId(at))))
                .filter(|ty| size_of(program, ty) == size);
            match (records.next(), records.next()) {
                (Some(only), None) => Some((only, 0)),
                _ => None,
            }
        };
        hint.and_then(of_type).or_else(by_size)
    }

    /// Notes that an address is converted to a pointer to a type: the object there may be of an
    /// unknown type.
    pub(super) fn note_conversion(&mut self, address: &Val, ty: &Type) {
        let is_type = !matches!(ty.kind, TypeKind::Void | TypeKind::Function(_));
        let object = address.as_const().and_then(|at| self.pass.memory.object_at(at));
        if let (Some((ObjectId::Cell(number, _), 0)), true) = (object, is_type)
            && let Some(span) = self.pass.unknown_types.get(&number)
        {
            self.pass.next.inferred_types.entry(*span).or_insert_with(|| ty.clone());
        }
    }

    /// Takes a cell of the pool of a type. Returns its address.
    fn new_cell(&mut self, (ty, tail): &ObjectType, zero: bool, span: Span) -> Val {
        let users = self.pool_users((ty, *tail), zero);
        let is_in_loop = self.loops > 0;
        let number = self.pass.count_allocation((ty, *tail), zero, users, is_in_loop);
        let is_pool = |pool: &&PoolPlan| {
            pool.users == users && pool.object_type() == (ty.clone(), *tail, zero)
        };
        let plan = self.pass.plan.pools.get(number).filter(is_pool).cloned();
        let place = self.pass.memory.pool_addresses.get(number).cloned();
        let (Some(plan), Some(place)) = (plan, place) else {
            // The next pass knows the pool.
            let program = self.pass.program;
            let at = self.pass.memory.provisional_cell(program, number as u32, ty, *tail);
            return Expr::Const(at);
        };
        let Some(pool) = place.id else { return Expr::Const(place.first) };
        let cell = self.temporary(INT);
        self.emit_numbered(Op::New { reg: cell, pool }, span, "new", number as u32);
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
        // The only address among the constants is that of the pool: no other object escapes.
        let before = binary(BinOp::Sub, Expr::Var(cell), Expr::Const(1));
        let bytes = binary(BinOp::Mul, before, Expr::Const(place.stride));
        let address = binary(BinOp::Add, bytes, Expr::Const(place.first));
        self.assign(pointer, address, span, 0);
        self.register_value(pointer)
    }

    /// Returns which allocations share the pool of an allocation at this position.
    fn pool_users(&mut self, (ty, tail): (&Type, u64), zero: bool) -> PoolUsers {
        if self.pass.plan.freed.contains(&(ty.clone(), tail, zero)) {
            PoolUsers::All
        } else if self.loops > 0 {
            PoolUsers::Thread(self.thread)
        } else {
            self.allocations += 1;
            PoolUsers::Place(self.thread, self.allocations)
        }
    }

    /// Frees an object.
    pub(super) fn free(&mut self, pointer: Val, span: Span) {
        if let Some(address) = pointer.as_const() {
            if address == 0 {
                return;
            }
            self.pass.freed.push((self.thread, pointer));
            match self.pass.memory.object_at(address) {
                Some((id @ ObjectId::Cell(..), 0)) => {
                    // Without a pool, the next pass knows that objects of this type are freed.
                    if let Some((pool, cell, _)) = self.pass.memory.cell(id) {
                        let cell = Expr::Const(i64::from(cell) + 1);
                        self.emit(Op::Free { pool, cell }, span, "free");
                    }
                }
                _ => self.require(Expr::Const(0), Fault::InvalidFree, span, "invalid free"),
            }
            return;
        }
        self.for_pool_of(pointer, span, |lowerer, number, cell| {
            let pool = lowerer.pass.memory.pool_addresses.get(number).and_then(|pool| pool.id);
            let Some(pool) = pool else { return };
            lowerer.emit_numbered(Op::Free { pool, cell }, span, "free", number as u32);
        });
    }

    /// Runs `lower` for each pool in which a freed pointer may be, with the number of the pool and of
    /// the cell. A null pointer does nothing. Any other pointer that is not the start of a cell is a
    /// failure.
    fn for_pool_of(
        &mut self,
        pointer: Val,
        span: Span,
        mut lower: impl FnMut(&mut Self, usize, Val),
    ) {
        let pointer = self.keep(pointer, POINTER, span);
        self.pass.freed.push((self.thread, pointer.clone()));
        let (done, next) = (self.code.target(), self.code.target());
        let is_null = binary(BinOp::Eq, pointer.clone(), Expr::Const(0));
        let (mut after, other) = self.branch_value(is_null, done, next, span);
        self.code.bind(next);
        self.state = other;
        self.conditional += 1;
        let plan = self.pass.plan.clone();
        for (number, pool) in self.pass.memory.pool_addresses.clone().iter().enumerate() {
            if plan.pools.get(number).is_none_or(|pool| pool.users != PoolUsers::All) {
                continue;
            }
            let (inside, cell) = cell_of(&pointer, pool);
            let (here, next) = (self.code.target(), self.code.target());
            let (state, other) = self.branch_value(inside, here, next, span);
            self.code.bind(here);
            self.state = state;
            lower(self, number, cell);
            let state = self.state.clone();
            self.jump(done, span);
            after = self.merge(after, state, span);
            self.code.bind(next);
            self.state = other;
        }
        self.require(Expr::Const(0), Fault::InvalidFree, span, "invalid free");
        self.conditional -= 1;
        self.code.bind(done);
        self.state = after;
    }

    /// Evaluates `realloc`.
    pub(super) fn reallocate(
        &mut self,
        pointer: &'p TypedExpr,
        size: &'p TypedExpr,
        hint: Option<&Type>,
        span: Span,
    ) -> Val {
        let old = self.value(pointer);
        let old = self.keep(old, POINTER, span);
        let size = self.value(size);
        let new = self.allocate_from((&size, false), hint, Some(&old), span);
        self.free(old, span);
        new
    }

    /// Copies the common part of an old object to a new one.
    fn copy_old(
        &mut self,
        old: Option<&Val>,
        new: &Val,
        (object, size): (&ObjectType, i64),
        span: Span,
    ) {
        let Some(old) = old else { return };
        if let Some(address) = old.as_const() {
            if let Some((id @ ObjectId::Cell(..), 0)) = self.pass.memory.object_at(address) {
                self.copy_object(id, old, new, size, span);
            }
            return;
        }
        let size_limit = size;
        self.for_pool_of(old.clone(), span, |lowerer, number, _| {
            let id = ObjectId::Cell(number as u32, 0);
            if lowerer.has_layout_of(id, object, size_limit) {
                lowerer.copy_object(id, old, new, size_limit, span);
            } else {
                lowerer.reach_bound("`realloc` of an object of another type".into(), span);
            }
        });
    }

    /// Returns whether the scalars of an object are those of a type, up to a size.
    fn has_layout_of(&mut self, id: ObjectId, (ty, tail): &ObjectType, size: i64) -> bool {
        let Ok(new) = scalars(self.pass.program, ty, *tail) else { return false };
        let Some(object) = self.pass.memory.object(id) else { return false };
        let old = object.scalars.iter().filter(|scalar| scalar.end() <= size as u64);
        old.zip(new.iter()).all(|(a, b)| a.offset == b.offset && a.ty == b.ty)
    }

    /// Copies the scalars of an object like `id` that both objects have.
    fn copy_object(&mut self, id: ObjectId, old: &Val, new: &Val, size: i64, span: Span) {
        let Some(object) = self.pass.memory.object(id) else { return };
        let scalars = object.scalars.clone();
        for (number, scalar) in scalars.iter().enumerate() {
            if scalar.end() > size as u64 {
                break;
            }
            let ty = Type::plain(TypeKind::Int(scalar.ty));
            let at = |start: &Val| offset(start.clone(), scalar.offset as i64);
            let from: Spot = self.spot_at(at(old));
            let cell = self.cell(from, &ty, span);
            let value = self.load_copy(&cell, &ty, span);
            let to = self.spot_at(at(new));
            let cell = self.cell(to, &ty, span);
            self.store(&cell, value, scalar.ty, AccessMode::Plain, (span, number as u32));
        }
    }
}

impl Pass<'_> {
    /// Returns the pool of the last allocation of a type.
    fn pool_of(&self, (ty, tail): &ObjectType, zero: bool) -> Option<u32> {
        let ty = (ty.clone(), *tail, zero);
        let at = self.next.pools.iter().rposition(|pool| pool.object_type() == ty)?;
        Some(at as u32)
    }

    /// Reports the objects of an unknown type that may be accessed through a pointer.
    pub(super) fn check_unknown_types(&mut self) {
        if self.unknown_types.is_empty() {
            return;
        }
        let accessed: BTreeSet<ObjectId> = self.pointees().into_iter().flatten().collect();
        for number in self.unknown_types.clone().into_keys() {
            if accessed.contains(&ObjectId::Cell(number, 0)) {
                self.report_unknown_type(ObjectId::Cell(number, 0));
            }
        }
    }

    /// Reports an access to an object of an unknown type. Returns whether it is one.
    pub(super) fn report_unknown_type(&mut self, id: ObjectId) -> bool {
        let ObjectId::Cell(number, _) = id else { return false };
        let Some(span) = self.unknown_types.get(&number).copied() else { return false };
        self.error(
            codes::ALLOCATION,
            span,
            "the type of the allocated object is not known".into(),
            "convert the result to a pointer to the type, and use `sizeof` of the type",
        );
        true
    }

    /// Counts an allocation. Returns the number of its pool.
    fn count_allocation(
        &mut self,
        (ty, tail): (&Type, u64),
        zero: bool,
        users: PoolUsers,
        is_in_loop: bool,
    ) -> usize {
        let is_pool =
            |pool: &PoolPlan| pool.users == users && pool.object_type() == (ty.clone(), tail, zero);
        let found = self.next.pools.iter().position(is_pool);
        let at = found.unwrap_or(self.next.pools.len());
        if found.is_none() {
            let (ty, name) = (ty.clone(), self.type_name(ty));
            let (cells, is_bounded) = (0, false);
            self.next.pools.push(PoolPlan { users, ty, tail, name, cells, zero, is_bounded });
        }
        let pool = &mut self.next.pools[at];
        pool.cells += if is_in_loop { IN_LOOP } else { 1 };
        pool.is_bounded |= is_in_loop;
        at
    }

    /// Gives the pool of each thread as many cells as a pool for all threads would have: one thread
    /// may allocate most objects.
    pub(super) fn extend_pools(&mut self) {
        let of_thread = |pool: &PoolPlan| matches!(pool.users, PoolUsers::Thread(_));
        let counts: Vec<u32> = (self.next.pools.iter())
            .map(|pool| {
                let ty = pool.object_type();
                let others = self.next.pools.iter();
                others.filter(|p| of_thread(p) && p.object_type() == ty).map(|p| p.cells).sum()
            })
            .collect();
        for (pool, cells) in self.next.pools.iter_mut().zip(counts) {
            if of_thread(pool) {
                pool.cells = cells;
            }
        }
    }
}

/// Returns the type of an object of an unknown type: bytes.
fn bytes(size: i64) -> ObjectType {
    let byte = Type::plain(TypeKind::Int(IntType { bits: 8, signed: false, is_bool: false }));
    let len = u64::try_from(size).unwrap_or(0);
    (Type::plain(TypeKind::Array(Box::new(byte), len)), 0)
}

/// Returns the condition that a pointer is the start of a cell, and the number of the cell.
fn cell_of(pointer: &Expr<Reg>, pool: &PoolAddresses) -> (Val, Val) {
    let end = pool.first + pool.stride * i64::from(pool.cells);
    let low = binary(BinOp::Ge, pointer.clone(), Expr::Const(pool.first));
    let high = binary(BinOp::Lt, pointer.clone(), Expr::Const(end));
    let distance = binary(BinOp::Wide(WideOp::Sub), pointer.clone(), Expr::Const(pool.first));
    let stride = Expr::Const(pool.stride);
    let rest = binary(BinOp::Wide(WideOp::Rem), distance.clone(), stride.clone());
    let is_start = binary(BinOp::Eq, rest, Expr::Const(0));
    let inside = binary(BinOp::And, binary(BinOp::And, low, high), is_start);
    let cell = binary(
        BinOp::Wide(WideOp::Add),
        binary(BinOp::Wide(WideOp::Div), distance, stride),
        Expr::Const(1),
    );
    (inside, cell)
}
