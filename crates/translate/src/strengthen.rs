//! Strengthening fences: full fences instead of weaker ones where nobody can observe the difference.
//!
//! A store-load fence does not block its thread. Only later loads wait for the stores before it. So a
//! thread may execute statements behind the fence while these stores are pending, and neither control
//! flow nor the states of a search show that nothing older remains pending. A full fence blocks until
//! nothing is pending.
//!
//! Direction: exact, for every property that [`strengthened`] accepts. A run with the full fence is a
//! run of the original program, with the same steps. For the other direction, consider a run of the
//! original program, and the steps of the thread behind the fence until the last store before the
//! fence commits. If they only assign registers, branch, and append stores to buffers, they commute
//! with the steps of other threads and with commits of older stores. So they can be moved behind that
//! commit, or behind commits at the end of the run, which are always enabled. Then the full fence is
//! enabled. The steps between are:
//!
//! - Under TSO, all statements before the next load, update, full fence or atomic block. A store
//!   behind the fence commits after all stores before it, because the buffer is one queue.
//! - Under PSO, the same without stores. A store behind the fence may commit first.
//!
//! No step in between may be observable for others: the thread does not enter or leave a critical
//! section or an operation, allocates nothing, and passes no control point of an invariant. A fault of
//! such a step only depends on registers, so it remains.

use fencepost_ir::{Expr, FenceKinds, Op, Pc, Problem, Reg, StoreBuffers, Thread, Value};
use std::collections::BTreeSet;

/// The largest number of statements that are followed behind a fence.
const MAX_STATEMENTS: usize = 256;

/// Returns the problem with full fences where they are equivalent to its store-load fences. None if
/// there is no such fence.
pub fn strengthened(problem: &Problem, model: StoreBuffers) -> Option<Problem> {
    let mut result = problem.clone();
    let mut changed = false;
    for thread in &mut result.program.threads {
        let weak = (0..thread.code.len()).map(Pc::from_index).filter(|pc| {
            matches!(&thread.stmt(*pc).op, Op::Fence(kinds)
                if *kinds != FenceKinds::FULL && kinds.contains(FenceKinds::STORE_LOAD))
        });
        let strong: Vec<Pc> = weak.filter(|pc| loads_next(thread, *pc, model)).collect();
        for pc in strong {
            thread.code[pc.index()].op = Op::Fence(FenceKinds::FULL);
            changed = true;
        }
    }
    changed.then_some(result)
}

/// Returns whether every path from a fence reaches a statement that waits for the stores before the
/// fence, without an observable statement in between.
fn loads_next(thread: &Thread, fence: Pc, model: StoreBuffers) -> bool {
    let start = thread.stmt(fence);
    let mut seen = BTreeSet::new();
    let mut open = vec![(start.next, vec![None; thread.registers.len()])];
    while let Some((pc, mut known)) = open.pop() {
        if !seen.insert((pc, known.clone())) {
            continue;
        }
        let stmt = thread.stmt(pc);
        if seen.len() > MAX_STATEMENTS || stmt.critical != start.critical {
            return false;
        }
        match &stmt.op {
            Op::Load { .. }
            | Op::Update { .. }
            | Op::AtomicBegin
            | Op::Fence(FenceKinds::FULL)
            | Op::GracePeriod { .. } => {}
            Op::Skip | Op::Fence(_) => open.push((stmt.next, known)),
            Op::Store { .. } => match model {
                StoreBuffers::Tso => open.push((stmt.next, known)),
                StoreBuffers::Pso => return false,
            },
            Op::Assign { reg, expr } => {
                known[reg.index()] = value(expr, &known);
                open.push((stmt.next, known));
            }
            Op::Branch { cond, then, otherwise } => match value(cond, &known) {
                Some(0) => open.push((*otherwise, known)),
                Some(_) => open.push((*then, known)),
                None => {
                    open.push((*then, known.clone()));
                    open.push((*otherwise, known));
                }
            },
            Op::Choose { .. }
            | Op::Drain(_)
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
            | Op::Halt => return false,
        }
    }
    true
}

/// Returns the value of an expression, if its registers have known values and it does not fault.
fn value(expr: &Expr<Reg>, known: &[Option<Value>]) -> Option<Value> {
    let mut is_known = true;
    expr.for_each_var(&mut |reg| is_known &= known[reg.index()].is_some());
    let value = expr.eval(&|reg: &Reg| known[reg.index()].unwrap_or_default());
    value.ok().filter(|_| is_known)
}
