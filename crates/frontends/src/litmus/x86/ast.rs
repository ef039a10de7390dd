//! Instructions and operands. The destination is the first operand, in both languages.

use fencepost_ir::Span;

use super::super::flags::Condition;
use super::super::table::{self, TableInstruction};
use super::registers::RegisterPart;

/// A thread of an X86 program.
pub type Column = table::Column<Instruction>;
/// A cell of the table.
pub type Cell = table::Cell<Instruction>;

/// An instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Whether the instruction has the prefix `LOCK`.
    pub lock: bool,
    /// The mnemonic, without its width suffix.
    pub mnemonic: Mnemonic,
    /// The width in bits that the suffix of the mnemonic specifies.
    pub width: Option<u8>,
    /// The operands, destination first.
    pub operands: Vec<Operand>,
    /// The span of the instruction, with its prefix.
    pub span: Span,
}

impl TableInstruction for Instruction {
    fn span(&self) -> Span {
        self.span
    }

    fn jump_target(&self) -> Option<&str> {
        let jumps = matches!(self.mnemonic, Mnemonic::Jmp | Mnemonic::Jump(_));
        match &self.operands[..] {
            [Operand::Label(name)] if jumps => Some(name),
            _ => None,
        }
    }
}

/// An operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operand {
    /// An immediate number.
    Number(i128),
    /// The address of a location: `$x`.
    Address(String),
    /// A register or a part of one.
    Register(RegisterPart),
    /// A memory operand.
    Memory(Memory),
    /// A label to jump to.
    Label(String),
}

impl Operand {
    /// Returns the register if the operand is one.
    pub fn register(&self) -> Option<RegisterPart> {
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
    /// The name of the location.
    pub symbol: Option<String>,
    /// The offset in bytes.
    pub offset: i128,
    /// The base register.
    pub base: Option<RegisterPart>,
    /// The index register and its scale.
    pub index: Option<(RegisterPart, i128)>,
}

/// The operation of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "each variant is the instruction of its name")]
pub enum Mnemonic {
    Mov,
    /// A non-temporal store, modelled as a plain store.
    Movnti,
    Lea,
    Xchg,
    /// herd's exchange without an implicit lock.
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
    Jump(Condition),
    Set(Condition),
    Move(Condition),
    Mfence,
    Sfence,
    Lfence,
    /// Ends the thread.
    Ret,
    Nop,
    /// `PAUSE`, `ENDBR64`: hints without effect.
    Hint,
}
