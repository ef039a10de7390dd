//! From a column of instructions to a thread.
//!
//! A locked instruction is an `atomic` block: it waits for all that its thread has pending, acts on memory
//! in one step, and nothing later begins before it. An instruction on memory without `LOCK` is a load and a
//! store. What each fence orders: `MFENCE` everything, `SFENCE` stores, `LFENCE` what comes after it
//! behind earlier loads.
//!
//! - `operands`: reading and writing registers and memory; `exchange`: instructions that leave two things changed.

mod exchange;
mod operands;

use std::collections::{BTreeMap, BTreeSet};

use fencepost_ir::assemble::{Sources, Target};
use fencepost_ir::{BinOp, Expr, FenceKinds, Loc, Op, Reg, Span, Thread, UnOp, Update};

use super::super::assembler::Assembler;
use super::super::ast::{Arch, Constant, Init, Spot};
use super::super::layout::Layout;
use super::super::wrong::{Errors, Wrong};
use super::ast::{Column, Instruction, Memory, Mnemonic, Operand};
use super::flags::{Flag, Outcome};
use super::loops::loops;
use super::registers;

/// The register that `CMPXCHG` compares with.
const ACCUMULATOR: usize = 0;

/// What the columns of a test share.
#[derive(Debug)]
pub(in super::super) struct Context<'a> {
    pub(in super::super) source: &'a str,
    pub(in super::super) arch: Arch,
    pub(in super::super) layout: Layout,
    pub(in super::super) sources: Sources,
    pub(in super::super) widths: Widths,
}

/// How wide accesses are: a location has one width.
#[derive(Debug, Default)]
pub(in super::super) struct Widths {
    /// The width of the first access to a location; 32 stands for all that is not narrow.
    by_location: BTreeMap<Loc, u8>,
    /// Whether some access is narrow, and whether one goes where a register says.
    narrow: bool,
    through: bool,
    /// About which locations it was said that widths differ, or about all: later accesses only repeat it.
    told: BTreeSet<Option<Loc>>,
}

impl Widths {
    /// Notes an access; none for a location that a register tells.
    fn note(&mut self, loc: Option<Loc>, width: u8, span: Span) -> Result<(), Wrong> {
        let class = width.min(32);
        self.narrow |= class < 32;
        self.through |= loc.is_none();
        let differs = loc.is_some_and(|loc| *self.by_location.entry(loc).or_insert(class) != class);
        let is_wrong = differs || (self.narrow && self.through);
        if is_wrong && self.told.insert(loc.filter(|_| differs)) {
            let message = "accesses of different widths to one location are not supported";
            return Err(Wrong::unsupported(span, message));
        }
        Ok(())
    }
}

/// Makes every location that the columns name one.
pub(in super::super) fn mention(columns: &[Column], layout: &mut Layout) -> Result<(), Wrong> {
    for instruction in columns.iter().flat_map(|c| &c.cells).filter_map(|c| c.instruction.as_ref())
    {
        for operand in &instruction.operands {
            match operand {
                Operand::Memory(Memory { symbol: Some(name), .. }) | Operand::Address(name) => {
                    layout.mention(name, instruction.span)?;
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

/// The thread of a column. `shown` are registers that someone looks at in the end.
pub(in super::super) fn lower(
    column: &Column,
    init: &[Init],
    shown: &[String],
    context: &mut Context<'_>,
    errors: &mut Errors,
) -> Option<Thread> {
    let Context { source, arch, layout, sources, widths } = context;
    let written = written(column);
    errors.begin_thread();
    let mut asm = Assembler::new(&format!("P{}", column.thread), sources);
    let flags = column.cells.iter().filter_map(|cell| cell.instruction.as_ref());
    let flags = flags.flat_map(|instruction| match instruction.mnemonic {
        Mnemonic::Jump(c) | Mnemonic::Set(c) | Mnemonic::Move(c) => c.flags,
        _ => &[],
    });
    let flags = flags.copied().collect();
    let (constants, initialised) = (BTreeMap::new(), BTreeSet::new());
    let targets = BTreeMap::new();
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
        targets,
        end,
    };
    for name in shown {
        lowerer.asm.register(name);
    }
    for item in init {
        errors.check(lowerer.initial(item, column.thread, &written));
    }
    if column.lost {
        // What could not be read may change registers.
        lowerer.constants.clear();
    }
    for (name, span) in column.cells.iter().flat_map(|cell| &cell.labels) {
        let target = lowerer.asm.target();
        if lowerer.targets.insert(name, target).is_some() {
            errors.push(Wrong::name(*span, format!("the label `{name}` stands here twice")));
        }
    }
    let mut bound = BTreeSet::new();
    for (cell, loops) in column.cells.iter().zip(loops(column)) {
        for (name, _) in &cell.labels {
            if bound.insert(name) {
                lowerer.asm.bind(lowerer.targets[name.as_str()]);
            }
            lowerer.asm.reopen();
        }
        if let Some(instruction) = &cell.instruction {
            errors.check(lowerer.instruction(instruction, loops));
        }
    }
    lowerer.asm.bind(end);
    let end = column.cells.last().map_or_else(Span::default, |cell| cell.span);
    lowerer.asm.place(Span { start: end.end, ..end }, "", true, 0);
    errors.check(lowerer.asm.finish(end))
}

/// The registers that a column's instructions may change.
fn written(column: &Column) -> BTreeSet<usize> {
    let mut written = BTreeSet::new();
    for instruction in column.cells.iter().filter_map(|cell| cell.instruction.as_ref()) {
        // Comparisons change nothing, but it does no harm to think so.
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
    /// The flags that matter.
    flags: BTreeSet<Flag>,
    /// The registers that the initial state gives a value.
    initialised: BTreeSet<usize>,
    /// The values of registers that never change.
    constants: BTreeMap<usize, Expr<Reg>>,
    targets: BTreeMap<&'a str, Target>,
    /// Where the thread ends.
    end: Target,
}

fn binary(op: BinOp, a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    Expr::Binary(op, Box::new(a), Box::new(b))
}

impl Lowerer<'_> {
    /// Gives a register its initial value.
    fn initial(
        &mut self,
        item: &Init,
        thread: u32,
        written: &BTreeSet<usize>,
    ) -> Result<(), Wrong> {
        let Spot::Register(owner, name) = &item.spot else { return Ok(()) };
        if *owner != thread {
            return Ok(());
        }
        let part = registers::by_name(self.arch, name)
            .ok_or_else(|| Wrong::name(item.span, format!("there is no register `{name}`")))?;
        let value = item.values.first().cloned().unwrap_or(Constant::Int(0));
        let value = Expr::Const(self.layout.constant(&value, item.span)?);
        self.asm.begin(item.span, item.span.text(self.source));
        self.write_register(part, value.clone(), item.span);
        if self.initialised.insert(part.register) && part.width >= 32 {
            if !written.contains(&part.register) {
                self.constants.insert(part.register, value);
            }
        } else {
            // A part of it is given a value of its own.
            self.constants.remove(&part.register);
        }
        Ok(())
    }

    fn instruction(&mut self, instruction: &Instruction, loops: u32) -> Result<(), Wrong> {
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
            self.asm.begin(span, &text);
            self.asm.written_fence(kinds, span, loops);
            return Ok(());
        }
        self.asm.place(span, &text, false, loops);
        self.asm.begin(span, &text);
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
                unreachable!("fences are done before")
            }
        }
    }

    /// The operands, which must be this many.
    fn operands<'i, const N: usize>(
        &self,
        instruction: &'i Instruction,
    ) -> Result<[&'i Operand; N], Wrong> {
        let operands: Vec<&Operand> = instruction.operands.iter().collect();
        operands.try_into().map_err(|_| {
            let message = format!(
                "this instruction takes {N} operand{}, not {}",
                if N == 1 { "" } else { "s" },
                instruction.operands.len()
            );
            Wrong::syntax(instruction.span, message)
        })
    }

    /// `LOCK` is for instructions that change memory.
    fn check_lock(&self, instruction: &Instruction) -> Result<(), Wrong> {
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
        let message = "the prefix LOCK is not allowed here";
        Err(Wrong::syntax(instruction.span, message)
            .label("only instructions that change memory can be locked"))
    }

    /// Sets the flags that matter.
    fn flags(&mut self, outcome: &Outcome, width: u8, span: Span) -> Result<(), Wrong> {
        if self.flags.iter().any(|flag| *flag != Flag::Zero) {
            self.layout.computes(span);
        }
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

    fn mov(&mut self, instruction: &Instruction) -> Result<(), Wrong> {
        let span = instruction.span;
        let [to, from] = self.operands(instruction)?;
        let width = self.width(instruction);
        match (to, from) {
            (Operand::Memory(_), Operand::Memory(_)) => Err(two_memories(span)),
            (Operand::Register(part), Operand::Memory(memory))
                if part.width >= 32 && width >= 32 =>
            {
                let from = self.address(memory, width, span)?;
                let reg = self.asm.register(registers::shown(self.arch, part.register));
                self.asm.emit(Op::Load { reg, from });
                Ok(())
            }
            _ => {
                let value = self.read(from, width, span)?;
                self.write(to, value, width, span)
            }
        }
    }

    fn lea(&mut self, instruction: &Instruction) -> Result<(), Wrong> {
        match self.operands(instruction)? {
            [Operand::Register(part), Operand::Memory(memory)] => {
                let address = self.effective(memory, instruction.span)?;
                self.write_register(*part, address, instruction.span);
                Ok(())
            }
            _ => Err(Wrong::syntax(instruction.span, "LEA takes a register and memory")),
        }
    }

    fn arithmetic(&mut self, instruction: &Instruction) -> Result<(), Wrong> {
        let span = instruction.span;
        self.layout.computes(span);
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
            return Err(two_memories(span));
        }
        let mut by = self.read(by, width, span)?;
        if instruction.mnemonic == Mnemonic::Shl {
            // Only the lowest bits of the count matter, and a shift by nothing leaves flags alone.
            match by.as_const().map(|count| count & if width == 64 { 63 } else { 31 }) {
                Some(0) => return Ok(()),
                Some(count) => by = Expr::Const(count),
                None if self.flags.is_empty() => {}
                None => {
                    let message = "a condition after a shift by a register is not supported";
                    return Err(Wrong::unsupported(span, message));
                }
            }
        }
        if instruction.lock
            && width >= 32
            && let Some(update) = update(instruction.mnemonic, &by)
            && let Operand::Memory(memory) = to
        {
            let at = self.address(memory, width, span)?;
            let reads_flags = !self.flags.is_empty() && instruction.mnemonic != Mnemonic::Not;
            let old = reads_flags.then(|| self.asm.temporary());
            self.locked(Op::Update { reg: old, at, update });
            return match old {
                None => Ok(()),
                Some(old) => {
                    let (_, outcome) = computed(instruction.mnemonic, Expr::Var(old), by);
                    outcome.map_or(Ok(()), |outcome| self.flags(&outcome, width, span))
                }
            };
        }
        if instruction.lock {
            self.asm.emit(Op::AtomicBegin);
        }
        let mut old = self.read(to, width, span)?;
        if self.flags.is_empty() || matches!(to, Operand::Memory(_)) {
            let (value, outcome) = computed(instruction.mnemonic, old, by);
            self.write(to, value, width, span)?;
            if instruction.lock {
                self.asm.emit(Op::AtomicEnd);
            }
            return outcome.map_or(Ok(()), |outcome| self.flags(&outcome, width, span));
        }
        // Flags look at what the register held before.
        let kept = self.asm.temporary();
        self.asm.assign(kept, old);
        old = Expr::Var(kept);
        if by.as_const().is_none() {
            let kept = self.asm.temporary();
            self.asm.assign(kept, by);
            by = Expr::Var(kept);
        }
        let (value, outcome) = computed(instruction.mnemonic, old, by);
        self.write(to, value, width, span)?;
        outcome.map_or(Ok(()), |outcome| self.flags(&outcome, width, span))
    }

    fn compare(&mut self, instruction: &Instruction) -> Result<(), Wrong> {
        let span = instruction.span;
        let [a, b] = self.operands(instruction)?;
        if matches!((a, b), (Operand::Memory(_), Operand::Memory(_))) {
            return Err(two_memories(span));
        }
        let width = self.width(instruction);
        let (a, b) = (self.read(a, width, span)?, self.read(b, width, span)?);
        if instruction.mnemonic == Mnemonic::Cmp {
            return self.flags(&Outcome::Compared(a, b), width, span);
        }
        self.layout.computes(span);
        self.flags(&Outcome::Result(binary(BinOp::BitAnd, a, b)), width, span)
    }

    fn jump(&mut self, instruction: &Instruction) -> Result<(), Wrong> {
        let [Operand::Label(name)] = self.operands(instruction)? else {
            return Err(Wrong::unsupported(instruction.span, "jumps go to labels only"));
        };
        let target = *self.targets.get(name.as_str()).ok_or_else(|| {
            Wrong::name(instruction.span, format!("there is no label `{name}` in this thread"))
        })?;
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

fn two_memories(span: Span) -> Wrong {
    Wrong::syntax(span, "an instruction has at most one operand in memory")
}

/// The new value, and what flags are told.
fn computed(mnemonic: Mnemonic, old: Expr<Reg>, by: Expr<Reg>) -> (Expr<Reg>, Option<Outcome>) {
    let both = |op| binary(op, old.clone(), by.clone());
    let zero = Expr::Const(0);
    match mnemonic {
        Mnemonic::Inc => (both(BinOp::Add), Some(Outcome::Kept(both(BinOp::Add)))),
        Mnemonic::Dec => (both(BinOp::Sub), Some(Outcome::Kept(both(BinOp::Sub)))),
        Mnemonic::Add => (both(BinOp::Add), Some(Outcome::Carried(both(BinOp::Add)))),
        Mnemonic::Sub => (both(BinOp::Sub), Some(Outcome::Compared(old, by))),
        Mnemonic::And => (both(BinOp::BitAnd), Some(Outcome::Result(both(BinOp::BitAnd)))),
        Mnemonic::Or => (both(BinOp::BitOr), Some(Outcome::Result(both(BinOp::BitOr)))),
        Mnemonic::Xor => (both(BinOp::BitXor), Some(Outcome::Result(both(BinOp::BitXor)))),
        Mnemonic::Shl => (both(BinOp::Shl), Some(Outcome::Carried(both(BinOp::Shl)))),
        Mnemonic::Neg => {
            let value = Expr::Unary(UnOp::Neg, Box::new(old.clone()));
            (value, Some(Outcome::Compared(zero, old)))
        }
        _ => (Expr::Unary(UnOp::BitNot, Box::new(old)), None),
    }
}

/// The update that a locked instruction is, if it is one.
fn update(mnemonic: Mnemonic, by: &Expr<Reg>) -> Option<Update> {
    let bits = |op| Some(Update::Bits { op, by: by.clone() });
    let negative = || Expr::Unary(UnOp::Neg, Box::new(by.clone())).fold();
    match mnemonic {
        Mnemonic::Inc | Mnemonic::Add => Some(Update::Add { by: by.clone() }),
        Mnemonic::Dec | Mnemonic::Sub => Some(Update::Add { by: negative() }),
        Mnemonic::And => bits(BinOp::BitAnd),
        Mnemonic::Or => bits(BinOp::BitOr),
        Mnemonic::Xor => bits(BinOp::BitXor),
        Mnemonic::Not => Some(Update::Bits { op: BinOp::BitXor, by: Expr::Const(-1) }),
        _ => None,
    }
}
