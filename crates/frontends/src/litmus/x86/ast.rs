//! Instructions and operands. Whatever the order in the source, the destination comes first here.

use fencepost_ir::Span;

use super::registers::Part;

/// A thread of an X86 program.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its number.
    pub thread: u32,
    /// Its cells that are not empty, from top to bottom.
    pub cells: Vec<Cell>,
    /// Whether an instruction could not be read.
    pub lost: bool,
}

/// A cell of the table.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The labels before the instruction.
    pub labels: Vec<(String, Span)>,
    /// The instruction, if there is one.
    pub instruction: Option<Instruction>,
    /// All of it.
    pub span: Span,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Whether it has the prefix `LOCK`.
    pub lock: bool,
    /// What it does.
    pub mnemonic: Mnemonic,
    /// The width its suffix or its name says, in bits.
    pub width: Option<u8>,
    /// Its operands, the destination first.
    pub operands: Vec<Operand>,
    /// Where.
    pub span: Span,
}

/// An operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A number.
    Number(i128),
    /// The address of a location: `$x`.
    Address(String),
    /// A register, or a part of it.
    Register(Part),
    /// Memory.
    Memory(Memory),
    /// A label to jump to.
    Label(String),
}

impl Operand {
    /// The register that it is.
    pub fn register(&self) -> Option<Part> {
        match self {
            Operand::Register(part) => Some(*part),
            Operand::Number(_) | Operand::Address(_) | Operand::Memory(_) | Operand::Label(_) => {
                None
            }
        }
    }
}

/// A memory operand: symbol + offset + base + index * scale.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Memory {
    /// The location.
    pub symbol: Option<String>,
    /// Bytes to add.
    pub offset: i128,
    /// A register to add.
    pub base: Option<Part>,
    /// Another one, and what it is multiplied with.
    pub index: Option<(Part, i128)>,
}

/// What an instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "each is the instruction of its name")]
pub enum Mnemonic {
    Mov,
    /// A store that bypasses the cache; a plain store here.
    Movnti,
    Lea,
    Xchg,
    /// herd's exchange that is not locked.
    Uxch,
    Cmpxchg,
    Xadd,
    Inc,
    Dec,
    Add,
    Sub,
    And,
    Or,
    Xor,
    Not,
    Neg,
    Shl,
    Cmp,
    Test,
    Jmp,
    Jump(super::flags::Condition),
    Set(super::flags::Condition),
    Move(super::flags::Condition),
    Mfence,
    Sfence,
    Lfence,
    /// The thread ends.
    Ret,
    Nop,
    /// `PAUSE`, `ENDBR64`: hints.
    Hint,
}
