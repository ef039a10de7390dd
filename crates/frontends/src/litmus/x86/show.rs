//! A program as herd writes it back: the text that its hash is made of.

use super::super::ast::Arch;
use super::ast::{Cell, Column, Instruction, Memory, Mnemonic, Operand};
use super::registers::{self, Part};

/// The rows of a program, columns padded, without the row of threads. None when it is not known how herd writes
/// something.
pub fn table(columns: &[Column], arch: Arch) -> Option<String> {
    let column = |column: &Column| column.cells.iter().map(|cell| show_cell(cell, arch)).collect();
    Some(rows(&columns.iter().map(column).collect::<Option<Vec<Vec<String>>>>()?))
}

/// Rows of cells, one list for each column, padded.
fn rows(columns: &[Vec<String>]) -> String {
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = columns
        .iter()
        .map(|cells| cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0))
        .collect();
    let mut out = String::new();
    for row in 0..height {
        for (at, (cells, wide)) in columns.iter().zip(&widths).enumerate() {
            let cell = cells.get(row).map_or("", String::as_str);
            out.push_str(if at == 0 { " " } else { "| " });
            out.push_str(&format!("{cell:<wide$} "));
        }
        out.push_str(";\n");
    }
    out
}

fn show_cell(cell: &Cell, arch: Arch) -> Option<String> {
    let instruction = cell.instruction.as_ref().filter(|_| cell.labels.is_empty())?;
    show(instruction, arch)
}

fn show(instruction: &Instruction, arch: Arch) -> Option<String> {
    let mut name = match instruction.mnemonic {
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
        Mnemonic::Nop if instruction.operands.is_empty() => "NOP",
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
    }
    .to_string();
    name.push_str(match instruction.width {
        Some(8) => "b",
        Some(16) => "w",
        Some(32) => "l",
        Some(_) => "q",
        None => "",
    });
    if arch == Arch::X86 {
        name.make_ascii_uppercase();
    }
    let operands = instruction.operands.iter().map(|operand| show_operand(operand, arch));
    let mut operands = operands.collect::<Option<Vec<String>>>()?;
    if arch == Arch::X86_64 && instruction.mnemonic != Mnemonic::Cmpxchg {
        operands.reverse();
    }
    let lock = match (instruction.lock, arch) {
        (false, _) => "",
        (true, Arch::X86) => "LOCK; ",
        (true, Arch::X86_64 | Arch::C) => "lock; ",
    };
    let space = match (operands.len(), arch) {
        (0, _) => "",
        (1, Arch::X86) => "  ",
        (_, _) => " ",
    };
    Some(format!("{lock}{name}{space}{}", operands.join(",")))
}

fn show_operand(operand: &Operand, arch: Arch) -> Option<String> {
    Some(match (operand, arch) {
        (Operand::Number(value), _) => format!("${value}"),
        (Operand::Register(part), _) => show_register(*part, arch),
        (Operand::Memory(memory), Arch::X86) => format!("[{}]", show_memory(memory, arch)?),
        (Operand::Memory(memory), Arch::X86_64 | Arch::C) => {
            format!("({})", show_memory(memory, arch)?)
        }
        (Operand::Address(_) | Operand::Label(_), _) => return None,
    })
}

fn show_register(part: Part, arch: Arch) -> String {
    match arch {
        Arch::X86 => registers::part_name(part).to_ascii_uppercase(),
        Arch::X86_64 | Arch::C => format!("%{}", registers::part_name(part)),
    }
}

fn show_memory(memory: &Memory, arch: Arch) -> Option<String> {
    match (&memory.symbol, memory.base, memory.index, memory.offset) {
        (Some(name), None, None, 0) => Some(name.clone()),
        (None, Some(part), None, 0) => Some(show_register(part, arch)),
        _ => None,
    }
}
