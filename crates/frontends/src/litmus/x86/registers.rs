//! Register names. `EAX`, `RAX`, `AX`, `AL` and `AH` name parts of one register.

use super::super::ast::Arch;

/// A register or a part of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegisterPart {
    /// The register, as an index into [`NAMES`].
    pub register: usize,
    /// The number of bits: 8, 16, 32 or 64.
    pub width: u8,
    /// Whether the part is the second lowest byte, as `AH`. Other parts start at the lowest bit.
    pub high: bool,
}

/// The registers in herd's order: 32-bit name, 64-bit name.
const NAMES: [(&str, &str); 18] = [
    ("EAX", "rax"),
    ("EBX", "rbx"),
    ("ECX", "rcx"),
    ("EDX", "rdx"),
    ("ESI", "rsi"),
    ("EDI", "rdi"),
    ("EBP", "rbp"),
    ("ESP", "rsp"),
    ("R8D", "r8"),
    ("R9D", "r9"),
    ("R10D", "r10"),
    ("R11D", "r11"),
    ("R12D", "r12"),
    ("R13D", "r13"),
    ("R14D", "r14"),
    ("R15D", "r15"),
    ("EIP", "rip"),
    ("CS", "cs"),
];

/// Returns the register of this name. Names are in upper case in X86, in any case in X86_64. Other
/// languages have no such registers.
pub fn by_name(arch: Arch, name: &str) -> Option<RegisterPart> {
    match arch {
        Arch::X86 => {
            let part = by_name_any_case(name)?;
            let narrow = part.width <= 32 && part.register < 8;
            (narrow && !name.contains(|c: char| c.is_ascii_lowercase())).then_some(part)
        }
        Arch::X86_64 => by_name_any_case(name),
        Arch::AArch64 | Arch::C => None,
    }
}

/// Returns the register of this name in any letter case.
pub fn by_name_any_case(name: &str) -> Option<RegisterPart> {
    let name = name.to_ascii_lowercase();
    for (register, (narrow, wide)) in NAMES.iter().enumerate() {
        let part = |width, high| Some(RegisterPart { register, width, high });
        if name == *wide {
            return part(64, false);
        }
        if name == narrow.to_ascii_lowercase() {
            return part(32, false);
        }
        if register < 8 {
            let short = &wide[1..];
            let letter = &short[..1];
            if name == short {
                return part(16, false);
            }
            if register < 4 && name == format!("{letter}h") {
                return part(8, true);
            }
            let low = if register < 4 { format!("{letter}l") } else { format!("{short}l") };
            if name == low {
                return part(8, false);
            }
        } else if register < 16 {
            if name == format!("{wide}w") {
                return part(16, false);
            }
            if name == format!("{wide}b") {
                return part(8, false);
            }
        }
    }
    None
}

/// Returns the canonical name of a register, which printed states show.
pub fn full_name(arch: Arch, register: usize) -> &'static str {
    match arch {
        Arch::X86 => NAMES[register].0,
        Arch::X86_64 | Arch::AArch64 | Arch::C => NAMES[register].1,
    }
}

/// Returns the name of a part, in lower case.
pub fn part_name(part: RegisterPart) -> String {
    let (narrow, wide) = NAMES[part.register];
    let old = part.register < 8;
    let letter = &wide[1..2];
    match (part.width, part.high) {
        (8, true) => format!("{letter}h"),
        (8, false) if part.register < 4 => format!("{letter}l"),
        (8, false) if old => format!("{}l", &wide[1..]),
        (8, false) => format!("{wide}b"),
        (16, _) if old => wide[1..].to_string(),
        (16, _) => format!("{wide}w"),
        (32, _) => narrow.to_ascii_lowercase(),
        _ => wide.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_belong_to_their_register() {
        for (name, register, width, high) in [
            ("EAX", 0, 32, false),
            ("AX", 0, 16, false),
            ("AH", 0, 8, true),
            ("BL", 1, 8, false),
            ("ESI", 4, 32, false),
        ] {
            assert_eq!(
                by_name(Arch::X86, name),
                Some(RegisterPart { register, width, high }),
                "{name}"
            );
        }
        assert_eq!(by_name(Arch::X86, "eax"), None);
        assert_eq!(by_name(Arch::X86, "RAX"), None);
        let wide = RegisterPart { register: 9, width: 16, high: false };
        assert_eq!(by_name(Arch::X86_64, "r9w"), Some(wide));
        assert_eq!(by_name(Arch::X86_64, "x"), None);
        let low = RegisterPart { register: 4, width: 8, high: false };
        assert_eq!(by_name(Arch::X86_64, "SIL"), Some(low));
    }
}
