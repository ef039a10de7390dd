//! Guesses whether a comparison succeeds, before its read is performed, and which operand is
//! selected, before the condition is known.

use super::Arm;
use super::facts::{self, Facts};
use super::perform;
use crate::mutation::Mutation;
use crate::shape::Shape;
use crate::window::presumed::selection;
use crate::window::{Note, Window};
use fencepost_ir::{Acquire, ThreadId};

impl Arm {
    /// Returns whether it matters now that an update whose read is pending writes nothing: a later
    /// entry waits for its write.
    pub(super) fn may_guess_failure(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        facts: &[Facts],
        entry: usize,
    ) -> bool {
        let fact = &facts[entry];
        perform::is_comparison(shape, t, window, entry)
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
        if !perform::is_comparison(shape, t, window, entry)
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
}
