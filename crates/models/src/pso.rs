//! Partial store order: one FIFO queue for each thread and location.
//!
//! Source: \[KVY11\] 3.3; store-store fences as in \[Zac\]. Direction: exact, up to the bound.
//! A store carries the *epoch* in which it was issued. A store-store fence starts a new epoch. A
//! store commits only if no store of an earlier epoch is pending. A store-load fence marks all
//! pending stores as *before a barrier*, and loads wait for the marked stores. Neither fence blocks
//! the thread. An update waits only for the queue of its own location (see the book, "Semantics").
//!
//! The packed form does not depend on the bound, so a search can go on with a larger bound.

use crate::bits::{BitReader, Field, Reader, Writer};
use crate::buffered::{Committed, Discipline, LoadTarget, PlainQueues, Store};
use crate::mutation::{Mutated, Mutation};
use crate::shape::Shape;
use fencepost_ir::{FenceKinds, Loc, ThreadId, Value};

/// The store-buffer discipline of PSO.
#[derive(Clone, Copy, Debug)]
pub struct Pso {
    /// The maximal number of pending stores of a thread to one location.
    pub bound: u32,
    /// The active mutation.
    pub mutated: Mutated,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Entry {
    /// The location, as an index into the thread's `stores`.
    slot: u16,
    value: Value,
    epoch: u32,
    before_barrier: bool,
}

/// The queues of one thread.
#[derive(PartialEq, Eq, Debug, Default)]
pub struct Queues {
    /// Sorted by location, oldest first within a location. PSO does not order stores to different
    /// locations, so their order must not distinguish states.
    entries: Vec<Entry>,
    /// The current epoch. 0 if nothing is pending.
    epoch: u32,
}

impl Clone for Queues {
    fn clone(&self) -> Self {
        Queues { entries: self.entries.clone(), epoch: self.epoch }
    }

    #[inline]
    fn clone_from(&mut self, other: &Self) {
        self.entries.clone_from(&other.entries);
        self.epoch = other.epoch;
    }
}

impl Queues {
    fn oldest_epoch(&self) -> u32 {
        self.entries.iter().map(|e| e.epoch).min().unwrap_or(self.epoch)
    }

    /// Renumbers the epochs 0, 1, ... without gaps, so that equivalent queues are equal. The
    /// current epoch stays equal to the youngest pending epoch or later than it.
    fn renumber(&mut self) {
        let mut next = 0;
        let mut done = 0;
        while done < self.entries.len() {
            let least = self.entries.iter().map(|e| e.epoch).filter(|e| *e >= next).min();
            let least = least.expect("some entries are not renumbered yet");
            for entry in self.entries.iter_mut().filter(|e| e.epoch == least) {
                entry.epoch = next;
                done += 1;
            }
            if self.epoch == least {
                self.epoch = next;
                return;
            }
            next += 1;
        }
        self.epoch = next;
    }
}

impl Pso {
    fn find(q: &Queues, slot: u16) -> Option<usize> {
        q.entries.iter().position(|e| e.slot == slot)
    }
}

impl Discipline for Pso {
    type Queues = Vec<Queues>;

    const HAS_EXACT_QUEUES: bool = true;

    fn empty(&self, shape: &Shape<'_>) -> Vec<Queues> {
        shape.threads.iter().map(|_| Queues::default()).collect()
    }

    #[inline]
    fn push(&self, shape: &Shape<'_>, q: &mut Vec<Queues>, t: ThreadId, store: Store) -> bool {
        let Store { loc, value, .. } = store;
        let slot = shape.thread(t).store_slot[loc.index()]
            .expect("the location is in the thread's store set");
        let queues = &mut q[t.index()];
        if queues.entries.iter().filter(|e| e.slot == slot).count() >= self.bound as usize {
            return false;
        }
        let at = queues.entries.iter().position(|e| e.slot > slot);
        let entry = Entry { slot, value, epoch: queues.epoch, before_barrier: false };
        queues.entries.insert(at.unwrap_or(queues.entries.len()), entry);
        true
    }

    #[inline]
    fn youngest_value(
        &self,
        shape: &Shape<'_>,
        q: &mut Vec<Queues>,
        t: ThreadId,
        target: LoadTarget,
        _: u32,
    ) -> Option<Value> {
        if self.mutated.is(Mutation::NoForwarding) {
            return None;
        }
        let slot = shape.thread(t).store_slot[target.loc.index()]?;
        q[t.index()].entries.iter().rev().find(|e| e.slot == slot).map(|e| e.value)
    }

    #[inline]
    fn may_load(&self, q: &mut Vec<Queues>, t: ThreadId) -> bool {
        !q[t.index()].entries.iter().any(|e| e.before_barrier)
    }

    fn may_update(&self, shape: &Shape<'_>, q: &mut Vec<Queues>, t: ThreadId, loc: Loc) -> bool {
        if self.mutated.is(Mutation::UpdateWithoutDrain) {
            return true;
        }
        let queues = &q[t.index()];
        let own = shape.thread(t).store_slot[loc.index()];
        !queues
            .entries
            .iter()
            .any(|e| Some(e.slot) == own || e.before_barrier || e.epoch < queues.epoch)
    }

    fn fence(&self, q: &mut Vec<Queues>, t: ThreadId, kinds: FenceKinds) -> bool {
        if !self.may_fence(q, t, kinds) {
            return false;
        }
        let queues = &mut q[t.index()];
        if kinds == FenceKinds::FULL || self.mutated.is(Mutation::IgnoredFence) {
            return true;
        }
        if kinds.contains(FenceKinds::STORE_STORE)
            && queues.entries.iter().any(|e| e.epoch == queues.epoch)
        {
            queues.epoch += 1;
        }
        if kinds.contains(FenceKinds::STORE_LOAD) {
            for entry in &mut queues.entries {
                entry.before_barrier = true;
            }
        }
        true
    }

    fn may_fence(&self, q: &Vec<Queues>, t: ThreadId, kinds: FenceKinds) -> bool {
        kinds != FenceKinds::FULL
            || q[t.index()].entries.is_empty()
            || self.mutated.is(Mutation::IgnoredFence)
    }

    fn is_empty(&self, q: &Vec<Queues>, t: ThreadId) -> bool {
        q[t.index()].entries.is_empty()
    }

    fn for_each_pending(
        &self,
        shape: &Shape<'_>,
        q: &Vec<Queues>,
        t: ThreadId,
        visit: &mut dyn FnMut(Loc),
    ) {
        for entry in &q[t.index()].entries {
            visit(shape.thread(t).stores[usize::from(entry.slot)]);
        }
    }

    #[inline]
    fn enabled_commits(&self, q: &Vec<Queues>, t: ThreadId, out: &mut Vec<u32>) {
        let queues = &q[t.index()];
        let oldest = queues.oldest_epoch();
        let mut previous = None;
        for entry in &queues.entries {
            let first = previous != Some(entry.slot);
            previous = Some(entry.slot);
            if first && (entry.epoch == oldest || self.mutated.is(Mutation::OutOfOrderCommit)) {
                out.push(u32::from(entry.slot));
            }
        }
    }

    fn commit_location(&self, shape: &Shape<'_>, _: &Vec<Queues>, t: ThreadId, which: u32) -> Loc {
        shape.thread(t).stores[which as usize]
    }

    #[inline]
    fn commit(&self, shape: &Shape<'_>, q: &mut Vec<Queues>, t: ThreadId, which: u32) -> Committed {
        let queues = &mut q[t.index()];
        let at = if self.mutated.is(Mutation::OutOfOrderCommit) {
            queues.entries.iter().rposition(|e| u32::from(e.slot) == which)
        } else {
            Self::find(queues, which as u16)
        };
        let entry = queues.entries.remove(at.expect("the committed store is pending"));
        if shape.thread(t).has_store_store {
            queues.renumber();
        }
        let loc = shape.thread(t).stores[which as usize];
        Committed { loc, value: entry.value, stays_pending: false }
    }

    #[inline]
    fn copy_thread(&self, from: &Vec<Queues>, to: &mut Vec<Queues>, t: ThreadId) {
        to[t.index()].clone_from(&from[t.index()]);
    }

    #[inline]
    fn encode(&self, shape: &Shape<'_>, q: &Vec<Queues>, t: ThreadId, writer: &mut Writer) {
        let (queues, thread) = (&q[t.index()], shape.thread(t));
        if thread.stores.is_empty() {
            return;
        }
        writer.put_count(queues.entries.len());
        if thread.has_store_store {
            writer.put_count(queues.epoch as usize);
        }
        for entry in &queues.entries {
            writer.put(thread.slot_field, Value::from(entry.slot));
            let loc = thread.stores[usize::from(entry.slot)];
            writer.put(shape.location_fields[loc.index()], entry.value);
            if thread.has_store_store {
                writer.put_count(entry.epoch as usize);
            }
            if thread.has_store_load {
                writer.put(Field::for_count(2), Value::from(entry.before_barrier));
            }
        }
    }

    #[inline]
    fn packed_bits(&self, shape: &Shape<'_>, bytes: &[u8], bit: usize, t: ThreadId) -> usize {
        let thread = shape.thread(t);
        if thread.stores.is_empty() {
            return 0;
        }
        let mut reader = BitReader::new(bytes, bit);
        let len = reader.get_count();
        if thread.has_store_store {
            reader.get_count();
        }
        for _ in 0..len {
            let loc = thread.stores[reader.get(thread.slot_field)];
            reader.skip(shape.location_fields[loc.index()]);
            if thread.has_store_store {
                reader.get_count();
            }
            if thread.has_store_load {
                reader.skip(Field::for_count(2));
            }
        }
        reader.bit() - bit
    }

    #[inline]
    fn decode(&self, shape: &Shape<'_>, reader: &mut Reader<'_>, q: &mut Vec<Queues>, t: ThreadId) {
        let (queues, thread) = (&mut q[t.index()], shape.thread(t));
        queues.entries.clear();
        queues.epoch = 0;
        if thread.stores.is_empty() {
            return;
        }
        let len = reader.get_count();
        if thread.has_store_store {
            queues.epoch = reader.get_count() as u32;
        }
        for _ in 0..len {
            let slot = reader.get(thread.slot_field) as u16;
            let loc = thread.stores[usize::from(slot)];
            let value = reader.get(shape.location_fields[loc.index()]);
            let epoch = if thread.has_store_store { reader.get_count() as u32 } else { 0 };
            let before_barrier = thread.has_store_load && reader.get(Field::for_count(2)) != 0;
            queues.entries.push(Entry { slot, value, epoch, before_barrier });
        }
    }
}

impl PlainQueues for Pso {
    fn for_each_value(
        &self,
        shape: &Shape<'_>,
        queues: &mut Vec<Queues>,
        t: ThreadId,
        visit: &mut dyn FnMut(Loc, &mut Value),
    ) {
        let stores = &shape.thread(t).stores;
        for entry in &mut queues[t.index()].entries {
            visit(stores[usize::from(entry.slot)], &mut entry.value);
        }
    }
}
