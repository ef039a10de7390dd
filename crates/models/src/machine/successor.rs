//! The successor of the state that is expanded, packed or [collapsed](super::collapsed).

use super::Machine;
use super::step_table::{Entry, PartId};
use super::system::Scratch;
use crate::bits::Reader;
use crate::model::MemoryModel;
use crate::mutation::Mutation;
use fencepost_ir::ThreadId;
use fencepost_search::Sink;

/// A successor that is passed to the sink later.
#[derive(Debug, Default)]
pub(super) struct SavedSuccessor {
    state: Vec<u8>,
    hash: u64,
}

impl<M: MemoryModel> Machine<'_, M> {
    /// Writes the successor of an entry of the table.
    #[inline(always)]
    pub(super) fn write_entry(&self, at: u32, t: ThreadId, scratch: &mut Scratch<M::Pending>) {
        let Scratch { segments, writer, table: Some(table), parts, form, .. } = scratch else {
            return;
        };
        let entry: &Entry = table.entry(at);
        match form {
            None => table.write_successor(entry, &segments.bytes, parts.range(t), writer),
            Some(form) => {
                writer.copy_padded(&segments.bytes);
                writer.patch(form.place(t), entry.number.into());
                entry.write_value(writer.allocated());
                form.successor_hash = entry.hash(form.sum);
            }
        }
    }

    /// Writes the successor in `work` after a step of `t` and its quiet accesses. The step is not
    /// tabulated.
    pub(super) fn write_successor(&self, t: ThreadId, scratch: &mut Scratch<M::Pending>) {
        if scratch.form.is_some() {
            let after = self.settled_part_of_work(t, scratch);
            return self.write_collapsed_after(t, after, scratch);
        }
        let after = scratch.table.is_some().then(|| self.settled_part_of_work(t, scratch));
        let Scratch { base, segments, work, writer, table, .. } = scratch;
        if let (Some(table), Some(after)) = (table, after) {
            let thread = table.bytes_of(after);
            let same_memory = work.memory == base.memory;
            return self.encode_after(work, segments, same_memory, (t, Some(thread)), writer);
        }
        if self.merges_quiet_accesses() {
            self.settle(work, t);
        }
        let same_memory = work.memory == base.memory;
        self.encode_after(work, segments, same_memory, (t, None), writer);
    }

    /// Returns the part of a thread in `work`, behind quiet accesses. There is a table.
    fn settled_part_of_work(&self, t: ThreadId, scratch: &mut Scratch<M::Pending>) -> PartId {
        let Scratch { work, writer, table, internal, .. } = scratch;
        let table = table.as_mut().expect("collapsed states need a table");
        writer.clear();
        self.encode_thread(work, t, writer);
        let part = self.find_part(work, t, writer, table, internal);
        match self.merges_quiet_accesses() {
            true => self.settled_part(work, t, part, (table, internal)),
            false => part,
        }
    }

    /// Returns whether the successor of an entry violates a property of states.
    pub(super) fn entry_violates(
        &self,
        at: u32,
        t: ThreadId,
        scratch: &mut Scratch<M::Pending>,
    ) -> bool {
        self.unpack_base(scratch);
        let Scratch { base, work, writer, form, table, .. } = scratch;
        match (form, table) {
            (Some(form), Some(table)) => {
                self.unpack_memory(&writer.bytes()[..form.memory()], &mut work.memory);
                let after = table.bytes_of(table.entry(at).after);
                self.unpack_thread(&mut Reader::new(after), t, work);
            }
            (None, _) | (Some(_), None) => self.unpack(writer.bytes(), work),
        }
        let violates = self.state_violation_after(work, t).is_some();
        self.restore(work, base, t);
        violates
    }

    /// Passes the successor to the sink.
    #[inline(always)]
    pub(super) fn emit<S: Sink>(&self, scratch: &mut Scratch<M::Pending>, sink: &mut S) {
        let Scratch { writer, form, .. } = scratch;
        match form {
            Some(form) => sink.hashed_successor(writer.bytes(), form.successor_hash),
            None => sink.successor(writer.bytes()),
        }
    }

    /// Saves the successor if it is farther from the initial state.
    #[inline]
    pub(super) fn save_if_farther<S: Sink>(
        &self,
        at: usize,
        scratch: &mut Scratch<M::Pending>,
        sink: &S,
    ) -> bool {
        let Scratch { writer, form, saved_successors: saved, .. } = scratch;
        let (state, hash) = (writer.bytes(), form.as_ref().map(|form| form.successor_hash));
        let farther = match hash {
            Some(hash) => sink.is_hashed_farther(state, hash),
            None => sink.is_farther(state),
        };
        if !farther && !self.mutated.is(Mutation::NoCycleProviso) {
            return false;
        }
        if saved.len() <= at {
            saved.resize_with(at + 1, SavedSuccessor::default);
        }
        saved[at].state.clear();
        saved[at].state.extend_from_slice(state);
        saved[at].hash = hash.unwrap_or(0);
        true
    }

    /// Passes the first saved successors to the sink.
    pub(super) fn emit_saved<S: Sink>(
        &self,
        count: usize,
        scratch: &Scratch<M::Pending>,
        sink: &mut S,
    ) {
        for SavedSuccessor { state, hash } in &scratch.saved_successors[..count] {
            match scratch.form {
                Some(_) => sink.hashed_successor(state, *hash),
                None => sink.successor(state),
            }
        }
    }
}
