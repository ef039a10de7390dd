//! The covering order on [collapsed states](super::collapsed) of an abstract model's machine.
//!
//! The key of a state, the order and the join consist of one piece for each thread
//! ([`Covering`]). A piece depends on the part of the thread only, and few parts occur in many states.
//! So each search thread remembers the key of each part, and how two parts relate. A key is then a
//! copy of remembered bytes, and a comparison needs no unpacking: it is one look-up for each thread
//! whose numbers differ. Equal numbers stand for equal parts, which cover each other.
//!
//! Direction: exact. Keys, relations and joins are those of packed states ([`super::ordered`]), byte
//! for byte. What is not remembered is computed from the parts, so the answers depend neither on what
//! a search thread has seen before nor on numbers.
//!
//! A join may be a new part, and it is found while a search inserts states. At that time, numbers
//! cannot become wider. So these states have numbers of the largest width from the start.

use super::Machine;
use super::collapsed::Collapsed;
use super::dictionary::{MAX_WIDTH, PartDictionary};
use super::ordered::Work;
use crate::bits::Reader;
use crate::model::{Covering, MemoryModel};
use crate::mutation::Mutation;
use crate::state::State;
use fencepost_ir::ThreadId;
use fencepost_search::{Ordered, Relation};
use std::sync::Arc;

/// The binary logarithms of the least and the largest number of slots for relations.
const MIN_SLOT_BITS: u32 = 6;
const MAX_SLOT_BITS: u32 = 16;

/// The number of bytes of keys above which all keys are forgotten.
const MAX_KEY_BYTES: usize = 1 << 25;

/// The width of a number.
const WIDTH: usize = MAX_WIDTH as usize;

/// How a part that is stored relates to a new one with the same key. A set of bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct PartRelation(u8);

impl PartRelation {
    /// The stored part covers the new one.
    const COVERED: PartRelation = PartRelation(1);
    /// The new part covers the stored one.
    const COVERS: PartRelation = PartRelation(2);
    /// The domain joins the parts.
    const JOINS: PartRelation = PartRelation(4);
    /// All of these. The relation of equal parts.
    const ALL: PartRelation = PartRelation(7);

    fn has(self, other: PartRelation) -> bool {
        self.0 & other.0 != 0
    }

    fn when(self, holds: bool) -> u8 {
        if holds { self.0 } else { 0 }
    }
}

/// What is remembered about two parts of a thread with different numbers.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The numbers of the stored part and of the new one. Equal in an empty slot.
    pair: (u32, u32),
    thread: u8,
    relation: PartRelation,
    /// The number of the join plus one, or 0 if it is not known.
    join: u32,
}

impl Slot {
    const EMPTY: Slot = Slot { pair: (0, 0), thread: 0, relation: PartRelation(0), join: 0 };
}

/// Working memory for the comparison of collapsed states.
#[derive(Debug)]
pub struct PartWork<P> {
    /// Unpacked parts. The working memory of packed states.
    states: Work<P>,
    /// Indexed by thread, then by number: where the key of the part begins and ends in `keys`. The end
    /// is 0 if the key is not known.
    key_ranges: Vec<Vec<(u32, u32)>>,
    keys: Vec<u8>,
    /// One slot for each hash of two parts. A later pair takes the slot of an earlier one.
    slots: Vec<Slot>,
    /// The binary logarithm of the number of slots.
    slot_bits: u32,
    /// The number of relations that were computed since the number of slots changed.
    computed: usize,
    /// A packed part.
    part: Vec<u8>,
}

impl<P> PartWork<P> {
    /// Returns the position of the slot for two parts of a thread.
    #[inline]
    fn slot(&self, t: ThreadId, (kept, new): (u32, u32)) -> usize {
        let both = u64::from(kept) << 32 | u64::from(new);
        let mixed = both.wrapping_add((t.index() as u64) << 24);
        (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - self.slot_bits)) as usize
    }

    /// Counts a relation that is computed. Takes four times as many slots, which are empty, after as
    /// many computations as there are slots.
    fn count_relation(&mut self) {
        self.computed += 1;
        if self.computed > self.slots.len() && self.slot_bits < MAX_SLOT_BITS {
            self.slot_bits += 2;
            self.slots = vec![Slot::EMPTY; 1 << self.slot_bits];
            self.computed = 0;
        }
    }
}

/// Returns the numbers in a collapsed state whose memory has this length.
#[inline]
fn numbers(state: &[u8], memory: usize) -> &[[u8; WIDTH]] {
    state[memory..].as_chunks().0
}

/// Appends the first `len` bytes to a key. A block of constant length is copied without a call.
#[inline(always)]
fn append(key: &mut Vec<u8>, bytes: &[u8], len: usize) {
    match bytes.first_chunk::<16>() {
        Some(block) if len <= block.len() => {
            let end = key.len() + len;
            key.extend_from_slice(block);
            key.truncate(end);
        }
        Some(_) | None => key.extend_from_slice(&bytes[..len]),
    }
}

impl<'m, 'p, M: Covering> Collapsed<'m, 'p, M> {
    /// Returns the machine as an ordered system of collapsed states.
    pub fn ordered(machine: &'m Machine<'p, M>) -> Self {
        let memory = machine.packed_memory();
        let threads = machine.shape.threads.len();
        let new = || Arc::new(PartDictionary::with_width(memory, threads, MAX_WIDTH));
        Collapsed { machine, dictionary: machine.has_table().then(new) }
    }

    /// Computes the key of a part and remembers it.
    #[cold]
    fn learn_key(
        &self,
        (t, number): (ThreadId, usize),
        dictionary: &PartDictionary,
        work: &mut PartWork<M::Pending>,
    ) -> (u32, u32) {
        let PartWork { states: Work { new, writer, .. }, key_ranges, keys, part, .. } = work;
        self.unpack_part((t, number), dictionary, part, new);
        writer.clear();
        self.machine.encode_key(new, t, writer);
        if keys.len() > MAX_KEY_BYTES {
            keys.clear();
            key_ranges.iter_mut().for_each(Vec::clear);
        }
        let start = keys.len();
        keys.extend_from_slice(writer.bytes());
        let range = (start as u32, keys.len() as u32);
        let known = &mut key_ranges[t.index()];
        if known.len() <= number {
            known.resize(number + 1, (0, 0));
        }
        known[number] = range;
        range
    }

    fn unpack_part(
        &self,
        (t, number): (ThreadId, usize),
        dictionary: &PartDictionary,
        part: &mut Vec<u8>,
        state: &mut State<M::Pending>,
    ) {
        part.clear();
        dictionary.append_part(t, number as u64, part);
        self.machine.unpack_thread(&mut Reader::new(part), t, state);
    }

    /// Returns how two parts of a thread with different numbers relate, and their slot.
    #[inline]
    fn relate_parts(
        &self,
        t: ThreadId,
        pair: (u32, u32),
        dictionary: &PartDictionary,
        work: &mut PartWork<M::Pending>,
    ) -> (PartRelation, usize) {
        let at = work.slot(t, pair);
        let slot = &work.slots[at];
        if slot.pair == pair && usize::from(slot.thread) == t.index() {
            return (slot.relation, at);
        }
        let at = self.learn_relation(t, pair, dictionary, work);
        (work.slots[at].relation, at)
    }

    /// Computes how two parts of a thread relate, and remembers it. Returns the slot.
    #[cold]
    fn learn_relation(
        &self,
        t: ThreadId,
        pair: (u32, u32),
        dictionary: &PartDictionary,
        work: &mut PartWork<M::Pending>,
    ) -> usize {
        work.count_relation();
        let at = work.slot(t, pair);
        let PartWork { states: Work { kept, new, .. }, slots, part, .. } = work;
        self.unpack_part((t, pair.0 as usize), dictionary, part, kept);
        self.unpack_part((t, pair.1 as usize), dictionary, part, new);
        let (model, kept, new) = (&self.machine.model, &kept.pending, &new.pending);
        let swapped = self.machine.mutated.is(Mutation::RelationsSwapped);
        let (big, small) = if swapped { (new, kept) } else { (kept, new) };
        let relation = PartRelation(
            PartRelation::COVERED.when(model.covers(big, small, t))
                | PartRelation::COVERS.when(model.covers(small, big, t))
                | PartRelation::JOINS.when(model.may_join(kept, new, t)),
        );
        slots[at] = Slot { pair, thread: t.index() as u8, relation, join: 0 };
        at
    }

    /// Returns the number of the join of two parts of a thread. Their slot is `at`.
    fn join_parts(
        &self,
        t: ThreadId,
        pair: (u32, u32),
        dictionary: &PartDictionary,
        work: &mut PartWork<M::Pending>,
        at: usize,
    ) -> u32 {
        let PartWork { states: Work { kept, new, writer }, slots, part, .. } = work;
        if slots[at].join != 0 {
            return slots[at].join - 1;
        }
        self.unpack_part((t, pair.0 as usize), dictionary, part, kept);
        self.unpack_part((t, pair.1 as usize), dictionary, part, new);
        self.machine.model.join(&mut new.pending, &kept.pending, t);
        writer.clear();
        self.machine.encode_thread(new, t, writer);
        let forgets = self.machine.mutated.is(Mutation::JoinsForgotten);
        let number = if forgets { pair.0 } else { dictionary.number(t, writer.bytes()) };
        slots[at].join = number + 1;
        number
    }
}

impl<M: Covering> Ordered for Collapsed<'_, '_, M> {
    type Work = PartWork<<M as MemoryModel>::Pending>;

    fn work(&self) -> Self::Work {
        PartWork {
            states: self.machine.work(),
            key_ranges: vec![Vec::new(); self.machine.shape.threads.len()],
            keys: Vec::new(),
            slots: vec![Slot::EMPTY; 1 << MIN_SLOT_BITS],
            slot_bits: MIN_SLOT_BITS,
            computed: 0,
            part: Vec::new(),
        }
    }

    #[inline]
    fn key(&self, state: &[u8], work: &mut Self::Work, key: &mut Vec<u8>) {
        let Some(dictionary) = &self.dictionary else {
            return self.machine.key(state, &mut work.states, key);
        };
        let memory = self.machine.packed_memory();
        append(key, state, memory);
        for (t, number) in numbers(state, memory).iter().enumerate() {
            let number = u32::from_le_bytes(*number) as usize;
            let (start, end) = match work.key_ranges[t].get(number) {
                Some(range) if range.1 != 0 => *range,
                Some(_) | None => {
                    self.learn_key((ThreadId::from_index(t), number), dictionary, work)
                }
            };
            append(key, &work.keys[start as usize..], (end - start) as usize);
        }
    }

    fn relate(
        &self,
        kept: &[u8],
        new: &[u8],
        work: &mut Self::Work,
        joined: &mut Vec<u8>,
    ) -> Relation {
        let Some(dictionary) = &self.dictionary else {
            return self.machine.relate(kept, new, &mut work.states, joined);
        };
        let memory = self.machine.packed_memory();
        let pairs = || {
            let pairs = numbers(kept, memory).iter().zip(numbers(new, memory)).enumerate();
            pairs.filter(|(_, (kept, new))| kept != new).map(|(t, (kept, new))| {
                let pair = (u32::from_le_bytes(*kept), u32::from_le_bytes(*new));
                (ThreadId::from_index(t), pair)
            })
        };
        let mut relation = PartRelation::ALL;
        for (t, pair) in pairs() {
            relation.0 &= self.relate_parts(t, pair, dictionary, work).0.0;
            if relation.0 == 0 {
                return Relation::Unrelated;
            }
        }
        if relation.has(PartRelation::COVERED) {
            return Relation::Covered;
        }
        if relation.has(PartRelation::COVERS) {
            return Relation::Covers;
        }
        joined.extend_from_slice(new);
        for (t, pair) in pairs() {
            let (_, at) = self.relate_parts(t, pair, dictionary, work);
            let number = self.join_parts(t, pair, dictionary, work, at);
            let place = memory + WIDTH * t.index();
            joined[place..place + WIDTH].copy_from_slice(&number.to_le_bytes());
        }
        Relation::Joined
    }
}
