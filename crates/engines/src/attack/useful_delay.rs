//! Useful delays: from where a delaying thread can still reach an access that helpers can use.
//!
//! A backward data-flow analysis. A delaying thread never passes a statement that waits for an
//! empty buffer. If every path reaches such a statement or the end before a load of a location that
//! others write, or a `new` of a pool that others use, delaying is useless. Direction:
//! over-approximation; a delay may be reported as useful although it is not. If stores are followed
//! by fences, this analysis alone ends most attacks before they start.

use fencepost_ir::flow::successors;
use fencepost_ir::{FenceKinds, Op, Pc, ThreadId};
use fencepost_models::shape::Shape;

/// By program counter of a thread: whether delaying is useful from there.
#[derive(Clone, Debug)]
pub(super) struct UsefulDelay {
    /// Whether such an access is reachable.
    unfenced: Vec<bool>,
    /// Whether an access that a store-load fence does not block (a `new`) is reachable.
    fenced: Vec<bool>,
}

impl UsefulDelay {
    /// Computes the fixpoint for a thread. `allocators` has the threads that allocate, by pool.
    pub(super) fn new(shape: &Shape<'_>, t: ThreadId, allocators: &[u64]) -> Self {
        let code = &shape.program().thread(t).code;
        let mut analysis =
            UsefulDelay { unfenced: vec![false; code.len()], fenced: vec![false; code.len()] };
        loop {
            let mut changed = false;
            for at in (0..code.len()).rev() {
                for fenced in [false, true] {
                    let is_useful =
                        analysis.transfer(shape, t, Pc::from_index(at), fenced, allocators);
                    let entry =
                        if fenced { &mut analysis.fenced[at] } else { &mut analysis.unfenced[at] };
                    changed |= *entry != is_useful;
                    *entry = is_useful;
                }
            }
            if !changed {
                return analysis;
            }
        }
    }

    /// Returns whether delaying is useful at a program counter, after a store-load fence or without
    /// one.
    pub(super) fn is_useful(&self, pc: Pc, fenced: bool) -> bool {
        let entry = if fenced { &self.fenced } else { &self.unfenced };
        entry[pc.index()]
    }

    fn transfer(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        pc: Pc,
        fenced: bool,
        allocators: &[u64],
    ) -> bool {
        let stmt = shape.stmt(t, pc);
        let others = !(1u64 << t.index());
        let via_successors = |fenced| successors(stmt).any(|next| self.is_useful(next, fenced));
        match &stmt.op {
            Op::Load { .. } if fenced => false,
            Op::Load { .. } => {
                let locations = &shape.thread(t).footprints[pc.index()];
                let others_write = |at: usize| shape.writers[at] & others != 0;
                locations.iter().any(|loc| others_write(loc.index())) || via_successors(fenced)
            }
            Op::New { pool, .. } => {
                allocators[pool.index()] & others != 0 || via_successors(fenced)
            }
            Op::Fence(FenceKinds::FULL) => false,
            Op::Fence(kinds) => via_successors(fenced || kinds.contains(FenceKinds::STORE_LOAD)),
            Op::Update { .. }
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Free { .. }
            | Op::Join
            | Op::GracePeriod { .. }
            | Op::Halt => false,
            Op::Store { .. }
            | Op::Drain(_)
            | Op::Choose { .. }
            | Op::Invoke { .. }
            | Op::Leave
            | Op::Skip
            | Op::Assign { .. }
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::SectionBegin { .. }
            | Op::SectionEnd { .. }
            | Op::Return { .. } => via_successors(fenced),
        }
    }
}
