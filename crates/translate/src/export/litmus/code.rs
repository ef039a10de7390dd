//! A thread as instructions: registers of the processor for those of the thread, and values calculated in them.
//!
//! A register keeps its place while somebody may still read it; then the place is free for another one. A register
//! that is read before anything is put into it is 0, as those of the processor are, so it gets a place that
//! was never used.

use super::instruction::{
    ACCUMULATOR, Arithmetic, Fence, Instruction, Mark, Operand, REGISTERS, Slot,
};
use super::straight::{Line, straight};
use super::{Refuse, mentions};
use crate::{NoLitmus, Unsupported};
use fencepost_ir::{
    Address, BinOp, Expr, FenceKinds, Label, Loc, Op, Problem, Reg, Thread, ThreadId, Type, UnOp,
    Update, flow,
};
use std::collections::{BTreeMap, BTreeSet};

/// A thread as instructions.
pub(super) struct Code {
    pub(super) instructions: Vec<Instruction>,
    /// How many marks it has.
    pub(super) marks: usize,
    /// Where the registers are that somebody looks at in the end.
    pub(super) kept: BTreeMap<Reg, Slot>,
    /// How many registers of the processor are used.
    pub(super) registers: usize,
    /// Fences that keep more in order than the program asks for: where, which, and what else they order.
    pub(super) stronger: Vec<(Label, &'static str, FenceKinds)>,
    /// Whether an update of the program, which need not wait for all stores, waits for them here.
    pub(super) drains: bool,
    /// Whether something is calculated, which may overflow.
    pub(super) calculates: bool,
}

/// Writes a thread.
pub(super) fn code(
    problem: &Problem,
    id: ThreadId,
    refuse: Refuse<'_>,
) -> Result<Code, Unsupported> {
    let thread = problem.program.thread(id);
    let lines = straight(thread, refuse)?;
    let kept = problem.kept_registers(id, true);
    let compares = |line: &Line| matches!(&line.op, Op::Update { update: Update::Cas { .. }, .. });
    // A thread that compares and swaps needs the accumulator for that.
    let first = usize::from(lines.iter().any(compares));
    let mut writer = Writer {
        thread,
        refuse,
        label: Label(0),
        live: BTreeSet::new(),
        places: BTreeMap::new(),
        scratch: Vec::new(),
        first,
        used: first,
        code: Code {
            instructions: Vec::new(),
            marks: 0,
            kept: BTreeMap::new(),
            registers: 0,
            stronger: Vec::new(),
            drains: false,
            calculates: false,
        },
    };
    for (line, live) in lines.iter().zip(live_after(&lines, &kept)) {
        writer.label = line.label;
        writer.live = live;
        writer.line(line)?;
        writer.scratch.clear();
        let live = &writer.live;
        writer.places.retain(|reg, _| live.contains(reg));
    }
    for reg in kept {
        let place = writer.place(reg)?;
        writer.code.kept.insert(reg, place);
    }
    writer.code.registers = writer.used;
    Ok(writer.code)
}

/// After each statement, the registers that somebody may still read.
fn live_after(lines: &[Line], kept: &[Reg]) -> Vec<BTreeSet<Reg>> {
    let mut live: BTreeSet<Reg> = kept.iter().copied().collect();
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

struct Writer<'a> {
    thread: &'a Thread,
    refuse: Refuse<'a>,
    /// The statement that is being written.
    label: Label,
    /// What is read after it.
    live: BTreeSet<Reg>,
    places: BTreeMap<Reg, Slot>,
    /// Taken while the statement is written.
    scratch: Vec<Slot>,
    /// The first place that registers may have.
    first: usize,
    /// No place from here on was ever used.
    used: usize,
    code: Code,
}

impl Writer<'_> {
    fn line(&mut self, line: &Line) -> Result<(), Unsupported> {
        for reg in flow::uses(&line.op) {
            self.place(reg)?;
        }
        match &line.op {
            Op::Skip | Op::Leave | Op::Invoke { .. } | Op::Return { .. } => {}
            Op::Assign { reg, expr } => {
                let to = self.target(*reg)?;
                self.put(to, Some(*reg), expr)?;
            }
            Op::Load { reg, from } => {
                let (to, from) = (self.target(*reg)?, self.location(from)?);
                self.write(Instruction::Load { to, from });
            }
            Op::Store { to, value } => {
                let (to, value) = (self.location(to)?, self.operand(value)?);
                self.write(Instruction::Store { to, value });
            }
            Op::Update { reg, at, update } => {
                self.code.drains |= !line.drains;
                let reg = reg.filter(|reg| self.live.contains(reg));
                let at = self.location(at)?;
                self.update(reg, at, update)?;
            }
            Op::Fence(kinds) => self.fence(*kinds),
            Op::Drain(_) => {
                return self.refuse(NoLitmus::Drain);
            }
            Op::Choose { .. } => {
                return self.refuse(NoLitmus::Choose);
            }
            Op::Assume(_) => {
                return self.refuse(NoLitmus::Assume);
            }
            Op::Assert(_) => {
                return self.refuse(NoLitmus::Assert);
            }
            Op::New { .. } | Op::Free { .. } => {
                return self.refuse(NoLitmus::Records);
            }
            Op::Branch { .. } | Op::AtomicBegin | Op::AtomicEnd | Op::Halt => {
                unreachable!("not in straight-line code")
            }
        }
        Ok(())
    }

    fn update(&mut self, reg: Option<Reg>, at: Loc, update: &Update) -> Result<(), Unsupported> {
        match update {
            Update::Swap { new } => {
                let with = self.exchanged(reg, new)?;
                self.write(Instruction::Exchange { at, with });
            }
            Update::Add { by } => {
                self.code.calculates = true;
                match reg {
                    None => {
                        let value = self.operand(by)?;
                        self.write(Instruction::Locked { what: Arithmetic::Add, at, value });
                    }
                    Some(_) => {
                        let with = self.exchanged(reg, by)?;
                        self.write(Instruction::ExchangeAdd { at, with });
                    }
                }
            }
            Update::Bits { op, by } => {
                if reg.is_some() {
                    return self.refuse(NoLitmus::OldValueOfBits);
                }
                let what = match op {
                    BinOp::BitAnd => Arithmetic::And,
                    BinOp::BitOr => Arithmetic::Or,
                    BinOp::BitXor => Arithmetic::Xor,
                    other => unreachable!("{} is no bitwise update", other.symbol()),
                };
                let value = self.operand(by)?;
                self.write(Instruction::Locked { what, at, value });
            }
            Update::Cas { expected, new } => self.compare_and_swap(reg, at, expected, new)?,
        }
        Ok(())
    }

    /// What is written, in a register that gets what was there.
    fn exchanged(&mut self, reg: Option<Reg>, value: &Expr<Reg>) -> Result<Slot, Unsupported> {
        match reg {
            Some(reg) => {
                let place = self.target(reg)?;
                self.put(place, Some(reg), value)?;
                Ok(place)
            }
            None => self.consumed(value),
        }
    }

    /// Whether it wrote is known from a flag. The jump orders nothing that the locked instruction does not.
    fn compare_and_swap(
        &mut self,
        reg: Option<Reg>,
        at: Loc,
        expected: &Expr<Reg>,
        new: &Expr<Reg>,
    ) -> Result<(), Unsupported> {
        self.put(ACCUMULATOR, None, expected)?;
        let new = match new {
            Expr::Var(reg) => self.place(*reg)?,
            new => {
                let place = self.free()?;
                self.put(place, None, new)?;
                place
            }
        };
        self.write(Instruction::CompareExchange { at, new });
        if let Some(reg) = reg {
            let (to, over) = (self.target(reg)?, Mark(self.code.marks));
            self.code.marks += 1;
            self.write(Instruction::Move { to, value: Operand::Number(0) });
            self.write(Instruction::JumpIfDifferent(over));
            self.write(Instruction::Move { to, value: Operand::Number(1) });
            self.write(Instruction::Here(over));
        }
        Ok(())
    }

    /// The weakest fences that keep these kinds in order.
    fn fence(&mut self, kinds: FenceKinds) {
        let loads = FenceKinds::LOAD_LOAD.union(FenceKinds::LOAD_STORE);
        if kinds.contains(FenceKinds::STORE_LOAD) {
            self.write(Instruction::Fence(Fence::Memory));
            self.stronger("MFENCE", FenceKinds::FULL, kinds);
            return;
        }
        if kinds.contains(FenceKinds::STORE_STORE) {
            self.write(Instruction::Fence(Fence::Store));
        }
        if kinds.contains(FenceKinds::LOAD_LOAD) || kinds.contains(FenceKinds::LOAD_STORE) {
            self.write(Instruction::Fence(Fence::Load));
            self.stronger("LFENCE", loads, kinds);
        }
    }

    fn stronger(&mut self, name: &'static str, orders: FenceKinds, asked: FenceKinds) {
        let more = FenceKinds::SINGLE.iter().map(|(kind, _)| *kind);
        let more = more.filter(|kind| orders.contains(*kind) && !asked.contains(*kind));
        let more = more.fold(FenceKinds::default(), FenceKinds::union);
        if more != FenceKinds::default() {
            self.code.stronger.push((self.label, name, more));
        }
    }

    /// A value as an operand: as it is, or calculated into a register.
    fn operand(&mut self, value: &Expr<Reg>) -> Result<Operand, Unsupported> {
        Ok(match value {
            Expr::Const(value) => Operand::Number(*value),
            Expr::Var(reg) => Operand::Register(self.place(*reg)?),
            Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => {
                Operand::Register(self.consumed(value)?)
            }
        })
    }

    /// A value in a register that nobody needs afterwards: that of its first operand, or a free one.
    fn consumed(&mut self, value: &Expr<Reg>) -> Result<Slot, Unsupported> {
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
        let place = match first {
            Some(reg) => self.place(reg)?,
            None => self.free()?,
        };
        self.put(place, first, value)?;
        Ok(place)
    }

    /// Puts a value into a place, which belongs to `owner`.
    fn put(&mut self, to: Slot, owner: Option<Reg>, value: &Expr<Reg>) -> Result<(), Unsupported> {
        // What is calculated step by step must not lose an operand on the way.
        let in_place = |owner: Reg| match value {
            Expr::Const(_) | Expr::Var(_) => true,
            Expr::Unary(_, a) => matches!(a.as_ref(), Expr::Var(_)),
            Expr::Binary(_, a, b) => matches!(a.as_ref(), Expr::Var(_)) && !mentions(b, owner),
            Expr::Select(..) => false,
        };
        if owner.is_some_and(|owner| mentions(value, owner) && !in_place(owner)) {
            let place = self.free()?;
            self.calculate(place, value)?;
            self.write(Instruction::Move { to, value: Operand::Register(place) });
            return Ok(());
        }
        self.calculate(to, value)
    }

    /// Calculates a value in a place that it does not read once something is in there.
    fn calculate(&mut self, to: Slot, value: &Expr<Reg>) -> Result<(), Unsupported> {
        match value {
            Expr::Const(value) => {
                self.write(Instruction::Move { to, value: Operand::Number(*value) });
            }
            Expr::Var(reg) => {
                let from = self.place(*reg)?;
                if from != to {
                    self.write(Instruction::Move { to, value: Operand::Register(from) });
                }
            }
            Expr::Unary(UnOp::Not, a) if self.is_bool(a) => {
                self.calculate(to, a)?;
                self.number(Arithmetic::Xor, to, 1);
            }
            Expr::Unary(UnOp::BitNot, a) => {
                self.calculate(to, a)?;
                self.number(Arithmetic::Xor, to, -1);
            }
            Expr::Unary(UnOp::Neg, a) => {
                self.calculate(to, a)?;
                self.number(Arithmetic::Xor, to, -1);
                self.number(Arithmetic::Add, to, 1);
            }
            Expr::Binary(op, a, b) => {
                let (what, b) = match (op, b.as_ref()) {
                    (BinOp::Add, b) => (Arithmetic::Add, b.clone()),
                    (BinOp::Sub, Expr::Const(by)) if *by != i32::MIN => {
                        (Arithmetic::Add, Expr::Const(-by))
                    }
                    // Both are 0, and herd knows this one.
                    (BinOp::Sub, b) if a.as_ref() == b => (Arithmetic::Xor, b.clone()),
                    (BinOp::Sub, b) => (Arithmetic::Sub, b.clone()),
                    (BinOp::BitAnd, b) => (Arithmetic::And, b.clone()),
                    (BinOp::BitOr, b) => (Arithmetic::Or, b.clone()),
                    (BinOp::BitXor, b) => (Arithmetic::Xor, b.clone()),
                    (op, _) => return self.cannot_calculate(op.symbol()),
                };
                self.calculate(to, a)?;
                let value = match &b {
                    Expr::Const(value) => Operand::Number(*value),
                    Expr::Var(reg) => Operand::Register(self.place(*reg)?),
                    b => {
                        let place = self.free()?;
                        self.calculate(place, b)?;
                        Operand::Register(place)
                    }
                };
                self.code.calculates |= matches!(what, Arithmetic::Add | Arithmetic::Sub);
                self.write(Instruction::Calculate { what, to, value });
            }
            Expr::Unary(op, _) => return self.cannot_calculate(op.symbol()),
            // `flag ? 1 : 0`
            Expr::Select(flag, yes, no)
                if self.is_bool(flag) && (yes.as_const(), no.as_const()) == (Some(1), Some(0)) =>
            {
                self.calculate(to, flag)?;
            }
            Expr::Select(..) => return self.cannot_calculate("?:"),
        }
        Ok(())
    }

    fn number(&mut self, what: Arithmetic, to: Slot, value: i32) {
        self.code.calculates |= what == Arithmetic::Add;
        self.write(Instruction::Calculate { what, to, value: Operand::Number(value) });
    }

    fn is_bool(&self, expr: &Expr<Reg>) -> bool {
        let Expr::Var(reg) = expr else { return false };
        self.thread.registers[reg.index()].ty == Type::Bool
    }

    fn location(&self, at: &Address) -> Result<Loc, Unsupported> {
        match at.as_fixed() {
            Some(loc) => Ok(loc),
            None => self.refuse(NoLitmus::ComputedAddress),
        }
    }

    /// Where a register is; one that was never set is 0.
    fn place(&mut self, reg: Reg) -> Result<Slot, Unsupported> {
        if let Some(place) = self.places.get(&reg) {
            return Ok(*place);
        }
        self.take(reg, Slot(self.used))
    }

    /// Where a register that is being set is. What the statement reads has its place already.
    fn target(&mut self, reg: Reg) -> Result<Slot, Unsupported> {
        match self.places.get(&reg) {
            Some(place) => Ok(*place),
            None => self.take(reg, self.lowest()),
        }
    }

    fn lowest(&self) -> Slot {
        let is_free = |place: &Slot| {
            !self.scratch.contains(place) && !self.places.values().any(|taken| taken == place)
        };
        (self.first..).map(Slot).find(is_free).expect("finitely many are taken")
    }

    fn take(&mut self, reg: Reg, place: Slot) -> Result<Slot, Unsupported> {
        self.claim(place)?;
        self.places.insert(reg, place);
        Ok(place)
    }

    /// A place until the statement is written.
    fn free(&mut self) -> Result<Slot, Unsupported> {
        let place = self.lowest();
        self.claim(place)?;
        self.scratch.push(place);
        Ok(place)
    }

    fn claim(&mut self, place: Slot) -> Result<(), Unsupported> {
        self.used = self.used.max(place.0 + 1);
        if self.used > REGISTERS {
            return self.refuse(NoLitmus::Registers);
        }
        Ok(())
    }

    fn write(&mut self, instruction: Instruction) {
        self.code.instructions.push(instruction);
    }

    fn cannot_calculate<T>(&self, operator: &'static str) -> Result<T, Unsupported> {
        self.refuse(NoLitmus::Operator(operator))
    }

    fn refuse<T>(&self, reason: NoLitmus) -> Result<T, Unsupported> {
        Err((self.refuse)(self.label, reason))
    }
}
