//! The steps of a window whose time is not observable, for partial-order reduction.
//!
//! As for [table-driven models](crate::table): a read that others do not disturb, a write that
//! others do not see, and a read whose value is not used. In addition, the read must not pass an
//! access with an unknown address, because that guesses something about this access. A read that is
//! followed by its own write holds its location, so it is treated as a write.

use super::Arm;
use super::facts::{self, Facts};
use crate::model::MemoryModel;
use crate::mutation::Mutation;
use crate::shape::Shape;
use crate::state::State;
use crate::window::Window;
use fencepost_ir::ThreadId;

impl Arm {
    /// Returns whether performing the read or write of an entry now commutes with everything that
    /// can precede it.
    pub(super) fn step_commutes(
        &self,
        shape: &Shape<'_>,
        state: &State<Vec<Window>>,
        t: ThreadId,
        facts: &[Facts],
        entry: usize,
    ) -> bool {
        let fact = &facts[entry];
        let Some(Ok(loc)) = fact.location else { return false };
        if !fact.reads {
            return !self.others_may_access(shape, state, t, loc);
        }
        let is_load = !fact.is_update && !fact.order.exclusive;
        let window = &state.pending[t.index()];
        let commutes = if is_load {
            window.is_unused_load(shape, t, entry, loc, self.mutated)
                || self.mutated.is(Mutation::PromptReadsDisturbed)
                || !self.others_may_store(shape, state, t, loc)
        } else {
            !self.others_may_access(shape, state, t, loc)
        };
        let read = || self.may_read(shape, state, t, facts, entry, loc);
        commutes && read().is_some_and(|read| read.passes_nothing())
    }

    /// Returns the newest entry if it can be performed now such that this commutes.
    pub(super) fn commuting_entry(
        &self,
        shape: &Shape<'_>,
        state: &State<Vec<Window>>,
        t: ThreadId,
    ) -> Option<usize> {
        let facts = facts::facts(shape, t, &state.pending[t.index()]);
        let newest = facts.len().checked_sub(1)?;
        let commutes = facts[newest].is_pending()
            && self.step_commutes(shape, state, t, &facts, newest)
            && (facts[newest].reads || self.may_write(shape, &state.pending, t, &facts, newest));
        commutes.then_some(newest)
    }
}
