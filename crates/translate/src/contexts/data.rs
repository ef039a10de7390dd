//! The locations of a simulation.

use super::Bound;
use crate::formula::{add, mul, num, sub};
use crate::groups::{Group, Match, groups, identifier, matches};
use fencepost_ir::assemble::{Array, Locations};
use fencepost_ir::{
    Address, Expr, FenceKinds, Loc, Location, Op, Program, Reg, StoreBuffers, ThreadId, Type, Value,
};

/// What is kept for a group of locations: four arrays.
#[derive(Clone, Debug)]
pub(super) struct Shadow {
    pub(super) group: Group,
    pub(super) view: Array,
    pub(super) last: Array,
    /// For the next context first, then for the one after it, and so on; each as long as the group.
    pub(super) mask: Array,
    pub(super) queue: Array,
}

impl Shadow {
    /// Where in `mask` and `queue` an element is, for a context counted from the current one, not 0.
    pub(super) fn slot(&self, when: Expr<Reg>, index: Expr<Reg>) -> Expr<Reg> {
        let before = sub(when, num(1));
        if self.group.size() == 1 {
            before
        } else {
            add(mul(before, num(self.group.size())), index)
        }
    }
}

/// The locations of one thread's simulation. See the header of the translation for what they hold; what the
/// thread does not need is none.
#[derive(Clone, Debug)]
pub(super) struct Data {
    pub(super) shadows: Vec<Shadow>,
    pub(super) begun: Option<Loc>,
    pub(super) latest: Option<Loc>,
    pub(super) fence: Option<Loc>,
    pub(super) load: Option<Loc>,
    pub(super) left: Option<Loc>,
    /// Whether the thread has halted.
    pub(super) done: Loc,
}

impl Data {
    /// Where the data of an address are.
    pub(super) fn find(&self, at: &Address) -> Vec<Match> {
        let groups: Vec<Group> = self.shadows.iter().map(|shadow| shadow.group.clone()).collect();
        matches(&groups, at)
    }
}

/// Adds locations to a program.
pub(super) struct Memory {
    locations: Locations,
    owners: Vec<Option<ThreadId>>,
    bound: Bound,
}

impl Memory {
    pub(super) fn new(program: &Program, bound: Bound) -> Self {
        let owners = vec![None; program.locations.len()];
        Memory { locations: Locations::new(program.locations.clone()), owners, bound }
    }

    /// All locations, and by location, whose it is.
    pub(super) fn finish(self) -> (Vec<Location>, Vec<Option<ThreadId>>) {
        (self.locations.finish(), self.owners)
    }

    /// Whose turn it is.
    pub(super) fn running(&mut self, threads: usize) -> Loc {
        self.add("running", number(threads as Value), None)
    }

    /// Everything for one thread.
    pub(super) fn thread(&mut self, original: &Program, model: StoreBuffers, t: ThreadId) -> Data {
        let thread = original.thread(t);
        let name = identifier(&thread.name);
        let k = self.bound.k();
        let context = number(k as Value + 1);
        let groups = groups(original, thread);
        let stores = !groups.is_empty();
        let fences = |kind: FenceKinds| {
            thread.code.iter().any(|stmt| match stmt.op {
                Op::Fence(kinds) => kinds != FenceKinds::FULL && kinds.contains(kind),
                _ => false,
            })
        };
        let shadows = groups.into_iter().map(|group| self.shadow(original, t, &name, group));
        let shadows = shadows.collect();
        let switches = matches!(self.bound, Bound::Switches(_));
        let mut one = |wanted: bool, what: &str, ty: &Type| {
            wanted.then(|| self.add(&format!("{what}_{name}"), ty.clone(), Some(t)))
        };
        Data {
            shadows,
            begun: one(switches, "r_SC", &context),
            latest: one(stores, "latest", &context),
            fence: one(
                stores && model == StoreBuffers::Pso && fences(FenceKinds::STORE_STORE),
                "r_Fence",
                &context,
            ),
            load: one(stores && fences(FenceKinds::STORE_LOAD), "r_Load", &context),
            left: one(stores && !switches, "left", &number(k as Value)),
            done: one(true, "done", &Type::Bool).expect("wanted"),
        }
    }

    fn shadow(&mut self, original: &Program, t: ThreadId, name: &str, group: Group) -> Shadow {
        let k = self.bound.k();
        let of = |what: &str| format!("{what}_{name}_{}", group.name);
        let alike: Vec<(Type, Value)> = group
            .locations(original)
            .into_iter()
            .map(|loc| original.location(loc))
            .map(|location| (location.ty.clone(), location.init))
            .collect();
        let all = |one: (Type, Value), times: u32| vec![one; (group.size() * times) as usize];
        let queue: Vec<(Type, Value)> = (0..k).flat_map(|_| alike.iter().cloned()).collect();
        let view = self.array(&of("view"), alike.clone(), t);
        let last = self.array(&of("last"), all((number(k as Value + 1), 0), 1), t);
        let mask = self.array(&of("mask"), all((Type::Bool, 0), k), t);
        let queue = self.array(&of("queue"), queue, t);
        Shadow { group, view, last, mask, queue }
    }

    fn array(&mut self, name: &str, elements: Vec<(Type, Value)>, t: ThreadId) -> Array {
        let array = self.locations.array(name, elements);
        self.owners.resize(self.locations.len(), Some(t));
        array
    }

    fn add(&mut self, name: &str, ty: Type, owner: Option<ThreadId>) -> Loc {
        self.owners.push(owner);
        self.locations.add(name, ty, 0)
    }
}

fn number(most: Value) -> Type {
    Type::Int { range: Some((0, most)) }
}
