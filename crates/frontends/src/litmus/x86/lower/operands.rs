//! Reads and writes operands: registers, parts of registers, and memory.

use fencepost_ir::{Address, BinOp, Expr, Op, Reg, Span};

use super::super::super::ast::Constant;
use super::super::super::error::LitmusError;
use super::super::ast::{Instruction, Memory, Mnemonic, Operand};
use super::super::registers::{self, RegisterPart};
use super::{Lowerer, binary};

fn mask(width: u8) -> Expr<Reg> {
    Expr::Const(if width == 8 { 0xff } else { 0xffff })
}

impl Lowerer<'_> {
    /// Returns the width of an instruction in bits: that of its suffix or of its first register,
    /// else 32.
    pub(super) fn width(&self, instruction: &Instruction) -> u8 {
        let parts = instruction.operands.iter().filter_map(Operand::register);
        let of_register = parts.map(|part| part.width).next();
        instruction.width.or(of_register).unwrap_or(32)
    }

    /// Checks that all registers have the width of the instruction. Shifts, conditional sets and
    /// `NOP` are exempt.
    pub(super) fn check_widths(&self, instruction: &Instruction) -> Result<(), LitmusError> {
        let parts = instruction.operands.iter().filter_map(Operand::register);
        let registers = parts.map(|part| part.width.min(32));
        let mut widths = registers.chain(instruction.width.map(|width| width.min(32)));
        let first = widths.next();
        let free = matches!(instruction.mnemonic, Mnemonic::Shl | Mnemonic::Set(_) | Mnemonic::Nop);
        if !free && widths.any(|width| Some(width) != first) {
            return Err(LitmusError::syntax(
                instruction.span,
                "the operands have different widths: use operands of the same width",
            ));
        }
        Ok(())
    }

    /// Returns the address of a memory operand and records the width of the access.
    pub(super) fn address(
        &mut self,
        memory: &Memory,
        width: u8,
        span: Span,
    ) -> Result<Address, LitmusError> {
        let fixed = memory.base.is_none() && memory.index.is_none();
        let address = match &memory.symbol {
            Some(name) if fixed => {
                Address::fixed(self.layout.cell_at_offset(name, memory.offset, span)?)
            }
            None if fixed => {
                return Err(LitmusError::unsupported(
                    span,
                    "a memory operand at a numeric address is not supported: name a location",
                ));
            }
            _ => {
                let address = self.effective_address(memory, span)?.fold();
                self.layout.indirect_address(&address, span)?
            }
        };
        self.widths.note(address.as_fixed(), width, span)?;
        Ok(address)
    }

    /// Returns the address of a memory operand as a value.
    pub(super) fn effective_address(
        &mut self,
        memory: &Memory,
        span: Span,
    ) -> Result<Expr<Reg>, LitmusError> {
        let mut sum = match &memory.symbol {
            Some(name) => {
                Expr::Const(self.layout.constant(&Constant::Address(name.clone()), span)?)
            }
            None => Expr::Const(0),
        };
        let index = memory.index;
        for (part, scale) in memory.base.map(|part| (part, 1)).into_iter().chain(index) {
            let register = self.register(part);
            let scale = self.layout.int(scale, span)?;
            let scaled = binary(BinOp::Mul, register.clone(), Expr::Const(scale));
            sum = binary(BinOp::Add, sum, if scale == 1 { register } else { scaled });
        }
        if memory.offset != 0 {
            let offset = self.layout.int(memory.offset, span)?;
            sum = binary(BinOp::Add, sum, Expr::Const(offset));
        }
        // Remove an addition to 0.
        Ok(match sum {
            Expr::Binary(BinOp::Add, zero, rest) if *zero == Expr::Const(0) => *rest,
            other => other,
        })
    }

    /// Returns the value of a register or of a part of one.
    pub(super) fn register(&mut self, part: RegisterPart) -> Expr<Reg> {
        let whole = match self.constants.get(&part.register) {
            Some(constant) => constant.clone(),
            None => Expr::Var(self.asm.register(registers::full_name(self.arch, part.register))),
        };
        match (part.width, part.high) {
            (8, true) => {
                let shifted = binary(BinOp::Shr, whole, Expr::Const(8));
                binary(BinOp::BitAnd, shifted, mask(8))
            }
            (8 | 16, _) => binary(BinOp::BitAnd, whole, mask(part.width)),
            _ => whole,
        }
    }

    /// Writes a register or a part of one.
    pub(super) fn write_register(&mut self, part: RegisterPart, value: Expr<Reg>) {
        let reg = self.asm.register(registers::full_name(self.arch, part.register));
        if part.width >= 32 {
            self.asm.assign(reg, value);
            return;
        }
        let (bits, shift) =
            if part.high { (0xff00, 8) } else { (mask(part.width).as_const().unwrap_or(0), 0) };
        let kept = binary(BinOp::BitAnd, Expr::Var(reg), Expr::Const(!bits));
        let shifted =
            binary(BinOp::Shl, binary(BinOp::BitAnd, value, mask(part.width)), Expr::Const(shift));
        self.asm.assign(reg, binary(BinOp::BitOr, kept, shifted));
    }

    /// Returns the value of an operand. Emits a load for a memory operand.
    pub(super) fn read(
        &mut self,
        operand: &Operand,
        width: u8,
        span: Span,
    ) -> Result<Expr<Reg>, LitmusError> {
        Ok(match operand {
            Operand::Number(value) => Expr::Const(self.layout.int(*value, span)?),
            Operand::Address(name) => {
                Expr::Const(self.layout.constant(&Constant::Address(name.clone()), span)?)
            }
            Operand::Register(part) => self.register(*part),
            Operand::Memory(memory) => {
                let from = self.address(memory, width, span)?;
                let reg = self.asm.temporary();
                self.asm.emit(Op::Load { reg, from });
                Expr::Var(reg)
            }
            Operand::Label(name) => {
                return Err(LitmusError::syntax(
                    span,
                    format!("the label `{name}` is not a value"),
                ));
            }
        })
    }

    /// Writes an operand. Emits a store for a memory operand.
    pub(super) fn write(
        &mut self,
        operand: &Operand,
        value: Expr<Reg>,
        width: u8,
        span: Span,
    ) -> Result<(), LitmusError> {
        match operand {
            Operand::Register(part) => self.write_register(*part, value),
            Operand::Memory(memory) => {
                let to = self.address(memory, width, span)?;
                let value = self.truncate(value, width);
                self.asm.emit(Op::Store { to, value });
            }
            Operand::Number(_) | Operand::Address(_) | Operand::Label(_) => {
                return Err(LitmusError::syntax(
                    span,
                    "the destination cannot be written: it must be a register or a memory operand",
                ));
            }
        }
        Ok(())
    }

    /// Truncates a value to `width` bits if that is less than 32.
    pub(super) fn truncate(&self, value: Expr<Reg>, width: u8) -> Expr<Reg> {
        let value = if width < 32 { binary(BinOp::BitAnd, value, mask(width)) } else { value };
        value.fold()
    }
}
