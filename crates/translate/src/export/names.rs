//! Legal names in a target language: for variables, threads and registers of a program.
//!
//! Names stay what the user wrote wherever that is possible: `want[1]` is an element of the array `want`, thread
//! `p(0)` is `p_0`, the compiler's temporary `%3` is `t3`. Everything declared outside of threads has a name of
//! its own, and no register has one of those, so that one name means one thing.

use fencepost_ir::interval::join;
use fencepost_ir::{Address, Loc, Program, Reg, Thread, ThreadId, Type};
use std::collections::BTreeSet;

/// A location, or several that are accessed as an array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its first location.
    pub first: Loc,
    /// Of an array: how many elements it has.
    pub len: Option<u32>,
    /// What each element holds: a number, if they differ.
    pub ty: Type,
}

impl Variable {
    /// Its locations.
    pub fn locations(&self) -> impl Iterator<Item = Loc> + use<> {
        (self.first.0..self.first.0 + self.len.unwrap_or(1)).map(Loc)
    }
}

/// The names of a program without records.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Names {
    /// The variables, in the order of their locations.
    pub variables: Vec<Variable>,
    /// By thread.
    pub threads: Vec<String>,
    /// By thread and register; last those of `init`.
    registers: Vec<Vec<String>>,
    /// Everything that has a meaning outside of threads, words of the language included.
    taken: BTreeSet<String>,
}

/// The names that a program has, as they are written: of locations, threads and registers, without indices.
pub fn written(program: &Program) -> impl Iterator<Item = &str> {
    let locations = program.locations.iter().map(|location| location.name.as_str());
    let threads = program.threads.iter().chain(&program.init);
    let registers = threads.clone().flat_map(|t| t.registers.iter().map(|r| r.name.as_str()));
    let names = locations.chain(threads.map(|t| t.name.as_str())).chain(registers);
    names.map(|name| name.split(['[', '(']).next().unwrap_or(name))
}

impl Names {
    /// Names for all of a program that are none of the `reserved` words.
    pub fn new(program: &Program, reserved: &[impl AsRef<str>]) -> Names {
        let taken = reserved.iter().map(|word| word.as_ref().to_string()).collect();
        let (threads, registers) = (Vec::new(), Vec::new());
        let mut names = Names { variables: variables(program), threads, registers, taken };
        for at in 0..names.variables.len() {
            names.variables[at].name = names.global(&names.variables[at].name.clone());
        }
        names.threads = program.threads.iter().map(|thread| names.global(&thread.name)).collect();
        let all = program.threads.iter().chain(&program.init);
        names.registers = all.map(|thread| names.locals(thread)).collect();
        names
    }

    /// A new name outside of threads that no register has: this one, or one like it.
    pub fn global(&mut self, name: &str) -> String {
        let name = unused(name, |name| {
            self.taken.contains(name) || self.registers.iter().flatten().any(|used| used == name)
        });
        self.taken.insert(name.clone());
        name
    }

    fn locals(&self, thread: &Thread) -> Vec<String> {
        let mut taken = self.taken.clone();
        let mut name = |register: &str| {
            let name = match register.strip_prefix('%') {
                Some(number) if number.starts_with(|c: char| c.is_ascii_digit()) => {
                    unused(&format!("t{number}"), |name| taken.contains(name))
                }
                Some(word) => unused(word, |name| taken.contains(name)),
                None => unused(register, |name| taken.contains(name)),
            };
            taken.insert(name.clone());
            name
        };
        // What the user named comes first, so that no temporary takes its name.
        let mut names = vec![String::new(); thread.registers.len()];
        for temporary in [false, true] {
            for (at, register) in thread.registers.iter().enumerate() {
                if register.is_temporary() == temporary {
                    names[at] = name(&register.name);
                }
            }
        }
        names
    }

    /// A register of a thread, or with none, of `init`.
    pub fn register(&self, thread: Option<ThreadId>, reg: Reg) -> &str {
        let at = thread.map_or(self.registers.len() - 1, ThreadId::index);
        &self.registers[at][reg.index()]
    }

    /// The variable a location belongs to, and the element it is.
    pub fn variable(&self, loc: Loc) -> (&Variable, u32) {
        let after = self.variables.partition_point(|variable| variable.first <= loc);
        let variable = &self.variables[after - 1];
        (variable, loc.0 - variable.first.0)
    }

    /// A location: `x`, `want[1]`.
    pub fn location(&self, loc: Loc) -> String {
        let (variable, element) = self.variable(loc);
        match variable.len {
            Some(_) => format!("{}[{element}]", variable.name),
            None => variable.name.clone(),
        }
    }

    /// Where an access goes, with the text of its index.
    pub fn place(&self, at: &Address, index: Option<&str>) -> String {
        let Some(index) = index else { return self.location(at.base) };
        let (variable, element) = self.variable(at.base);
        match element {
            0 => format!("{}[{index}]", variable.name),
            _ => format!("{}[{element} + ({index})]", variable.name),
        }
    }
}

/// The variables of a program with the names of the source: what is numbered in brackets is an array, and so is
/// what an address with an index covers.
fn variables(program: &Program) -> Vec<Variable> {
    let count = program.locations.len();
    // Whether a location belongs to the same variable as the one before it.
    let mut joined = vec![false; count + 1];
    let mut is_array = vec![false; count];
    let split = |at: usize| {
        let (name, index) = program.locations[at].name.strip_suffix(']')?.rsplit_once('[')?;
        Some((name, index.parse::<u32>().ok()?))
    };
    for at in 0..count {
        let Some((name, index)) = split(at) else { continue };
        is_array[at] = true;
        joined[at] = at > 0 && index > 0 && split(at - 1) == Some((name, index - 1));
    }
    let code = program.threads.iter().chain(&program.init).flat_map(|thread| &thread.code);
    for address in code.filter_map(|stmt| stmt.op.address()) {
        let Some((len, _)) = address.index else { continue };
        let first = address.base.index();
        is_array[first] = true;
        joined[first + 1..first + len as usize].fill(true);
    }
    let mut variables: Vec<Variable> = Vec::new();
    for at in 0..count {
        if joined[at] {
            let last = variables.last_mut().expect("the first location begins a variable");
            last.len = Some(last.len.unwrap_or(1) + 1);
            last.ty = common(program, &last.ty, &program.locations[at].ty);
            continue;
        }
        let location = &program.locations[at];
        let name = split(at).map_or(location.name.as_str(), |(name, _)| name);
        let is_array = is_array[at] || (at + 1 < count && joined[at + 1]);
        let (first, len) = (Loc::from_index(at), is_array.then_some(1));
        variables.push(Variable { name: name.into(), first, len, ty: location.ty.clone() });
    }
    variables
}

/// A type for values of both.
fn common(program: &Program, a: &Type, b: &Type) -> Type {
    if a == b {
        return a.clone();
    }
    let range = match (program.limits(a), program.limits(b)) {
        (Some(a), Some(b)) => Some(join(a, b)),
        (None, _) | (_, None) => None,
    };
    Type::Int { range }
}

/// A legal name like this one that is not taken.
fn unused(name: &str, taken: impl Fn(&String) -> bool) -> String {
    let mut legal = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() || c == '_' {
            legal.push(c);
        } else if !legal.ends_with('_') {
            legal.push('_');
        }
    }
    if name.ends_with(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        legal.pop();
    }
    if legal.is_empty() || legal.starts_with(|c: char| c.is_ascii_digit()) {
        legal.insert(0, 'v');
    }
    if !taken(&legal) {
        return legal;
    }
    let numbered = (2..).map(|number| format!("{legal}_{number}"));
    numbered.into_iter().find(|name| !taken(name)).expect("some number is free")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_ir::{Expr, Label, Location, Op, Pc, Register, Stmt};

    fn location(name: &str) -> Location {
        Location { name: name.into(), ty: Type::INT, init: 0 }
    }

    fn thread(name: &str, registers: &[&str], code: Vec<Stmt>) -> Thread {
        let register = |name: &&str| Register { name: (*name).into(), ty: Type::INT };
        Thread { name: name.into(), registers: registers.iter().map(register).collect(), code }
    }

    #[test]
    fn one_name_means_one_thing() {
        let load = |base, index| {
            let from = Address { base: Loc(base), cell: None, index };
            let op = Op::Load { reg: Reg(0), from };
            Stmt { label: Label(0), op, next: Pc(0), critical: false }
        };
        let indexed = load(4, Some((2, Expr::Var(Reg(0)))));
        let locations = ["x", "want[0]", "want[1]", "if", "head", "tail", "p_0", "one[0]"];
        let threads = vec![
            thread("p(0)", &["x", "t3", "%3", "want[0]", "f.r", "%found"], vec![indexed]),
            thread("p(1)", &[], vec![]),
        ];
        let program = Program {
            locations: locations.iter().map(|name| location(name)).collect(),
            threads,
            ..Program::default()
        };
        let names = Names::new(&program, &["if", "else"]);
        let found: Vec<(&str, Option<u32>)> =
            names.variables.iter().map(|v| (v.name.as_str(), v.len)).collect();
        let expected = [
            ("x", None),
            ("want", Some(2)),
            ("if_2", None),
            ("head", Some(2)),
            ("p_0", None),
            ("one", Some(1)),
        ];
        assert_eq!(found, expected);
        assert_eq!(names.threads, ["p_0_2", "p_1"]);
        let registers: Vec<&str> =
            (0..6).map(|reg| names.register(Some(ThreadId(0)), Reg(reg))).collect();
        assert_eq!(registers, ["x_2", "t3", "t3_2", "want_0", "f_r", "found"]);
        assert_eq!(names.location(Loc(2)), "want[1]");
        let at = |base| Address { base: Loc(base), cell: None, index: Some((2, Expr::Const(0))) };
        assert_eq!(names.place(&at(1), Some("i + 1")), "want[i + 1]");
        assert_eq!(names.place(&at(5), Some("i")), "head[1 + (i)]");
    }
}
