//! The covering order on abstract buffers, and the join of two buffers.
//!
//! Source: \[KVY11\] 4.1 for the domain `fd`, 4.3 for `pd`. The order is inclusion of the
//! represented concrete buffers. In `pd` it relates slightly more buffers than the paper's order,
//! in which a nonempty set never covers an empty set. A search can drop a covered state: the
//! covering state has all its steps.

use super::buffer::{Buffer, Entry};
use super::{Coherence, Domain};
use crate::bits::{Field, Writer};
use crate::buffered::Buffered;
use crate::model::{Covering, MemoryModel};
use crate::shape::Shape;
use fencepost_ir::{StoreBuffers, ThreadId, Value};
use rustc_hash::FxHasher;
use std::hash::Hasher;
use std::ops::Range;

const WORD: Field = Field::new(0, u32::MAX as u64);

impl Coherence {
    /// Returns the positions of the entries of a location's group in a head.
    fn group_range(&self, head: &[Entry], slot: u16) -> Range<usize> {
        match self.grouping {
            StoreBuffers::Tso => 0..head.len(),
            StoreBuffers::Pso => {
                let from = head.partition_point(|e| e.slot < slot);
                from..head.partition_point(|e| e.slot <= slot)
            }
        }
    }

    /// Returns the entries of `small`'s heads that are behind `big`'s heads. `None` unless each
    /// head of `big` is a prefix of the corresponding head of `small`.
    fn entries_beyond_head<'b>(
        &self,
        big: &Buffer,
        small: &'b Buffer,
    ) -> Option<impl Iterator<Item = &'b Entry> + Clone> {
        let big_group = |e: &Entry| &big.head[self.group_range(&big.head, e.slot)];
        let small_group = |e: &Entry| &small.head[self.group_range(&small.head, e.slot)];
        let is_prefix = big.head.iter().all(|e| small_group(e).starts_with(big_group(e)));
        let is_beyond = move |(at, e): &(usize, &Entry)| {
            at - self.group_range(&small.head, e.slot).start
                >= self.group_range(&big.head, e.slot).len()
        };
        is_prefix.then(|| small.head.iter().enumerate().filter(is_beyond).map(|(_, entry)| entry))
    }

    /// Returns whether `big` covers `small`. Their keys are equal.
    fn covers(&self, big: &Buffer, small: &Buffer) -> bool {
        let Some(rest) = self.entries_beyond_head(big, small) else { return false };
        let all = || small.set.iter().chain(rest.clone());
        let has = |e: &Entry| big.set.binary_search_by(|other| other.compare(e)).is_ok();
        all().all(has)
            && big.set.iter().all(|e| match self.domain {
                Domain::Full => all().any(|other| other.same_element(e)),
                Domain::Partial | Domain::Set => all().any(|other| other.same_class(e)),
            })
    }

    /// Returns a checksum that is equal for comparable buffers and rarely equal for others. It is
    /// computed from what covering preserves when entries move from the head to the set: the
    /// elements in `fd`, the classes in the other domains.
    fn checksum(&self, buffer: &Buffer) -> u32 {
        let same = |a: &Entry, b: &Entry| match self.domain {
            Domain::Full => a.same_element(b),
            Domain::Partial | Domain::Set => a.same_class(b),
        };
        let mixed = |e: &Entry| {
            let class =
                u64::from(e.slot) << 8 | u64::from(e.epoch) << 1 | u64::from(e.before_barrier);
            let element = match self.domain {
                Domain::Full => (e.value as u64, e.label),
                Domain::Partial | Domain::Set => (0, 0),
            };
            let mut hasher = FxHasher::default();
            hasher.write_u64(class);
            hasher.write_u64(element.0);
            hasher.write_u32(element.1);
            (hasher.finish() >> 32) as u32
        };
        // Each element or class counts once. Elements of one class are adjacent in the set.
        let Buffer { head, set, .. } = buffer;
        let in_set = (set.iter().enumerate())
            .filter(|(at, e)| *at == 0 || !same(e, &set[at - 1]))
            .map(|(_, e)| e);
        let in_head = (head.iter().enumerate())
            .filter(|(at, e)| !head[..*at].iter().chain(set).any(|other| same(e, other)))
            .map(|(_, e)| e);
        in_set.chain(in_head).fold(0, |sum, entry| sum.wrapping_add(mixed(entry)))
    }

    /// Returns whether two buffers differ only in the elements of their classes.
    fn may_join(&self, one: &Buffer, other: &Buffer) -> bool {
        let within = |a: &Buffer, b: &Buffer| {
            a.set.iter().all(|e| b.set.iter().any(|other| other.same_class(e)))
        };
        self.domain != Domain::Full
            && one.head == other.head
            && within(one, other)
            && within(other, one)
    }
}

impl Covering for Buffered<Coherence> {
    /// The key: the current epoch, for each location the youngest pending value, and a checksum of
    /// all entries.
    fn encode_key(&self, shape: &Shape<'_>, pending: &Vec<Buffer>, t: ThreadId, w: &mut Writer) {
        let (buffer, thread) = (&pending[t.index()], shape.thread(t));
        w.put(super::EPOCH, Value::from(buffer.epoch));
        for (slot, loc) in thread.stores.iter().enumerate() {
            let slot = slot as u16;
            let in_head = || buffer.head.iter().rev().find(|e| e.slot == slot);
            let youngest = match self.0.domain {
                Domain::Set => buffer.youngest_class(slot),
                Domain::Full | Domain::Partial => buffer.last(slot).or_else(in_head),
            };
            w.put(super::BIT, Value::from(youngest.is_some()));
            if let (Some(entry), Domain::Full | Domain::Partial) = (youngest, self.0.domain) {
                w.put(shape.location_fields[loc.index()], entry.value);
                w.put(self.0.label_field(shape), entry.label as Value);
            }
        }
        w.put(WORD, self.0.checksum(buffer) as Value);
    }

    fn covers(&self, big: &Vec<Buffer>, small: &Vec<Buffer>, t: ThreadId) -> bool {
        self.0.mutated.is(crate::mutation::Mutation::CoversTooMuch)
            || self.0.covers(&big[t.index()], &small[t.index()])
    }

    fn may_join(&self, one: &Vec<Buffer>, other: &Vec<Buffer>, t: ThreadId) -> bool {
        self.0.may_join(&one[t.index()], &other[t.index()])
    }

    fn join(&self, into: &mut Vec<Buffer>, from: &Vec<Buffer>, t: ThreadId) {
        from[t.index()].set.iter().for_each(|entry| into[t.index()].add(*entry));
    }
}

impl Buffered<Coherence> {
    /// Returns the labels of all pending stores of a thread.
    pub fn pending_labels<'a>(
        &self,
        pending: &'a <Self as MemoryModel>::Pending,
        t: ThreadId,
    ) -> impl Iterator<Item = u32> + use<'a> {
        pending[t.index()].all().map(|entry| entry.label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutation::Mutated;

    fn entry(slot: u16, value: Value) -> Entry {
        Entry { slot, epoch: 0, before_barrier: false, value, label: 0, last: false }
    }

    fn discipline(grouping: StoreBuffers, domain: Domain) -> Coherence {
        Coherence { grouping, domain, k: 64, labelled: false, mutated: Mutated::default() }
    }

    fn buffer(head: Vec<Entry>, set: Vec<Entry>) -> Buffer {
        Buffer { head, set, epoch: 0 }
    }

    #[test]
    fn a_buffer_with_a_shorter_head_and_the_rest_in_the_set_covers() {
        let long = buffer(vec![entry(0, 1), entry(0, 2), entry(1, 5)], Vec::new());
        let last = |e: Entry| Entry { last: true, ..e };
        let by_location = buffer(vec![entry(0, 1)], vec![last(entry(0, 2)), last(entry(1, 5))]);
        let fd = |grouping| discipline(grouping, Domain::Full);
        assert!(fd(StoreBuffers::Pso).covers(&by_location, &long));
        assert!(fd(StoreBuffers::Tso).covers(&by_location, &long));
        assert!(!fd(StoreBuffers::Pso).covers(&long, &by_location));
        // No prefix: another order. Under TSO also: another location first.
        let other = buffer(vec![entry(0, 2)], vec![last(entry(0, 1)), last(entry(1, 5))]);
        assert!(!fd(StoreBuffers::Pso).covers(&other, &long));
        let middle = buffer(vec![entry(1, 5)], vec![entry(0, 1), last(entry(0, 2))]);
        assert!(fd(StoreBuffers::Pso).covers(&middle, &long));
        assert!(!fd(StoreBuffers::Tso).covers(&middle, &long));
    }

    #[test]
    fn buffers_with_long_heads_are_compared_and_joined() {
        let head: Vec<Entry> =
            (0..3).flat_map(|slot| (0..64).map(move |value| entry(slot, value))).collect();
        let (one, other) = (entry(2, 100), entry(2, 101));
        let last = entry(2, 102);
        let last = Entry { last: true, ..last };
        let small = buffer(head.clone(), vec![one, last]);
        let more = buffer(head, vec![one, other, last]);
        let pd = discipline(StoreBuffers::Pso, Domain::Partial);
        assert!(pd.covers(&small, &small) && pd.covers(&more, &small));
        assert!(!pd.covers(&small, &more) && pd.may_join(&small, &more));
    }
}
