//! The text form of programs for the model `arm`.

use std::fmt;
use std::str::FromStr;

use fencepost_ir::Acquire;

use super::{Address, ArmProgram, Fence, LOCATIONS, Operand, Statement, Update};

/// The names of the locations.
pub(super) const NAMES: [&str; LOCATIONS] = ["x", "y", "z"];

/// The fences and their names.
const FENCES: [(Fence, &str); 4] = [
    (Fence::Full, "dmb"),
    (Fence::Load, "dmb.ld"),
    (Fence::Store, "dmb.st"),
    (Fence::Instruction, "isb"),
];

impl fmt::Display for ArmProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, thread) in self.threads.iter().enumerate() {
            let statements: Vec<String> = thread.iter().map(Statement::to_string).collect();
            let separator = if at == 0 { "" } else { " | " };
            write!(f, "{separator}{}", statements.join("; "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Statement::Load { reg, at, acquire, exclusive } => {
                let name = match (exclusive, acquire) {
                    (false, Acquire::None) => "ldr",
                    (false, Acquire::Weak) => "ldapr",
                    (false, Acquire::Strong) => "ldar",
                    (true, Acquire::None) => "ldxr",
                    (true, Acquire::Weak | Acquire::Strong) => "ldaxr",
                };
                write!(f, "{name} r{reg} {at}")
            }
            Statement::Store { at, value, release } => {
                write!(f, "{} {at} {value}", if *release { "stlr" } else { "str" })
            }
            Statement::StoreExclusive { status, at, value, release } => {
                write!(f, "{} r{status} {at} {value}", if *release { "stlxr" } else { "stxr" })
            }
            Statement::Update { reg, at, update, acquire, release } => {
                let name = match update {
                    Update::Swap(_) => "swp",
                    Update::Add(_) => "add",
                    Update::Cas(..) => "cas",
                };
                let suffix = format!(
                    "{}{}",
                    if *acquire { "a" } else { "" },
                    if *release { "l" } else { "" }
                );
                let reg = reg.map_or("-".into(), |reg| format!("r{reg}"));
                write!(f, "{name}{suffix} {reg} {at}")?;
                match update {
                    Update::Swap(value) | Update::Add(value) => write!(f, " {value}"),
                    Update::Cas(expected, new) => write!(f, " {expected} {new}"),
                }
            }
            Statement::Fence(fence) => {
                let name = FENCES.iter().find(|(other, _)| other == fence);
                f.write_str(name.map_or("", |(_, name)| name))
            }
            Statement::Select { reg, cond, then, otherwise } => {
                write!(f, "csel r{reg} r{cond} {then} {otherwise}")
            }
            Statement::BranchIfZero { reg, skipped } => write!(f, "cbz r{reg} {skipped}"),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Fixed(loc) => f.write_str(NAMES[*loc]),
            Address::Dependent(loc, reg) => write!(f, "{}+r{reg}", NAMES[*loc]),
            Address::Indexed(reg) => write!(f, "@r{reg}"),
        }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Constant(value) => write!(f, "{value}"),
            Operand::Dependent(value, reg) => write!(f, "{value}+r{reg}"),
            Operand::Register(reg) => write!(f, "r{reg}"),
        }
    }
}

impl FromStr for ArmProgram {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let thread = |text: &str| {
            let statements = text.split(';').map(str::trim).filter(|text| !text.is_empty());
            statements.map(parse_statement).collect()
        };
        Ok(ArmProgram { threads: text.split('|').map(thread).collect::<Result<_, String>>()? })
    }
}

fn parse_statement(text: &str) -> Result<Statement, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let unknown = || format!("unknown statement `{text}`");
    if let [name] = words[..] {
        let fence = FENCES.iter().find(|(_, other)| *other == name);
        return Ok(Statement::Fence(fence.ok_or_else(unknown)?.0));
    }
    let load = |reg, at, acquire, exclusive| {
        Ok(Statement::Load { reg: register(reg)?, at: address(at)?, acquire, exclusive })
    };
    match words[..] {
        ["ldr", reg, at] => load(reg, at, Acquire::None, false),
        ["ldapr", reg, at] => load(reg, at, Acquire::Weak, false),
        ["ldar", reg, at] => load(reg, at, Acquire::Strong, false),
        ["ldxr", reg, at] => load(reg, at, Acquire::None, true),
        ["ldaxr", reg, at] => load(reg, at, Acquire::Strong, true),
        [name @ ("str" | "stlr"), at, value] => Ok(Statement::Store {
            at: address(at)?,
            value: operand(value)?,
            release: name == "stlr",
        }),
        [name @ ("stxr" | "stlxr"), status, at, value] => Ok(Statement::StoreExclusive {
            status: register(status)?,
            at: address(at)?,
            value: operand(value)?,
            release: name == "stlxr",
        }),
        ["csel", reg, cond, then, otherwise] => Ok(Statement::Select {
            reg: register(reg)?,
            cond: register(cond)?,
            then: operand(then)?,
            otherwise: operand(otherwise)?,
        }),
        ["cbz", reg, skipped] => Ok(Statement::BranchIfZero {
            reg: register(reg)?,
            skipped: skipped.parse().map_err(|_| unknown())?,
        }),
        [name, reg, at, ref values @ ..] if name.len() >= 3 => {
            let (kind, suffix) = name.split_at(3);
            let update = match (kind, values) {
                ("swp", [value]) => Update::Swap(operand(value)?),
                ("add", [value]) => Update::Add(operand(value)?),
                ("cas", [expected, new]) => Update::Cas(operand(expected)?, operand(new)?),
                _ => return Err(unknown()),
            };
            Ok(Statement::Update {
                reg: if reg == "-" { None } else { Some(register(reg)?) },
                at: address(at)?,
                update,
                acquire: suffix.contains('a'),
                release: suffix.contains('l'),
            })
        }
        _ => Err(unknown()),
    }
}

fn register(text: &str) -> Result<usize, String> {
    let number = text.strip_prefix('r').and_then(|number| number.parse().ok());
    number.ok_or_else(|| format!("`{text}` is not a register"))
}

fn address(text: &str) -> Result<Address, String> {
    if let Some(reg) = text.strip_prefix('@') {
        return Ok(Address::Indexed(register(reg)?));
    }
    let (name, reg) = text.split_once('+').map_or((text, None), |(name, reg)| (name, Some(reg)));
    let loc = NAMES.iter().position(|other| *other == name);
    let loc = loc.ok_or_else(|| format!("`{name}` is not a location"))?;
    Ok(match reg {
        None => Address::Fixed(loc),
        Some(reg) => Address::Dependent(loc, register(reg)?),
    })
}

fn operand(text: &str) -> Result<Operand, String> {
    let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is not a number"));
    Ok(match text.split_once('+') {
        Some((value, reg)) => Operand::Dependent(number(value)?, register(reg)?),
        None if text.starts_with('r') => Operand::Register(register(text)?),
        None => Operand::Constant(number(text)?),
    })
}
