//! Lowers a column of instructions to a thread.
//!
//! The orders of accesses are recorded in [`Program::orders`](fencepost_ir::Program::orders). Models
//! without such orders use fences with the label of the access. `DMB` and `DSB` are fences.
//!
//! Dependencies are kept: `EOR W2,W1,W1` is an expression that reads `W1`, and an address that is
//! computed from a register reads this register. A register that no instruction writes is a
//! constant.
//!
//! - `operands`: reads and writes registers.
//! - `memory`: loads, stores and read-modify-writes.
//! - `exclusive`: `LDXR` and `STXR`.

mod exclusive;
mod memory;
mod operands;

use std::collections::{BTreeMap, BTreeSet};

use fencepost_ir::assemble::{Sources, Target};
use fencepost_ir::{BinOp, Expr, FenceKinds, Label, Op, Reg, Span, Thread, UnOp, Value};

use super::super::assembler::Assembler;
use super::super::ast::{Constant, Init, StateVar};
use super::super::error::{Errors, LitmusError};
use super::super::flags::{Condition, Flag, FlagEffect};
use super::super::layout::Layout;
use super::super::table::{Labels, loop_depths};
use super::super::wrap::of_width;
use super::ast::{Change, Column, Instruction, JumpCondition, Operation, Source};
use super::exclusives::Pairs;
use super::registers::{Register, full_name};
use super::targets::Accesses;
use operands::RegisterClass;

/// The state that the columns of a test share.
#[derive(Debug)]
pub(in super::super) struct Context<'a> {
    pub(in super::super) source: &'a str,
    pub(in super::super) layout: Layout,
    pub(in super::super) sources: Sources,
    pub(in super::super) accesses: Accesses,
}

/// Lowers a column to a thread. `observed` are the registers of the thread that the constraint
/// uses.
pub(in super::super) fn lower(
    column: &Column,
    init: &[Init],
    observed: &[String],
    context: &mut Context<'_>,
    errors: &mut Errors,
) -> Option<Thread> {
    let Context { source, layout, sources, accesses } = context;
    errors.begin_thread();
    let mut asm = Assembler::new(&format!("P{}", column.thread), sources);
    let flags = column.instructions().flat_map(|instruction| match &instruction.operation {
        Operation::Jump { when: JumpCondition::Flags(condition), .. }
        | Operation::Select { when: condition, .. } => condition.flags,
        _ => &[],
    });
    let flags = flags.copied().collect();
    let labels = Labels::new(column, &mut asm, errors);
    let end = asm.target();
    let pairs = Pairs::new(column);
    let mut lowerer = Lowerer {
        asm,
        source,
        layout,
        accesses,
        flags,
        classes: BTreeMap::new(),
        constants: BTreeMap::new(),
        labels,
        pairs,
        exclusive_labels: BTreeMap::new(),
        end,
    };
    for name in observed {
        lowerer.asm.register(name);
    }
    lowerer.init_registers(column, init, observed, errors);
    let mut is_complete = true;
    for ((at, cell), loops) in column.cells.iter().enumerate().zip(loop_depths(column)) {
        lowerer.labels.bind(cell, &mut lowerer.asm);
        if let Some(instruction) = &cell.instruction {
            is_complete &= errors.check(lowerer.instruction(instruction, at, loops)).is_some();
        }
    }
    if !is_complete {
        // An instruction that fails half-way leaves jumps to targets that are not bound.
        return None;
    }
    lowerer.asm.bind(end);
    lowerer.require_no_reservation();
    lowerer.record_pairs();
    let end = column.cells.last().map_or_else(Span::default, |cell| cell.span);
    lowerer.asm.add_place(Span { start: end.end, ..end }, "", true, 0);
    errors.check(lowerer.asm.finish(end))
}

struct Lowerer<'a> {
    asm: Assembler<'a>,
    source: &'a str,
    layout: &'a mut Layout,
    accesses: &'a mut Accesses,
    /// The flags that an instruction of the thread reads.
    flags: BTreeSet<Flag>,
    /// The classes of the registers that an instruction writes.
    classes: BTreeMap<u8, RegisterClass>,
    /// The values of the initialised registers that no instruction writes.
    constants: BTreeMap<u8, Value>,
    labels: Labels<'a>,
    pairs: Pairs,
    /// The labels of exclusive accesses that reserve a location or use the reservation, by cell.
    exclusive_labels: BTreeMap<usize, Label>,
    /// The end of the thread.
    end: Target,
}

fn binary(op: BinOp, a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    Expr::Binary(op, Box::new(a), Box::new(b))
}

fn inverted(expr: Expr<Reg>, inverts: bool) -> Expr<Reg> {
    if inverts { Expr::Unary(UnOp::BitNot, Box::new(expr)) } else { expr }
}

impl Lowerer<'_> {
    /// Classifies the registers, and emits the initial values of those that are written or
    /// observed. The others are constants.
    fn init_registers(
        &mut self,
        column: &Column,
        init: &[Init],
        observed: &[String],
        errors: &mut Errors,
    ) {
        let mut values = BTreeMap::new();
        for item in init {
            let StateVar::Register(owner, name) = &item.var else { continue };
            if *owner != column.thread {
                continue;
            }
            let number = Register::by_name(name).and_then(|register| register.number);
            let Some(number) = number else {
                let message = format!("there is no register `{name}` that can be initialised");
                errors.push(LitmusError::name(item.span, message));
                continue;
            };
            let value = item.values.first().cloned().unwrap_or(Constant::Int(0));
            let Some(value) = errors.check(self.layout.constant(&value, item.span)) else {
                continue;
            };
            values.insert(number, (value, item.span));
        }
        let initial = values.iter().map(|(number, (value, _))| (*number, *value)).collect();
        self.classes = operands::classes(column, &initial);
        for (number, (value, span)) in values {
            let name = full_name(number);
            let is_written = self.classes.contains_key(&number);
            if is_written || observed.contains(&name) {
                self.asm.set_source(span, span.text(self.source));
                let reg = self.asm.register(&name);
                self.asm.assign(reg, Expr::Const(value));
            }
            if !is_written {
                self.constants.insert(number, value);
            }
        }
    }

    fn instruction(
        &mut self,
        instruction: &Instruction,
        at: usize,
        loops: u32,
    ) -> Result<(), LitmusError> {
        let span = instruction.span;
        let text = self.text(span);
        if let Operation::Fence(kinds) = &instruction.operation
            && *kinds != FenceKinds::INSTRUCTION
        {
            self.asm.set_source(span, &text);
            self.asm.emit_written_fence(*kinds, span, loops);
            return Ok(());
        }
        self.asm.add_place(span, &text, false, loops);
        self.asm.set_source(span, &text);
        match &instruction.operation {
            Operation::Nop => Ok(()),
            Operation::Return => {
                self.asm.jump(self.end);
                Ok(())
            }
            Operation::Fence(kinds) => {
                self.asm.emit(Op::Fence(*kinds));
                Ok(())
            }
            Operation::Move { to, from, inverts } => {
                let value = self.source_value(from, to.bits(), span)?;
                self.write(*to, inverted(value, *inverts));
                Ok(())
            }
            Operation::Arithmetic { .. } => self.arithmetic(instruction),
            Operation::Select { to, when, then, otherwise, change } => {
                self.select(*to, *when, (*then, *otherwise), *change);
                Ok(())
            }
            Operation::Jump { when, to } => {
                let target = self.labels.target(to, span)?;
                self.jump(*when, target);
                Ok(())
            }
            Operation::Load { exclusive: true, .. } => self.load_exclusive(instruction, at),
            Operation::Store { status: Some(_), .. } => self.store_exclusive(instruction, at),
            Operation::Load { .. } | Operation::Store { .. } | Operation::Update { .. } => {
                self.access(instruction)
            }
        }
    }

    /// Returns the text of an instruction, in one line.
    fn text(&self, span: Span) -> String {
        span.text(self.source).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn arithmetic(&mut self, instruction: &Instruction) -> Result<(), LitmusError> {
        let Operation::Arithmetic { op, inverts, sets_flags, to, left, right } =
            &instruction.operation
        else {
            return Ok(());
        };
        let (span, bits) = (instruction.span, to.bits());
        let left = self.read(*left);
        let right = inverted(self.source_value(right, bits, span)?, *inverts);
        let value = binary(of_width(*op, bits), left.clone(), right.clone());
        if *sets_flags {
            let effect = match op {
                BinOp::Sub => FlagEffect::Compared(left, right),
                _ => FlagEffect::NoCarry(value.clone()),
            };
            // Flags first: the destination may be an operand.
            self.set_flags(*op, &effect, bits, span)?;
        }
        self.write(*to, value);
        Ok(())
    }

    /// Emits assignments to the flags that an instruction of the thread reads.
    fn set_flags(
        &mut self,
        op: BinOp,
        effect: &FlagEffect,
        bits: u8,
        span: Span,
    ) -> Result<(), LitmusError> {
        for flag in Flag::ALL.into_iter().filter(|flag| self.flags.contains(flag)) {
            let is_modelled = match (op, flag) {
                (BinOp::Sub, _) | (_, Flag::Zero | Flag::Negative) => true,
                (BinOp::Add, _) => false,
                (_, Flag::Less) => true,
                (_, Flag::Below) => false,
            };
            if !is_modelled {
                return Err(LitmusError::unsupported(
                    span,
                    "a condition on the carry or on the overflow of this instruction is not \
                     supported",
                ));
            }
            if let Some(value) = effect.flag(flag, bits, span)? {
                let reg = self.asm.register(flag.register());
                self.asm.assign(reg, value);
            }
        }
        Ok(())
    }

    /// Emits a selection as one assignment of an [`Expr::Select`].
    fn select(
        &mut self,
        to: Register,
        when: Condition,
        (then, otherwise): (Register, Register),
        change: Change,
    ) {
        let (then, otherwise) = (self.read(then), self.read(otherwise));
        let bits = to.bits();
        let otherwise = match change {
            Change::Nothing => otherwise,
            Change::Increment => binary(of_width(BinOp::Add, bits), otherwise, Expr::Const(1)),
            Change::Invert => inverted(otherwise, true),
            Change::Negate => binary(of_width(BinOp::Sub, bits), Expr::Const(0), otherwise),
        };
        let (then, otherwise) = (self.written(to, then), self.written(to, otherwise));
        let when = when.expr(|name| self.asm.register(name));
        let Some(number) = to.number else { return };
        let reg = self.asm.register(&full_name(number));
        self.asm.note_selection();
        self.asm.assign(reg, Expr::Select(Box::new(when), Box::new(then), Box::new(otherwise)));
    }

    fn jump(&mut self, when: JumpCondition, target: Target) {
        match when {
            JumpCondition::Always => self.asm.jump(target),
            JumpCondition::Flags(condition) => {
                let cond = condition.expr(|name| self.asm.register(name));
                self.asm.jump_if(cond, target);
            }
            JumpCondition::Zero { register, is_zero } => {
                let op = if is_zero { BinOp::Eq } else { BinOp::Ne };
                let cond = binary(op, self.read(register), Expr::Const(0));
                self.asm.jump_if(cond, target);
            }
            JumpCondition::Bit { register, bit, is_set } => {
                let shift = of_width(BinOp::Shr, register.bits());
                let shifted = binary(shift, self.read(register), Expr::Const(bit.into()));
                let cond = binary(BinOp::BitAnd, shifted, Expr::Const(1));
                if is_set {
                    self.asm.jump_if(cond, target);
                } else {
                    self.asm.jump_unless(cond, target);
                }
            }
        }
    }

    /// Returns the value of the last operand of an instruction of `bits` bits.
    fn source_value(
        &mut self,
        source: &Source,
        bits: u8,
        span: Span,
    ) -> Result<Expr<Reg>, LitmusError> {
        match source {
            Source::Number(number) => {
                let number = if bits == 32 { i128::from(*number as i32) } else { *number };
                Ok(Expr::Const(self.layout.int(number, span)?))
            }
            Source::Register(extended) => Ok(self.read_extended(*extended, bits)),
        }
    }
}
