//! Redundant writes: a pending write that repeats an earlier pending write of its thread leaves the
//! window without a step of its own. Without this rule, a loop such as `while (swap(lock, 1)) {}`
//! has windows of any length: each swap can take its value from the write of the previous one.
//!
//! Direction: exact. Let V and W be pending writes of one thread to the same location x, V the latest
//! one before W, and let both write the same known value. W is removed if
//!
//! 1. *nothing comes between V and W in the order of the writes to x*: W belongs to a
//!    read-modify-write whose read is performed, or no other thread can still write x;
//! 2. *W can be performed as soon as V is*: everything for which W waits is V itself, or V waits for
//!    it, too. So W has known operands; between V and W there is no unresolved guess, no access with
//!    an unknown or presumed address, no acquire read with a presumed value, and no pending read of
//!    x; if W has release order, then nothing is pending between them, and V has release order, too;
//!    if a fence for stores is between them, then no other write is pending before the fence;
//! 3. *V has the same effect on later accesses as V and W*: both or none of them belong to
//!    read-modify-writes, because an acquire read does not take the value of such a write; and V has
//!    release order if W has, because a strong acquire read waits for such writes; and the address
//!    and the value of V are not presumed, because a later read would take a presumed value;
//! 4. the record of x is never freed, so that W does not fault after V.
//!
//! In condition 1, the read of W is performed and V is pending, so the read took its value from V,
//! and the thread holds x from the write of V until that of W.
//!
//! *Every run with W corresponds to a run without W.* By condition 2, W can be performed immediately
//! after V, since what W waits for only decreases. Move it there. By condition 1, no other thread
//! writes x in between, so x has the same value at every moment. Performing a write earlier only
//! ends waits. So the moved run is a run. In it, V and W are one step that has the effect of V.
//! Before this step, W has no effect that V does not have: a later read of x takes the same value
//! from V, and passes the same accesses, because condition 2 leaves none between V and W that could
//! be at x; a later write to x, a fence and a release wait for V; and V decides whether the thread
//! holds x. So the run without W exists. *Conversely*, W can be inserted into each run without W,
//! immediately after V, for the same reasons.
//!
//! Rejected: to remove W also if the guesses between V and W are certain to be resolved when V is
//! performed. Such guesses are rare: a guess behind a full or acquire lock is not useful.

use super::Arm;
use super::facts::{self, Facts};
use super::perform::{accesses_before, event};
use crate::event::{EventKind, EventRecorder};
use crate::model::MemoryModel;
use crate::mutation::Mutation;
use crate::shape::Shape;
use crate::state::State;
use crate::window::{Note, Window};
use fencepost_ir::{Loc, ThreadId, Value};

impl Arm {
    /// Removes the redundant writes from the window of a thread.
    pub(super) fn remove_redundant_writes(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        recorder: &mut dyn EventRecorder,
    ) {
        let mut entry = 1;
        while entry < state.pending[t.index()].len() {
            let stmt = shape.stmt(t, state.pending[t.index()].pc(entry));
            let may_write = stmt.op.access().is_some_and(|access| access.stores);
            if may_write && let Some((earlier, loc, value)) = self.repeats(shape, state, t, entry) {
                let window = &state.pending[t.index()];
                recorder.record_with(|| {
                    let earlier = accesses_before(shape, t, window, earlier);
                    event(shape, t, window, entry, EventKind::Repeat { loc, value, earlier })
                });
                let registers = &mut state.registers[shape.thread(t).registers..];
                state.pending[t.index()].remove(shape, t, entry, 0, registers);
            } else {
                entry += 1;
            }
        }
    }

    /// If an entry is a redundant write, returns the entry that it repeats, the location and the
    /// value.
    fn repeats(
        &self,
        shape: &Shape<'_>,
        state: &State<Vec<Window>>,
        t: ThreadId,
        entry: usize,
    ) -> Option<(usize, Loc, Value)> {
        let window = &state.pending[t.index()];
        let facts = facts::facts(shape, t, window);
        let write = &facts[entry];
        let Some(Ok(loc)) = write.location else { return None };
        let is_complete = write.writes
            && !write.reads
            && write.is_ready
            && !is_reservation(write)
            && window.notes(entry).all(|note| matches!(note, Note::ReadDone(_)));
        if !is_complete || shape.is_freeable(loc) {
            return None;
        }
        let repeated = self.repeated_write(window, &facts, entry, loc)?;
        let earlier = &facts[repeated];
        let value = facts::written_value(shape, t, window, write, entry, loc)?;
        let is_redundant = Some(value)
            == facts::written_value(shape, t, window, earlier, repeated, loc)
            && !facts::is_presumed_write(shape, t, window, repeated)
            && earlier.is_update == write.is_update
            && !is_reservation(earlier)
            && (earlier.order.release
                || !write.order.release
                || self.mutated.is(Mutation::RedundantWritesIgnoreOrder))
            && (write.is_update
                || self.mutated.is(Mutation::RedundantWritesIgnoreOthers)
                || !self.others_may_store(shape, state, t, loc));
        is_redundant.then_some((repeated, loc, value))
    }

    /// Returns the latest pending write to `loc` before an entry, if the entry, a write to `loc`,
    /// waits only for this write and for what this write waits for.
    fn repeated_write(
        &self,
        window: &Window,
        facts: &[Facts],
        entry: usize,
        loc: Loc,
    ) -> Option<usize> {
        let ignores_order = self.mutated.is(Mutation::RedundantWritesIgnoreOrder);
        let mut is_behind_fence = false;
        for at in (0..entry).rev() {
            let between = &facts[at];
            if between.writes && between.location == Some(Ok(loc)) {
                let mut earlier = facts[..at].iter();
                let is_ordered = is_behind_fence && earlier.any(|earlier| earlier.writes);
                return (!is_ordered || ignores_order).then_some(at);
            }
            if ignores_order {
                continue;
            }
            is_behind_fence |= between.is_store_fence;
            let is_awaited = between.is_pending()
                && (between.location == Some(Ok(loc)) || facts[entry].order.release)
                || between.has_open_address
                || between.is_open_acquire
                || is_behind_fence && between.writes
                || between.is_guess && facts::is_marked(window, at)
                || window.has(at, Note::Succeeds);
            if is_awaited {
                return None;
            }
        }
        None
    }
}

/// Returns whether an access is a part of an exclusive pair.
fn is_reservation(fact: &Facts) -> bool {
    fact.order.exclusive && !fact.is_update
}
