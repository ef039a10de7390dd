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
//! implementation of the operations; numbers instead of bytes in stored states, which would depend on
//! the order in which search threads meet the parts.

use crate::bits::{PADDING, Place, Writer};
use crate::model::Condition;
use fencepost_ir::{Label, Loc, ThreadId};

/// The number of parts, and of entries, above which the table is emptied.
const MAX_ENTRIES: usize = 1 << 18;

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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PartId(u32);

/// The part of one thread in a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The facts about the part.
    pub(super) facts: Facts,
    /// The number of steps: the next statement, then the internal steps of the memory model.
    pub(super) steps: u32,
    first_step: u32,
    packed: PackedPart,
}

/// The packed form of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct PackedPart {
    /// The first bytes, and zeros behind a shorter part.
    pub(super) word: u64,
    /// The number of bytes.
    pub(super) len: u32,
    /// The position of the bytes in the table.
    start: u32,
}

/// A slot of the hash table of parts.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    packed: PackedPart,
    thread: u32,
    /// The number of the part plus one. 0 for an empty slot.
    number: u32,
}

/// Facts about a part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// Whether the thread is inside a critical section.
    pub(super) is_critical: bool,
    /// The control point, if an invariant mentions it.
    pub(super) control_point: Option<Label>,
    /// Whether the thread may wait forever from here.
    pub(super) may_wait: bool,
    /// Whether the thread has halted.
    pub(super) has_halted: bool,
    /// Whether nothing of the thread is pending.
    pub(super) has_no_pending: bool,
    /// Whether the thread waits for a latch.
    pub(super) awaits_latch: bool,
    /// The locations that the thread may still store to, see [`location_bit`].
    pub(super) stores: u64,
    /// The locations that the thread may still access.
    pub(super) accesses: u64,
}

/// Returns the bit of a location in [`Facts::stores`]. With many locations, several share a bit.
#[inline]
pub(super) fn location_bit(loc: Loc) -> u64 {
    1 << (loc.index() % 64)
}

/// A step of a part.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartStep {
    /// The number of the internal step. `None` for the next statement.
    pub(super) internal: Option<u32>,
    /// When the step commutes. `None` if the whole state decides it.
    pub(super) commutes: Option<Condition>,
    /// The place of the location that the step accesses. `None` if the results are not tabulated.
    pub(super) location: Option<Place>,
    first_entry: u32,
}

impl PartStep {
    pub(super) fn new(
        internal: Option<u32>,
        commutes: Option<Condition>,
        location: Option<Place>,
    ) -> Self {
        PartStep { internal, commutes, location, first_entry: NONE }
    }
}

/// One result of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The packed value of the location before the step.
    pub(super) old: u64,
    /// The packed value of the location after the step.
    pub(super) new: u64,
    /// The place of the location.
    pub(super) place: Place,
    /// The result.
    pub(super) taken: Taken,
    /// The part after the step. Only if the step was taken.
    pub(super) after: PartId,
    /// The packed form of the part after the step.
    pub(super) packed: PackedPart,
    /// Whether the next entry is the result with the next combination of choices.
    pub(super) has_more: bool,
    next: u32,
}

impl Entry {
    /// Returns the entry of a step that changes a place from `old` to `new`.
    pub(super) fn new(taken: Taken, place: Place, (old, new): (u64, u64), after: PartId) -> Self {
        let packed = PackedPart::default();
        Entry { old, new, place, taken, after, packed, has_more: false, next: NONE }
    }

    /// Returns whether the step changes memory.
    #[inline]
    pub(super) fn changes_memory(&self) -> bool {
        self.old != self.new
    }
}

/// The table.
#[derive(Clone, Debug, Default)]
pub(super) struct StepTable {
    parts: Vec<Part>,
    steps: Vec<PartStep>,
    entries: Vec<Entry>,
    /// The bytes of all parts, with padding at the end.
    bytes: Vec<u8>,
    /// An open-addressing table of the parts. The length is a power of two.
    slots: Vec<Slot>,
}

/// Returns up to eight bytes from `start` as a number. Padding follows them.
#[inline]
fn word(bytes: &[u8], start: usize, len: usize) -> u64 {
    let eight = bytes[start..].first_chunk::<8>().expect("padding follows packed segments");
    let unused = 64 - 8 * len.min(8) as u32;
    // A part has at least one byte, except if the thread has one statement and no registers.
    u64::from_le_bytes(*eight) & u64::MAX.checked_shr(unused).unwrap_or(0)
}

impl StepTable {
    /// Empties the table if it is too large. Numbers of parts are then no longer valid.
    #[inline]
    pub(super) fn limit_size(&mut self) {
        if self.parts.len() >= MAX_ENTRIES || self.entries.len() >= 4 * MAX_ENTRIES {
            *self = StepTable::default();
        }
    }

    /// Returns a number with which the search for a part begins.
    /// `rest` are the bytes after the first eight.
    #[inline]
    fn hash(t: u32, packed: PackedPart, rest: &[u8]) -> usize {
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut hash = (packed.word ^ u64::from(t + 64 * packed.len)).wrapping_mul(FACTOR);
        for byte in rest {
            hash = (hash.rotate_left(5) ^ u64::from(*byte)).wrapping_mul(FACTOR);
        }
        (hash >> 32) as usize
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
        let thread = t.index() as u32;
        let packed = PackedPart { word: word(bytes, start, len), len: len as u32, start: 0 };
        let rest = if len > 8 { &bytes[start + 8..start + len] } else { &[] };
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = Self::hash(thread, packed, rest);
        loop {
            let slot = self.slots.get(at & mask)?;
            let number = slot.number.checked_sub(1)?;
            let is_same = slot.packed.word == packed.word
                && (slot.thread, slot.packed.len) == (thread, packed.len)
                && (len <= 8 || self.rest_of(slot.packed) == rest);
            if is_same {
                return Some(PartId(number));
            }
            at += 1;
        }
    }

    /// Returns the bytes of a part after the first eight.
    fn rest_of(&self, packed: PackedPart) -> &[u8] {
        let (start, len) = (packed.start as usize, packed.len as usize);
        if len > 8 { &self.bytes[start + 8..start + len] } else { &[] }
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
        self.parts.push(Part { facts, steps, first_step: first_step as u32, packed });
        if self.parts.len() * 2 > self.slots.len() {
            let len = (self.slots.len() * 2).max(64);
            let old = std::mem::replace(&mut self.slots, vec![Slot::default(); len]);
            old.into_iter().filter(|slot| slot.number != 0).for_each(|slot| self.set_slot(slot));
        }
        let number = self.parts.len() as u32;
        self.set_slot(Slot { packed, thread: t.index() as u32, number });
        PartId(number - 1)
    }

    fn set_slot(&mut self, slot: Slot) {
        let mask = self.slots.len() - 1;
        let mut at = Self::hash(slot.thread, slot.packed, self.rest_of(slot.packed)) & mask;
        while self.slots[at].number != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
    }

    /// Returns a part.
    #[inline]
    pub(super) fn part(&self, part: PartId) -> &Part {
        &self.parts[part.0 as usize]
    }

    /// Returns a step of a part.
    #[inline]
    pub(super) fn step(&self, part: PartId, step: u32) -> &PartStep {
        &self.steps[(self.parts[part.0 as usize].first_step + step) as usize]
    }

    /// Stops tabulating a step.
    pub(super) fn exclude_step(&mut self, part: PartId, step: u32) {
        let at = self.parts[part.0 as usize].first_step + step;
        self.steps[at as usize].location = None;
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
    pub(super) fn add_entries(&mut self, part: PartId, step: u32, entries: &[Entry]) -> u32 {
        let first = self.entries.len() as u32;
        for (number, entry) in (1..).zip(entries) {
            let packed = self.part(entry.after).packed;
            self.entries.push(Entry { packed, has_more: number < entries.len(), ..*entry });
        }
        let at = self.parts[part.0 as usize].first_step + step;
        let head = &mut self.steps[at as usize].first_entry;
        self.entries[first as usize].next = std::mem::replace(head, first);
        first
    }

    /// Writes a packed state that differs from `base` in the part from `from` to `to` and in the
    /// location of the entry.
    #[inline]
    pub(super) fn write_successor(
        &self,
        entry: &Entry,
        base: &[u8],
        (from, to): (usize, usize),
        writer: &mut Writer,
    ) {
        let PackedPart { word, len, start } = entry.packed;
        let (start, len) = (start as usize, len as usize);
        writer.clear();
        writer.reserve(base.len() + len);
        writer.copy_padded(base, 0, from);
        if len <= 8 {
            writer.copy_word(word, len);
        } else {
            writer.copy_padded(&self.bytes, start, len);
        }
        writer.copy_padded(base, to, base.len() - PADDING - to);
        if entry.changes_memory() {
            writer.patch(entry.place, entry.new);
        }
    }
}
