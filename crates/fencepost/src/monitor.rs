//! `fencepost monitor`: decides whether a recorded execution could have left sequential consistency
//! if stores were buffered.
//!
//! Source: \[BM08\]. Direction: exact for the recorded execution; no statement about other
//! executions of the program.

use crate::args::Format;
use crate::exit::Exit;
use crate::guard::catch_panic_while;
use crate::input::display_path;
use crate::memory_size::default_limit;
use crate::output::Output;
use clap::ValueEnum;
use fencepost_monitor::Model;
use fencepost_report::json::InputError;
use fencepost_report::monitor::trace::{RecordedTrace, TraceError};
use fencepost_report::monitor::{
    MonitorReport, MonitorResult, MonitorVerdict, answer, monitor_trace, title,
};
use fencepost_report::paint::printable;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
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
}

/// The exit codes in `--help`.
const HELP: &str = "\
Exit codes:
   0  no event could have left sequential consistency
  10  at least one event could have left sequential consistency
   5  no answer: a trace needs more memory than available
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
    let mut exit = Exit::Success;
    let (mut results, mut errors) = (Vec::new(), Vec::new());
    for path in &options.files {
        if output.is_closed() {
            break;
        }
        let name = if is_standard_input(path) { "<stdin>".into() } else { display_path(path) };
        let done = catch_panic_while(format!("monitoring {name}"), || {
            let trace = open(path)
                .map_err(TraceError::Source)
                .and_then(|mut input| RecordedTrace::read(&mut input))?;
            if options.format == Format::Text {
                output.print(&title(&name, &trace, output.paint));
            }
            let mut exit = if trace.is_empty() { Exit::Nothing } else { Exit::Success };
            for &model in &models {
                let watched = monitor_trace(&trace, model, default_limit());
                exit = exit.combine(match watched {
                    MonitorVerdict::Clean => Exit::Success,
                    MonitorVerdict::Borderline { .. } => Exit::Violated,
                    MonitorVerdict::Inconclusive(_) => Exit::Inconclusive,
                });
                match options.format {
                    Format::Text => output.print(&answer(model, &watched, output.paint)),
                    Format::Json => {
                        results.push(MonitorResult::new(&name, &trace, model, &watched))
                    }
                }
            }
            if trace.is_empty() {
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

fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    if is_standard_input(path) {
        return Ok(Box::new(io::stdin().lock()));
    }
    Ok(Box::new(BufReader::with_capacity(1 << 16, File::open(path)?)))
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
