//! The locations of the buffers of one thread. See [`super`] for what each is.

use crate::blocks::inside_blocks;
use crate::formula::{add, mul, num};
use crate::groups::{Group, Match, groups, matches};
use fencepost_ir::assemble::{self, Locations};
use fencepost_ir::interval::{FULL, Range, join};
use fencepost_ir::range::ranges;
use fencepost_ir::{
    Address, Expr, FenceKinds, Loc, Location, Op, Program, Reg, StoreBuffers, ThreadId, Type, Value,
};

/// Some locations of ours: an array, or a single one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Array {
    all: assemble::Array,
    pub(super) len: u32,
    pub(super) ty: Type,
}

impl Array {
    /// The address of an element.
    pub(super) fn at(&self, index: Expr<Reg>) -> Address {
        self.all.at(if self.len == 1 { num(0) } else { index })
    }
}

/// The locations of the translation.
pub(super) struct Layout {
    locations: Locations,
    owners: Vec<Option<ThreadId>>,
    /// The range of each location of the original.
    ranges: Vec<Range>,
}

impl Layout {
    /// Those of the original.
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

    /// New locations, all 0.
    fn array(&mut self, owner: ThreadId, name: &str, len: u32, ty: &Type) -> Array {
        let all = self.locations.array(name, vec![(ty.clone(), 0); len as usize]);
        self.owners.resize(self.locations.len(), Some(owner));
        Array { all, len, ty: ty.clone() }
    }

    /// A type for the values of these locations and for 0, as tight as is known.
    fn values(&self, program: &Program, locations: &[Loc]) -> Type {
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
                Type::Int { range: (range != FULL).then_some(range) }
            }
        }
    }
}

/// The buffers of one thread.
pub(super) struct Buffers {
    /// Whose.
    pub(super) owner: ThreadId,
    /// How many stores a queue holds.
    pub(super) room: u32,
    /// What the thread stores to.
    pub(super) groups: Vec<Group>,
    /// How many stores are pending.
    pub(super) pending: Array,
    /// Whether the thread is done.
    pub(super) done: Array,
    /// The queues.
    pub(super) queues: Queues,
}

/// The queues of one thread.
pub(super) enum Queues {
    /// One for all locations.
    Tso(Tso),
    /// One for each location.
    Pso(Pso),
}

/// The queue of TSO.
pub(super) struct Tso {
    pub(super) places: Array,
    pub(super) values: Array,
    /// Where there are store-load fences.
    pub(super) barrier: Option<Array>,
}

/// The queues of PSO.
pub(super) struct Pso {
    /// By group.
    pub(super) queues: Vec<Queue>,
    /// Where there are store-store fences.
    pub(super) epochs: Option<Epochs>,
    /// Where there are store-load fences.
    pub(super) waiting: Option<Array>,
}

/// The queues of PSO for one group.
pub(super) struct Queue {
    pub(super) count: Array,
    pub(super) values: Array,
    /// Where there are store-store fences.
    pub(super) stamps: Option<Array>,
    /// Where there are store-load fences.
    pub(super) barrier: Option<Array>,
}

/// Epochs of PSO.
pub(super) struct Epochs {
    pub(super) current: Array,
    /// By epoch: how many stores are pending.
    pub(super) pending: Array,
}

impl Buffers {
    /// New locations for the buffers of a thread, if it stores anything.
    pub(super) fn new(
        layout: &mut Layout,
        program: &Program,
        model: StoreBuffers,
        room: u32,
        owner: ThreadId,
    ) -> Option<Self> {
        let thread = program.thread(owner);
        let groups = groups(program, thread);
        let locations: Vec<Vec<Loc>> = groups.iter().map(|g| g.locations(program)).collect();
        let slots: u32 = groups.iter().map(Group::size).sum();
        if slots == 0 {
            return None;
        }
        let t = owner.index();
        let fences: Vec<FenceKinds> = (thread.code.iter().zip(inside_blocks(thread)))
            .filter_map(|(stmt, inside)| match stmt.op {
                Op::Fence(kinds) if !inside && kinds != FenceKinds::FULL => Some(kinds),
                _ => None,
            })
            .collect();
        let has = |kind| fences.iter().any(|fence| fence.contains(kind));
        let (store_load, store_store) = (has(FenceKinds::STORE_LOAD), has(FenceKinds::STORE_STORE));
        let up_to = |most: u32| Type::Int { range: Some((0, most as Value)) };
        let mut new = |name: String, len, ty: &Type| layout.array(owner, &name, len, ty);
        let (pending, queues, committers) = match model {
            StoreBuffers::Tso => {
                let pending = new(format!("pending_{t}"), 1, &up_to(room));
                let places = new(format!("where_{t}"), room, &up_to(slots));
                let barrier = store_load.then(|| new(format!("barrier_{t}"), 1, &up_to(room)));
                let ty = layout.values(program, &locations.concat());
                let values = layout.array(owner, &format!("value_{t}"), room, &ty);
                (pending, Queues::Tso(Tso { places, values, barrier }), 1)
            }
            StoreBuffers::Pso => {
                let most = slots * room;
                let epochs = store_store.then(|| Epochs {
                    current: new(format!("epoch_{t}"), 1, &up_to(most)),
                    pending: new(format!("epochs_{t}"), most + 1, &up_to(most)),
                });
                let waiting = store_load.then(|| new(format!("waiting_{t}"), 1, &up_to(most)));
                let mut queues = Vec::new();
                for (group, locations) in groups.iter().zip(&locations) {
                    let (name, size) = (&group.name, group.size());
                    let ty = layout.values(program, locations);
                    let mut new = |what: &str, len, ty: &Type| {
                        layout.array(owner, &format!("{what}_{t}_{name}"), len, ty)
                    };
                    queues.push(Queue {
                        count: new("count", size, &up_to(room)),
                        values: new("queue", size * room, &ty),
                        stamps: store_store.then(|| new("stamp", size * room, &up_to(most))),
                        barrier: store_load.then(|| new("barrier", size, &up_to(room))),
                    });
                }
                // With one location, what is pending is what is in its queue.
                let pending = match queues.as_slice() {
                    [only] if slots == 1 => only.count.clone(),
                    _ => layout.array(owner, &format!("pending_{t}"), 1, &up_to(most)),
                };
                (pending, Queues::Pso(Pso { queues, epochs, waiting }), groups.len() as u32)
            }
        };
        let done = layout.array(owner, &format!("done_{t}"), 1, &up_to(committers));
        Some(Buffers { owner, room, groups, pending, done, queues })
    }

    /// The groups that an address may be in.
    pub(super) fn matches(&self, at: &Address) -> Vec<Match> {
        matches(&self.groups, at)
    }

    /// How many threads commit for this one.
    pub(super) fn committers(&self) -> usize {
        match &self.queues {
            Queues::Tso(_) => 1,
            Queues::Pso(pso) => pso.queues.len(),
        }
    }

    /// The name of such a thread.
    pub(super) fn committer_name(&self, at: usize) -> String {
        let t = self.owner.index();
        match &self.queues {
            Queues::Tso(_) => format!("commit_{t}"),
            Queues::Pso(_) => format!("commit_{t}_{}", self.groups[at].name),
        }
    }

    /// Where an entry of the queue at an offset is in the arrays of its group.
    pub(super) fn entry(&self, offset: Expr<Reg>, at: Expr<Reg>) -> Expr<Reg> {
        add(mul(offset, num(self.room)), at)
    }

    /// Whether what is pending has a counter of its own.
    pub(super) fn counts_apart(&self) -> bool {
        match &self.queues {
            Queues::Tso(_) => false,
            Queues::Pso(pso) => pso.queues.iter().all(|queue| queue.count != self.pending),
        }
    }
}
