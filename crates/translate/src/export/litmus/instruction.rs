//! The x86 instructions for litmus tests, and the choice between herd's two dialects.
//! [`fencepost_cycles::x86`] defines the syntax of instructions.

use fencepost_cycles::x86::{self, Spacing, Syntax};
use fencepost_ir::{Loc, Value};

/// The number of registers of the larger dialect, without stack registers.
pub(super) const REGISTERS: usize = x86::REGISTERS.len();

/// A machine register, by its index in [`x86::REGISTERS`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct MachineReg(pub(super) usize);

/// The register with which `cmpxchg` compares, and to which it writes the old value.
pub(super) const ACCUMULATOR: MachineReg = MachineReg(0);

/// An operand that is not a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operand {
    /// A constant.
    Number(Value),
    /// A register.
    Register(MachineReg),
}

/// An arithmetic operation. The first operand receives the result.
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
    /// Orders all accesses before it with all accesses after it.
    Memory,
    /// Orders stores with stores.
    Store,
    /// Orders loads with loads and stores.
    Load,
}

/// The target of a jump, numbered per thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct JumpTarget(pub(super) usize);

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Instruction {
    /// Loads a location.
    Load { to: MachineReg, from: Loc },
    /// Stores to a location.
    Store { to: Loc, value: Operand },
    /// Copies a value into a register. Does not change flags.
    Move { to: MachineReg, value: Operand },
    /// Computes in a register.
    Compute { what: Arithmetic, to: MachineReg, value: Operand },
    /// Computes in memory, atomically.
    Locked { what: Arithmetic, at: Loc, value: Operand },
    /// Exchanges a location and a register, atomically.
    Exchange { at: Loc, with: MachineReg },
    /// Adds the register to a location and loads the old value into the register, atomically.
    ExchangeAdd { at: Loc, with: MachineReg },
    /// Stores the register if the location equals the accumulator, atomically.
    CompareExchange { at: Loc, new: MachineReg },
    /// Orders accesses.
    Fence(Fence),
    /// Jumps if the last comparison failed.
    JumpIfNotEqual(JumpTarget),
    /// A jump target.
    Target(JumpTarget),
}

impl Instruction {
    /// Returns the name of the instruction if herd does not support it in any dialect.
    pub(super) fn unknown_to_herd(self) -> Option<&'static str> {
        match self {
            Instruction::Compute { what: Arithmetic::Sub, .. } => Some("SUB"),
            Instruction::Locked { what: Arithmetic::Sub, .. } => Some("LOCK SUB"),
            Instruction::Locked { what: Arithmetic::And, .. } => Some("LOCK AND"),
            Instruction::Locked { what: Arithmetic::Or, .. } => Some("LOCK OR"),
            Instruction::ExchangeAdd { .. } => Some("LOCK XADD"),
            Instruction::Load { .. }
            | Instruction::Store { .. }
            | Instruction::Move { .. }
            | Instruction::Compute { .. }
            | Instruction::Locked { .. }
            | Instruction::Exchange { .. }
            | Instruction::CompareExchange { .. }
            | Instruction::Fence(_)
            | Instruction::JumpIfNotEqual(_)
            | Instruction::Target(_) => None,
        }
    }

    /// Returns whether herd supports the instruction only in `X86_64`.
    fn needs_x86_64(self) -> bool {
        matches!(
            self,
            Instruction::CompareExchange { .. }
                | Instruction::Compute { what: Arithmetic::And, .. }
        )
    }
}

/// The herd architecture of a test. Values have 32 bits in both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dialect {
    /// `X86`: `MOV EAX,[x]`.
    Intel,
    /// `X86_64`: `movl (x),%eax`.
    Att,
}

impl Dialect {
    /// Returns `X86` if it has enough registers and all instructions, else `X86_64`.
    pub(super) fn of(registers: usize, mut code: impl Iterator<Item = Instruction>) -> Dialect {
        if registers > x86::X86_REGISTER_COUNT || code.any(Instruction::needs_x86_64) {
            Dialect::Att
        } else {
            Dialect::Intel
        }
    }

    /// Returns the architecture name for the first line of a test.
    pub(super) fn name(self) -> &'static str {
        match self {
            Dialect::Intel => "X86",
            Dialect::Att => "X86_64",
        }
    }

    /// Returns the name of a register in a condition.
    pub(super) fn observed(self, machine_reg: MachineReg) -> String {
        let (wide, narrow) = x86::REGISTERS[machine_reg.0];
        match self {
            Dialect::Intel => Syntax::Intel.register(narrow),
            Dialect::Att => wide.to_string(),
        }
    }

    /// Returns the text of an instruction.
    pub(super) fn text(
        self,
        instruction: Instruction,
        location: &impl Fn(Loc) -> String,
        jump_target: &impl Fn(JumpTarget) -> String,
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
            x86::Instruction { lock, name, width, operands }.text(syntax, Spacing::Diy)
        };
        let memory = |at: Loc| x86::Operand::Memory(location(at));
        let register = |machine_reg: MachineReg| {
            x86::Operand::Register(x86::REGISTERS[machine_reg.0].1.into())
        };
        let operand = |operand: Operand| match operand {
            Operand::Number(value) => x86::Operand::Number(value.into()),
            Operand::Register(machine_reg) => register(machine_reg),
        };
        match instruction {
            Instruction::Load { to, from } => write("mov", vec![register(to), memory(from)]),
            Instruction::Store { to, value } => write("mov", vec![memory(to), operand(value)]),
            Instruction::Move { to, value } => write("mov", vec![register(to), operand(value)]),
            Instruction::Compute { what, to, value } => {
                write(what.name(), vec![register(to), operand(value)])
            }
            Instruction::Locked { what, at, value } => match (what, value) {
                (Arithmetic::Add, Operand::Number(1)) => write("lock inc", vec![memory(at)]),
                (Arithmetic::Add, Operand::Number(-1)) => write("lock dec", vec![memory(at)]),
                (what, value) => {
                    write(&format!("lock {}", what.name()), vec![memory(at), operand(value)])
                }
            },
            // Both operand orders have the same meaning; this is the order in generated tests.
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
            Instruction::JumpIfNotEqual(to) => {
                format!("{} {}", syntax.name("jne"), jump_target(to))
            }
            Instruction::Target(here) => format!("{}:", jump_target(here)),
        }
    }
}
