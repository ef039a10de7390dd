//! What happens to the entries of a window as soon as possible: the guesses about accesses are
//! checked, and an update whose comparison fails is complete.

use super::Arm;
use super::{facts, perform};
use crate::event::{EventKind, EventRecorder};
use crate::model::StepFailure;
use crate::mutation::{Mutated, Mutation};
use crate::shape::Shape;
use crate::state::State;
use crate::window::retire::{self, Retired, WindowRules};
use crate::window::{Note, Window};
use fencepost_ir::{FenceKinds, ThreadId, Value};

impl WindowRules for Arm {
    fn mutated(&self) -> Mutated {
        self.mutated
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
                    let fault = Some(fault);
                    return retire::fail_unless_speculative(self, shape, t, window, entry, fault);
                }
                (Note::NotAt(loc), Some(known)) => {
                    is_resolved = true;
                    known == Ok(loc)
                }
                (Note::At(loc), Some(known)) => known != Ok(loc),
                (Note::NotAt(_) | Note::At(_), None)
                | (Note::ReadDone(_) | Note::WritesNothing | Note::Succeeds, _) => false,
            };
            if is_wrong {
                return Ok(Retired::WrongGuess);
            }
        }
        let old = facts::read_value(window, entry);
        let comparison = old.and_then(|old| perform::comparison(shape, t, window, entry, old));
        let (fails, succeeds) = (
            facts::has(window, entry, Note::WritesNothing),
            facts::has(window, entry, Note::Succeeds),
        );
        let op = &shape.stmt(t, window.pc(entry)).op;
        let yields = |is_equal: bool| match perform::yields_success(op) {
            true => Value::from(is_equal),
            false => old.unwrap_or_default(),
        };
        let registers = &mut state.registers[shape.thread(t).registers..];
        let window = &mut state.pending[t.index()];
        if is_resolved {
            window.retain_notes(entry, |note| !matches!(note, Note::NotAt(_)));
        }
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
                window.remove(shape, t, entry, yields(false), registers);
                Ok(Retired::Gone)
            }
            None if succeeds => match perform::result_of_success(shape, t, window, entry) {
                Some(Some(value)) => {
                    window.deliver(entry, value, registers);
                    Ok(Retired::Waits)
                }
                Some(None) => Ok(Retired::WrongGuess),
                None => Ok(Retired::Waits),
            },
            // The write reports the fault.
            Some(Err(_)) | None => Ok(Retired::Waits),
        }
    }
}
