//! x86 instructions as the text of a litmus test. Everything that writes such a test uses this printer: the
//! tests of cycles, the export of programs, and the text that herd hashes.
//!
//! The printer is in this crate because the crate depends on none of ours, so that front ends and exports may both
//! use it. An instruction is a name with operands here; which instructions mean what is not known.
//!
//! ```
//! use fencepost_cycles::x86::{Instruction, Layout, Operand, Syntax};
//! let operands = vec![Operand::Memory("x".into()), Operand::Number(1)];
//! let store = Instruction { lock: false, name: "mov", width: None, operands };
//! assert_eq!(store.text(Syntax::Intel, Layout::Diy), "MOV [x],$1");
//! ```

/// The registers that tests use, by their 64-bit and 32-bit names. Those that hold the stack are left out.
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

/// How many of them the architecture `X86` has.
pub const OLD_REGISTERS: usize = 6;

/// How an architecture of herd writes instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Syntax {
    /// `X86`: `MOV EAX,[x]`.
    Intel,
    /// `X86_64`: `movl (x),%eax`. `cmpxchg` has its destination first all the same.
    Att,
}

/// Who writes the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// The generator diy, and people: `LOCK INC [x]`.
    Diy,
    /// herd, when it writes back what it has read: `LOCK; INC  [x]`.
    Herd,
}

/// An operand.
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
    /// Whether it has the prefix `LOCK`.
    pub lock: bool,
    /// Its name in lower case, without its width.
    pub name: &'a str,
    /// The width that a suffix says, in bits.
    pub width: Option<u8>,
    /// Its operands, the destination first.
    pub operands: Vec<Operand>,
}

impl Syntax {
    /// A register, by its name in lower case.
    pub fn register(self, name: &str) -> String {
        match self {
            Syntax::Intel => name.to_ascii_uppercase(),
            Syntax::Att => format!("%{name}"),
        }
    }

    /// A name of an instruction.
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
    /// An instruction without operands and prefix.
    pub fn plain(name: &str) -> Instruction<'_> {
        Instruction { lock: false, name, width: None, operands: Vec::new() }
    }

    /// The text of the instruction.
    pub fn text(&self, syntax: Syntax, layout: Layout) -> String {
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
        let lock = match (self.lock, layout) {
            (false, _) => String::new(),
            (true, Layout::Diy) => syntax.name("lock "),
            (true, Layout::Herd) => syntax.name("lock; "),
        };
        let space = match (operands.len(), syntax, layout) {
            (0, ..) => "",
            (1, Syntax::Intel, Layout::Herd) => "  ",
            (_, Syntax::Intel | Syntax::Att, Layout::Diy | Layout::Herd) => " ",
        };
        format!("{lock}{name}{space}{}", operands.join(","))
    }
}

/// The program of a test: threads side by side, each column as wide as its widest cell. Rows end with a new line.
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
    fn each_syntax_has_its_order_and_each_layout_its_spaces() {
        let memory = || Operand::Memory("x".into());
        let register = || Operand::Register("eax".into());
        let all = |lock, name, width, operands: Vec<Operand>| {
            let instruction = Instruction { lock, name, width, operands };
            [
                instruction.text(Syntax::Intel, Layout::Diy),
                instruction.text(Syntax::Att, Layout::Diy),
                instruction.text(Syntax::Intel, Layout::Herd),
                instruction.text(Syntax::Att, Layout::Herd),
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
