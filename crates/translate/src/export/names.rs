//! Chooses legal names in a target language for variables, threads and registers.
//!
//! Names stay as in the source where possible: `want[1]` is an element of the array `want`, thread
//! `p(0)` is `p_0`, and the compiler's temporary `%3` is `t3`. Every global name is unique, and no
//! register has a global name.

use fencepost_ir::interval::join;
use fencepost_ir::{Address, Loc, Program, Reg, Thread, ThreadId, Type};
use std::collections::BTreeSet;

/// A location, or an array of locations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The first location.
    pub first: Loc,
    /// The number of elements, for an array.
    pub len: Option<u32>,
    /// The type of each element; an integer type if the types differ.
    pub ty: Type,
}

impl Variable {
    /// Returns all locations of the variable.
    pub fn locations(&self) -> impl Iterator<Item = Loc> + use<> {
        (self.first.0..self.first.0 + self.len.unwrap_or(1)).map(Loc)
    }
}

/// The names of a program without records.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Names {
    /// The variables, in the order of their locations.
    pub variables: Vec<Variable>,
    /// The names of threads, by thread.
    pub threads: Vec<String>,
    /// The names of registers, by thread and register; those of `init` come last.
    registers: Vec<Vec<String>>,
    /// All global names, words of the language included.
    taken: BTreeSet<String>,
}

/// Returns the names in the source of a program: of locations, threads and registers, without
/// indices.
pub fn source_names(program: &Program) -> impl Iterator<Item = &str> {
    let locations = program.locations.iter().map(|location| location.name.as_str());
    let threads = program.threads.iter().chain(&program.init);
    let registers = threads.clone().flat_map(|t| t.registers.iter().map(|r| r.name.as_str()));
    let names = locations.chain(threads.map(|t| t.name.as_str())).chain(registers);
    names.map(|name| name.split(['[', '(']).next().unwrap_or(name))
}

impl Names {
    /// Chooses names for a program, none of which is a `reserved` word.
    pub fn new(program: &Program, reserved: &[impl AsRef<str>]) -> Names {
        let taken = reserved.iter().map(|word| word.as_ref().to_string()).collect();
        let (threads, registers) = (Vec::new(), Vec::new());
        let mut names = Names { variables: variables(program), threads, registers, taken };
        for at in 0..names.variables.len() {
            names.variables[at].name = names.add_global(&names.variables[at].name.clone());
        }
        names.threads =
            program.threads.iter().map(|thread| names.add_global(&thread.name)).collect();
        let all = program.threads.iter().chain(&program.init);
        names.registers = all.map(|thread| names.register_names(thread)).collect();
        names
    }

    /// Returns a new global name, similar to this one, that no register has.
    pub fn add_global(&mut self, name: &str) -> String {
        let name = unused_name(name, |name| {
            self.taken.contains(name) || self.registers.iter().flatten().any(|used| used == name)
        });
        self.taken.insert(name.clone());
        name
    }

    fn register_names(&self, thread: &Thread) -> Vec<String> {
        let mut taken = self.taken.clone();
        let mut name = |register: &str| {
            let name = match register.strip_prefix('%') {
                Some(number) if number.starts_with(|c: char| c.is_ascii_digit()) => {
                    unused_name(&format!("t{number}"), |name| taken.contains(name))
                }
                Some(word) => unused_name(word, |name| taken.contains(name)),
                None => unused_name(register, |name| taken.contains(name)),
            };
            taken.insert(name.clone());
            name
        };
        // Source names come first, so that no temporary takes them.
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

    /// Returns the name of a register of a thread, or of `init` if `thread` is `None`.
    pub fn register(&self, thread: Option<ThreadId>, reg: Reg) -> &str {
        let at = thread.map_or(self.registers.len() - 1, ThreadId::index);
        &self.registers[at][reg.index()]
    }

    /// Returns the variable that contains a location, and the index of the element.
    pub fn variable(&self, loc: Loc) -> (&Variable, u32) {
        let after = self.variables.partition_point(|variable| variable.first <= loc);
        let variable = &self.variables[after - 1];
        (variable, loc.0 - variable.first.0)
    }

    /// Returns the text of a location: `x`, `want[1]`.
    pub fn location(&self, loc: Loc) -> String {
        let (variable, element) = self.variable(loc);
        match variable.len {
            Some(_) => format!("{}[{element}]", variable.name),
            None => variable.name.clone(),
        }
    }

    /// Returns the text of an access, given the text of its index.
    pub fn place(&self, at: &Address, index: Option<&str>) -> String {
        let Some(index) = index else { return self.location(at.base) };
        let (variable, element) = self.variable(at.base);
        match element {
            0 => format!("{}[{index}]", variable.name),
            _ => format!("{}[{element} + ({index})]", variable.name),
        }
    }
}

/// Returns the variables of a program with their source names. Names with consecutive bracketed
/// indices form an array, and so do locations that an address with an index covers.
fn variables(program: &Program) -> Vec<Variable> {
    let count = program.locations.len();
    // Whether a location belongs to the same variable as the previous one.
    let mut joins_previous = vec![false; count + 1];
    let mut is_array = vec![false; count];
    let split = |at: usize| {
        let (name, index) = program.locations[at].name.strip_suffix(']')?.rsplit_once('[')?;
        Some((name, index.parse::<u32>().ok()?))
    };
    for at in 0..count {
        let Some((name, index)) = split(at) else { continue };
        is_array[at] = true;
        joins_previous[at] = at > 0 && index > 0 && split(at - 1) == Some((name, index - 1));
    }
    let code = program.threads.iter().chain(&program.init).flat_map(|thread| &thread.code);
    for address in code.filter_map(|stmt| stmt.op.address()) {
        let Some((len, _)) = address.index else { continue };
        let first = address.base.index();
        is_array[first] = true;
        joins_previous[first + 1..first + len as usize].fill(true);
    }
    let mut variables: Vec<Variable> = Vec::new();
    for at in 0..count {
        if joins_previous[at] {
            let last = variables.last_mut().expect("the first location begins a variable");
            last.len = Some(last.len.unwrap_or(1) + 1);
            last.ty = common_type(program, &last.ty, &program.locations[at].ty);
            continue;
        }
        let location = &program.locations[at];
        let name = split(at).map_or(location.name.as_str(), |(name, _)| name);
        let is_array = is_array[at] || (at + 1 < count && joins_previous[at + 1]);
        let (first, len) = (Loc::from_index(at), is_array.then_some(1));
        variables.push(Variable { name: name.into(), first, len, ty: location.ty.clone() });
    }
    variables
}

/// Returns a type that contains the values of both.
fn common_type(program: &Program, a: &Type, b: &Type) -> Type {
    if a == b {
        return a.clone();
    }
    let range = match (program.limits(a), program.limits(b)) {
        (Some(a), Some(b)) => Some(join(a, b)),
        (None, _) | (_, None) => None,
    };
    Type::Int { range }
}

/// Returns a legal name, similar to this one, that is not taken.
fn unused_name(name: &str, taken: impl Fn(&String) -> bool) -> String {
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
    numbered
        .into_iter()
        .find(|name| !taken(name))
        .expect("infinitely many numbers, finitely many names")
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
    fn names_are_unique() {
        let load = |base, index| {
            let from = Address { index, ..Address::fixed(Loc(base)) };
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
        let at = |base| Address::element(Loc(base), 2, Expr::Const(0));
        assert_eq!(names.place(&at(1), Some("i + 1")), "want[i + 1]");
        assert_eq!(names.place(&at(5), Some("i")), "head[1 + (i)]");
    }
}
