//! The entries that are performed as soon as possible: assignments, assertions, fences that order
//! nothing, branches, and loads that have failed.
//!
//! A branch or assumption in the window has a guess. When its condition is known, the guess is
//! resolved: the entry leaves the window if the guess is right, and the step is not enabled if the
//! guess is wrong. Behind a guess, a fault or a failed assertion waits until the guess is resolved.

use super::Table;
use super::operands::value_of;
use super::window::{Mark, Window};
use crate::event::{Event, EventKind, EventRecorder};
use crate::model::StepFailure;
use crate::mutation::Mutation;
use crate::shape::Shape;
use crate::state::State;
use fencepost_ir::{Expr, Fault, Op, Reg, ThreadId, Value};

/// The result of an entry that may be performed as soon as possible.
enum Retired {
    /// The entry left the window.
    Gone,
    /// The entry waits.
    Waits,
    /// The entry is a branch whose guess is wrong.
    WrongGuess,
}

impl Table {
    /// Performs the entries that are performed as soon as possible, oldest first. Returns false if a
    /// guess is wrong.
    pub(super) fn retire_ready_entries(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        recorder: &mut dyn EventRecorder,
    ) -> Result<bool, StepFailure> {
        let mut entry = 0;
        while entry < state.pending[t.index()].len() {
            match self.retire_if_ready(shape, state, t, entry, recorder)? {
                // Later entries may have become ready; earlier entries have not.
                Retired::Gone => {}
                Retired::Waits => entry += 1,
                Retired::WrongGuess => return Ok(false),
            }
        }
        Ok(true)
    }

    #[inline]
    fn retire_if_ready(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        entry: usize,
        recorder: &mut dyn EventRecorder,
    ) -> Result<Retired, StepFailure> {
        let window = &state.pending[t.index()];
        let pc = window.pc(entry);
        let stmt = shape.stmt(t, pc);
        let label = Some(stmt.label);
        let event = |kind| Event { thread: t, label, pc: Some(pc), earlier_pending: None, kind };
        // A failure behind a guess waits.
        let fail = |fault: Option<Fault>| match self.counts_as_speculative(window, entry) {
            true => Ok(Retired::Waits),
            false => Err(StepFailure { fault, label }),
        };
        match &stmt.op {
            Op::Assign { .. } if window.is_ready(shape, t, entry) => {
                let is_speculative = self.counts_as_speculative(window, entry);
                return match self.perform_entry(shape, state, t, entry, recorder) {
                    Ok(()) => Ok(Retired::Gone),
                    Err(_) if is_speculative => Ok(Retired::Waits),
                    Err(fault) => Err(StepFailure { fault: Some(fault), label }),
                };
            }
            Op::Assert(cond) if window.is_ready(shape, t, entry) => {
                let holds = match self.test(shape, t, window, entry, cond) {
                    Ok(value) => value != 0,
                    Err(fault) => return fail(Some(fault)),
                };
                if !holds && self.counts_as_speculative(window, entry) {
                    return Ok(Retired::Waits);
                }
                recorder.record_with(|| event(EventKind::Test(holds)));
                if !holds {
                    return fail(None);
                }
            }
            Op::Branch { cond, .. } | Op::Assume(cond) if window.is_ready(shape, t, entry) => {
                let holds = match self.test(shape, t, window, entry, cond) {
                    Ok(value) => value != 0,
                    Err(fault) => return fail(Some(fault)),
                };
                let is_right = window.mark(entry) == Some(Mark::Guess(holds));
                if !is_right && !self.mutated.is(Mutation::WrongGuessesKept) {
                    return Ok(Retired::WrongGuess);
                }
                let earlier_pending = Some(window.guesses_before(entry));
                let kind = EventKind::Test(holds);
                recorder.record_with(|| Event { earlier_pending, ..event(kind) });
            }
            Op::Load { .. } => {
                return match window.mark(entry) {
                    Some(Mark::Failed(fault)) => fail(Some(fault)),
                    Some(Mark::Guess(_)) | None => Ok(Retired::Waits),
                };
            }
            Op::Fence(kinds) if !self.fence_still_orders(shape, t, window, entry, *kinds) => {
                recorder.record_with(|| event(EventKind::Fence(*kinds)));
            }
            Op::Skip
            | Op::Assign { .. }
            | Op::Choose { .. }
            | Op::Store { .. }
            | Op::Update { .. }
            | Op::Fence(_)
            | Op::Drain(_)
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::New { .. }
            | Op::Free { .. }
            | Op::Leave
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Invoke { .. }
            | Op::Return { .. }
            | Op::Join
            | Op::SectionBegin { .. }
            | Op::SectionEnd { .. }
            | Op::GracePeriod { .. }
            | Op::Halt => return Ok(Retired::Waits),
        }
        let registers = &mut state.registers[shape.thread(t).registers..];
        state.pending[t.index()].remove(shape, t, entry, 0, registers);
        Ok(Retired::Gone)
    }

    /// Returns whether an entry is behind a guess, so that its failure does not count yet. The
    /// position after the last entry stands for the next statement.
    pub(super) fn counts_as_speculative(&self, window: &Window, entry: usize) -> bool {
        window.is_speculative(entry) && !self.mutated.is(Mutation::SpeculativeFailuresCount)
    }

    /// Evaluates the condition of an entry whose operands are known.
    fn test(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        entry: usize,
        cond: &Expr<Reg>,
    ) -> Result<Value, Fault> {
        let uses = &shape.thread(t).uses[window.pc(entry).index()];
        let operands = window.operands(shape, t, entry);
        cond.eval(&|reg| value_of(uses, operands, *reg))
    }
}
