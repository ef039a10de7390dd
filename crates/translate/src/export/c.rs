//! Exports a program as C11 with POSIX threads, for verifiers and for execution. Direction: exact,
//! except for deadlock freedom, which C cannot state, and for overflow, which is undefined in C.
//!
//! Shared variables are `_Atomic int`, so that every access is sequentially consistent. If the
//! program has atomic blocks or invariants, shared variables are plain, and every access is between
//! `atomic_begin` and `atomic_end`: one global lock, which verifiers treat as an atomic section.
//! Faults become assertions before the statement, unless range analysis proves that the fault
//! cannot happen. A run in which an `assume` is false is discarded. Records and critical sections
//! are lowered first ([`lower`](crate::export::lower)).

mod choice;
mod code;
mod divisions;
pub(super) mod prelude;
pub mod report;

use super::Export;
use super::actions::{Action, Env, UpdateKind};
use super::expr::{Dialect, negated_condition, text};
use super::lower::lower;
use super::names::{Names, Variable};
use super::text::{TextWriter, comment_safe};
use crate::Unsupported;
pub(super) use choice::Choices;
pub(super) use code::{Code, Role};
pub(super) use divisions::holds_without_fault;
use fencepost_ir::interval::Range;
use fencepost_ir::range::{Ranges, ranges};
use fencepost_ir::{
    BinOp, CasResult, Condition, Expr, INT_LIMITS, Loc, Observable, Op, Problem, Property,
    Quantifier, Reg, ThreadId, Type,
};
use std::collections::BTreeSet;

/// The text of the assertion at the end of `main`. With `-DFENCEPOST_REACHABLE` it fails in every
/// run that ends. A tool that does not report its failure has not explored any run to its end.
pub const END_OF_RUN: &str = "end of run";

/// Returns the text of the assertion that fails at a witness of the condition at this position of
/// [`Problem::sometimes`].
pub fn witness_text(condition: usize) -> String {
    format!("witness {condition}")
}

/// Returns the macro that removes the assertion of a condition. See [`witness_text`].
pub fn witness_macro(condition: usize) -> String {
    format!("FENCEPOST_SEEN_{condition}")
}

/// Exports the program as C.
pub fn c(export: &Export<'_>) -> Result<String, Unsupported> {
    let problem = &lower(export.problem)?.problem;
    let export = &Export { problem, ..*export };
    let words = prelude::reserved(&problem.program, &Choices::reserved_words(problem));
    let mut names = Names::new(&problem.program, &words);
    let choices = Choices::of(problem, &mut names);
    let observed_registers = observed_registers(problem, &mut names);
    let program = CProgram {
        problem,
        names: &names,
        observed_registers: &observed_registers,
        choices,
        ranges: ranges(&problem.program),
        init_ranges: init_ranges(problem),
        uses: PreludeParts::of(problem),
    };
    let mut out = TextWriter::new(export, ("/* ", " */"));
    program.write(export, &mut out);
    Ok(out.finish())
}

/// Returns the full range for each register of `init`.
pub(super) fn init_ranges(problem: &Problem) -> Vec<Range> {
    let registers = problem.program.init.as_ref().map_or(0, |init| init.registers.len());
    vec![INT_LIMITS; registers]
}

/// Returns the registers that conditions on final states mention, with new global names.
pub(super) fn observed_registers(
    problem: &Problem,
    names: &mut Names,
) -> Vec<(ThreadId, Reg, String)> {
    let mut observed_registers = Vec::new();
    for thread in problem.program.thread_ids() {
        for reg in problem.observed_registers(thread, false) {
            let own = names.register(Some(thread), reg);
            let name = format!("{}_{own}", names.threads[thread.index()]);
            observed_registers.push((thread, reg, names.add_global(&name)));
        }
    }
    observed_registers
}

/// The parts of the prelude that a program needs.
#[derive(Clone, Copy, Default)]
pub(super) struct PreludeParts {
    /// Whether accesses are in atomic sections.
    pub(super) locked: bool,
    assume: bool,
    choose: bool,
    cas: bool,
    cmpxchg: bool,
    swap: bool,
    add: bool,
    and: bool,
    or: bool,
    xor: bool,
}

impl PreludeParts {
    pub(super) fn of(problem: &Problem) -> PreludeParts {
        let invariant = |p: &Property| matches!(p, Property::Invariant(_));
        let mut uses = PreludeParts {
            locked: problem.properties.iter().any(invariant),
            ..PreludeParts::default()
        };
        let threads = problem.program.threads.iter().chain(&problem.program.init);
        for stmt in threads.flat_map(|thread| &thread.code) {
            uses.locked |= stmt.op == Op::AtomicBegin;
            match Action::of(&stmt.op, &Env::default()) {
                Action::Assume(_) => uses.assume = true,
                Action::Choose { .. } => uses.choose = true,
                Action::Update(update_action) => match update_action.kind {
                    UpdateKind::Cas(_, CasResult::Success) => uses.cas = true,
                    UpdateKind::Cas(_, CasResult::Old) => uses.cmpxchg = true,
                    UpdateKind::Swap => uses.swap = true,
                    UpdateKind::Apply(BinOp::Add) => uses.add = true,
                    UpdateKind::Apply(BinOp::BitAnd) => uses.and = true,
                    UpdateKind::Apply(BinOp::BitOr) => uses.or = true,
                    UpdateKind::Apply(_) => uses.xor = true,
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

/// The data for writing the program.
pub(super) struct CProgram<'a> {
    pub(super) problem: &'a Problem,
    pub(super) names: &'a Names,
    /// The registers that conditions on final states mention, with their global names.
    pub(super) observed_registers: &'a [(ThreadId, Reg, String)],
    /// The choices that need a cell; none in sequential programs.
    pub(super) choices: Choices,
    pub(super) ranges: Ranges,
    /// The ranges of the registers of `init`.
    pub(super) init_ranges: Vec<Range>,
    pub(super) uses: PreludeParts,
}

impl CProgram<'_> {
    fn write(&self, export: &Export<'_>, out: &mut TextWriter<'_>) {
        out.line("/*");
        for line in export.about {
            out.line(format!(" * {}", comment_safe(line)).trim_end());
        }
        prelude::about(self.uses, self.problem, out);
        out.line(" */");
        prelude::write(self.uses, &self.choices, out);
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

    /// Declares the selected variables, and the registers that conditions mention.
    pub(super) fn variables(&self, chosen: &dyn Fn(&Variable) -> bool, out: &mut TextWriter<'_>) {
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
            let comment = range_comment(variable);
            out.line(&format!("static {ty} {}{len}{init};{comment}", variable.name));
        }
        if !self.observed_registers.is_empty() {
            out.line("");
            out.line("/* Registers that conditions on final states mention. */");
        }
        for (_, _, name) in self.observed_registers {
            out.line(&format!("static int {name};"));
        }
    }

    /// Returns the locations that invariants mention.
    pub(super) fn invariant_locations(&self) -> BTreeSet<Loc> {
        let mut invariant_locations = BTreeSet::new();
        for property in &self.problem.properties {
            if let Property::Invariant(condition) = property {
                condition.expr.for_each_var(&mut |what| {
                    if let Observable::Loc(loc) = what {
                        invariant_locations.insert(*loc);
                    }
                });
            }
        }
        invariant_locations
    }

    fn invariants(&self, out: &mut TextWriter<'_>) {
        if self.invariant_locations().is_empty() {
            return;
        }
        out.line("");
        out.open("static void check_invariants(void) {");
        for property in &self.problem.properties {
            if let Property::Invariant(condition) = property {
                out.line(&format!(
                    "assert({});",
                    self.condition(&holds_without_fault(&condition.expr))
                ));
            }
        }
        out.close("}");
    }

    fn main(&self, out: &mut TextWriter<'_>) {
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
        if !self.invariant_locations().is_empty() {
            out.line("check_invariants();");
        }
        for (at, name) in self.names.threads.iter().enumerate() {
            out.line(&format!("pthread_create(&threads[{at}], NULL, {name}, NULL);"));
        }
        for at in 0..count {
            out.line(&format!("pthread_join(threads[{at}], NULL);"));
        }
        for name in self.unused_variables() {
            out.line(&format!("(void){name};"));
        }
        let mut witnesses = 0;
        for (quantifier, condition) in self.problem.finals() {
            self.final_condition(quantifier, condition, &mut witnesses, out);
        }
        out.line("#if defined(FENCEPOST_REACHABLE)");
        out.line(&format!("assert(0 && \"{END_OF_RUN}\"); /* expected to fail */"));
        out.line("#endif");
        out.line("return 0;");
        out.close("}");
    }

    fn final_condition(
        &self,
        quantifier: Quantifier,
        condition: &Condition,
        witnesses: &mut usize,
        out: &mut TextWriter<'_>,
    ) {
        let text = comment_safe(&condition.text);
        let (word, asserted) = match quantifier {
            Quantifier::Forall => ("forall", holds_without_fault(&condition.expr)),
            Quantifier::Never => {
                ("never", holds_without_fault(&negated_condition(&condition.expr)))
            }
            Quantifier::Exists => {
                ("exists", negated_condition(&holds_without_fault(&condition.expr)))
            }
        };
        out.line(&format!("/* final {word} {text} */"));
        let condition = self.condition(&asserted);
        if quantifier != Quantifier::Exists {
            out.line(&format!("assert({condition});"));
            return;
        }
        let at = *witnesses;
        *witnesses += 1;
        out.line(
            "/* This assertion is expected to fail: a run that violates it is the witness. */",
        );
        out.line(&format!("#if !defined({})", witness_macro(at)));
        out.line(&format!("assert(({condition}) && \"{}\");", witness_text(at)));
        out.line("#endif");
    }

    /// Returns the variables that neither code nor conditions mention.
    pub(super) fn unused_variables(&self) -> Vec<&str> {
        let mut used = BTreeSet::new();
        let program = &self.problem.program;
        let threads = program.threads.iter().chain(&program.init);
        let actions =
            threads.flat_map(|t| &t.code).map(|stmt| Action::of(&stmt.op, &Env::default()));
        for (base, _) in actions.filter_map(|action| action.accessed_place()?.location_range()) {
            used.insert(self.names.variable(base).0.first);
        }
        let invariants = self.problem.properties.iter().filter_map(|property| match property {
            Property::Invariant(condition) => Some(condition),
            Property::Assertions
            | Property::MutualExclusion
            | Property::FinalForall(_)
            | Property::FinalNever(_)
            | Property::DeadlockFree
            | Property::Progress
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
                .global_name(Some(*thread), *reg)
                .expect("a register in a condition is global")
                .to_string(),
            Observable::At(..) => unreachable!("lowering replaces control points"),
        })
    }

    /// Returns the global name of a register that a condition on final states mentions.
    fn global_name(&self, thread: Option<ThreadId>, reg: Reg) -> Option<&str> {
        let mut found =
            self.observed_registers.iter().filter(|(t, r, _)| Some(*t) == thread && *r == reg);
        found.next().map(|(_, _, name)| name.as_str())
    }
}

/// Returns a comment with the values of a variable, for the end of its line.
pub(super) fn range_comment(variable: &Variable) -> String {
    match &variable.ty {
        Type::Bool => "  /* 0 or 1 */".into(),
        Type::Int { range: Some((lo, hi)) } => format!("  /* {lo} to {hi} */"),
        Type::Enum { constants, .. } => {
            let all = constants.iter().enumerate().map(|(at, name)| format!("{at} {name}"));
            format!("  /* {} */", all.collect::<Vec<_>>().join(", "))
        }
        Type::Int { range: None } | Type::U64 | Type::Ref(_) => String::new(),
    }
}
