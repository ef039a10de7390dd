//! The x86 instructions that a litmus test needs, and which of herd's two dialects has them. How instructions are
//! written is in [`fencepost_cycles::x86`].

use fencepost_cycles::x86::{self, Layout, Syntax};
use fencepost_ir::{Loc, Value};

/// How many registers the larger dialect has: without those that programs keep their stack in.
pub(super) const REGISTERS: usize = x86::REGISTERS.len();

/// A register of the processor, by its number in [`x86::REGISTERS`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Slot(pub(super) usize);

/// What `cmpxchg` compares with, and where it leaves what it found.
pub(super) const ACCUMULATOR: Slot = Slot(0);

/// What is not a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operand {
    /// A constant.
    Number(Value),
    /// A register.
    Register(Slot),
}

/// What is done with two operands; the first gets the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arithmetic {
    Add,
    Sub,
    And,
    Or,
    Xor,
}

impl Arithmetic {
    fn name(self) -> &'static str {
        match self {
            Arithmetic::Add => "add",
            Arithmetic::Sub => "sub",
            Arithmetic::And => "and",
            Arithmetic::Or => "or",
            Arithmetic::Xor => "xor",
        }
    }
}

/// A fence instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fence {
    /// Everything before it with everything after it.
    Memory,
    /// Stores with stores.
    Store,
    /// Loads with loads and stores.
    Load,
}

/// The end of a jump. Each thread counts its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mark(pub(super) usize);

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Instruction {
    /// Reads memory.
    Load { to: Slot, from: Loc },
    /// Writes memory.
    Store { to: Loc, value: Operand },
    /// Copies into a register; flags stay what they are.
    Move { to: Slot, value: Operand },
    /// Calculates in a register.
    Calculate { what: Arithmetic, to: Slot, value: Operand },
    /// Calculates in memory, in one step.
    Locked { what: Arithmetic, at: Loc, value: Operand },
    /// Exchanges memory and register, in one step.
    Exchange { at: Loc, with: Slot },
    /// Adds the register to memory and leaves there what memory was, in one step.
    ExchangeAdd { at: Loc, with: Slot },
    /// Writes the register if memory is what the accumulator is, in one step.
    CompareExchange { at: Loc, new: Slot },
    /// Keeps accesses in order.
    Fence(Fence),
    /// Jumps if the last comparison failed.
    JumpIfDifferent(Mark),
    /// Where a jump goes.
    Here(Mark),
}

impl Instruction {
    /// What herd would refuse in any dialect.
    pub(super) fn unknown_to_herd(self) -> Option<&'static str> {
        match self {
            Instruction::Calculate { what: Arithmetic::Sub, .. } => Some("SUB"),
            Instruction::Locked { what: Arithmetic::Sub, .. } => Some("LOCK SUB"),
            Instruction::Locked { what: Arithmetic::And, .. } => Some("LOCK AND"),
            Instruction::Locked { what: Arithmetic::Or, .. } => Some("LOCK OR"),
            Instruction::ExchangeAdd { .. } => Some("LOCK XADD"),
            Instruction::Load { .. }
            | Instruction::Store { .. }
            | Instruction::Move { .. }
            | Instruction::Calculate { .. }
            | Instruction::Locked { .. }
            | Instruction::Exchange { .. }
            | Instruction::CompareExchange { .. }
            | Instruction::Fence(_)
            | Instruction::JumpIfDifferent(_)
            | Instruction::Here(_) => None,
        }
    }

    /// Whether herd knows it in `X86_64` only.
    fn is_wide(self) -> bool {
        matches!(
            self,
            Instruction::CompareExchange { .. }
                | Instruction::Calculate { what: Arithmetic::And, .. }
        )
    }
}

/// Which of herd's architectures a test is for. Values have 32 bits in both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dialect {
    /// `X86`: `MOV EAX,[x]`.
    Intel,
    /// `X86_64`: `movl (x),%eax`.
    Att,
}

impl Dialect {
    /// `X86` wherever it has enough registers and herd knows the instructions there.
    pub(super) fn of(registers: usize, mut code: impl Iterator<Item = Instruction>) -> Dialect {
        if registers > x86::OLD_REGISTERS || code.any(Instruction::is_wide) {
            Dialect::Att
        } else {
            Dialect::Intel
        }
    }

    /// Its name in the first line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Dialect::Intel => "X86",
            Dialect::Att => "X86_64",
        }
    }

    /// A register in a condition.
    pub(super) fn observed(self, slot: Slot) -> String {
        let (wide, narrow) = x86::REGISTERS[slot.0];
        match self {
            Dialect::Intel => Syntax::Intel.register(narrow),
            Dialect::Att => wide.to_string(),
        }
    }

    /// The text of an instruction.
    pub(super) fn text(
        self,
        instruction: Instruction,
        location: &impl Fn(Loc) -> String,
        mark: &impl Fn(Mark) -> String,
    ) -> String {
        let (syntax, width) = match self {
            Dialect::Intel => (Syntax::Intel, None),
            Dialect::Att => (Syntax::Att, Some(32)),
        };
        let write = |name, operands: Vec<x86::Operand>| {
            let width = width.filter(|_| !operands.is_empty());
            let (lock, name) = match str::strip_prefix(name, "lock ") {
                Some(name) => (true, name),
                None => (false, name),
            };
            x86::Instruction { lock, name, width, operands }.text(syntax, Layout::Diy)
        };
        let memory = |at: Loc| x86::Operand::Memory(location(at));
        let register = |slot: Slot| x86::Operand::Register(x86::REGISTERS[slot.0].1.into());
        let operand = |operand: Operand| match operand {
            Operand::Number(value) => x86::Operand::Number(value.into()),
            Operand::Register(slot) => register(slot),
        };
        match instruction {
            Instruction::Load { to, from } => write("mov", vec![register(to), memory(from)]),
            Instruction::Store { to, value } => write("mov", vec![memory(to), operand(value)]),
            Instruction::Move { to, value } => write("mov", vec![register(to), operand(value)]),
            Instruction::Calculate { what, to, value } => {
                write(what.name(), vec![register(to), operand(value)])
            }
            Instruction::Locked { what, at, value } => match (what, value) {
                (Arithmetic::Add, Operand::Number(1)) => write("lock inc", vec![memory(at)]),
                (Arithmetic::Add, Operand::Number(-1)) => write("lock dec", vec![memory(at)]),
                (what, value) => {
                    write(&format!("lock {}", what.name()), vec![memory(at), operand(value)])
                }
            },
            // Either order means the same; this is the one that generated tests have.
            Instruction::Exchange { at, with } => match self {
                Dialect::Intel => write("xchg", vec![memory(at), register(with)]),
                Dialect::Att => write("xchg", vec![register(with), memory(at)]),
            },
            Instruction::ExchangeAdd { at, with } => {
                write("lock xadd", vec![memory(at), register(with)])
            }
            Instruction::CompareExchange { at, new } => {
                write("lock cmpxchg", vec![memory(at), register(new)])
            }
            Instruction::Fence(Fence::Memory) => write("mfence", Vec::new()),
            Instruction::Fence(Fence::Store) => write("sfence", Vec::new()),
            Instruction::Fence(Fence::Load) => write("lfence", Vec::new()),
            Instruction::JumpIfDifferent(to) => format!("{} {}", syntax.name("jne"), mark(to)),
            Instruction::Here(here) => format!("{}:", mark(here)),
        }
    }
}
