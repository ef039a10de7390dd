//! Guesses that no value can confirm.
//!
//! A pending read of a location takes the value in memory, or a value that another thread will
//! write. Reads of one location are performed in order. So if a read takes another value than the
//! one in memory, a later read cannot take that one any more, unless another thread writes it again.
//! If no value is left that agrees with all guesses about a read, one of them is wrong.
//!
//! Direction: exact. Only states are removed in which a guess is wrong. Without this rule, a thread
//! that waits for its turn in Dekker's algorithm guesses again and again that it lost the turn that
//! it had, and its window has any length.
//!
//! Which values another thread may write is a fact about its code ([`ThreadShape::stored_values`]).
//! Rejected: to consider where the other thread is now. It removes a few more states and costs a
//! table for each program counter.
//!
//! [`ThreadShape::stored_values`]: crate::shape::ThreadShape::stored_values

use super::Arm;
use super::facts::{self, Facts};
use super::guess::{Guess, condition, copied, guesses};
use crate::mutation::Mutation;
use crate::shape::Shape;
use crate::window::operands::operand;
use crate::window::{Operand, Window};
use fencepost_ir::{Loc, Reg, ThreadId, Value};

impl Arm {
    /// Returns whether the guesses of a window, and the next one, are wrong whatever values the
    /// pending reads take. `memory` contains the value of each location.
    pub(super) fn has_impossible_guess(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        facts: &[Facts],
        next: Option<Guess<'_>>,
        memory: &[Value],
    ) -> bool {
        if next.is_none() && window.oldest_guess().is_none() {
            return false;
        }
        let guesses: Vec<Guess<'_>> = guesses(shape, t, window).chain(next).collect();
        let mut checked: Vec<Loc> = Vec::new();
        facts.iter().any(|fact| {
            let Some(Ok(loc)) = fact.location.filter(|_| fact.reads) else { return false };
            if checked.contains(&loc) {
                return false;
            }
            checked.push(loc);
            self.is_impossible(shape, t, window, facts, &guesses, loc, memory[loc.index()])
        })
    }

    /// Returns whether a pending read of a location has no value that agrees with all guesses.
    #[expect(clippy::too_many_arguments, reason = "the window in several forms")]
    fn is_impossible(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        facts: &[Facts],
        guesses: &[Guess<'_>],
        loc: Loc,
        in_memory: Value,
    ) -> bool {
        let Some(written) = self.values_of_others(shape, t, loc) else { return false };
        let mut may_be_unchanged = true;
        for (entry, fact) in facts.iter().enumerate() {
            // A later read may take the value of this write.
            if fact.writes && facts::may_be_at(shape, t, window, facts, entry, loc) {
                return false;
            }
            if !fact.reads || fact.location != Some(Ok(loc)) {
                continue;
            }
            let agrees = |value: Value| {
                guesses.iter().all(|guess| may_hold(shape, t, window, *guess, entry, value))
            };
            may_be_unchanged = may_be_unchanged && agrees(in_memory);
            if !may_be_unchanged && !written.iter().any(|value| agrees(*value)) {
                return true;
            }
        }
        false
    }

    /// Returns the values that other threads may write to a location, if they are known.
    fn values_of_others(&self, shape: &Shape<'_>, t: ThreadId, loc: Loc) -> Option<Vec<Value>> {
        let mut values = Vec::new();
        // An allocation resets the locations of a record.
        if shape.cell[loc.index()].is_some() {
            return None;
        }
        if self.mutated.is(Mutation::OthersWriteNothing) {
            return Some(values);
        }
        for other in shape.program().thread_ids().filter(|other| *other != t) {
            let thread = shape.thread(other);
            if let Some(slot) = thread.store_slot[loc.index()] {
                values.extend(thread.stored_values[usize::from(slot)].as_ref()?);
            }
        }
        Some(values)
    }
}

/// Returns whether a guess may be right if a read takes a value.
fn may_hold(
    shape: &Shape<'_>,
    t: ThreadId,
    window: &Window,
    guess: Guess<'_>,
    read: usize,
    value: Value,
) -> bool {
    let Some(cond) = condition(&shape.stmt(t, guess.pc).op) else { return true };
    let uses = &shape.thread(t).uses[guess.pc.index()];
    let known = |reg: Reg| match copied(shape, t, window, operand(uses, guess.operands, reg)) {
        Operand::Value(value) => Some(value),
        Operand::ProducedBy(entry) => (usize::from(entry) == read).then_some(value),
    };
    if !uses.iter().all(|reg| known(*reg).is_some()) {
        return true;
    }
    let result = cond.eval(&|reg| known(*reg).unwrap_or_default());
    result.is_ok_and(|result| (result != 0) == guess.direction)
}
