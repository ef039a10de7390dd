//! The locations of the buffers of one thread. [`super`] documents their contents.

use crate::atomic_blocks::in_atomic_block;
use crate::formula::{add, mul, num};
use crate::groups::{Match, StoreGroup, matches, store_groups};
use fencepost_ir::assemble::{self, Locations};
use fencepost_ir::interval::{Range, join};
use fencepost_ir::range::ranges;
use fencepost_ir::{
    Address, Expr, FenceKinds, INT_LIMITS, Loc, Location, Op, Program, Reg, StoreBuffers, ThreadId,
    Type, Value,
};

/// An array of added locations, or a single added location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Array {
    all: assemble::Array,
    pub(super) len: u32,
    pub(super) ty: Type,
}

impl Array {
    /// Returns the address of an element.
    pub(super) fn at(&self, index: Expr<Reg>) -> Address {
        self.all.at(if self.len == 1 { num(0) } else { index })
    }
}

/// The locations of the translation: the original ones, then the added ones.
pub(super) struct Layout {
    locations: Locations,
    owners: Vec<Option<ThreadId>>,
    /// The value range of each location of the original.
    ranges: Vec<Range>,
}

impl Layout {
    /// Starts with the locations of the original.
    pub(super) fn new(program: &Program) -> Self {
        Layout {
            owners: vec![None; program.locations.len()],
            ranges: ranges(program).locations,
            locations: Locations::new(program.locations.clone()),
        }
    }

    pub(super) fn finish(self) -> (Vec<Location>, Vec<Option<ThreadId>>) {
        (self.locations.finish(), self.owners)
    }

    /// Adds locations with initial value 0.
    fn add_array(&mut self, owner: ThreadId, name: &str, len: u32, ty: &Type) -> Array {
        let all = self.locations.array(name, vec![(ty.clone(), 0); len as usize]);
        self.owners.resize(self.locations.len(), Some(owner));
        Array { all, len, ty: ty.clone() }
    }

    /// Returns a type for the values of these locations and for 0, as narrow as the ranges allow.
    fn value_type(&self, program: &Program, locations: &[Loc]) -> Type {
        let types: Vec<&Type> = locations.iter().map(|loc| &program.location(*loc).ty).collect();
        match types.as_slice() {
            [first @ (Type::Bool | Type::Enum { .. } | Type::Ref(_)), rest @ ..]
                if rest.iter().all(|ty| ty == first) =>
            {
                (*first).clone()
            }
            _ => {
                let known = locations.iter().map(|loc| self.ranges[loc.index()]);
                let range = known.fold((0, 0), join);
                Type::Int { range: (range != INT_LIMITS).then_some(range) }
            }
        }
    }
}

/// The store buffer of one thread.
pub(super) struct ThreadBuffers {
    /// The thread that owns the buffer.
    pub(super) owner: ThreadId,
    /// The number of stores that a queue can hold.
    pub(super) capacity: u32,
    /// The locations that the thread stores to.
    pub(super) groups: Vec<StoreGroup>,
    /// The number of pending stores.
    pub(super) pending: Array,
    /// See `done_T` in [`super`].
    pub(super) done: Array,
    pub(super) queues: Queues,
}

/// The queues of one thread.
pub(super) enum Queues {
    /// One queue for all locations.
    Tso(Tso),
    /// One queue for each location.
    Pso(Pso),
}

/// The queue of TSO.
pub(super) struct Tso {
    pub(super) targets: Array,
    pub(super) values: Array,
    /// Present if the thread has store-load fences.
    pub(super) barrier: Option<Array>,
}

/// The queues of PSO.
pub(super) struct Pso {
    /// The queues, by group.
    pub(super) queues: Vec<GroupQueues>,
    /// Present if the thread has store-store fences.
    pub(super) epochs: Option<Epochs>,
    /// Present if the thread has store-load fences.
    pub(super) barrier_sum: Option<Array>,
}

/// The PSO queues of one group.
pub(super) struct GroupQueues {
    pub(super) count: Array,
    pub(super) values: Array,
    /// Present if the thread has store-store fences.
    pub(super) stamps: Option<Array>,
    /// Present if the thread has store-load fences.
    pub(super) barrier: Option<Array>,
}

/// The epochs of PSO: a store-store fence separates two epochs.
pub(super) struct Epochs {
    pub(super) current: Array,
    /// The number of pending stores, by epoch.
    pub(super) pending: Array,
}

impl ThreadBuffers {
    /// Adds the locations of the buffer of a thread; `None` if the thread has no stores.
    pub(super) fn new(
        layout: &mut Layout,
        program: &Program,
        model: StoreBuffers,
        capacity: u32,
        owner: ThreadId,
    ) -> Option<Self> {
        let thread = program.thread(owner);
        let groups = store_groups(program, thread);
        let locations: Vec<Vec<Loc>> = groups.iter().map(|g| g.locations(program)).collect();
        let slots: u32 = groups.iter().map(StoreGroup::size).sum();
        if slots == 0 {
            return None;
        }
        let t = owner.index();
        let fences: Vec<FenceKinds> = (thread.code.iter().zip(in_atomic_block(thread)))
            .filter_map(|(stmt, inside)| match stmt.op {
                Op::Fence(kinds) if !inside && kinds != FenceKinds::FULL => Some(kinds),
                _ => None,
            })
            .collect();
        let has = |kind| fences.iter().any(|fence| fence.contains(kind));
        let (store_load, store_store) = (has(FenceKinds::STORE_LOAD), has(FenceKinds::STORE_STORE));
        let up_to = |most: u32| Type::Int { range: Some((0, most as Value)) };
        let mut new = |name: String, len, ty: &Type| layout.add_array(owner, &name, len, ty);
        let (pending, queues, committer_count) = match model {
            StoreBuffers::Tso => {
                let pending = new(format!("pending_{t}"), 1, &up_to(capacity));
                let targets = new(format!("where_{t}"), capacity, &up_to(slots));
                let barrier = store_load.then(|| new(format!("barrier_{t}"), 1, &up_to(capacity)));
                let ty = layout.value_type(program, &locations.concat());
                let values = layout.add_array(owner, &format!("value_{t}"), capacity, &ty);
                (pending, Queues::Tso(Tso { targets, values, barrier }), 1)
            }
            StoreBuffers::Pso => {
                let most = slots * capacity;
                let epochs = store_store.then(|| Epochs {
                    current: new(format!("epoch_{t}"), 1, &up_to(most)),
                    pending: new(format!("epochs_{t}"), most + 1, &up_to(most)),
                });
                let barrier_sum = store_load.then(|| new(format!("waiting_{t}"), 1, &up_to(most)));
                let mut queues = Vec::new();
                for (group, locations) in groups.iter().zip(&locations) {
                    let (name, size) = (&group.name, group.size());
                    let ty = layout.value_type(program, locations);
                    let mut new = |what: &str, len, ty: &Type| {
                        layout.add_array(owner, &format!("{what}_{t}_{name}"), len, ty)
                    };
                    queues.push(GroupQueues {
                        count: new("count", size, &up_to(capacity)),
                        values: new("queue", size * capacity, &ty),
                        stamps: store_store.then(|| new("stamp", size * capacity, &up_to(most))),
                        barrier: store_load.then(|| new("barrier", size, &up_to(capacity))),
                    });
                }
                // With one location, the length of its queue is the number of pending stores.
                let pending = match queues.as_slice() {
                    [only] if slots == 1 => only.count.clone(),
                    _ => layout.add_array(owner, &format!("pending_{t}"), 1, &up_to(most)),
                };
                (pending, Queues::Pso(Pso { queues, epochs, barrier_sum }), groups.len() as u32)
            }
        };
        let done = layout.add_array(owner, &format!("done_{t}"), 1, &up_to(committer_count));
        Some(ThreadBuffers { owner, capacity, groups, pending, done, queues })
    }

    /// Returns the groups that an address may reach.
    pub(super) fn matches(&self, at: &Address) -> Vec<Match> {
        matches(&self.groups, at)
    }

    /// Returns the number of committer threads.
    pub(super) fn committer_count(&self) -> usize {
        match &self.queues {
            Queues::Tso(_) => 1,
            Queues::Pso(pso) => pso.queues.len(),
        }
    }

    /// Returns the name of a committer thread.
    pub(super) fn committer_name(&self, at: usize) -> String {
        let t = self.owner.index();
        match &self.queues {
            Queues::Tso(_) => format!("commit_{t}"),
            Queues::Pso(_) => format!("commit_{t}_{}", self.groups[at].name),
        }
    }

    /// Returns the index of a queue entry in the arrays of its group.
    pub(super) fn entry_index(&self, offset: Expr<Reg>, at: Expr<Reg>) -> Expr<Reg> {
        add(mul(offset, num(self.capacity)), at)
    }

    /// Returns whether `pending` is a separate counter beside the queue lengths.
    pub(super) fn has_pending_counter(&self) -> bool {
        match &self.queues {
            Queues::Tso(_) => false,
            Queues::Pso(pso) => pso.queues.iter().all(|queue| queue.count != self.pending),
        }
    }
}
