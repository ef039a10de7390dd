//! Prints a program in herd's format, which is the input of its hash.

use fencepost_cycles::x86::{self, Spacing, Syntax};

use super::super::ast::Arch;
use super::ast::{Cell, Column, Instruction, Memory, Mnemonic, Operand};
use super::registers::part_name;

/// Prints the rows of a program with padded columns, without the row of thread names. Returns
/// `None` if herd's format of an instruction is not known.
pub fn print_table(columns: &[Column], arch: Arch) -> Option<String> {
    let syntax = match arch {
        Arch::X86 => Syntax::Intel,
        Arch::X86_64 | Arch::AArch64 | Arch::C => Syntax::Att,
    };
    let cell = |cell: &Cell| {
        let instruction = cell.instruction.as_ref().filter(|_| cell.labels.is_empty())?;
        print_instruction(instruction, syntax)
    };
    let column = |column: &Column| column.cells.iter().map(cell).collect();
    Some(x86::table(&columns.iter().map(column).collect::<Option<Vec<Vec<String>>>>()?))
}

fn print_instruction(instruction: &Instruction, syntax: Syntax) -> Option<String> {
    let name = match instruction.mnemonic {
        Mnemonic::Mov => "mov",
        Mnemonic::Movnti => "movnti",
        Mnemonic::Xchg => "xchg",
        Mnemonic::Cmpxchg => "cmpxchg",
        Mnemonic::Inc => "inc",
        Mnemonic::Dec => "dec",
        Mnemonic::Add => "add",
        Mnemonic::Xor => "xor",
        Mnemonic::Cmp => "cmp",
        Mnemonic::Mfence => "mfence",
        Mnemonic::Sfence => "sfence",
        Mnemonic::Lfence => "lfence",
        // herd prints `NOP` in upper case in both languages.
        Mnemonic::Nop if instruction.operands.is_empty() => return Some("NOP".into()),
        Mnemonic::Nop
        | Mnemonic::Hint
        | Mnemonic::Lea
        | Mnemonic::Uxch
        | Mnemonic::Xadd
        | Mnemonic::Sub
        | Mnemonic::And
        | Mnemonic::Or
        | Mnemonic::Not
        | Mnemonic::Neg
        | Mnemonic::Shl
        | Mnemonic::Test
        | Mnemonic::Jmp
        | Mnemonic::Jump(_)
        | Mnemonic::Set(_)
        | Mnemonic::Move(_)
        | Mnemonic::Ret => return None,
    };
    let operands = instruction.operands.iter().map(operand).collect::<Option<Vec<_>>>()?;
    let Instruction { lock, width, .. } = *instruction;
    Some(x86::Instruction { lock, name, width, operands }.text(syntax, Spacing::Herd))
}

fn operand(operand: &Operand) -> Option<x86::Operand> {
    Some(match operand {
        Operand::Number(value) => x86::Operand::Number(*value),
        Operand::Register(part) => x86::Operand::Register(part_name(*part)),
        Operand::Memory(Memory { symbol: Some(name), base: None, index: None, offset: 0 }) => {
            x86::Operand::Memory(name.clone())
        }
        Operand::Memory(Memory { symbol: None, base: Some(part), index: None, offset: 0 }) => {
            x86::Operand::MemoryAt(part_name(*part))
        }
        Operand::Memory(_) | Operand::Address(_) | Operand::Label(_) => return None,
    })
}
