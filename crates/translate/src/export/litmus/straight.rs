//! The statements of a thread one after another, where there is only one way through it.
//!
//! Atomic blocks are gone afterwards. One that reads and writes one location is an update; one that only loads, or
//! only stores, is an access that nothing overtakes in either direction, which fences say as well.

use super::Refuse;
use crate::{NoLitmus, Unsupported};
use fencepost_ir::{
    Address, BinOp, Expr, FenceKinds, Label, MemoryOp, Op, Pc, Reg, Stmt, Thread, Update, flow,
};

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Line {
    /// Which source statement it is.
    pub(super) label: Label,
    /// What it does.
    pub(super) op: Op,
    /// Whether it is an update that the program wrote as an atomic block: it drains everything, as x86 does.
    pub(super) drains: bool,
}

/// The statements from the beginning to the end.
pub(super) fn straight(thread: &Thread, refuse: Refuse<'_>) -> Result<Vec<Line>, Unsupported> {
    let mut lines = Vec::new();
    let mut block: Option<(Label, Vec<&Stmt>)> = None;
    let mut pc = Pc(0);
    for _ in 0..=thread.code.len() {
        let stmt = thread.stmt(pc);
        pc = stmt.next;
        match &stmt.op {
            Op::Halt => return Ok(lines),
            Op::AtomicBegin => block = Some((stmt.label, Vec::new())),
            Op::AtomicEnd => {
                let (label, inside) = block.take().expect("a block that ends has begun");
                lines.extend(
                    indivisible(label, &inside).ok_or_else(|| refuse(label, NoLitmus::Block))?,
                );
            }
            Op::Branch { .. } => {
                return Err(refuse(stmt.label, NoLitmus::Branches));
            }
            // About critical sections and operations of clients: nothing that memory would notice.
            Op::Skip | Op::Leave | Op::Invoke { .. } | Op::Return { .. } => {}
            Op::Assign { .. }
            | Op::Choose { .. }
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Update { .. }
            | Op::Fence(_)
            | Op::Drain(_)
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::New { .. }
            | Op::Free { .. } => match &mut block {
                Some((_, inside)) => inside.push(stmt),
                None => {
                    let (label, op) = (stmt.label, stmt.op.clone());
                    lines.push(Line { label, op, drains: false });
                }
            },
        }
    }
    let first = thread.stmt(pc).label;
    Err(refuse(first, NoLitmus::Loops))
}

/// An atomic block as statements outside of one, where there are such.
fn indivisible(label: Label, block: &[&Stmt]) -> Option<Vec<Line>> {
    let line = |label, op, drains| Line { label, op, drains };
    Some(match block {
        [] => vec![line(label, Op::Fence(FenceKinds::FULL), false)],
        [one] => match one.op.memory()? {
            MemoryOp::Update { .. } => vec![line(one.label, one.op.clone(), true)],
            MemoryOp::Store { to, value } => {
                let update = Update::Swap { new: value.clone() };
                vec![line(one.label, Op::Update { reg: None, at: to.clone(), update }, true)]
            }
            MemoryOp::Load { .. } => {
                let after = FenceKinds::LOAD_LOAD.union(FenceKinds::LOAD_STORE);
                vec![
                    line(label, Op::Fence(FenceKinds::FULL), false),
                    line(one.label, one.op.clone(), false),
                    line(label, Op::Fence(after), false),
                ]
            }
            MemoryOp::Fence(_) | MemoryOp::Drain(_) => return None,
        },
        [first, second] => {
            let (Op::Load { reg, from }, Op::Store { to, value }) = (&first.op, &second.op) else {
                return None;
            };
            let update = (from == to && needs_no(from, *reg)).then(|| update(*reg, value))??;
            let op = Op::Update { reg: Some(*reg), at: to.clone(), update };
            vec![line(second.label, op, true)]
        }
        _ => return None,
    })
}

/// Whether an address is the same before and after the register changes.
fn needs_no(at: &Address, reg: Reg) -> bool {
    !flow::uses(&Op::Drain(at.clone())).contains(&reg)
}

/// What a store does to what was loaded into a register.
fn update(old: Reg, value: &Expr<Reg>) -> Option<Update> {
    if !super::mentions(value, old) {
        return Some(Update::Swap { new: value.clone() });
    }
    let Expr::Binary(op, a, b) = value else { return None };
    let by = match (a.as_ref(), b.as_ref(), op) {
        (Expr::Var(reg), by, _) if *reg == old => by,
        (by, Expr::Var(reg), BinOp::Add | BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor)
            if *reg == old =>
        {
            by
        }
        _ => return None,
    };
    if super::mentions(by, old) {
        return None;
    }
    let by = by.clone();
    match op {
        BinOp::Add => Some(Update::Add { by }),
        BinOp::Sub => by.as_const()?.checked_neg().map(|by| Update::Add { by: Expr::Const(by) }),
        BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => Some(Update::Bits { op: *op, by }),
        BinOp::Mul
        | BinOp::Div
        | BinOp::Rem
        | BinOp::Eq
        | BinOp::Ne
        | BinOp::Lt
        | BinOp::Le
        | BinOp::Gt
        | BinOp::Ge
        | BinOp::And
        | BinOp::Or
        | BinOp::Shl
        | BinOp::Shr => None,
    }
}
