//! The answer of the monitor for a recorded execution, as text and JSON.
//!
//! The answer is about one execution, not about the program. The text of a clean answer states this
//! explicitly, to prevent a misunderstanding.
//!
//! - [`trace`]: the parser of recorded executions.
//! - [`coherence_index`]: checks the order of a recorded execution.
//! - [`cycle`]: the happens-before cycle of a borderline event.

mod coherence_index;
mod cycle;
pub mod trace;

use crate::json::InputError;
use crate::paint::{Paint, count, counted, printable};
use fencepost_monitor::{Borderline, EdgeKind, Model, Monitor};
use serde::Serialize;
use std::fmt::Write;
use trace::RecordedTrace;

/// The output of `fencepost monitor --format json`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MonitorReport {
    /// The version of Fencepost.
    pub fencepost: String,
    /// Always `monitor`.
    pub command: String,
    /// One result for each trace and model, in the order of the request.
    pub results: Vec<MonitorResult>,
    /// Errors in input files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<InputError>,
}

/// The result for a trace under a model.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MonitorResult {
    /// The file name, as given by the user.
    pub file: String,
    /// The model's name.
    pub model: &'static str,
    /// The number of events.
    pub events: usize,
    /// The number of threads.
    pub threads: usize,
    /// The number of addresses.
    pub addresses: usize,
    /// `clean`, `borderline` or `inconclusive`.
    pub verdict: &'static str,
    /// The number of borderline events; none when inconclusive.
    pub borderline: Option<usize>,
    /// The first borderline event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstRecord>,
    /// The reason for an inconclusive answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The first borderline event, as JSON.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FirstRecord {
    /// The line of the event, from 1.
    pub line: u32,
    /// The source position of the event, if the trace has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The line of the earlier write.
    pub before_line: u32,
    /// The source position of the earlier write, if the trace has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_at: Option<String>,
    /// The happens-before cycle that the reordering closes, from the event to the write and back;
    /// empty if the search for it is too expensive.
    pub cycle: Vec<EdgeRecord>,
}

/// One edge of a cycle, as JSON.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct EdgeRecord {
    /// The line of the first event.
    pub from_line: u32,
    /// The line of the second event.
    pub to_line: u32,
    /// `program-order`, `reads-from`, `reads-before` or `overwrites`.
    pub reason: &'static str,
}

/// The monitor's verdict on a recorded execution.
#[derive(Clone, Debug)]
pub enum MonitorVerdict {
    /// No event is borderline: no reordering could have violated sequential consistency.
    Clean,
    /// Some events are borderline: reordered before an earlier write, they violate sequential
    /// consistency.
    Borderline {
        /// The number of borderline events.
        number: usize,
        /// The first borderline event.
        first: FirstBorderline,
    },
    /// There is no answer; with the reason.
    Inconclusive(String),
}

/// The first event that could have been reordered before an earlier write.
#[derive(Clone, Debug)]
pub struct FirstBorderline {
    /// The event.
    pub event: RecordedEvent,
    /// The earlier write.
    pub before: RecordedEvent,
    /// The happens-before cycle that the reordering closes; empty if it is not known.
    pub cycle: Vec<CycleEdge>,
}

/// An event of a recorded trace.
#[derive(Clone, Debug)]
pub struct RecordedEvent {
    /// The line in the trace, from 1.
    pub line: u32,
    /// The kind of event: `load`, `store`, ...
    pub kind: &'static str,
    /// The name of the thread.
    pub thread: String,
    /// The source position, if the trace has one.
    pub place: Option<String>,
}

/// One edge of a happens-before cycle.
#[derive(Clone, Debug)]
pub struct CycleEdge {
    /// The first event.
    pub from: RecordedEvent,
    /// The second event.
    pub to: RecordedEvent,
    /// Why the first event happens before the second.
    pub reason: EdgeKind,
}

/// Returns the model's name.
pub fn name(model: Model) -> &'static str {
    match model {
        Model::Tso => "tso",
        Model::Pso => "pso",
    }
}

/// Returns the line with the size of a trace.
pub fn title(file: &str, trace: &RecordedTrace, paint: Paint) -> String {
    let counts = [
        counted(trace.events.len() as u64, "event"),
        counted(trace.threads.len() as u64, "thread"),
        match trace.addresses {
            1 => "1 address".into(),
            addresses => format!("{} addresses", count(addresses as u64)),
        },
    ];
    format!("{}: {}\n", paint.strong(file), counts.join(", "))
}

/// Returns the verdict on a trace under a model as text.
pub fn answer(model: Model, verdict: &MonitorVerdict, paint: Paint) -> String {
    let model = name(model).to_uppercase();
    let mut out = String::new();
    let mut say = |head: &str, text: String| {
        writeln!(out, "  {head:<3}  {text}").expect("writing to a string cannot fail");
    };
    match verdict {
        MonitorVerdict::Clean => {
            say(&model, paint.good("no reordering could have violated sequential consistency"));
            let remark =
                "this holds for this execution only; other executions of the program may differ";
            say("", paint.faint(remark));
        }
        MonitorVerdict::Borderline { number, first } => {
            let full = |event: &RecordedEvent| {
                let place = event.place.as_deref().map(|place| format!(" ({})", printable(place)));
                format!("{} at line {}{}", event.kind, event.line, place.unwrap_or_default())
            };
            let (event, before) = (full(&first.event), full(&first.before));
            let could = paint.bad("could be reordered before");
            say(&model, format!("the {event} {could} the {before}"));
            for edge in &first.cycle {
                say("", format!("  {}", describe_edge(edge)));
            }
            if first.cycle.is_empty() {
                let remark = "  the cycle is not shown: the block has too many possible positions";
                say("", paint.faint(remark));
            }
            say(
                "",
                match number {
                    1 => "no other event could violate sequential consistency".into(),
                    more => format!(
                        "{} events could violate sequential consistency; this is the first",
                        count(*more as u64)
                    ),
                },
            );
        }
        MonitorVerdict::Inconclusive(why) => {
            say(&model, format!("{}  {why}", paint.unsure("no answer")))
        }
    }
    out
}

/// Describes one edge of a cycle.
fn describe_edge(edge: &CycleEdge) -> String {
    let short = |event: &RecordedEvent| match &event.place {
        Some(place) => format!("`{}` (line {})", printable(place), event.line),
        None => format!("line {}", event.line),
    };
    let (from, to) = (short(&edge.from), short(&edge.to));
    match edge.reason {
        EdgeKind::ProgramOrder => {
            let thread = printable(&edge.from.thread);
            format!("{from} is before {to} in program order (thread {thread})")
        }
        EdgeKind::ReadsFrom => format!("{from} writes the value that {to} reads"),
        EdgeKind::FromRead => format!("{from} reads before {to} writes"),
        EdgeKind::Coherence => format!("{from} writes before {to} overwrites it"),
    }
}

impl MonitorReport {
    /// Creates a report.
    pub fn new(version: &str, results: Vec<MonitorResult>, errors: Vec<InputError>) -> Self {
        MonitorReport { fencepost: version.into(), command: "monitor".into(), results, errors }
    }
}

impl MonitorResult {
    /// Creates the record of a verdict.
    pub fn new(file: &str, trace: &RecordedTrace, model: Model, verdict: &MonitorVerdict) -> Self {
        let (verdict, borderline, first, message) = match verdict {
            MonitorVerdict::Clean => ("clean", Some(0), None, None),
            MonitorVerdict::Borderline { number, first } => {
                ("borderline", Some(*number), Some(FirstRecord::new(first)), None)
            }
            MonitorVerdict::Inconclusive(why) => ("inconclusive", None, None, Some(why.clone())),
        };
        MonitorResult {
            file: file.into(),
            model: name(model),
            events: trace.events.len(),
            threads: trace.threads.len(),
            addresses: trace.addresses,
            verdict,
            borderline,
            first,
            message,
        }
    }
}

impl FirstRecord {
    fn new(first: &FirstBorderline) -> Self {
        let edge = |edge: &CycleEdge| EdgeRecord {
            from_line: edge.from.line,
            to_line: edge.to.line,
            reason: match edge.reason {
                EdgeKind::ProgramOrder => "program-order",
                EdgeKind::ReadsFrom => "reads-from",
                EdgeKind::FromRead => "reads-before",
                EdgeKind::Coherence => "overwrites",
            },
        };
        FirstRecord {
            line: first.event.line,
            at: first.event.place.clone(),
            before_line: first.before.line,
            before_at: first.before.place.clone(),
            cycle: first.cycle.iter().map(edge).collect(),
        }
    }
}

/// Runs the monitor on a trace. The verdict is inconclusive if the monitor needs more than about
/// `limit` bytes.
pub fn monitor_trace(trace: &RecordedTrace, model: Model, limit: u64) -> MonitorVerdict {
    let needed = estimate_bytes(trace, model);
    if needed > limit as f64 {
        let [needed, limit] = [needed, limit as f64].map(|bytes| bytes / f64::from(1 << 30));
        return MonitorVerdict::Inconclusive(format!(
            "this trace needs about {needed:.1} GB of memory, the limit is {limit:.1} GB; use a shorter trace"
        ));
    }
    let mut monitor = Monitor::new(model, trace.threads.len(), trace.addresses);
    let mut first: Option<Borderline> = None;
    let mut number = 0;
    for (at, event) in trace.events.iter().enumerate() {
        if let Some(found) = monitor.add_event(event.thread as usize, trace.action(at)) {
            number += 1;
            first.get_or_insert(found);
        }
    }
    let Some(found) = first else { return MonitorVerdict::Clean };
    let recorded = |event: usize| RecordedEvent {
        line: trace.events[event].line,
        kind: trace.word(event),
        thread: trace.threads[trace.events[event].thread as usize].clone(),
        place: trace.place(event).map(String::from),
    };
    let cycle = cycle::cycle(trace, model, found).into_iter();
    let edge = |step: fencepost_monitor::Edge| CycleEdge {
        from: recorded(step.from),
        to: recorded(step.to),
        reason: step.kind,
    };
    let first = FirstBorderline {
        event: recorded(found.event),
        before: recorded(found.before),
        cycle: cycle.map(edge).collect(),
    };
    MonitorVerdict::Borderline { number, first }
}

/// Estimates the memory of the monitor for a trace, in bytes. The monitor keeps a clock for each
/// write, a clock for the readers of each write, and the changes of each event. A clock has one
/// number for each thread and for each of its queues.
fn estimate_bytes(trace: &RecordedTrace, model: Model) -> f64 {
    let [threads, addresses, events, writes] =
        [trace.threads.len(), trace.addresses, trace.events.len(), trace.writes()]
            .map(|number| number as f64);
    let clock = match model {
        Model::Tso => 3.0 * threads,
        Model::Pso => (2.0 + addresses) * threads,
    };
    let fixed = threads * (5.0 * clock + addresses);
    4.0 * (fixed + (addresses + writes + events) * (2.0 * clock + 16.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_testkit::Random;

    /// Parts of input files. The test concatenates them at random with random bytes.
    const PIECES: &[&str] = &[
        "{\"thread\":0,\"op\":\"store\",\"address\":\"x\"}\n",
        "{\"thread\":0,\"op\":\"load\",\"address\":\"y\"}\n",
        "{\"thread\":1,\"op\":\"store\",\"address\":\"y\"}\n",
        "{\"thread\":1,\"op\":\"load\",\"address\":\"x\"}\n",
        "{\"thread\":1,\"op\":\"drain\",\"address\":\"z\"}\n",
        "{\"thread\":2,\"op\":\"fence\",\"kind\":\"store_store\"}\n",
        "{\"thread\":2,\"op\":\"block\",\"accesses\":[]}\n",
        "{\"thread\":2,\"op\":\"block\",\"accesses\":[{\"op\":\"load\",\"address\":\"y\"},\
         {\"op\":\"store\",\"address\":\"x\"},{\"op\":\"update\",\"address\":\"y\"}]}\n",
        "# remark\n",
        "\n",
        "{",
        "\"op\":",
        "[[[[",
        "-1e999",
        "\\ud800\"",
    ];

    #[test]
    fn arbitrary_input_does_not_panic() {
        let mut random = Random::new(1);
        let (mut read, mut rejected, mut found) = (0, 0, 0);
        for round in 0..3000 {
            let mut bytes = Vec::new();
            // Two of three rounds use only complete lines.
            let pieces = if round % 3 == 0 { PIECES.len() + 1 } else { 10 };
            for _ in 0..random.below(20) {
                match PIECES.get(random.below(pieces)) {
                    Some(piece) => bytes.extend_from_slice(piece.as_bytes()),
                    None => bytes.extend((0..random.below(9)).map(|_| random.below(256) as u8)),
                }
            }
            match RecordedTrace::read(&mut &bytes[..]) {
                Err(_) => rejected += 1,
                Ok(trace) => {
                    read += 1;
                    for model in [Model::Tso, Model::Pso] {
                        let verdict = monitor_trace(&trace, model, u64::MAX);
                        found += usize::from(matches!(verdict, MonitorVerdict::Borderline { .. }));
                    }
                }
            }
        }
        assert!(read > 1000 && rejected > 500 && found > 100, "{read} {rejected} {found}");
    }

    #[test]
    fn a_trace_above_the_memory_limit_is_inconclusive() {
        let lines = (0..300u32).map(|n| {
            format!("{{\"thread\":{n},\"op\":\"store\",\"address\":{}}}\n", n.wrapping_mul(7))
        });
        let trace =
            RecordedTrace::read(&mut lines.collect::<String>().as_bytes()).expect("well-formed");
        assert!(matches!(
            monitor_trace(&trace, Model::Pso, 1 << 28),
            MonitorVerdict::Inconclusive(_)
        ));
        assert!(matches!(monitor_trace(&trace, Model::Tso, 1 << 28), MonitorVerdict::Clean));
    }
}
