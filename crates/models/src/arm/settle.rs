//! What happens to the entries of a window as soon as possible: the guesses about accesses are
//! checked, and an update whose comparison fails is complete.

use super::facts::{self, Facts};
use super::perform;
use super::{Arm, Failures};
use crate::event::{Event, EventKind, EventRecorder};
use crate::model::StepFailure;
use crate::mutation::{Mutated, Mutation};
use crate::shape::Shape;
use crate::state::State;
use crate::window::operands::{is_known, value_of};
use crate::window::presumed::selection;
use crate::window::retire::{self, Retired, Selected, WindowRules};
use crate::window::{Note, Window};
use fencepost_ir::{Fault, FenceKinds, Op, ThreadId, Update, Value};

impl WindowRules for Arm {
    fn mutated(&self) -> Mutated {
        self.mutated
    }

    fn ignores_failures(&self) -> bool {
        self.failures == Failures::Ignored
    }

    /// Also ends the reservations of exclusive stores that do not come.
    fn end_thread(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        entry: usize,
    ) {
        let window = &mut state.pending[t.index()];
        let registers = &mut state.registers[shape.thread(t).registers..];
        while window.len() > entry {
            window.remove(shape, t, window.len() - 1, 0, registers);
        }
        for at in (0..entry).rev() {
            let facts = facts::facts(shape, t, window);
            let is_pair = |fact: &Facts| fact.order.exclusive && !fact.is_update;
            if is_pair(&facts[at]) && facts[at].writes {
                return;
            }
            if is_pair(&facts[at]) && facts[at].holds {
                window.remove(shape, t, at, 0, registers);
            }
        }
    }

    fn is_speculative(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        entry: usize,
    ) -> bool {
        facts::oldest_guess(shape, t, window).is_some_and(|guess| guess < entry)
            && !self.mutated.is(Mutation::SpeculativeFailuresCount)
    }

    fn fence_still_orders(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        fence: usize,
        _: FenceKinds,
    ) -> bool {
        // Only fences that order stores with stores are in a window.
        facts::facts(shape, t, window)[..fence].iter().any(|earlier| earlier.writes)
    }

    /// Checks the guesses about an access, and completes an update whose comparison fails.
    fn settle_access(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        entry: usize,
        recorder: &mut dyn EventRecorder,
    ) -> Result<Retired, StepFailure> {
        let window = &state.pending[t.index()];
        if !window.has_notes() {
            return Ok(Retired::Waits);
        }
        let location = window.location(shape, t, entry);
        let mut is_resolved = false;
        for note in window.notes(entry) {
            let is_wrong = match (note, location) {
                (Note::Failed(fault), _) => {
                    return self.settle_failure(shape, t, window, entry, fault);
                }
                (Note::NotAt(loc), Some(known)) => {
                    is_resolved = true;
                    known == Ok(loc)
                }
                (Note::At(loc), Some(known)) => known != Ok(loc),
                (Note::NotAt(_) | Note::At(_), None)
                | (
                    Note::ReadDone(_)
                    | Note::WritesNothing
                    | Note::Succeeds
                    | Note::Performed
                    | Note::TakenFrom(_)
                    | Note::Selects(_)
                    | Note::Earlier(_),
                    _,
                ) => false,
            };
            if is_wrong {
                return Ok(Retired::WrongGuess);
            }
        }
        if is_resolved {
            let window = &mut state.pending[t.index()];
            window.retain_notes(entry, |note| !matches!(note, Note::NotAt(_)));
        }
        self.settle_value(shape, state, t, entry, recorder);
        let window = &state.pending[t.index()];
        let is_certain = facts::is_certain_access(shape, t, window, entry);
        let registers = &mut state.registers[shape.thread(t).registers..];
        if window.has(entry, Note::Performed) && is_certain {
            state.pending[t.index()].remove(shape, t, entry, 0, registers);
            return Ok(Retired::Gone);
        }
        // A comparison with a presumed value is not decided.
        let old = window.value_read(entry).filter(|_| !facts::is_taken(window, entry));
        let comparison = old.and_then(|old| perform::comparison(shape, t, window, entry, old));
        let (fails, succeeds) =
            (window.has(entry, Note::WritesNothing), window.has(entry, Note::Succeeds));
        let op = &shape.stmt(t, window.pc(entry)).op;
        let yields = |is_equal: bool| match perform::yields_success(op) {
            true => Value::from(is_equal),
            false => old.unwrap_or_default(),
        };
        let window = &mut state.pending[t.index()];
        match comparison {
            Some(Ok(true)) if fails => Ok(Retired::WrongGuess),
            Some(Ok(false)) if succeeds => Ok(Retired::WrongGuess),
            Some(Ok(true)) => {
                window.retain_notes(entry, |note| note != Note::Succeeds);
                window.deliver(entry, yields(true), registers);
                Ok(Retired::Waits)
            }
            Some(Ok(false)) => {
                recorder.record_with(|| {
                    let loc = location.and_then(Result::ok).expect("the read is performed");
                    let kind = EventKind::Update { loc, old: old.unwrap_or_default(), new: None };
                    perform::event(shape, t, window, entry, kind)
                });
                if is_certain {
                    window.remove(shape, t, entry, yields(false), registers);
                    return Ok(Retired::Gone);
                }
                window.deliver(entry, yields(false), registers);
                window.retain_notes(entry, |_| false);
                window.add_note(entry, Note::Performed);
                Ok(Retired::Waits)
            }
            None if succeeds && self.cannot_succeed(shape, t, window, entry) => {
                Ok(Retired::WrongGuess)
            }
            // The write reports the fault.
            Some(Err(_)) | None => Ok(Retired::Waits),
        }
    }

    /// A selection has a value when its condition and the selected operand are known.
    fn settle_selection(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        entry: usize,
    ) -> Selected {
        let pc = window.pc(entry);
        let Some((cond, then, otherwise)) = selection(shape, t, pc) else {
            return Selected::Unknown;
        };
        let uses = &shape.thread(t).uses[pc.index()];
        let operands = window.operands(shape, t, entry);
        if !is_known(cond, uses, operands) {
            return Selected::Unknown;
        }
        // The assignment reports the fault.
        let Ok(cond) = cond.eval(&|reg| value_of(uses, operands, *reg)) else {
            return Selected::Known;
        };
        let is_first = cond != 0;
        let keeps_wrong = self.mutated.is(Mutation::WrongSelectionsKept);
        if window.has(entry, Note::Selects(!is_first)) && !keeps_wrong {
            return Selected::WrongGuess;
        }
        let operand = if is_first { then } else { otherwise };
        if is_known(operand, uses, operands) { Selected::Known } else { Selected::Unknown }
    }
}

impl Arm {
    /// Fails because of a read that has failed, unless a guess about it or before it is wrong or not
    /// resolved.
    fn settle_failure(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        entry: usize,
        fault: Fault,
    ) -> Result<Retired, StepFailure> {
        let (fails, succeeds) =
            (window.has(entry, Note::WritesNothing), window.has(entry, Note::Succeeds));
        let old = window.value_read(entry);
        match old.and_then(|old| perform::comparison(shape, t, window, entry, old)) {
            Some(Ok(true)) if fails => return Ok(Retired::WrongGuess),
            Some(Ok(false)) if succeeds => return Ok(Retired::WrongGuess),
            None if fails || succeeds => return Ok(Retired::Waits),
            Some(_) | None => {}
        }
        retire::fail_unless_speculative(self, shape, t, window, entry, Some(fault))
    }

    /// Gives the value of a read to everyone who waits for it, if it was presumed and no longer is.
    fn settle_value(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        entry: usize,
        recorder: &mut dyn EventRecorder,
    ) {
        let window = &mut state.pending[t.index()];
        let taken = window.notes(entry).find_map(|note| {
            let Note::TakenFrom(write) = note else { return None };
            Some(usize::from(write))
        });
        let Some(write) = taken else { return };
        if facts::is_presumed_write(shape, t, window, write) {
            return;
        }
        recorder.record_with(|| {
            let earlier = (0..entry).filter(|earlier| facts::is_taken(window, *earlier)).count();
            let event = perform::event(shape, t, window, entry, EventKind::Confirm);
            Event { earlier_pending: Some(earlier as u32), ..event }
        });
        window.retain_notes(entry, |note| !matches!(note, Note::TakenFrom(_)));
        let value = window.value_read(entry).expect("the read is performed");
        let op = &shape.stmt(t, window.pc(entry)).op;
        let registers = &mut state.registers[shape.thread(t).registers..];
        if !perform::yields_success(op) && !window.has(entry, Note::Succeeds) {
            window.deliver(entry, value, registers);
        }
        let is_plain = !shape.thread(t).orders[window.pc(entry).index()].exclusive;
        if matches!(op, Op::Load { .. }) && is_plain {
            window.retain_notes(entry, |_| false);
            window.add_note(entry, Note::Performed);
        }
    }

    /// Returns whether a compare-and-swap cannot succeed, because its register never has the value
    /// that it would then have.
    fn cannot_succeed(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        entry: usize,
    ) -> bool {
        let Op::Update { reg: Some(_), update: Update::Cas { expected, .. }, .. } =
            &shape.stmt(t, window.pc(entry)).op
        else {
            return false;
        };
        window.presumed_value(shape, t, entry, expected).is_some()
            && window.presumed_result(shape, t, entry).is_none()
    }
}
