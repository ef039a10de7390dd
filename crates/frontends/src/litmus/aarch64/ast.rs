//! Instructions and operands.

use fencepost_ir::{Acquire, BinOp, FenceKinds, Span};

use super::super::flags::Condition;
use super::super::table::{self, TableInstruction};
use super::registers::Register;

/// A thread of an AArch64 program.
pub type Column = table::Column<Instruction>;

/// An instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// What the instruction does.
    pub operation: Operation,
    /// The span of the instruction.
    pub span: Span,
}

impl TableInstruction for Instruction {
    fn span(&self) -> Span {
        self.span
    }

    fn jump_target(&self) -> Option<&str> {
        match &self.operation {
            Operation::Jump { to, .. } => Some(to),
            _ => None,
        }
    }
}

/// What an instruction does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operation {
    /// `NOP`.
    Nop,
    /// `DMB`, `DSB` or `ISB`.
    Fence(FenceKinds),
    /// `MOV`, `MVN`.
    Move {
        /// The destination.
        to: Register,
        /// The value.
        from: Source,
        /// Whether all bits are inverted.
        inverts: bool,
    },
    /// An operation on registers: `ADD`, `SUBS`, `EOR`, ... A comparison has the zero register as
    /// its destination.
    Arithmetic {
        /// `Add`, `Sub`, `BitAnd`, `BitOr`, `BitXor` or `Shl`.
        op: BinOp,
        /// Whether the right operand is inverted, as in `BIC`.
        inverts: bool,
        /// Whether it sets the flags.
        sets_flags: bool,
        /// The destination.
        to: Register,
        /// The left operand.
        left: Register,
        /// The right operand.
        right: Source,
    },
    /// A conditional selection: `CSEL`, `CSINC`, `CSET`, ...
    Select {
        /// The destination.
        to: Register,
        /// When the first operand is selected.
        when: Condition,
        /// The first operand.
        then: Register,
        /// The second operand.
        otherwise: Register,
        /// What is done to the second operand.
        change: Change,
    },
    /// A jump.
    Jump {
        /// When the jump is taken.
        when: JumpCondition,
        /// The label.
        to: String,
    },
    /// `RET`: ends the thread.
    Return,
    /// A load into a register, or into two registers from consecutive addresses.
    Load {
        /// The destinations.
        to: Vec<Register>,
        /// The address.
        at: Memory,
        /// The number of bits in memory, for each destination.
        bits: u8,
        /// The order.
        acquire: Acquire,
        /// Whether the load reserves its location: `LDXR`.
        exclusive: bool,
    },
    /// A store of a register, or of two registers to consecutive addresses.
    Store {
        /// The values.
        from: Vec<Register>,
        /// The address.
        at: Memory,
        /// The number of bits in memory, for each value.
        bits: u8,
        /// Whether the store has release order.
        release: bool,
        /// The register for the status, if the store is exclusive: `STXR`.
        status: Option<Register>,
    },
    /// A read-modify-write: `CAS`, `SWP`, `LDADD`, ...
    Update {
        /// How memory changes.
        update: Update,
        /// The register for the old value.
        old: Register,
        /// The address.
        at: Memory,
        /// The number of bits in memory.
        bits: u8,
        /// Whether the load has acquire order.
        acquire: bool,
        /// Whether the store has release order.
        release: bool,
    },
}

/// How a read-modify-write changes memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Update {
    /// `CAS`: stores `new` if memory has the value of the register `old` of the operation.
    CompareAndSwap {
        /// The new value.
        new: Register,
    },
    /// `SWP`.
    Swap {
        /// The new value.
        new: Register,
    },
    /// `LDADD`.
    Add {
        /// The summand.
        by: Register,
    },
    /// `LDCLR`, `LDEOR`, `LDSET`.
    Bits {
        /// `BitAnd`, `BitOr` or `BitXor`.
        op: BinOp,
        /// Whether the operand is inverted.
        inverts: bool,
        /// The operand.
        by: Register,
    },
}

/// What a conditional selection does to its second operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// Nothing: `CSEL`.
    Nothing,
    /// Adds 1: `CSINC`.
    Increment,
    /// Inverts all bits: `CSINV`.
    Invert,
    /// Negates the number: `CSNEG`.
    Negate,
}

/// When a jump is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JumpCondition {
    /// Always: `B`.
    Always,
    /// If a condition on the flags holds: `B.EQ`.
    Flags(Condition),
    /// If a register is zero (`CBZ`) or not zero (`CBNZ`).
    Zero {
        /// The register.
        register: Register,
        /// Whether the register must be zero.
        is_zero: bool,
    },
    /// If a bit of a register is clear (`TBZ`) or set (`TBNZ`).
    Bit {
        /// The register.
        register: Register,
        /// The number of the bit.
        bit: u8,
        /// Whether the bit must be set.
        is_set: bool,
    },
}

/// The last operand of an operation on registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// An immediate number.
    Number(i128),
    /// A register.
    Register(ExtendedRegister),
}

/// A register with an extension and a shift to the left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExtendedRegister {
    /// The register.
    pub register: Register,
    /// Whether a register of 32 bits is extended as a signed number.
    pub is_signed: bool,
    /// The number of bits by which the value is shifted to the left.
    pub shift: u8,
}

/// A memory operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Memory {
    /// The base register.
    pub base: Register,
    /// What is added to the base.
    pub offset: Source,
    /// When the base register is changed.
    pub write_back: WriteBack,
}

/// When the base register of a memory operand gets the sum of base and offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WriteBack {
    /// Never: `[X1,#4]`.
    Never,
    /// Before the access: `[X1,#4]!`.
    Before,
    /// After the access, which uses the old value: `[X1],#4`.
    After,
}

impl Operation {
    /// Calls `visit` for every register that the operation reads.
    pub fn for_each_read(&self, visit: &mut impl FnMut(Register)) {
        let mut source = |source: &Source| match source {
            Source::Number(_) => {}
            Source::Register(extended) => visit(extended.register),
        };
        match self {
            Operation::Nop | Operation::Fence(_) | Operation::Return => {}
            Operation::Move { from, .. } => source(from),
            Operation::Arithmetic { left, right, .. } => {
                source(right);
                visit(*left);
            }
            Operation::Select { then, otherwise, .. } => {
                visit(*then);
                visit(*otherwise);
            }
            Operation::Jump { when, .. } => match when {
                JumpCondition::Always | JumpCondition::Flags(_) => {}
                JumpCondition::Zero { register, .. } | JumpCondition::Bit { register, .. } => {
                    visit(*register);
                }
            },
            Operation::Load { at, .. } => {
                source(&at.offset);
                visit(at.base);
            }
            Operation::Store { from, at, .. } => {
                source(&at.offset);
                visit(at.base);
                from.iter().for_each(|register| visit(*register));
            }
            Operation::Update { update, old, at, .. } => {
                source(&at.offset);
                visit(at.base);
                match update {
                    Update::CompareAndSwap { new } => {
                        visit(*new);
                        visit(*old);
                    }
                    Update::Swap { new: operand }
                    | Update::Add { by: operand }
                    | Update::Bits { by: operand, .. } => visit(*operand),
                }
            }
        }
    }

    /// Calls `visit` for every register that the operation writes.
    pub fn for_each_write(&self, visit: &mut impl FnMut(Register)) {
        match self {
            Operation::Nop | Operation::Fence(_) | Operation::Return | Operation::Jump { .. } => {}
            Operation::Move { to, .. }
            | Operation::Arithmetic { to, .. }
            | Operation::Select { to, .. } => visit(*to),
            Operation::Load { to, .. } => to.iter().for_each(|register| visit(*register)),
            Operation::Store { status, .. } => status.iter().for_each(|register| visit(*register)),
            Operation::Update { old, .. } => visit(*old),
        }
        if let Operation::Load { at, .. }
        | Operation::Store { at, .. }
        | Operation::Update { at, .. } = self
            && at.write_back != WriteBack::Never
        {
            visit(at.base);
        }
    }
}
