//! States and steps as text, for the messages of rejected certificates.

use fencepost_ir::{Loc, Pc, Program, Thread, Type, Value};

use crate::buffer::{Class, CommitKind};
use crate::format::{CertState, CertThread, Element, Entry};
use crate::semantics::{Event, FailureKind, StepFailure};

/// Describes a state: memory, then one line for each thread.
pub(crate) fn state(program: &Program, state: &CertState) -> String {
    let values = program.locations.iter().zip(&state.memory);
    let mut memory: Vec<String> =
        values.map(|(l, value)| assignment(&l.name, &l.ty, *value)).collect();
    let cells = program.pools.iter().flat_map(|pool| (1..=pool.cells).map(move |n| (pool, n)));
    for ((pool, number), _) in cells.zip(&state.allocated).filter(|(_, allocated)| **allocated) {
        memory.push(format!("{}#{number} is allocated", pool.name));
    }
    let mut lines = vec![format!("memory: {}", join_or_empty(&memory))];
    for (thread_state, code) in state.threads.iter().zip(&program.threads) {
        lines.push(thread(program, code, thread_state));
    }
    lines.join("\n")
}

fn thread(program: &Program, code: &Thread, thread_state: &CertThread) -> String {
    let registers: Vec<String> = (code.registers.iter().zip(&thread_state.registers))
        .filter(|(register, _)| !register.is_temporary())
        .map(|(register, value)| assignment(&register.name, &register.ty, *value))
        .collect();
    let mut text = format!("{}: at {}", code.name, statement(program, code, thread_state.pc));
    for part in registers {
        text += &format!(", {part}");
    }
    if thread_state.epoch > 0 {
        text += &format!(", epoch {}", thread_state.epoch);
    }
    let head: Vec<String> =
        thread_state.head.iter().map(|e: &Entry| store(program, e.class(), e.value)).collect();
    if !head.is_empty() {
        text += &format!("; pending: {}", head.join(", "));
    }
    let element = |e: &Element| {
        let last = if e.last { " (last value)" } else { "" };
        store(program, e.class(), e.value) + last
    };
    let set: Vec<String> = thread_state.set.iter().map(element).collect();
    if !set.is_empty() {
        text += &format!("; pending in unknown order: {}", set.join(", "));
    }
    text
}

fn store(program: &Program, class: Class, value: Value) -> String {
    let mut text = assignment_to(program, class.loc, value);
    if class.epoch > 0 {
        text += &format!(" (epoch {})", class.epoch);
    }
    if class.before_barrier {
        text += " (before a barrier)";
    }
    text
}

/// Describes the event of a step.
pub(crate) fn event(program: &Program, event: &Event) -> String {
    match event {
        Event::Statement { thread, pc, chosen } => {
            let code = program.thread(*thread);
            let mut text =
                format!("thread {} executes {}", code.name, statement(program, code, *pc));
            if let Some(value) = chosen {
                text += &format!(" with value {value}");
            }
            text
        }
        Event::Commit { thread, loc, value, kind } => {
            let kind = match kind {
                CommitKind::Head => "oldest pending store",
                CommitKind::ElementKept => "an equal store stays pending",
                CommitKind::ElementRemoved => "no equal store stays pending",
                CommitKind::ClassKept => "its class stays pending",
                CommitKind::ClassRemoved => "last store of its class",
            };
            let name = &program.thread(*thread).name;
            format!("thread {name} commits {} ({kind})", assignment_to(program, *loc, *value))
        }
    }
}

/// Describes a step that fails.
pub(crate) fn failed_step(program: &Program, event: &Event, failure: &StepFailure) -> String {
    let text = self::event(program, event);
    let failure_text = failure_text(failure);
    match event {
        // The failing statement is inside a block.
        Event::Statement { thread, pc, .. } if *pc != failure.pc => {
            let at = statement(program, program.thread(*thread), failure.pc);
            format!("{text}: {failure_text} at {at}")
        }
        Event::Statement { .. } | Event::Commit { .. } => format!("{text}: {failure_text}"),
    }
}

/// Describes a failure in `init`.
pub(crate) fn failed_init(program: &Program, init: &Thread, failure: &StepFailure) -> String {
    format!("in `init`: {} at {}", failure_text(failure), statement(program, init, failure.pc))
}

fn failure_text(failure: &StepFailure) -> &'static str {
    match failure.kind {
        FailureKind::Fault(fault) => fault.describe(),
        FailureKind::Assertion => "the assertion fails",
    }
}

/// Describes a statement: label, line and text.
fn statement(program: &Program, code: &Thread, pc: Pc) -> String {
    let label = code.stmt(pc).label;
    let info = program.label(label);
    let at = format!("{label} (line {}", info.span.line);
    if info.text.is_empty() { format!("{at})") } else { format!("{at}: `{}`)", info.text) }
}

fn assignment_to(program: &Program, loc: Loc, value: Value) -> String {
    let location = program.location(loc);
    assignment(&location.name, &location.ty, value)
}

fn assignment(name: &str, ty: &Type, value: Value) -> String {
    format!("{name} = {}", ty.show(value))
}

fn join_or_empty(parts: &[String]) -> String {
    if parts.is_empty() { "empty".into() } else { parts.join(", ") }
}
