//! The machine as a system whose states store a number for each thread: collapsed states.
//!
//! A packed state ([`super::packed`]) contains the part of every thread: its program counter, registers
//! and pending accesses. A collapsed state contains the number of each part in a
//! [dictionary]. It is shorter, and its expansion needs no search for parts: the
//! [table of steps](super::step_table) knows a part by its number, and a successor is the state with
//! another number and, if the step changes memory, another value.
//!
//! Direction: exact. Collapsed states and packed states correspond to each other one to one, steps are
//! the same, and the order of a search does not depend on numbers. Where steps are not tabulated, a
//! state stays packed.

use super::Machine;
pub use super::dictionary::PartDictionary;
use super::dictionary::{self, Layout};
use super::step_table::{Part, PartId, StepTable};
use super::system::Scratch;
use super::tabulated::Summary;
use crate::bits::{PADDING, Place, Reader};
use crate::model::MemoryModel;
use fencepost_ir::ThreadId;
use fencepost_search::{Encoding, Sink, TransitionSystem};
use std::sync::Arc;

/// A machine whose search stores collapsed states.
#[derive(Debug)]
pub struct Collapsed<'m, 'p, M: MemoryModel> {
    /// The machine.
    pub machine: &'m Machine<'p, M>,
    /// `None` if the machine has no table of steps. Then states are packed.
    pub(super) dictionary: Option<Arc<PartDictionary>>,
}

impl<'m, 'p, M: MemoryModel> Collapsed<'m, 'p, M> {
    /// Returns the machine as a system of collapsed states. A search that continues one with a smaller
    /// bound needs the dictionary of that search.
    pub fn new(machine: &'m Machine<'p, M>, earlier: Option<Arc<PartDictionary>>) -> Self {
        let new = || {
            let threads = machine.shape.threads.len();
            Arc::new(PartDictionary::with_width(machine.packed_memory(), threads, 1))
        };
        let dictionary = machine.has_table().then(|| earlier.unwrap_or_else(new));
        Collapsed { machine, dictionary }
    }

    /// Returns the dictionary of the states.
    pub fn dictionary(&self) -> Option<Arc<PartDictionary>> {
        self.dictionary.clone()
    }

    /// Returns the packed form of a state.
    pub fn unfold(&self, state: &[u8]) -> Vec<u8> {
        self.dictionary.as_ref().map_or_else(|| state.to_vec(), |known| known.unfold(state))
    }
}

impl<M: MemoryModel> Encoding for Collapsed<'_, '_, M> {
    fn hasher(&self) -> impl Fn(&[u8]) -> u64 {
        let hasher = self.dictionary.as_ref().map(|dictionary| dictionary.hasher());
        move |state| match &hasher {
            Some(hasher) => hasher(state),
            None => fencepost_search::hash(state),
        }
    }

    fn needs_recoding(&self) -> bool {
        self.dictionary.as_ref().is_some_and(|dictionary| dictionary.needs_recoding())
    }

    fn begin_recoding(&self) -> impl Fn(&[u8], &mut Vec<u8>) {
        let recode = self.dictionary.as_ref().map(|dictionary| dictionary.begin_recoding());
        move |state: &[u8], out: &mut Vec<u8>| match &recode {
            Some(recode) => recode(state, out),
            None => out.extend_from_slice(state),
        }
    }

    fn is_full(&self) -> bool {
        self.dictionary.as_ref().is_some_and(|dictionary| dictionary.is_full())
    }

    fn bytes(&self) -> u64 {
        self.dictionary.as_ref().map_or(0, |dictionary| dictionary.bytes())
    }
}

impl<M: MemoryModel> TransitionSystem for Collapsed<'_, '_, M> {
    type Scratch = Scratch<M::Pending>;

    fn scratch(&self) -> Self::Scratch {
        let mut scratch = self.machine.scratch();
        scratch.form = self.dictionary.clone().map(CollapsedForm::new);
        scratch
    }

    fn initial<S: Sink>(&self, scratch: &mut Self::Scratch, sink: &mut S) {
        self.machine.initial(scratch, sink);
    }

    #[inline]
    fn expand<S: Sink>(&self, state: &[u8], scratch: &mut Self::Scratch, sink: &mut S) {
        self.machine.expand(state, scratch, sink);
    }
}

/// What one search thread knows about the dictionary, and the sums of the hashes of the state that is
/// expanded and of its successor.
#[derive(Debug)]
pub(super) struct CollapsedForm {
    dictionary: Arc<PartDictionary>,
    /// The version of the layout.
    version: u32,
    layout: Layout,
    /// Indexed by thread, then by number: the number of the part in the table, plus one.
    known: Vec<Vec<u32>>,
    /// The sum of the hash of the state that is expanded.
    pub(super) sum: u64,
    /// The hash of the successor.
    pub(super) successor_hash: u64,
    /// Working memory: a packed part.
    part: Vec<u8>,
}

impl CollapsedForm {
    fn new(dictionary: Arc<PartDictionary>) -> Self {
        let layout = dictionary.layout();
        CollapsedForm {
            version: dictionary.version(),
            known: vec![Vec::new(); layout.numbers.len()],
            layout,
            dictionary,
            sum: 0,
            successor_hash: 0,
            part: Vec::new(),
        }
    }

    /// Prepares for a state. `is_new` is set if the table is empty.
    #[inline]
    fn refresh(&mut self, is_new: bool) {
        if self.version != self.dictionary.version() {
            self.version = self.dictionary.version();
            self.layout = self.dictionary.layout();
        }
        if is_new {
            self.known.iter_mut().for_each(Vec::clear);
        }
    }

    fn remember(&mut self, t: ThreadId, number: u32, part: PartId) {
        let known = &mut self.known[t.index()];
        if known.len() <= number as usize {
            known.resize(number as usize + 1, 0);
        }
        known[number as usize] = part.number() + 1;
    }

    /// Returns the place of the number of a thread.
    #[inline]
    pub(super) fn place(&self, t: ThreadId) -> Place {
        self.layout.numbers[t.index()]
    }

    /// Returns the length of a state.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.layout.len
    }

    /// Returns the length of packed memory.
    #[inline]
    pub(super) fn memory(&self) -> usize {
        self.layout.memory
    }

    /// Returns the number of a part of the table.
    pub(super) fn number(&mut self, t: ThreadId, part: PartId, table: &mut StepTable) -> u32 {
        if let Some(number) = table.part(part).number {
            return number;
        }
        let number = self.dictionary.number(t, table.bytes_of(part));
        table.set_number(part, number);
        self.remember(t, number, part);
        number
    }
}

impl<M: MemoryModel> Machine<'_, M> {
    /// Begins the expansion of a collapsed state: finds its parts in the table.
    #[inline]
    pub(super) fn open_collapsed(&self, state: &[u8], scratch: &mut Scratch<M::Pending>) {
        let Scratch { segments, table: Some(table), form: Some(form), is_unpacked, .. } = scratch
        else {
            return;
        };
        form.refresh(table.limit_size(self.max_tabulated_parts));
        segments.set_bytes(state);
        *is_unpacked = false;
        while let Some((t, number)) = self.find_numbered_parts(scratch) {
            self.learn_part(t, number, scratch);
        }
    }

    /// Finds the parts of the collapsed state in the table. Returns the first one that is not there.
    #[inline]
    fn find_numbered_parts(&self, scratch: &mut Scratch<M::Pending>) -> Option<(ThreadId, u64)> {
        let Scratch { segments, table: Some(table), form: Some(form), parts, .. } = scratch else {
            return None;
        };
        let bytes = &segments.bytes[..];
        let mut sum = dictionary::padded_memory_summand(bytes, form.layout.memory);
        let mut summary = Summary::default();
        let threads = form.layout.numbers.iter().zip(&form.known);
        parts.ids.resize(form.known.len(), PartId::default());
        for ((t, (place, known)), part) in threads.enumerate().zip(&mut parts.ids) {
            let number = place.read(bytes);
            match known.get(number as usize) {
                None | Some(0) => return Some((ThreadId::from_index(t), number)),
                Some(known) => *part = PartId::from_number(*known - 1),
            }
            let Part { facts, summand, .. } = table.part(*part);
            sum = sum.wrapping_add(*summand);
            summary.add(facts);
        }
        form.sum = sum;
        parts.summary = summary;
        None
    }

    /// Adds a part from the dictionary to the table.
    #[cold]
    fn learn_part(&self, t: ThreadId, number: u64, scratch: &mut Scratch<M::Pending>) {
        let Scratch { base, table: Some(table), form: Some(form), internal, .. } = scratch else {
            return;
        };
        form.part.clear();
        form.dictionary.append_part(t, number, &mut form.part);
        let len = form.part.len();
        form.part.extend_from_slice(&[0; PADDING]);
        let part = table.find(t, &form.part, 0, len).unwrap_or_else(|| {
            self.unpack_thread(&mut Reader::new(&form.part[..len]), t, base);
            self.add_part(base, t, &form.part[..len], table, internal)
        });
        table.set_number(part, number as u32);
        form.remember(t, number as u32, part);
    }

    /// Unpacks the collapsed state that is expanded. All of its parts are in the table.
    pub(super) fn unpack_collapsed(&self, scratch: &mut Scratch<M::Pending>) {
        let Scratch { base, segments, table: Some(table), form: Some(form), parts, .. } = scratch
        else {
            return;
        };
        self.unpack_memory(&segments.bytes[..form.layout.memory], &mut base.memory);
        for (t, part) in self.shape.program().thread_ids().zip(&parts.ids) {
            self.unpack_thread(&mut Reader::new(table.bytes_of(*part)), t, base);
        }
    }

    /// Writes a state as the successor, in collapsed form, and computes its hash. The initial states
    /// are written by this function.
    pub(super) fn write_collapsed(&self, scratch: &mut Scratch<M::Pending>) {
        let Scratch { work, writer, table: Some(table), form: Some(form), internal, .. } = scratch
        else {
            return;
        };
        form.refresh(false);
        let mut sum = 0u64;
        let mut numbers = Vec::new();
        for t in self.shape.program().thread_ids() {
            writer.clear();
            self.encode_thread(work, t, writer);
            let part = self.find_part(work, t, writer, table, internal);
            numbers.push(form.number(t, part, table));
            sum = sum.wrapping_add(table.part(part).summand);
        }
        writer.clear();
        self.encode_memory(&work.memory, writer);
        sum = sum.wrapping_add(dictionary::memory_summand(writer.bytes()));
        writer.copy(&vec![0; form.layout.len - form.layout.memory]);
        writer.pad_behind();
        for (place, number) in form.layout.numbers.iter().zip(numbers) {
            writer.patch(*place, number.into());
        }
        form.successor_hash = dictionary::hash_of_sum(sum);
    }

    /// Writes the successor after a step of `t` to `work`, whose part is `after`.
    pub(super) fn write_collapsed_after(
        &self,
        t: ThreadId,
        after: PartId,
        scratch: &mut Scratch<M::Pending>,
    ) {
        let Scratch { work, segments, writer, table: Some(table), form: Some(form), parts, .. } =
            scratch
        else {
            return;
        };
        let number = form.number(t, after, table);
        let memory = form.layout.memory;
        writer.clear();
        self.encode_memory(&work.memory, writer);
        let summand = |part: PartId| table.part(part).summand;
        let before = dictionary::memory_summand(&segments.bytes[..memory]);
        let sum = form.sum.wrapping_sub(before).wrapping_sub(summand(parts.id(t)));
        let sum = sum.wrapping_add(dictionary::memory_summand(writer.bytes()));
        let sum = sum.wrapping_add(summand(after));
        writer.copy(&segments.bytes[memory..segments.len()]);
        writer.pad_behind();
        writer.patch(form.layout.numbers[t.index()], number.into());
        form.successor_hash = dictionary::hash_of_sum(sum);
    }
}
