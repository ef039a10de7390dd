//! A program as C11 with POSIX threads, for verifiers of such programs, and to be run. Direction: exact, but for
//! properties that C cannot state (deadlock freedom) and for overflow, which C leaves undefined.
//!
//! Shared variables are `_Atomic int`, so that every access is a sequentially consistent one. When the program
//! has atomic blocks or invariants, they are plain variables instead, and every access stands between
//! `atomic_begin` and `atomic_end`: one lock for all of memory, which verifiers know as an atomic section.
//! Faults are assertions before the statement that would have them, where analysis does not show that they
//! cannot happen. A false `assume` ends a run that does not count. Records and critical sections are lowered
//! first ([`lower`](crate::export::lower)).

mod code;
mod faults;
pub(super) mod prelude;

use super::Export;
use super::expr::{Dialect, negated, text};
use super::lower::lower;
use super::names::{Names, Variable};
use super::steps::{Action, Env, Kind};
use super::text::{Text, harmless};
use crate::Unsupported;
pub(super) use code::{Code, Role};
pub(super) use faults::surely;
use fencepost_ir::interval::{FULL, Range};
use fencepost_ir::range::{Ranges, ranges};
use fencepost_ir::{
    BinOp, Condition, Expr, Loc, Observable, Op, Problem, Property, Quantifier, Reg, ThreadId, Type,
};
use std::collections::BTreeSet;

/// The program as C.
pub fn c(export: &Export<'_>) -> Result<String, Unsupported> {
    let problem = &lower(export.problem)?.problem;
    let export = &Export { problem, ..*export };
    let words = prelude::reserved(&problem.program, "");
    let mut names = Names::new(&problem.program, &words);
    let kept = kept(problem, &mut names);
    let program = Whole {
        problem,
        names: &names,
        kept: &kept,
        ranges: ranges(&problem.program),
        unknown: unknown(problem),
        uses: Uses::of(problem),
    };
    let mut out = Text::new(export, ("/* ", " */"));
    program.write(export, &mut out);
    Ok(out.finish())
}

/// Any value, for each register of `init`.
pub(super) fn unknown(problem: &Problem) -> Vec<Range> {
    let registers = problem.program.init.as_ref().map_or(0, |init| init.registers.len());
    vec![FULL; registers]
}

/// Registers that are looked at when all is over, with new names outside of threads.
pub(super) fn kept(problem: &Problem, names: &mut Names) -> Vec<(ThreadId, Reg, String)> {
    let mut kept = Vec::new();
    for thread in problem.program.thread_ids() {
        for reg in problem.kept_registers(thread, false) {
            let own = names.register(Some(thread), reg);
            let name = format!("{}_{own}", names.threads[thread.index()]);
            kept.push((thread, reg, names.global(&name)));
        }
    }
    kept
}

/// What of the prelude a program needs.
#[derive(Clone, Copy, Default)]
pub(super) struct Uses {
    /// Accesses stand in atomic sections.
    pub(super) locked: bool,
    assume: bool,
    choose: bool,
    cas: bool,
    swap: bool,
    add: bool,
    and: bool,
    or: bool,
    xor: bool,
}

impl Uses {
    pub(super) fn of(problem: &Problem) -> Uses {
        let invariant = |p: &Property| matches!(p, Property::Invariant(_));
        let mut uses = Uses { locked: problem.properties.iter().any(invariant), ..Uses::default() };
        let threads = problem.program.threads.iter().chain(&problem.program.init);
        for stmt in threads.flat_map(|thread| &thread.code) {
            uses.locked |= stmt.op == Op::AtomicBegin;
            match Action::of(&stmt.op, &Env::default()) {
                Action::Assume(_) => uses.assume = true,
                Action::Choose { .. } => uses.choose = true,
                Action::Update(change) => match change.kind {
                    Kind::Cas(_) => uses.cas = true,
                    Kind::Swap => uses.swap = true,
                    Kind::Apply(BinOp::Add) => uses.add = true,
                    Kind::Apply(BinOp::BitAnd) => uses.and = true,
                    Kind::Apply(BinOp::BitOr) => uses.or = true,
                    Kind::Apply(_) => uses.xor = true,
                },
                Action::Nothing
                | Action::Fence
                | Action::Assign { .. }
                | Action::Load { .. }
                | Action::Store { .. }
                | Action::Drain(_)
                | Action::Branch { .. }
                | Action::Assert(_) => {}
            }
        }
        uses
    }
}

/// All that is known when code is written.
pub(super) struct Whole<'a> {
    pub(super) problem: &'a Problem,
    pub(super) names: &'a Names,
    /// Registers that are looked at when all is over, with their names: they are global.
    pub(super) kept: &'a [(ThreadId, Reg, String)],
    pub(super) ranges: Ranges,
    /// What registers of `init` can hold.
    pub(super) unknown: Vec<Range>,
    pub(super) uses: Uses,
}

impl Whole<'_> {
    fn write(&self, export: &Export<'_>, out: &mut Text<'_>) {
        out.line("/*");
        for line in export.about {
            out.line(format!(" * {}", harmless(line)).trim_end());
        }
        prelude::about(self.uses, self.problem, out);
        out.line(" */");
        prelude::write(self.uses, out);
        self.variables(&|_| true, out);
        self.invariants(out);
        let program = &self.problem.program;
        if let Some(init) = &program.init {
            Code::new(self, Role::Init, None, init, out).write("static void init(void)");
        }
        for (id, thread) in program.thread_ids().zip(&program.threads) {
            let head = format!("static void *{}(void *unused)", self.names.threads[id.index()]);
            Code::new(self, Role::Thread, Some(id), thread, out).write(&head);
        }
        self.main(out);
    }

    /// The variables that are chosen, and registers that are kept.
    pub(super) fn variables(&self, chosen: &dyn Fn(&Variable) -> bool, out: &mut Text<'_>) {
        let program = &self.problem.program;
        let ty = if self.uses.locked { "int" } else { "_Atomic int" };
        for variable in self.names.variables.iter().filter(|variable| chosen(variable)) {
            let inits: Vec<String> =
                variable.locations().map(|loc| program.location(loc).init.to_string()).collect();
            let len = variable.len.map(|len| format!("[{len}]")).unwrap_or_default();
            let init = match &inits[..] {
                all if all.iter().all(|init| init == "0") => String::new(),
                [init] if variable.len.is_none() => format!(" = {init}"),
                all => format!(" = {{{}}}", all.join(", ")),
            };
            let holds = holds(variable);
            out.line(&format!("static {ty} {}{len}{init};{holds}", variable.name));
        }
        if !self.kept.is_empty() {
            out.line("");
            out.line("/* Registers that are looked at when all threads have ended. */");
        }
        for (_, _, name) in self.kept {
            out.line(&format!("static int {name};"));
        }
    }

    /// The locations that invariants mention.
    pub(super) fn watched(&self) -> BTreeSet<Loc> {
        let mut watched = BTreeSet::new();
        for property in &self.problem.properties {
            if let Property::Invariant(condition) = property {
                condition.expr.for_each_var(&mut |what| {
                    if let Observable::Loc(loc) = what {
                        watched.insert(*loc);
                    }
                });
            }
        }
        watched
    }

    fn invariants(&self, out: &mut Text<'_>) {
        if self.watched().is_empty() {
            return;
        }
        out.line("");
        out.open("static void check_invariants(void) {");
        for property in &self.problem.properties {
            if let Property::Invariant(condition) = property {
                out.line(&format!("assert({});", self.condition(&surely(&condition.expr))));
            }
        }
        out.close("}");
    }

    fn main(&self, out: &mut Text<'_>) {
        let program = &self.problem.program;
        let count = program.threads.len();
        out.line("");
        out.open("int main(void) {");
        if count > 0 {
            out.line(&format!("pthread_t threads[{count}];"));
        }
        if self.uses.choose {
            out.line("begin_run();");
        }
        if program.init.is_some() {
            out.line("init();");
        }
        if !self.watched().is_empty() {
            out.line("check_invariants();");
        }
        for (at, name) in self.names.threads.iter().enumerate() {
            out.line(&format!("pthread_create(&threads[{at}], NULL, {name}, NULL);"));
        }
        for at in 0..count {
            out.line(&format!("pthread_join(threads[{at}], NULL);"));
        }
        for name in self.unused() {
            out.line(&format!("(void){name};"));
        }
        for (quantifier, condition) in self.problem.finals() {
            self.final_condition(quantifier, condition, out);
        }
        out.line("return 0;");
        out.close("}");
    }

    fn final_condition(&self, quantifier: Quantifier, condition: &Condition, out: &mut Text<'_>) {
        let text = harmless(&condition.text);
        let (word, asserted) = match quantifier {
            Quantifier::Forall => ("forall", surely(&condition.expr)),
            Quantifier::Never => ("never", surely(&negated(&condition.expr))),
            Quantifier::Exists => ("exists", negated(&surely(&condition.expr))),
        };
        out.line(&format!("/* final {word} {text} */"));
        if quantifier == Quantifier::Exists {
            out.line("/* This assertion is meant to fail: a run that breaks it is the witness. */");
        }
        out.line(&format!("assert({});", self.condition(&asserted)));
    }

    /// Variables that neither code nor conditions mention.
    pub(super) fn unused(&self) -> Vec<&str> {
        let mut used = BTreeSet::new();
        let program = &self.problem.program;
        let threads = program.threads.iter().chain(&program.init);
        let actions =
            threads.flat_map(|t| &t.code).map(|stmt| Action::of(&stmt.op, &Env::default()));
        for (base, _) in actions.filter_map(|action| action.accessed()?.stretch()) {
            used.insert(self.names.variable(base).0.first);
        }
        let invariants = self.problem.properties.iter().filter_map(|property| match property {
            Property::Invariant(condition) => Some(condition),
            Property::Assertions
            | Property::MutualExclusion
            | Property::FinalForall(_)
            | Property::FinalNever(_)
            | Property::DeadlockFree
            | Property::Operations(_) => None,
        });
        let finals = self.problem.finals().map(|(_, condition)| condition);
        for condition in invariants.chain(finals) {
            condition.expr.for_each_var(&mut |what| {
                if let Observable::Loc(loc) = what {
                    used.insert(self.names.variable(*loc).0.first);
                }
            });
        }
        let unused = self.names.variables.iter().filter(|v| !used.contains(&v.first));
        unused.map(|variable| variable.name.as_str()).collect()
    }

    pub(super) fn condition(&self, expr: &Expr<Observable>) -> String {
        text(expr, Dialect::C, &|what| match what {
            Observable::Loc(loc) => self.names.location(*loc),
            Observable::Reg(thread, reg) => self
                .kept(Some(*thread), *reg)
                .expect("what a condition mentions is kept")
                .to_string(),
        })
    }

    /// The global name of a register that is looked at when all is over.
    fn kept(&self, thread: Option<ThreadId>, reg: Reg) -> Option<&str> {
        let mut found = self.kept.iter().filter(|(t, r, _)| Some(*t) == thread && *r == reg);
        found.next().map(|(_, _, name)| name.as_str())
    }
}

/// What a variable may hold, as a comment for the end of its line.
pub(super) fn holds(variable: &Variable) -> String {
    match &variable.ty {
        Type::Bool => "  /* 0 or 1 */".into(),
        Type::Int { range: Some((lo, hi)) } => format!("  /* {lo} to {hi} */"),
        Type::Enum { constants, .. } => {
            let all = constants.iter().enumerate().map(|(at, name)| format!("{at} {name}"));
            format!("  /* {} */", all.collect::<Vec<_>>().join(", "))
        }
        Type::Int { range: None } | Type::Ref(_) => String::new(),
    }
}
