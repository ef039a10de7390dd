//! Loads, stores and read-modify-writes.

use std::sync::Arc;

use fencepost_ir::{
    AccessOrder, Acquire, Address, BinOp, CasResult, Expr, FenceKinds, Op, Pointer, Reg, Span,
    Value,
};

use super::super::super::error::LitmusError;
use super::super::super::wrap::{of_width, wrap_of_width};
use super::super::ast::{Instruction, Memory, Operation, Update, WriteBack};
use super::super::registers::Register;
use super::{Lowerer, binary, inverted};
use crate::orders::MemoryOrder;

impl Lowerer<'_> {
    /// Lowers an access that is not exclusive.
    pub(super) fn access(&mut self, instruction: &Instruction) -> Result<(), LitmusError> {
        let span = instruction.span;
        match &instruction.operation {
            Operation::Load { to, at, bits, acquire, .. } => {
                let order = AccessOrder { acquire: *acquire, ..AccessOrder::PLAIN };
                let base = self.base(at, span)?;
                let addresses = self.addresses(&base, at, (to.len(), *bits), span)?;
                self.load_all(to, addresses, *bits, order, span);
                self.write_back_after(at, base, span)
            }
            Operation::Store { from, at, bits, release, .. } => {
                let order = AccessOrder { release: *release, ..AccessOrder::PLAIN };
                let base = self.base(at, span)?;
                let addresses = self.addresses(&base, at, (from.len(), *bits), span)?;
                for (number, (register, to)) in from.iter().zip(addresses).enumerate() {
                    self.next_access(number, span);
                    let value = self.stored(*register, *bits);
                    self.emit_access(Op::Store { to, value }, *bits, order);
                }
                self.write_back_after(at, base, span)
            }
            Operation::Update { update, old, at, bits, acquire, release } => {
                let address = self.address(at, span)?;
                self.update(*update, *old, address, *bits, (*acquire, *release));
                Ok(())
            }
            Operation::Nop
            | Operation::Fence(_)
            | Operation::Move { .. }
            | Operation::Arithmetic { .. }
            | Operation::Select { .. }
            | Operation::Jump { .. }
            | Operation::Return => Ok(()),
        }
    }

    /// Emits loads into registers. The base of the addresses may be one of the registers, so all
    /// loads use temporaries if there are several.
    fn load_all(
        &mut self,
        to: &[Register],
        addresses: Vec<Address>,
        bits: u8,
        order: AccessOrder,
        span: Span,
    ) {
        if let [register] = to {
            for from in addresses {
                self.load(*register, from, bits, order);
            }
            return;
        }
        let mut loaded = Vec::new();
        for (number, from) in addresses.into_iter().enumerate() {
            self.next_access(number, span);
            let reg = self.asm.temporary();
            self.emit_access(Op::Load { reg, from }, bits, order);
            loaded.push(reg);
        }
        for (register, reg) in to.iter().zip(loaded) {
            self.write(*register, Expr::Var(reg));
        }
    }

    /// Emits a load into a register.
    pub(super) fn load(&mut self, to: Register, from: Address, bits: u8, order: AccessOrder) {
        let reg = self.target(to);
        self.emit_access(Op::Load { reg, from }, bits, order);
        self.write(to, Expr::Var(reg));
    }

    /// Starts a new label for each access of an instruction but the first: a label has at most one
    /// access.
    fn next_access(&mut self, number: usize, span: Span) {
        if number > 0 {
            let text = self.text(span);
            self.asm.set_source(span, &text);
        }
    }

    fn update(
        &mut self,
        update: Update,
        old: Register,
        at: Address,
        bits: u8,
        (acquire, release): (bool, bool),
    ) {
        let discards_value = old.number.is_none();
        let acquire = if acquire && !discards_value { Acquire::Strong } else { Acquire::None };
        let order = AccessOrder { acquire, release, discards_value, exclusive: false };
        let update = match update {
            Update::CompareAndSwap { new } => fencepost_ir::Update::Cas {
                expected: self.stored(old, bits),
                new: self.stored(new, bits),
                result: CasResult::Old,
            },
            Update::Swap { new } => fencepost_ir::Update::Swap { new: self.stored(new, bits) },
            Update::Add { by } => {
                fencepost_ir::Update::Add { by: self.read(by), wrap: wrap_of_width(bits) }
            }
            Update::Bits { op, inverts, by } => {
                fencepost_ir::Update::Bits { op, by: inverted(self.read(by), inverts).fold() }
            }
        };
        let reg = old.number.map(|_| self.target(old));
        self.emit_access(Op::Update { reg, at, update }, bits, order);
        if let Some(reg) = reg {
            self.write(old, Expr::Var(reg));
        }
    }

    /// Emits an access with its order. Models without orders use the fences around it.
    pub(super) fn emit_access(&mut self, op: Op, bits: u8, order: AccessOrder) {
        let label = self.asm.label();
        self.accesses.bits.insert(label, bits);
        if order != AccessOrder::PLAIN {
            self.asm.note_order(order);
        }
        let memory_order = match (order.acquire, order.release) {
            (Acquire::None, false) => MemoryOrder::Relaxed,
            (Acquire::None, true) => MemoryOrder::Release,
            (Acquire::Weak | Acquire::Strong, false) => MemoryOrder::Acquire,
            (Acquire::Weak | Acquire::Strong, true) => MemoryOrder::AcqRel,
        };
        let (before, after) = memory_order.update_fences();
        if before != FenceKinds::NONE {
            self.asm.emit(Op::Fence(before));
        }
        self.asm.emit(op);
        if after != FenceKinds::NONE {
            self.asm.emit(Op::Fence(after));
        }
    }

    /// Returns the value that a store of `bits` bits writes.
    pub(super) fn stored(&mut self, register: Register, bits: u8) -> Expr<Reg> {
        let value = self.read(register);
        let value = match bits {
            8 => binary(BinOp::BitAnd, value, Expr::Const(0xff)),
            16 => binary(BinOp::BitAnd, value, Expr::Const(0xffff)),
            _ => value,
        };
        value.fold()
    }

    /// Returns the address of a memory operand without write-back.
    pub(super) fn address(&mut self, at: &Memory, span: Span) -> Result<Address, LitmusError> {
        let base = self.base(at, span)?;
        self.locate(&base, 0, span)
    }

    /// Returns the addresses of `count` consecutive accesses of `bits` bits.
    fn addresses(
        &mut self,
        base: &Expr<Reg>,
        at: &Memory,
        (count, bits): (usize, u8),
        span: Span,
    ) -> Result<Vec<Address>, LitmusError> {
        if at.write_back == WriteBack::Before {
            self.write_back(at, base.clone());
        }
        let base = match at.write_back {
            WriteBack::Before => self.read(at.base),
            WriteBack::Never | WriteBack::After => base.clone(),
        };
        let bytes = Value::from(bits / 8);
        let offsets = (0..count).map(|number| number as Value * bytes);
        offsets.map(|offset| self.locate(&base, offset, span)).collect()
    }

    /// Returns the address of the first access as a value.
    fn base(&mut self, at: &Memory, span: Span) -> Result<Expr<Reg>, LitmusError> {
        let base = self.read(at.base);
        if at.write_back == WriteBack::After {
            return Ok(base);
        }
        let offset = self.source_value(&at.offset, 64, span)?;
        Ok(sum(base, offset))
    }

    fn write_back_after(
        &mut self,
        at: &Memory,
        base: Expr<Reg>,
        span: Span,
    ) -> Result<(), LitmusError> {
        if at.write_back == WriteBack::After {
            let offset = self.source_value(&at.offset, 64, span)?;
            self.write_back(at, binary(of_width(BinOp::Add, 64), base, offset));
        }
        Ok(())
    }

    fn write_back(&mut self, at: &Memory, value: Expr<Reg>) {
        self.write(at.base, value);
    }

    /// Returns the location at `base + offset`.
    fn locate(
        &mut self,
        base: &Expr<Reg>,
        offset: Value,
        span: Span,
    ) -> Result<Address, LitmusError> {
        let value = sum(base.clone(), Expr::Const(offset));
        if value.as_const().is_some() {
            return self.layout.indirect_address(&value, span);
        }
        let targets = self.layout.cell_addresses().into();
        Ok(Address::through(Pointer { value, targets, ended: Arc::from([]) }))
    }
}

/// Returns the sum of two parts of an address.
fn sum(a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    let (a, b) = (a.fold(), b.fold());
    match b.as_const() {
        Some(0) => a,
        _ => binary(BinOp::Add, a, b).fold(),
    }
}
