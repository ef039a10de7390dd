//! Total store order: one FIFO queue for each thread.
//!
//! Source: \[LW10\] section 2, \[KVY11\] 2.2. Direction: exact, up to the bound.
//! A store-load fence that is not a full fence does not block the thread. It only makes later loads
//! wait for the stores before the fence (`barrier` counts the stores that are still pending).
//!
//! The packed form does not depend on the bound, so a search can go on with a larger bound.

use crate::bits::{BitReader, Reader, Writer};
use crate::buffered::{Committed, Discipline, LoadTarget, PlainQueues, Store};
use crate::mutation::{Mutated, Mutation};
use crate::shape::Shape;
use fencepost_ir::{FenceKinds, Loc, ThreadId, Value};

/// The store-buffer discipline of TSO.
#[derive(Clone, Copy, Debug)]
pub struct Tso {
    /// The maximal number of pending stores of a thread.
    pub bound: u32,
    /// The active mutation.
    pub mutated: Mutated,
}

/// The queue of one thread.
#[derive(PartialEq, Eq, Debug, Default)]
pub struct Queue {
    /// The pending stores, oldest first.
    entries: Vec<(Loc, Value)>,
    /// The number of oldest stores that must commit before the thread may load.
    barrier: u32,
}

impl Clone for Queue {
    fn clone(&self) -> Self {
        Queue { entries: self.entries.clone(), barrier: self.barrier }
    }

    #[inline]
    fn clone_from(&mut self, other: &Self) {
        self.entries.clone_from(&other.entries);
        self.barrier = other.barrier;
    }
}

impl Discipline for Tso {
    type Queues = Vec<Queue>;

    const HAS_EXACT_QUEUES: bool = true;

    fn empty(&self, shape: &Shape<'_>) -> Vec<Queue> {
        shape.threads.iter().map(|_| Queue::default()).collect()
    }

    #[inline]
    fn push(&self, _: &Shape<'_>, q: &mut Vec<Queue>, t: ThreadId, store: Store) -> bool {
        let queue = &mut q[t.index()];
        if queue.entries.len() >= self.bound as usize {
            return false;
        }
        queue.entries.push((store.loc, store.value));
        true
    }

    #[inline]
    fn youngest_value(
        &self,
        _: &Shape<'_>,
        q: &mut Vec<Queue>,
        t: ThreadId,
        target: LoadTarget,
        _: u32,
    ) -> Option<Value> {
        if self.mutated.is(Mutation::NoForwarding) {
            return None;
        }
        q[t.index()].entries.iter().rev().find(|(l, _)| *l == target.loc).map(|(_, value)| *value)
    }

    #[inline]
    fn may_load(&self, q: &mut Vec<Queue>, t: ThreadId) -> bool {
        q[t.index()].barrier == 0
    }

    fn may_update(&self, _: &Shape<'_>, q: &mut Vec<Queue>, t: ThreadId, _: Loc) -> bool {
        q[t.index()].entries.is_empty() || self.mutated.is(Mutation::UpdateWithoutDrain)
    }

    fn fence(&self, q: &mut Vec<Queue>, t: ThreadId, kinds: FenceKinds) -> bool {
        if !self.may_fence(q, t, kinds) {
            return false;
        }
        let queue = &mut q[t.index()];
        if kinds.contains(FenceKinds::STORE_LOAD) && !self.mutated.is(Mutation::IgnoredFence) {
            queue.barrier = queue.entries.len() as u32;
        }
        true
    }

    fn may_fence(&self, q: &Vec<Queue>, t: ThreadId, kinds: FenceKinds) -> bool {
        kinds != FenceKinds::FULL
            || q[t.index()].entries.is_empty()
            || self.mutated.is(Mutation::IgnoredFence)
    }

    fn is_empty(&self, q: &Vec<Queue>, t: ThreadId) -> bool {
        q[t.index()].entries.is_empty()
    }

    fn for_each_pending(
        &self,
        _: &Shape<'_>,
        q: &Vec<Queue>,
        t: ThreadId,
        visit: &mut dyn FnMut(Loc),
    ) {
        for (loc, _) in &q[t.index()].entries {
            visit(*loc);
        }
    }

    #[inline]
    fn enabled_commits(&self, q: &Vec<Queue>, t: ThreadId, out: &mut Vec<u32>) {
        let pending = q[t.index()].entries.len() as u32;
        if self.mutated.is(Mutation::OutOfOrderCommit) {
            out.extend(0..pending);
        } else if pending > 0 {
            out.push(0);
        }
    }

    #[inline]
    fn commit_location(&self, _: &Shape<'_>, q: &Vec<Queue>, t: ThreadId, which: u32) -> Loc {
        q[t.index()].entries[which as usize].0
    }

    #[inline]
    fn commit(&self, _: &Shape<'_>, q: &mut Vec<Queue>, t: ThreadId, which: u32) -> Committed {
        let queue = &mut q[t.index()];
        queue.barrier = queue.barrier.saturating_sub(1);
        let (loc, value) = queue.entries.remove(which as usize);
        Committed { loc, value, stays_pending: false }
    }

    #[inline]
    fn copy_thread(&self, from: &Vec<Queue>, to: &mut Vec<Queue>, t: ThreadId) {
        to[t.index()].clone_from(&from[t.index()]);
    }

    #[inline]
    fn encode(&self, shape: &Shape<'_>, q: &Vec<Queue>, t: ThreadId, writer: &mut Writer) {
        let (queue, thread) = (&q[t.index()], shape.thread(t));
        if thread.stores.is_empty() {
            return;
        }
        writer.put_count(queue.entries.len());
        if thread.has_store_load {
            writer.put_count(queue.barrier as usize);
        }
        for (loc, value) in &queue.entries {
            let slot =
                thread.store_slot[loc.index()].expect("the location is in the thread's store set");
            writer.put(thread.slot_field, Value::from(slot));
            writer.put(shape.location_fields[loc.index()], *value);
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
        if thread.has_store_load {
            reader.get_count();
        }
        for _ in 0..len {
            let loc = thread.stores[reader.get(thread.slot_field)];
            reader.skip(shape.location_fields[loc.index()]);
        }
        reader.bit() - bit
    }

    #[inline]
    fn decode(&self, shape: &Shape<'_>, reader: &mut Reader<'_>, q: &mut Vec<Queue>, t: ThreadId) {
        let (queue, thread) = (&mut q[t.index()], shape.thread(t));
        queue.entries.clear();
        queue.barrier = 0;
        if thread.stores.is_empty() {
            return;
        }
        let len = reader.get_count();
        if thread.has_store_load {
            queue.barrier = reader.get_count() as u32;
        }
        for _ in 0..len {
            let loc = thread.stores[reader.get(thread.slot_field) as usize];
            queue.entries.push((loc, reader.get(shape.location_fields[loc.index()])));
        }
    }
}

impl PlainQueues for Tso {
    fn for_each_value(
        &self,
        _: &Shape<'_>,
        queues: &mut Vec<Queue>,
        t: ThreadId,
        visit: &mut dyn FnMut(Loc, &mut Value),
    ) {
        queues[t.index()].entries.iter_mut().for_each(|(loc, value)| visit(*loc, value));
    }
}
