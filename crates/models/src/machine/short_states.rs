//! Expansion of collapsed states that fit into one block.
//!
//! The innermost loop of a search: the tabulated steps of a state. Its successors are blocks of constant
//! length, which the processor copies without a call.

use super::Machine;
use super::step_table::Taken;
use super::system::{Scratch, Seen, VIOLATION};
use crate::model::MemoryModel;
use fencepost_ir::ThreadId;
use fencepost_search::{BLOCK, Sink};

/// The maximal length of a state. A number or value at its end is written in a word of eight bytes.
const MAX_LEN: usize = BLOCK - 8;

impl<M: MemoryModel> Machine<'_, M> {
    /// Returns whether the state that is expanded is short, and no property of states needs more than
    /// the facts about its parts.
    #[inline]
    pub(super) fn is_short(&self, scratch: &Scratch<M::Pending>) -> bool {
        let is_short = scratch.form.as_ref().is_some_and(|form| form.len() <= MAX_LEN);
        is_short && self.shape.invariants.is_empty()
    }

    /// Reports the successors of steps of a short state, from a step of a thread on, until a step is
    /// not in the table. Returns this step.
    #[inline(always)]
    pub(super) fn emit_short<S: Sink>(
        &self,
        (first_thread, first_step): (usize, u32),
        scratch: &Scratch<M::Pending>,
        sink: &mut S,
        seen: &mut Seen,
    ) -> Option<(ThreadId, u32)> {
        let Scratch { segments, table: Some(table), form: Some(form), parts, .. } = scratch else {
            unreachable!("a short state is collapsed");
        };
        let base: &[u8; BLOCK] = segments.bytes.first_chunk().expect("padding follows a state");
        let (len, sum) = (form.len(), form.sum);
        let mut first_step = first_step;
        for (t, id) in parts.ids.iter().enumerate().skip(first_thread) {
            let thread = ThreadId::from_index(t);
            let part = table.part(*id);
            let is_other_critical =
                self.shape.checks_mutual_exclusion && parts.is_other_critical(&part.facts);
            let steps = table.steps_of(part).iter().zip(0..);
            for (step, number) in steps.skip(std::mem::take(&mut first_step) as usize) {
                let entries =
                    step.location.and_then(|place| table.entries_for(step, place.read(base)));
                let Some(entries) = entries else { return Some((thread, number)) };
                for entry in entries {
                    seen.enabled |= entry.taken != Taken::Blocked;
                    match entry.taken {
                        Taken::Blocked => {}
                        Taken::BoundReached => sink.bounded(),
                        Taken::Yes => {
                            seen.may_be_hang &= !entry.leaves_wait;
                            if entry.is_critical && is_other_critical {
                                sink.target(VIOLATION, seen.number);
                            }
                            if entry.is_loop {
                                sink.same_state(&base[..len]);
                            } else {
                                let mut block = *base;
                                form.place(thread).write(&mut block, entry.number.into());
                                entry.write_value(&mut block);
                                sink.short_successor(&block, len, entry.hash(sum));
                            }
                        }
                        Taken::Failed => sink.target(VIOLATION, seen.number),
                    }
                    seen.number += 1;
                    if !entry.has_more {
                        break;
                    }
                }
            }
        }
        None
    }
}
