//! Translates a thread to instructions: allocates machine registers and computes values in them.
//!
//! A register keeps its machine register while it is live; then the machine register is free again.
//! A register that is read before it is set is 0. Machine registers start as 0, so such a register
//! gets one that was never used.

use super::instruction::{
    ACCUMULATOR, Arithmetic, Fence, Instruction, JumpTarget, MachineReg, Operand, REGISTERS,
};
use super::straight_line::{StraightStmt, straight_line};
use super::{ErrorFor, mentions};
use crate::{Unsupported, UnsupportedInLitmus};
use fencepost_ir::{
    Address, BinOp, CasResult, Expr, FenceKinds, INT_LIMITS, Label, Loc, Op, Problem, Reg, Thread,
    ThreadId, Type, UnOp, Update, Value, flow,
};
use std::collections::{BTreeMap, BTreeSet};

/// A thread as instructions.
pub(super) struct Code {
    pub(super) instructions: Vec<Instruction>,
    /// The number of jump targets.
    pub(super) jump_targets: usize,
    /// The machine registers of the registers that are observed in the final state.
    pub(super) observed: BTreeMap<Reg, MachineReg>,
    /// The number of machine registers used.
    pub(super) registers: usize,
    /// Fences that order more than the program requires: statement, instruction, additional pairs.
    pub(super) stronger: Vec<(Label, &'static str, FenceKinds)>,
    /// Whether an update of the program becomes a locked instruction, which drains more stores.
    pub(super) drains: bool,
    /// Whether the thread has arithmetic that may overflow.
    pub(super) computes: bool,
}

/// Translates a thread.
pub(super) fn code(
    problem: &Problem,
    id: ThreadId,
    error_for: ErrorFor<'_>,
) -> Result<Code, Unsupported> {
    let thread = problem.program.thread(id);
    let lines = straight_line(thread, error_for)?;
    let observed = problem.observed_registers(id, true);
    let compares =
        |line: &StraightStmt| matches!(&line.op, Op::Update { update: Update::Cas { .. }, .. });
    // CAS needs the accumulator.
    let first = usize::from(lines.iter().any(compares));
    let mut emitter = ThreadEmitter {
        thread,
        error_for,
        label: Label(0),
        live: BTreeSet::new(),
        allocated: BTreeMap::new(),
        scratch: Vec::new(),
        first,
        used: first,
        code: Code {
            instructions: Vec::new(),
            jump_targets: 0,
            observed: BTreeMap::new(),
            registers: 0,
            stronger: Vec::new(),
            drains: false,
            computes: false,
        },
    };
    for (line, live) in lines.iter().zip(live_after(&lines, &observed)) {
        emitter.label = line.label;
        emitter.live = live;
        emitter.line(line)?;
        emitter.scratch.clear();
        let live = &emitter.live;
        emitter.allocated.retain(|reg, _| live.contains(reg));
    }
    for reg in observed {
        let machine_reg = emitter.machine_reg(reg)?;
        emitter.code.observed.insert(reg, machine_reg);
    }
    emitter.code.registers = emitter.used;
    Ok(emitter.code)
}

/// Returns the live registers after each statement.
fn live_after(lines: &[StraightStmt], observed: &[Reg]) -> Vec<BTreeSet<Reg>> {
    let mut live: BTreeSet<Reg> = observed.iter().copied().collect();
    let mut all = Vec::new();
    for line in lines.iter().rev() {
        all.push(live.clone());
        if let Some(target) = line.op.target() {
            live.remove(&target);
        }
        live.extend(flow::uses(&line.op));
    }
    all.reverse();
    all
}

struct ThreadEmitter<'a> {
    thread: &'a Thread,
    error_for: ErrorFor<'a>,
    /// The current statement.
    label: Label,
    /// The live registers after the current statement.
    live: BTreeSet<Reg>,
    allocated: BTreeMap<Reg, MachineReg>,
    /// The scratch registers of the current statement.
    scratch: Vec<MachineReg>,
    /// The first machine register that may be allocated.
    first: usize,
    /// The number of machine registers used so far; later ones were never used.
    used: usize,
    code: Code,
}

impl ThreadEmitter<'_> {
    fn line(&mut self, line: &StraightStmt) -> Result<(), Unsupported> {
        for reg in flow::uses(&line.op) {
            self.machine_reg(reg)?;
        }
        match &line.op {
            Op::Skip | Op::Leave | Op::Invoke { .. } | Op::Return { .. } => {}
            Op::Assign { reg, expr } => {
                let to = self.target_reg(*reg)?;
                self.compute_into(to, Some(*reg), expr)?;
            }
            Op::Load { reg, from } => {
                let (to, from) = (self.target_reg(*reg)?, self.location(from)?);
                self.emit(Instruction::Load { to, from });
            }
            Op::Store { to, value } => {
                let (to, value) = (self.location(to)?, self.operand(value)?);
                self.emit(Instruction::Store { to, value });
            }
            Op::Update { reg, at, update } => {
                self.code.drains |= !line.drains;
                let reg = reg.filter(|reg| self.live.contains(reg));
                let at = self.location(at)?;
                self.update(reg, at, update)?;
            }
            Op::Fence(kinds) => self.fence(*kinds),
            Op::Drain(_) => {
                return self.reject(UnsupportedInLitmus::Drain);
            }
            Op::Choose { .. } => {
                return self.reject(UnsupportedInLitmus::Choose);
            }
            Op::Assume(_) => {
                return self.reject(UnsupportedInLitmus::Assume);
            }
            Op::Assert(_) => {
                return self.reject(UnsupportedInLitmus::Assert);
            }
            Op::New { .. } | Op::Free { .. } => {
                return self.reject(UnsupportedInLitmus::Records);
            }
            Op::Branch { .. }
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Join
            | Op::SectionBegin { .. }
            | Op::SectionEnd { .. }
            | Op::GracePeriod { .. }
            | Op::Halt => {
                unreachable!("straight-line code has no such operation")
            }
        }
        Ok(())
    }

    fn update(&mut self, reg: Option<Reg>, at: Loc, update: &Update) -> Result<(), Unsupported> {
        match update {
            Update::Swap { new } => {
                let with = self.exchange_operand(reg, new)?;
                self.emit(Instruction::Exchange { at, with });
            }
            Update::Add { by, .. } => {
                self.code.computes = true;
                match reg {
                    None => {
                        let value = self.operand(by)?;
                        self.emit(Instruction::Locked { what: Arithmetic::Add, at, value });
                    }
                    Some(_) => {
                        let with = self.exchange_operand(reg, by)?;
                        self.emit(Instruction::ExchangeAdd { at, with });
                    }
                }
            }
            Update::Bits { op, by } => {
                if reg.is_some() {
                    return self.reject(UnsupportedInLitmus::OldValueOfBits);
                }
                let what = match op {
                    BinOp::BitAnd => Arithmetic::And,
                    BinOp::BitOr => Arithmetic::Or,
                    BinOp::BitXor => Arithmetic::Xor,
                    other => unreachable!("{} is not a bitwise operator", other.symbol()),
                };
                let value = self.operand(by)?;
                self.emit(Instruction::Locked { what, at, value });
            }
            Update::Cas { expected, new, result } => {
                self.compare_exchange(at, expected, new)?;
                match (reg, result) {
                    (None, _) => {}
                    (Some(reg), CasResult::Success) => self.flag_into(reg)?,
                    // The instruction leaves the old value in the accumulator.
                    (Some(reg), CasResult::Old) => {
                        let (to, value) = (self.target_reg(reg)?, Operand::Register(ACCUMULATOR));
                        self.emit(Instruction::Move { to, value });
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns a machine register that holds the new value and receives the old one.
    fn exchange_operand(
        &mut self,
        reg: Option<Reg>,
        value: &Expr<Reg>,
    ) -> Result<MachineReg, Unsupported> {
        match reg {
            Some(reg) => {
                let machine_reg = self.target_reg(reg)?;
                self.compute_into(machine_reg, Some(reg), value)?;
                Ok(machine_reg)
            }
            None => self.compute_overwritable(value),
        }
    }

    /// Translates a CAS without its result.
    fn compare_exchange(
        &mut self,
        at: Loc,
        expected: &Expr<Reg>,
        new: &Expr<Reg>,
    ) -> Result<(), Unsupported> {
        self.compute_into(ACCUMULATOR, None, expected)?;
        let new = match new {
            Expr::Var(reg) => self.machine_reg(*reg)?,
            new => {
                let machine_reg = self.allocate_scratch()?;
                self.compute_into(machine_reg, None, new)?;
                machine_reg
            }
        };
        self.emit(Instruction::CompareExchange { at, new });
        Ok(())
    }

    /// Sets a register to whether the CAS before it succeeded. `cmpxchg` reports this in a flag.
    /// The jump that reads the flag orders nothing that the locked instruction does not order.
    fn flag_into(&mut self, reg: Reg) -> Result<(), Unsupported> {
        let (to, over) = (self.target_reg(reg)?, JumpTarget(self.code.jump_targets));
        self.code.jump_targets += 1;
        self.emit(Instruction::Move { to, value: Operand::Number(0) });
        self.emit(Instruction::JumpIfNotEqual(over));
        self.emit(Instruction::Move { to, value: Operand::Number(1) });
        self.emit(Instruction::Target(over));
        Ok(())
    }

    /// Writes the weakest fences that order these pairs.
    fn fence(&mut self, kinds: FenceKinds) {
        let loads = FenceKinds::LOAD_LOAD.union(FenceKinds::LOAD_STORE);
        if kinds.contains(FenceKinds::STORE_LOAD) {
            self.emit(Instruction::Fence(Fence::Memory));
            self.note_stronger("MFENCE", FenceKinds::FULL, kinds);
            return;
        }
        if kinds.contains(FenceKinds::STORE_STORE) {
            self.emit(Instruction::Fence(Fence::Store));
        }
        if kinds.contains(FenceKinds::LOAD_LOAD) || kinds.contains(FenceKinds::LOAD_STORE) {
            self.emit(Instruction::Fence(Fence::Load));
            self.note_stronger("LFENCE", loads, kinds);
        }
    }

    fn note_stronger(&mut self, name: &'static str, orders: FenceKinds, asked: FenceKinds) {
        let more = FenceKinds::SINGLE.iter().map(|(kind, _)| *kind);
        let more = more.filter(|kind| orders.contains(*kind) && !asked.contains(*kind));
        let more = more.fold(FenceKinds::default(), FenceKinds::union);
        if more != FenceKinds::default() {
            self.code.stronger.push((self.label, name, more));
        }
    }

    /// Returns an operand with a value: the value itself, or a register into which it is computed.
    fn operand(&mut self, value: &Expr<Reg>) -> Result<Operand, Unsupported> {
        Ok(match value {
            Expr::Const(value) => Operand::Number(*value),
            Expr::Var(reg) => Operand::Register(self.machine_reg(*reg)?),
            Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => {
                Operand::Register(self.compute_overwritable(value)?)
            }
        })
    }

    /// Computes a value into a register that may be overwritten: that of its first operand if it is
    /// dead, or a scratch register.
    fn compute_overwritable(&mut self, value: &Expr<Reg>) -> Result<MachineReg, Unsupported> {
        let first = match value {
            Expr::Binary(_, a, b) => match a.as_ref() {
                Expr::Var(reg) if !mentions(b, *reg) => Some(*reg),
                _ => None,
            },
            Expr::Unary(_, a) => match a.as_ref() {
                Expr::Var(reg) => Some(*reg),
                _ => None,
            },
            Expr::Var(reg) => Some(*reg),
            Expr::Const(_) | Expr::Select(..) => None,
        };
        let first = first.filter(|reg| !self.live.contains(reg));
        let machine_reg = match first {
            Some(reg) => self.machine_reg(reg)?,
            None => self.allocate_scratch()?,
        };
        self.compute_into(machine_reg, first, value)?;
        Ok(machine_reg)
    }

    /// Computes a value into the machine register of `owner`.
    fn compute_into(
        &mut self,
        to: MachineReg,
        owner: Option<Reg>,
        value: &Expr<Reg>,
    ) -> Result<(), Unsupported> {
        // The computation must not overwrite an operand that it still needs.
        let in_place = |owner: Reg| match value {
            Expr::Const(_) | Expr::Var(_) => true,
            Expr::Unary(_, a) => matches!(a.as_ref(), Expr::Var(_)),
            Expr::Binary(_, a, b) => matches!(a.as_ref(), Expr::Var(_)) && !mentions(b, owner),
            Expr::Select(..) => false,
        };
        if owner.is_some_and(|owner| mentions(value, owner) && !in_place(owner)) {
            let machine_reg = self.allocate_scratch()?;
            self.compute(machine_reg, value)?;
            self.emit(Instruction::Move { to, value: Operand::Register(machine_reg) });
            return Ok(());
        }
        self.compute(to, value)
    }

    /// Computes a value into a machine register that the computation does not read after the first
    /// write.
    fn compute(&mut self, to: MachineReg, value: &Expr<Reg>) -> Result<(), Unsupported> {
        match value {
            Expr::Const(value) => {
                self.emit(Instruction::Move { to, value: Operand::Number(*value) });
            }
            Expr::Var(reg) => {
                let from = self.machine_reg(*reg)?;
                if from != to {
                    self.emit(Instruction::Move { to, value: Operand::Register(from) });
                }
            }
            Expr::Unary(UnOp::Not, a) if self.is_bool(a) => {
                self.compute(to, a)?;
                self.number(Arithmetic::Xor, to, 1);
            }
            Expr::Unary(UnOp::BitNot, a) => {
                self.compute(to, a)?;
                self.number(Arithmetic::Xor, to, -1);
            }
            Expr::Unary(UnOp::Neg, a) => {
                self.compute(to, a)?;
                self.number(Arithmetic::Xor, to, -1);
                self.number(Arithmetic::Add, to, 1);
            }
            Expr::Binary(op, a, b) => {
                let (what, b) = match (op, b.as_ref()) {
                    (BinOp::Add, b) => (Arithmetic::Add, b.clone()),
                    (BinOp::Sub, Expr::Const(by)) if *by != INT_LIMITS.0 => {
                        (Arithmetic::Add, Expr::Const(-by))
                    }
                    // Both give 0, but herd does not support `SUB`.
                    (BinOp::Sub, b) if a.as_ref() == b => (Arithmetic::Xor, b.clone()),
                    (BinOp::Sub, b) => (Arithmetic::Sub, b.clone()),
                    (BinOp::BitAnd, b) => (Arithmetic::And, b.clone()),
                    (BinOp::BitOr, b) => (Arithmetic::Or, b.clone()),
                    (BinOp::BitXor, b) => (Arithmetic::Xor, b.clone()),
                    (op, _) => return self.no_instruction(op.symbol()),
                };
                self.compute(to, a)?;
                let value = match &b {
                    Expr::Const(value) => Operand::Number(*value),
                    Expr::Var(reg) => Operand::Register(self.machine_reg(*reg)?),
                    b => {
                        let machine_reg = self.allocate_scratch()?;
                        self.compute(machine_reg, b)?;
                        Operand::Register(machine_reg)
                    }
                };
                self.code.computes |= matches!(what, Arithmetic::Add | Arithmetic::Sub);
                self.emit(Instruction::Compute { what, to, value });
            }
            Expr::Unary(op, _) => return self.no_instruction(op.symbol()),
            // `flag ? 1 : 0`
            Expr::Select(flag, yes, no)
                if self.is_bool(flag) && (yes.as_const(), no.as_const()) == (Some(1), Some(0)) =>
            {
                self.compute(to, flag)?;
            }
            Expr::Select(..) => return self.no_instruction("?:"),
        }
        Ok(())
    }

    fn number(&mut self, what: Arithmetic, to: MachineReg, value: Value) {
        self.code.computes |= what == Arithmetic::Add;
        self.emit(Instruction::Compute { what, to, value: Operand::Number(value) });
    }

    fn is_bool(&self, expr: &Expr<Reg>) -> bool {
        let Expr::Var(reg) = expr else { return false };
        self.thread.registers[reg.index()].ty == Type::Bool
    }

    fn location(&self, at: &Address) -> Result<Loc, Unsupported> {
        match at.as_fixed() {
            Some(loc) => Ok(loc),
            None => self.reject(UnsupportedInLitmus::ComputedAddress),
        }
    }

    /// Returns the machine register of a register. A register that was never set gets an unused
    /// one, which is 0.
    fn machine_reg(&mut self, reg: Reg) -> Result<MachineReg, Unsupported> {
        if let Some(machine_reg) = self.allocated.get(&reg) {
            return Ok(*machine_reg);
        }
        self.allocate(reg, MachineReg(self.used))
    }

    /// Returns the machine register of a register that is being set. The operands of the statement
    /// already have theirs.
    fn target_reg(&mut self, reg: Reg) -> Result<MachineReg, Unsupported> {
        match self.allocated.get(&reg) {
            Some(machine_reg) => Ok(*machine_reg),
            None => self.allocate(reg, self.lowest_free()),
        }
    }

    fn lowest_free(&self) -> MachineReg {
        let is_free = |machine_reg: &MachineReg| {
            !self.scratch.contains(machine_reg)
                && !self.allocated.values().any(|taken| taken == machine_reg)
        };
        (self.first..).map(MachineReg).find(is_free).expect("finitely many registers are taken")
    }

    fn allocate(&mut self, reg: Reg, machine_reg: MachineReg) -> Result<MachineReg, Unsupported> {
        self.reserve(machine_reg)?;
        self.allocated.insert(reg, machine_reg);
        Ok(machine_reg)
    }

    /// Allocates a scratch register for the current statement.
    fn allocate_scratch(&mut self) -> Result<MachineReg, Unsupported> {
        let machine_reg = self.lowest_free();
        self.reserve(machine_reg)?;
        self.scratch.push(machine_reg);
        Ok(machine_reg)
    }

    fn reserve(&mut self, machine_reg: MachineReg) -> Result<(), Unsupported> {
        self.used = self.used.max(machine_reg.0 + 1);
        if self.used > REGISTERS {
            return self.reject(UnsupportedInLitmus::Registers);
        }
        Ok(())
    }

    fn emit(&mut self, instruction: Instruction) {
        self.code.instructions.push(instruction);
    }

    fn no_instruction<T>(&self, operator: &'static str) -> Result<T, Unsupported> {
        self.reject(UnsupportedInLitmus::Operator(operator))
    }

    fn reject<T>(&self, reason: UnsupportedInLitmus) -> Result<T, Unsupported> {
        Err((self.error_for)(self.label, reason))
    }
}
