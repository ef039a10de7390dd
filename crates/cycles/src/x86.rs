//! Prints x86 instructions for litmus tests. All writers of x86 tests use this printer: the tests
//! of cycles, the export of programs, and the text that herd hashes.
//!
//! The printer is in this crate because the crate has no dependencies in this workspace, so both
//! front ends and exports can use it. An instruction is a name with operands; the printer does
//! not interpret it.
//!
//! ```
//! use fencepost_cycles::x86::{Instruction, Operand, Spacing, Syntax};
//! let operands = vec![Operand::Memory("x".into()), Operand::Number(1)];
//! let store = Instruction { lock: false, name: "mov", width: None, operands };
//! assert_eq!(store.text(Syntax::Intel, Spacing::Diy), "MOV [x],$1");
//! ```

/// The 64-bit and 32-bit names of the registers that tests use. The stack registers are excluded.
pub const REGISTERS: [(&str, &str); 14] = [
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

/// The number of [`REGISTERS`] in the architecture `X86`. They come first.
pub const X86_REGISTER_COUNT: usize = 6;

/// The instruction syntax of an architecture of herd.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Syntax {
    /// `X86`: `MOV EAX,[x]`.
    Intel,
    /// `X86_64`: `movl (x),%eax`. The destination is last, except in `cmpxchg`.
    Att,
}

/// The tool whose spacing is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spacing {
    /// The generator diy, also used by people: `LOCK INC [x]`.
    Diy,
    /// herd, when it prints a test that it has parsed: `LOCK; INC  [x]`.
    Herd,
}

/// An operand of an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A number.
    Number(i128),
    /// A register by its name in lower case.
    Register(String),
    /// The memory at a location.
    Memory(String),
    /// The memory at the address in a register.
    MemoryAt(String),
}

/// An instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction<'a> {
    /// Whether the instruction has the prefix `LOCK`.
    pub lock: bool,
    /// The name in lower case, without the width suffix.
    pub name: &'a str,
    /// The width of the suffix, in bits.
    pub width: Option<u8>,
    /// The operands, the destination first.
    pub operands: Vec<Operand>,
}

impl Syntax {
    /// Formats the name of a register, given in lower case.
    pub fn register(self, name: &str) -> String {
        match self {
            Syntax::Intel => name.to_ascii_uppercase(),
            Syntax::Att => format!("%{name}"),
        }
    }

    /// Formats the name of an instruction, given in lower case.
    pub fn name(self, name: &str) -> String {
        match self {
            Syntax::Intel => name.to_ascii_uppercase(),
            Syntax::Att => name.to_string(),
        }
    }

    fn operand(self, operand: &Operand) -> String {
        let memory = |inside: &str| match self {
            Syntax::Intel => format!("[{inside}]"),
            Syntax::Att => format!("({inside})"),
        };
        match operand {
            Operand::Number(value) => format!("${value}"),
            Operand::Register(name) => self.register(name),
            Operand::Memory(location) => memory(location),
            Operand::MemoryAt(name) => memory(&self.register(name)),
        }
    }
}

impl Instruction<'_> {
    /// Returns an instruction without operands and prefix.
    pub fn plain(name: &str) -> Instruction<'_> {
        Instruction { lock: false, name, width: None, operands: Vec::new() }
    }

    /// Returns the text of the instruction.
    pub fn text(&self, syntax: Syntax, spacing: Spacing) -> String {
        let suffix = match self.width {
            Some(8) => "b",
            Some(16) => "w",
            Some(32) => "l",
            Some(_) => "q",
            None => "",
        };
        let mut operands: Vec<String> =
            self.operands.iter().map(|operand| syntax.operand(operand)).collect();
        if syntax == Syntax::Att && self.name != "cmpxchg" {
            operands.reverse();
        }
        let name = syntax.name(&format!("{}{suffix}", self.name));
        let lock = match (self.lock, spacing) {
            (false, _) => String::new(),
            (true, Spacing::Diy) => syntax.name("lock "),
            (true, Spacing::Herd) => syntax.name("lock; "),
        };
        let space = match (operands.len(), syntax, spacing) {
            (0, ..) => "",
            (1, Syntax::Intel, Spacing::Herd) => "  ",
            (_, Syntax::Intel | Syntax::Att, Spacing::Diy | Spacing::Herd) => " ",
        };
        format!("{lock}{name}{space}{}", operands.join(","))
    }
}

/// Formats the program of a test: one column for each thread, padded to its widest cell. Each row
/// ends with a newline.
pub fn table(columns: &[Vec<String>]) -> String {
    let width = |cells: &[String]| cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |cells: &[String], row: usize| {
        format!("{:1$}", cells.get(row).map_or("", String::as_str), width(cells))
    };
    let row = |row| columns.iter().map(|cells| cell(cells, row)).collect::<Vec<_>>().join(" | ");
    (0..height).map(|at| format!(" {} ;\n", row(at))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operand_order_depends_on_syntax_and_spaces_on_spacing() {
        let memory = || Operand::Memory("x".into());
        let register = || Operand::Register("eax".into());
        let all = |lock, name, width, operands: Vec<Operand>| {
            let instruction = Instruction { lock, name, width, operands };
            [
                instruction.text(Syntax::Intel, Spacing::Diy),
                instruction.text(Syntax::Att, Spacing::Diy),
                instruction.text(Syntax::Intel, Spacing::Herd),
                instruction.text(Syntax::Att, Spacing::Herd),
            ]
        };
        let load = all(false, "mov", Some(32), vec![register(), memory()]);
        assert_eq!(load, ["MOVL EAX,[x]", "movl (x),%eax", "MOVL EAX,[x]", "movl (x),%eax"]);
        let inc = all(true, "inc", None, vec![memory()]);
        assert_eq!(inc, ["LOCK INC [x]", "lock inc (x)", "LOCK; INC  [x]", "lock; inc (x)"]);
        let cas = all(true, "cmpxchg", None, vec![memory(), register()]);
        assert_eq!(cas[0], "LOCK CMPXCHG [x],EAX");
        assert_eq!(cas[1], "lock cmpxchg (x),%eax");
        assert_eq!(all(false, "mfence", None, Vec::new())[2..], ["MFENCE", "mfence"]);
    }

    #[test]
    fn columns_are_padded() {
        let column = |cells: &[&str]| cells.iter().map(|cell| cell.to_string()).collect();
        let text = table(&[column(&["P0", "MFENCE"]), column(&["P1"])]);
        assert_eq!(text, " P0     | P1 ;\n MFENCE |    ;\n");
    }
}
