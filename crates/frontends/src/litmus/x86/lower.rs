//! Lowers a column of instructions to a thread.
//!
//! A locked instruction is an `atomic` block: it waits for all pending accesses of its thread,
//! accesses memory in one step, and no later access overtakes it. A read-modify-write instruction
//! without `LOCK` is a load and a store. `MFENCE` is a full fence, `SFENCE` a store-store fence,
//! and `LFENCE` an acquire fence: it orders earlier loads before all later accesses.
//!
//! - `operands`: reads and writes registers and memory.
//! - `exchange`: instructions with two destinations.

mod exchange;
mod operands;

use std::collections::{BTreeMap, BTreeSet};

use fencepost_ir::assemble::{Sources, Target};
use fencepost_ir::{BinOp, Expr, FenceKinds, Loc, Op, Reg, Span, Thread, UnOp, Update};

use super::super::assembler::Assembler;
use super::super::ast::{Arch, Constant, Init, StateVar};
use super::super::error::{Errors, LitmusError};
use super::super::flags::{Flag, FlagEffect};
use super::super::layout::Layout;
use super::super::table::{Labels, loop_depths};
use super::super::wrap::{negated_in_64_bits, of_width, wrap_of_width};
use super::ast::{Column, Instruction, Memory, Mnemonic, Operand};
use super::registers;

/// The register with which `CMPXCHG` compares.
const ACCUMULATOR: usize = 0;

/// The state that the columns of a test share.
#[derive(Debug)]
pub(in super::super) struct Context<'a> {
    pub(in super::super) source: &'a str,
    pub(in super::super) arch: Arch,
    pub(in super::super) layout: Layout,
    pub(in super::super) sources: Sources,
    pub(in super::super) widths: Widths,
}

/// The widths of the accesses. All accesses to a location must have the same width.
#[derive(Debug, Default)]
pub(in super::super) struct Widths {
    /// The width of the first access to each location; 32 stands for 32 and 64.
    by_location: BTreeMap<Loc, u8>,
    /// Whether an access has less than 32 bits.
    has_narrow: bool,
    /// Whether the address of an access is in a register.
    has_indirect: bool,
    /// The locations for which an error was reported; `None` for an error about indirect accesses.
    reported: BTreeSet<Option<Loc>>,
}

impl Widths {
    /// Records an access; `loc` is `None` if the address is in a register. Fails at the first
    /// conflict for each location, and at the first combination of narrow and indirect accesses.
    fn note(&mut self, loc: Option<Loc>, width: u8, span: Span) -> Result<(), LitmusError> {
        let class = width.min(32);
        self.has_narrow |= class < 32;
        self.has_indirect |= loc.is_none();
        let differs = loc.is_some_and(|loc| *self.by_location.entry(loc).or_insert(class) != class);
        let is_conflict = differs || (self.has_narrow && self.has_indirect);
        if is_conflict && self.reported.insert(loc.filter(|_| differs)) {
            let message = "accesses of different widths to one location are not supported: \
                           use the same width for all accesses";
            return Err(LitmusError::unsupported(span, message));
        }
        Ok(())
    }
}

/// Adds every location that the columns name to the layout.
pub(in super::super) fn declare_locations(
    columns: &[Column],
    layout: &mut Layout,
) -> Result<(), LitmusError> {
    for instruction in columns.iter().flat_map(Column::instructions) {
        for operand in &instruction.operands {
            match operand {
                Operand::Memory(Memory { symbol: Some(name), .. }) | Operand::Address(name) => {
                    layout.declare_if_new(name, instruction.span)?;
                }
                Operand::Memory(_)
                | Operand::Number(_)
                | Operand::Register(_)
                | Operand::Label(_) => {}
            }
        }
    }
    Ok(())
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
    let Context { source, arch, layout, sources, widths } = context;
    let written = written_registers(column);
    errors.begin_thread();
    let mut asm = Assembler::new(&format!("P{}", column.thread), sources);
    let flags = column.instructions().flat_map(|instruction| match instruction.mnemonic {
        Mnemonic::Jump(c) | Mnemonic::Set(c) | Mnemonic::Move(c) => c.flags,
        _ => &[],
    });
    let flags = flags.copied().collect();
    let (constants, initialised) = (BTreeMap::new(), BTreeSet::new());
    let labels = Labels::new(column, &mut asm, errors);
    let end = asm.target();
    let mut lowerer = Lowerer {
        asm,
        source,
        arch: *arch,
        layout,
        widths,
        flags,
        initialised,
        constants,
        labels,
        end,
    };
    for name in observed {
        lowerer.asm.register(name);
    }
    for item in init {
        errors.check(lowerer.init_register(item, column.thread, &written));
    }
    if column.incomplete {
        // Invalid instructions may write registers.
        lowerer.constants.clear();
    }
    let mut is_complete = true;
    for (cell, loops) in column.cells.iter().zip(loop_depths(column)) {
        lowerer.labels.bind(cell, &mut lowerer.asm);
        if let Some(instruction) = &cell.instruction {
            is_complete &= errors.check(lowerer.instruction(instruction, loops)).is_some();
        }
    }
    if !is_complete {
        // An instruction that fails half-way leaves jumps to targets that are not bound.
        return None;
    }
    lowerer.asm.bind(end);
    let end = column.cells.last().map_or_else(Span::default, |cell| cell.span);
    lowerer.asm.add_place(Span { start: end.end, ..end }, "", true, 0);
    errors.check(lowerer.asm.finish(end))
}

/// Returns the registers that the instructions of a column may write. Over-approximates: the first
/// operand of a comparison counts.
fn written_registers(column: &Column) -> BTreeSet<usize> {
    let mut written = BTreeSet::new();
    for instruction in column.instructions() {
        let parts = instruction.operands.iter().filter_map(Operand::register);
        let registers = parts.map(|part| part.register);
        match instruction.mnemonic {
            Mnemonic::Xchg | Mnemonic::Uxch | Mnemonic::Xadd => written.extend(registers),
            Mnemonic::Cmpxchg => {
                written.insert(ACCUMULATOR);
                written.extend(registers);
            }
            _ => {
                if let Some(Operand::Register(part)) = instruction.operands.first() {
                    written.insert(part.register);
                }
            }
        }
    }
    written
}

struct Lowerer<'a> {
    asm: Assembler<'a>,
    source: &'a str,
    arch: Arch,
    layout: &'a mut Layout,
    widths: &'a mut Widths,
    /// The flags that an instruction of the thread reads.
    flags: BTreeSet<Flag>,
    /// The registers that the initial state initialises.
    initialised: BTreeSet<usize>,
    /// The values of registers that no instruction writes.
    constants: BTreeMap<usize, Expr<Reg>>,
    labels: Labels<'a>,
    /// The end of the thread.
    end: Target,
}

fn binary(op: BinOp, a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    Expr::Binary(op, Box::new(a), Box::new(b))
}

impl Lowerer<'_> {
    /// Emits the initial value of a register, if the item belongs to this thread.
    fn init_register(
        &mut self,
        item: &Init,
        thread: u32,
        written: &BTreeSet<usize>,
    ) -> Result<(), LitmusError> {
        let StateVar::Register(owner, name) = &item.var else { return Ok(()) };
        if *owner != thread {
            return Ok(());
        }
        let part = registers::by_name(self.arch, name).ok_or_else(|| {
            LitmusError::name(item.span, format!("there is no register `{name}`"))
        })?;
        let value = item.values.first().cloned().unwrap_or(Constant::Int(0));
        let value = Expr::Const(self.layout.constant(&value, item.span)?);
        self.asm.set_source(item.span, item.span.text(self.source));
        self.write_register(part, value.clone());
        if self.initialised.insert(part.register) && part.width >= 32 {
            if !written.contains(&part.register) {
                self.constants.insert(part.register, value);
            }
        } else {
            // A part of the register has a separate initial value.
            self.constants.remove(&part.register);
        }
        Ok(())
    }

    fn instruction(&mut self, instruction: &Instruction, loops: u32) -> Result<(), LitmusError> {
        let span = instruction.span;
        let text = span.text(self.source).split_whitespace().collect::<Vec<_>>().join(" ");
        if instruction.lock {
            self.check_lock(instruction)?;
        }
        self.check_widths(instruction)?;
        let fence = match instruction.mnemonic {
            Mnemonic::Mfence => Some(FenceKinds::FULL),
            Mnemonic::Sfence => Some(FenceKinds::STORE_STORE),
            Mnemonic::Lfence => Some(FenceKinds::ACQUIRE),
            _ => None,
        };
        if let Some(kinds) = fence {
            self.operands::<0>(instruction)?;
            self.asm.set_source(span, &text);
            self.asm.emit_written_fence(kinds, span, loops);
            return Ok(());
        }
        self.asm.add_place(span, &text, false, loops);
        self.asm.set_source(span, &text);
        match instruction.mnemonic {
            Mnemonic::Mov | Mnemonic::Movnti => self.mov(instruction),
            Mnemonic::Lea => self.lea(instruction),
            Mnemonic::Xchg | Mnemonic::Uxch => self.exchange(instruction),
            Mnemonic::Cmpxchg => self.compare_exchange(instruction),
            Mnemonic::Xadd => self.exchange_add(instruction),
            Mnemonic::Inc
            | Mnemonic::Dec
            | Mnemonic::Add
            | Mnemonic::Sub
            | Mnemonic::And
            | Mnemonic::Or
            | Mnemonic::Xor
            | Mnemonic::Not
            | Mnemonic::Neg
            | Mnemonic::Shl => self.arithmetic(instruction),
            Mnemonic::Cmp | Mnemonic::Test => self.compare(instruction),
            Mnemonic::Jmp | Mnemonic::Jump(_) => self.jump(instruction),
            Mnemonic::Set(condition) => {
                let [to] = self.operands(instruction)?;
                let value = condition.expr(|name| self.asm.register(name));
                self.write(to, value, 8, span)
            }
            Mnemonic::Move(condition) => {
                let [to, from] = self.operands(instruction)?;
                let width = self.width(instruction);
                let (to, from) = (to.clone(), self.read(from, width, span)?);
                let old = self.read(&to, width, span)?;
                let cond = condition.expr(|name| self.asm.register(name));
                let value = Expr::Select(Box::new(cond), Box::new(from), Box::new(old));
                self.write(&to, value, width, span)
            }
            Mnemonic::Ret => {
                self.asm.jump(self.end);
                Ok(())
            }
            Mnemonic::Nop | Mnemonic::Hint => Ok(()),
            Mnemonic::Mfence | Mnemonic::Sfence | Mnemonic::Lfence => {
                unreachable!("fences are lowered above")
            }
        }
    }

    /// Returns the operands. Fails if their number is not `N`.
    fn operands<'i, const N: usize>(
        &self,
        instruction: &'i Instruction,
    ) -> Result<[&'i Operand; N], LitmusError> {
        let operands: Vec<&Operand> = instruction.operands.iter().collect();
        operands.try_into().map_err(|_| {
            let message = format!(
                "this instruction takes {N} operand{}, not {}",
                if N == 1 { "" } else { "s" },
                instruction.operands.len()
            );
            LitmusError::syntax(instruction.span, message)
        })
    }

    /// Checks that a locked instruction may have the prefix: it must write memory.
    fn check_lock(&self, instruction: &Instruction) -> Result<(), LitmusError> {
        let lockable = match instruction.mnemonic {
            Mnemonic::Xchg
            | Mnemonic::Cmpxchg
            | Mnemonic::Xadd
            | Mnemonic::Inc
            | Mnemonic::Dec
            | Mnemonic::Add
            | Mnemonic::Sub
            | Mnemonic::And
            | Mnemonic::Or
            | Mnemonic::Xor
            | Mnemonic::Not
            | Mnemonic::Neg => true,
            Mnemonic::Mov
            | Mnemonic::Movnti
            | Mnemonic::Lea
            | Mnemonic::Uxch
            | Mnemonic::Shl
            | Mnemonic::Cmp
            | Mnemonic::Test
            | Mnemonic::Jmp
            | Mnemonic::Jump(_)
            | Mnemonic::Set(_)
            | Mnemonic::Move(_)
            | Mnemonic::Mfence
            | Mnemonic::Sfence
            | Mnemonic::Lfence
            | Mnemonic::Ret
            | Mnemonic::Nop
            | Mnemonic::Hint => false,
        };
        let memory = |operand: &Operand| matches!(operand, Operand::Memory(_));
        let exchanges = instruction.mnemonic == Mnemonic::Xchg;
        let reaches = instruction.operands.first().is_some_and(memory)
            || exchanges && instruction.operands.iter().any(memory);
        if lockable && reaches {
            return Ok(());
        }
        let message = "the prefix LOCK is not allowed here: remove it";
        Err(LitmusError::syntax(instruction.span, message)
            .label("LOCK needs a read-modify-write instruction on memory"))
    }

    /// Emits assignments to the flags that an instruction of the thread reads.
    fn set_flags(
        &mut self,
        outcome: &FlagEffect,
        width: u8,
        span: Span,
    ) -> Result<(), LitmusError> {
        for flag in Flag::ALL {
            if self.flags.contains(&flag)
                && let Some(value) = outcome.flag(flag, width, span)?
            {
                let reg = self.asm.register(flag.register());
                self.asm.assign(reg, value);
            }
        }
        Ok(())
    }

    fn mov(&mut self, instruction: &Instruction) -> Result<(), LitmusError> {
        let span = instruction.span;
        let [to, from] = self.operands(instruction)?;
        let width = self.width(instruction);
        match (to, from) {
            (Operand::Memory(_), Operand::Memory(_)) => Err(two_memory_operands(span)),
            (Operand::Register(part), Operand::Memory(memory))
                if part.width >= 32 && width >= 32 =>
            {
                let from = self.address(memory, width, span)?;
                let reg = self.asm.register(registers::full_name(self.arch, part.register));
                self.asm.emit(Op::Load { reg, from });
                Ok(())
            }
            _ => {
                let value = self.read(from, width, span)?;
                self.write(to, value, width, span)
            }
        }
    }

    fn lea(&mut self, instruction: &Instruction) -> Result<(), LitmusError> {
        match self.operands(instruction)? {
            [Operand::Register(part), Operand::Memory(memory)] => {
                let address = self.effective_address(memory, instruction.span)?;
                self.write_register(*part, address);
                Ok(())
            }
            _ => Err(LitmusError::syntax(
                instruction.span,
                "LEA takes a register and a memory operand",
            )),
        }
    }

    fn arithmetic(&mut self, instruction: &Instruction) -> Result<(), LitmusError> {
        let span = instruction.span;
        let width = self.width(instruction);
        let one = Operand::Number(1);
        let (to, by) = match instruction.mnemonic {
            Mnemonic::Inc | Mnemonic::Dec => (self.operands::<1>(instruction)?[0], &one),
            Mnemonic::Not | Mnemonic::Neg => (self.operands::<1>(instruction)?[0], &one),
            _ => {
                let [to, by] = self.operands(instruction)?;
                (to, by)
            }
        };
        if matches!((to, by), (Operand::Memory(_), Operand::Memory(_))) {
            return Err(two_memory_operands(span));
        }
        let mut by = self.read(by, width, span)?;
        if instruction.mnemonic == Mnemonic::Shl {
            // The count is taken modulo 32 or 64. A shift by 0 leaves the flags unchanged.
            let most = Expr::Const(if width == 64 { 63 } else { 31 });
            by = binary(BinOp::BitAnd, by, most).fold();
            match by.as_const() {
                Some(0) => return Ok(()),
                Some(_) => {}
                None if self.flags.is_empty() => {}
                None => {
                    let message = "a shift by a register is not supported in a thread that reads flags: \
                                   shift by a number";
                    return Err(LitmusError::unsupported(span, message));
                }
            }
        }
        if instruction.lock
            && width >= 32
            && let Some(update) = locked_update(instruction.mnemonic, width, &by)
            && let Operand::Memory(memory) = to
        {
            let at = self.address(memory, width, span)?;
            let reads_flags = !self.flags.is_empty() && instruction.mnemonic != Mnemonic::Not;
            let old = reads_flags.then(|| self.asm.temporary());
            self.emit_locked(Op::Update { reg: old, at, update });
            return match old {
                None => Ok(()),
                Some(old) => {
                    let (_, outcome) = compute(instruction.mnemonic, width, Expr::Var(old), by);
                    outcome.map_or(Ok(()), |outcome| self.set_flags(&outcome, width, span))
                }
            };
        }
        if instruction.lock {
            self.asm.emit(Op::AtomicBegin);
        }
        let mut old = self.read(to, width, span)?;
        if self.flags.is_empty() || matches!(to, Operand::Memory(_)) {
            let (value, outcome) = compute(instruction.mnemonic, width, old, by);
            self.write(to, value, width, span)?;
            if instruction.lock {
                self.asm.emit(Op::AtomicEnd);
            }
            return outcome.map_or(Ok(()), |outcome| self.set_flags(&outcome, width, span));
        }
        // The flags depend on the old values of the registers.
        let kept = self.asm.temporary();
        self.asm.assign(kept, old);
        old = Expr::Var(kept);
        if by.as_const().is_none() {
            let kept = self.asm.temporary();
            self.asm.assign(kept, by);
            by = Expr::Var(kept);
        }
        let (value, outcome) = compute(instruction.mnemonic, width, old, by);
        self.write(to, value, width, span)?;
        outcome.map_or(Ok(()), |outcome| self.set_flags(&outcome, width, span))
    }

    fn compare(&mut self, instruction: &Instruction) -> Result<(), LitmusError> {
        let span = instruction.span;
        let [a, b] = self.operands(instruction)?;
        if matches!((a, b), (Operand::Memory(_), Operand::Memory(_))) {
            return Err(two_memory_operands(span));
        }
        let width = self.width(instruction);
        let (a, b) = (self.read(a, width, span)?, self.read(b, width, span)?);
        if instruction.mnemonic == Mnemonic::Cmp {
            return self.set_flags(&FlagEffect::Compared(a, b), width, span);
        }
        self.set_flags(&FlagEffect::NoCarry(binary(BinOp::BitAnd, a, b)), width, span)
    }

    fn jump(&mut self, instruction: &Instruction) -> Result<(), LitmusError> {
        let [Operand::Label(name)] = self.operands(instruction)? else {
            return Err(LitmusError::unsupported(
                instruction.span,
                "the target of a jump must be a label",
            ));
        };
        let target = self.labels.target(name, instruction.span)?;
        match instruction.mnemonic {
            Mnemonic::Jump(condition) => {
                let cond = condition.expr(|name| self.asm.register(name));
                self.asm.jump_if(cond, target);
            }
            _ => self.asm.jump(target),
        }
        Ok(())
    }
}

fn two_memory_operands(span: Span) -> LitmusError {
    LitmusError::syntax(
        span,
        "an instruction has at most one memory operand: use a register for the other operand",
    )
}

/// Returns `-a` in an instruction of `width` bits.
fn negated(a: Expr<Reg>, width: u8) -> Expr<Reg> {
    if width == 64 { negated_in_64_bits(a) } else { Expr::Unary(UnOp::Neg, Box::new(a)) }
}

/// Returns the result of an instruction of `width` bits and its effect on the flags.
fn compute(
    mnemonic: Mnemonic,
    width: u8,
    old: Expr<Reg>,
    by: Expr<Reg>,
) -> (Expr<Reg>, Option<FlagEffect>) {
    let both = |op| binary(of_width(op, width), old.clone(), by.clone());
    let zero = Expr::Const(0);
    match mnemonic {
        Mnemonic::Inc => (both(BinOp::Add), Some(FlagEffect::KeepsCarry(both(BinOp::Add)))),
        Mnemonic::Dec => (both(BinOp::Sub), Some(FlagEffect::KeepsCarry(both(BinOp::Sub)))),
        Mnemonic::Add => (both(BinOp::Add), Some(FlagEffect::UnknownCarry(both(BinOp::Add)))),
        Mnemonic::Sub => (both(BinOp::Sub), Some(FlagEffect::Compared(old, by))),
        Mnemonic::And => (both(BinOp::BitAnd), Some(FlagEffect::NoCarry(both(BinOp::BitAnd)))),
        Mnemonic::Or => (both(BinOp::BitOr), Some(FlagEffect::NoCarry(both(BinOp::BitOr)))),
        Mnemonic::Xor => (both(BinOp::BitXor), Some(FlagEffect::NoCarry(both(BinOp::BitXor)))),
        Mnemonic::Shl => (both(BinOp::Shl), Some(FlagEffect::UnknownCarry(both(BinOp::Shl)))),
        Mnemonic::Neg => (negated(old.clone(), width), Some(FlagEffect::Compared(zero, old))),
        _ => (Expr::Unary(UnOp::BitNot, Box::new(old)), None),
    }
}

/// Returns the update that implements a locked instruction, if there is one.
fn locked_update(mnemonic: Mnemonic, width: u8, by: &Expr<Reg>) -> Option<Update> {
    let bits = |op| Some(Update::Bits { op, by: by.clone() });
    let add = |by: Expr<Reg>| Some(Update::Add { by: by.fold(), wrap: wrap_of_width(width) });
    match mnemonic {
        Mnemonic::Inc | Mnemonic::Add => add(by.clone()),
        Mnemonic::Dec | Mnemonic::Sub => add(negated(by.clone(), width)),
        Mnemonic::And => bits(BinOp::BitAnd),
        Mnemonic::Or => bits(BinOp::BitOr),
        Mnemonic::Xor => bits(BinOp::BitXor),
        Mnemonic::Not => Some(Update::Bits { op: BinOp::BitXor, by: Expr::Const(-1) }),
        _ => None,
    }
}
