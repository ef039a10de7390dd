//! Packed states: a state as a byte string, with one segment for memory and one for each thread.
//!
//! Each segment starts at a byte boundary. A step changes one thread and possibly memory; the other
//! segments of a successor are copied from its predecessor. This costs about half a byte for each
//! segment and avoids most of the packing.

use super::Machine;
use crate::bits::{Field, PADDING, Reader, Writer};
use crate::model::MemoryModel;
use crate::state::{Memory, State};
use fencepost_ir::{Pc, ThreadId, Value};

/// Whether a record cell is allocated.
const ALLOCATED: Field = Field::new(0, 1);

/// A packed state and the ends of its segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Segments {
    /// The packed state, then padding.
    pub(super) bytes: Vec<u8>,
    /// The end of the memory segment, then the end of each thread's segment.
    pub(super) ends: Vec<usize>,
}

impl Segments {
    /// Sets the packed state. The ends are not known yet.
    #[inline]
    pub(super) fn set_bytes(&mut self, bytes: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.bytes.extend_from_slice(&[0; PADDING]);
    }

    /// Returns the length of the packed state.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.bytes.len() - PADDING
    }

    /// Returns the segment of a thread.
    pub(super) fn thread(&self, t: ThreadId) -> &[u8] {
        &self.bytes[self.ends[t.index()]..self.ends[t.index() + 1]]
    }
}

impl<M: MemoryModel> Machine<'_, M> {
    /// Packs a state.
    pub fn encode<'w>(&self, state: &State<M::Pending>, writer: &'w mut Writer) -> &'w [u8] {
        writer.clear();
        self.encode_memory(&state.memory, writer);
        for t in self.shape.program().thread_ids() {
            self.encode_thread(state, t, writer);
        }
        writer.bytes()
    }

    /// Returns the length of packed memory.
    #[inline]
    pub(super) fn packed_memory(&self) -> usize {
        (self.shape.memory_bits as usize).div_ceil(8)
    }

    /// Packs memory and one thread of a state.
    pub(super) fn encode_alone<'w>(
        &self,
        state: &State<M::Pending>,
        t: ThreadId,
        writer: &'w mut Writer,
    ) -> &'w [u8] {
        writer.clear();
        self.encode_memory(&state.memory, writer);
        self.encode_thread(state, t, writer);
        writer.bytes()
    }

    /// Packs a state without its pending accesses.
    pub fn encode_without_pending<'w>(
        &self,
        state: &State<M::Pending>,
        writer: &'w mut Writer,
    ) -> &'w [u8] {
        writer.clear();
        self.encode_memory(&state.memory, writer);
        for t in self.shape.program().thread_ids() {
            self.encode_control(state, t, writer);
        }
        writer.align();
        writer.bytes()
    }

    /// Packs a state that differs from `base` only in thread `t` and, unless `same_memory`, in
    /// memory. The segment of the thread may be known.
    #[inline]
    pub(super) fn encode_after(
        &self,
        state: &State<M::Pending>,
        base: &Segments,
        same_memory: bool,
        (t, thread): (ThreadId, Option<&[u8]>),
        writer: &mut Writer,
    ) {
        writer.clear();
        let (from, to) = (base.ends[t.index()], base.ends[t.index() + 1]);
        if same_memory {
            writer.copy(&base.bytes[..from]);
        } else {
            self.encode_memory(&state.memory, writer);
            writer.copy(&base.bytes[base.ends[0]..from]);
        }
        match thread {
            Some(thread) => writer.copy(thread),
            None => self.encode_thread(state, t, writer),
        }
        writer.copy(&base.bytes[to..base.len()]);
    }

    #[inline]
    pub(super) fn encode_memory(&self, memory: &Memory, writer: &mut Writer) {
        for (field, value) in self.shape.location_fields.iter().zip(&memory.values) {
            writer.put(*field, *value);
        }
        for allocated in &memory.allocated {
            writer.put(ALLOCATED, Value::from(*allocated));
        }
        writer.align();
    }

    #[inline]
    pub(crate) fn encode_thread(
        &self,
        state: &State<M::Pending>,
        t: ThreadId,
        writer: &mut Writer,
    ) {
        self.encode_control(state, t, writer);
        self.model.encode(&self.shape, &state.pending, t, writer);
        writer.align();
    }

    /// Packs memory with other values than in the packed state `bytes`.
    pub(crate) fn encode_memory_of(&self, bytes: &[u8], values: &[Value], writer: &mut Writer) {
        for (field, value) in self.shape.location_fields.iter().zip(values) {
            writer.put(*field, *value);
        }
        if self.shape.cells > 0 {
            let mut reader = Reader::new(bytes);
            for field in &self.shape.location_fields {
                reader.get(*field);
            }
            for _ in 0..self.shape.cells {
                writer.put(ALLOCATED, reader.get(ALLOCATED));
            }
        }
        writer.align();
    }

    /// Packs a thread's program counter and registers.
    #[inline]
    pub(super) fn encode_control(
        &self,
        state: &State<M::Pending>,
        t: ThreadId,
        writer: &mut Writer,
    ) {
        let thread = self.shape.thread(t);
        writer.put(thread.pc, state.pcs[t.index()].0.into());
        let registers = &state.registers[thread.registers..];
        for (field, value) in thread.register_fields.iter().zip(registers) {
            writer.put(*field, *value);
        }
    }

    /// Unpacks a state and records the ends of its segments.
    #[inline]
    pub(super) fn decode(
        &self,
        bytes: &[u8],
        state: &mut State<M::Pending>,
        segments: &mut Segments,
    ) {
        segments.set_bytes(bytes);
        segments.ends.clear();
        self.unpack_with_ends(bytes, state, Some(&mut segments.ends));
    }

    /// Unpacks a state: the inverse of [`Machine::encode`].
    pub fn unpack(&self, bytes: &[u8], state: &mut State<M::Pending>) {
        self.unpack_with_ends(bytes, state, None);
    }

    /// Unpacks a state and appends the ends of its segments to `ends`.
    #[inline]
    fn unpack_with_ends(
        &self,
        bytes: &[u8],
        state: &mut State<M::Pending>,
        mut ends: Option<&mut Vec<usize>>,
    ) {
        let mut end = |at| {
            if let Some(ends) = &mut ends {
                ends.push(at);
            }
        };
        let mut reader = Reader::new(bytes);
        self.read_memory(&mut reader, &mut state.memory);
        end(reader.align());
        for t in self.shape.program().thread_ids() {
            self.unpack_thread(&mut reader, t, state);
            end(reader.align());
        }
    }

    fn read_memory(&self, reader: &mut Reader<'_>, memory: &mut Memory) {
        for (field, value) in self.shape.location_fields.iter().zip(&mut memory.values) {
            *value = reader.get(*field);
        }
        for allocated in &mut memory.allocated {
            *allocated = reader.get(ALLOCATED) != 0;
        }
    }

    /// Unpacks memory.
    pub(super) fn unpack_memory(&self, bytes: &[u8], memory: &mut Memory) {
        self.read_memory(&mut Reader::new(bytes), memory);
    }

    /// Unpacks one thread.
    #[inline]
    pub(crate) fn unpack_thread(
        &self,
        reader: &mut Reader<'_>,
        t: ThreadId,
        state: &mut State<M::Pending>,
    ) {
        let thread = self.shape.thread(t);
        state.pcs[t.index()] = Pc(reader.get(thread.pc) as u32);
        let registers = &mut state.registers[thread.registers..];
        for (field, value) in thread.register_fields.iter().zip(registers) {
            *value = reader.get(*field);
        }
        self.model.decode(&self.shape, reader, &mut state.pending, t);
    }

    /// Undoes a step of thread `t` from `base`. A step changes only the thread and memory.
    #[inline]
    pub(super) fn restore(
        &self,
        state: &mut State<M::Pending>,
        base: &State<M::Pending>,
        t: ThreadId,
    ) {
        state.pcs[t.index()] = base.pcs[t.index()];
        let thread = self.shape.thread(t);
        let registers = thread.registers..thread.registers + thread.register_fields.len();
        state.registers[registers.clone()].copy_from_slice(&base.registers[registers]);
        state.memory.values.copy_from_slice(&base.memory.values);
        state.memory.allocated.copy_from_slice(&base.memory.allocated);
        self.model.copy_thread(&base.pending, &mut state.pending, t);
    }
}
