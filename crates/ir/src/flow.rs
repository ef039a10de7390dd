//! Control flow of one thread: successors, register uses, liveness, statements that may wait.
//!
//! A register is live if its value can still be read. Dead registers can be cleared without
//! changing any behaviour. This merges states that differ only in dead registers.

use crate::expr::Expr;
use crate::grace_period;
use crate::ids::{Pc, Reg};
use crate::op::{Address, Op, Update};
use crate::program::{Stmt, Thread};

/// Returns the program counters that can follow a statement.
pub fn successors(stmt: &Stmt) -> impl Iterator<Item = Pc> + use<> {
    let (first, second) = if let Op::Branch { then, otherwise, .. } = stmt.op {
        (Some(then), Some(otherwise))
    } else {
        (stmt.op.falls_through().then_some(stmt.next), None)
    };
    first.into_iter().chain(second)
}

/// Returns for each program counter its predecessors in the control flow.
pub fn predecessors(thread: &Thread) -> Vec<Vec<Pc>> {
    let mut predecessors = vec![Vec::new(); thread.code.len()];
    for (at, stmt) in thread.code.iter().enumerate() {
        for next in successors(stmt) {
            predecessors[next.index()].push(Pc::from_index(at));
        }
    }
    predecessors
}

/// Returns for each program counter whether it is on a cycle of the control flow, or on a path
/// between two cycles. Edges from statements that `is_final` accepts are ignored. Takes linear time.
pub fn near_cycles(thread: &Thread, is_final: impl Fn(usize) -> bool) -> Vec<bool> {
    let next = |at: usize| {
        let all = successors(&thread.code[at]).filter(|_| !is_final(at));
        all.map(Pc::index).collect()
    };
    let forward: Vec<Vec<usize>> = (0..thread.code.len()).map(next).collect();
    let mut backward = vec![Vec::new(); forward.len()];
    for (at, all) in forward.iter().enumerate() {
        all.iter().for_each(|next| backward[*next].push(at));
    }
    let reachable_from_cycle = without_sources(&forward, &backward);
    let reaches_cycle = without_sources(&backward, &forward);
    reachable_from_cycle.iter().zip(reaches_cycle).map(|(from, to)| *from && to).collect()
}

/// Removes nodes without incoming edges until none is left. Returns which nodes remain.
fn without_sources(edges: &[Vec<usize>], reversed: &[Vec<usize>]) -> Vec<bool> {
    let mut incoming: Vec<usize> = reversed.iter().map(Vec::len).collect();
    let mut open: Vec<usize> = (0..edges.len()).filter(|node| incoming[*node] == 0).collect();
    let mut remains = vec![true; edges.len()];
    while let Some(node) = open.pop() {
        remains[node] = false;
        for next in &edges[node] {
            incoming[*next] -= 1;
            if incoming[*next] == 0 {
                open.push(*next);
            }
        }
    }
    remains
}

/// Calls `visit` on every expression of an operation: address first (cell, then index), then
/// values.
pub fn for_each_expr<'a>(op: &'a Op, visit: &mut impl FnMut(&'a Expr<Reg>)) {
    let address = |at: &'a Address, visit: &mut dyn FnMut(&'a Expr<Reg>)| {
        if let Some((_, cell)) = &at.cell {
            visit(cell);
        }
        if let Some((_, index)) = &at.index {
            visit(index);
        }
        if let Some(pointer) = &at.pointer {
            visit(&pointer.value);
        }
    };
    match op {
        Op::Assign { expr, .. } => visit(expr),
        Op::Load { from, .. } => address(from, visit),
        Op::Store { to, value } => {
            address(to, visit);
            visit(value);
        }
        Op::Update { at, update, .. } => {
            address(at, visit);
            match update {
                Update::Cas { expected, new, .. } => {
                    visit(expected);
                    visit(new);
                }
                Update::Swap { new } => visit(new),
                Update::Add { by, .. } | Update::Bits { by, .. } => visit(by),
            }
        }
        Op::Drain(at) => address(at, visit),
        Op::Branch { cond, .. } | Op::Assume(cond) | Op::Assert(cond) => visit(cond),
        Op::Free { cell, .. } => visit(cell),
        Op::SectionEnd { index, .. } => index.iter().for_each(visit),
        Op::Skip
        | Op::Choose { .. }
        | Op::Fence(_)
        | Op::New { .. }
        | Op::Leave
        | Op::AtomicBegin
        | Op::AtomicEnd
        | Op::Invoke { .. }
        | Op::Return { .. }
        | Op::Join
        | Op::SectionBegin { .. }
        | Op::GracePeriod { .. }
        | Op::Halt => {}
    }
}

/// Returns the values that an operation computes, without its addresses.
pub fn values_mut(op: &mut Op) -> Vec<&mut Expr<Reg>> {
    match op {
        Op::Assign { expr, .. } | Op::Store { value: expr, .. } => vec![expr],
        Op::Branch { cond, .. } | Op::Assume(cond) | Op::Assert(cond) => vec![cond],
        Op::Update { update, .. } => match update {
            Update::Cas { expected, new, .. } => vec![expected, new],
            Update::Swap { new } => vec![new],
            Update::Add { by, .. } | Update::Bits { by, .. } => vec![by],
        },
        Op::Free { cell, .. } => vec![cell],
        Op::SectionEnd { index, .. } => index.iter_mut().collect(),
        Op::Load { .. }
        | Op::Drain(_)
        | Op::Skip
        | Op::Choose { .. }
        | Op::Fence(_)
        | Op::New { .. }
        | Op::Leave
        | Op::AtomicBegin
        | Op::AtomicEnd
        | Op::Invoke { .. }
        | Op::Return { .. }
        | Op::Join
        | Op::SectionBegin { .. }
        | Op::GracePeriod { .. }
        | Op::Halt => Vec::new(),
    }
}

/// Returns the registers that an operation reads, each once, in order of first use.
pub fn uses(op: &Op) -> Vec<Reg> {
    let mut found = Vec::new();
    for_each_expr(op, &mut |expr| {
        expr.for_each_var(&mut |reg| {
            if !found.contains(reg) {
                found.push(*reg);
            }
        });
    });
    found
}

/// Returns for each program counter the registers that are dead there. The registers in
/// `live_at_end` are live when the thread halts.
pub fn dead_registers(thread: &Thread, live_at_end: &[Reg]) -> Vec<Vec<Reg>> {
    let dead =
        |live: &Vec<bool>| (0..live.len()).filter(|reg| !live[*reg]).map(Reg::from_index).collect();
    live_registers(thread, &[], live_at_end).iter().map(dead).collect()
}

/// Returns for each program counter and register whether the register is live there. The registers
/// in `always_live` and those of [sections](grace_period::registers) are live everywhere, those in
/// `live_at_end` when the thread halts.
pub fn live_registers(thread: &Thread, always_live: &[Reg], live_at_end: &[Reg]) -> Vec<Vec<bool>> {
    let registers = thread.registers.len();
    let sections = grace_period::registers(thread);
    let mut live = vec![vec![false; registers]; thread.code.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..thread.code.len()).rev() {
            let stmt = &thread.code[at];
            let mut now = vec![false; registers];
            if matches!(stmt.op, Op::Halt) {
                live_at_end.iter().for_each(|reg| now[reg.index()] = true);
            }
            for next in successors(stmt) {
                now.iter_mut().zip(&live[next.index()]).for_each(|(here, after)| *here |= after);
            }
            if let Some(reg) = stmt.op.target() {
                now[reg.index()] = false;
            }
            always_live.iter().chain(&sections).for_each(|reg| now[reg.index()] = true);
            uses(&stmt.op).iter().for_each(|reg| now[reg.index()] = true);
            if now != live[at] {
                live[at] = now;
                changed = true;
            }
        }
    }
    live
}

/// Returns for each statement whether it is in an `atomic` block. With `init`, the code is the
/// `init` block, and all statements count.
pub fn atomic_statements(thread: &Thread, init: bool) -> Vec<bool> {
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
        open.extend(successors(stmt).map(|next| (next, inside)));
    }
    atomic
}

/// Returns for each program counter whether the thread may still free a record.
pub fn may_free(thread: &Thread) -> Vec<bool> {
    let predecessors = predecessors(thread);
    let mut found = vec![false; thread.code.len()];
    let frees = |(at, stmt): (usize, &Stmt)| matches!(stmt.op, Op::Free { .. }).then_some(at);
    let mut open: Vec<usize> = thread.code.iter().enumerate().filter_map(frees).collect();
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut found[at], true) {
            open.extend(predecessors[at].iter().map(|pc| pc.index()));
        }
    }
    found
}

/// Returns for each program counter whether the thread may wait forever from there: some path
/// without a store or an allocation is infinite, or ends at a statement that can block the thread.
///
/// Direction: over-approximation. An update or an `atomic` block need not change memory, so it is
/// passed like a load.
pub fn may_wait_forever(thread: &Thread) -> Vec<bool> {
    let changes_memory = |op: &Op| match op {
        Op::Store { .. } | Op::New { .. } | Op::Free { .. } | Op::Halt => true,
        Op::Skip
        | Op::Assign { .. }
        | Op::Choose { .. }
        | Op::Load { .. }
        | Op::Update { .. }
        | Op::Fence(_)
        | Op::Drain(_)
        | Op::Branch { .. }
        | Op::Assume(_)
        | Op::Assert(_)
        | Op::Leave
        | Op::AtomicBegin
        | Op::AtomicEnd
        | Op::Invoke { .. }
        | Op::Return { .. }
        | Op::Join
        | Op::SectionBegin { .. }
        | Op::SectionEnd { .. }
        | Op::GracePeriod { .. } => false,
    };
    let can_block =
        |op: &Op| matches!(op, Op::AtomicBegin | Op::Assume(_) | Op::Join | Op::GracePeriod { .. });
    // The greatest set of statements that block or have a successor in the set.
    let mut waits: Vec<bool> = thread.code.iter().map(|stmt| !changes_memory(&stmt.op)).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (at, stmt) in thread.code.iter().enumerate().rev() {
            let stays = can_block(&stmt.op) || successors(stmt).any(|next| waits[next.index()]);
            if waits[at] && !stays {
                waits[at] = false;
                changed = true;
            }
        }
    }
    waits
}
