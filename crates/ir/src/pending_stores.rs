//! How many stores of a thread can be pending at the same time.
//!
//! A statement that waits until nothing is pending separates the stores before it from those after
//! it. If no cycle of the control flow between such statements contains a store, the number of
//! pending stores is bounded by the code, and a search with this bound on store buffers is exact.
//! Direction: over-approximation. Commits that happen earlier are not taken into account.

use crate::dominators::FlowGraph;
use crate::flow::{atomic_statements, successors};
use crate::ids::Pc;
use crate::op::{FenceKinds, Op};
use crate::program::{Program, Stmt, Thread};
use crate::store_buffers::StoreBuffers;

/// Returns the largest number of stores that a thread can have pending, at least 1. `None` if the
/// control flow does not bound it.
pub fn max_pending_stores(program: &Program, model: StoreBuffers) -> Option<u32> {
    let mut bounds = program.threads.iter().map(|thread| max_of_thread(thread, model));
    bounds.try_fold(1, |all, bound| Some(bound?.max(all)))
}

/// Computes the number of pending stores before each statement as a least fixpoint. A path without
/// a cycle has each store of the thread at most once, so a larger number means a cycle with a store.
fn max_of_thread(thread: &Thread, model: StoreBuffers) -> Option<u32> {
    let atomic = atomic_statements(thread, false);
    let is_pending = |at: usize, stmt: &Stmt| matches!(stmt.op, Op::Store { .. }) && !atomic[at];
    let stores = thread.code.iter().enumerate().filter(|(at, stmt)| is_pending(*at, stmt)).count();
    // In reverse postorder, one pass is sufficient for code without cycles.
    let graph = FlowGraph::new(Pc(0), |pc| successors(thread.stmt(pc)).collect());
    let mut after = vec![0; graph.order.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (position, pc) in graph.order.iter().enumerate() {
            let stmt = thread.stmt(*pc);
            let before = graph.predecessors[position].iter().map(|before| after[*before]).max();
            let pending = match waits_for_all(&stmt.op, model) {
                true => 0,
                false => before.unwrap_or(0) + u32::from(is_pending(pc.index(), stmt)),
            };
            if pending as usize > stores {
                return None;
            }
            changed |= pending != std::mem::replace(&mut after[position], pending);
        }
    }
    after.into_iter().max()
}

/// Returns whether no store of the thread is pending after the operation.
fn waits_for_all(op: &Op, model: StoreBuffers) -> bool {
    match op {
        Op::Fence(kinds) => *kinds == FenceKinds::FULL,
        Op::Update { .. } => match model {
            StoreBuffers::Tso => true,
            StoreBuffers::Pso => false,
        },
        Op::AtomicBegin | Op::GracePeriod { .. } => true,
        Op::Skip
        | Op::Assign { .. }
        | Op::Choose { .. }
        | Op::Load { .. }
        | Op::Store { .. }
        | Op::Drain(_)
        | Op::Branch { .. }
        | Op::Assume(_)
        | Op::Assert(_)
        | Op::New { .. }
        | Op::Free { .. }
        | Op::Leave
        | Op::AtomicEnd
        | Op::Invoke { .. }
        | Op::Return { .. }
        | Op::Join
        | Op::SectionBegin { .. }
        | Op::SectionEnd { .. }
        | Op::Halt => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Expr;
    use crate::ids::{Label, Loc};
    use crate::op::{Address, Update};

    fn store() -> Op {
        Op::Store { to: Address::fixed(Loc(0)), value: Expr::Const(1) }
    }

    fn swap() -> Op {
        let at = Address::fixed(Loc(0));
        Op::Update { reg: None, at, update: Update::Swap { new: Expr::Const(1) } }
    }

    fn branch(then: u32, otherwise: u32) -> Op {
        Op::Branch { cond: Expr::Const(1), then: Pc(then), otherwise: Pc(otherwise) }
    }

    /// The bounds for TSO and PSO of a thread with these statements, one after the other.
    fn bounds(ops: Vec<Op>) -> [Option<u32>; 2] {
        let stmt = |(at, op)| {
            let next = Pc::from_index(at + 1);
            Stmt { label: Label(0), op, next, critical: false }
        };
        let code = ops.into_iter().chain([Op::Halt]).enumerate().map(stmt).collect();
        let thread = Thread { name: "t".into(), registers: Vec::new(), code };
        let program = Program { threads: vec![thread], ..Program::default() };
        [StoreBuffers::Tso, StoreBuffers::Pso].map(|model| max_pending_stores(&program, model))
    }

    #[test]
    fn stores_between_fences_are_counted() {
        let fence = || Op::Fence(FenceKinds::FULL);
        assert_eq!(bounds(vec![]), [Some(1); 2]);
        assert_eq!(bounds(vec![store(), store(), store()]), [Some(3); 2]);
        assert_eq!(bounds(vec![store(), fence(), store(), store(), fence()]), [Some(2); 2]);
        let weak = Op::Fence(FenceKinds::STORE_LOAD);
        assert_eq!(bounds(vec![store(), weak, store()]), [Some(2); 2]);
        assert_eq!(bounds(vec![store(), store(), swap(), store()]), [Some(2), Some(3)]);
    }

    #[test]
    fn the_longer_branch_counts() {
        assert_eq!(bounds(vec![branch(3, 1), store(), store(), store()]), [Some(3); 2]);
    }

    #[test]
    fn a_loop_with_a_store_needs_a_fence() {
        assert_eq!(bounds(vec![store(), branch(2, 0)]), [None; 2]);
        assert_eq!(bounds(vec![store(), swap(), branch(3, 0)]), [Some(1), None]);
        assert_eq!(bounds(vec![store(), Op::Skip, branch(3, 1)]), [Some(1); 2]);
    }

    #[test]
    fn stores_in_an_atomic_block_are_never_pending() {
        let block = [store(), Op::AtomicBegin, store(), store(), Op::AtomicEnd, store()];
        assert_eq!(bounds(block.into()), [Some(1); 2]);
        let block = [Op::AtomicBegin, store(), Op::AtomicEnd, branch(4, 0)];
        assert_eq!(bounds(block.into()), [Some(1); 2]);
    }
}
