//! States and steps in words, for whoever reads why a certificate was rejected.

use fencepost_ir::{Loc, Pc, Program, Thread, Type, Value};

use crate::buffer::{How, Mark};
use crate::format::{CertState, CertThread, Element, Entry};
use crate::semantics::{Event, Failure, Wrong};

/// A state: memory, then one line for each thread.
pub(crate) fn state(program: &Program, state: &CertState) -> String {
    let values = program.locations.iter().zip(&state.memory);
    let mut memory: Vec<String> =
        values.map(|(l, value)| assignment(&l.name, &l.ty, *value)).collect();
    let cells = program.pools.iter().flat_map(|pool| (1..=pool.cells).map(move |n| (pool, n)));
    for ((pool, number), _) in cells.zip(&state.allocated).filter(|(_, allocated)| **allocated) {
        memory.push(format!("{}#{number} is allocated", pool.name));
    }
    let mut lines = vec![format!("memory: {}", listed(&memory))];
    for (own, code) in state.threads.iter().zip(&program.threads) {
        lines.push(thread(program, code, own));
    }
    lines.join("\n")
}

fn thread(program: &Program, code: &Thread, own: &CertThread) -> String {
    let registers: Vec<String> = (code.registers.iter().zip(&own.registers))
        .filter(|(register, _)| !register.is_temporary())
        .map(|(register, value)| assignment(&register.name, &register.ty, *value))
        .collect();
    let mut text = format!("{}: at {}", code.name, statement(program, code, own.pc));
    for part in registers {
        text += &format!(", {part}");
    }
    if own.epoch > 0 {
        text += &format!(", epoch {}", own.epoch);
    }
    let head: Vec<String> =
        own.head.iter().map(|e: &Entry| store(program, e.mark(), e.value)).collect();
    if !head.is_empty() {
        text += &format!("; pending: {}", head.join(", "));
    }
    let element = |e: &Element| {
        let last = if e.last { " (the last)" } else { "" };
        store(program, e.mark(), e.value) + last
    };
    let set: Vec<String> = own.set.iter().map(element).collect();
    if !set.is_empty() {
        text += &format!("; pending in some order: {}", set.join(", "));
    }
    text
}

fn store(program: &Program, mark: Mark, value: Value) -> String {
    let mut text = written(program, mark.loc, value);
    if mark.epoch > 0 {
        text += &format!(" (epoch {})", mark.epoch);
    }
    if mark.before {
        text += " (before a barrier)";
    }
    text
}

/// A step: who does what.
pub(crate) fn event(program: &Program, event: &Event) -> String {
    match event {
        Event::Statement { thread, pc, picked } => {
            let code = program.thread(*thread);
            let mut text =
                format!("thread {} executes {}", code.name, statement(program, code, *pc));
            if let Some(value) = picked {
                text += &format!(" and gets {value}");
            }
            text
        }
        Event::Commit { thread, loc, value, how } => {
            let how = match how {
                How::Head => "the oldest",
                How::Kept => "more like it stay pending",
                How::Removed => "no more like it is pending",
                How::MoreToCome => "more to this location stay pending",
                How::TheLast => "the last of its class",
            };
            let name = &program.thread(*thread).name;
            format!(
                "the store {} of thread {name} takes effect ({how})",
                written(program, *loc, *value)
            )
        }
    }
}

/// A step that ends in an error.
pub(crate) fn failed(program: &Program, event: &Event, failure: &Failure) -> String {
    let text = self::event(program, event);
    let wrong = wrong(failure);
    match event {
        // Inside of a block.
        Event::Statement { thread, pc, .. } if *pc != failure.pc => {
            let at = statement(program, program.thread(*thread), failure.pc);
            format!("{text}: {wrong} at {at}")
        }
        Event::Statement { .. } | Event::Commit { .. } => format!("{text}: {wrong}"),
    }
}

/// An error before the threads begin.
pub(crate) fn failed_init(program: &Program, init: &Thread, failure: &Failure) -> String {
    format!("in `init`: {} at {}", wrong(failure), statement(program, init, failure.pc))
}

fn wrong(failure: &Failure) -> &'static str {
    match failure.wrong {
        Wrong::Fault(fault) => fault.describe(),
        Wrong::Assertion => "the assertion fails",
    }
}

/// A statement: its label, its line, its text.
fn statement(program: &Program, code: &Thread, pc: Pc) -> String {
    let label = code.stmt(pc).label;
    let info = program.label(label);
    let at = format!("{label} (line {}", info.span.line);
    if info.text.is_empty() { format!("{at})") } else { format!("{at}: `{}`)", info.text) }
}

fn written(program: &Program, loc: Loc, value: Value) -> String {
    let location = program.location(loc);
    assignment(&location.name, &location.ty, value)
}

fn assignment(name: &str, ty: &Type, value: Value) -> String {
    format!("{name} = {}", ty.show(value))
}

fn listed(parts: &[String]) -> String {
    if parts.is_empty() { "empty".into() } else { parts.join(", ") }
}
