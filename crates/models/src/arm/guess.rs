//! Guesses whether a comparison succeeds, before its read is performed.

use super::Arm;
use super::facts::{self, Facts};
use crate::shape::Shape;
use crate::window::{Note, Window};
use fencepost_ir::{Acquire, ThreadId};

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
    /// succeeds: a later entry waits for its result, or reads what it writes. Nothing is fetched behind an acquire read.
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
}
