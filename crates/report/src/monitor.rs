//! What the monitor says about a recorded execution, as text and for programs.
//!
//! The answer is about one execution. The text says so where it is good news, for there it is easily taken for more.
//!
//! - [`trace`]: from lines to events.
//! - [`cycle`]: why an event could have come too early.

mod cycle;
pub mod trace;

use crate::json::InputError;
use crate::paint::{Paint, count, counted, printable};
use fencepost_monitor::{Borderline, Model, Monitor, Reason};
use serde::Serialize;
use std::fmt::Write;
use trace::RecordedTrace;

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
    pub fn new(file: &str, trace: &RecordedTrace, model: Model, watched: &Watched) -> Self {
        let (verdict, borderline, first, message) = match watched {
            Watched::Clean => ("clean", Some(0), None, None),
            Watched::Borderline { number, first } => {
                ("borderline", Some(*number), Some(FirstRecord::new(first)), None)
            }
            Watched::Inconclusive(why) => ("inconclusive", None, None, Some(why.clone())),
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

/// Shows the trace to the monitor, which may use about so many bytes.
pub fn watch(trace: &RecordedTrace, model: Model, limit: u64) -> Watched {
    let needed = bytes(trace, model);
    if needed > limit as f64 {
        let [needed, limit] = [needed, limit as f64].map(|bytes| bytes / f64::from(1 << 30));
        return Watched::Inconclusive(format!(
            "the monitor would need about {needed:.1} GB of memory for this trace; it may use {limit:.1}"
        ));
    }
    let mut monitor = Monitor::new(model, trace.threads.len(), trace.addresses);
    let mut first: Option<Borderline> = None;
    let mut number = 0;
    for (at, event) in trace.events.iter().enumerate() {
        if let Some(found) = monitor.event(event.thread as usize, trace.action(at)) {
            number += 1;
            first.get_or_insert(found);
        }
    }
    let Some(found) = first else { return Watched::Clean };
    let moment = |event: usize| Moment {
        line: trace.events[event].line,
        what: trace.word(event),
        thread: trace.threads[trace.events[event].thread as usize].clone(),
        place: trace.place(event).map(String::from),
    };
    let cycle = cycle::cycle(trace, model, found).into_iter();
    let edge = |step: fencepost_monitor::Step| Edge {
        from: moment(step.from),
        to: moment(step.to),
        reason: step.reason,
    };
    let first = First {
        event: moment(found.event),
        before: moment(found.before),
        cycle: cycle.map(edge).collect(),
    };
    Watched::Borderline { number, first }
}

/// About how much memory the monitor takes for a trace. It keeps a clock for each write and one for its readers, and
/// what events have changed; a clock has a number for each thread, its queues included.
fn bytes(trace: &RecordedTrace, model: Model) -> f64 {
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

    /// Pieces of lines, put together at random with bytes that mean nothing.
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
    fn no_bytes_make_it_panic() {
        let mut random = Random::new(1);
        let (mut read, mut rejected, mut found) = (0, 0, 0);
        for round in 0..3000 {
            let mut bytes = Vec::new();
            // Two rounds of three have only whole lines in them.
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
                        let watched = watch(&trace, model, u64::MAX);
                        found += usize::from(matches!(watched, Watched::Borderline { .. }));
                    }
                }
            }
        }
        assert!(read > 1000 && rejected > 500 && found > 100, "{read} {rejected} {found}");
    }

    #[test]
    fn what_does_not_fit_into_memory_is_not_tried() {
        let lines = (0..300u32).map(|n| {
            format!("{{\"thread\":{n},\"op\":\"store\",\"address\":{}}}\n", n.wrapping_mul(7))
        });
        let trace =
            RecordedTrace::read(&mut lines.collect::<String>().as_bytes()).expect("well-formed");
        assert!(matches!(watch(&trace, Model::Pso, 1 << 28), Watched::Inconclusive(_)));
        assert!(matches!(watch(&trace, Model::Tso, 1 << 28), Watched::Clean));
    }
}
