//! Writes the parts around the code: comments, variables, processes, and final conditions.

use super::Model;
use super::code::Printer;
use super::out::Out;
use super::plan::{PassRecord, RegisterPlan};
use crate::Unsupported;
use crate::export::actions::Leaf;
use crate::export::c;
use crate::export::checks::{RangeFacts, conjunction};
use crate::export::expr::{self, Dialect};
use crate::export::names::{Names, source_names};
use crate::export::substitute::substitute;
use fencepost_ir::interval::{Range, join};
use fencepost_ir::{
    Expr, INT_LIMITS, Observable, Problem, Program, Property, Quantifier, Reg, ThreadId, UnOp,
    Value,
};
use std::collections::{BTreeMap, BTreeSet};

/// Words that are reserved in Promela, in its preprocessor, or in this model.
const RESERVED: &str = "\
    active assert atomic bit bool break byte chan c_code c_decl c_expr c_state c_track d_proctype \
    d_step D_proctype define do else empty enabled end eval false fi for full get_priority goto \
    hidden if in include init inline int len local ltl mtype nempty never nfull notrace np_ od of \
    pc_value pid print printf printm priority proctype provided return run select set_priority \
    short show skip stop timeout trace true typedef unless unsigned value xr xs Promela unix linux \
    kept now main _ _last _nr_pr _pid _priority U V X W R M always eventually until next implies \
    equivalent weakuntil release stronguntil";

/// Returns the names that a program must not use: words of Promela and, because the verifier is a C
/// program that contains these names, words of C and possible macros.
pub(super) fn reserved(program: &Program) -> Vec<String> {
    let macros = |name: &str| {
        let upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        name.len() > 1 && name.chars().all(upper)
    };
    let own: Vec<&str> = source_names(program).filter(|name| macros(name)).collect();
    let more = ["asm", "memset", "typeof", "uchar", "uint", "ushort"];
    let words = RESERVED.split_whitespace().chain(more).chain(own);
    c::prelude::reserved(program, &words.collect::<Vec<_>>().join(" "))
}

/// The variable for the old value of an update.
pub(super) const OLD_VALUE: &str = "kept";

/// Returns the registers that conditions mention, with global names.
pub(super) fn globals(problem: &Problem, names: &mut Names) -> Vec<((ThreadId, Reg), String)> {
    let mut found = Vec::new();
    for t in problem.program.thread_ids() {
        let mut observed = problem.observed_registers(t, false);
        observed.sort();
        for reg in observed {
            let name = format!("{}_{}", names.threads[t.index()], names.register(Some(t), reg));
            found.push(((t, reg), names.add_global(&name)));
        }
    }
    found
}

/// Returns the registers whose values are not used across steps, with global names. Registers with
/// the same name share a variable.
pub(super) fn hidden(
    problem: &Problem,
    plans: &[RegisterPlan],
    names: &mut Names,
) -> Vec<((ThreadId, Reg), String)> {
    let registers =
        |t: ThreadId| (0..problem.program.thread(t).registers.len()).map(Reg::from_index);
    let (mut scratch, mut local) = (Vec::new(), BTreeSet::new());
    for t in problem.program.thread_ids() {
        for reg in registers(t) {
            let name = names.register(Some(t), reg).to_string();
            if plans[t.index()].scratch.contains(&reg) {
                scratch.push(((t, reg), name));
            } else {
                local.insert(name);
            }
        }
    }
    if let Some(init) = &problem.program.init {
        let all = (0..init.registers.len()).map(Reg::from_index);
        local.extend(all.map(|reg| names.register(None, reg).to_string()));
    }
    let mut chosen: BTreeMap<String, String> = BTreeMap::new();
    for (_, name) in &mut scratch {
        let known = chosen.entry(name.clone()).or_insert_with(|| {
            let mut free = name.clone();
            while local.contains(&free) {
                free.push_str("_now");
            }
            let free = names.add_global(&free);
            local.insert(free.clone());
            free
        });
        name.clone_from(known);
    }
    scratch
}

/// Returns the smallest type for a range.
fn type_name((lo, hi): Range) -> &'static str {
    match (lo, hi) {
        (0.., ..=1) => "bit",
        (0.., ..=255) => "byte",
        (-32_768.., ..=32_767) => "short",
        _ => "int",
    }
}

/// Returns an upper bound for the size of a state in bytes, at least SPIN's default.
pub(super) fn state_vector_bytes(model: &Model<'_>) -> u32 {
    let program = &model.problem.program;
    let threads = program.init.iter().chain(&program.threads);
    // Every process has a header, and all values are aligned.
    let locals: usize = threads.map(|thread| 32 + 4 * thread.registers.len()).sum();
    let all = 4 * program.locations.len() + locals + 256;
    u32::try_from(all.next_multiple_of(1024)).unwrap_or(u32::MAX)
}

/// Writes the leading comment.
pub(super) fn heading(model: &Model<'_>, out: &mut Out) {
    let safe = |text: &str| text.replace("*/", "* /");
    for line in model.export.about {
        out.line(&format!("/* {} */", safe(line)));
    }
    if !model.problem.properties.contains(&Property::DeadlockFree) {
        out.line("/* Deadlock freedom is not a property: run pan with -E. */");
    }
    out.line("");
}

/// Rejects lists of initial values with a negative number, which SPIN does not accept.
pub(super) fn check_lists(program: &Program, names: &Names) -> Result<(), Unsupported> {
    for variable in &names.variables {
        let inits: Vec<Value> =
            variable.locations().map(|loc| program.location(loc).init).collect();
        let list = inits.iter().any(|init| *init != inits[0]);
        if list && inits.iter().any(|init| *init < 0) {
            return Err(Unsupported::NegativeInitialValue(variable.name.clone()));
        }
    }
    Ok(())
}

/// Declares the global variables.
pub(super) fn variables(
    model: &Model<'_>,
    record: &[PassRecord],
    init_uses_old_value: bool,
    out: &mut Out,
) {
    let program = &model.problem.program;
    for variable in &model.names.variables {
        let ranges = variable.locations().map(|loc| model.ranges.locations[loc.index()]);
        let ty = type_name(ranges.reduce(join).unwrap_or(INT_LIMITS));
        let inits: Vec<Value> =
            variable.locations().map(|loc| program.location(loc).init).collect();
        let first = inits.first().copied().unwrap_or(0);
        let init = match inits.iter().all(|init| *init == first) {
            true if first == 0 => String::new(),
            true => format!(" = {}", expr::number(first, Dialect::Promela)),
            false => {
                let all: Vec<String> =
                    inits.iter().map(|init| expr::number(*init, Dialect::Promela)).collect();
                format!(" = {{ {} }}", all.join(", "))
            }
        };
        match variable.len {
            Some(len) => out.line(&format!("{ty} {}[{len}]{init};", variable.name)),
            None => out.line(&format!("{ty} {}{init};", variable.name)),
        }
    }
    for ((t, reg), name) in model.globals {
        let ty = type_name(model.ranges.registers[t.index()][reg.index()]);
        let of = model.problem.program.observable_name(Observable::Reg(*t, *reg));
        out.line(&format!("{ty} {name}; /* {} */", of.replace("*/", "* /")));
    }
    let used = model.hidden.iter().filter(|((t, reg), _)| record[t.index()].named.contains(reg));
    let mut hidden: BTreeSet<&str> = used.map(|(_, name)| name.as_str()).collect();
    if record.iter().any(|record| record.uses_old_value) || init_uses_old_value {
        hidden.insert(OLD_VALUE);
    }
    for name in hidden {
        out.line(&format!("hidden int {name};"));
    }
}

/// Writes the head of a process, with its variables.
pub(super) fn process(
    model: &Model<'_>,
    t: ThreadId,
    started: bool,
    plans: &[RegisterPlan],
    record: &[PassRecord],
    out: &mut Out,
) {
    let active = if started { "" } else { "active " };
    out.line("");
    out.line(&format!("{active}proctype {}() {{", model.names.threads[t.index()]));
    out.indent();
    let scratch = &plans[t.index()].scratch;
    for reg in record[t.index()].named.iter().filter(|reg| !scratch.contains(reg)) {
        let ty = type_name(model.ranges.registers[t.index()][reg.index()]);
        out.line(&format!("{ty} {};", model.names.register(Some(t), *reg)));
    }
    out.outdent();
}

/// Declares the registers of `init`.
pub(super) fn registers(model: &Model<'_>, printer: &Printer<'_>, out: &mut Out) {
    for reg in printer.named.borrow().iter() {
        out.line(&format!("int {};", model.names.register(None, *reg)));
    }
}

/// Prints a condition that is false if its evaluation faults; if `negated`, prints its negation.
pub(super) fn condition(
    model: &Model<'_>,
    facts: &RangeFacts<'_>,
    condition: &Expr<Observable>,
    negated: bool,
) -> Result<String, Unsupported> {
    // Registers are numbered by their index in `globals`, so that their ranges are found.
    let leaf = |what: &Observable| match what {
        Observable::Loc(loc) => Expr::Var(Leaf::Loc(*loc)),
        Observable::Reg(t, reg) => {
            let at = model.globals.iter().position(|(which, _)| *which == (*t, *reg));
            Expr::Var(Leaf::Reg(Reg::from_index(at.expect("a register in a condition is global"))))
        }
        Observable::At(..) => unreachable!("lowering replaces control points"),
    };
    let mut expr = substitute(condition, &leaf);
    let precondition = facts.expr_precondition(&expr)?;
    if negated {
        expr = Expr::Unary(UnOp::Not, Box::new(expr));
    }
    let expr = conjunction(precondition, expr);
    Ok(expr::text(&expr, Dialect::Promela, &|leaf| match leaf {
        Leaf::Reg(reg) => model.globals[reg.index()].1.clone(),
        Leaf::Loc(loc) => model.names.location(*loc),
        Leaf::Element(..) => unreachable!("a condition has no computed index"),
    }))
}

/// Writes the code that waits for all threads and asserts the final conditions.
pub(super) fn final_conditions(model: &Model<'_>, out: &mut Out) -> Result<(), Unsupported> {
    let program = &model.problem.program;
    let registers: Vec<Range> = model
        .globals
        .iter()
        .map(|((t, reg), _)| model.ranges.registers[t.index()][reg.index()])
        .collect();
    let facts = RangeFacts { program, ranges: model.ranges, registers: &registers };
    let mut waits = false;
    let mut witnesses = 0..;
    out.indent();
    for (quantifier, asked) in model.problem.finals() {
        if !std::mem::replace(&mut waits, true) {
            out.line("(_nr_pr == 1); /* all threads have ended */");
        }
        let text = asked.text.replace("*/", "* /");
        match quantifier {
            Quantifier::Forall => {
                let holds = condition(model, &facts, &asked.expr, false)?;
                out.line(&format!("assert({holds}); /* final forall {text} */"));
            }
            Quantifier::Never => {
                let fails = condition(model, &facts, &asked.expr, true)?;
                out.line(&format!("assert({fails}); /* final never {text} */"));
            }
            Quantifier::Exists => {
                let holds = condition(model, &facts, &asked.expr, false)?;
                let at = witnesses.next().unwrap_or_default();
                let name = format!("SEEN_{at}");
                out.directive(&format!("#ifndef {name}"));
                out.witnesses.push((out.lines() + 1, at, name.clone()));
                out.line(&format!(
                    "assert(!({holds})); /* final exists {text}: an error here is the witness */"
                ));
                out.directive("#endif");
            }
        }
    }
    out.outdent();
    Ok(())
}
