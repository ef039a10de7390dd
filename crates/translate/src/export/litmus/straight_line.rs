//! Lists the statements of a straight-line thread.
//!
//! Atomic blocks are resolved. A block that reads and writes one location becomes an update. A
//! block with a single load or a single store becomes an access that is ordered in both directions,
//! by fences or by an update.

use super::ErrorFor;
use crate::{Unsupported, UnsupportedInLitmus};
use fencepost_ir::{
    Address, BinOp, Expr, FenceKinds, Label, MemoryOp, Op, Pc, Reg, Stmt, Thread, Update, flow,
};

/// A statement of a straight-line thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct StraightStmt {
    /// The source statement.
    pub(super) label: Label,
    /// The operation.
    pub(super) op: Op,
    /// Whether the statement is an update from an atomic block, which drains all pending stores, as
    /// on x86.
    pub(super) drains: bool,
}

/// Returns the statements from the beginning to the end of a thread.
pub(super) fn straight_line(
    thread: &Thread,
    error_for: ErrorFor<'_>,
) -> Result<Vec<StraightStmt>, Unsupported> {
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
                let (label, inside) =
                    block.take().expect("an `AtomicEnd` follows an `AtomicBegin`");
                lines.extend(
                    resolve_block(label, &inside)
                        .ok_or_else(|| error_for(label, UnsupportedInLitmus::Block))?,
                );
            }
            Op::Branch { .. } => {
                return Err(error_for(stmt.label, UnsupportedInLitmus::Branches));
            }
            Op::Join | Op::SectionBegin { .. } | Op::SectionEnd { .. } | Op::GracePeriod { .. } => {
                unreachable!("`Unsupported::check` rejects these programs")
            }
            // These operations have no effect on memory.
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
                    lines.push(StraightStmt { label, op, drains: false });
                }
            },
        }
    }
    let first = thread.stmt(pc).label;
    Err(error_for(first, UnsupportedInLitmus::Loops))
}

/// Returns an atomic block as statements outside of a block, if possible.
fn resolve_block(label: Label, block: &[&Stmt]) -> Option<Vec<StraightStmt>> {
    let line = |label, op, drains| StraightStmt { label, op, drains };
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
            let update =
                (from == to && is_independent_of(from, *reg)).then(|| update(*reg, value))??;
            let op = Op::Update { reg: Some(*reg), at: to.clone(), update };
            vec![line(second.label, op, true)]
        }
        _ => return None,
    })
}

/// Returns whether an address does not depend on a register.
fn is_independent_of(at: &Address, reg: Reg) -> bool {
    !flow::uses(&Op::Drain(at.clone())).contains(&reg)
}

/// Returns the update that stores `value` after the old value was loaded into register `old`, if
/// there is one.
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
        BinOp::Add => Some(Update::Add { by, wrap: None }),
        BinOp::Sub => {
            let by = Expr::Const(by.as_const()?.checked_neg()?);
            Some(Update::Add { by, wrap: None })
        }
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
        | BinOp::Shr
        | BinOp::Wide(_) => None,
    }
}
