//! Rotation of waits: gives a loop that tests before it reads the form of a loop that reads before
//! it tests.
//!
//! `while (r != 1) { r = x; }` and `do { r = x; } while (r != 1);` wait for the same. In the first
//! loop, the value of `r` at the head of the loop matters, so no iteration can be omitted, and the
//! loop is not a spin loop ([`crate::spin_loops`]). [`rotate_waits`] appends a copy of the test, to
//! which the back edges of the loop continue: `if (r != 1) do { r = x; } while (r != 1);`. Here the
//! iteration begins with the load.
//!
//! The result is exact: the thread executes the same statements in the same order. The copy has the
//! label of the test, like the copies that inlining makes. Only loops that become spin loops are
//! changed. Front ends apply the rotation, so that all engines and models agree on the waits of a
//! program.

use std::collections::BTreeSet;

use crate::dominators::FlowGraph;
use crate::flow::{self, successors};
use crate::ids::Pc;
use crate::op::Op;
use crate::program::Thread;
use crate::spin_loops::Loops;

/// The number of statements of a thread above which no copies are added.
const MAX_STATEMENTS: usize = 65_000;

/// Rotates the waits of a thread that test before they read. The program counters of existing
/// statements remain valid.
pub fn rotate_waits(thread: &mut Thread) {
    for wait in waits_that_test_first(thread) {
        if thread.code.len() + wait.test.len() > MAX_STATEMENTS {
            return;
        }
        let head = wait.test[0];
        let copy = Pc::from_index(thread.code.len());
        for last in wait.back_edges {
            let from = &mut thread.code[last.index()];
            let exits = if let Op::Branch { then, otherwise, .. } = &mut from.op {
                vec![then, otherwise]
            } else {
                vec![&mut from.next]
            };
            for exit in exits {
                if *exit == head {
                    *exit = copy;
                }
            }
        }
        for (at, pc) in wait.test.iter().enumerate() {
            let mut stmt = thread.stmt(*pc).clone();
            // The last statement of the test is the branch, which has its own exits.
            if at + 1 < wait.test.len() {
                stmt.next = Pc::from_index(copy.index() + at + 1);
            }
            thread.code.push(stmt);
        }
    }
}

/// A wait that tests before it reads.
struct Wait {
    /// The head of the loop and the statements up to its branch. All but the branch are skips,
    /// fences and drains.
    test: Vec<Pc>,
    /// The statements from which control returns to the head.
    back_edges: Vec<Pc>,
}

fn waits_that_test_first(thread: &Thread) -> Vec<Wait> {
    let near_cycles = flow::near_cycles(thread, |_| false);
    if !near_cycles.contains(&true) {
        return Vec::new();
    }
    let graph = FlowGraph::new(Pc(0), |pc| successors(thread.stmt(pc)).collect());
    let dominates = |head: Pc, pc: Pc| match (graph.position(head), graph.position(pc)) {
        (Some(head), Some(pc)) => graph.dominates(head, pc),
        (None, _) | (_, None) => false,
    };
    let predecessors = flow::predecessors(thread);
    let atomic = flow::atomic_statements(thread, false);
    let live = flow::live_registers(thread, &[], &[]);
    let mut loops = Loops::new(thread, &predecessors);
    let mut found = Vec::new();
    let mut tests: BTreeSet<Pc> = BTreeSet::new();
    for (at, near_cycle) in near_cycles.iter().enumerate() {
        let head = Pc::from_index(at);
        if !near_cycle || atomic[at] {
            continue;
        }
        let mut back_edges = predecessors[at].clone();
        back_edges.retain(|last| dominates(head, *last));
        back_edges.dedup();
        let Some(test) = test_at(thread, head).filter(|_| !back_edges.is_empty()) else { continue };
        if back_edges.iter().any(|last| loops.is_spin_loop(&live, head, *last)) {
            continue;
        }
        let branch = test[test.len() - 1];
        // Loops may share a test. Only one of them is rotated.
        let is_new = test.iter().all(|pc| !tests.contains(pc));
        if is_new && loops.spins_after_test(&live, head, &back_edges, branch) {
            tests.extend(&test);
            found.push(Wait { test, back_edges });
        }
    }
    found
}

/// Returns the statements from a head up to the next branch, if only skips, fences and drains are
/// before it.
fn test_at(thread: &Thread, head: Pc) -> Option<Vec<Pc>> {
    let mut test = vec![head];
    while test.len() <= thread.code.len() {
        let last = test[test.len() - 1];
        let stmt = thread.stmt(last);
        match &stmt.op {
            Op::Branch { .. } => return Some(test),
            Op::Skip | Op::Fence(_) | Op::Drain(_) => test.push(stmt.next),
            Op::Load { .. }
            | Op::Store { .. }
            | Op::Update { .. }
            | Op::Assign { .. }
            | Op::Choose { .. }
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::New { .. }
            | Op::Free { .. }
            | Op::Leave
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Invoke { .. }
            | Op::Return { .. }
            | Op::Join
            | Op::SectionBegin { .. }
            | Op::SectionEnd { .. }
            | Op::GracePeriod { .. }
            | Op::Halt => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{Label, Loc, Reg};
    use crate::op::{Address, FenceKinds};
    use crate::program::{Register, Stmt};
    use crate::value::Type;
    use crate::{Expr, Value};

    fn thread(ops: Vec<(Op, u32)>) -> Thread {
        let stmt = |(at, (op, next)): (usize, (Op, u32))| Stmt {
            label: Label::from_index(at),
            op,
            next: Pc(next),
            critical: false,
        };
        Thread {
            name: "p".into(),
            registers: vec![Register { name: "r".into(), ty: Type::INT }],
            code: ops.into_iter().enumerate().map(stmt).collect(),
        }
    }

    fn branch(then: u32, otherwise: u32) -> Op {
        Op::Branch { cond: Expr::Var(Reg(0)), then: Pc(then), otherwise: Pc(otherwise) }
    }

    fn load() -> Op {
        Op::Load { reg: Reg(0), from: Address::fixed(Loc(0)) }
    }

    fn assign(value: Value) -> Op {
        Op::Assign { reg: Reg(0), expr: Expr::Const(value) }
    }

    #[test]
    fn the_test_before_a_load_is_copied_behind_it() {
        let fence = Op::Fence(FenceKinds::FULL);
        let code = vec![(assign(1), 1), (fence, 2), (branch(3, 4), 0), (load(), 1), (Op::Halt, 0)];
        let mut rotated = thread(code.clone());
        rotate_waits(&mut rotated);
        assert_eq!(rotated.code[..3], thread(code).code[..3]);
        assert_eq!(rotated.code[3].next, Pc(5));
        assert_eq!((rotated.code[5].label, rotated.code[5].next), (Label(1), Pc(6)));
        assert_eq!((rotated.code[6].label, rotated.code[6].op.clone()), (Label(2), branch(3, 4)));
        assert_eq!(rotated.code.len(), 7);
        let once = rotated.clone();
        rotate_waits(&mut rotated);
        assert_eq!(rotated, once, "a rotated wait is a spin loop");
    }

    #[test]
    fn other_loops_are_not_changed() {
        let store = Op::Store { to: Address::fixed(Loc(0)), value: Expr::Const(1) };
        for code in [
            // A loop that reads before it tests.
            vec![(load(), 1), (branch(0, 2), 0), (Op::Halt, 0)],
            // The body stores.
            vec![(branch(1, 3), 0), (load(), 2), (store, 0), (Op::Halt, 0)],
            // The body reads nothing.
            vec![(branch(1, 2), 0), (assign(1), 0), (Op::Halt, 0)],
        ] {
            let mut rotated = thread(code.clone());
            rotate_waits(&mut rotated);
            assert_eq!(rotated, thread(code));
        }
    }
}
