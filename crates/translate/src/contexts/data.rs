//! Lays out the locations of a simulation.

use super::Bound;
use crate::formula::{add, mul, num, sub};
use crate::groups::{Match, StoreGroup, identifier, matches, store_groups};
use fencepost_ir::assemble::{Array, Locations};
use fencepost_ir::{
    Address, Expr, FenceKinds, Loc, Location, Op, Program, Reg, StoreBuffers, ThreadId, Type, Value,
};

/// The four arrays for a group of locations.
#[derive(Clone, Debug)]
pub(super) struct ShadowArrays {
    pub(super) group: StoreGroup,
    pub(super) view: Array,
    pub(super) last: Array,
    /// Ordered by context, the next one first. Each context has one element per location of the
    /// group.
    pub(super) mask: Array,
    pub(super) queue: Array,
}

impl ShadowArrays {
    /// Returns the index of an element in `mask` and `queue`, for a context relative to the current
    /// one. The context is not 0.
    pub(super) fn slot(&self, when: Expr<Reg>, index: Expr<Reg>) -> Expr<Reg> {
        let before = sub(when, num(1));
        if self.group.size() == 1 {
            before
        } else {
            add(mul(before, num(self.group.size())), index)
        }
    }
}

/// The locations of the simulation of one thread. [`super`] documents their contents. Locations
/// that the thread does not need are `None`.
#[derive(Clone, Debug)]
pub(super) struct ThreadData {
    pub(super) shadows: Vec<ShadowArrays>,
    pub(super) contexts_begun: Option<Loc>,
    pub(super) latest: Option<Loc>,
    pub(super) store_store_barrier: Option<Loc>,
    pub(super) store_load_barrier: Option<Loc>,
    pub(super) contexts_left: Option<Loc>,
    /// Whether the thread has halted with no pending store.
    pub(super) done: Loc,
}

impl ThreadData {
    /// Returns the groups that an address may reach.
    pub(super) fn matching_groups(&self, at: &Address) -> Vec<Match> {
        let groups: Vec<StoreGroup> =
            self.shadows.iter().map(|shadow| shadow.group.clone()).collect();
        matches(&groups, at)
    }
}

/// Adds the locations of the simulation to a program.
pub(super) struct LocationLayout {
    locations: Locations,
    owners: Vec<Option<ThreadId>>,
    bound: Bound,
}

impl LocationLayout {
    pub(super) fn new(program: &Program, bound: Bound) -> Self {
        let owners = vec![None; program.locations.len()];
        LocationLayout { locations: Locations::new(program.locations.clone()), owners, bound }
    }

    /// Returns all locations, and the owner of each one.
    pub(super) fn finish(self) -> (Vec<Location>, Vec<Option<ThreadId>>) {
        (self.locations.finish(), self.owners)
    }

    /// Adds the location with the number of the running thread.
    pub(super) fn add_running(&mut self, threads: usize) -> Loc {
        self.add("running", up_to(threads as Value), None)
    }

    /// Adds the locations of one thread.
    pub(super) fn add_thread(
        &mut self,
        original: &Program,
        model: StoreBuffers,
        t: ThreadId,
    ) -> ThreadData {
        let thread = original.thread(t);
        let name = identifier(&thread.name);
        let k = self.bound.k();
        let context = up_to(k as Value + 1);
        let groups = store_groups(original, thread);
        let stores = !groups.is_empty();
        let fences = |kind: FenceKinds| {
            thread.code.iter().any(|stmt| match stmt.op {
                Op::Fence(kinds) => kinds != FenceKinds::FULL && kinds.contains(kind),
                _ => false,
            })
        };
        let shadows = groups.into_iter().map(|group| self.add_shadow(original, t, &name, group));
        let shadows = shadows.collect();
        let switches = matches!(self.bound, Bound::Switches(_));
        let mut add_if = |needed: bool, what: &str, ty: &Type| {
            needed.then(|| self.add(&format!("{what}_{name}"), ty.clone(), Some(t)))
        };
        ThreadData {
            shadows,
            contexts_begun: add_if(switches, "r_SC", &context),
            latest: add_if(stores, "latest", &context),
            store_store_barrier: add_if(
                stores && model == StoreBuffers::Pso && fences(FenceKinds::STORE_STORE),
                "r_Fence",
                &context,
            ),
            store_load_barrier: add_if(
                stores && fences(FenceKinds::STORE_LOAD),
                "r_Load",
                &context,
            ),
            contexts_left: add_if(stores && !switches, "left", &up_to(k as Value)),
            done: add_if(true, "done", &Type::Bool).expect("`done` is always added"),
        }
    }

    fn add_shadow(
        &mut self,
        original: &Program,
        t: ThreadId,
        name: &str,
        group: StoreGroup,
    ) -> ShadowArrays {
        let k = self.bound.k();
        let of = |what: &str| format!("{what}_{name}_{}", group.name);
        let elements: Vec<(Type, Value)> = group
            .locations(original)
            .into_iter()
            .map(|loc| original.location(loc))
            .map(|location| (location.ty.clone(), location.init))
            .collect();
        let all =
            |element: (Type, Value), times: u32| vec![element; (group.size() * times) as usize];
        let queue: Vec<(Type, Value)> = (0..k).flat_map(|_| elements.iter().cloned()).collect();
        let view = self.add_array(&of("view"), elements.clone(), t);
        let last = self.add_array(&of("last"), all((up_to(k as Value + 1), 0), 1), t);
        let mask = self.add_array(&of("mask"), all((Type::Bool, 0), k), t);
        let queue = self.add_array(&of("queue"), queue, t);
        ShadowArrays { group, view, last, mask, queue }
    }

    fn add_array(&mut self, name: &str, elements: Vec<(Type, Value)>, t: ThreadId) -> Array {
        let array = self.locations.array(name, elements);
        self.owners.resize(self.locations.len(), Some(t));
        array
    }

    fn add(&mut self, name: &str, ty: Type, owner: Option<ThreadId>) -> Loc {
        self.owners.push(owner);
        self.locations.add(name, ty, 0)
    }
}

fn up_to(most: Value) -> Type {
    Type::Int { range: Some((0, most)) }
}
