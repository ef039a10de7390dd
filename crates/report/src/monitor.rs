//! What the monitor says about a recorded execution, as text and for programs.
//!
//! The answer is about one execution. The text says so where it is good news, for there it is easily taken for more.

use crate::json::InputError;
use crate::paint::{Paint, count, counted, printable};
use fencepost_monitor::{Model, Reason};
use serde::Serialize;
use std::fmt::Write;

/// The whole answer of `fencepost monitor --format json`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MonitorReport {
    /// The version of Fencepost.
    pub fencepost: String,
    /// Always `monitor`.
    pub command: String,
    /// One for each trace and model, in the order asked for.
    pub results: Vec<MonitorResult>,
    /// Files that could not be used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<InputError>,
}

/// What was found out about a trace under a model.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MonitorResult {
    /// The file, as it was named.
    pub file: String,
    /// The model's name.
    pub model: &'static str,
    /// How many events the trace has.
    pub events: usize,
    /// How many threads.
    pub threads: usize,
    /// How many addresses.
    pub addresses: usize,
    /// `clean`, `borderline` or `inconclusive`.
    pub verdict: &'static str,
    /// How many events could have left sequential consistency; none if that is not known.
    pub borderline: Option<usize>,
    /// The first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstRecord>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The first event that could have come before an earlier write.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FirstRecord {
    /// Its line, from 1.
    pub line: u32,
    /// Where it is in its program, if the trace tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The line of the write.
    pub before_line: u32,
    /// Where the write is in its program, if the trace tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_at: Option<String>,
    /// The cycle of happens-before that this closes, from the event to the write and back; empty if it was too long
    /// to look for.
    pub cycle: Vec<EdgeRecord>,
}

/// One step of a cycle.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct EdgeRecord {
    /// The line of what comes before.
    pub from_line: u32,
    /// The line of what comes after.
    pub to_line: u32,
    /// `program-order`, `reads-from`, `reads-before` or `overwrites`.
    pub reason: &'static str,
}

/// A recorded execution.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The file, as it was named.
    pub file: String,
    /// How many events it has.
    pub events: usize,
    /// How many threads.
    pub threads: usize,
    /// How many addresses.
    pub addresses: usize,
}

/// What the monitor found.
#[derive(Clone, Debug)]
pub enum Watched {
    /// No event could have left sequential consistency.
    Clean,
    /// Some could.
    Borderline {
        /// How many.
        number: usize,
        /// The first one.
        first: First,
    },
    /// There is no answer, and why.
    Inconclusive(String),
}

/// The first event that could have come before an earlier write.
#[derive(Clone, Debug)]
pub struct First {
    /// The event.
    pub event: Moment,
    /// The write.
    pub before: Moment,
    /// The cycle that this closes; empty if it is not known.
    pub cycle: Vec<Edge>,
}

/// An event of a trace.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Its line, from 1.
    pub line: u32,
    /// What it is: `load`, `store`, ...
    pub what: &'static str,
    /// The name of its thread.
    pub thread: String,
    /// Where it is in its program, if the trace tells.
    pub place: Option<String>,
}

/// One step of a cycle.
#[derive(Clone, Debug)]
pub struct Edge {
    /// What comes before.
    pub from: Moment,
    /// What comes after.
    pub to: Moment,
    /// Why.
    pub reason: Reason,
}

/// The model's name.
pub fn name(model: Model) -> &'static str {
    match model {
        Model::Tso => "tso",
        Model::Pso => "pso",
    }
}

/// The line about a trace.
pub fn title(recording: &Recording, paint: Paint) -> String {
    let counts = [
        counted(recording.events as u64, "event"),
        counted(recording.threads as u64, "thread"),
        match recording.addresses {
            1 => "1 address".into(),
            addresses => format!("{} addresses", count(addresses as u64)),
        },
    ];
    format!("{}: {}\n", paint.strong(&recording.file), counts.join(", "))
}

/// The lines about a trace under a model.
pub fn answer(model: Model, watched: &Watched, paint: Paint) -> String {
    let model = name(model).to_uppercase();
    let mut out = String::new();
    let mut say = |head: &str, text: String| {
        writeln!(out, "  {head:<3}  {text}").expect("strings take text");
    };
    match watched {
        Watched::Clean => {
            say(&model, paint.good("no event could have left sequential consistency"));
            let remark =
                "this is about this execution; another one of the program may have such an event";
            say("", paint.faint(remark));
        }
        Watched::Borderline { number, first } => {
            let whole = |moment: &Moment| {
                let place = moment.place.as_deref().map(|place| format!(" ({})", printable(place)));
                format!("{} at line {}{}", moment.what, moment.line, place.unwrap_or_default())
            };
            let (event, before) = (whole(&first.event), whole(&first.before));
            let could = paint.bad("could have come before");
            say(&model, format!("the {event} {could} the {before}"));
            for edge in &first.cycle {
                say("", format!("  {}", sentence(edge)));
            }
            if first.cycle.is_empty() {
                let remark = "  the cycle is not shown: there are too many ways to move the block";
                say("", paint.faint(remark));
            }
            say(
                "",
                match number {
                    1 => "no other event could have left sequential consistency".into(),
                    more => format!(
                        "{} events could have left sequential consistency; this is the first",
                        count(*more as u64)
                    ),
                },
            );
        }
        Watched::Inconclusive(why) => say(&model, format!("{}  {why}", paint.unsure("no answer"))),
    }
    out
}

/// One step of a cycle, from what comes first.
fn sentence(edge: &Edge) -> String {
    let short = |moment: &Moment| match &moment.place {
        Some(place) => format!("`{}` (line {})", printable(place), moment.line),
        None => format!("line {}", moment.line),
    };
    let (from, to) = (short(&edge.from), short(&edge.to));
    match edge.reason {
        Reason::ProgramOrder => {
            let thread = printable(&edge.from.thread);
            format!("{from} comes before {to} in program order (thread {thread})")
        }
        Reason::ReadsFrom => format!("{from} writes what {to} reads"),
        Reason::ReadsBefore => format!("{from} reads before {to} writes"),
        Reason::Overwrites => format!("{from} writes before {to} writes over it"),
    }
}

impl MonitorReport {
    /// A report of these results.
    pub fn new(version: &str, results: Vec<MonitorResult>, errors: Vec<InputError>) -> Self {
        MonitorReport { fencepost: version.into(), command: "monitor".into(), results, errors }
    }
}

impl MonitorResult {
    /// An answer for programs.
    pub fn new(recording: &Recording, model: Model, watched: &Watched) -> Self {
        let (verdict, borderline, first, message) = match watched {
            Watched::Clean => ("clean", Some(0), None, None),
            Watched::Borderline { number, first } => {
                ("borderline", Some(*number), Some(FirstRecord::new(first)), None)
            }
            Watched::Inconclusive(why) => ("inconclusive", None, None, Some(why.clone())),
        };
        MonitorResult {
            file: recording.file.clone(),
            model: name(model),
            events: recording.events,
            threads: recording.threads,
            addresses: recording.addresses,
            verdict,
            borderline,
            first,
            message,
        }
    }
}

impl FirstRecord {
    fn new(first: &First) -> Self {
        let edge = |edge: &Edge| EdgeRecord {
            from_line: edge.from.line,
            to_line: edge.to.line,
            reason: match edge.reason {
                Reason::ProgramOrder => "program-order",
                Reason::ReadsFrom => "reads-from",
                Reason::ReadsBefore => "reads-before",
                Reason::Overwrites => "overwrites",
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
