//! The x86 instructions that a litmus test needs, and how the two dialects write them.
//!
//! `X86` has Intel's order of operands, the target first, and registers in upper case. `X86_64` has AT&T's order, the
//! target last, with the size in the name of the instruction; herd's `cmpxchg` takes memory first all the same.
//! Values have 32 bits in both.

use fencepost_ir::{Loc, Value};

/// How many registers the larger dialect has: without those that programs keep their stack in.
pub(super) const REGISTERS: usize = 14;

/// A register of the processor, by its number in [`NARROW`] and [`WIDE`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Slot(pub(super) usize);

/// What `cmpxchg` compares with, and where it leaves what it found.
pub(super) const ACCUMULATOR: Slot = Slot(0);

/// The registers of `X86`.
const NARROW: [&str; 6] = ["EAX", "EBX", "ECX", "EDX", "ESI", "EDI"];

/// The registers of `X86_64`: their names in conditions, and the lower 32 bits in instructions.
const WIDE: [(&str, &str); REGISTERS] = [
    ("rax", "eax"),
    ("rbx", "ebx"),
    ("rcx", "ecx"),
    ("rdx", "edx"),
    ("rsi", "esi"),
    ("rdi", "edi"),
    ("r8", "r8d"),
    ("r9", "r9d"),
    ("r10", "r10d"),
    ("r11", "r11d"),
    ("r12", "r12d"),
    ("r13", "r13d"),
    ("r14", "r14d"),
    ("r15", "r15d"),
];

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
            Arithmetic::Add => "ADD",
            Arithmetic::Sub => "SUB",
            Arithmetic::And => "AND",
            Arithmetic::Or => "OR",
            Arithmetic::Xor => "XOR",
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

/// How instructions are written.
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
        if registers > NARROW.len() || code.any(Instruction::is_wide) {
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
    pub(super) fn observed(self, slot: Slot) -> &'static str {
        match self {
            Dialect::Intel => NARROW[slot.0],
            Dialect::Att => WIDE[slot.0].0,
        }
    }

    fn register(self, slot: Slot) -> String {
        match self {
            Dialect::Intel => NARROW[slot.0].into(),
            Dialect::Att => format!("%{}", WIDE[slot.0].1),
        }
    }

    fn operand(self, operand: Operand) -> String {
        match operand {
            Operand::Number(value) => format!("${value}"),
            Operand::Register(slot) => self.register(slot),
        }
    }

    /// An instruction with one or two operands, the target first.
    fn instruction(self, name: &str, operands: &[String]) -> String {
        match self {
            Dialect::Intel => format!("{name} {}", operands.join(",")),
            Dialect::Att => {
                let reversed: Vec<&str> = operands.iter().rev().map(String::as_str).collect();
                format!("{}l {}", name.to_lowercase(), reversed.join(","))
            }
        }
    }

    /// The text of an instruction.
    pub(super) fn text(
        self,
        instruction: Instruction,
        location: &impl Fn(Loc) -> String,
        mark: &impl Fn(Mark) -> String,
    ) -> String {
        let memory = |at: Loc| match self {
            Dialect::Intel => format!("[{}]", location(at)),
            Dialect::Att => format!("({})", location(at)),
        };
        let plain = |name: &str| match self {
            Dialect::Intel => name.to_string(),
            Dialect::Att => name.to_lowercase(),
        };
        let (register, operand) = (|slot| self.register(slot), |value| self.operand(value));
        match instruction {
            Instruction::Load { to, from } => {
                self.instruction("MOV", &[register(to), memory(from)])
            }
            Instruction::Store { to, value } => {
                self.instruction("MOV", &[memory(to), operand(value)])
            }
            Instruction::Move { to, value } => {
                self.instruction("MOV", &[register(to), operand(value)])
            }
            Instruction::Calculate { what, to, value } => {
                self.instruction(what.name(), &[register(to), operand(value)])
            }
            Instruction::Locked { what, at, value } => {
                let (name, operands) = match (what, value) {
                    (Arithmetic::Add, Operand::Number(1)) => ("INC", vec![memory(at)]),
                    (Arithmetic::Add, Operand::Number(-1)) => ("DEC", vec![memory(at)]),
                    (what, value) => (what.name(), vec![memory(at), operand(value)]),
                };
                self.instruction(&format!("LOCK {name}"), &operands)
            }
            // Either order means the same; this is the one that generated tests have.
            Instruction::Exchange { at, with } => match self {
                Dialect::Intel => self.instruction("XCHG", &[memory(at), register(with)]),
                Dialect::Att => self.instruction("XCHG", &[register(with), memory(at)]),
            },
            Instruction::ExchangeAdd { at, with } => {
                self.instruction("LOCK XADD", &[memory(at), register(with)])
            }
            // Memory first in both.
            Instruction::CompareExchange { at, new } => match self {
                Dialect::Intel => self.instruction("LOCK CMPXCHG", &[memory(at), register(new)]),
                Dialect::Att => self.instruction("LOCK CMPXCHG", &[register(new), memory(at)]),
            },
            Instruction::Fence(Fence::Memory) => plain("MFENCE"),
            Instruction::Fence(Fence::Store) => plain("SFENCE"),
            Instruction::Fence(Fence::Load) => plain("LFENCE"),
            Instruction::JumpIfDifferent(to) => format!("{} {}", plain("JNE"), mark(to)),
            Instruction::Here(here) => format!("{}:", mark(here)),
        }
    }
}
