//! A transition system with the avoid formula of each state, for Graphviz, as in \[KVY10\] Fig. 3.
//!
//! A box is a state: memory, the next statement, the named registers and the pending accesses of
//! each thread, and the avoid formula. Statements are given by line. Steps that an ordering prevents
//! are bold and have the orderings in brackets. A state that cannot be avoided has the formula
//! `false`. Error states are red. The octagon stands for all of them and has the formula for all.

use crate::paint::{counted, printable};
use crate::verdict_line::shown;
use crate::wording::{cell, place};
use fencepost_infer::constraint::Constraint;
use fencepost_infer::fixpoint::drawing::{DrawnState, DrawnStep, StateGraph};
use fencepost_ir::{Loc, Problem, Program};
use fencepost_models::ModelSpec;
use std::fmt::Write;

/// The maximum number of clauses shown of one formula.
const MAX_CLAUSES: usize = 12;

/// Returns the graph in the DOT language of Graphviz.
pub fn dot(problem: &Problem, model: &ModelSpec, graph: &StateGraph) -> String {
    let program = &problem.program;
    let bound = graph.bound.map(|n| format!(", at most {n} accesses pending")).unwrap_or_default();
    let states = counted(graph.states.len() as u64, "state");
    let client = if problem.name.is_empty() { "" } else { "  client " };
    let title = format!(
        "{}{client}{}: {states} that may lead to an error{bound}",
        shown(model),
        problem.name
    );
    let mut text = String::from("digraph avoid {\n");
    let mut line = |line: &str| {
        writeln!(text, "  {line}").expect("writing to a string cannot fail");
    };
    line("labelloc=t;");
    line(&format!("label={};", quoted(&[title], "\\n")));
    line("node [shape=box, fontname=\"monospace\"];");
    line("edge [fontname=\"monospace\"];");
    for (at, state) in graph.states.iter().enumerate() {
        let is_error = graph.steps.iter().any(|step| step.from == at && step.to.is_none());
        let color = if is_error { ", color=red" } else { "" };
        let label = quoted(&state_lines(program, state), "\\l");
        line(&format!("s{at} [label={label}{color}];"));
    }
    let error = ["error".to_string(), avoid_line(program, &graph.avoid_errors)];
    let shape = "shape=doubleoctagon, color=red";
    line(&format!("error [{shape}, label={}];", quoted(&error, "\\n")));
    for step in &graph.steps {
        let target = step.to.map_or("error".to_string(), |to| format!("s{to}"));
        let style = if step.prevented_by.is_empty() { "" } else { ", style=bold" };
        let label = quoted(&step_lines(program, step), "\\n");
        line(&format!("s{} -> {target} [label={label}{style}];", step.from));
    }
    text.push_str("}\n");
    text
}

/// Returns the lines of a state: memory, threads, avoid formula.
fn state_lines(program: &Program, state: &DrawnState) -> Vec<String> {
    let memory = state.contents.memory.iter().enumerate();
    let memory: Vec<String> =
        memory.map(|(at, value)| cell(program, Loc::from_index(at), "=", *value)).collect();
    let mut lines = vec![memory.join(" ")];
    for (thread, contents) in program.threads.iter().zip(&state.contents.threads) {
        let mut text = format!("{} at {}", thread.name, place(program, contents.next));
        let registers = thread.registers.iter().zip(&contents.registers);
        for (register, value) in registers.filter(|(register, _)| !register.is_temporary()) {
            write!(text, " {}={}", register.name, register.ty.show(*value))
                .expect("writing to a string cannot fail");
        }
        if !contents.pending.is_empty() {
            let pending: Vec<String> =
                contents.pending.iter().map(|label| place(program, *label)).collect();
            write!(text, " pending {}", pending.join(" "))
                .expect("writing to a string cannot fail");
        }
        lines.push(text);
    }
    lines.push(avoid_line(program, &state.avoid));
    lines
}

/// Returns the lines of a step: its statement, and the orderings that prevent it.
fn step_lines(program: &Program, step: &DrawnStep) -> Vec<String> {
    let statement = step.statement.map(|(thread, label)| {
        format!("{} {}", program.thread(thread).name, place(program, label))
    });
    let orderings =
        (!step.prevented_by.is_empty()).then(|| disjunction(program, &step.prevented_by));
    statement.into_iter().chain(orderings).collect()
}

/// Returns an avoid formula as text.
fn avoid_line(program: &Program, clauses: &[Vec<Constraint>]) -> String {
    let text = match clauses {
        [] => "true".to_string(),
        [clause] if clause.is_empty() => "false".to_string(),
        [clause] => disjunction(program, clause),
        clauses => {
            let shown = clauses.iter().take(MAX_CLAUSES).map(|clause| match &clause[..] {
                [_] => disjunction(program, clause),
                _ => format!("({})", disjunction(program, clause)),
            });
            let mut all: Vec<String> = shown.collect();
            if clauses.len() > MAX_CLAUSES {
                all.push(counted((clauses.len() - MAX_CLAUSES) as u64, "more clause"));
            }
            all.join(" and ")
        }
    };
    format!("avoid: {text}")
}

fn disjunction(program: &Program, clause: &[Constraint]) -> String {
    let ordering =
        |c: &Constraint| format!("[{} < {}]", place(program, c.before), place(program, c.after));
    clause.iter().map(ordering).collect::<Vec<_>>().join(" or ")
}

/// Quotes and escapes lines for Graphviz. `end` ends each line and selects its alignment.
fn quoted(lines: &[String], end: &str) -> String {
    let escaped = |line: &String| {
        let line = printable(line).replace('\\', "\\\\").replace('"', "\\\"");
        format!("{}{end}", line.replace('&', "&amp;"))
    };
    format!("\"{}\"", lines.iter().map(escaped).collect::<String>())
}
