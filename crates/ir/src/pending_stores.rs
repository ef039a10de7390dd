//! How many stores of a thread can be pending at the same time.
//!
//! A statement that waits until nothing is pending separates the stores before it from those after
//! it. If no cycle of the control flow between such statements contains a store, the number of
//! pending stores is bounded by the code, and a search with this bound on store buffers is exact.
//! Where such a cycle exists, the paths are followed with the values of loop counters
//! ([`crate::counted_flow`]). Direction: over-approximation. Commits that happen earlier are not taken
//! into account.

use crate::counted_flow::CountedFlow;
use crate::dominators::FlowGraph;
use crate::flow::{atomic_statements, successors};
use crate::ids::Pc;
use crate::op::{FenceKinds, Op};
use crate::program::{Program, Thread};
use crate::store_buffers::StoreBuffers;

/// Returns the largest number of stores that a thread can have pending, at least 1. `None` if the
/// control flow does not bound it.
pub fn max_pending_stores(program: &Program, model: StoreBuffers) -> Option<u32> {
    let mut bounds = program.threads.iter().map(|thread| max_of_thread(thread, model));
    bounds.try_fold(1, |all, bound| Some(bound?.max(all)))
}

/// Returns the largest number of pending stores of a thread.
fn max_of_thread(thread: &Thread, model: StoreBuffers) -> Option<u32> {
    // In reverse postorder, one pass is sufficient for code without cycles.
    let graph = FlowGraph::new(Pc(0), |pc| successors(thread.stmt(pc)).collect());
    max_of_paths(thread, model, &graph, |pc| pc).or_else(|| {
        let flow = CountedFlow::of(thread)?;
        let graph = FlowGraph::new(0, |node: usize| flow.successors[node].clone());
        max_of_paths(thread, model, &graph, |node| flow.statements[node])
    })
}

/// Computes the number of pending stores behind each node of a graph as a least fixpoint. A path
/// without a cycle has each store of the graph at most once, so a larger number means a cycle with a
/// store.
fn max_of_paths<N: Copy>(
    thread: &Thread,
    model: StoreBuffers,
    graph: &FlowGraph<N>,
    statement: impl Fn(N) -> Pc,
) -> Option<u32> {
    let atomic = atomic_statements(thread, false);
    let is_pending = |pc: Pc| matches!(thread.stmt(pc).op, Op::Store { .. }) && !atomic[pc.index()];
    let stores = graph.order.iter().filter(|node| is_pending(statement(**node))).count();
    let mut after = vec![0; graph.order.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (position, node) in graph.order.iter().enumerate() {
            let pc = statement(*node);
            let before = graph.predecessors[position].iter().map(|before| after[*before]).max();
            let pending = match waits_for_all(&thread.stmt(pc).op, model) {
                true => 0,
                false => before.unwrap_or(0) + u32::from(is_pending(pc)),
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
    use crate::expr::{BinOp, Expr};
    use crate::ids::{Label, Loc, Reg};
    use crate::op::{Address, Update};
    use crate::program::{Register, Stmt};
    use crate::value::Type;

    fn store() -> Op {
        Op::Store { to: Address::fixed(Loc(0)), value: Expr::Const(1) }
    }

    fn swap() -> Op {
        let at = Address::fixed(Loc(0));
        Op::Update { reg: None, at, update: Update::Swap { new: Expr::Const(1) } }
    }

    /// A branch on a value from memory.
    fn branch(then: u32, otherwise: u32) -> Op {
        Op::Branch { cond: Expr::Var(Reg(1)), then: Pc(then), otherwise: Pc(otherwise) }
    }

    /// The bounds for TSO and PSO of a thread with these statements, one after the other. Unreachable
    /// code loads the register of [`branch`].
    fn bounds(ops: Vec<Op>) -> [Option<u32>; 2] {
        let stmt = |(at, op)| {
            let next = Pc::from_index(at + 1);
            Stmt { label: Label(0), op, next, critical: false }
        };
        let load = Op::Load { reg: Reg(1), from: Address::fixed(Loc(0)) };
        let code = ops.into_iter().chain([Op::Halt, load]).enumerate().map(stmt).collect();
        let registers =
            ["i", "r"].map(|name| Register { name: name.into(), ty: Type::INT }).to_vec();
        let thread = Thread { name: "t".into(), registers, code };
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
    fn stores_of_a_counted_loop_are_counted() {
        let i = || Box::new(Expr::Var(Reg(0)));
        let three = Expr::Binary(BinOp::Lt, i(), Box::new(Expr::Const(3)));
        let next = Expr::Binary(BinOp::Add, i(), Box::new(Expr::Const(1)));
        let increment = |expr| Op::Assign { reg: Reg(0), expr };
        let counted = |end: Op| {
            let head = Op::Branch { cond: three.clone(), then: Pc(1), otherwise: Pc(4) };
            vec![head, store(), increment(next.clone()), branch(0, 0), store(), end]
        };
        assert_eq!(bounds(counted(Op::Skip)), [Some(4); 2]);
        // Entered again with i = 3: only the last store, as often as the thread likes.
        assert_eq!(bounds([counted(Op::Skip), vec![branch(0, 0)]].concat()), [None; 2]);
        let fence = Op::Fence(FenceKinds::FULL);
        assert_eq!(bounds([counted(fence), vec![branch(0, 0)]].concat()), [Some(4); 2]);
    }

    #[test]
    fn stores_in_an_atomic_block_are_never_pending() {
        let block = [store(), Op::AtomicBegin, store(), store(), Op::AtomicEnd, store()];
        assert_eq!(bounds(block.into()), [Some(1); 2]);
        let block = [Op::AtomicBegin, store(), Op::AtomicEnd, branch(4, 0)];
        assert_eq!(bounds(block.into()), [Some(1); 2]);
    }
}
