//! A straight-line program as a litmus test for x86, in herd's format. Source: the format as herd7 and diy7 have it.
//! Direction: exact for programs without faults, under every model in which locked instructions are full fences and
//! `SFENCE` and `LFENCE` order stores and loads; where an instruction keeps more in order than
//! the statement it stands for, a comment in the test says so.
//!
//! - The dialect is `X86`. It is `X86_64` if a thread needs more than six registers, or an
//!   instruction that herd knows there only (`cmpxchg`, `and`).
//! - Threads are `P0`, `P1`, ...; an array's elements are locations such as `a_1`. Comments have the names of the source.
//! - Updates are locked instructions, which wait for *all* pending stores of their thread. In `.fp` an update under PSO
//!   and RMO waits for those to its own location only, so the test may allow less.
//! - `cas` yields 0 or 1. `cmpxchg` sets a flag instead, so its result is made with a jump over one instruction. A jump
//!   orders what comes after it, but the locked instruction before it has done so already.
//! - Fences become the weakest instructions that order as much: `LFENCE` for loads with anything, `SFENCE` for stores with
//!   stores, `MFENCE` for all that orders stores with loads.
//! - Arithmetic wraps in a litmus test, and nothing checks ranges.
//!
//! What has no counterpart is refused, with the line it is on: branches, loops, waiting, choosing, computed addresses,
//! records, properties of states on the way.

mod code;
mod condition;
mod instruction;
mod straight;

use super::Export;
use crate::{NoLitmus, Unsupported};
use code::{Code, code};
use condition::Conditions;
use fencepost_cycles::x86::table;
use fencepost_ir::{
    Expr, FenceKinds, Label, Loc, Observable, Op, Problem, Property, Quantifier, Reg, Type, Value,
};
use instruction::{Dialect, Mark};
use std::collections::BTreeSet;

/// What to say about a statement that cannot be written.
type Refuse<'a> = &'a dyn Fn(Label, NoLitmus) -> Unsupported;

/// Words that are not names in a test: instructions, registers, and what conditions are made of.
const WORDS: &str = "\
    add and cases clflush clflushopt cmovc cmp cmpxchg dec endbr64 exists false fault filter final forall inc \
    je jge jgt jle jlt jmp jne jns js lfence lock locations mfence mov movd movntdqa movnti movsd movt \
    nop not observed or read ret setnb sfence shl true uxch with xchg xor \
    eax ebx ecx edx esi edi ebp esp eip rax rbx rcx rdx rsi rdi rbp rsp rip \
    r8 r9 r10 r11 r12 r13 r14 r15 r8d r9d r10d r11d r12d r13d r14d r15d";

/// The program as a litmus test of this name.
///
/// The test is read by tools that have memory models of their own, so the program is to be the original.
pub fn litmus(export: &Export<'_>, name: &str) -> Result<String, Unsupported> {
    let problem = export.problem;
    let program = &problem.program;
    if !program.pools.is_empty() {
        return Err(Unsupported::Litmus(NoLitmus::Records));
    }
    let refuse = |label: Label, reason: NoLitmus| {
        let info = program.label(label);
        let (line, text) = ((export.line)(info.span), info.text.clone());
        Unsupported::LitmusStatement { line, text, reason }
    };
    let initial = initial(problem, &refuse)?;
    let mut threads = Vec::new();
    for id in program.thread_ids() {
        threads.push(code(problem, id, &refuse)?);
    }
    let instructions = threads.iter().flat_map(|code| code.instructions.iter().copied());
    let registers = threads.iter().map(|code| code.registers).max().unwrap_or(0);
    let dialect = Dialect::of(registers, instructions);
    let test = Test { export, dialect, threads, names: names(problem) };

    let mut out = format!("{} {}\n", dialect.name(), title(name));
    for line in export.about.iter().cloned().chain(test.legend()).chain(test.notes()) {
        out.push_str(&format!("(* {} *)\n", harmless(&line)));
    }
    out.push_str("{\n");
    for (name, value) in test.names.iter().zip(initial) {
        if value != 0 {
            out.push_str(&format!("{name}={value};\n"));
        }
    }
    out.push_str("}\n");
    out.push_str(&test.rows());
    out.push_str(&test.observed());
    out.push_str(&test.condition()?);
    Ok(out)
}

struct Test<'a> {
    export: &'a Export<'a>,
    dialect: Dialect,
    threads: Vec<Code>,
    /// By location.
    names: Vec<String>,
}

impl Test<'_> {
    fn problem(&self) -> &Problem {
        self.export.problem
    }

    /// Which name of the source is which of the test.
    fn legend(&self) -> Vec<String> {
        let program = &self.problem().program;
        let threads = program.threads.iter().enumerate();
        let threads = threads.map(|(at, thread)| format!("P{at} = {}", thread.name));
        let mut lines = vec![threads.collect::<Vec<_>>().join(", ")];
        let locations = program.locations.iter().zip(&self.names);
        let renamed = locations.filter(|(location, name)| location.name != **name);
        let renamed = renamed.map(|(location, name)| format!("{name} = {}", location.name));
        let registers = self.kept().into_iter().map(|what| {
            let name = program.observable_name(what);
            format!("{} = {name}", self.name(what))
        });
        let rest: Vec<String> = renamed.chain(registers).collect();
        if !rest.is_empty() {
            lines.push(rest.join(", "));
        }
        lines
    }

    /// The registers that somebody looks at in the end.
    fn kept(&self) -> Vec<Observable> {
        let threads = self.problem().program.thread_ids().zip(&self.threads);
        let kept = threads
            .flat_map(|(id, code)| code.kept.keys().map(move |reg| Observable::Reg(id, *reg)));
        kept.collect()
    }

    /// Where the test is not quite the program.
    fn notes(&self) -> Vec<String> {
        let program = &self.problem().program;
        let mut notes = Vec::new();
        for (at, code) in self.threads.iter().enumerate() {
            for (label, fence, more) in &code.stronger {
                let line = (self.export.line)(program.label(*label).span);
                let line = line.map_or(String::new(), |line| format!(" for line {line}"));
                notes.push(format!("{fence}{line} of P{at} also orders {}", pairs(*more)));
            }
        }
        if self.threads.iter().any(|code| code.drains) {
            notes.push(
                "Locked instructions are full fences; the updates that they stand for are not, under PSO and RMO"
                    .into(),
            );
        }
        let instructions = self.threads.iter().flat_map(|code| &code.instructions);
        let unknown: BTreeSet<&str> = instructions.filter_map(|i| i.unknown_to_herd()).collect();
        if !unknown.is_empty() {
            let unknown: Vec<&str> = unknown.into_iter().collect();
            notes.push(format!("herd does not know {}", unknown.join(", ")));
        }
        let registers = program.threads.iter().flat_map(|thread| &thread.registers);
        let mut types = program.locations.iter().map(|l| &l.ty).chain(registers.map(|r| &r.ty));
        if types.any(|ty| matches!(ty, Type::Int { range: Some(_) })) {
            notes.push("Nothing checks the ranges that variables were declared with".into());
        }
        if self.threads.iter().any(|code| code.calculates) {
            notes.push("A sum that overflows, which is a fault of the program, wraps here".into());
        }
        notes
    }

    /// The threads side by side.
    fn rows(&self) -> String {
        let mut taken: BTreeSet<String> = self.names.iter().cloned().collect();
        let mut columns: Vec<Vec<String>> = Vec::new();
        for (at, code) in self.threads.iter().enumerate() {
            let labels: Vec<String> =
                (0..code.marks).map(|mark| unused(&format!("L{at}{mark}"), &mut taken)).collect();
            let location = |loc: Loc| self.names[loc.index()].clone();
            let mark = |mark: Mark| labels[mark.0].clone();
            let text = |i| self.dialect.text(i, &location, &mark);
            let mut column = vec![format!("P{at}")];
            column.extend(code.instructions.iter().map(|i| text(*i)));
            columns.push(column);
        }
        // A test without instructions has an empty row.
        if let Some(first) = columns.first_mut().filter(|_| self.is_empty()) {
            first.push(String::new());
        }
        table(&columns)
    }

    fn is_empty(&self) -> bool {
        self.threads.iter().all(|code| code.instructions.is_empty())
    }

    fn observed(&self) -> String {
        let observed = self.problem().observed.iter();
        let names: String = observed.map(|what| format!("{}; ", self.name(*what))).collect();
        if names.is_empty() { names } else { format!("locations [{}]\n", names.trim_end()) }
    }

    fn condition(&self) -> Result<String, Unsupported> {
        for property in &self.problem().properties {
            let reason = match property {
                Property::FinalForall(_) | Property::FinalNever(_) => continue,
                Property::Assertions => NoLitmus::Assertions,
                Property::Invariant(_) => NoLitmus::Invariants,
                Property::MutualExclusion => NoLitmus::CriticalSections,
                Property::DeadlockFree => NoLitmus::Deadlocks,
                Property::Operations(_) => NoLitmus::Operations,
            };
            return Err(Unsupported::Litmus(reason));
        }
        let mut finals = self.problem().finals();
        let Some((quantifier, condition)) = finals.next() else {
            return Ok("forall (true)\n".into());
        };
        if finals.next().is_some() {
            return Err(Unsupported::Litmus(NoLitmus::SeveralConditions));
        }
        let word = match quantifier {
            Quantifier::Exists => "exists",
            Quantifier::Forall => "forall",
            Quantifier::Never => "~exists",
        };
        let ty = |what| self.problem().program.observable_type(what).clone();
        let name = |what| self.name(what);
        match (Conditions { name: &name, ty: &ty }).text(&condition.expr) {
            Ok(text) => Ok(format!("{word} {text}\n")),
            Err(reason) => {
                let line = (self.export.line)(condition.span);
                Err(Unsupported::LitmusCondition { line, reason })
            }
        }
    }

    /// A location or register as the end of the test names it.
    fn name(&self, what: Observable) -> String {
        match what {
            Observable::Loc(loc) => self.names[loc.index()].clone(),
            Observable::Reg(thread, reg) => {
                let place = self.threads[thread.index()].kept[&reg];
                format!("{}:{}", thread.index(), self.dialect.observed(place))
            }
        }
    }
}

/// The values of all locations after `init`, which may only store constants.
fn initial(problem: &Problem, refuse: Refuse<'_>) -> Result<Vec<Value>, Unsupported> {
    let program = &problem.program;
    let mut values: Vec<Value> = program.locations.iter().map(|location| location.init).collect();
    let Some(init) = &program.init else { return Ok(values) };
    for line in straight::straight(init, refuse)? {
        let constant = if let Op::Store { to, value } = &line.op {
            to.as_fixed().zip(value.as_const())
        } else {
            None
        };
        let Some((loc, value)) = constant else {
            return Err(refuse(line.label, NoLitmus::InitialState));
        };
        values[loc.index()] = value;
    }
    Ok(values)
}

/// Names for all locations: what the source calls them, where that is a name in a test.
fn names(problem: &Problem) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let locations = problem.program.locations.iter();
    // Those that can keep their names come first, so that no other one takes them.
    let mut names: Vec<Option<String>> = locations
        .clone()
        .map(|location| {
            let name = location.name.clone();
            (legal(&name) == name && taken.insert(name.clone())).then_some(name)
        })
        .collect();
    for (name, location) in names.iter_mut().zip(locations) {
        if name.is_none() {
            *name = Some(unused(&location.name, &mut taken));
        }
    }
    names.into_iter().map(|name| name.expect("every location has got one")).collect()
}

/// A legal name like this one that is not taken, which it is afterwards.
fn unused(name: &str, taken: &mut BTreeSet<String>) -> String {
    let legal = legal(name);
    let numbered = (2..).map(|number| format!("{legal}_{number}"));
    let mut all = std::iter::once(legal.clone()).chain(numbered);
    all.find(|name| taken.insert(name.clone())).expect("some number is free")
}

/// A name that begins with a letter and means nothing else.
fn legal(name: &str) -> String {
    let parts = name.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let mut legal = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_");
    let thread = legal.strip_prefix('P').filter(|rest| rest.parse::<u32>().is_ok());
    let word = legal.to_lowercase();
    let sized = word.strip_suffix(['b', 'w', 'l', 'q']).unwrap_or(&word);
    let is_word = WORDS.split_whitespace().any(|taken| taken == word || taken == sized);
    if is_word || thread.is_some() || !legal.starts_with(|c: char| c.is_ascii_alphabetic()) {
        legal.insert_str(0, "v_");
    }
    legal
}

/// The name of a test.
fn title(name: &str) -> String {
    let legal = |c: char| c.is_ascii_alphanumeric() || "_/.+[]-".contains(c);
    let name: String = name.chars().map(|c| if legal(c) { c } else { '_' }).collect();
    // Two hyphens alone would be the name of the file.
    if name.is_empty() || name == "--" { "test".into() } else { name }
}

/// Text that stays inside of a comment.
fn harmless(text: &str) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    line.join(" ").replace("(*", "( *").replace("*)", "* )").replace(['{', '}', '"'], "'")
}

/// The pairs of accesses that a fence orders, in words.
fn pairs(kinds: FenceKinds) -> String {
    let single = FenceKinds::SINGLE.iter().filter(|(kind, _)| kinds.contains(*kind));
    let words: Vec<String> = single
        .filter_map(|(_, name)| name.split_once('_'))
        .map(|(before, after)| format!("{before}s with {after}s"))
        .collect();
    words.join(" and ")
}

/// Whether an expression reads a register.
fn mentions(expr: &Expr<Reg>, reg: Reg) -> bool {
    let mut found = false;
    expr.for_each_var(&mut |var| found |= *var == reg);
    found
}
