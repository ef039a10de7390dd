//! What stands around the code: comments, variables, processes, and what is asserted in the end.

use super::Model;
use super::code::Printer;
use super::out::Out;
use super::plan::{Plan, Seen};
use crate::Unsupported;
use crate::export::c;
use crate::export::checks::{Facts, both};
use crate::export::expr::{self, Dialect};
use crate::export::names::{Names, written};
use crate::export::steps::Leaf;
use crate::export::substitute::substitute;
use fencepost_ir::interval::{FULL, Range, join};
use fencepost_ir::{Expr, Observable, Problem, Program, Property, Quantifier, Reg, ThreadId, UnOp};
use std::collections::{BTreeMap, BTreeSet};

/// Words that mean something in Promela, to its preprocessor, or in this model.
const RESERVED: &str = "\
    active assert atomic bit bool break byte chan c_code c_decl c_expr c_state c_track d_proctype \
    d_step D_proctype define do else empty enabled end eval false fi for full get_priority goto \
    hidden if in include init inline int len local ltl mtype nempty never nfull notrace np_ od of \
    pc_value pid print printf printm priority proctype provided return run select set_priority \
    short show skip stop timeout trace true typedef unless unsigned value xr xs Promela unix linux \
    kept now main _ _last _nr_pr _pid _priority U V X W R M always eventually until next implies \
    equivalent weakuntil release stronguntil";

/// What the names of a program must not be: words of Promela and, because the verifier is a C program in which they
/// appear, words of C and what could be a macro.
pub(super) fn reserved(program: &Program) -> Vec<String> {
    let macros = |name: &str| {
        let upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        name.len() > 1 && name.chars().all(upper)
    };
    let own: Vec<&str> = written(program).filter(|name| macros(name)).collect();
    let more = ["asm", "memset", "typeof", "uchar", "uint", "ushort"];
    let words = RESERVED.split_whitespace().chain(more).chain(own);
    c::prelude::reserved(program, &words.collect::<Vec<_>>().join(" "))
}

/// Holds the old value of an update on its way.
pub(super) const KEPT: &str = "kept";

/// Registers that conditions mention, with names that all processes know.
pub(super) fn globals(problem: &Problem, names: &mut Names) -> Vec<((ThreadId, Reg), String)> {
    let mut found = Vec::new();
    for t in problem.program.thread_ids() {
        let mut kept = problem.kept_registers(t, false);
        kept.sort();
        for reg in kept {
            let name = format!("{}_{}", names.threads[t.index()], names.register(Some(t), reg));
            found.push(((t, reg), names.global(&name)));
        }
    }
    found
}

/// Registers that hold nothing between steps, with names that all processes know; those with the same name
/// share a variable.
pub(super) fn hidden(
    problem: &Problem,
    plans: &[Plan],
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
            let free = names.global(&free);
            local.insert(free.clone());
            free
        });
        name.clone_from(known);
    }
    scratch
}

/// The smallest type for these values.
fn type_name((lo, hi): Range) -> &'static str {
    match (lo, hi) {
        (0.., ..=1) => "bit",
        (0.., ..=255) => "byte",
        (-32_768.., ..=32_767) => "short",
        _ => "int",
    }
}

/// More bytes than a state has, and no less than SPIN's own guess.
pub(super) fn vector(model: &Model<'_>) -> u32 {
    let program = &model.problem.program;
    let threads = program.init.iter().chain(&program.threads);
    // Every process has a header, and everything is aligned.
    let locals: usize = threads.map(|thread| 32 + 4 * thread.registers.len()).sum();
    let all = 4 * program.locations.len() + locals + 256;
    u32::try_from(all.next_multiple_of(1024)).unwrap_or(u32::MAX)
}

/// The leading comment.
pub(super) fn heading(model: &Model<'_>, out: &mut Out) {
    let safe = |text: &str| text.replace("*/", "* /");
    for line in model.export.about {
        out.line(&format!("/* {} */", safe(line)));
    }
    if !model.problem.properties.contains(&Property::DeadlockFree) {
        out.line("/* Nothing is claimed about deadlocks: run pan with -E. */");
    }
    out.line("");
}

/// SPIN does not take negative numbers in a list of initial values.
pub(super) fn check_lists(program: &Program, names: &Names) -> Result<(), Unsupported> {
    for variable in &names.variables {
        let inits: Vec<i32> = variable.locations().map(|loc| program.location(loc).init).collect();
        let list = inits.iter().any(|init| *init != inits[0]);
        if list && inits.iter().any(|init| *init < 0) {
            return Err(Unsupported::NegativeInitialValue(variable.name.clone()));
        }
    }
    Ok(())
}

/// The variables that all processes know.
pub(super) fn variables(model: &Model<'_>, seen: &[Seen], init_keeps: bool, out: &mut Out) {
    let program = &model.problem.program;
    for variable in &model.names.variables {
        let ranges = variable.locations().map(|loc| model.ranges.locations[loc.index()]);
        let ty = type_name(ranges.reduce(join).unwrap_or(FULL));
        let inits: Vec<i32> = variable.locations().map(|loc| program.location(loc).init).collect();
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
    let used = model.hidden.iter().filter(|((t, reg), _)| seen[t.index()].named.contains(reg));
    let mut hidden: BTreeSet<&str> = used.map(|(_, name)| name.as_str()).collect();
    if seen.iter().any(|seen| seen.keeps) || init_keeps {
        hidden.insert(KEPT);
    }
    for name in hidden {
        out.line(&format!("hidden int {name};"));
    }
}

/// The beginning of a process, up to its variables.
pub(super) fn process(
    model: &Model<'_>,
    t: ThreadId,
    started: bool,
    plans: &[Plan],
    seen: &[Seen],
    out: &mut Out,
) {
    let active = if started { "" } else { "active " };
    out.line("");
    out.line(&format!("{active}proctype {}() {{", model.names.threads[t.index()]));
    out.indent();
    let scratch = &plans[t.index()].scratch;
    for reg in seen[t.index()].named.iter().filter(|reg| !scratch.contains(reg)) {
        let ty = type_name(model.ranges.registers[t.index()][reg.index()]);
        out.line(&format!("{ty} {};", model.names.register(Some(t), *reg)));
    }
    out.outdent();
}

/// The registers of `init`.
pub(super) fn registers(model: &Model<'_>, printer: &Printer<'_>, out: &mut Out) {
    for reg in printer.named.borrow().iter() {
        out.line(&format!("int {};", model.names.register(None, *reg)));
    }
}

/// A condition as text, false where it faults; with `negated`, its negation.
pub(super) fn condition(
    model: &Model<'_>,
    facts: &Facts<'_>,
    condition: &Expr<Observable>,
    negated: bool,
) -> Result<String, Unsupported> {
    // Registers are numbered through, so that their ranges are found.
    let leaf = |what: &Observable| match what {
        Observable::Loc(loc) => Expr::Var(Leaf::Loc(*loc)),
        Observable::Reg(t, reg) => {
            let at = model.globals.iter().position(|(which, _)| *which == (*t, *reg));
            Expr::Var(Leaf::Reg(Reg::from_index(at.expect("it is mentioned"))))
        }
    };
    let mut expr = substitute(condition, &leaf);
    let right = facts.evaluates(&expr)?;
    if negated {
        expr = Expr::Unary(UnOp::Not, Box::new(expr));
    }
    let expr = both(right, expr);
    Ok(expr::text(&expr, Dialect::Promela, &|leaf| match leaf {
        Leaf::Reg(reg) => model.globals[reg.index()].1.clone(),
        Leaf::Loc(loc) => model.names.location(*loc),
        Leaf::Element(..) => unreachable!("a condition mentions single locations"),
    }))
}

/// Waits for all threads and asserts what must hold then.
pub(super) fn final_conditions(model: &Model<'_>, out: &mut Out) -> Result<(), Unsupported> {
    let program = &model.problem.program;
    let registers: Vec<Range> = model
        .globals
        .iter()
        .map(|((t, reg), _)| model.ranges.registers[t.index()][reg.index()])
        .collect();
    let facts = Facts { program, ranges: model.ranges, registers: &registers };
    let mut waits = false;
    let mut witnesses = 0..;
    out.indent();
    for (quantifier, asked) in model.problem.finals() {
        if !std::mem::replace(&mut waits, true) {
            out.line("(_nr_pr == 1); /* all threads are done */");
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
