//! `fencepost monitor`: whether a recorded execution could have left sequential consistency, had stores been
//! buffered.
//!
//! Source: \[BM08\]. Direction: exact for the execution; nothing is said about others of the same program.
//!
//! - [`trace`]: from lines to events.
//! - [`cycle`]: why an event could have come too early.

mod cycle;
mod trace;

use crate::args::Format;
use crate::exit::Exit;
use crate::guard::guarded_while;
use crate::input::shown;
use crate::memory_size::default_limit;
use crate::output::Output;
use clap::ValueEnum;
use fencepost_monitor::{Borderline, Model, Monitor};
use fencepost_report::json::InputError;
use fencepost_report::monitor::{
    Edge, First, Moment, MonitorReport, MonitorResult, Recording, Watched, answer, title,
};
use fencepost_report::paint::printable;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use trace::{Trace, Trouble};

/// Say whether a recorded execution could have left sequential consistency with store buffers
///
/// A trace has one JSON object on each line, in the order in which things happened. The answer is about
/// this execution, not about the program: exits with 0 when no event could have come too early, with 10
/// when one could.
#[derive(clap::Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct Options {
    /// Traces; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Which store buffers to imagine
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "tso",
        value_name = "MODEL,..."
    )]
    model: Vec<Buffers>,

    /// How to print results
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// For `--help`.
const HELP: &str = "\
Exit codes:
   0  no event could have left sequential consistency
  10  some event could
   5  no answer: the trace needs more memory than there is
   4  a trace has no event
   2  wrong usage, or an input that cannot be used
   6  an internal error of Fencepost: please report it
With several traces and models all are watched, and the most serious code wins: 6, 2, 10, 5, 4, 0.";

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Buffers {
    /// One queue for each thread
    Tso,
    /// One queue for each thread and address
    Pso,
}

impl Buffers {
    fn model(self) -> Model {
        match self {
            Buffers::Tso => Model::Tso,
            Buffers::Pso => Model::Pso,
        }
    }
}

/// Watches each trace under each model.
pub(crate) fn run(options: &Options, output: &mut Output) -> Exit {
    let mut models: Vec<Model> = Vec::new();
    for model in options.model.iter().map(|buffers| buffers.model()) {
        if !models.contains(&model) {
            models.push(model);
        }
    }
    let mut exit = Exit::Fine;
    let (mut results, mut errors) = (Vec::new(), Vec::new());
    for path in &options.files {
        if output.is_closed() {
            break; // nobody reads on
        }
        let name = if is_standard_input(path) { "<stdin>".into() } else { shown(path) };
        let done = guarded_while(format!("watching {name}"), || {
            let trace = open(path).map_err(Trouble::Source).and_then(Trace::read)?;
            let recording = Recording {
                file: name.clone(),
                events: trace.events.len(),
                threads: trace.threads.len(),
                addresses: trace.addresses,
            };
            if options.format == Format::Text {
                output.print(&title(&recording, output.paint));
            }
            let mut exit = if trace.events.is_empty() { Exit::Nothing } else { Exit::Fine };
            for &model in &models {
                let watched = watch(&trace, model, default_limit());
                exit = exit.and(match watched {
                    Watched::Clean => Exit::Fine,
                    Watched::Borderline { .. } => Exit::Violated,
                    Watched::Inconclusive(_) => Exit::Inconclusive,
                });
                match options.format {
                    Format::Text => output.print(&answer(model, &watched, output.paint)),
                    Format::Json => results.push(MonitorResult::new(&recording, model, &watched)),
                }
            }
            if trace.events.is_empty() {
                output.message(&format!("nothing was checked: {name} has no event\n"));
            }
            Ok::<Exit, Trouble>(exit)
        });
        exit = exit.and(match done {
            Ok(Ok(done)) => done,
            Ok(Err(trouble)) => {
                let error = complaint(&name, trouble);
                output.error(&match (error.line, error.column) {
                    (Some(line), Some(column)) => {
                        format!("{name}:{line}:{column}: {}", error.message)
                    }
                    _ => error.message.clone(),
                });
                errors.push(error);
                Exit::Unusable
            }
            Err(_) => Exit::Internal,
        });
    }
    if options.format == Format::Json {
        let report = MonitorReport::new(env!("CARGO_PKG_VERSION"), results, errors);
        let text = serde_json::to_string_pretty(&report).expect("plain data becomes JSON");
        output.print(&format!("{text}\n"));
    }
    exit
}

fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    if is_standard_input(path) {
        return Ok(Box::new(io::stdin().lock()));
    }
    Ok(Box::new(BufReader::with_capacity(1 << 16, File::open(path)?)))
}

/// What is wrong with a trace, for the reader.
fn complaint(name: &str, trouble: Trouble) -> InputError {
    let (line, column, message) = match trouble {
        Trouble::Source(error) => (None, None, format!("cannot read {name}: {error}")),
        Trouble::Line { line, column, message } => (Some(line), Some(column), printable(&message)),
    };
    InputError { file: name.into(), severity: "error", code: None, line, column, message }
}

/// Shows the trace to the monitor, which may use about so many bytes.
fn watch(trace: &Trace, model: Model, limit: u64) -> Watched {
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
fn bytes(trace: &Trace, model: Model) -> f64 {
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
            match Trace::read(&bytes[..]) {
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
        let trace = Trace::read(lines.collect::<String>().as_bytes()).expect("well-formed");
        assert!(matches!(watch(&trace, Model::Pso, 1 << 28), Watched::Inconclusive(_)));
        assert!(matches!(watch(&trace, Model::Tso, 1 << 28), Watched::Clean));
    }
}
