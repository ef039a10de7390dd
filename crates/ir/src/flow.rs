//! Control flow of one thread: successors, register uses, liveness.
//!
//! Liveness tells which registers can still be read. A register that cannot may be cleared without
//! changing any behaviour, which merges states that differ only in garbage.

use crate::expr::Expr;
use crate::ids::{Pc, Reg};
use crate::op::{Address, Op, Update};
use crate::program::{Stmt, Thread};

/// The program counters that may follow a statement.
pub fn successors(stmt: &Stmt) -> impl Iterator<Item = Pc> + use<> {
    let (first, second) = if let Op::Branch { then, otherwise, .. } = stmt.op {
        (Some(then), Some(otherwise))
    } else {
        (stmt.op.goes_on().then_some(stmt.next), None)
    };
    first.into_iter().chain(second)
}

/// For each program counter, the statements that may come directly before it.
pub fn ways_in(thread: &Thread) -> Vec<Vec<Pc>> {
    let mut ways = vec![Vec::new(); thread.code.len()];
    for (at, stmt) in thread.code.iter().enumerate() {
        for next in successors(stmt) {
            ways[next.index()].push(Pc::from_index(at));
        }
    }
    ways
}

/// Calls `visit` on every expression of an operation: address first (cell, then index), then values.
pub fn for_each_expr<'a>(op: &'a Op, visit: &mut impl FnMut(&'a Expr<Reg>)) {
    let address = |at: &'a Address, visit: &mut dyn FnMut(&'a Expr<Reg>)| {
        if let Some((_, cell)) = &at.cell {
            visit(cell);
        }
        if let Some((_, index)) = &at.index {
            visit(index);
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
                Update::Cas { expected, new } => {
                    visit(expected);
                    visit(new);
                }
                Update::Swap { new } => visit(new),
                Update::Add { by } | Update::Bits { by, .. } => visit(by),
            }
        }
        Op::Drain(at) => address(at, visit),
        Op::Branch { cond, .. } | Op::Assume(cond) | Op::Assert(cond) => visit(cond),
        Op::Free { cell, .. } => visit(cell),
        Op::Skip
        | Op::Choose { .. }
        | Op::Fence(_)
        | Op::New { .. }
        | Op::Leave
        | Op::AtomicBegin
        | Op::AtomicEnd
        | Op::Invoke { .. }
        | Op::Return { .. }
        | Op::Halt => {}
    }
}

/// The registers an operation reads, each once, in order of first use.
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

/// For each program counter, the registers that are dead when a thread is there: whatever they hold
/// is never read again. Those of `kept` are read when the thread has halted.
pub fn dead_registers(thread: &Thread, kept: &[Reg]) -> Vec<Vec<Reg>> {
    let dead =
        |live: &Vec<bool>| (0..live.len()).filter(|reg| !live[*reg]).map(Reg::from_index).collect();
    live_registers(thread, &[], kept).iter().map(dead).collect()
}

/// For each program counter, whether each register's value there can still be read. Those of `always` can everywhere;
/// those of `kept` are read in the end.
pub fn live_registers(thread: &Thread, always: &[Reg], kept: &[Reg]) -> Vec<Vec<bool>> {
    let registers = thread.registers.len();
    let mut live = vec![vec![false; registers]; thread.code.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..thread.code.len()).rev() {
            let stmt = &thread.code[at];
            let mut now = vec![false; registers];
            if matches!(stmt.op, Op::Halt) {
                kept.iter().for_each(|reg| now[reg.index()] = true);
            }
            for next in successors(stmt) {
                now.iter_mut().zip(&live[next.index()]).for_each(|(here, after)| *here |= after);
            }
            if let Some(reg) = stmt.op.target() {
                now[reg.index()] = false;
            }
            always.iter().for_each(|reg| now[reg.index()] = true);
            uses(&stmt.op).iter().for_each(|reg| now[reg.index()] = true);
            if now != live[at] {
                live[at] = now;
                changed = true;
            }
        }
    }
    live
}
