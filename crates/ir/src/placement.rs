//! Placements: sets of fences and memory orders at places, and their insertion into a program.

use std::collections::{BTreeMap, BTreeSet};

use crate::access_order::AccessOrder;
use crate::flow;
use crate::ids::{Label, Pc, PlaceId};
use crate::op::{Address, FenceKinds, Op};
use crate::place::{OrderEffect, OrderSite};
use crate::program::{Program, Stmt, Thread};

/// A fence or a drain: a statement that keeps accesses in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Barrier {
    /// A fence.
    Fence(FenceKinds),
    /// A drain: waits until the thread has no pending store to the location of the store with this
    /// label, which is directly before the place.
    Drain(Label),
    /// A memory order with this effect, at an order place ([`Place::order`]).
    ///
    /// [`Place::order`]: crate::place::Place::order
    Order(OrderEffect),
}

/// A barrier at a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Atom {
    /// The place.
    pub place: PlaceId,
    /// The barrier.
    pub barrier: Barrier,
}

/// A set of barriers, ordered by place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Placement {
    /// The barriers.
    pub atoms: BTreeSet<Atom>,
}

impl Placement {
    /// Returns for each place the kinds of its fence and the stores that are drained after the
    /// fence.
    pub fn by_place(&self) -> BTreeMap<PlaceId, (FenceKinds, Vec<Label>)> {
        let mut places: BTreeMap<PlaceId, (FenceKinds, Vec<Label>)> = BTreeMap::new();
        for atom in &self.atoms {
            match atom.barrier {
                Barrier::Fence(more) => {
                    let (kinds, _) = places.entry(atom.place).or_default();
                    *kinds = kinds.union(more);
                }
                Barrier::Drain(store) => places.entry(atom.place).or_default().1.push(store),
                Barrier::Order(_) => {}
            }
        }
        places
    }

    /// Returns for each order place the effect of its orders.
    pub fn orders(&self) -> BTreeMap<PlaceId, OrderEffect> {
        let mut places: BTreeMap<PlaceId, OrderEffect> = BTreeMap::new();
        for atom in &self.atoms {
            match atom.barrier {
                Barrier::Order(effect) => {
                    let known = places.entry(atom.place).or_default();
                    *known = known.union(effect);
                }
                Barrier::Fence(_) | Barrier::Drain(_) => {}
            }
        }
        places
    }

    /// Returns whether `other` has every barrier of `self`, or a stronger one at the same place.
    pub fn is_within(&self, other: &Placement) -> bool {
        let other_orders = other.orders();
        let has_orders = self.orders().iter().all(|(place, effect)| {
            other_orders.get(place).is_some_and(|other| other.contains(*effect))
        });
        let other_places = other.by_place();
        has_orders
            && self.by_place().iter().all(|(place, (kinds, drains))| {
                other_places.get(place).is_some_and(|(other_kinds, other_drains)| {
                    other_kinds.contains(*kinds)
                        && (*other_kinds == FenceKinds::FULL
                            || drains.iter().all(|d| other_drains.contains(d)))
                })
            })
    }
}

impl FromIterator<Atom> for Placement {
    fn from_iter<I: IntoIterator<Item = Atom>>(atoms: I) -> Self {
        Placement { atoms: atoms.into_iter().collect() }
    }
}

/// How to treat the fences and the memory orders that the source already has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WrittenFences {
    /// Keep them.
    #[default]
    Kept,
    /// Remove them, except where the placement has them.
    Dropped,
}

/// Returns the program with the barriers of a placement, in every copy of their places. Existing
/// labels and program counters do not change; additional statements are appended to the code.
pub fn fenced(program: &Program, placement: &Placement, written: WrittenFences) -> Program {
    let mut fenced = program.clone();
    let (barriers, orders) = (placement.by_place(), placement.orders());
    for (at, place) in program.places.iter().enumerate() {
        let id = PlaceId::from_index(at);
        if let Some(site) = &place.order {
            let own = Some(site.written_choice().effect);
            let own = own.filter(|_| written == WrittenFences::Kept).unwrap_or_default();
            let effect = own.union(orders.get(&id).copied().unwrap_or_default());
            for thread in &mut fenced.threads {
                insert(thread, place.label, effect.before, &[]);
                if let Some(after) = site.after {
                    insert(thread, after, effect.after, &[]);
                }
            }
            fenced.implied.extend(place.labels());
            set_order(&mut fenced, site, effect.access);
            continue;
        }
        let own = place.written.map(|(kinds, _)| kinds).filter(|_| written == WrittenFences::Kept);
        let none = (FenceKinds::default(), Vec::new());
        let (added, drains) = barriers.get(&id).unwrap_or(&none);
        let kinds = own.unwrap_or_default().union(*added);
        for thread in &mut fenced.threads {
            insert(thread, place.label, kinds, drains);
        }
    }
    fenced
}

/// Sets the order of an access on machines with ordered accesses.
fn set_order(program: &mut Program, site: &OrderSite, order: AccessOrder) {
    let known = program.orders.remove(&site.access).unwrap_or_default();
    let order = AccessOrder { discards_value: known.discards_value, ..order };
    if order != AccessOrder::PLAIN {
        program.orders.insert(site.access, order);
    }
}

/// Inserts a fence and drains at every statement of a thread that marks a place.
fn insert(thread: &mut Thread, place: Label, kinds: FenceKinds, drains: &[Label]) {
    for at in 0..thread.code.len() {
        if thread.code[at].label != place {
            continue;
        }
        let none = kinds == FenceKinds::default();
        thread.code[at].op = if none { Op::Skip } else { Op::Fence(kinds) };
        for store in drains {
            let Some(address) = drained_address(thread, Pc::from_index(at), *store) else {
                continue;
            };
            let Stmt { label, next, critical, .. } = thread.code[at];
            thread.code[at].next = Pc::from_index(thread.code.len());
            thread.code.push(Stmt { label, op: Op::Drain(address), next, critical });
        }
    }
}

/// Returns the address of the store with this label if that store is always the last access before
/// the place: the only path to the place leads from the store through skips, fences and drains.
pub fn drained_address(thread: &Thread, place: Pc, store: Label) -> Option<Address> {
    let predecessors = flow::predecessors(thread);
    let mut at = place;
    // An acyclic path visits each statement at most once.
    for _ in 0..thread.code.len() {
        let [before] = predecessors[at.index()][..] else { return None };
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
