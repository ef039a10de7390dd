//! `fencepost monitor`: decides whether a recorded execution could have left sequential consistency
//! if stores were buffered.
//!
//! Source: \[BM08\]. Direction: exact for the recorded execution; no statement about other
//! executions of the program. A limit on time or memory and Ctrl-C leave the rest of a trace
//! unchecked; the answer says so.

use crate::args::{Format, parse_seconds};
use crate::exit::Exit;
use crate::guard::catch_panic_while;
use crate::input::display_path;
use crate::memory_size::{default_limit, parse_size};
use crate::output::Output;
use crate::pipe::PipeReader;
use crate::session::{EventObserver, Session};
use clap::ValueEnum;
use fencepost::run_within;
use fencepost_monitor::Model;
use fencepost_report::json::InputError;
use fencepost_report::monitor::{
    MonitorAnswer, MonitorReport, MonitorResult, MonitorVerdict, TraceError, TraceInput, answer,
    monitor_trace, title,
};
use fencepost_report::paint::printable;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Check whether a recorded execution could have left sequential consistency with store buffers
///
/// A trace file has one JSON object per line, in the order of execution. For each load (and under
/// PSO each store) the monitor decides whether store buffers could have let it take effect before
/// an earlier store of its thread, observably for other threads. The answer is about this
/// execution; other executions of the program may differ.
#[derive(clap::Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct Options {
    /// Trace files; `-` means standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The assumed store buffers
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "tso",
        value_name = "MODEL,..."
    )]
    model: Vec<Buffers>,

    /// The output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Limit on wall-clock time for each trace, in seconds; 0 means no limit
    #[arg(long, default_value_t = 0.0, value_parser = parse_seconds, value_name = "SECONDS")]
    #[arg(allow_negative_numbers = true)]
    time: f64,

    /// Approximate memory limit, such as 512M or 4G [default: 60 % of the machine's memory]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    memory: Option<u64>,
}

/// The exit codes in `--help`.
const HELP: &str = "\
Exit codes:
   0  no event could have left sequential consistency
  10  at least one event could have left sequential consistency
   5  no answer within the limits on time and memory, or interrupted
   4  a trace has no events
   2  wrong usage, or an input that cannot be used
   6  an internal error of Fencepost: please report it
With several traces or models, the exit code is the most serious one: 6, 2, 10, 5, 4, 0.";

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Buffers {
    /// One FIFO store buffer for each thread
    Tso,
    /// One FIFO store buffer for each thread and address
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

/// Monitors each trace under each model.
pub(crate) fn run(options: &Options, output: &mut Output) -> Exit {
    let mut models: Vec<Model> = Vec::new();
    for model in options.model.iter().map(|buffers| buffers.model()) {
        if !models.contains(&model) {
            models.push(model);
        }
    }
    let session = Session::within(options.time, false);
    let mut exit = Exit::Success;
    let (mut results, mut errors) = (Vec::new(), Vec::new());
    for path in &options.files {
        if output.is_closed() {
            break;
        }
        let name = if is_standard_input(path) { "<stdin>".into() } else { display_path(path) };
        let done = catch_panic_while(format!("monitoring {name}"), || {
            let answered = monitor(path, &name, &models, options, &session)?;
            if options.format == Format::Text {
                output.print(&title(&name, &answered, output.paint));
            }
            let is_empty = answered.events == 0 && answered.unfinished.is_none();
            let mut exit = if is_empty { Exit::Nothing } else { Exit::Success };
            for (model, verdict) in &answered.verdicts {
                exit = exit.combine(match verdict {
                    MonitorVerdict::Clean => Exit::Success,
                    MonitorVerdict::Borderline { .. } => Exit::Violated,
                    MonitorVerdict::Inconclusive(_) => Exit::Inconclusive,
                });
                match options.format {
                    Format::Text => output.print(&answer(*model, verdict, output.paint)),
                    Format::Json => {
                        results.push(MonitorResult::new(&name, &answered, *model, verdict));
                    }
                }
            }
            if is_empty {
                output.message(&format!("nothing was checked: {name} has no events\n"));
            }
            Ok::<Exit, TraceError>(exit)
        });
        exit = exit.combine(match done {
            Ok(Ok(done)) => done,
            Ok(Err(error)) => {
                let error = input_error(&name, error);
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
        output.json(&report);
    }
    exit
}

fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether a path can be read only once: standard input, a named pipe or a device.
fn is_pipe(path: &Path) -> bool {
    let is_special = |file: fs::Metadata| !file.is_file() && !file.is_dir();
    is_standard_input(path) || fs::metadata(path).is_ok_and(is_special)
}

fn open_pipe(path: &Path) -> io::Result<Box<dyn Read>> {
    if is_standard_input(path) {
        return Ok(Box::new(io::stdin()));
    }
    Ok(Box::new(File::open(path)?))
}

/// Monitors a trace under each model, within the limits.
fn monitor(
    path: &Path,
    name: &str,
    models: &[Model],
    options: &Options,
    session: &Session,
) -> Result<MonitorAnswer, TraceError> {
    let bytes = options.memory.unwrap_or_else(default_limit);
    let mut open = || -> io::Result<Box<dyn BufRead>> {
        Ok(Box::new(BufReader::with_capacity(1 << 16, File::open(path)?)))
    };
    let observer = EventObserver(session.bar(name));
    let (answer, _) = run_within(session.time(), session.cancel(), &observer, |budget| {
        let input = if is_pipe(path) {
            let path = path.to_path_buf();
            TraceInput::Pipe(Box::new(PipeReader::new(move || open_pipe(&path), budget.cancel)))
        } else {
            TraceInput::File(&mut open)
        };
        monitor_trace(input, models, bytes, budget)
    });
    answer
}

/// Converts an error in a trace to an error for the report.
fn input_error(name: &str, error: TraceError) -> InputError {
    let (line, column, message) = match error {
        TraceError::Line { line, column, message } => {
            (Some(line), Some(column), printable(&message))
        }
        error => (None, None, format!("cannot read {name}: {error}")),
    };
    InputError { file: name.into(), severity: "error", code: None, line, column, message }
}
