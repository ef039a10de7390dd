//! Exports a straight-line program as an x86 litmus test in herd's format. Source: the format of
//! herd7 and diy7. Direction: exact for programs without faults, under every model in which locked
//! instructions are full fences and `SFENCE` and `LFENCE` order stores and loads. If an instruction
//! orders more accesses than its statement, a comment in the test says so.
//!
//! - The dialect is `X86`. It is `X86_64` if a thread needs more than six registers, or an
//!   instruction that herd supports only there (`cmpxchg`, `and`).
//! - Threads are `P0`, `P1`, ...; array elements are locations such as `a_1`. Comments give the
//!   source names.
//! - Updates are locked instructions, which wait for *all* pending stores of their thread. In
//!   `.fp`, an update under PSO and RMO waits only for stores to its own location, so the test may
//!   allow fewer outcomes.
//! - `cas` returns 0 or 1, but `cmpxchg` sets a flag. So the result is computed with a jump over
//!   one instruction. A jump orders later accesses, but the locked instruction before it already
//!   does.
//! - Fences become the weakest instructions that order enough: `LFENCE` for load-load and
//!   load-store, `SFENCE` for store-store, `MFENCE` for everything that includes store-load.
//! - Arithmetic wraps in a litmus test, and ranges are not checked.
//!
//! Programs without a counterpart are rejected, with the source line: branches, loops, blocking,
//! choices, computed addresses, records, properties of intermediate states.

mod code;
mod condition;
mod instruction;
mod straight_line;

use super::{Export, has_wrapping_update};
use crate::{Unsupported, UnsupportedInLitmus};
use code::{Code, code};
use condition::Conditions;
use fencepost_cycles::x86::table;
use fencepost_ir::{
    Expr, FenceKinds, Label, Loc, Observable, Op, Problem, Property, Quantifier, Reg, Type, Value,
};
use instruction::{Dialect, JumpTarget};
use std::collections::BTreeSet;

/// Returns the error for a statement that cannot be expressed.
type ErrorFor<'a> = &'a dyn Fn(Label, UnsupportedInLitmus) -> Unsupported;

/// Words that a name must not be: instructions, registers, and keywords of conditions.
const WORDS: &str = "\
    add and cases clflush clflushopt cmovc cmp cmpxchg dec endbr64 exists false fault filter final forall inc \
    je jge jgt jle jlt jmp jne jns js lfence lock locations mfence mov movd movntdqa movnti movsd movt \
    nop not observed or read ret setnb sfence shl true uxch with xchg xor \
    eax ebx ecx edx esi edi ebp esp eip rax rbx rcx rdx rsi rdi rbp rsp rip \
    r8 r9 r10 r11 r12 r13 r14 r15 r8d r9d r10d r11d r12d r13d r14d r15d";

/// Exports the program as a litmus test with this name.
///
/// Other tools read the test with their own memory models, so the program must be the original, not
/// a translation.
pub fn litmus(export: &Export<'_>, name: &str) -> Result<String, Unsupported> {
    let problem = export.problem;
    let program = &problem.program;
    Unsupported::check(program)?;
    if has_wrapping_update(program) {
        return Err(Unsupported::WrappingUpdate);
    }
    if !program.pools.is_empty() {
        return Err(Unsupported::Litmus(UnsupportedInLitmus::Records));
    }
    let error_for = |label: Label, reason: UnsupportedInLitmus| {
        let info = program.label(label);
        let (line, text) = ((export.line)(info.span), info.text.clone());
        Unsupported::LitmusStatement { line, text, reason }
    };
    let initial = initial(problem, &error_for)?;
    let mut threads = Vec::new();
    for id in program.thread_ids() {
        threads.push(code(problem, id, &error_for)?);
    }
    let instructions = threads.iter().flat_map(|code| code.instructions.iter().copied());
    let registers = threads.iter().map(|code| code.registers).max().unwrap_or(0);
    let dialect = Dialect::of(registers, instructions);
    let test = Test { export, dialect, threads, names: names(problem) };

    let mut out = format!("{} {}\n", dialect.name(), test_name(name));
    for line in export.about.iter().cloned().chain(test.legend()).chain(test.notes()) {
        out.push_str(&format!("(* {} *)\n", comment_safe(&line)));
    }
    out.push_str("{\n");
    for (name, value) in test.names.iter().zip(initial) {
        if value != 0 {
            out.push_str(&format!("{name}={value};\n"));
        }
    }
    out.push_str("}\n");
    out.push_str(&test.rows());
    out.push_str(&test.observed_list());
    out.push_str(&test.condition()?);
    Ok(out)
}

struct Test<'a> {
    export: &'a Export<'a>,
    dialect: Dialect,
    threads: Vec<Code>,
    /// The names of locations.
    names: Vec<String>,
}

impl Test<'_> {
    fn problem(&self) -> &Problem {
        self.export.problem
    }

    /// Returns the lines that map the names of the test to source names.
    fn legend(&self) -> Vec<String> {
        let program = &self.problem().program;
        let threads = program.threads.iter().enumerate();
        let threads = threads.map(|(at, thread)| format!("P{at} = {}", thread.name));
        let mut lines = vec![threads.collect::<Vec<_>>().join(", ")];
        let locations = program.locations.iter().zip(&self.names);
        let renamed = locations.filter(|(location, name)| location.name != **name);
        let renamed = renamed.map(|(location, name)| format!("{name} = {}", location.name));
        let registers = self.observed_registers().into_iter().map(|what| {
            let name = program.observable_name(what);
            format!("{} = {name}", self.name(what))
        });
        let rest: Vec<String> = renamed.chain(registers).collect();
        if !rest.is_empty() {
            lines.push(rest.join(", "));
        }
        lines
    }

    /// Returns the registers that conditions mention or that are observed.
    fn observed_registers(&self) -> Vec<Observable> {
        let threads = self.problem().program.thread_ids().zip(&self.threads);
        let observed = threads
            .flat_map(|(id, code)| code.observed.keys().map(move |reg| Observable::Reg(id, *reg)));
        observed.collect()
    }

    /// Returns notes on the differences between the test and the program.
    fn notes(&self) -> Vec<String> {
        let program = &self.problem().program;
        let mut notes = Vec::new();
        for (at, code) in self.threads.iter().enumerate() {
            for (label, fence, more) in &code.stronger {
                let line = (self.export.line)(program.label(*label).span);
                let line = line.map_or(String::new(), |line| format!(" for line {line}"));
                notes.push(format!("{fence}{line} of P{at} also orders {}", ordered_pairs(*more)));
            }
        }
        if self.threads.iter().any(|code| code.drains) {
            notes.push(
                "Locked instructions are full fences; the original updates are not, under PSO and RMO"
                    .into(),
            );
        }
        let instructions = self.threads.iter().flat_map(|code| &code.instructions);
        let unknown: BTreeSet<&str> = instructions.filter_map(|i| i.unknown_to_herd()).collect();
        if !unknown.is_empty() {
            let unknown: Vec<&str> = unknown.into_iter().collect();
            notes.push(format!("herd does not support {}", unknown.join(", ")));
        }
        let registers = program.threads.iter().flat_map(|thread| &thread.registers);
        let mut types = program.locations.iter().map(|l| &l.ty).chain(registers.map(|r| &r.ty));
        if types.any(|ty| matches!(ty, Type::Int { range: Some(_) })) {
            notes.push("Declared ranges of variables are not checked".into());
        }
        if self.threads.iter().any(|code| code.computes) {
            notes.push("Overflow is a fault of the program, but wraps in this test".into());
        }
        notes
    }

    /// Returns the table of instructions, one column per thread.
    fn rows(&self) -> String {
        let mut taken: BTreeSet<String> = self.names.iter().cloned().collect();
        let mut columns: Vec<Vec<String>> = Vec::new();
        for (at, code) in self.threads.iter().enumerate() {
            let labels: Vec<String> = (0..code.jump_targets)
                .map(|jump_target| unused_name(&format!("L{at}{jump_target}"), &mut taken))
                .collect();
            let location = |loc: Loc| self.names[loc.index()].clone();
            let jump_target = |jump_target: JumpTarget| labels[jump_target.0].clone();
            let text = |i| self.dialect.text(i, &location, &jump_target);
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

    fn observed_list(&self) -> String {
        let observed = self.problem().observed.iter();
        let names: String = observed.map(|what| format!("{}; ", self.name(*what))).collect();
        if names.is_empty() { names } else { format!("locations [{}]\n", names.trim_end()) }
    }

    fn condition(&self) -> Result<String, Unsupported> {
        for property in &self.problem().properties {
            let reason = match property {
                Property::FinalForall(_) | Property::FinalNever(_) => continue,
                Property::Assertions => UnsupportedInLitmus::Assertions,
                Property::Invariant(_) => UnsupportedInLitmus::Invariants,
                Property::MutualExclusion => UnsupportedInLitmus::CriticalSections,
                Property::DeadlockFree | Property::Progress => UnsupportedInLitmus::Deadlocks,
                Property::Operations(_) => UnsupportedInLitmus::Operations,
            };
            return Err(Unsupported::Litmus(reason));
        }
        let mut finals = self.problem().finals();
        let Some((quantifier, condition)) = finals.next() else {
            return Ok("forall (true)\n".into());
        };
        if finals.next().is_some() {
            return Err(Unsupported::Litmus(UnsupportedInLitmus::SeveralConditions));
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

    /// Returns the name of a location or register in the final condition.
    fn name(&self, what: Observable) -> String {
        match what {
            Observable::Loc(loc) => self.names[loc.index()].clone(),
            Observable::Reg(thread, reg) => {
                let register = self.threads[thread.index()].observed[&reg];
                format!("{}:{}", thread.index(), self.dialect.observed(register))
            }
            Observable::At(..) => unreachable!("only invariants mention control points"),
        }
    }
}

/// Returns the values of all locations after `init`, which may only store constants.
fn initial(problem: &Problem, error_for: ErrorFor<'_>) -> Result<Vec<Value>, Unsupported> {
    let program = &problem.program;
    let mut values: Vec<Value> = program.locations.iter().map(|location| location.init).collect();
    let Some(init) = &program.init else { return Ok(values) };
    for line in straight_line::straight_line(init, error_for)? {
        let constant = if let Op::Store { to, value } = &line.op {
            to.as_fixed().zip(value.as_const())
        } else {
            None
        };
        let Some((loc, value)) = constant else {
            return Err(error_for(line.label, UnsupportedInLitmus::InitialState));
        };
        values[loc.index()] = value;
    }
    Ok(values)
}

/// Returns the names of all locations: the source name if it is legal in a test.
fn names(problem: &Problem) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let locations = problem.program.locations.iter();
    // Locations that keep their names come first, so that no other location takes these names.
    let mut names: Vec<Option<String>> = locations
        .clone()
        .map(|location| {
            let name = location.name.clone();
            (legal_name(&name) == name && taken.insert(name.clone())).then_some(name)
        })
        .collect();
    for (name, location) in names.iter_mut().zip(locations) {
        if name.is_none() {
            *name = Some(unused_name(&location.name, &mut taken));
        }
    }
    names.into_iter().map(|name| name.expect("the loop names every location")).collect()
}

/// Returns a legal, unused name similar to this one, and marks it as taken.
fn unused_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    let legal = legal_name(name);
    let numbered = (2..).map(|number| format!("{legal}_{number}"));
    let mut all = std::iter::once(legal.clone()).chain(numbered);
    all.find(|name| taken.insert(name.clone()))
        .expect("infinitely many numbers, finitely many names")
}

/// Returns a name that begins with a letter and is not a reserved word.
fn legal_name(name: &str) -> String {
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

/// Returns a legal name for a test.
fn test_name(name: &str) -> String {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || "_/.+[]-".contains(c);
    let name: String = name.chars().map(|c| if is_legal(c) { c } else { '_' }).collect();
    // Readers replace the name `--` by the name of the file.
    if name.is_empty() || name == "--" { "test".into() } else { name }
}

/// Escapes text so that it cannot end a comment.
fn comment_safe(text: &str) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    line.join(" ").replace("(*", "( *").replace("*)", "* )").replace(['{', '}', '"'], "'")
}

/// Describes the pairs of accesses that a fence orders.
fn ordered_pairs(kinds: FenceKinds) -> String {
    let single = FenceKinds::SINGLE.iter().filter(|(kind, _)| kinds.contains(*kind));
    let words: Vec<String> = single
        .filter_map(|(_, name)| name.split_once('_'))
        .map(|(before, after)| format!("{before}s with {after}s"))
        .collect();
    words.join(" and ")
}

/// Returns whether an expression reads a register.
fn mentions(expr: &Expr<Reg>, reg: Reg) -> bool {
    let mut found = false;
    expr.for_each_var(&mut |var| found |= *var == reg);
    found
}
