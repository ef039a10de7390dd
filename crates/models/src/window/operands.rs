//! The operands of an access: its location and values, as far as they are known.

use super::Operand;
use crate::address::locate;
use crate::shape::Shape;
use fencepost_ir::{Address, Expr, Fault, Loc, Pc, Reg, ThreadId, Value};

/// Returns the location of an access with these operands. `None` if its address is unknown.
#[inline]
pub(crate) fn location_of(
    shape: &Shape<'_>,
    t: ThreadId,
    pc: Pc,
    address: &Address,
    operands: &[Operand],
) -> Option<Result<Loc, Fault>> {
    if let Some(loc) = address.as_fixed() {
        return Some(Ok(loc));
    }
    let uses = &shape.thread(t).uses[pc.index()];
    let ready = operands.iter().all(|operand| matches!(operand, Operand::Value(_)));
    if !ready && !address_exprs(address).all(|e| is_known(e, uses, operands)) {
        return None;
    }
    Some(locate(shape, address, &|reg| value_of(uses, operands, *reg)))
}

pub(crate) fn address_exprs(address: &Address) -> impl Iterator<Item = &Expr<Reg>> {
    let cell = address.cell.as_ref().map(|(_, e)| e);
    let index = address.index.as_ref().map(|(_, e)| e);
    let pointer = address.pointer.as_ref().map(|pointer| &pointer.value);
    cell.into_iter().chain(index).chain(pointer)
}

pub(crate) fn operand(uses: &[Reg], operands: &[Operand], reg: Reg) -> Operand {
    let at = uses.iter().position(|r| *r == reg).expect("the register is a use of the statement");
    operands[at]
}

pub(crate) fn is_known(expr: &Expr<Reg>, uses: &[Reg], operands: &[Operand]) -> bool {
    let mut known = true;
    expr.for_each_var(&mut |reg| {
        known &= matches!(operand(uses, operands, *reg), Operand::Value(_));
    });
    known
}

pub(crate) fn value_of(uses: &[Reg], operands: &[Operand], reg: Reg) -> Value {
    match operand(uses, operands, reg) {
        Operand::Value(value) => value,
        Operand::ProducedBy(_) => unreachable!("an operand is read only when its value is known"),
    }
}
