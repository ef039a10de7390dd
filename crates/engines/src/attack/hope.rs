//! From where a delaying thread can still come to an access that others could react to.
//!
//! What waits for the buffer to be empty cannot be passed by a thread that delays for good. If every way
//! leads there, or to the end, before it leads to a load of something that others write or to a `new` where
//! others allocate, too, delaying is of no use. Direction: may be hopeful for nothing, never the other way round.
//! Where fences have been put after stores, this alone ends most attacks before they begin.

use fencepost_ir::flow::successors;
use fencepost_ir::{FenceKinds, Op, Pc, ThreadId};
use fencepost_models::shape::Shape;

/// What a thread can still come to.
#[derive(Clone, Debug)]
pub(super) struct Hope {
    /// By program counter: an access.
    open: Vec<bool>,
    /// By program counter: one that need not wait after a store-load fence.
    barred: Vec<bool>,
}

impl Hope {
    /// That of a thread. `allocators` has the threads that allocate, by pool.
    pub(super) fn new(shape: &Shape<'_>, t: ThreadId, allocators: &[u64]) -> Self {
        let code = &shape.program().thread(t).code;
        let mut hope = Hope { open: vec![false; code.len()], barred: vec![false; code.len()] };
        loop {
            let mut changed = false;
            for at in (0..code.len()).rev() {
                for barred in [false, true] {
                    let has = hope.there(shape, t, Pc::from_index(at), barred, allocators);
                    let known = if barred { &mut hope.barred[at] } else { &mut hope.open[at] };
                    changed |= *known != has;
                    *known = has;
                }
            }
            if !changed {
                return hope;
            }
        }
    }

    /// Whether there is hope at a program counter, after a store-load fence or not.
    pub(super) fn has(&self, pc: Pc, barred: bool) -> bool {
        let known = if barred { &self.barred } else { &self.open };
        known[pc.index()]
    }

    fn there(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        pc: Pc,
        barred: bool,
        allocators: &[u64],
    ) -> bool {
        let stmt = shape.stmt(t, pc);
        let others = !(1u64 << t.index());
        let onward = |barred| successors(stmt).any(|next| self.has(next, barred));
        match &stmt.op {
            Op::Load { .. } if barred => false,
            Op::Load { .. } => {
                let locations = &shape.thread(t).footprints[pc.index()];
                let is_good = |at: usize| shape.writers[at] & others != 0;
                locations.iter().any(|loc| is_good(loc.index())) || onward(barred)
            }
            Op::New { pool, .. } => allocators[pool.index()] & others != 0 || onward(barred),
            Op::Fence(FenceKinds::FULL) => false,
            Op::Fence(kinds) => onward(barred || kinds.contains(FenceKinds::STORE_LOAD)),
            Op::Update { .. } | Op::AtomicBegin | Op::AtomicEnd | Op::Free { .. } | Op::Halt => {
                false
            }
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
            | Op::Return { .. } => onward(barred),
        }
    }
}
