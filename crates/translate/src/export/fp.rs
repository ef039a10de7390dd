//! Exports a program as `.fp` source, which our own front end can read back. Direction: exact; the
//! program that is read back has the same outcomes and verdicts.
//!
//! Types, records, `critical` blocks and properties keep their syntax. Some programs have no such
//! syntax: a number is used as an enum constant, or a jump enters the middle of a critical section.
//! Then the export writes the program without records and critical sections
//! ([`lower`](crate::export::lower)), with numbers for enums. A thread template is written as its
//! instances. Procedures stay inlined. Wrapping arithmetic is expressed by the types `i32` and `i64`
//! ([`fixed`]).

mod code;
mod fixed;
mod typed;

use super::expr::{Dialect, text};
use super::lower::lower;
use super::names::Names;
use super::text::{TextWriter, comment_safe};
use super::{Export, has_wrapping_update};
use crate::Unsupported;
use crate::groups::identifier;
use code::Code;
use fencepost_ir::{
    Condition, Label, Loc, Observable, Op, PoolId, Problem, Program, Property, Quantifier, Thread,
    ThreadId, Type, Value, flow,
};
use fixed::{FixedWidth, with_fixed_width};
use std::collections::BTreeMap;
use typed::{TypedWriter, ValueType, constant, type_name};

/// Words of the language, and other names that a program must not use.
const WORDS: &str = "\
    as assert assume atomic await bool break cas choose client cmpxchg const continue critical do drain else \
    enum false fence fetch_add fetch_and fetch_or fetch_sub fetch_xor final finally for free goto if in \
    init int invariant loop new null observe operation pool proc property record return shared \
    skip swap thread true void while";

/// Exports the program as `.fp` source.
pub fn fp(export: &Export<'_>) -> Result<String, Unsupported> {
    if export.problem.properties.iter().any(|p| matches!(p, Property::Operations(_))) {
        return Err(Unsupported::OperationsWithoutClient);
    }
    Unsupported::check_constructs(&export.problem.program)?;
    Unsupported::check_control_points(export.problem)?;
    if export.problem.program.uses_wide_integers() {
        let fixed = with_fixed_width(export.problem);
        let (problem, width) = fixed.ok_or(Unsupported::WideIntegers)?;
        let export = Export { problem: &problem, ..*export };
        return source(&export, Some(width)).ok_or(Unsupported::NoFpSyntax);
    }
    if has_wrapping_update(&export.problem.program) {
        return Err(Unsupported::WrappingUpdate);
    }
    if let Some(text) = source(export, None) {
        return Ok(text);
    }
    let mut problem = lower(export.problem)?.problem;
    replace_enums_by_numbers(&mut problem.program);
    source(&Export { problem: &problem, ..*export }, None).ok_or(Unsupported::NoFpSyntax)
}

/// Returns the source, if the types and blocks of the language can express the program. With a
/// width, all integers have this type.
fn source(export: &Export<'_>, width: Option<FixedWidth>) -> Option<String> {
    let problem = underscore_unread_registers(export.problem);
    let program = &problem.program;
    let enums = enums(program);
    let mut reserved: Vec<&str> = WORDS.split_whitespace().collect();
    for (name, constants) in &enums {
        reserved.push(name);
        reserved.extend(constants.iter().map(String::as_str));
    }
    reserved.extend(program.pools.iter().map(|pool| pool.name.as_str()));
    let names = Names::new(program, &reserved);
    let mut out = TextWriter::new(export, ("// ", ""));
    for line in export.about {
        out.line(format!("// {}", comment_safe(line)).trim_end());
    }
    let mut printer = Printer { problem: &problem, names: &names, width, out };
    printer.out.line("");
    for (name, constants) in &enums {
        printer.out.line(&format!("enum {name} {{ {} }}", constants.join(", ")));
    }
    printer.records()?;
    printer.variables()?;
    let threads = program.threads.iter().enumerate();
    let threads = threads.map(|(at, thread)| (Some(ThreadId::from_index(at)), thread));
    for (id, thread) in program.init.iter().map(|init| (None, init)).chain(threads) {
        printer.thread(id, thread)?;
    }
    printer.properties()?;
    Some(printer.out.finish())
}

struct Printer<'a> {
    problem: &'a Problem,
    names: &'a Names,
    width: Option<FixedWidth>,
    out: TextWriter<'a>,
}

impl Printer<'_> {
    fn program(&self) -> &Program {
        &self.problem.program
    }

    fn records(&mut self) -> Option<()> {
        for at in 0..self.program().pools.len() {
            let fields = fields(self.program(), PoolId::from_index(at))?;
            let (program, width) = (self.program(), self.width);
            let pool = &program.pools[at];
            let shown: Vec<String> = fields
                .iter()
                .map(|(name, len, ty)| {
                    let len = len.map(|len| format!("[{len}]")).unwrap_or_default();
                    format!("{} {name}{len};", type_name(program, ty, width))
                })
                .collect();
            let record = format!("record {} {{ {} }}", pool.name, shown.join(" "));
            let supply = format!("pool {}[{}];", pool.name, pool.cells);
            self.out.line(&record);
            self.out.line(&supply);
        }
        Some(())
    }

    fn variables(&mut self) -> Option<()> {
        for variable in &self.names.variables {
            let program = &self.problem.program;
            if program.cell_of(variable.first).is_some() {
                continue;
            }
            let locations = variable.locations().map(|loc| program.location(loc));
            let kind = ValueType::of(&variable.ty);
            let mut inits = Vec::new();
            for location in locations {
                inits.push(text(&constant(location.init, &kind)?, Dialect::Fp, &String::clone));
            }
            let len = variable.len.map(|len| format!("[{len}]")).unwrap_or_default();
            let zero = variable.locations().all(|loc| program.location(loc).init == 0);
            let init = match &inits[..] {
                _ if zero => String::new(),
                [first, rest @ ..] if rest.iter().all(|init| init == first) => {
                    format!(" = {first}")
                }
                all => format!(" = {{{}}}", all.join(", ")),
            };
            let ty = type_name(program, &variable.ty, self.width);
            self.out.line(&format!("shared {ty} {}{len}{init};", variable.name));
        }
        Some(())
    }

    fn thread(&mut self, id: Option<ThreadId>, thread: &Thread) -> Option<()> {
        self.out.line("");
        self.out.forget_last_comment();
        match id {
            Some(id) => self.out.open(&format!("thread {} {{", self.names.threads[id.index()])),
            None => self.out.open("init {"),
        }
        Code::new(self.problem, self.names, self.width, (id, thread), &mut self.out).write()?;
        self.out.close("}");
        Some(())
    }

    fn properties(&mut self) -> Option<()> {
        self.out.line("");
        for property in &self.problem.properties {
            let line = match property {
                // Implied by the assertions in the code.
                Property::Assertions => continue,
                Property::MutualExclusion => "property mutual_exclusion;".into(),
                Property::DeadlockFree => "property deadlock_free;".into(),
                Property::Progress => "property progress;".into(),
                Property::Operations(_) => return None,
                Property::Invariant(condition) => {
                    format!("invariant {};", self.condition(condition)?)
                }
                Property::FinalForall(_) | Property::FinalNever(_) => continue,
            };
            self.out.line(&line);
        }
        if self.problem.may_hang {
            self.out.line("property may_hang;");
        }
        for (quantifier, condition) in self.problem.finals() {
            let word = match quantifier {
                Quantifier::Exists => "exists",
                Quantifier::Forall => "forall",
                Quantifier::Never => "never",
            };
            let line = format!("final {word} ({});", self.condition(condition)?);
            self.out.line(&line);
        }
        let observed = self.problem.observed.iter();
        let observed: Vec<String> = observed.filter_map(|what| self.observable(*what)).collect();
        if !observed.is_empty() {
            self.out.line(&format!("observe {};", observed.join(", ")));
        }
        Some(())
    }

    fn condition(&self, condition: &Condition) -> Option<String> {
        let mut named = true;
        condition.expr.for_each_var(&mut |what| named &= self.observable(*what).is_some());
        let leaf = |what: &Observable| {
            let kind = ValueType::of(self.program().observable_type(*what));
            (self.observable(*what).unwrap_or_default(), kind)
        };
        let written = TypedWriter { leaf: &leaf }.write(&condition.expr, &ValueType::Bool)?;
        named.then(|| text(&written, Dialect::Fp, &String::clone))
    }

    /// Returns the name of an observable in a condition. Fields of records have no name there.
    fn observable(&self, what: Observable) -> Option<String> {
        match what {
            Observable::Loc(loc) if self.program().cell_of(loc).is_some() => None,
            Observable::Loc(loc) => Some(self.names.location(loc)),
            Observable::Reg(thread, reg) => {
                let register = self.names.register(Some(thread), reg);
                Some(format!("{}.{register}", self.names.threads[thread.index()]))
            }
            Observable::At(thread, label) => {
                let label = control_point_name(self.program(), thread, label)?;
                Some(format!("{} at {label}", self.names.threads[thread.index()]))
            }
        }
    }
}

/// Returns the name of a control point of a thread. `None` if several statements have its label: then
/// no label of the language denotes them all.
fn control_point_name(program: &Program, thread: ThreadId, label: Label) -> Option<String> {
    let statements = program.thread(thread).code.iter().filter(|stmt| stmt.label == label);
    // The names of jump targets have no letter after `at_`.
    let name = || format!("at_label_{}", identifier(&program.label(label).text));
    (statements.count() == 1).then(name)
}

/// Returns the fields of a pool's records: name, array length, type.
fn fields(program: &Program, id: PoolId) -> Option<Vec<(String, Option<u32>, Type)>> {
    let pool = program.pool(id);
    let mut fields: Vec<(String, Option<u32>, Type)> = Vec::new();
    for offset in 0..pool.stride {
        let location = program.location(Loc(pool.base.0 + offset));
        let (_, field) = location.name.split_once('.')?;
        match field.split_once('[') {
            Some((name, "0]")) => fields.push((name.into(), Some(1), location.ty.clone())),
            Some((name, _)) => {
                let (last, len, ty) = fields.last_mut()?;
                if last != name || *ty != location.ty {
                    return None;
                }
                *len = Some(len.as_ref()? + 1);
            }
            None => fields.push((field.into(), None, location.ty.clone())),
        }
        // In `.fp`, every field starts as 0.
        let cells = (0..pool.cells).map(|cell| Loc(pool.base.0 + cell * pool.stride + offset));
        if cells.into_iter().any(|loc| program.location(loc).init != 0) {
            return None;
        }
    }
    Some(fields)
}

/// Returns the enums of a program with their constants, by name.
fn enums(program: &Program) -> BTreeMap<String, Vec<String>> {
    let threads = program.threads.iter().chain(&program.init);
    let registers = threads.flat_map(|thread| &thread.registers).map(|register| &register.ty);
    let types = program.locations.iter().map(|location| &location.ty).chain(registers);
    types
        .filter_map(|ty| match ty {
            Type::Enum { name, constants } => Some((name.clone(), constants.clone())),
            Type::Bool | Type::Int { .. } | Type::U64 | Type::Ref(_) => None,
        })
        .collect()
}

fn replace_enums_by_numbers(program: &mut Program) {
    let threads = program.threads.iter_mut().chain(&mut program.init);
    let registers = threads.flat_map(|thread| &mut thread.registers).map(|r| &mut r.ty);
    for ty in program.locations.iter_mut().map(|location| &mut location.ty).chain(registers) {
        if let Type::Enum { constants, .. } = ty {
            *ty = Type::Int { range: Some((0, constants.len() as Value - 1)) };
        }
    }
}

/// Copies a problem and prefixes unread registers with `_`, so that the front end does not warn
/// about them.
fn underscore_unread_registers(problem: &Problem) -> Problem {
    let mut silent = problem.clone();
    let threads = silent.program.threads.iter_mut().enumerate();
    let threads = threads.map(|(at, thread)| (Some(ThreadId::from_index(at)), thread));
    for (id, thread) in threads.chain(silent.program.init.iter_mut().map(|init| (None, init))) {
        let mut read = id.map(|id| problem.observed_registers(id, true)).unwrap_or_default();
        thread.code.iter().for_each(|stmt| read.extend(flow::uses(&stmt.op)));
        for (at, register) in thread.registers.iter_mut().enumerate() {
            let is_underscored = register.name.starts_with('_');
            if !is_underscored && !read.iter().any(|reg| reg.index() == at) {
                register.name = format!("_{}", register.name.trim_start_matches('%'));
            }
        }
    }
    silent
}

/// Returns whether an operation only marks the beginning or end of a client operation, which has no
/// syntax.
fn has_no_syntax(op: &Op) -> bool {
    matches!(op, Op::Invoke { .. } | Op::Return { .. })
}
