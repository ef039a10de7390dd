//! What the threads wait for in a hang, and which stores they would need; livelocks.

use crate::trace::TraceRows;
use crate::wording::{cell, place, statement};
use fencepost_ir::{Label, Loc, Problem, Program, ThreadId, Value};
use fencepost_models::EventKind;
use fencepost_models::machine::hang::Wait;
use fencepost_models::replay::ReplayedRun;

/// The maximal number of locations that are named for one thread.
const MAX_LOCATIONS: usize = 3;

/// A store that reached memory during a run.
struct Written {
    thread: ThreadId,
    label: Label,
    value: Value,
}

/// Describes a hang in one sentence: where each thread waits.
pub(crate) fn describe_hang(trace_rows: Option<&TraceRows<'_>>) -> String {
    let Some(trace_rows) = trace_rows else {
        return "every thread that has not finished waits forever".into();
    };
    let program = &trace_rows.problem.program;
    let part = |(t, wait): (ThreadId, &Option<Wait>)| {
        let name = &program.thread(t).name;
        match wait {
            Some(wait) => {
                let what = statement(program, wait.label, 40);
                let verb = if wait.is_blocked { "is blocked" } else { "waits" };
                format!("{name} {verb} forever at `{what}` ({})", place(program, wait.label))
            }
            None => format!("{name} has finished"),
        }
    };
    // The last thread has not finished; it waits for the others.
    let waits = program.thread_ids().zip(&trace_rows.run.last.waits);
    let waits = waits.filter(|(t, wait)| wait.is_some() || Some(*t) != program.last_thread());
    waits.map(part).collect::<Vec<_>>().join(", ")
}

/// Describes a livelock in one sentence.
pub(crate) fn describe_livelock(
    problem: &Problem,
    thread: ThreadId,
    cycle_start: usize,
    trace_rows: Option<&TraceRows<'_>>,
) -> String {
    let name = &problem.program.thread(thread).name;
    let Some(trace_rows) = trace_rows else {
        return format!("livelock: {name} never gets on in a fair infinite run");
    };
    let first = trace_rows.number_at(cycle_start);
    let last = trace_rows.event_count();
    format!("livelock: {name} never gets on while events {first} to {last} repeat forever")
}

/// Describes the values that keep the threads waiting at the end of a run, one sentence for each
/// thread and location. Empty if the run does not end in a hang.
pub fn describe_waits(program: &Program, run: &ReplayedRun) -> Vec<String> {
    let mut sentences = Vec::new();
    for (t, wait) in program.thread_ids().zip(&run.last.waits) {
        let Some(wait) = wait else { continue };
        let name = &program.thread(t).name;
        let at = place(program, wait.label);
        if wait.reads.is_empty() {
            sentences.push(format!("{name} waits at {at} for nothing that another thread stores."));
        }
        for (loc, value) in wait.reads.iter().take(MAX_LOCATIONS) {
            let cell = cell(program, *loc, " = ", *value);
            let cause = cause(program, run, t, *loc);
            sentences.push(format!("{name} waits at {at} while {cell}{cause}"));
        }
        let more = wait.reads.len().saturating_sub(MAX_LOCATIONS);
        if more > 0 {
            sentences.push(format!("{name} also reads {more} more locations while it waits."));
        }
    }
    sentences
}

/// Explains the value of a location at the end of a run, for the thread that waits for another.
fn cause(program: &Program, run: &ReplayedRun, waiting: ThreadId, loc: Loc) -> String {
    let location = program.location(loc);
    let by = |written: &Written| {
        let at = place(program, written.label);
        if written.thread == waiting {
            format!("its own store {at}")
        } else {
            format!("{} {at}", program.thread(written.thread).name)
        }
    };
    let writes = writes(run, loc);
    let Some(last) = writes.last() else {
        return format!(", the initial value. No store to {} follows.", location.name);
    };
    let overwritten = writes.iter().rev().find(|earlier| earlier.value != last.value);
    match overwritten {
        Some(earlier) => format!(
            " ({}), which overwrote {} ({}). No other store to {} follows.",
            by(last),
            program.show_value(loc, earlier.value),
            by(earlier),
            location.name
        ),
        None => format!(" ({}). No other store to {} follows.", by(last), location.name),
    }
}

/// Returns the stores to a location that reached memory, in order.
fn writes(run: &ReplayedRun, loc: Loc) -> Vec<Written> {
    let events = run.steps.iter().flat_map(|step| &step.events).map(|annotated| annotated.event);
    let written = |event: fencepost_models::Event| {
        let (at, value) = match event.kind {
            EventKind::Write { loc, value }
            | EventKind::Commit { loc, value }
            | EventKind::CommitAndKeep { loc, value }
            | EventKind::Update { loc, new: Some(value), .. } => (loc, value),
            EventKind::Fetch { .. }
            | EventKind::Load { .. }
            | EventKind::Store { .. }
            | EventKind::Confirm
            | EventKind::Repeat { .. }
            | EventKind::Update { new: None, .. }
            | EventKind::Fence(_)
            | EventKind::Drain(_)
            | EventKind::Set { .. }
            | EventKind::Test(_)
            | EventKind::Guess(_)
            | EventKind::New(_)
            | EventKind::Free(_)
            | EventKind::Leave
            | EventKind::SectionBegin
            | EventKind::SectionEnd
            | EventKind::GracePeriod { .. }
            | EventKind::AtomicBegin
            | EventKind::AtomicEnd
            | EventKind::Skip
            | EventKind::Defer => return None,
        };
        (at == loc).then_some(Written { thread: event.thread, label: event.label?, value })
    };
    events.filter_map(written).collect()
}
