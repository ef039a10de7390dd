//! The parts of threads in packed states, with what colours and renamings need.
//!
//! A state consists of memory and one part for each thread. The same parts recur in many states. A
//! search worker unpacks a part once and remembers what it contains, and how it is packed after each
//! renaming.

use super::renaming::{Owner, Renaming, Tables};
use crate::bits::{PADDING, Reader, Writer};
use crate::machine::Machine;
use crate::model::MemoryModel;
use crate::state::State;
use fencepost_ir::symmetry::MAX_THREADS;
use fencepost_ir::{Loc, ThreadId, Value};
use rustc_hash::FxHashMap;

/// The number of bytes of renamed parts at which everything is forgotten.
const MAX_BYTES: usize = 1 << 24;
/// The number of parts at which everything is forgotten.
const MAX_PARTS: usize = 1 << 16;
/// A renaming of so many threads has a number of 64 bits, see [`Parts::key`].
const _: () = assert!(MAX_THREADS * 4 < 64);

/// What a part contains.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// A hash of everything that no renaming changes.
    pub(super) fixed: u64,
    /// The registers with values that belong to a thread.
    pub(super) registers: Vec<(u64, Owner)>,
    /// The pending stores of which the location or the value belongs to a thread.
    pub(super) pending: Vec<PendingStore>,
}

/// A pending store.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingStore {
    pub(super) position: usize,
    pub(super) loc: Loc,
    pub(super) value: Value,
}

/// The parts that a worker has seen.
#[derive(Debug)]
pub(super) struct Parts {
    /// By thread: the numbers of parts by their packed form.
    numbers: Vec<FxHashMap<Box<[u8]>, u32>>,
    parts: Vec<Part>,
    /// Renamed parts, as ranges of `bytes`.
    renamed: FxHashMap<(u32, u64), (u32, u32)>,
    bytes: Vec<u8>,
    /// The parts of the state: their numbers and the ends of memory and of each part.
    current: Vec<u32>,
    ends: Vec<usize>,
    writer: Writer,
}

impl Parts {
    pub(super) fn new(threads: usize) -> Self {
        Parts {
            numbers: vec![FxHashMap::default(); threads],
            parts: Vec::new(),
            renamed: FxHashMap::default(),
            bytes: Vec::new(),
            current: Vec::new(),
            ends: Vec::new(),
            writer: Writer::default(),
        }
    }

    /// Returns the part of a thread in the current state.
    #[inline]
    pub(super) fn part(&self, at: usize) -> &Part {
        &self.parts[self.current[at] as usize]
    }

    /// Finds the parts of a packed state, with [padding](PADDING). Unpacks memory into `state`, if a
    /// renaming changes it.
    pub(super) fn open<M: MemoryModel>(
        &mut self,
        machine: &Machine<'_, M>,
        tables: &Tables,
        bytes: &[u8],
        state: &mut State<M::Pending>,
    ) {
        if self.bytes.len() > MAX_BYTES || self.parts.len() > MAX_PARTS {
            *self = Parts::new(self.numbers.len());
        }
        let shape = &machine.shape;
        let mut end = (shape.memory_bits as usize).div_ceil(8);
        self.current.clear();
        self.ends.clear();
        self.ends.push(end);
        if tables.changes_memory() {
            let fields = shape.location_fields.iter().zip(&mut state.memory.values);
            let mut reader = Reader::new(bytes);
            fields.for_each(|(field, value)| *value = reader.get(*field));
        }
        for (at, thread) in shape.threads.iter().enumerate() {
            let t = ThreadId::from_index(at);
            let start = end;
            let bit = 8 * start + thread.control_bits as usize;
            end = (bit + machine.model.pending_bits(shape, bytes, bit, t)).div_ceil(8);
            self.ends.push(end);
            let number = match self.numbers[at].get(&bytes[start..end]) {
                Some(number) => *number,
                None => {
                    machine.unpack_thread(&mut Reader::new(&bytes[start..end]), t, state);
                    let number = self.parts.len() as u32;
                    self.parts.push(Part::new(machine, tables, state, t));
                    self.numbers[at].insert(bytes[start..end].into(), number);
                    number
                }
            };
            self.current.push(number);
        }
        debug_assert_eq!(end + PADDING, bytes.len(), "a packed state consists of memory and parts");
    }

    /// Appends the packed form of the renamed current state to `out`. `bytes` and `state` are as in
    /// [`Self::open`].
    pub(super) fn rename<M: MemoryModel>(
        &mut self,
        (machine, tables): (&Machine<'_, M>, &Tables),
        (bytes, state): (&[u8], &mut State<M::Pending>),
        (renaming, inverse): (&Renaming, &Renaming),
        renamed: &mut State<M::Pending>,
        out: &mut Vec<u8>,
    ) {
        if tables.changes_memory() {
            renamed.memory.values.copy_from_slice(&state.memory.values);
            tables.rename_memory(&state.memory.values, renaming, &mut renamed.memory.values);
            self.writer.clear();
            machine.encode_memory_of(bytes, &renamed.memory.values, &mut self.writer);
            out.extend_from_slice(self.writer.bytes());
        } else {
            out.extend_from_slice(&bytes[..self.ends[0]]);
        }
        for new in 0..self.current.len() {
            let old = inverse.thread(ThreadId::from_index(new));
            let part = self.current[old.index()];
            let key = (part, self.key(part, renaming, new));
            if let Some((from, to)) = self.renamed.get(&key) {
                out.extend_from_slice(&self.bytes[*from as usize..*to as usize]);
                continue;
            }
            let range = self.ends[old.index()]..self.ends[old.index() + 1];
            machine.unpack_thread(&mut Reader::new(&bytes[range]), old, state);
            tables.rename_thread(machine, state, old, renaming, renamed);
            self.writer.clear();
            machine.encode_thread(renamed, ThreadId::from_index(new), &mut self.writer);
            out.extend_from_slice(self.writer.bytes());
            let from = self.bytes.len() as u32;
            self.bytes.extend_from_slice(self.writer.bytes());
            self.renamed.insert(key, (from, self.bytes.len() as u32));
        }
    }

    /// Returns a number for what a renaming does to a part.
    fn key(&self, part: u32, renaming: &Renaming, new: usize) -> u64 {
        let part = &self.parts[part as usize];
        if part.registers.is_empty() && part.pending.is_empty() {
            return new as u64;
        }
        let digits = renaming.0.iter().map(|t| t.index() as u64 & 0xf);
        // The first bit distinguishes renamings from threads.
        digits.fold(0, |key: u64, digit| key << 4 | digit) | 1 << 63
    }
}

impl Part {
    /// Reads the part of a thread.
    fn new<M: MemoryModel>(
        machine: &Machine<'_, M>,
        tables: &Tables,
        state: &State<M::Pending>,
        t: ThreadId,
    ) -> Part {
        let (shape, pc) = (&machine.shape, state.pcs[t.index()]);
        let thread = shape.thread(t);
        let mut fixed = super::colours::Mixer::NEW;
        fixed.add(pc.0.into());
        let mut registers = Vec::new();
        let changed = &tables.changed_registers[t.index()][pc.index()];
        for at in 0..thread.register_fields.len() {
            let value = state.registers[thread.registers + at];
            let class = changed.iter().find(|(reg, _)| reg.index() == at).map(|(_, class)| *class);
            match class.and_then(|class| tables.value_owner(class, value)) {
                Some(owner) => {
                    registers.push((at as u64, owner));
                    fixed.add(1);
                }
                None => {
                    fixed.add(0);
                    fixed.add(value as u64);
                }
            }
        }
        let mut pending = Vec::new();
        machine.model.visit_pending_stores(
            shape,
            &state.pending,
            t,
            &mut |position, loc, value| {
                let owner_of_location = tables.location_owners[loc.index()];
                let class = tables.location_classes[loc.index()];
                let owner_of_value = class.and_then(|class| tables.value_owner(class, value));
                if owner_of_location.is_some() || owner_of_value.is_some() {
                    pending.push(PendingStore { position, loc, value });
                } else {
                    fixed.add(position as u64);
                    fixed.add(u64::from(loc.0) << 1 | 1);
                    fixed.add(value as u64);
                }
            },
        );
        Part { fixed: fixed.0, registers, pending }
    }
}
