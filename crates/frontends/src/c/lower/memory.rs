//! The address space: objects, their addresses and locations.
//!
//! Every scalar is one location. An object has a byte address; a pointer is a byte address, and 0 is
//! null. Objects are aligned to 16 bytes. After each object there is a gap of at least its size, so
//! that pointer arithmetic that leaves an object does not reach another one. Objects of the same
//! type are neighbours. Functions have addresses below all objects.
//!
//! An object may have no locations: it is held in registers, or no code uses it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use fencepost_ir::{Loc, Location, Pool, PoolId, Value};

use super::layout::{LayoutError, Scalar, flexible_member, ir_type, limits, scalars, size_of};
use super::plan::{ObjectId, Plan, PoolPlan, PoolUsers};
use super::uninitialised::scalar_marker;
use crate::c::typed::{IntType, Program, Type, TypeKind};

/// The address of the first function.
const FUNCTIONS: Value = 1024;
/// The smallest address of an object.
const OBJECTS: Value = 4096;

/// An object.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) name: String,
    pub(super) ty: Type,
    pub(super) address: Value,
    pub(super) size: u64,
    pub(super) scalars: Rc<[Scalar]>,
    /// The location of the first scalar.
    pub(super) base: Option<Loc>,
}

/// The cells of a pool in the address space.
#[derive(Clone, Debug)]
pub(super) struct PoolAddresses {
    /// The address of the first cell.
    pub(super) first: Value,
    /// The distance between two cells in bytes.
    pub(super) stride: Value,
    pub(super) cells: u32,
    /// The pool of the program. Without one, there is one cell, which always exists.
    pub(super) id: Option<PoolId>,
}

/// Where an object is, and whether it starts with the value 0.
#[derive(Clone, Copy, Default)]
struct Storage {
    in_memory: bool,
    has_value: bool,
}

/// Addresses and their locations, by address.
type Targets = Arc<[(Value, Loc)]>;

/// The address space.
#[derive(Default)]
pub(super) struct Memory {
    objects: BTreeMap<ObjectId, Object>,
    by_address: BTreeMap<Value, ObjectId>,
    pub(super) locations: Vec<Location>,
    pub(super) pools: Vec<Pool>,
    pub(super) pool_addresses: Vec<PoolAddresses>,
    /// The pools of local objects that other threads may access.
    local_pools: BTreeMap<ObjectId, PoolId>,
    /// By size in bits and sign: the addresses and locations of the scalars that pointers can reach.
    targets: BTreeMap<(u8, bool), Targets>,
    names: BTreeSet<String>,
    /// The number of cells with a name.
    cell_counts: BTreeMap<String, u32>,
    /// By size in bits: pointers reach parts of larger scalars of a union. The value is whether some
    /// part is not at the start of its scalar.
    parts: BTreeMap<u8, bool>,
    /// Types that have no layout.
    pub(super) errors: Vec<(ObjectId, LayoutError)>,
    mixed_signs: BTreeSet<u8>,
    /// Whether pointers without a value have a mark.
    marks_pointers: bool,
    /// The locations that start without a value.
    pub(super) uninitialised: BTreeSet<Loc>,
    next: Value,
}

impl Memory {
    /// Places the objects of a plan.
    pub(super) fn new(program: &Program, plan: &Plan, marks_pointers: bool) -> Self {
        let after = FUNCTIONS + 16 * program.functions.len() as Value;
        let mut memory = Memory {
            next: OBJECTS.max(round_up(after as u64, 4096) as Value),
            mixed_signs: plan.mixed_signs.clone(),
            marks_pointers,
            ..Memory::default()
        };
        let mut all: Vec<(ObjectId, String, &Type)> = Vec::new();
        for (at, global) in program.globals.iter().enumerate() {
            if !global.thread_local {
                all.push((ObjectId::Global(at as u32), global.name.clone(), &global.ty));
            }
        }
        for id in &plan.thread_locals {
            if let ObjectId::ThreadLocal(thread, global) = *id
                && let Some(variable) = program.globals.get(global as usize)
            {
                all.push((*id, format!("{}@{thread}", variable.name), &variable.ty));
            }
        }
        for (thread, locals) in plan.locals.iter().enumerate() {
            for (at, local) in locals.iter().enumerate() {
                let id = ObjectId::Local(thread as u32, at as u32);
                all.push((id, local.name.clone(), &local.ty));
            }
        }
        // Objects of one type are neighbours, in the order of the first one.
        let mut first: Vec<&TypeKind> = Vec::new();
        let mut keyed: Vec<(usize, (ObjectId, String, &Type))> = Vec::new();
        for object in all {
            let key = first.iter().position(|kind| **kind == object.2.kind).unwrap_or(first.len());
            if key == first.len() {
                first.push(&object.2.kind);
            }
            keyed.push((key, object));
        }
        keyed.sort_by_key(|(key, _)| *key);
        for (_, (id, name, ty)) in keyed {
            let in_memory = match id.owner() {
                Some(_) => plan.in_memory.contains(&id) || plan.escaped.contains(&id),
                None => plan.used.contains(&id) || plan.escaped.contains(&id),
            };
            let has_value = !matches!(id, ObjectId::Local(..));
            let storage = Storage { in_memory, has_value };
            memory.place(program, id, &name, (ty, 0), storage);
        }
        for (at, pool) in plan.pools.iter().enumerate() {
            memory.pool(program, at as u32, pool);
        }
        for id in &plan.tracked {
            memory.add_local_pool(*id);
        }
        memory.collect_targets(plan);
        memory
    }

    /// Makes a local object the cell of a pool, unless it has no locations.
    fn add_local_pool(&mut self, id: ObjectId) {
        let Some(object) = self.objects.get(&id) else { return };
        let (Some(base), stride) = (object.base, object.scalars.len() as u32) else { return };
        self.local_pools.insert(id, PoolId::from_index(self.pools.len()));
        let name = object.name.clone();
        let (cells, yields_null, is_local) = (1, true, true);
        self.pools.push(Pool { name, base, cells, stride, yields_null, is_local });
    }

    /// Returns the pool whose only cell is a local object.
    pub(super) fn local_pool(&self, id: ObjectId) -> Option<PoolId> {
        self.local_pools.get(&id).copied()
    }

    /// Adds an object that the plan does not know. It has an address but no locations.
    pub(super) fn provisional(&mut self, program: &Program, id: ObjectId, name: &str, ty: &Type) {
        if !self.objects.contains_key(&id) {
            self.place(program, id, name, (ty, 0), Storage::default());
        }
    }

    /// Adds a cell of a pool that the plan does not know. Returns its address.
    pub(super) fn provisional_cell(
        &mut self,
        program: &Program,
        number: u32,
        ty: &Type,
        tail: u64,
    ) -> Value {
        let id = ObjectId::Cell(number, 0);
        self.place(program, id, "", (ty, tail), Storage::default());
        self.objects.get(&id).map_or(0, |object| object.address)
    }

    fn place(
        &mut self,
        program: &Program,
        id: ObjectId,
        name: &str,
        (ty, tail): (&Type, u64),
        storage: Storage,
    ) {
        let size = full_size(program, ty, tail);
        let scalars = match scalars(program, ty, tail) {
            Ok(scalars) => scalars,
            Err(error) => {
                self.errors.push((id, error));
                Rc::from([])
            }
        };
        let address = self.next;
        self.next += distance(size);
        let base = (storage.in_memory && !scalars.is_empty())
            .then(|| self.add_locations(name, &scalars, storage.has_value));
        self.by_address.insert(address, id);
        let (name, ty) = (name.to_string(), ty.clone());
        self.objects.insert(id, Object { name, ty, address, size, scalars, base });
    }

    fn pool(&mut self, program: &Program, number: u32, plan: &PoolPlan) {
        let PoolPlan { ty, tail, name, cells, zero, users, .. } = plan;
        let storage = Storage { in_memory: true, has_value: *zero };
        let (first, size, cells) = (self.next, full_size(program, ty, *tail), *cells);
        let base = Loc::from_index(self.locations.len());
        let mut stride = 0;
        for cell in 0..cells {
            let id = ObjectId::Cell(number, cell);
            let count = self.cell_counts.entry(name.clone()).or_default();
            *count += 1;
            let cell_name = format!("{name}#{count}");
            self.place(program, id, &cell_name, (ty, *tail), storage);
            stride = self.objects.get(&id).map_or(0, |object| object.scalars.len() as u32);
        }
        let id = match users {
            PoolUsers::Place(..) => None,
            PoolUsers::All | PoolUsers::Thread(_) => {
                let (yields_null, is_local) = (true, false);
                self.pools.push(Pool {
                    name: name.clone(),
                    base,
                    cells,
                    stride,
                    yields_null,
                    is_local,
                });
                Some(PoolId::from_index(self.pools.len() - 1))
            }
        };
        self.pool_addresses.push(PoolAddresses { first, stride: distance(size), cells, id });
    }

    /// Returns the number of a pool of allocated objects in the plan.
    pub(super) fn pool_number(&self, id: PoolId) -> Option<u32> {
        let at = self.pool_addresses.iter().position(|pool| pool.id == Some(id))?;
        Some(at as u32)
    }

    fn add_locations(&mut self, name: &str, scalars: &[Scalar], has_value: bool) -> Loc {
        let mut name = name.to_string();
        while !self.names.insert(name.clone()) {
            name.push('_');
        }
        let base = Loc::from_index(self.locations.len());
        for scalar in scalars {
            let ty = if self.mixed_signs.contains(&scalar.ty.bits) {
                let signed = limits(IntType { signed: true, is_bool: false, ..scalar.ty });
                let unsigned = limits(IntType { signed: false, is_bool: false, ..scalar.ty });
                let range = Some((signed.0, signed.1.max(unsigned.1)));
                fencepost_ir::Type::Int { range }
            } else {
                ir_type(scalar.ty)
            };
            let name = format!("{name}{}", scalar.path);
            let has_both_signs = self.mixed_signs.contains(&scalar.ty.bits);
            let has_marker = !has_value && scalar.parts.is_empty() && !has_both_signs;
            let (ty, init) = match scalar_marker(scalar, self.marks_pointers).filter(|_| has_marker)
            {
                Some(init) => {
                    self.uninitialised.insert(Loc::from_index(self.locations.len()));
                    let (lo, hi) = limits(scalar.ty);
                    (fencepost_ir::Type::Int { range: Some((lo, hi.max(init))) }, init)
                }
                None => (ty, 0),
            };
            self.locations.push(Location { name, ty, init });
        }
        base
    }

    fn collect_targets(&mut self, plan: &Plan) {
        let mut targets: BTreeMap<(u8, bool), Vec<(Value, Loc)>> = BTreeMap::new();
        // Without a conversion of pointers, a pointer reaches only scalars with its own sign.
        let signs = |bits: u8, signed: bool| match bits == 64 || plan.mixed_signs.contains(&bits) {
            true => vec![false, true],
            false => vec![signed],
        };
        for (id, object) in &self.objects {
            let Some(base) = object.base else { continue };
            if !plan.escaped.contains(id) && !self.is_pool_cell(*id) {
                continue;
            }
            for (at, scalar) in object.scalars.iter().enumerate() {
                let address = object.address + scalar.offset as Value;
                let loc = Loc(base.0 + at as u32);
                for signed in signs(scalar.ty.bits, scalar.ty.signed) {
                    targets.entry((scalar.ty.bits, signed)).or_default().push((address, loc));
                }
                for (offset, bits) in &scalar.parts {
                    let list = self.parts.entry(*bits).or_default();
                    *list |= *offset != scalar.offset;
                    if *offset == scalar.offset {
                        for signed in [false, true] {
                            targets.entry((*bits, signed)).or_default().push((address, loc));
                        }
                    }
                }
            }
        }
        for (bits, mut list) in targets {
            list.sort_unstable();
            list.dedup();
            self.targets.insert(bits, list.into());
        }
    }

    /// Returns the locations that a pointer to a scalar can reach.
    pub(super) fn targets(&self, ty: IntType) -> Targets {
        self.targets.get(&(ty.bits, ty.signed)).cloned().unwrap_or_else(|| Arc::from([]))
    }

    /// Returns whether pointers to scalars of this size reach parts of larger scalars, and whether
    /// some part is not at the start of its scalar.
    pub(super) fn parts(&self, bits: u8) -> Option<bool> {
        self.parts.get(&bits).copied()
    }

    /// Returns an object.
    pub(super) fn object(&self, id: ObjectId) -> Option<&Object> {
        self.objects.get(&id)
    }

    /// Returns all objects.
    pub(super) fn objects(&self) -> impl Iterator<Item = (ObjectId, &Object)> {
        self.objects.iter().map(|(id, object)| (*id, object))
    }

    /// Returns the object that contains an address, and the offset in it. The address after the end
    /// belongs to the object, too.
    pub(super) fn object_at(&self, address: Value) -> Option<(ObjectId, u64)> {
        let (start, id) = self.by_address.range(..=address).next_back()?;
        let offset = (address - start) as u64;
        let object = self.objects.get(id)?;
        (offset <= object.size).then_some((*id, offset))
    }

    /// Returns whether an object is a cell of a pool of allocated objects.
    pub(super) fn is_pool_cell(&self, id: ObjectId) -> bool {
        matches!(id, ObjectId::Cell(..)) && self.cell(id).is_some()
    }

    /// Returns the pool and cell of an object, and the first cell of the pool.
    pub(super) fn cell(&self, id: ObjectId) -> Option<(PoolId, u32, ObjectId)> {
        match id {
            ObjectId::Cell(number, cell) => {
                let pool = self.pool_addresses.get(number as usize)?.id?;
                Some((pool, cell, ObjectId::Cell(number, 0)))
            }
            ObjectId::Local(..) => self.local_pool(id).map(|pool| (pool, 0, id)),
            ObjectId::Global(_) | ObjectId::ThreadLocal(..) => None,
        }
    }
}

impl Object {
    /// Returns the number and type of the scalar that contains bytes, and the offset in it in bits.
    pub(super) fn container_at(&self, offset: u64, bits: u8) -> Option<(u32, IntType, u8)> {
        let after = self.scalars.partition_point(|scalar| scalar.offset <= offset);
        let at = after.checked_sub(1)?;
        let scalar = &self.scalars[at];
        let inside = offset + u64::from(bits / 8) <= scalar.end();
        inside.then(|| (at as u32, scalar.ty, ((offset - scalar.offset) * 8) as u8))
    }

    /// Returns the number of the scalar at an offset, and its type.
    pub(super) fn scalar_at(&self, offset: u64) -> Option<(u32, IntType)> {
        let at = self.scalars.binary_search_by_key(&offset, |scalar| scalar.offset).ok()?;
        Some((at as u32, self.scalars[at].ty))
    }
}

/// Returns the address of a function.
pub(super) fn function_address(function: u32) -> Value {
    FUNCTIONS + 16 * Value::from(function)
}

/// Returns the function with an address.
pub(super) fn function_at(program: &Program, address: Value) -> Option<u32> {
    let offset = address.checked_sub(FUNCTIONS).filter(|offset| *offset >= 0)?;
    let number = u32::try_from(offset / 16).ok()?;
    (offset % 16 == 0 && (number as usize) < program.functions.len()).then_some(number)
}

/// Returns the size of a type with a flexible array member of `tail` elements.
fn full_size(program: &Program, ty: &Type, tail: u64) -> u64 {
    let own = size_of(program, ty);
    match flexible_member(program, ty) {
        Some((offset, element)) => {
            own.max(offset.saturating_add(tail.saturating_mul(size_of(program, element))))
        }
        None => own,
    }
}

/// Returns the distance from an object to the next one.
fn distance(size: u64) -> Value {
    (round_up(size, 16) + round_up(size.max(16), 16)) as Value
}

fn round_up(size: u64, unit: u64) -> u64 {
    size.div_ceil(unit).saturating_mul(unit)
}
