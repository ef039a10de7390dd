//! The entries that are performed as soon as possible: assignments, assertions, fences that order
//! nothing, branches, and loads that have failed.
//!
//! A branch or assumption in the window has a guess. When its condition is known, the guess is
//! resolved: the entry leaves the window if the guess is right, and the step is not enabled if the
//! guess is wrong. Behind a guess, a fault or a failed assertion waits until the guess is resolved.

use super::operands::value_of;
use super::{Mark, Window};
use crate::address::check_limits;
use crate::event::{Event, EventKind, EventRecorder};
use crate::model::StepFailure;
use crate::mutation::{Mutated, Mutation};
use crate::shape::Shape;
use crate::state::State;
use fencepost_ir::{Expr, Fault, FenceKinds, Op, Reg, ThreadId, Value};

/// What happens to an entry that may be performed as soon as possible.
pub(crate) enum Retired {
    /// The entry left the window.
    Gone,
    /// The entry waits.
    Waits,
    /// A guess about the entry is wrong.
    WrongGuess,
    /// The entry fails, and failures are ignored: the thread ends here.
    EndsThread,
}

/// Whether a conditional selection has a value.
pub(crate) enum Selected {
    /// The condition or the selected operand is unknown.
    Unknown,
    /// The condition and the selected operand are known.
    Known,
    /// The condition is known, and was guessed wrong.
    WrongGuess,
}

/// The rules of a model with windows about the entries that are performed as soon as possible.
pub(crate) trait WindowRules {
    /// Returns the active mutation.
    fn mutated(&self) -> Mutated;

    /// Returns whether a failure does not end the run, because the run has failed already.
    fn ignores_failures(&self) -> bool {
        false
    }

    /// Removes an entry that fails and all later ones, if failures are ignored.
    fn end_thread(&self, _: &Shape<'_>, _: &mut State<Vec<Window>>, _: ThreadId, _: usize) {}

    /// Returns whether an entry is behind an unresolved guess, so that its failure does not count
    /// yet. The position after the last entry stands for the next statement.
    fn is_speculative(&self, shape: &Shape<'_>, t: ThreadId, window: &Window, entry: usize)
    -> bool;

    /// Returns whether a fence entry still orders an access that is pending before it.
    fn fence_still_orders(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        fence: usize,
        kinds: FenceKinds,
    ) -> bool;

    /// Does what an access does as soon as possible, without a step of its own.
    fn settle_access(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        entry: usize,
        recorder: &mut dyn EventRecorder,
    ) -> Result<Retired, StepFailure>;

    /// Returns whether an assignment has a value though some operands are unknown, because it is a
    /// conditional selection.
    fn settle_selection(&self, _: &Shape<'_>, _: ThreadId, _: &Window, _: usize) -> Selected {
        Selected::Unknown
    }
}

/// Performs the entries that are performed as soon as possible, oldest first. Returns false if a
/// guess is wrong.
pub(crate) fn retire_ready_entries(
    rules: &impl WindowRules,
    shape: &Shape<'_>,
    state: &mut State<Vec<Window>>,
    t: ThreadId,
    recorder: &mut dyn EventRecorder,
) -> Result<bool, StepFailure> {
    let mut entry = 0;
    while entry < state.pending[t.index()].len() {
        match retire_if_ready(rules, shape, state, t, entry, recorder)? {
            // Later entries may have become ready; earlier entries have not.
            Retired::Gone => {}
            Retired::Waits => entry += 1,
            Retired::WrongGuess => return Ok(false),
            Retired::EndsThread => rules.end_thread(shape, state, t, entry),
        }
    }
    Ok(true)
}

/// Keeps an entry whose failure does not count yet; otherwise fails.
pub(crate) fn fail_unless_speculative(
    rules: &impl WindowRules,
    shape: &Shape<'_>,
    t: ThreadId,
    window: &Window,
    entry: usize,
    fault: Option<Fault>,
) -> Result<Retired, StepFailure> {
    if rules.is_speculative(shape, t, window, entry) {
        return Ok(Retired::Waits);
    }
    if rules.ignores_failures() {
        return Ok(Retired::EndsThread);
    }
    Err(StepFailure { fault, label: Some(shape.stmt(t, window.pc(entry)).label) })
}

#[inline]
fn retire_if_ready(
    rules: &impl WindowRules,
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
    let fail = |fault| fail_unless_speculative(rules, shape, t, window, entry, fault);
    let mut produced = 0;
    match &stmt.op {
        Op::Assign { reg, expr } => {
            match rules.settle_selection(shape, t, window, entry) {
                Selected::Unknown if !window.is_ready(shape, t, entry) => {
                    return Ok(Retired::Waits);
                }
                Selected::Unknown | Selected::Known => {}
                Selected::WrongGuess => return Ok(Retired::WrongGuess),
            }
            let limits = shape.thread(t).register_limits[reg.index()];
            match test(shape, t, window, entry, expr).and_then(|value| check_limits(limits, value))
            {
                Ok(value) => {
                    recorder.record_with(|| {
                        let earlier_pending = Some(window.accesses_before(shape, t, entry));
                        let kind = EventKind::Set { reg: *reg, value };
                        Event { earlier_pending, ..event(kind) }
                    });
                    produced = value;
                }
                Err(fault) => return fail(Some(fault)),
            }
        }
        Op::Assert(cond) if window.is_ready(shape, t, entry) => {
            let holds = match test(shape, t, window, entry, cond) {
                Ok(value) => value != 0,
                Err(fault) => return fail(Some(fault)),
            };
            if !holds && rules.is_speculative(shape, t, window, entry) {
                return Ok(Retired::Waits);
            }
            recorder.record_with(|| event(EventKind::Test(holds)));
            if !holds && !rules.ignores_failures() {
                return fail(None);
            }
        }
        Op::Branch { cond, .. } | Op::Assume(cond) if window.is_ready(shape, t, entry) => {
            let holds = match test(shape, t, window, entry, cond) {
                Ok(value) => value != 0,
                Err(fault) => return fail(Some(fault)),
            };
            let is_right = window.mark(entry) == Some(Mark::Guess(holds));
            if !is_right && !rules.mutated().is(Mutation::WrongGuessesKept) {
                return Ok(Retired::WrongGuess);
            }
            let earlier_pending = Some(window.guesses_before(entry));
            let kind = EventKind::Test(holds);
            recorder.record_with(|| Event { earlier_pending, ..event(kind) });
        }
        Op::Load { .. } | Op::Store { .. } | Op::Update { .. } => {
            return rules.settle_access(shape, state, t, entry, recorder);
        }
        Op::Fence(kinds) if !rules.fence_still_orders(shape, t, window, entry, *kinds) => {
            recorder.record_with(|| event(EventKind::Fence(*kinds)));
        }
        Op::Skip
        | Op::Choose { .. }
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
    state.pending[t.index()].remove(shape, t, entry, produced, registers);
    Ok(Retired::Gone)
}

/// Evaluates an expression of an entry whose operands are known.
fn test(
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
