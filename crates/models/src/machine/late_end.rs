//! The end of a late step: a thread stays hidden from grace periods only if another thread may soon
//! access what the step has accessed.
//!
//! A [late step](super::late_issue) has performed some accesses. If its thread can now be seen as
//! before, the step ends. If the thread is in a section or has accesses pending, the step ends only
//! if another thread may access one of the same locations *soon*: such an access is pending, or a
//! statement that is reachable without passing a grace period makes it. Otherwise the step goes on
//! with another access of its thread.
//!
//! *Soundness.* Let a run consist of *blocks*: late steps and other steps. A late step is *useful*
//! if at its time another thread may soon access one of its locations. Let `m` be the last late step
//! that hides its thread and is not useful. The next block is
//!
//! - a block of the same thread: it and `m` become one late step, or it performs an access that was
//!   pending before `m`, and moves before `m` like a block of another thread;
//! - a block of another thread: it accesses none of the locations of `m`, because a thread performs
//!   only accesses that it may make soon. So it can be moved before `m`. A grace period sees no less
//!   there. At the time of the moved block, the thread of `m` is at an earlier statement before the
//!   same grace period, from which it may soon make the same accesses and more. So a useful late
//!   step stays useful.
//!
//! `m` moves to the end of the run or to a place where it is useful, or it becomes part of another
//! late step. So the number of late steps that hide their thread and are not useful decreases. The
//! end of the run is no exception: there, `m` has no further access to go on with.
//!
//! Every step that the search omits or takes is justified for all runs from a state, not for the
//! runs of the reduced system. So this rule may be combined with the other reductions.

use super::Machine;
use crate::model::MemoryModel;
use crate::mutation::Mutation;
use crate::state::State;
use fencepost_ir::{Access, Loc, ThreadId};

impl<M: MemoryModel> Machine<'_, M> {
    /// Returns whether a late step may end after it has performed these accesses. `start` are the
    /// pending accesses before the step.
    pub(super) fn may_end_late_step(
        &self,
        state: &State<M::Pending>,
        t: ThreadId,
        start: &M::Pending,
        performed: &[Loc],
    ) -> bool {
        let is_visible = self.may_be_seen(state, t) && state.pending == *start;
        is_visible || performed.iter().any(|loc| self.is_accessed_soon(state, t, *loc))
    }

    /// Returns whether another thread may access the location before its next grace period.
    fn is_accessed_soon(&self, state: &State<M::Pending>, t: ThreadId, loc: Loc) -> bool {
        if self.mutated.is(Mutation::LateStepsIgnoreOthers) {
            return false;
        }
        let who = self.shape.readers[loc.index()] | self.shape.writers[loc.index()];
        self.shape.others(t, who).any(|other| {
            let soon = &self.shape.thread(other).soon_accesses;
            let pc = state.pcs[other.index()];
            let pending = self.model.pending_accesses_to(&self.shape, &state.pending, other, loc);
            soon.stores(pc, loc)
                || soon.loads(pc, loc)
                || pending != Access { loads: false, stores: false }
        })
    }
}
