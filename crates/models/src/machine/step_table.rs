//! A table of the steps of single threads.
//!
//! Most steps depend on little: the thread's own part of the state and the value of one location. So
//! the same steps occur in many states. The table gives each part of a thread (its program counter,
//! registers and pending accesses) a number and remembers the result of its steps for each value of
//! the location. The machine computes an entry when it is needed for the first time. Later, a step is
//! a few look-ups, and its successor is a copy of the packed state with other bits.
//!
//! A part also has what partial-order reduction needs: when its steps commute, and the locations that
//! the thread may still access.
//!
//! Direction: exact. An entry is the result of the machine; [`Scope`](crate::model::Scope) says what
//! it depends on. Rejected: translation of statements into code of their own, which would be a second
//! implementation of the operations; numbers of this table in stored states, because each search thread
//! has a table of its own (see [`super::dictionary`]).

use super::dictionary::{hash_of_sum, part_summand, value_summand};
use crate::bits::{PADDING, Place, Writer};
use fencepost_ir::{Loc, ThreadId};

/// The number of parts above which the table is emptied.
pub(super) const MAX_PARTS: usize = 1 << 18;

/// The maximal number of values of a location that are indices of a table.
const MAX_INDEXED_VALUES: u64 = 64;

/// The end of a chain of entries.
const NONE: u32 = u32::MAX;

/// The result of an attempted step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Taken {
    /// The step is not enabled.
    Blocked,
    /// The bound on pending accesses forbids the step.
    BoundReached,
    /// The step leads to a successor.
    Yes,
    /// A statement of the step fails.
    Failed,
}

/// The number of a part in a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct PartId(u32);

impl PartId {
    #[inline]
    pub(super) fn from_number(number: u32) -> PartId {
        PartId(number)
    }

    #[inline]
    pub(super) fn number(self) -> u32 {
        self.0
    }
}

/// The part of one thread in a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The facts about the part.
    pub(super) facts: Facts,
    /// The number of the first step: the next statement. The internal steps follow it.
    pub(super) first_step: u32,
    /// The number of steps.
    pub(super) steps: u32,
    /// The part behind the [quiet accesses](super::quiet) of the thread, if it is known.
    pub(super) settled: Option<PartId>,
    /// The number of the part in the dictionary of [collapsed states](super::collapsed), if it is known.
    pub(super) number: Option<u32>,
    /// What the part adds to the sum of a collapsed state.
    pub(super) summand: u64,
    packed: PackedPart,
}

/// The packed form of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct PackedPart {
    /// The first bytes, and zeros behind a shorter part.
    word: u64,
    /// The number of bytes.
    len: u32,
    /// The position of the bytes in the table.
    start: u32,
}

/// A slot of the hash table of parts.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    word: u64,
    /// The length and the thread, see [`Slot::key`]. 0 for an empty slot.
    key: u32,
    part: PartId,
}

impl Slot {
    /// Returns a number for the length of a part and its thread. There are at most 64 threads.
    #[inline]
    fn key(t: ThreadId, len: usize) -> u32 {
        (len * 64 + t.index() + 1) as u32
    }
}

/// Facts about a part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// The locations that the thread may still store to, see [`location_bit`].
    pub(super) stores: u64,
    /// The locations that the thread may still access.
    pub(super) accesses: u64,
    /// Whether the thread is inside a critical section.
    pub(super) is_critical: bool,
    /// Whether some step of the thread may commute.
    pub(super) may_commute: bool,
    /// Whether the thread may wait forever from here.
    pub(super) may_wait: bool,
    /// Whether the thread has halted.
    pub(super) has_halted: bool,
    /// Whether nothing of the thread is pending.
    pub(super) has_no_pending: bool,
    /// Whether the thread waits for all others.
    pub(super) is_at_join: bool,
    /// Whether the thread waits for a latch.
    pub(super) awaits_latch: bool,
}

/// Returns the bit of a location in [`Facts::stores`]. With many locations, several share a bit.
#[inline]
pub(super) fn location_bit(loc: Loc) -> u64 {
    1 << (loc.index() % 64)
}

/// Whether a step commutes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Commutes {
    /// It does not.
    Never,
    /// The whole state decides it.
    Ask,
    /// It does unless another thread may still store to one of the locations in the first set, or
    /// access one in the second set (see [`location_bit`]).
    Unless(u64, u64),
}

/// A step of a part.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartStep {
    /// The number of the internal step. `None` for the next statement.
    pub(super) internal: Option<u32>,
    /// Whether the step commutes.
    pub(super) commutes: Commutes,
    /// The place of the location that the step accesses. `None` if the results are not tabulated.
    pub(super) location: Option<Place>,
    /// The first entry of a chain.
    first_entry: u32,
    /// The position in [`StepTable::by_value`] and the number of values there. 0 if there are too many
    /// values.
    first_value: u32,
    values: u32,
}

impl PartStep {
    pub(super) fn new(internal: Option<u32>, commutes: Commutes, location: Option<Place>) -> Self {
        PartStep { internal, commutes, location, first_entry: NONE, first_value: 0, values: 0 }
    }
}

/// One result of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The packed value of the location before the step.
    old: u64,
    /// The packed value of the location after the step.
    new: u64,
    /// The place of the location.
    place: Place,
    /// The part after the step.
    pub(super) after: PartId,
    /// The number of the part after the step in the dictionary of collapsed states.
    pub(super) number: u32,
    /// What the step adds to the sum of a collapsed state.
    added: u64,
    /// The next entry of the step, for another value.
    next: u32,
    /// Whether the step changes nothing.
    pub(super) is_loop: bool,
    /// The result.
    pub(super) taken: Taken,
    /// Whether the next entry in the table is the result with the next combination of choices.
    pub(super) has_more: bool,
    /// Whether the thread is inside a critical section after the step.
    pub(super) is_critical: bool,
    /// Whether the step is visible to a property.
    pub(super) is_visible: bool,
    /// Whether the step shows that the thread does not wait forever.
    pub(super) leaves_wait: bool,
}

impl Entry {
    /// Returns the entry of a step that leads to no successor.
    pub(super) fn without_successor(taken: Taken, old: u64) -> Self {
        Entry {
            old,
            new: old,
            place: Place::NOTHING,
            after: PartId::default(),
            number: 0,
            added: 0,
            next: NONE,
            is_loop: false,
            taken,
            has_more: false,
            is_critical: false,
            is_visible: false,
            leaves_wait: false,
        }
    }

    /// Returns the entry of a step that changes a place from `old` to `new`, and a part.
    pub(super) fn new(
        place: Place,
        (old, new): (u64, u64),
        (before, after): (&Part, &Part),
        after_id: PartId,
        is_visible: bool,
    ) -> Self {
        let added = value_summand(place, new).wrapping_sub(value_summand(place, old));
        Entry {
            new,
            place,
            after: after_id,
            number: after.number.unwrap_or(0),
            added: added.wrapping_add(after.summand).wrapping_sub(before.summand),
            is_loop: before.packed == after.packed && old == new,
            is_critical: after.facts.is_critical,
            is_visible,
            leaves_wait: !after.facts.may_wait || old != new,
            ..Entry::without_successor(Taken::Yes, old)
        }
    }
}

impl Entry {
    /// Writes the value of the location after the step, if the step changes it.
    #[inline(always)]
    pub(super) fn write_value(&self, state: &mut [u8]) {
        if self.old != self.new {
            self.place.write(state, self.new);
        }
    }

    /// Returns the hash of the collapsed state after the step, from the sum of the state before it.
    #[inline(always)]
    pub(super) fn hash(&self, sum: u64) -> u64 {
        hash_of_sum(sum.wrapping_add(self.added))
    }
}

/// The table.
#[derive(Clone, Debug, Default)]
pub(super) struct StepTable {
    parts: Vec<Part>,
    steps: Vec<PartStep>,
    entries: Vec<Entry>,
    /// For steps whose location has few values, and each value: the first entry.
    by_value: Vec<u32>,
    /// The bytes of all parts, with padding at the end.
    bytes: Vec<u8>,
    /// An open-addressing table of the parts. The length is a power of two.
    slots: Vec<Slot>,
}

/// Returns up to eight bytes from `start` as a number. Padding follows them.
#[inline]
fn word(bytes: &[u8], start: usize, len: usize) -> u64 {
    const MASKS: [u64; 9] = [
        0,
        0xff,
        0xffff,
        (1 << 24) - 1,
        (1 << 32) - 1,
        (1 << 40) - 1,
        (1 << 48) - 1,
        (1 << 56) - 1,
        !0,
    ];
    let eight = bytes[start..start + 8].first_chunk::<8>().expect("the slice has eight bytes");
    u64::from_le_bytes(*eight) & MASKS[len.min(8)]
}

impl StepTable {
    /// Empties the table if it has `max_parts` parts, four times as many entries, or 16 times as many
    /// values. Numbers of parts are then no longer valid. Returns whether it was too large.
    #[inline]
    pub(super) fn limit_size(&mut self, max_parts: usize) -> bool {
        let is_too_large = self.parts.len() >= max_parts
            || self.entries.len() >= 4 * max_parts
            || self.by_value.len() >= 16 * max_parts;
        if is_too_large {
            *self = StepTable::default();
        }
        is_too_large
    }

    /// Returns a number with which the search for a part begins.
    #[inline]
    fn hash(word: u64, key: u32) -> usize {
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        ((word ^ u64::from(key) << 32).wrapping_mul(FACTOR) >> 32) as usize
    }

    /// Returns the part of a thread with this packed form, if it is known. The packed form is at
    /// `start` in `bytes`, and padding follows it.
    #[inline]
    pub(super) fn find(
        &self,
        t: ThreadId,
        bytes: &[u8],
        start: usize,
        len: usize,
    ) -> Option<PartId> {
        let (word, key) = (word(bytes, start, len), Slot::key(t, len));
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = Self::hash(word, key);
        loop {
            let slot = self.slots.get(at & mask)?;
            if slot.key == key && slot.word == word {
                if len <= 8 || self.is_equal(slot.part, &bytes[start..start + len]) {
                    return Some(slot.part);
                }
            } else if slot.key == 0 {
                return None;
            }
            at += 1;
        }
    }

    #[cold]
    fn is_equal(&self, part: PartId, bytes: &[u8]) -> bool {
        let start = self.part(part).packed.start as usize;
        &self.bytes[start..start + bytes.len()] == bytes
    }

    /// Adds a part that is not in the table, with its packed form.
    pub(super) fn insert(
        &mut self,
        t: ThreadId,
        bytes: &[u8],
        facts: Facts,
        steps: impl IntoIterator<Item = PartStep>,
    ) -> PartId {
        let start = self.bytes.len().saturating_sub(PADDING);
        self.bytes.truncate(start);
        self.bytes.extend_from_slice(bytes);
        self.bytes.extend_from_slice(&[0; PADDING]);
        let word = word(&self.bytes, start, bytes.len());
        let packed = PackedPart { word, len: bytes.len() as u32, start: start as u32 };
        let first_step = self.steps.len();
        self.steps.extend(steps);
        let steps = (self.steps.len() - first_step) as u32;
        let first_step = first_step as u32;
        let summand = part_summand(t, bytes);
        let (settled, number) = (None, None);
        self.parts.push(Part { facts, steps, first_step, settled, number, summand, packed });
        if self.parts.len() * 2 > self.slots.len() {
            let len = (self.slots.len() * 2).max(64);
            let old = std::mem::replace(&mut self.slots, vec![Slot::default(); len]);
            old.into_iter().filter(|slot| slot.key != 0).for_each(|slot| self.set_slot(slot));
        }
        let part = PartId(self.parts.len() as u32 - 1);
        self.set_slot(Slot { word, key: Slot::key(t, bytes.len()), part });
        part
    }

    fn set_slot(&mut self, slot: Slot) {
        let mask = self.slots.len() - 1;
        let mut at = Self::hash(slot.word, slot.key) & mask;
        while self.slots[at].key != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
    }

    /// Returns a part.
    #[inline]
    pub(super) fn part(&self, part: PartId) -> &Part {
        &self.parts[part.0 as usize]
    }

    /// Sets the part behind the quiet accesses.
    pub(super) fn set_settled(&mut self, part: PartId, settled: PartId) {
        self.parts[part.0 as usize].settled = Some(settled);
    }

    /// Sets the number of a part in the dictionary.
    pub(super) fn set_number(&mut self, part: PartId, number: u32) {
        self.parts[part.0 as usize].number = Some(number);
    }

    /// Returns the packed form of a part.
    #[inline]
    pub(super) fn bytes_of(&self, part: PartId) -> &[u8] {
        let PackedPart { start, len, .. } = self.part(part).packed;
        &self.bytes[start as usize..(start + len) as usize]
    }

    /// Returns a step.
    #[inline]
    pub(super) fn step(&self, step: u32) -> &PartStep {
        &self.steps[step as usize]
    }

    /// Stops tabulating a step.
    pub(super) fn exclude_step(&mut self, step: u32) {
        self.steps[step as usize].location = None;
    }

    /// Returns the steps of a part.
    #[inline]
    pub(super) fn steps_of(&self, part: &Part) -> &[PartStep] {
        &self.steps[part.first_step as usize..(part.first_step + part.steps) as usize]
    }

    /// Returns the entries of a step from the first one for a packed value of its location on. `None`
    /// if there is none, or the location has too many values.
    #[inline(always)]
    pub(super) fn entries_for(&self, step: &PartStep, old: u64) -> Option<&[Entry]> {
        if old >= u64::from(step.values) {
            return None;
        }
        let first = self.by_value[step.first_value as usize + old as usize];
        self.entries.get(first as usize..)
    }

    /// Returns the number of the first entry of a step for a packed value of its location.
    #[inline]
    pub(super) fn first_entry(&self, step: &PartStep, old: u64) -> Option<u32> {
        let mut at = step.first_entry;
        loop {
            let entry = self.entries.get(at as usize)?;
            if entry.old == old {
                return Some(at);
            }
            at = entry.next;
        }
    }

    /// Returns the number of values of its location for which a step is tabulated.
    pub(super) fn count_values(&self, step: &PartStep) -> usize {
        let first = self.entries.get(step.first_entry as usize);
        std::iter::successors(first, |entry| self.entries.get(entry.next as usize)).count()
    }

    /// Returns an entry.
    #[inline]
    pub(super) fn entry(&self, at: u32) -> &Entry {
        &self.entries[at as usize]
    }

    /// Adds the results of a step for one value of its location, in the order of its choices.
    /// Returns the number of the first entry.
    pub(super) fn add_entries(&mut self, step: u32, entries: &[Entry]) -> u32 {
        let first = self.entries.len() as u32;
        for (number, entry) in (1..).zip(entries) {
            self.entries.push(Entry { has_more: number < entries.len(), ..*entry });
        }
        let step = &mut self.steps[step as usize];
        let entry = &mut self.entries[first as usize];
        entry.next = std::mem::replace(&mut step.first_entry, first);
        let values = step.location.map_or(0, Place::values);
        if values <= MAX_INDEXED_VALUES {
            if step.values == 0 {
                (step.first_value, step.values) = (self.by_value.len() as u32, values as u32);
                self.by_value.resize(self.by_value.len() + values as usize, NONE);
            }
            self.by_value[step.first_value as usize + entry.old as usize] = first;
        }
        first
    }

    /// Writes a packed state that differs from `base` in the part from `from` to `to` and in the
    /// location of the entry.
    #[inline(always)]
    pub(super) fn write_successor(
        &self,
        entry: &Entry,
        base: &[u8],
        range: (usize, usize),
        writer: &mut Writer,
    ) {
        self.write_part(entry.after, base, range, writer);
        entry.write_value(writer.allocated());
    }

    /// Writes a packed state that differs from `base` in the part from `from` to `to`.
    #[inline(always)]
    pub(super) fn write_part(
        &self,
        part: PartId,
        base: &[u8],
        (from, to): (usize, usize),
        writer: &mut Writer,
    ) {
        let PackedPart { word, len, start } = self.part(part).packed;
        let (start, len) = (start as usize, len as usize);
        writer.splice(base, (from, to), (word, len));
        if len > 8 {
            writer.overwrite(from, &self.bytes[start..start + len]);
        }
    }
}
