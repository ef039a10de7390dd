//! Removes statements without effect from the code of a thread.
//!
//! Constants are used directly, so most assignments of constants are dead. An address in a dead
//! assignment is no value that a pointer can have.

use fencepost_ir::{Label, Op, Pc, Thread, flow};

use super::arithmetic::can_fault;
use super::aux;

/// The largest product of statements and registers for which dead assignments are looked for.
const MAX_WORK: usize = 30_000_000;

/// Removes dead assignments and `skip`s, except those that mark places.
pub(super) fn clean(thread: &mut Thread, is_place: &dyn Fn(Label) -> bool) {
    for _ in 0..4 {
        if thread.code.len() * thread.registers.len() > MAX_WORK {
            break;
        }
        let live = flow::live_registers(thread, &[], &[]);
        let mut changed = false;
        for stmt in &mut thread.code {
            let is_dead = |reg: fencepost_ir::Reg| !live[stmt.next.index()][reg.index()];
            let removed = match &stmt.op {
                Op::Assign { reg, expr } => is_dead(*reg) && !can_fault(expr),
                op @ Op::Load { reg, .. } => aux::is_load(op) && is_dead(*reg),
                _ => false,
            };
            if removed {
                stmt.op = Op::Skip;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    compact(thread, is_place);
}

/// Removes `skip`s, except those that mark places.
pub(super) fn compact(thread: &mut Thread, is_place: &dyn Fn(Label) -> bool) {
    let is_removed = |at: usize| {
        let stmt = &thread.code[at];
        stmt.op == Op::Skip && !is_place(stmt.label)
    };
    // The first statement with an effect from each position. A loop of `skip`s keeps one of them.
    let resolve = |start: Pc| {
        let mut at = start;
        for _ in 0..thread.code.len() {
            if !is_removed(at.index()) || thread.code[at.index()].next == at {
                return at;
            }
            at = thread.code[at.index()].next;
        }
        at
    };
    let entry = resolve(Pc(0));
    let mut number: Vec<Option<usize>> = vec![None; thread.code.len()];
    let mut order: Vec<Pc> = Vec::new();
    let mut pending = vec![entry];
    let mut reachable = vec![false; thread.code.len()];
    while let Some(pc) = pending.pop() {
        if !std::mem::replace(&mut reachable[pc.index()], true) {
            pending.extend(flow::successors(thread.stmt(pc)).map(&resolve));
        }
    }
    order.push(entry);
    let others = (0..thread.code.len()).filter(|at| reachable[*at] && *at != entry.index());
    order.extend(others.map(Pc::from_index));
    for (at, pc) in order.iter().enumerate() {
        number[pc.index()] = Some(at);
    }
    let renamed = |pc: Pc| Pc::from_index(number[resolve(pc).index()].unwrap_or(0));
    let code = order
        .iter()
        .map(|pc| {
            let mut stmt = thread.stmt(*pc).clone();
            match &mut stmt.op {
                Op::Branch { then, otherwise, .. } => {
                    *then = renamed(*then);
                    *otherwise = renamed(*otherwise);
                }
                op if op.falls_through() => stmt.next = renamed(stmt.next),
                _ => {}
            }
            stmt
        })
        .collect();
    thread.code = code;
}

/// Removes registers that no statement mentions.
pub(super) fn remove_unused_registers(thread: &mut Thread) {
    let mut used = vec![false; thread.registers.len()];
    for stmt in &thread.code {
        flow::uses(&stmt.op).into_iter().chain(stmt.op.target()).for_each(|reg| {
            used[reg.index()] = true;
        });
    }
    let mut renamed = Vec::with_capacity(used.len());
    let mut count = 0;
    for is_used in &used {
        renamed.push(fencepost_ir::Reg::from_index(count));
        count += usize::from(*is_used);
    }
    let mut at = 0;
    thread.registers.retain(|_| {
        at += 1;
        used[at - 1]
    });
    for stmt in &mut thread.code {
        rename(&mut stmt.op, &|reg| renamed[reg.index()]);
    }
}

fn rename(op: &mut Op, renamed: &dyn Fn(fencepost_ir::Reg) -> fencepost_ir::Reg) {
    use fencepost_ir::{Address, Expr, Reg, Update};
    let expr = |expr: &mut Expr<Reg>| expr.for_each_var_mut(&mut |reg| *reg = renamed(*reg));
    let address = |at: &mut Address| {
        if let Some((_, cell)) = &mut at.cell {
            expr(cell);
        }
        if let Some((_, index)) = &mut at.index {
            expr(index);
        }
        if let Some(pointer) = &mut at.pointer {
            expr(&mut pointer.value);
        }
    };
    match op {
        Op::Assign { reg, expr: value } => {
            *reg = renamed(*reg);
            expr(value);
        }
        Op::Choose { reg, .. } | Op::New { reg, .. } => *reg = renamed(*reg),
        Op::Load { reg, from } => {
            *reg = renamed(*reg);
            address(from);
        }
        Op::Store { to, value } => {
            address(to);
            expr(value);
        }
        Op::Update { reg, at, update } => {
            *reg = reg.map(renamed);
            address(at);
            match update {
                Update::Cas { expected, new, .. } => {
                    expr(expected);
                    expr(new);
                }
                Update::Swap { new } => expr(new),
                Update::Add { by, .. } | Update::Bits { by, .. } => expr(by),
            }
        }
        Op::Drain(at) => address(at),
        Op::Branch { cond, .. } | Op::Assume(cond) | Op::Assert(cond) => expr(cond),
        Op::Free { cell, .. } => expr(cell),
        // Lowering emits none of the others with registers.
        Op::Skip
        | Op::Fence(_)
        | Op::Leave
        | Op::AtomicBegin
        | Op::AtomicEnd
        | Op::Invoke { .. }
        | Op::Return { .. }
        | Op::Join
        | Op::SectionBegin { .. }
        | Op::SectionEnd { .. }
        | Op::GracePeriod { .. }
        | Op::Halt => {}
    }
}
