//! Address evaluation: from an address expression to a location, with the checks that are always
//! on.

use crate::shape::Shape;
use crate::state::Memory;
use fencepost_ir::{Address, BinOp, CasResult, Fault, Loc, Reg, Update, Value, wrap_into};

/// Returns the location of an address; `read` returns the value of a register. A null reference or
/// an index outside its array is a fault.
#[inline]
pub fn locate(
    shape: &Shape<'_>,
    address: &Address,
    read: &impl Fn(&Reg) -> Value,
) -> Result<Loc, Fault> {
    if let Some(base) = address.as_fixed() {
        return Ok(base);
    }
    locate_computed(shape, address, read)
}

fn locate_computed(
    shape: &Shape<'_>,
    address: &Address,
    read: &dyn Fn(&Reg) -> Value,
) -> Result<Loc, Fault> {
    if let Some(pointer) = &address.pointer {
        return pointer.locate(pointer.value.eval(&read)?);
    }
    let mut loc = address.base.0;
    if let Some((pool, cell)) = &address.cell {
        let reference = cell.eval(&read)?;
        if reference == 0 {
            return Err(Fault::NullReference);
        }
        loc += (reference as u32 - 1) * shape.program().pool(*pool).stride;
    }
    if let Some((len, index)) = &address.index {
        let index = index.eval(&read)?;
        let inside = u32::try_from(index).ok().filter(|at| at < len);
        loc += inside.ok_or(Fault::OutOfBounds)?;
    }
    Ok(Loc(loc))
}

/// Returns a fault if the location belongs to a record that is not allocated.
#[inline]
pub(crate) fn check_allocated(shape: &Shape<'_>, memory: &Memory, loc: Loc) -> Result<(), Fault> {
    match shape.cell[loc.index()] {
        Some(cell) if !memory.allocated[cell as usize] => Err(shape.program().access_fault(loc)),
        _ => Ok(()),
    }
}

/// Returns a fault if a value is outside the range of its type.
#[inline]
pub(crate) fn check_limits(limits: Option<(Value, Value)>, value: Value) -> Result<Value, Fault> {
    match limits {
        Some((lo, hi)) if value < lo || value > hi => Err(Fault::OutOfRange),
        _ => Ok(value),
    }
}

/// Applies an update to a location that holds `old`. Returns the value to write (`None`: nothing is
/// written) and the result of the update.
pub(crate) fn apply_update(
    update: &Update,
    old: Value,
    read: &dyn Fn(&Reg) -> Value,
) -> Result<(Option<Value>, Value), Fault> {
    Ok(match update {
        Update::Cas { expected, new, result } => {
            let (expected, new) = (expected.eval(&read)?, new.eval(&read)?);
            let succeeds = old == expected;
            let yields = match result {
                CasResult::Success => Value::from(succeeds),
                CasResult::Old => old,
            };
            (succeeds.then_some(new), yields)
        }
        Update::Swap { new } => (Some(new.eval(&read)?), old),
        Update::Add { by, wrap: Some(range) } => {
            let sum = i128::from(old) + i128::from(by.eval(&read)?);
            (Some(wrap_into(sum, *range)), old)
        }
        Update::Add { by, wrap: None } => (Some(BinOp::Add.apply(old, by.eval(&read)?)?), old),
        Update::Bits { op, by } => (Some(op.apply(old, by.eval(&read)?)?), old),
    })
}

/// Returns an update whose sum is not wrapped. Only for the mutation of that name.
pub(crate) fn without_wrap(update: &Update) -> Update {
    match update {
        Update::Add { by, .. } => Update::Add { by: by.clone(), wrap: None },
        Update::Cas { .. } | Update::Swap { .. } | Update::Bits { .. } => update.clone(),
    }
}
