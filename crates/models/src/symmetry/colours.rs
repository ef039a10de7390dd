//! Colours: numbers of threads that no renaming changes.
//!
//! Source: colour refinement, as in tools for graph isomorphism. The colour of a thread is a hash of its
//! program counter, registers, pending stores and own locations. In place of a value that belongs to a
//! thread, the hash contains whether this is the thread itself, and the colour of the other thread in
//! the previous round. Collisions are harmless: threads with equal colours are compared further.

use super::parts::Parts;
use super::renaming::{Owner, Renaming, Tables};
use fencepost_ir::{Loc, ThreadId, Value};

/// The number of rounds after the first one, if threads have equal colours.
const ROUNDS: usize = 2;

/// The colours of the threads of a state.
#[derive(Debug)]
pub(super) struct Colours {
    /// By thread.
    colours: Vec<u64>,
    previous: Vec<u64>,
    /// By thread: what other threads hold of its values.
    held: Vec<u64>,
    /// The threads of all groups, each group in the order of the colours.
    sorted: Vec<Vec<ThreadId>>,
}

/// A hash of numbers. Unlike a fast hash for tables, it mixes small numbers well, also zeros: sums of
/// hashes must differ.
#[derive(Clone, Copy)]
pub(super) struct Mixer(pub(super) u64);

impl Mixer {
    pub(super) const NEW: Mixer = Mixer(0x9e37_79b9_7f4a_7c15);

    #[inline]
    pub(super) fn add(&mut self, part: u64) {
        let mixed = (self.0 ^ part).wrapping_mul(0xff51_afd7_ed55_8ccd);
        self.0 = (mixed ^ mixed >> 32).wrapping_add(1);
    }
}

#[inline]
fn hash(parts: [u64; 3]) -> u64 {
    let mut mixer = Mixer::NEW;
    parts.into_iter().for_each(|part| mixer.add(part));
    mixer.0
}

impl Colours {
    pub(super) fn new(tables: &Tables) -> Self {
        let threads = tables.owned.len();
        let (colours, previous, held) = (vec![0; threads], vec![0; threads], vec![0; threads]);
        Colours { colours, previous, held, sorted: tables.groups.clone() }
    }

    /// Computes the colours of the threads of a state, from its parts and its memory.
    pub(super) fn compute(&mut self, tables: &Tables, parts: &Parts, memory: &[Value]) {
        for (sorted, group) in self.sorted.iter_mut().zip(&tables.groups) {
            sorted.copy_from_slice(group);
        }
        self.previous.fill(0);
        for round in 0..=ROUNDS {
            self.round(tables, parts, memory);
            let colours = &self.colours;
            for group in &mut self.sorted {
                group.sort_unstable_by_key(|t| (colours[t.index()], *t));
            }
            if round == ROUNDS || !tables.has_values || !self.has_ties() {
                return;
            }
            std::mem::swap(&mut self.colours, &mut self.previous);
        }
    }

    fn has_ties(&self) -> bool {
        let equal = |pair: &[ThreadId]| self.is_tie(pair[0], pair[1]);
        self.sorted.iter().any(|group| group.windows(2).any(equal))
    }

    fn is_tie(&self, a: ThreadId, b: ThreadId) -> bool {
        self.colours[a.index()] == self.colours[b.index()]
    }

    /// Computes the colours from those of the previous round.
    fn round(&mut self, tables: &Tables, parts: &Parts, memory: &[Value]) {
        let Colours { colours, previous, held, .. } = self;
        held.fill(0);
        // Returns what a thread sees of a value that belongs to a thread, at a place of its own.
        let mut seen = |t: ThreadId, place: u64, owner: Owner| {
            let family = u64::from(owner.family);
            if owner.thread == t {
                return hash([1, family, place]);
            }
            let sum = &mut held[owner.thread.index()];
            *sum = sum.wrapping_add(hash([2, family, place ^ previous[t.index()]]));
            hash([3, family, place ^ previous[owner.thread.index()]])
        };
        let owner_of = |loc: Loc, value: Value| {
            tables.location_classes[loc.index()].and_then(|class| tables.value_owner(class, value))
        };
        for (at, colour) in colours.iter_mut().enumerate() {
            let (t, part) = (ThreadId::from_index(at), parts.part(at));
            let mut mixer = Mixer::NEW;
            mixer.add(previous[at]);
            mixer.add(part.fixed);
            for (reg, owner) in &part.registers {
                mixer.add(seen(t, *reg, *owner));
            }
            for (family, loc) in tables.owned[at].iter().enumerate() {
                let value = memory[loc.index()];
                let place = (1 << 32) + family as u64;
                mixer.add(match owner_of(*loc, value) {
                    Some(owner) => seen(t, place, owner),
                    None => hash([0, value as u64, place]),
                });
            }
            // The order of queues depends on the numbers of locations.
            let mut pending = 0u64;
            for store in &part.pending {
                let place = match tables.location_owners[store.loc.index()] {
                    None => u64::from(store.loc.0),
                    Some(owner) if owner.thread == t => (1 << 33) + u64::from(owner.family),
                    Some(owner) => {
                        hash([4, u64::from(owner.family), previous[owner.thread.index()]])
                    }
                };
                let place = hash([7, store.position as u64, place]);
                pending = pending.wrapping_add(match owner_of(store.loc, store.value) {
                    Some(owner) => seen(t, place, owner),
                    None => hash([0, store.value as u64, place]),
                });
            }
            mixer.add(pending);
            *colour = mixer.0;
        }
        for loc in &tables.shared_with_class {
            if let Some(owner) = owner_of(*loc, memory[loc.index()]) {
                let sum = &mut held[owner.thread.index()];
                *sum = sum.wrapping_add(hash([5, u64::from(owner.family), u64::from(loc.0)]));
            }
        }
        for (colour, held) in colours.iter_mut().zip(held) {
            *colour = hash([6, *colour, *held]);
        }
    }

    /// Writes the first order of the threads in which the colours ascend.
    pub(super) fn orders(&self, orders: &mut Orders) {
        let Orders { threads, runs } = orders;
        threads.clear();
        runs.clear();
        for group in &self.sorted {
            let mut first = threads.len();
            for (at, t) in group.iter().enumerate() {
                if at > 0 && !self.is_tie(group[at - 1], *t) {
                    first = threads.len();
                }
                threads.push(*t);
                match runs.last_mut() {
                    Some((from, to)) if *from == first => *to = threads.len(),
                    Some(_) | None if threads.len() > first + 1 => {
                        runs.push((first, threads.len()))
                    }
                    Some(_) | None => {}
                }
            }
        }
    }
}

/// An order of the threads of all groups, one group after the other, with ascending colours. The first
/// order has threads with equal colours in ascending order.
#[derive(Clone, Debug, Default)]
pub(super) struct Orders {
    threads: Vec<ThreadId>,
    /// The ranges of threads with equal colours, if there are several.
    runs: Vec<(usize, usize)>,
}

impl Orders {
    /// Returns the number of orders, at least approximately if it is large.
    pub(super) fn count(&self) -> usize {
        let factorial = |run: &(usize, usize)| {
            (1..=run.1 - run.0).fold(1usize, |product, factor| product.saturating_mul(factor))
        };
        self.runs.iter().map(factorial).fold(1, usize::saturating_mul)
    }

    /// Changes to the next order. Returns false after the last one.
    pub(super) fn advance(&mut self) -> bool {
        for (from, to) in &self.runs {
            if next_permutation(&mut self.threads[*from..*to]) {
                return true;
            }
        }
        false
    }

    /// Calls `is_equal` for each order with two neighbours of equal colour exchanged, until it returns
    /// false. Returns whether it never did.
    pub(super) fn all_exchanges(&mut self, mut is_equal: impl FnMut(&Orders) -> bool) -> bool {
        for run in 0..self.runs.len() {
            let (from, to) = self.runs[run];
            for at in from + 1..to {
                self.threads.swap(at - 1, at);
                let equal = is_equal(self);
                self.threads.swap(at - 1, at);
                if !equal {
                    return false;
                }
            }
        }
        true
    }

    /// Writes the renaming that puts the threads into this order, and its inverse.
    pub(super) fn renaming(
        &self,
        tables: &Tables,
        renaming: &mut Renaming,
        inverse: &mut Renaming,
    ) {
        for (thread, place) in self.threads.iter().zip(tables.groups.iter().flatten()) {
            renaming.0[thread.index()] = *place;
            inverse.0[place.index()] = *thread;
        }
    }
}

/// Changes a slice to the next permutation in lexicographic order. After the last one, sorts it and
/// returns false.
fn next_permutation<T: Ord>(items: &mut [T]) -> bool {
    let Some(at) = (1..items.len()).rev().find(|at| items[at - 1] < items[*at]) else {
        items.reverse();
        return false;
    };
    let last = (at..items.len()).rev().find(|other| items[*other] > items[at - 1]);
    if let Some(last) = last {
        items.swap(at - 1, last);
    }
    items[at..].reverse();
    true
}
