//! What is kept of one thread's pending stores: a head in order, and a set.
//!
//! Invariants, checked in debug builds before a state is packed: elements are sorted and different; a location
//! with elements has exactly one that is *last*, and it is of the location's youngest class
//! (never any in the domain `set`); epochs have no gaps.

use super::Domain;
use fencepost_ir::{StoreBuffers, Value};
use std::cmp::Ordering;

/// The largest epoch. What would come later stays in it, its order unknown.
pub const LAST_EPOCH: u8 = 3;

/// A pending store in the head, or an element of the set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The location, as its position among those the thread stores to.
    pub slot: u16,
    /// Under PSO: how many store-store fences were passed before it, as far as counted.
    pub epoch: u8,
    /// Whether a store-load fence makes loads wait for it.
    pub before: bool,
    /// What it stores.
    pub value: Value,
    /// Its statement, where labels are kept; else 0.
    pub label: u32,
    /// For an element: whether it was stored last to its location.
    pub last: bool,
}

impl Entry {
    /// Whether the marks and the location are the same.
    pub fn same_class(&self, other: &Entry) -> bool {
        (self.slot, self.epoch, self.before) == (other.slot, other.epoch, other.before)
    }

    /// Whether they differ in nothing but in being last.
    pub fn same_element(&self, other: &Entry) -> bool {
        self.compare(other) == Ordering::Equal
    }

    /// The order of elements: by location, oldest class first, then by value.
    pub fn compare(&self, other: &Entry) -> Ordering {
        let key = |e: &Entry| (e.slot, e.epoch, !e.before, e.value, e.label);
        key(self).cmp(&key(other))
    }
}

/// What is kept of one thread's pending stores.
#[derive(PartialEq, Eq, Debug, Default)]
pub struct Buffer {
    /// The oldest entries of each group: under TSO oldest first, under PSO by location, oldest first
    /// within each.
    pub head: Vec<Entry>,
    /// What is behind the heads, sorted.
    pub set: Vec<Entry>,
    /// The current epoch; 0 whenever nothing is pending.
    pub epoch: u8,
}

impl Clone for Buffer {
    fn clone(&self) -> Self {
        Buffer { head: self.head.clone(), set: self.set.clone(), epoch: self.epoch }
    }

    #[inline]
    fn clone_from(&mut self, other: &Self) {
        self.head.clone_from(&other.head);
        self.set.clone_from(&other.set);
        self.epoch = other.epoch;
    }
}

impl Buffer {
    /// Everything known to be pending.
    pub fn all(&self) -> impl Iterator<Item = &Entry> + Clone {
        self.head.iter().chain(&self.set)
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.head.is_empty() && self.set.is_empty()
    }

    /// Whether the set has elements for the location.
    pub fn is_in_set(&self, slot: u16) -> bool {
        self.set.iter().any(|e| e.slot == slot)
    }

    /// The element that was stored last to a location.
    pub fn last(&self, slot: u16) -> Option<&Entry> {
        self.set.iter().find(|e| e.slot == slot && e.last)
    }

    /// An element of the youngest class of a location.
    pub fn youngest_class(&self, slot: u16) -> Option<&Entry> {
        self.set.iter().rfind(|e| e.slot == slot)
    }

    /// The elements of the youngest class of a location.
    pub fn youngest_elements(&self, slot: u16) -> impl Iterator<Item = &Entry> {
        let class = self.youngest_class(slot);
        self.set.iter().filter(move |e| class.is_some_and(|class| class.same_class(e)))
    }

    /// The smallest epoch of anything pending, else the current one.
    pub fn oldest_epoch(&self) -> u8 {
        self.all().map(|e| e.epoch).min().unwrap_or(self.epoch)
    }

    pub(super) fn clear(&mut self) {
        self.head.clear();
        self.set.clear();
        self.epoch = 0;
    }

    /// Puts an entry at the end of its group's head.
    pub(super) fn append(&mut self, entry: Entry, grouping: StoreBuffers) {
        let at = match grouping {
            StoreBuffers::Tso => None,
            StoreBuffers::Pso => self.head.iter().position(|e| e.slot > entry.slot),
        };
        self.head.insert(at.unwrap_or(self.head.len()), entry);
    }

    /// Puts an element into the set. One that is there already becomes last if this one is.
    pub(super) fn add(&mut self, entry: Entry) {
        match self.set.binary_search_by(|e| e.compare(&entry)) {
            Ok(at) => self.set[at].last |= entry.last,
            Err(at) => self.set.insert(at, entry),
        }
    }

    /// No element of the location is last any more.
    pub(super) fn forget_last(&mut self, slot: u16) {
        for entry in self.set.iter_mut().filter(|e| e.slot == slot) {
            entry.last = false;
        }
    }

    /// Passes a store-store fence.
    pub(super) fn next_epoch(&mut self) {
        let current = self.epoch;
        if self.all().any(|e| e.epoch == current) {
            self.epoch = (current + 1).min(LAST_EPOCH);
        }
    }

    /// Passes a store-load fence.
    pub(super) fn raise_barrier(&mut self) {
        for entry in self.head.iter_mut().chain(&mut self.set) {
            entry.before = true;
        }
        self.set.sort_unstable_by(Entry::compare);
        self.set.dedup_by(|later, first| {
            let same = later.same_element(first);
            first.last |= same && later.last;
            same
        });
    }

    /// Renumbers epochs 0, 1, ... without gaps, so that equal situations are equal states.
    pub(super) fn renumber(&mut self) {
        let mut used = [false; LAST_EPOCH as usize + 1];
        self.all().for_each(|e| used[usize::from(e.epoch)] = true);
        let below = |epoch: u8| used[..usize::from(epoch)].iter().filter(|u| **u).count() as u8;
        for entry in self.head.iter_mut().chain(&mut self.set) {
            entry.epoch = below(entry.epoch);
        }
        self.epoch = below(self.epoch);
    }

    /// Whether the invariants hold.
    pub(super) fn is_sound(&self, domain: Domain) -> bool {
        let sorted = self.set.is_sorted_by(|a, b| a.compare(b) == Ordering::Less);
        let last = self.set.iter().all(|e| {
            let count = self.set.iter().filter(|other| other.slot == e.slot && other.last).count();
            let youngest = self.youngest_class(e.slot).is_some_and(|class| class.same_class(e));
            match domain {
                Domain::Set => count == 0,
                Domain::Full | Domain::Partial => count == 1 && (!e.last || youngest),
            }
        });
        sorted && last && (!self.is_empty() || self.epoch == 0)
    }
}
