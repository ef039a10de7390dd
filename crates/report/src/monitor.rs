//! The answer of the monitor for a recorded execution, as text and JSON.
//!
//! The answer is about one execution, not about the program. The text of a clean answer states this
//! explicitly, to prevent a misunderstanding.
//!
//! - `run`: monitors a trace while it is read, within limits.
//! - `trace`, `line`: the reader of recorded executions; `source`: reads one more than once.
//! - `coherence_index`: checks the order of a recorded execution.
//! - `cycle`: the happens-before cycle of a borderline event.

mod coherence_index;
mod cycle;
mod line;
mod run;
mod source;
mod trace;

pub use run::{MonitorAnswer, monitor_trace};
pub use source::TraceInput;
pub use trace::TraceError;

use crate::json::InputError;
use crate::paint::{Paint, count, counted, printable};
use crate::verdict_line::limit_text;
use fencepost_monitor::{EdgeKind, Model};
use fencepost_search::Stop;
use serde::Serialize;
use std::fmt::Write;

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
    /// The number of events that were checked.
    pub events: u64,
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
    /// Why not all events were checked.
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
        /// Why not all events were checked. There may be more borderline events.
        unfinished: Option<Unfinished>,
    },
    /// No borderline event was found, but not all events were checked.
    Inconclusive(Unfinished),
}

/// Why not all events of a trace were checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unfinished {
    /// The number of events that were checked.
    pub events: u64,
    /// The limit.
    pub stop: Stop,
    /// Whether the events are kept in memory, because they come from a pipe.
    pub keeps_events: bool,
}

impl Unfinished {
    /// Describes the limit and what to do.
    pub fn text(&self) -> String {
        let advice = match self.stop {
            Stop::Memory if self.keeps_events => "; try: raise --memory, or use a file, not a pipe",
            Stop::Memory => "; try: raise --memory",
            Stop::Time => "; try: raise --time",
            Stop::States | Stop::Interrupted | Stop::Depth => "",
        };
        let events = counted(self.events, "event");
        format!("{} after {events}{advice}", limit_text(self.stop))
    }
}

/// The first event that could have been reordered before an earlier write.
#[derive(Clone, Debug)]
pub struct FirstBorderline {
    /// The event.
    pub event: RecordedEvent,
    /// The earlier write.
    pub before: RecordedEvent,
    /// The happens-before cycle that the reordering closes.
    pub cycle: Result<Vec<CycleEdge>, NoCycle>,
}

/// Why a cycle is not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoCycle {
    /// The block has too many possible positions.
    TooManyPositions,
    /// A limit was reached.
    Stopped,
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
pub fn title(file: &str, answer: &MonitorAnswer, paint: Paint) -> String {
    let counts = [
        counted(answer.events, "event"),
        counted(answer.threads as u64, "thread"),
        match answer.addresses {
            1 => "1 address".into(),
            addresses => format!("{} addresses", count(addresses as u64)),
        },
    ];
    let rest = if answer.unfinished.is_some() { "; the rest is not checked" } else { "" };
    format!("{}: {}{rest}\n", paint.strong(file), counts.join(", "))
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
        MonitorVerdict::Borderline { number, first, unfinished } => {
            let full = |event: &RecordedEvent| {
                let place = event.place.as_deref().map(|place| format!(" ({})", printable(place)));
                format!("{} at line {}{}", event.kind, event.line, place.unwrap_or_default())
            };
            let (event, before) = (full(&first.event), full(&first.before));
            let could = paint.bad("could be reordered before");
            say(&model, format!("the {event} {could} the {before}"));
            match &first.cycle {
                Ok(cycle) => {
                    cycle.iter().for_each(|edge| say("", format!("  {}", describe_edge(edge))));
                }
                Err(reason) => {
                    let reason = match reason {
                        NoCycle::TooManyPositions => "the block has too many possible positions",
                        NoCycle::Stopped => "a limit was reached",
                    };
                    say("", paint.faint(&format!("  the cycle is not shown: {reason}")));
                }
            }
            let events = counted(*number as u64, "event");
            let others = match (unfinished, number) {
                (Some(unfinished), _) => {
                    let text = unfinished.text();
                    format!("at least {events} could violate sequential consistency; {text}")
                }
                (None, 1) => "no other event could violate sequential consistency".into(),
                (None, _) => {
                    format!("{events} could violate sequential consistency; this is the first")
                }
            };
            say("", others);
        }
        MonitorVerdict::Inconclusive(unfinished) => {
            say(&model, format!("{}  {}", paint.unsure("no answer"), unfinished.text()))
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
    pub fn new(file: &str, answer: &MonitorAnswer, model: Model, verdict: &MonitorVerdict) -> Self {
        let (verdict, borderline, first) = match verdict {
            MonitorVerdict::Clean => ("clean", Some(0), None),
            MonitorVerdict::Borderline { number, first, .. } => {
                ("borderline", Some(*number), Some(FirstRecord::new(first)))
            }
            MonitorVerdict::Inconclusive(_) => ("inconclusive", None, None),
        };
        MonitorResult {
            file: file.into(),
            model: name(model),
            events: answer.events,
            threads: answer.threads,
            addresses: answer.addresses,
            verdict,
            borderline,
            first,
            message: answer.unfinished.as_ref().map(Unfinished::text),
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
            cycle: first.cycle.iter().flatten().map(edge).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
