//! The abstract buffer of one thread: an ordered head and a set.
//!
//! Invariants: the elements of the set are sorted and distinct. A location with elements has
//! exactly one *last* element, which belongs to the youngest class of the location; in the domain
//! `set` no element is last. Epochs have no gaps, and the current epoch of an empty buffer is 0.
//! Debug builds check these invariants, except gaps in epochs, before a state is packed.

use super::Domain;
use fencepost_ir::{StoreBuffers, Value};
use std::cmp::Ordering;

/// The largest epoch. Later stores also get this epoch; the order between them is lost.
pub const LAST_EPOCH: u8 = 3;

/// A pending store in the head, or an element of the set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The location, as an index into the thread's `stores`.
    pub slot: u16,
    /// Under PSO: the number of store-store fences before the store, up to [`LAST_EPOCH`].
    pub epoch: u8,
    /// Whether loads wait for this store because of a store-load fence.
    pub before_barrier: bool,
    /// The value to write.
    pub value: Value,
    /// The statement, or 0 if labels are not kept.
    pub label: u32,
    /// For an element of the set: whether it is the last store to its location.
    pub last: bool,
}

impl Entry {
    /// Returns whether the locations and the marks are equal.
    pub fn same_class(&self, other: &Entry) -> bool {
        (self.slot, self.epoch, self.before_barrier)
            == (other.slot, other.epoch, other.before_barrier)
    }

    /// Returns whether the entries are equal except for `last`.
    pub fn same_element(&self, other: &Entry) -> bool {
        self.compare(other) == Ordering::Equal
    }

    /// Compares elements: by location, then oldest class first, then by value.
    pub fn compare(&self, other: &Entry) -> Ordering {
        let key = |e: &Entry| (e.slot, e.epoch, !e.before_barrier, e.value, e.label);
        key(self).cmp(&key(other))
    }
}

/// The abstract buffer of one thread.
#[derive(PartialEq, Eq, Debug, Default)]
pub struct Buffer {
    /// The oldest entries of each group. Under TSO: oldest first. Under PSO: by location, oldest
    /// first within a location.
    pub head: Vec<Entry>,
    /// The elements behind the heads, sorted.
    pub set: Vec<Entry>,
    /// The current epoch. 0 if nothing is pending.
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
    /// Returns all entries: the heads, then the set.
    pub fn all(&self) -> impl Iterator<Item = &Entry> + Clone {
        self.head.iter().chain(&self.set)
    }

    /// Returns whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.head.is_empty() && self.set.is_empty()
    }

    /// Returns whether the set has elements for the location.
    pub fn is_in_set(&self, slot: u16) -> bool {
        self.set.iter().any(|e| e.slot == slot)
    }

    /// Returns the last element stored to a location.
    pub fn last(&self, slot: u16) -> Option<&Entry> {
        self.set.iter().find(|e| e.slot == slot && e.last)
    }

    /// Returns an element of the youngest class of a location.
    pub fn youngest_class(&self, slot: u16) -> Option<&Entry> {
        self.set.iter().rfind(|e| e.slot == slot)
    }

    /// Returns the elements of the youngest class of a location.
    pub fn youngest_elements(&self, slot: u16) -> impl Iterator<Item = &Entry> {
        let class = self.youngest_class(slot);
        self.set.iter().filter(move |e| class.is_some_and(|class| class.same_class(e)))
    }

    /// Returns the smallest epoch of all entries, or the current epoch if nothing is pending.
    pub fn oldest_epoch(&self) -> u8 {
        self.all().map(|e| e.epoch).min().unwrap_or(self.epoch)
    }

    pub(super) fn clear(&mut self) {
        self.head.clear();
        self.set.clear();
        self.epoch = 0;
    }

    /// Appends an entry to the head of its group.
    pub(super) fn append(&mut self, entry: Entry, grouping: StoreBuffers) {
        let at = match grouping {
            StoreBuffers::Tso => None,
            StoreBuffers::Pso => self.head.iter().position(|e| e.slot > entry.slot),
        };
        self.head.insert(at.unwrap_or(self.head.len()), entry);
    }

    /// Adds an element to the set. If an equal element exists, it becomes last if `entry` is last.
    pub(super) fn add(&mut self, entry: Entry) {
        match self.set.binary_search_by(|e| e.compare(&entry)) {
            Ok(at) => self.set[at].last |= entry.last,
            Err(at) => self.set.insert(at, entry),
        }
    }

    /// Marks all elements of the location as not last.
    pub(super) fn clear_last(&mut self, slot: u16) {
        for entry in self.set.iter_mut().filter(|e| e.slot == slot) {
            entry.last = false;
        }
    }

    /// Passes a store-store fence: starts a new epoch.
    pub(super) fn begin_epoch(&mut self) {
        let current = self.epoch;
        if self.all().any(|e| e.epoch == current) {
            self.epoch = (current + 1).min(LAST_EPOCH);
        }
    }

    /// Passes a store-load fence: marks all entries as before a barrier.
    pub(super) fn raise_barrier(&mut self) {
        for entry in self.head.iter_mut().chain(&mut self.set) {
            entry.before_barrier = true;
        }
        self.set.sort_unstable_by(Entry::compare);
        self.set.dedup_by(|later, first| {
            let same = later.same_element(first);
            first.last |= same && later.last;
            same
        });
    }

    /// Renumbers the epochs 0, 1, ... without gaps, so that equivalent buffers are equal.
    pub(super) fn renumber(&mut self) {
        let mut used = [false; LAST_EPOCH as usize + 1];
        self.all().for_each(|e| used[usize::from(e.epoch)] = true);
        let below = |epoch: u8| used[..usize::from(epoch)].iter().filter(|u| **u).count() as u8;
        for entry in self.head.iter_mut().chain(&mut self.set) {
            entry.epoch = below(entry.epoch);
        }
        self.epoch = below(self.epoch);
    }

    /// Returns whether the invariants hold (see the module header).
    pub(super) fn invariants_hold(&self, domain: Domain) -> bool {
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
