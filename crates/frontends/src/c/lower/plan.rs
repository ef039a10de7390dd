//! What a pass of lowering learns for the next one.
//!
//! Lowering repeats until a pass learns nothing new: then its plan is the plan that it used. A pass
//! needs facts that are known only after the whole program is lowered: how many threads and objects
//! there are, and which addresses become values. The first pass assumes that no address is used as
//! a value. The sets only grow, so the passes end.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_ir::{Label, Span};

use super::uninitialised::VariableKey;
use crate::c::typed::Type;

/// An object in the address space.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum ObjectId {
    /// A global variable.
    Global(u32),
    /// The copy of a global variable that belongs to a thread.
    ThreadLocal(u32, u32),
    /// A local object of a thread, in the order of their declarations.
    Local(u32, u32),
    /// A cell of a pool.
    Cell(u32, u32),
}

impl ObjectId {
    /// Returns the thread whose registers may hold the object.
    pub(super) fn owner(self) -> Option<u32> {
        match self {
            ObjectId::ThreadLocal(thread, _) | ObjectId::Local(thread, _) => Some(thread),
            ObjectId::Global(_) | ObjectId::Cell(..) => None,
        }
    }
}

/// A local variable that has an address.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct LocalObject {
    pub(super) name: String,
    pub(super) ty: Type,
}

/// Which allocations take the cells of a pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PoolUsers {
    /// Those of all threads, because objects of the type are freed: any thread may reuse a cell.
    All,
    /// Those of a thread that are in loops.
    Thread(u32),
    /// One allocation in the code of a thread, which is executed at most once.
    Place(u32, u32),
}

/// The allocations of objects of one type.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct PoolPlan {
    pub(super) users: PoolUsers,
    /// The type of a cell.
    pub(super) ty: Type,
    /// The number of elements of its flexible array member.
    pub(super) tail: u64,
    /// The name for messages and locations.
    pub(super) name: String,
    pub(super) cells: u32,
    /// Whether new objects are 0 (`calloc`).
    pub(super) zero: bool,
    /// Whether an allocation is in a loop, so that the cells may not be sufficient.
    pub(super) is_bounded: bool,
}

impl PoolPlan {
    /// Returns the type of the objects: two pools have the same one if `free` cannot tell them apart.
    pub(super) fn object_type(&self) -> AllocatedType {
        (self.ty.clone(), self.tail, self.zero)
    }
}

/// The type of allocated objects, the number of elements of its flexible array member, and whether
/// the objects are 0 at first.
pub(super) type AllocatedType = (Type, u64, bool);

/// The threads that access a scalar at a fixed address, as bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Accessors {
    pub(super) readers: u64,
    pub(super) writers: u64,
}

/// The facts.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Plan {
    /// The local objects, by thread.
    pub(super) locals: Vec<Vec<LocalObject>>,
    /// The thread-local variables that a thread uses.
    pub(super) thread_locals: BTreeSet<ObjectId>,
    /// The global variables that are accessed.
    pub(super) used: BTreeSet<ObjectId>,
    pub(super) pools: Vec<PoolPlan>,
    /// The types of allocated objects that only later conversions of their addresses tell, by the
    /// position of the allocation.
    pub(super) inferred_types: BTreeMap<Span, Type>,
    /// The types of allocated objects that may be freed.
    pub(super) freed: Vec<AllocatedType>,
    /// The objects with an owner that cannot be held in registers.
    pub(super) in_memory: BTreeSet<ObjectId>,
    /// The objects whose address is a value in memory or in a register.
    pub(super) escaped: BTreeSet<ObjectId>,
    /// The local objects that other threads may access.
    pub(super) tracked: BTreeSet<ObjectId>,
    /// The functions whose address is such a value.
    pub(super) escaped_functions: BTreeSet<u32>,
    /// By object and number of the scalar.
    pub(super) accesses: BTreeMap<(ObjectId, u32), Accessors>,
    /// Whether the atomic block at the start of `main` must end before the first branch.
    pub(super) simple_prefix: bool,
    /// Whether there is no atomic block at the start of `main`.
    pub(super) no_prefix: bool,
    /// The compare-and-exchange operations, by thread, whose old value is not used.
    pub(super) unused_old_values: BTreeSet<(u32, Label)>,
    /// The sizes in bits of scalars that are accessed with both signs through pointers.
    pub(super) mixed_signs: BTreeSet<u8>,
    /// The variables in registers that have a value on some paths only.
    pub(super) flagged: BTreeSet<VariableKey>,
    pub(super) threads: u32,
}

impl Plan {
    /// Returns an empty plan for a pass that follows this one, with the sets that only grow.
    pub(super) fn next(&self) -> Plan {
        Plan {
            used: self.used.clone(),
            inferred_types: self.inferred_types.clone(),
            freed: self.freed.clone(),
            in_memory: self.in_memory.clone(),
            escaped: self.escaped.clone(),
            tracked: self.tracked.clone(),
            escaped_functions: self.escaped_functions.clone(),
            simple_prefix: self.simple_prefix,
            no_prefix: self.no_prefix,
            mixed_signs: self.mixed_signs.clone(),
            flagged: self.flagged.clone(),
            ..Plan::default()
        }
    }

    /// Returns whether only one thread writes a scalar.
    pub(super) fn is_only_writer(&self, thread: u32, id: ObjectId, scalar: u32) -> bool {
        let accessors = self.accesses.get(&(id, scalar));
        !self.escaped.contains(&id) && accessors.is_some_and(|a| a.writers == 1 << thread)
    }

    /// Returns whether only one thread accesses a scalar.
    pub(super) fn is_private(&self, thread: u32, id: ObjectId, scalar: u32) -> bool {
        let accessors = self.accesses.get(&(id, scalar));
        !self.escaped.contains(&id)
            && accessors.is_some_and(|a| (a.readers | a.writers) == 1 << thread)
    }
}
