//! Finds the statements inside atomic blocks.

use fencepost_ir::{Op, Pc, Thread, flow};

/// Returns, by program counter, whether the statement is inside an atomic block. The `AtomicBegin`
/// is outside, the `AtomicEnd` is inside.
pub(crate) fn in_atomic_block(thread: &Thread) -> Vec<bool> {
    let mut inside = vec![None; thread.code.len()];
    let mut pending = vec![(Pc(0), false)];
    while let Some((pc, now)) = pending.pop() {
        if inside[pc.index()].replace(now).is_some() {
            continue;
        }
        let stmt = thread.stmt(pc);
        let after = match stmt.op {
            Op::AtomicBegin => true,
            Op::AtomicEnd => false,
            _ => now,
        };
        pending.extend(flow::successors(stmt).map(|next| (next, after)));
    }
    inside.into_iter().map(|inside| inside == Some(true)).collect()
}
