//! The steps of a window whose time is not observable, for partial-order reduction.
//!
//! As for [table-driven models](crate::table): a read that others do not disturb, a write that
//! others do not see, and a read whose value is not used. In addition, the read must not pass an
//! access with an unknown address, because that guesses something about this access. A read that is
//! followed by its own write holds its location, so it is treated as a write.

use super::Arm;
use super::facts;
use crate::model::MemoryModel;
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
        entry: usize,
    ) -> bool {
        let window = &state.pending[t.index()];
        let facts = facts::facts(shape, t, window);
        let fact = &facts[entry];
        let Some(Ok(loc)) = fact.location else { return false };
        if fact.reads {
            let read = self.may_read(shape, state, t, &facts, entry, loc);
            if !read.is_some_and(|read| read.passes_nothing()) {
                return false;
            }
            if !fact.is_update && !fact.order.exclusive {
                return window.is_unused_load(shape, t, entry, loc, self.mutated)
                    || !self.others_may_store(shape, state, t, loc);
            }
        }
        !self.others_may_access(shape, state, t, loc)
    }
}
