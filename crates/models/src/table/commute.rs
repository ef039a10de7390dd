//! The entries of a window whose time is not observable, for partial-order reduction.
//!
//! An entry that may be performed now is explored alone if nothing that can happen before it
//! changes its effect:
//!
//! - *A load that others do not disturb*: no other thread may still write its location.
//! - *A store or update that others do not see*: no other thread may still access its location, and
//!   no property observes it before the end.
//! - *A load whose value is not used*: no entry of the window and no register refers to the value,
//!   so it does not matter which value the load reads. Typical such loads belong to a failed
//!   iteration of a loop, whose registers the next iteration has overwritten. The load must not
//!   fault for some values only: its location is never freed, and the register can hold every value
//!   of the location.
//!
//! Other entries of the same window do not change its effect. Entries to the same location stay in
//! order with it or forward their value to it, and no entry that leaves or enters the window can
//! block it again. Performing it blocks no other entry.

use super::Table;
use crate::model::MemoryModel;
use crate::shape::Shape;
use crate::state::State;
use crate::window::Window;
use fencepost_ir::ThreadId;

impl Table {
    /// Returns whether performing an entry now commutes with everything that can precede it.
    pub(super) fn entry_commutes(
        &self,
        shape: &Shape<'_>,
        state: &State<Vec<Window>>,
        t: ThreadId,
        entry: usize,
    ) -> bool {
        let window = &state.pending[t.index()];
        let Some(access) = window.access(shape, t, entry) else { return false };
        let Some(Ok(loc)) = window.location(shape, t, entry) else { return false };
        if access.stores {
            !self.others_may_access(shape, state, t, loc)
        } else {
            window.is_unused_load(shape, t, entry, loc, self.mutated)
                || !self.others_may_store(shape, state, t, loc)
        }
    }
}
