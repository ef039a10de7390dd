//! Partial coherence: store buffers of unbounded length in bounded space.
//!
//! Source: \[KVY11\] section 4; the definition is in the book, "Abstract store buffers". Direction:
//! over. Every run of the exact model has a corresponding run here, but not vice versa.
//!
//! Entries are grouped: under TSO, all entries of a thread form one group; under PSO, the entries
//! to one location. Of each group, the `k` oldest entries are kept in order in the *head*. The
//! entries behind the head are kept as a *set*, without order and without count. The last element
//! stored to each location is also known. So a thread sees its own stores, and after a fence the
//! last store is in memory.
//!
//! DIVERGENCE from \[KVY11\]: in our models, a fence that is not full does not block the thread. So
//! entries carry marks (an epoch, and whether they are before a barrier), and the paper's "S is
//! empty or not" becomes "which *classes* of marks are pending". With full fences only, each
//! location has one class, and the rules are the paper's. For inference, elements may carry the
//! label of their store (5.3); the label of the last element is then also known.
//!
//! - [`buffer`](mod@buffer): the abstract buffer of one thread.
//! - [`cover`]: the covering order and the join.

pub mod buffer;
pub mod cover;

use crate::bits::{BitReader, Field, Reader, Writer};
use crate::buffered::{Committed, Discipline, LoadTarget, Store};
use crate::model::Fidelity;
use crate::mutation::{Mutated, Mutation};
use crate::shape::{Shape, ThreadShape};
use buffer::{Buffer, Entry, LAST_EPOCH};
use fencepost_ir::{FenceKinds, Loc, StoreBuffers, ThreadId, Value};

/// The maximal number of elements in a thread's set. A larger set means that the values grow
/// without bound, and the search would not terminate.
pub const MAX_SET_ELEMENTS: usize = 64;

/// The abstract domain for the entries behind the head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Domain {
    /// The values that may be pending. The last store is unknown. The baseline of \[KVY11\].
    Set,
    /// The values that are pending, each at least once, and the last store. The paper's full
    /// domain.
    Full,
    /// The values that may be pending, and the last store. The paper's partial domain.
    Partial,
}

impl Domain {
    /// All domains, coarsest first.
    pub const ALL: [Domain; 3] = [Domain::Set, Domain::Partial, Domain::Full];

    /// Returns the name on the command line and in certificates.
    pub fn name(self) -> &'static str {
        match self {
            Domain::Set => "set",
            Domain::Full => "fd",
            Domain::Partial => "pd",
        }
    }
}

/// The store-buffer discipline of partial coherence.
#[derive(Clone, Copy, Debug)]
pub struct Coherence {
    /// The grouping of entries into queues.
    pub grouping: StoreBuffers,
    /// The domain for the entries behind the head.
    pub domain: Domain,
    /// The number of entries of a group that are kept in order. 0 for [`Domain::Set`].
    pub k: u32,
    /// Whether entries carry the labels of their stores.
    pub labelled: bool,
    /// The active mutation.
    pub mutated: Mutated,
}

/// A commit: the position of its entry, and whether the entry stays pending.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Commit {
    /// The oldest entry of a head, at this position.
    Head(usize),
    /// An element of the set, at this position. It is removed.
    RemoveFromSet(usize),
    /// An element of the set, at this position. It stays pending.
    KeepInSet(usize),
}

impl Commit {
    fn number(self) -> u32 {
        match self {
            Commit::Head(at) => at as u32 * 3,
            Commit::RemoveFromSet(at) => at as u32 * 3 + 1,
            Commit::KeepInSet(at) => at as u32 * 3 + 2,
        }
    }

    fn from_number(number: u32) -> Commit {
        let at = number as usize / 3;
        match number % 3 {
            0 => Commit::Head(at),
            1 => Commit::RemoveFromSet(at),
            _ => Commit::KeepInSet(at),
        }
    }
}

impl Coherence {
    fn head_field(&self, thread: &ThreadShape) -> Field {
        let groups = match self.grouping {
            StoreBuffers::Tso => 1,
            StoreBuffers::Pso => thread.stores.len(),
        };
        Field::for_count(self.k as usize * groups + 1)
    }

    fn has_epochs(&self, thread: &ThreadShape) -> bool {
        self.grouping == StoreBuffers::Pso && thread.has_store_store
    }

    fn label_field(&self, shape: &Shape<'_>) -> Field {
        let labels = if self.labelled { shape.program().labels.len() } else { 1 };
        Field::for_count(labels)
    }

    fn put(&self, shape: &Shape<'_>, thread: &ThreadShape, entry: &Entry, writer: &mut Writer) {
        writer.put(thread.slot_field, Value::from(entry.slot));
        let loc = thread.stores[usize::from(entry.slot)];
        writer.put(shape.location_fields[loc.index()], entry.value);
        if self.has_epochs(thread) {
            writer.put(EPOCH, Value::from(entry.epoch));
        }
        if thread.has_store_load {
            writer.put(BIT, Value::from(entry.before_barrier));
        }
        if self.labelled {
            writer.put(self.label_field(shape), entry.label as Value);
        }
    }

    fn get(&self, shape: &Shape<'_>, thread: &ThreadShape, reader: &mut Reader<'_>) -> Entry {
        let slot = reader.get(thread.slot_field) as u16;
        let loc = thread.stores[usize::from(slot)];
        let value = reader.get(shape.location_fields[loc.index()]);
        let epoch = if self.has_epochs(thread) { reader.get(EPOCH) as u8 } else { 0 };
        let before_barrier = thread.has_store_load && reader.get(BIT) != 0;
        let label = if self.labelled { reader.get(self.label_field(shape)) as u32 } else { 0 };
        Entry { slot, epoch, before_barrier, value, label, last: false }
    }

    /// Skips a packed entry.
    fn skip(&self, shape: &Shape<'_>, thread: &ThreadShape, reader: &mut BitReader<'_>) {
        let loc = thread.stores[reader.get(thread.slot_field)];
        reader.skip(shape.location_fields[loc.index()]);
        if self.has_epochs(thread) {
            reader.skip(EPOCH);
        }
        if thread.has_store_load {
            reader.skip(BIT);
        }
        if self.labelled {
            reader.skip(self.label_field(shape));
        }
    }

    /// Returns whether the fences allow an element of the set to be committed now.
    fn passes_fences(&self, buffer: &Buffer, entry: &Entry) -> bool {
        match self.grouping {
            StoreBuffers::Pso => entry.epoch == buffer.oldest_epoch(),
            StoreBuffers::Tso => {
                entry.before_barrier || !buffer.set.iter().any(|e| e.before_barrier)
            }
        }
    }

    /// Appends the commits of an element that belongs to the oldest class of its location.
    fn push_set_commits(&self, buffer: &Buffer, at: usize, out: &mut Vec<u32>) {
        let entry = &buffer.set[at];
        let youngest = buffer.youngest_class(entry.slot).is_some_and(|e| e.same_class(entry));
        let alone = !buffer.set.iter().any(|e| e != entry && e.same_class(entry));
        if !self.mutated.is(Mutation::CommittedNeverStays) {
            out.push(Commit::KeepInSet(at).number());
        }
        let leaves = match self.domain {
            Domain::Full => {
                alone || !youngest || !entry.last || self.mutated.is(Mutation::LastLeavesEarly)
            }
            Domain::Partial => {
                !youngest || entry.last || self.mutated.is(Mutation::LastLeavesEarly)
            }
            Domain::Set => true,
        };
        if leaves && !self.mutated.is(Mutation::CommittedAlwaysStays) {
            out.push(Commit::RemoveFromSet(at).number());
        }
    }
}

const BIT: Field = Field::new(0, 1);
const EPOCH: Field = Field::new(0, LAST_EPOCH as u64);

impl Discipline for Coherence {
    type Queues = Vec<Buffer>;

    const FIDELITY: Fidelity = Fidelity::Over;

    const LOADS_HAVE_ALTERNATIVES: bool = true;

    /// A buffer decides which commits its thread can take. Their results depend on nothing else.
    const HAS_TABLES: bool = true;

    fn empty(&self, shape: &Shape<'_>) -> Vec<Buffer> {
        shape.threads.iter().map(|_| Buffer::default()).collect()
    }

    fn push(&self, shape: &Shape<'_>, q: &mut Vec<Buffer>, t: ThreadId, store: Store) -> bool {
        let slot = shape.thread(t).store_slot[store.loc.index()];
        let slot = slot.expect("the location is in the thread's store set");
        let buffer = &mut q[t.index()];
        let label = if self.labelled { store.label.0 } else { 0 };
        let (value, epoch, before_barrier) = (store.value, buffer.epoch, false);
        let entry = Entry { slot, epoch, before_barrier, value, label, last: false };
        let reopened = self.mutated.is(Mutation::HeadReopened);
        if self.fits_in_head(buffer, slot) || (reopened && buffer.head.len() < self.k as usize) {
            buffer.append(entry, self.grouping);
        } else if buffer.set.len() >= MAX_SET_ELEMENTS {
            return false;
        } else if self.domain == Domain::Set {
            buffer.add(entry);
        } else {
            let stale = self.mutated.is(Mutation::StaleLast) && buffer.is_in_set(slot);
            let last = !stale;
            if last {
                buffer.clear_last(slot);
            }
            buffer.add(Entry { last, ..entry });
        }
        true
    }

    fn youngest_value(
        &self,
        shape: &Shape<'_>,
        q: &mut Vec<Buffer>,
        t: ThreadId,
        target: LoadTarget,
        alternative: u32,
    ) -> Option<Value> {
        if self.mutated.is(Mutation::NoForwarding) {
            return None;
        }
        let slot = shape.thread(t).store_slot[target.loc.index()]?;
        let buffer = &q[t.index()];
        if buffer.is_in_set(slot) {
            let entry = match self.domain {
                Domain::Set => buffer.youngest_elements(slot).nth(alternative as usize),
                Domain::Full | Domain::Partial => buffer.last(slot),
            };
            return Some(entry.expect("a location in the set has a youngest element").value);
        }
        buffer.head.iter().rev().find(|e| e.slot == slot).map(|e| e.value)
    }

    fn alternatives(
        &self,
        shape: &Shape<'_>,
        q: &Vec<Buffer>,
        t: ThreadId,
        target: LoadTarget,
    ) -> u32 {
        if self.domain != Domain::Set {
            return 1;
        }
        let Some(slot) = shape.thread(t).store_slot[target.loc.index()] else { return 1 };
        (q[t.index()].youngest_elements(slot).count() as u32).max(1)
    }

    fn may_load(&self, q: &mut Vec<Buffer>, t: ThreadId) -> bool {
        !q[t.index()].all().any(|e| e.before_barrier)
    }

    fn may_update(&self, shape: &Shape<'_>, q: &mut Vec<Buffer>, t: ThreadId, loc: Loc) -> bool {
        let buffer = &q[t.index()];
        if self.mutated.is(Mutation::UpdateWithoutDrain) {
            return true;
        }
        match self.grouping {
            StoreBuffers::Tso => buffer.is_empty(),
            StoreBuffers::Pso => {
                let own = shape.thread(t).store_slot[loc.index()];
                !(buffer.all())
                    .any(|e| Some(e.slot) == own || e.before_barrier || e.epoch < buffer.epoch)
            }
        }
    }

    fn fence(&self, q: &mut Vec<Buffer>, t: ThreadId, kinds: FenceKinds) -> bool {
        if !self.may_fence(q, t, kinds) {
            return false;
        }
        if kinds == FenceKinds::FULL || self.mutated.is(Mutation::IgnoredFence) {
            return true;
        }
        let buffer = &mut q[t.index()];
        if kinds.contains(FenceKinds::STORE_STORE) && self.grouping == StoreBuffers::Pso {
            buffer.begin_epoch();
        }
        if kinds.contains(FenceKinds::STORE_LOAD) {
            buffer.raise_barrier();
        }
        true
    }

    fn may_fence(&self, q: &Vec<Buffer>, t: ThreadId, kinds: FenceKinds) -> bool {
        kinds != FenceKinds::FULL
            || q[t.index()].is_empty()
            || self.mutated.is(Mutation::IgnoredFence)
    }

    fn is_empty(&self, q: &Vec<Buffer>, t: ThreadId) -> bool {
        q[t.index()].is_empty()
    }

    fn for_each_pending(
        &self,
        shape: &Shape<'_>,
        q: &Vec<Buffer>,
        t: ThreadId,
        visit: &mut dyn FnMut(Loc),
    ) {
        for entry in q[t.index()].all() {
            visit(shape.thread(t).stores[usize::from(entry.slot)]);
        }
    }

    fn enabled_commits(&self, q: &Vec<Buffer>, t: ThreadId, out: &mut Vec<u32>) {
        let buffer = &q[t.index()];
        let oldest = buffer.oldest_epoch();
        for (at, entry) in buffer.head.iter().enumerate() {
            let first = match self.grouping {
                StoreBuffers::Tso => at == 0,
                StoreBuffers::Pso => at == 0 || buffer.head[at - 1].slot != entry.slot,
            };
            if first && entry.epoch == oldest {
                out.push(Commit::Head(at).number());
            }
        }
        let skips = self.mutated.is(Mutation::SetBeforeHead);
        for (at, entry) in buffer.set.iter().enumerate() {
            let behind = match self.grouping {
                StoreBuffers::Tso => !buffer.head.is_empty(),
                StoreBuffers::Pso => buffer.head.iter().any(|e| e.slot == entry.slot),
            };
            let oldest = buffer.set.iter().find(|e| e.slot == entry.slot);
            let is_oldest = oldest.is_some_and(|e| e.same_class(entry));
            if (!behind || skips) && is_oldest && self.passes_fences(buffer, entry) {
                self.push_set_commits(buffer, at, out);
            }
        }
    }

    fn commit_location(&self, shape: &Shape<'_>, q: &Vec<Buffer>, t: ThreadId, which: u32) -> Loc {
        let buffer = &q[t.index()];
        let entry = match Commit::from_number(which) {
            Commit::Head(at) => &buffer.head[at],
            Commit::RemoveFromSet(at) | Commit::KeepInSet(at) => &buffer.set[at],
        };
        shape.thread(t).stores[usize::from(entry.slot)]
    }

    fn commit(&self, shape: &Shape<'_>, q: &mut Vec<Buffer>, t: ThreadId, which: u32) -> Committed {
        let loc = self.commit_location(shape, q, t, which);
        let buffer = &mut q[t.index()];
        let (value, stays_pending) = match Commit::from_number(which) {
            Commit::Head(at) => (buffer.head.remove(at).value, false),
            Commit::KeepInSet(at) => {
                return Committed { loc, value: buffer.set[at].value, stays_pending: true };
            }
            Commit::RemoveFromSet(at) => {
                let entry = buffer.set[at];
                match self.domain {
                    Domain::Full => {
                        buffer.set.remove(at);
                    }
                    Domain::Partial | Domain::Set => buffer.set.retain(|e| !e.same_class(&entry)),
                }
                (entry.value, false)
            }
        };
        if shape.thread(t).has_store_store {
            buffer.renumber();
        }
        Committed { loc, value, stays_pending }
    }

    /// A store that enters a head with space enters it before and after any commits. With `k` = 0
    /// and [`Domain::Full`], a commit after the store reaches every state that a commit before the
    /// store reaches: an element that is removed and then stored again corresponds to an element
    /// that stays. With [`Domain::Partial`] this would be coarser.
    fn push_commutes(&self, shape: &Shape<'_>, q: &Vec<Buffer>, t: ThreadId, loc: Loc) -> bool {
        let slot = shape.thread(t).store_slot[loc.index()]
            .expect("the location is in the thread's store set");
        let into_set = self.k == 0 && self.domain == Domain::Full && !shape.has_partial_fences();
        self.fits_in_head(&q[t.index()], slot) || into_set
    }

    fn commit_commutes(&self, _: &Vec<Buffer>, _: ThreadId, which: u32) -> bool {
        matches!(Commit::from_number(which), Commit::Head(_))
    }

    #[inline]
    fn copy_thread(&self, from: &Vec<Buffer>, to: &mut Vec<Buffer>, t: ThreadId) {
        to[t.index()].clone_from(&from[t.index()]);
    }

    fn encode(&self, shape: &Shape<'_>, q: &Vec<Buffer>, t: ThreadId, writer: &mut Writer) {
        let (buffer, thread) = (&q[t.index()], shape.thread(t));
        if thread.stores.is_empty() {
            return;
        }
        debug_assert!(
            buffer.invariants_hold(self.domain),
            "an abstract buffer satisfies its invariants"
        );
        if self.has_epochs(thread) {
            writer.put(EPOCH, Value::from(buffer.epoch));
        }
        writer.put(self.head_field(thread), buffer.head.len() as Value);
        for entry in &buffer.head {
            self.put(shape, thread, entry, writer);
        }
        for entry in &buffer.set {
            writer.put(BIT, 1);
            self.put(shape, thread, entry, writer);
            writer.put(BIT, Value::from(entry.last));
        }
        writer.put(BIT, 0);
    }

    fn packed_bits(&self, shape: &Shape<'_>, bytes: &[u8], bit: usize, t: ThreadId) -> usize {
        let thread = shape.thread(t);
        if thread.stores.is_empty() {
            return 0;
        }
        let mut reader = BitReader::new(bytes, bit);
        if self.has_epochs(thread) {
            reader.skip(EPOCH);
        }
        for _ in 0..reader.get(self.head_field(thread)) {
            self.skip(shape, thread, &mut reader);
        }
        while reader.get(BIT) != 0 {
            self.skip(shape, thread, &mut reader);
            reader.skip(BIT);
        }
        reader.bit() - bit
    }

    fn decode(&self, shape: &Shape<'_>, reader: &mut Reader<'_>, q: &mut Vec<Buffer>, t: ThreadId) {
        let (buffer, thread) = (&mut q[t.index()], shape.thread(t));
        buffer.clear();
        if thread.stores.is_empty() {
            return;
        }
        if self.has_epochs(thread) {
            buffer.epoch = reader.get(EPOCH) as u8;
        }
        for _ in 0..reader.get(self.head_field(thread)) {
            let entry = self.get(shape, thread, reader);
            buffer.head.push(entry);
        }
        while reader.get(BIT) != 0 {
            let entry = self.get(shape, thread, reader);
            buffer.set.push(Entry { last: reader.get(BIT) != 0, ..entry });
        }
    }
}

impl Coherence {
    /// Returns whether a store to the slot enters the head.
    fn fits_in_head(&self, buffer: &Buffer, slot: u16) -> bool {
        let k = self.k as usize;
        match self.grouping {
            StoreBuffers::Tso => buffer.set.is_empty() && buffer.head.len() < k,
            StoreBuffers::Pso => {
                let in_head = buffer.head.iter().filter(|e| e.slot == slot).count();
                !buffer.is_in_set(slot) && in_head < k
            }
        }
    }
}
