//! Placements: which fences stand at which places, and the program that has them.

use std::collections::{BTreeMap, BTreeSet};

use crate::flow;
use crate::ids::{Label, Pc, PlaceId};
use crate::op::{Address, FenceKinds, Op};
use crate::program::{Program, Stmt, Thread};

/// Something that keeps accesses in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Barrier {
    /// A fence.
    Fence(FenceKinds),
    /// Waits for the stores to the location that the store with this label, just before the place,
    /// has written.
    Drain(Label),
}

/// A barrier at a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Atom {
    /// Where.
    pub place: PlaceId,
    /// What.
    pub barrier: Barrier,
}

/// A set of barriers, in order of their places.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Placement {
    /// The barriers.
    pub atoms: BTreeSet<Atom>,
}

impl Placement {
    /// What stands at each place: the kinds of the fence, and the stores drained after.
    pub fn by_place(&self) -> BTreeMap<PlaceId, (FenceKinds, Vec<Label>)> {
        let mut places: BTreeMap<PlaceId, (FenceKinds, Vec<Label>)> = BTreeMap::new();
        for atom in &self.atoms {
            let (kinds, drains) = places.entry(atom.place).or_default();
            match atom.barrier {
                Barrier::Fence(more) => *kinds = kinds.union(more),
                Barrier::Drain(store) => drains.push(store),
            }
        }
        places
    }

    /// Whether every barrier of `self` is there in `other`, or a stronger one.
    pub fn is_within(&self, other: &Placement) -> bool {
        let theirs = other.by_place();
        self.by_place().iter().all(|(place, (kinds, drains))| {
            theirs.get(place).is_some_and(|(more, also)| {
                more.contains(*kinds)
                    && (*more == FenceKinds::FULL || drains.iter().all(|d| also.contains(d)))
            })
        })
    }
}

impl FromIterator<Atom> for Placement {
    fn from_iter<I: IntoIterator<Item = Atom>>(atoms: I) -> Self {
        Placement { atoms: atoms.into_iter().collect() }
    }
}

/// What becomes of the fences the user wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Written {
    /// They stay.
    #[default]
    Kept,
    /// They go, unless the placement has them.
    Dropped,
}

/// The program with a placement's barriers in every copy of their places. Labels and program counters
/// stay; what is added comes after the rest.
pub fn fenced(program: &Program, placement: &Placement, written: Written) -> Program {
    let mut fenced = program.clone();
    let barriers = placement.by_place();
    for (at, place) in program.places.iter().enumerate() {
        let id = PlaceId::from_index(at);
        let own = place.written.map(|(kinds, _)| kinds).filter(|_| written == Written::Kept);
        let none = (FenceKinds::default(), Vec::new());
        let (added, drains) = barriers.get(&id).unwrap_or(&none);
        let kinds = own.unwrap_or_default().union(*added);
        for thread in &mut fenced.threads {
            put(thread, place.label, kinds, drains);
        }
    }
    fenced
}

/// Puts a fence and drains at every statement of a thread with a place's label.
fn put(thread: &mut Thread, place: Label, kinds: FenceKinds, drains: &[Label]) {
    for at in 0..thread.code.len() {
        if thread.code[at].label != place {
            continue;
        }
        let none = kinds == FenceKinds::default();
        thread.code[at].op = if none { Op::Skip } else { Op::Fence(kinds) };
        for store in drains {
            let Some(address) = drained(thread, Pc::from_index(at), *store) else { continue };
            let Stmt { label, next, critical, .. } = thread.code[at];
            thread.code[at].next = Pc::from_index(thread.code.len());
            thread.code.push(Stmt { label, op: Op::Drain(address), next, critical });
        }
    }
}

/// The address that a store with this label has just written whenever a thread is at a place: the store
/// leads there through statements that do nothing, and nothing else does.
pub fn drained(thread: &Thread, place: Pc, store: Label) -> Option<Address> {
    let ways = flow::ways_in(thread);
    let mut at = place;
    // A path through statements that do nothing visits each at most once.
    for _ in 0..thread.code.len() {
        let [before] = ways[at.index()][..] else { return None };
        let stmt = thread.stmt(before);
        if let Op::Store { to, .. } = &stmt.op
            && stmt.label == store
        {
            return Some(to.clone());
        }
        if !matches!(stmt.op, Op::Skip | Op::Fence(_) | Op::Drain(_)) {
            return None;
        }
        at = before;
    }
    None
}
