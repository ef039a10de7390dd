//! Uses of values that were never written.
//!
//! A use is a fault. Global and `static` variables are 0 at first, and so is memory of `calloc`.
//!
//! - A variable in a register: lowering follows the paths of the code. Where the variable has no
//!   value on any path, a use fails. Where it has a value on some paths only, a register of its own
//!   says whether it has one; the next pass adds the register ([`Plan::flagged`]).
//! - A variable or a part of an allocated object in memory: its location starts with a number that
//!   no value of its type has ([`marker`]). A load of this number is a fault, because the number is
//!   outside of the range of the register. This needs no statement and no further state.
//!
//! Copies of whole records, `memcpy` and `realloc` may copy parts without a value. The copies count
//! as 0, those of pointers as pointers without a value. A variable in memory that begins to live again, in a loop, has its old value; so fewer
//! faults are found there.
//!
//! A pointer in memory starts with a number that is no address ([`NO_POINTER`]). This is right only
//! if no integer becomes such a pointer. So pointers have no mark in a program that converts
//! integers with 64 bits to pointers, other than small constants and pointers that were converted to
//! integers, or that accesses pointers as integers ([`Effects::marks_pointers`]). There, and for
//! integers with 64 bits, which have no number to spare, a scalar in memory is 0 at first, and its
//! use is no fault. A compare-and-exchange of a pointer without a value whose old value is not used
//! fails and is no fault.
//!
//! [`Plan::flagged`]: super::plan::Plan::flagged
//! [`Effects::marks_pointers`]: super::effects::Effects::marks_pointers

use fencepost_ir::{BinOp, Expr, Fault, Reg, Span, Value};

use super::arithmetic::{Val, binary, select};
use super::effects::Writes;
use super::layout::{Scalar, limits};
use super::places::Cell;
use super::plan::ObjectId;
use super::thread::{Lowerer, Slot};
use crate::c::typed::IntType;

/// What is known about a register without a value on some path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unset {
    /// It has no value on every path.
    Always,
    /// It has no value on some paths.
    Sometimes,
}

/// A variable in a register, in all copies of its function: the function, the number of the
/// variable, and the number of the scalar.
pub(super) type VariableKey = (u32, u32, u32);

/// The number that stands for no value in a location with a pointer. No object has this address, and
/// no integer of 32 bits that is converted to a pointer is as small.
const NO_POINTER: Value = i32::MIN as Value - 1;

/// Returns the number that stands for no value in a location of an integer type, if there is one.
pub(super) fn marker(ty: IntType) -> Option<Value> {
    (ty.bits < 64).then(|| limits(ty).1 + 1)
}

/// Returns the number that stands for no value in the location of a scalar, if there is one.
pub(super) fn scalar_marker(scalar: &Scalar, marks_pointers: bool) -> Option<Value> {
    match scalar.is_pointer {
        true => marks_pointers.then_some(NO_POINTER),
        false => marker(scalar.ty),
    }
}

/// Returns the range of a register for a loaded value that is not a mark.
pub(super) fn written_range(ty: IntType) -> (Value, Value) {
    match ty.bits {
        64 => (NO_POINTER + 1, Value::MAX),
        _ => limits(ty),
    }
}

impl Lowerer<'_, '_> {
    /// Notes that a variable of the current function begins to live without a value.
    pub(super) fn note_unset(&mut self, local: u32, span: Span) {
        let function = self.frame().id.0;
        let registers: Vec<Reg> = match self.frame().slots.get(local as usize) {
            Some(Slot::Register(reg, _)) => vec![*reg],
            Some(Slot::Object(id)) => self.held.get(id).cloned().unwrap_or_default(),
            Some(Slot::None) | None => return,
        };
        for (number, reg) in registers.into_iter().enumerate() {
            let key = (function, local, number as u32);
            self.unset_variables.insert(reg, key);
            self.flags.remove(&reg);
            if self.pass.plan.flagged.contains(&key) {
                let ty = fencepost_ir::Type::Int { range: Some((0, 1)) };
                let flag = self.code.temporary(ty);
                self.flags.insert(reg, flag);
                self.assign(flag, Expr::Const(0), span, key.2);
            }
            if let Some(state) = &mut self.state {
                state.unset.insert(reg, Unset::Always);
            }
        }
    }

    /// Notes that a register has a value.
    pub(super) fn note_set(&mut self, reg: Reg, span: Span) {
        if let Some(state) = &mut self.state {
            state.unset.remove(&reg);
        }
        if let Some(flag) = self.flags.get(&reg).copied() {
            self.assign(flag, Expr::Const(1), span, 0);
        }
    }

    /// Forgets a register whose variable is out of scope.
    pub(super) fn forget_unset(&mut self, reg: Reg) {
        self.unset_variables.remove(&reg);
        self.flags.remove(&reg);
        if let Some(state) = &mut self.state {
            state.unset.remove(&reg);
        }
    }

    /// Returns whether a variable in registers may have no value here.
    pub(super) fn may_be_unset(&self, slot: Slot) -> bool {
        let Some(state) = &self.state else { return false };
        match slot {
            Slot::Register(reg, _) => state.unset.contains_key(&reg),
            Slot::Object(id) => self.is_object_unset(id),
            Slot::None => false,
        }
    }

    fn is_object_unset(&self, id: ObjectId) -> bool {
        let registers = self.held.get(&id).into_iter().flatten();
        let state = self.state.as_ref();
        registers.into_iter().any(|reg| state.is_some_and(|state| state.unset.contains_key(reg)))
    }

    /// Checks that a register has a value.
    pub(super) fn require_set(&mut self, reg: Reg, span: Span) {
        let found = self.state.as_ref().and_then(|state| state.unset.get(&reg).copied());
        let Some(found) = found else { return };
        let kind = "uninitialised";
        match (found, self.flags.get(&reg)) {
            (Unset::Always, _) => {
                self.require(Expr::Const(0), Fault::Uninitialised, span, kind);
            }
            (Unset::Sometimes, Some(flag)) => {
                let flag = self.register_value(*flag);
                let is_set = binary(BinOp::Eq, flag, Expr::Const(1));
                self.require(is_set, Fault::Uninitialised, span, kind);
                if let Some(state) = &mut self.state {
                    state.unset.remove(&reg);
                }
            }
            (Unset::Sometimes, None) => {
                if let Some(key) = self.unset_variables.get(&reg) {
                    self.pass.next.flagged.insert(*key);
                }
            }
        }
    }

    /// Forgets where a loop may have given a variable its value.
    pub(super) fn forget_where_set(&mut self, writes: &Writes) {
        let unset: Vec<Reg> = self.state.iter().flat_map(|s| s.unset.keys().copied()).collect();
        for reg in unset {
            let Some((_, local, _)) = self.unset_variables.get(&reg) else { continue };
            let may_change = writes.others || writes.locals.contains(local);
            if let (true, Some(state)) = (may_change, &mut self.state) {
                state.unset.insert(reg, Unset::Sometimes);
                self.flags.get(&reg).map(|flag| state.registers.remove(flag));
            }
        }
    }

    /// Notes that control may come from elsewhere: every variable may have no value.
    pub(super) fn forget_all_set(&mut self) {
        if let Some(state) = &mut self.state {
            state.unset = self.unset_variables.keys().map(|reg| (*reg, Unset::Sometimes)).collect();
            state.registers.retain(|reg, _| !self.flags.values().any(|flag| flag == reg));
        }
    }

    /// Returns whether a cell with a value of a type may contain the marker.
    pub(super) fn may_have_marker(&self, cell: &Cell, ty: IntType) -> bool {
        let is_marked = match (ty.bits, cell) {
            (64, Cell::Memory { is_pointer, .. }) => {
                *is_pointer && self.pass.effects.marks_pointers()
            }
            // A location with both signs has no marker.
            (bits, _) => bits < 64 && !self.pass.plan.mixed_signs.contains(&bits),
        };
        is_marked
            && match cell {
                Cell::Memory { scalar: Some((id, _)), .. } => {
                    matches!(id, ObjectId::Local(..) | ObjectId::Cell(..))
                }
                Cell::Memory { scalar: None, .. } => true,
                Cell::Register(..) | Cell::Value(_) | Cell::Part(..) => false,
            }
    }

    /// Returns a value of a copy: 0 instead of the marker.
    pub(super) fn without_marker(&self, value: Val, ty: IntType) -> Val {
        match marker(ty) {
            None => value,
            Some(marker) => {
                let is_unset = binary(BinOp::Eq, value.clone(), Expr::Const(marker));
                select(is_unset, Expr::Const(0), value)
            }
        }
    }
}
