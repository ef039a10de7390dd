//! Instructions with two destinations: `XCHG`, `CMPXCHG`, `XADD`.

use fencepost_ir::{BinOp, Expr, Op, Update};

use super::super::super::error::LitmusError;
use super::super::super::flags::FlagEffect;
use super::super::super::wrap::{of_width, wrap_of_width};
use super::super::ast::{Instruction, Mnemonic, Operand};
use super::super::registers::{self, RegisterPart};
use super::{ACCUMULATOR, Lowerer, binary};

impl Lowerer<'_> {
    pub(super) fn exchange(&mut self, instruction: &Instruction) -> Result<(), LitmusError> {
        let span = instruction.span;
        let width = self.width(instruction);
        let (memory, part) = match self.operands(instruction)? {
            [Operand::Memory(memory), Operand::Register(part)]
            | [Operand::Register(part), Operand::Memory(memory)] => (memory, *part),
            [Operand::Register(a), Operand::Register(b)] => {
                let (reg, first, second) =
                    (self.asm.temporary(), self.register(*a), self.register(*b));
                self.asm.assign(reg, first);
                self.write_register(*a, second);
                self.write_register(*b, Expr::Var(reg));
                return Ok(());
            }
            _ => {
                return Err(LitmusError::syntax(
                    span,
                    "XCHG takes two registers, or a register and a memory operand",
                ));
            }
        };
        let address = self.address(memory, width, span)?;
        let new = self.register(part);
        let new = self.truncate(new, width);
        if instruction.mnemonic == Mnemonic::Uxch {
            let old = self.asm.temporary();
            self.asm.emit(Op::Load { reg: old, from: address.clone() });
            self.asm.emit(Op::Store { to: address, value: new });
            self.write_register(part, Expr::Var(old));
        } else if part.width >= 32 {
            let reg = Some(self.asm.register(registers::full_name(self.arch, part.register)));
            self.emit_locked(Op::Update { reg, at: address, update: Update::Swap { new } });
        } else {
            let old = self.asm.temporary();
            self.emit_locked(Op::Update {
                reg: Some(old),
                at: address,
                update: Update::Swap { new },
            });
            self.write_register(part, Expr::Var(old));
        }
        Ok(())
    }

    /// Emits an operation in an `atomic` block.
    pub(super) fn emit_locked(&mut self, op: Op) {
        self.asm.emit(Op::AtomicBegin);
        self.asm.emit(op);
        self.asm.emit(Op::AtomicEnd);
    }

    pub(super) fn compare_exchange(
        &mut self,
        instruction: &Instruction,
    ) -> Result<(), LitmusError> {
        let span = instruction.span;
        let [to, from] = self.operands(instruction)?;
        let width = self.width(instruction);
        let Operand::Register(new) = from else {
            return Err(LitmusError::syntax(
                span,
                "CMPXCHG takes a memory operand or a register, and a register",
            ));
        };
        let accumulator = RegisterPart { register: ACCUMULATOR, width, high: false };
        let (expected, new) = (self.register(accumulator), self.register(*new));
        if instruction.lock {
            self.asm.emit(Op::AtomicBegin);
        }
        let found = self.asm.temporary();
        let value = self.read(to, width, span)?;
        self.asm.assign(found, value);
        self.set_flags(&FlagEffect::Compared(expected.clone(), Expr::Var(found)), width, span)?;
        let equal = binary(BinOp::Eq, expected, Expr::Var(found));
        let (failed, done) = (self.asm.target(), self.asm.target());
        self.asm.jump_unless(equal, failed);
        self.write(to, new, width, span)?;
        self.asm.jump(done);
        self.asm.bind(failed);
        self.write_register(accumulator, Expr::Var(found));
        self.asm.bind(done);
        if instruction.lock {
            self.asm.emit(Op::AtomicEnd);
        }
        Ok(())
    }

    pub(super) fn exchange_add(&mut self, instruction: &Instruction) -> Result<(), LitmusError> {
        let span = instruction.span;
        let [to, from] = self.operands(instruction)?;
        let width = self.width(instruction);
        let Operand::Register(part) = from else {
            return Err(LitmusError::syntax(
                span,
                "XADD takes a memory operand or a register, and a register",
            ));
        };
        let mut by = self.register(*part);
        let old = self.asm.temporary();
        if !self.flags.is_empty() || matches!(to, Operand::Register(_)) {
            // Both operands are written before `by` is read again.
            let kept = self.asm.temporary();
            self.asm.assign(kept, by);
            by = Expr::Var(kept);
        }
        let sum = binary(of_width(BinOp::Add, width), Expr::Var(old), by.clone());
        match to {
            Operand::Memory(memory) if instruction.lock && width >= 32 => {
                let at = self.address(memory, width, span)?;
                self.emit_locked(Op::Update {
                    reg: Some(old),
                    at,
                    update: Update::Add { by, wrap: wrap_of_width(width) },
                });
            }
            _ => {
                if instruction.lock {
                    self.asm.emit(Op::AtomicBegin);
                }
                let value = self.read(to, width, span)?;
                self.asm.assign(old, value);
                // The sum is written last: it remains if both operands are the same register.
                if matches!(to, Operand::Register(_)) {
                    self.write_register(*part, Expr::Var(old));
                }
                self.write(to, sum.clone(), width, span)?;
                if instruction.lock {
                    self.asm.emit(Op::AtomicEnd);
                }
            }
        }
        if matches!(to, Operand::Memory(_)) {
            self.write_register(*part, Expr::Var(old));
        }
        self.set_flags(&FlagEffect::UnknownCarry(sum), width, span)
    }
}
