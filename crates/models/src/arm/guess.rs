//! Guesses whether a comparison succeeds, before its read is performed, and which operand is
//! selected, before the condition is known; and repeated guesses of branches.
//!
//! A guess that has the same condition and the same operands as an unresolved guess is resolved
//! together with it, by the same values. So it must have the same direction, and needs no entry.

use super::Arm;
use super::facts::{self, Facts};
use crate::mutation::Mutation;
use crate::shape::Shape;
use crate::window::presumed::selection;
use crate::window::{Mark, Note, Window};
use fencepost_ir::{Acquire, Expr, Op, Pc, Reg, ThreadId, Value};

impl Arm {
    /// Returns whether it matters now that an update whose read is pending writes nothing: a later
    /// entry waits for its write.
    pub(super) fn may_guess_failure(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        facts: &[Facts],
        entry: usize,
    ) -> bool {
        let fact = &facts[entry];
        facts::is_comparison(shape, t, fact)
            && fact.writes
            && facts[entry + 1..].iter().any(|later| {
                later.is_store_fence
                    || fact.order.release && later.reads && later.order.acquire == Acquire::Strong
            })
    }

    /// Returns whether it matters now that the comparison of an update whose read is pending
    /// succeeds: a later entry waits for its result, or reads what it writes. Nothing is fetched
    /// behind an acquire read.
    pub(super) fn may_guess_success(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        facts: &[Facts],
        entry: usize,
    ) -> bool {
        let fact = &facts[entry];
        if !facts::is_comparison(shape, t, fact)
            || fact.order.acquire != Acquire::None
            || window.notes(entry).any(|note| !matches!(note, Note::NotAt(_)))
        {
            return false;
        }
        let Some(Ok(loc)) = fact.location else { return window.is_used(entry) };
        let is_read_at = |later: usize| {
            facts[later].reads && facts::may_be_at(shape, t, window, facts, later, loc)
        };
        window.is_used(entry) || (entry + 1..facts.len()).any(is_read_at)
    }

    /// Returns whether it matters now that a selection selects its first or its second operand: its
    /// condition is unknown, its result is used, and that operand is known.
    pub(super) fn may_guess_selection(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        entry: usize,
        first: bool,
    ) -> bool {
        let Some((_, then, otherwise)) = selection(shape, t, window.pc(entry)) else {
            return false;
        };
        let operand = if first { then } else { otherwise };
        !self.mutated.is(Mutation::SelectionsWait)
            && window.is_used(entry)
            && window.selected(shape, t, entry).is_none()
            && window.presumed_value(shape, t, entry, operand).is_some()
    }

    /// Returns the direction of an unresolved guess with the same condition as the statement at
    /// `pc`, a branch or assumption, and with the same operands.
    pub(super) fn repeated_guess(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        pc: Pc,
        registers: &[Value],
    ) -> Option<bool> {
        let condition = condition(&shape.stmt(t, pc).op)?;
        let uses = &shape.thread(t).uses[pc.index()];
        let is_same = |entry: &usize| {
            let earlier = window.pc(*entry);
            self::condition(&shape.stmt(t, earlier).op) == Some(condition)
                && shape.thread(t).uses[earlier.index()] == *uses
                && window
                    .next_operands(uses, registers)
                    .eq(window.operands(shape, t, *entry).iter().copied())
        };
        let entry = (0..window.len()).find(is_same)?;
        let Some(Mark::Guess(direction)) = window.mark(entry) else { return None };
        Some(direction != self.mutated.is(Mutation::RepeatedGuessesDiffer))
    }
}

/// Returns the condition of a branch or an assumption.
fn condition(op: &Op) -> Option<&Expr<Reg>> {
    let (Op::Branch { cond, .. } | Op::Assume(cond)) = op else { return None };
    Some(cond)
}
