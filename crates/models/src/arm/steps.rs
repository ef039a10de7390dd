//! The internal steps of a window, and their numbers: the position of the entry, with guesses and flags
//! in the higher bits.

use super::Arm;
use super::facts::Facts;
use crate::shape::Shape;
use crate::state::State;
use crate::window::Window;
use crate::window::retire::WindowRules;
use fencepost_ir::ThreadId;

/// The bits of an internal step that name its entry. The other bits are guesses.
pub(super) const ENTRY_BITS: u32 = 8;

/// The internal step that guesses that the comparison of an update fails, before its read, or that
/// a selection selects its second operand.
pub(super) const GUESS_FAILURE: u32 = 1 << 31;

/// The internal step that guesses that the comparison of an update succeeds, before its read, or
/// that a selection selects its first operand.
pub(super) const GUESS_SUCCESS: u32 = 1 << 30;

/// The internal step that commits a forgotten write.
pub(super) const KEEP: u32 = 1 << 29;

/// The internal steps that only guess.
pub(super) const GUESSES: u32 = GUESS_FAILURE | GUESS_SUCCESS;

/// The largest bound on a window: entries have [`ENTRY_BITS`].
pub(super) const MAX_BOUND: u32 = (1 << ENTRY_BITS) - 1;

impl Arm {
    /// Returns whether an entry with a faulting address may report the fault.
    pub(super) fn may_fault(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        entry: usize,
    ) -> bool {
        !self.is_speculative(shape, t, window, entry)
    }

    /// Calls `found` with every internal step of an entry.
    pub(super) fn steps_of_entry(
        &self,
        shape: &Shape<'_>,
        state: &State<Vec<Window>>,
        t: ThreadId,
        facts: &[Facts],
        entry: usize,
        mut found: impl FnMut(u32),
    ) {
        let window = &state.pending[t.index()];
        let fact = &facts[entry];
        if fact.reads {
            if self.may_guess_failure(shape, t, facts, entry) {
                found(GUESS_FAILURE | entry as u32);
            }
            if self.may_guess_success(shape, t, window, facts, entry) {
                found(GUESS_SUCCESS | entry as u32);
            }
            match fact.location {
                Some(Ok(loc)) => {
                    if let Some(read) = self.may_read(shape, state, t, facts, entry, loc) {
                        for guesses in 0..1u32 << read.guesses() {
                            found(guesses << ENTRY_BITS | entry as u32);
                        }
                    }
                }
                Some(Err(())) if self.may_fault(shape, t, window, entry) => found(entry as u32),
                Some(Err(())) | None => {}
            }
        } else if fact.writes {
            let earlier = self.earlier_values(shape, &state.pending, t, facts, entry);
            for number in 0..earlier {
                found(KEEP | number << ENTRY_BITS | entry as u32);
            }
            if self.may_write(shape, &state.pending, t, facts, entry) {
                found(entry as u32);
            }
        } else if shape.thread(t).is_selection[fact.pc.index()] {
            for (step, first) in [(GUESS_SUCCESS, true), (GUESS_FAILURE, false)] {
                if self.may_guess_selection(shape, t, window, entry, first) {
                    found(step | entry as u32);
                }
            }
        }
    }
}

/// Splits an internal step into its entry and its guesses.
pub(super) fn split(step: u32) -> (usize, u32) {
    ((step & MAX_BOUND) as usize, step >> ENTRY_BITS)
}
