//! The essence of code: what its statements do, and which come after which.
//!
//! Labels, positions in the list and statements that do nothing are not part of it. Inside of `atomic` and
//! in `init`, where nothing is ever pending, fences and drains do nothing, too.
//!
//! Direction: programs with the same essence behave alike; those with different ones may do so, too.

use std::collections::BTreeMap;

use crate::flow;
use crate::ids::Pc;
use crate::op::Op;
use crate::program::{Program, Thread};

/// Whether two programs have the same locations, and threads that do the same.
pub fn same_code(a: &Program, b: &Program) -> bool {
    let alike = |a: &Thread, b: &Thread, init| {
        a.name == b.name && a.registers == b.registers && essence(a, init) == essence(b, init)
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

/// Something done: the operation (without targets), whether it is in a critical section, and the
/// positions of what follows. None: an endless loop of nothing.
type Deed = Option<(Op, bool, Vec<usize>)>;

/// What a thread does, in the order a walk from its beginning meets it.
fn essence(thread: &Thread, init: bool) -> Vec<Deed> {
    let atomic = atomic(thread, init);
    let does_nothing = |pc: Pc| {
        let op = &thread.stmt(pc).op;
        let orders_nothing = atomic[pc.index()] && matches!(op, Op::Fence(_) | Op::Drain(_));
        matches!(op, Op::Skip) || orders_nothing
    };
    // The first statement from here on that does something; none in an endless loop of others.
    let resolve = |mut pc: Pc| {
        for _ in 0..thread.code.len() {
            if !does_nothing(pc) {
                return Some(pc);
            }
            pc = thread.stmt(pc).next;
        }
        None
    };
    let mut met: Vec<Option<Pc>> = Vec::new();
    let mut positions: BTreeMap<Option<Pc>, usize> = BTreeMap::new();
    let mut position = |pc: Pc, met: &mut Vec<Option<Pc>>| {
        let pc = resolve(pc);
        *positions.entry(pc).or_insert_with(|| {
            met.push(pc);
            met.len() - 1
        })
    };
    position(Pc(0), &mut met);
    let mut deeds = Vec::new();
    while let Some(pc) = met.get(deeds.len()).copied() {
        deeds.push(pc.map(|pc| {
            let stmt = thread.stmt(pc);
            let op = if let Op::Branch { cond, .. } = &stmt.op {
                Op::Branch { cond: cond.clone(), then: Pc(0), otherwise: Pc(0) }
            } else {
                stmt.op.clone()
            };
            let next = flow::successors(stmt).map(|next| position(next, &mut met)).collect();
            (op, stmt.critical, next)
        }));
    }
    deeds
}

/// Which statements run where nothing is pending.
fn atomic(thread: &Thread, init: bool) -> Vec<bool> {
    let mut atomic = vec![init; thread.code.len()];
    let mut seen = vec![false; thread.code.len()];
    let mut open = vec![(Pc(0), init)];
    while let Some((pc, inside)) = open.pop() {
        if std::mem::replace(&mut seen[pc.index()], true) {
            continue;
        }
        atomic[pc.index()] = inside;
        let stmt = thread.stmt(pc);
        let inside = if let Op::AtomicEnd = stmt.op {
            init
        } else {
            inside || matches!(stmt.op, Op::AtomicBegin)
        };
        open.extend(flow::successors(stmt).map(|next| (next, inside)));
    }
    atomic
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Label;
    use crate::op::FenceKinds;
    use crate::program::Stmt;

    /// A thread of these operations, each followed by the statement with the number beside it.
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
    fn what_does_nothing_and_where_code_is_makes_no_difference() {
        let fence = Op::Fence(FenceKinds::FULL);
        let plain = program(&[(fence.clone(), 1), (Op::Halt, 0)]);
        let padded = program(&[
            (Op::Skip, 3),
            (Op::Halt, 0),
            (Op::Skip, 1),
            (fence.clone(), 2),
            (Op::AtomicBegin, 0), // nothing leads here
        ]);
        assert!(same_code(&plain, &padded));
        assert!(!same_code(&plain, &program(&[(Op::Halt, 0)])));
        let weaker = Op::Fence(FenceKinds::STORE_LOAD);
        assert!(!same_code(&plain, &program(&[(weaker, 1), (Op::Halt, 0)])));
        let twice = [(fence.clone(), 1), (fence, 2), (Op::Halt, 0)];
        assert!(!same_code(&plain, &program(&twice)));
    }

    #[test]
    fn fences_in_atomic_blocks_do_nothing() {
        let fence = Op::Fence(FenceKinds::FULL);
        let with = [(Op::AtomicBegin, 1), (fence.clone(), 2), (Op::AtomicEnd, 3), (Op::Halt, 0)];
        let without = [(Op::AtomicBegin, 1), (Op::AtomicEnd, 2), (Op::Halt, 0)];
        assert!(same_code(&program(&with), &program(&without)));
        let after = [(Op::AtomicBegin, 1), (Op::AtomicEnd, 2), (fence, 3), (Op::Halt, 0)];
        assert!(!same_code(&program(&with), &program(&after)));
    }

    #[test]
    fn endless_loops_of_nothing_are_alike() {
        let short = program(&[(Op::Skip, 0)]);
        let long = program(&[(Op::Skip, 1), (Op::Skip, 2), (Op::Skip, 1)]);
        assert!(same_code(&short, &long));
        assert!(!same_code(&short, &program(&[(Op::Halt, 0)])));
    }
}
