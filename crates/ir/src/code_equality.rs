//! Comparison of code by a canonical form.
//!
//! The canonical form consists of the operations and the control flow between them. It omits
//! labels, positions in the code, unreachable statements, and statements without effect. Fences and
//! drains in `atomic` blocks and in `init` have no effect, because no store is pending there.
//!
//! Direction: programs with equal canonical forms have the same behaviour. The converse does not
//! hold.

use std::collections::BTreeMap;

use crate::access_order::AccessOrder;
use crate::flow;
use crate::ids::Pc;
use crate::op::Op;
use crate::program::{Program, Thread};

/// Returns whether two programs have the same locations and pools, and threads with the same
/// canonical code.
pub fn same_code(a: &Program, b: &Program) -> bool {
    let alike = |own: &Thread, other: &Thread, init| {
        own.name == other.name
            && own.registers == other.registers
            && canonical_code(a, own, init) == canonical_code(b, other, init)
    };
    let init = match (&a.init, &b.init) {
        (Some(a), Some(b)) => alike(a, b, true),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    init && a.locations == b.locations
        && a.pools == b.pools
        && a.threads.len() == b.threads.len()
        && a.threads.iter().zip(&b.threads).all(|(a, b)| alike(a, b, false))
}

/// A statement of the canonical form. `None` is an infinite loop without effect.
type CanonicalStmt = Option<Effect>;

#[derive(PartialEq, Eq)]
struct Effect {
    /// The operation, without branch targets.
    op: Op,
    /// The order of its access.
    order: AccessOrder,
    /// Whether it only implements the order of an access.
    is_implied: bool,
    /// Whether it is a conditional selection.
    is_selection: bool,
    /// Whether it is in a critical section.
    critical: bool,
    /// The positions of its successors.
    next: Vec<usize>,
}

/// Returns the canonical form of a thread, in breadth-first order from its entry.
fn canonical_code(program: &Program, thread: &Thread, init: bool) -> Vec<CanonicalStmt> {
    let atomic = flow::atomic_statements(thread, init);
    let has_no_effect = |pc: Pc| {
        let op = &thread.stmt(pc).op;
        let is_idle_fence = atomic[pc.index()] && matches!(op, Op::Fence(_) | Op::Drain(_));
        matches!(op, Op::Skip) || is_idle_fence
    };
    // The first statement with an effect, from `pc` on. `None`: an infinite loop without effect.
    let resolve = |mut pc: Pc| {
        for _ in 0..thread.code.len() {
            if !has_no_effect(pc) {
                return Some(pc);
            }
            pc = thread.stmt(pc).next;
        }
        None
    };
    let mut order: Vec<Option<Pc>> = Vec::new();
    let mut positions: BTreeMap<Option<Pc>, usize> = BTreeMap::new();
    let mut position = |pc: Pc, order: &mut Vec<Option<Pc>>| {
        let pc = resolve(pc);
        *positions.entry(pc).or_insert_with(|| {
            order.push(pc);
            order.len() - 1
        })
    };
    position(Pc(0), &mut order);
    let mut canonical = Vec::new();
    while let Some(pc) = order.get(canonical.len()).copied() {
        canonical.push(pc.map(|pc| {
            let stmt = thread.stmt(pc);
            let op = if let Op::Branch { cond, .. } = &stmt.op {
                Op::Branch { cond: cond.clone(), then: Pc(0), otherwise: Pc(0) }
            } else {
                stmt.op.clone()
            };
            let next = flow::successors(stmt).map(|next| position(next, &mut order)).collect();
            let (order, is_implied) = (program.access_order(stmt), program.is_implied(stmt));
            let (is_selection, critical) = (program.is_selection(stmt), stmt.critical);
            Effect { op, order, is_implied, is_selection, critical, next }
        }));
    }
    canonical
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Label;
    use crate::op::FenceKinds;
    use crate::program::Stmt;

    /// A program with one thread. Each operation comes with the number of its successor.
    fn program(code: &[(Op, u32)]) -> Program {
        let stmt = |(at, (op, next)): (usize, &(Op, u32))| Stmt {
            label: Label::from_index(at),
            op: op.clone(),
            next: Pc(*next),
            critical: false,
        };
        let code = code.iter().enumerate().map(stmt).collect();
        let thread = Thread { name: "p".into(), registers: Vec::new(), code };
        Program { threads: vec![thread], ..Program::default() }
    }

    #[test]
    fn skips_and_positions_do_not_matter() {
        let fence = Op::Fence(FenceKinds::FULL);
        let plain = program(&[(fence.clone(), 1), (Op::Halt, 0)]);
        let padded = program(&[
            (Op::Skip, 3),
            (Op::Halt, 0),
            (Op::Skip, 1),
            (fence.clone(), 2),
            (Op::AtomicBegin, 0), // unreachable
        ]);
        assert!(same_code(&plain, &padded));
        assert!(!same_code(&plain, &program(&[(Op::Halt, 0)])));
        let weaker = Op::Fence(FenceKinds::STORE_LOAD);
        assert!(!same_code(&plain, &program(&[(weaker, 1), (Op::Halt, 0)])));
        let twice = [(fence.clone(), 1), (fence, 2), (Op::Halt, 0)];
        assert!(!same_code(&plain, &program(&twice)));
    }

    #[test]
    fn fences_in_atomic_blocks_do_not_matter() {
        let fence = Op::Fence(FenceKinds::FULL);
        let with = [(Op::AtomicBegin, 1), (fence.clone(), 2), (Op::AtomicEnd, 3), (Op::Halt, 0)];
        let without = [(Op::AtomicBegin, 1), (Op::AtomicEnd, 2), (Op::Halt, 0)];
        assert!(same_code(&program(&with), &program(&without)));
        let after = [(Op::AtomicBegin, 1), (Op::AtomicEnd, 2), (fence, 3), (Op::Halt, 0)];
        assert!(!same_code(&program(&with), &program(&after)));
    }

    #[test]
    fn infinite_loops_without_effect_are_equal() {
        let short = program(&[(Op::Skip, 0)]);
        let long = program(&[(Op::Skip, 1), (Op::Skip, 2), (Op::Skip, 1)]);
        assert!(same_code(&short, &long));
        assert!(!same_code(&short, &program(&[(Op::Halt, 0)])));
    }
}
