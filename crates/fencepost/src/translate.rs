//! `fencepost translate`: programs for sequentially consistent tools.

use crate::args::{Bounds, Format, Search};
use crate::check::{self, Batch};
use crate::exit::{self, Exit};
use crate::guard::guarded_while;
use crate::input::{self, InputFile, Unusable};
use crate::output::Output;
use crate::store::replace;
use clap::ValueEnum;
use fencepost::TranslateError;
use fencepost::requests::translate::simulation::Simulation;
use fencepost::requests::translate::{Buffers, Translated, simulation};
use fencepost::spin::Spin;
use fencepost_models::catalog::Kind;
use std::path::PathBuf;

/// A language.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Language {
    /// Ours, to be checked under SC
    Fp,
    /// SPIN's
    Promela,
    /// C11 with POSIX threads, `assert` and `assume`
    C,
    /// C without threads: they run one after another, and what others do meanwhile is guessed
    CSeq,
    /// herd's, for X86: straight-line programs only
    Litmus,
}

/// A tool that is run on the translation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Tool {
    /// SPIN, with a C compiler; takes Promela
    Spin,
}

/// Write a program for tools that know sequential consistency only
///
/// Under TSO or PSO, the translation simulates the store buffers: what it can do under SC is what the
/// program can do under the model, up to a bound. Under SC, the program is written as it is.
#[derive(clap::Args, Debug)]
#[command(after_help = exit::TRANSLATE_HELP)]
pub(crate) struct Options {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The memory model that is simulated: sc (nothing is), tso, pso [default: pso; sc with --to litmus]
    #[arg(long)]
    model: Option<String>,

    /// The language to write [default: fp; promela with --run spin]
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    to: Option<Language>,

    /// Write into this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Translate the program of this client (`ee|dd`), of the file or not
    #[arg(long, value_name = "TEXT")]
    client: Option<String>,

    /// Run this tool on the translation, and tell what it says about the program
    #[arg(long, value_enum, value_name = "TOOL")]
    run: Option<Tool>,

    /// How to print results
    #[arg(long, value_enum, default_value_t, requires = "run", help_heading = "With --run")]
    format: Format,

    /// Let "no violation up to ..." count as success in the exit code
    #[arg(long, requires = "run", help_heading = "With --run")]
    accept_bounded: bool,

    /// Write the trace of a violation into this directory, for `fencepost replay`
    #[arg(long, value_name = "DIR", requires = "run", help_heading = "With --run")]
    trace_dir: Option<PathBuf>,

    /// Say nothing about the translation; with --run, print the verdict only
    #[arg(long, short)]
    quiet: bool,

    #[command(flatten)]
    bound: Bounds,

    /// Write store buffers out, with room for N stores of a thread (under PSO, of a thread to a location)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    #[arg(conflicts_with_all = ["contexts", "delay"], help_heading = "Translation")]
    buffers: Option<u32>,

    #[command(flatten)]
    search: Search,
}

/// Translates a program.
pub(crate) fn run(options: &Options, output: &mut Output) -> Exit {
    match translate(options, output) {
        Ok(exit) => exit,
        Err(message) => {
            if !message.is_empty() {
                output.error(&message);
            }
            Exit::Unusable
        }
    }
}

/// The error is what to say, or empty when it is said already.
fn translate(options: &Options, output: &mut Output) -> Result<Exit, String> {
    let language = match (options.to, options.run) {
        (None, None) => Language::Fp,
        (None | Some(Language::Promela), Some(Tool::Spin)) => Language::Promela,
        (Some(_), Some(Tool::Spin)) => return Err("--run spin takes --to promela".into()),
        (Some(language), None) => language,
    };
    let model = input::model(simulated(options))?;
    let given = options.bound.given().or(options.buffers.map(|_| "--buffers"));
    if let (Kind::Sc, Some(option)) = (model.kind, given) {
        return Err(format!("{option} is for --model tso and pso; SC has no buffers"));
    }
    let buffers = match options.buffers {
        Some(room) => Buffers::Explicit(room),
        None => Buffers::Bounded(options.bound.bound()),
    };
    let buffers = (model.kind != Kind::Sc).then_some(buffers);
    let simulation = simulation(&model, buffers).map_err(|error| error.to_string())?;
    if language == Language::Litmus && simulation != Simulation::Plain {
        return Err(TranslateError::LitmusOfSimulation.to_string());
    }
    if options.run.is_none() || options.output.is_some() {
        let file = InputFile::read(&options.file)?;
        let clients: Vec<String> = options.client.iter().cloned().collect();
        let doing = format!("translating {}", file.name);
        let translated = guarded_while(doing, || {
            let source = file.parse(&clients, output).map_err(|Unusable(_)| String::new())?;
            let mut request = source.translate(model.clone()).to(language.into());
            if let Some(buffers) = buffers {
                request = request.buffers(buffers);
            }
            request.run().map_err(|error| error.to_string())
        });
        let Ok(translated) = translated else { return Ok(Exit::Internal) };
        let Translated { text, note } = translated?;
        if !options.quiet {
            output.message(&format!("{note}\n"));
        }
        match &options.output {
            None => output.print(&text),
            Some(path) => replace(path, text.as_bytes())
                .map_err(|error| format!("cannot write {}: {error}", input::shown(path)))?,
        }
    }
    match options.run {
        None => Ok(Exit::Fine),
        Some(Tool::Spin) => {
            let spin = Spin::new(simulation).map_err(|missing| missing.to_string())?;
            let batch = Batch {
                files: vec![options.file.clone()],
                models: vec![simulated(options).into()],
                clients: options.client.iter().cloned().collect(),
                format: options.format,
                accept_bounded: options.accept_bounded,
                trace_dir: options.trace_dir.clone(),
                quiet: options.quiet,
                ..Batch::default()
            };
            let exit = check::run_with(&batch, &options.search, &spin, None, output);
            match spin.failure() {
                None => Ok(exit),
                Some(message) => Err(format!("{}: {message}", input::shown(&options.file))),
            }
        }
    }
}

/// The memory model that is simulated.
fn simulated(options: &Options) -> &str {
    let default = if options.to == Some(Language::Litmus) { "sc" } else { "pso" };
    options.model.as_deref().unwrap_or(default)
}

impl From<Language> for fencepost::Language {
    fn from(language: Language) -> Self {
        match language {
            Language::Fp => fencepost::Language::Fp,
            Language::Promela => fencepost::Language::Promela,
            Language::C => fencepost::Language::C,
            Language::CSeq => fencepost::Language::SequentialC,
            Language::Litmus => fencepost::Language::Litmus,
        }
    }
}
