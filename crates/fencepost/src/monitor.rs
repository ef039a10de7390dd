//! `fencepost monitor`: whether a recorded execution could have left sequential consistency, had stores been
//! buffered.
//!
//! Source: \[BM08\]. Direction: exact for the execution; nothing is said about others of the same program.

use crate::args::Format;
use crate::exit::Exit;
use crate::guard::guarded_while;
use crate::input::shown;
use crate::memory_size::default_limit;
use crate::output::Output;
use clap::ValueEnum;
use fencepost_monitor::Model;
use fencepost_report::json::InputError;
use fencepost_report::monitor::trace::{RecordedTrace, TraceError};
use fencepost_report::monitor::{MonitorReport, MonitorResult, Watched, answer, title, watch};
use fencepost_report::paint::printable;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

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
            let trace = open(path)
                .map_err(TraceError::Source)
                .and_then(|mut input| RecordedTrace::read(&mut input))?;
            if options.format == Format::Text {
                output.print(&title(&name, &trace, output.paint));
            }
            let mut exit = if trace.is_empty() { Exit::Nothing } else { Exit::Fine };
            for &model in &models {
                let watched = watch(&trace, model, default_limit());
                exit = exit.and(match watched {
                    Watched::Clean => Exit::Fine,
                    Watched::Borderline { .. } => Exit::Violated,
                    Watched::Inconclusive(_) => Exit::Inconclusive,
                });
                match options.format {
                    Format::Text => output.print(&answer(model, &watched, output.paint)),
                    Format::Json => {
                        results.push(MonitorResult::new(&name, &trace, model, &watched))
                    }
                }
            }
            if trace.is_empty() {
                output.message(&format!("nothing was checked: {name} has no event\n"));
            }
            Ok::<Exit, TraceError>(exit)
        });
        exit = exit.and(match done {
            Ok(Ok(done)) => done,
            Ok(Err(error)) => {
                let error = complaint(&name, error);
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
fn complaint(name: &str, error: TraceError) -> InputError {
    let (line, column, message) = match error {
        TraceError::Line { line, column, message } => {
            (Some(line), Some(column), printable(&message))
        }
        error => (None, None, format!("cannot read {name}: {error}")),
    };
    InputError { file: name.into(), severity: "error", code: None, line, column, message }
}
