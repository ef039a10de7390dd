//! Reads and writes registers.
//!
//! A register is *wide* if an instruction writes all 64 bits of it. It then holds a signed number of
//! 64 bits, and a write of the low half clears the high half. Other registers hold the signed number
//! of the low half, as herd prints it. Their high half is 0.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_ir::{BinOp, Expr, Reg, Value};

use super::super::super::wrap::{low_32_bits, of_width};
use super::super::ast::{Column, ExtendedRegister};
use super::super::registers::{Register, full_name};
use super::{Lowerer, binary};

/// What a register that is written holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RegisterClass {
    /// A number of 64 bits.
    Wide,
    /// A number of 32 bits. The high half is 0.
    Narrow,
}

/// Classifies the registers that an instruction of the column writes. `init` are the initial values.
pub(super) fn classes(column: &Column, init: &BTreeMap<u8, Value>) -> BTreeMap<u8, RegisterClass> {
    let (mut read_wide, mut classes) = (BTreeSet::new(), BTreeMap::new());
    for instruction in column.instructions() {
        instruction.operation.for_each_read(&mut |register| {
            read_wide.extend(register.number.filter(|_| register.is_wide));
        });
        instruction.operation.for_each_write(&mut |register| {
            let Some(number) = register.number else { return };
            if register.is_wide {
                classes.insert(number, RegisterClass::Wide);
            } else {
                classes.entry(number).or_insert(RegisterClass::Narrow);
            }
        });
    }
    if column.incomplete {
        // Invalid instructions may write registers.
        (0..=30).for_each(|number| {
            classes.entry(number).or_insert(RegisterClass::Wide);
        });
    }
    for (number, class) in &mut classes {
        let init = init.get(number).copied().unwrap_or(0);
        let has_high_half = !(0..=Value::from(i32::MAX)).contains(&init);
        let is_32_bit = init == Value::from(init as i32);
        if has_high_half && (read_wide.contains(number) || !is_32_bit) {
            *class = RegisterClass::Wide;
        }
    }
    classes
}

/// Returns the low half of a value as an unsigned number.
fn zero_extended(value: Expr<Reg>) -> Expr<Reg> {
    binary(BinOp::BitAnd, value, Expr::Const(u32::MAX.into()))
}

impl Lowerer<'_> {
    /// Returns the value of a register, as a signed number.
    pub(super) fn read(&mut self, register: Register) -> Expr<Reg> {
        let Some(number) = register.number else { return Expr::Const(0) };
        let Some(class) = self.classes.get(&number).copied() else {
            let value = self.constants.get(&number).copied().unwrap_or(0);
            return Expr::Const(if register.is_wide { value } else { (value as i32).into() });
        };
        let whole = Expr::Var(self.asm.register(&full_name(number)));
        match (class, register.is_wide) {
            (RegisterClass::Wide, true) | (RegisterClass::Narrow, false) => whole,
            (RegisterClass::Wide, false) => low_32_bits(whole),
            (RegisterClass::Narrow, true) => zero_extended(whole),
        }
    }

    /// Returns the value of a register with an extension and a shift, in an instruction of `bits`
    /// bits.
    pub(super) fn read_extended(&mut self, extended: ExtendedRegister, bits: u8) -> Expr<Reg> {
        let ExtendedRegister { register, is_signed, shift } = extended;
        let value = self.read(register);
        let is_extended = bits == 64 && !register.is_wide;
        let value = if is_extended && !is_signed { zero_extended(value) } else { value };
        match shift {
            0 => value,
            _ => binary(of_width(BinOp::Shl, bits), value, Expr::Const(shift.into())),
        }
    }

    /// Returns the `ir` register that can be the target of an operation which yields a value of this
    /// register's width.
    pub(super) fn target(&mut self, register: Register) -> Reg {
        let class = register.number.and_then(|number| self.classes.get(&number).copied());
        match (register.number, class) {
            (Some(number), Some(RegisterClass::Wide)) if register.is_wide => {
                self.asm.register(&full_name(number))
            }
            (Some(number), Some(RegisterClass::Narrow)) => self.asm.register(&full_name(number)),
            _ => self.asm.temporary(),
        }
    }

    /// Writes a register. The value is a signed number of its width.
    pub(super) fn write(&mut self, register: Register, value: Expr<Reg>) {
        let Some(number) = register.number else { return };
        let reg = self.asm.register(&full_name(number));
        let value = self.written(register, value);
        self.asm.assign(reg, value);
    }

    /// Returns the value of the whole register after a write of this value, which is a signed number
    /// of the register's width.
    pub(super) fn written(&self, register: Register, value: Expr<Reg>) -> Expr<Reg> {
        let class = register.number.and_then(|number| self.classes.get(&number));
        let is_half = !register.is_wide && class == Some(&RegisterClass::Wide);
        if is_half { zero_extended(value) } else { value }
    }
}
