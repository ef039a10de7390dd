//! `fencepost translate`: translates programs for tools that assume sequential consistency.

use crate::args::{Bounds, CPrograms, Format, Hangs, Search};
use crate::check::{self, Batch};
use crate::exit::{self, Exit};
use crate::guard::catch_panic_while;
use crate::input::{self, InputFile, PrintedErrors};
use crate::output::Output;
use crate::store::replace;
use clap::ValueEnum;
use fencepost::TranslateError;
use fencepost::outside::{self, Outside};
use fencepost::requests::translate::simulation::Simulation;
use fencepost::requests::translate::{Buffers, Translated, simulation};
use fencepost_models::catalog::ModelKind;
use std::path::PathBuf;

/// The language of the translation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Language {
    /// Fencepost's own language, to be checked under SC
    Fp,
    /// Promela, the language of the model checker SPIN
    Promela,
    /// C11 with POSIX threads, `assert` and `assume`
    C,
    /// Sequential C, for tools without threads: the threads run one after another, and the program
    /// guesses the effects of the other threads
    CSeq,
    /// The litmus format of herd, for X86: straight-line programs only
    Litmus,
}

/// A tool to run on the translation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Tool {
    /// The model checker SPIN; requires a C compiler and Promela
    Spin,
    /// The bounded model checker CBMC 6; requires C
    Cbmc,
    /// The stateless model checker GenMC; requires C
    Genmc,
}

impl Tool {
    /// Returns the language that the tool reads, and its name on the command line.
    fn language(self) -> (Language, &'static str) {
        match self {
            Tool::Spin => (Language::Promela, "promela"),
            Tool::Cbmc | Tool::Genmc => (Language::C, "c"),
        }
    }
}

impl From<Tool> for outside::Tool {
    fn from(tool: Tool) -> Self {
        match tool {
            Tool::Spin => outside::Tool::Spin,
            Tool::Cbmc => outside::Tool::Cbmc,
            Tool::Genmc => outside::Tool::GenMc,
        }
    }
}

/// Translate a program for tools that support only sequential consistency
///
/// For TSO or PSO, the translation simulates store buffers: its behaviours under SC are those of
/// the program under the model, up to a bound. For SC, the translation is the program itself.
#[derive(clap::Args, Debug)]
#[command(after_help = exit::TRANSLATE_HELP)]
pub(crate) struct Options {
    /// The program; `-` means standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The memory model to simulate: sc (no simulation), tso, pso [default: pso; sc with --to
    /// litmus]
    #[arg(long)]
    model: Option<String>,

    /// The language of the translation [default: fp; promela with --run spin; c with --run
    /// cbmc and genmc]
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    to: Option<Language>,

    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Translate a library with this client, such as `ee|dd`, instead of the clients in the file
    #[arg(long, value_name = "TEXT")]
    client: Option<String>,

    #[command(flatten)]
    hangs: Hangs,

    #[command(flatten)]
    c: CPrograms,

    /// Run this tool on the translation and print its verdict about the program
    #[arg(long, value_enum, value_name = "TOOL")]
    run: Option<Tool>,

    /// The output format
    #[arg(long, value_enum, default_value_t, requires = "run", help_heading = "With --run")]
    format: Format,

    /// Exit with 0 also if "no violation up to ..." is the strongest result
    #[arg(long, requires = "run", help_heading = "With --run")]
    accept_bounded: bool,

    /// With cbmc and genmc: unroll each loop N times [default: computed from the program, or 4 if
    /// a loop has no known bound]
    #[arg(long, value_name = "N", requires = "run", help_heading = "With --run")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    unwind: Option<u32>,

    /// Write the trace of a violation into this directory; `fencepost replay` reads it
    #[arg(long, value_name = "DIR", requires = "run", help_heading = "With --run")]
    trace_dir: Option<PathBuf>,

    /// Print how to run verifiers on the translation, and how often they must unroll loops (c and
    /// c-seq)
    #[arg(long)]
    explain: bool,

    /// Do not print the size of the translation; with --run, print only the verdict
    #[arg(long, short)]
    quiet: bool,

    #[command(flatten)]
    bound: Bounds,

    /// Simulate with store buffers in the translated program, each for at most N stores: one buffer
    /// per thread, and under PSO one per thread and location
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

/// Translates a program. The error is a message to print, or empty if the message is already
/// printed.
fn translate(options: &Options, output: &mut Output) -> Result<Exit, String> {
    let language = match (options.to, options.run) {
        (None, None) => Language::Fp,
        (Some(language), None) => language,
        (given, Some(tool)) => {
            let (language, name) = tool.language();
            if given.is_some_and(|given| given != language) {
                let tool = outside::Tool::from(tool).name();
                return Err(format!("--run {tool} requires --to {name}"));
            }
            language
        }
    };
    if options.unwind.is_some() && options.run == Some(Tool::Spin) {
        return Err("--unwind requires --run cbmc or genmc: SPIN does not unroll loops".into());
    }
    let model = input::model(simulated(options))?;
    let given = options.bound.given().or(options.buffers.map(|_| "--buffers"));
    if let (ModelKind::Sc, Some(option)) = (model.kind, given) {
        return Err(format!("{option} requires --model tso or pso: SC has no store buffers"));
    }
    let buffers = match options.buffers {
        Some(capacity) => Buffers::Explicit(capacity),
        None => Buffers::Bounded(options.bound.bound()),
    };
    let buffers = (model.kind != ModelKind::Sc).then_some(buffers);
    let simulation = simulation(&model, buffers).map_err(|error| error.to_string())?;
    if language == Language::Litmus && simulation != Simulation::Plain {
        return Err(TranslateError::LitmusOfSimulation.to_string());
    }
    if options.run.is_none() || options.output.is_some() {
        let file = InputFile::read(&options.file, &options.c)?;
        let clients: Vec<String> = options.client.iter().cloned().collect();
        let task = format!("translating {}", file.name);
        let translated = catch_panic_while(task, || {
            let source = file
                .parse(&clients, options.hangs.allow_hangs, output)
                .map_err(|PrintedErrors(_)| String::new())?;
            let mut request = source.translate(model.clone()).to(language.into());
            if let Some(buffers) = buffers {
                request = request.buffers(buffers);
            }
            request.run().map_err(|error| error.to_string())
        });
        let Ok(translated) = translated else { return Ok(Exit::Internal) };
        let Translated { text, note, explanation } = translated?;
        if !options.quiet {
            output.message(&format!("{note}\n"));
        }
        if options.explain {
            output.message(&explanation);
        }
        match &options.output {
            None => output.print(&text),
            Some(path) => replace(path, text.as_bytes())
                .map_err(|error| format!("cannot write {}: {error}", input::display_path(path)))?,
        }
    }
    match options.run {
        None => Ok(Exit::Success),
        Some(tool) => {
            let tool = Outside::new(tool.into(), simulation);
            let tool = tool.map_err(|missing| missing.to_string())?.unrollings(options.unwind);
            let batch = Batch {
                files: vec![options.file.clone()],
                models: vec![simulated(options).into()],
                clients: options.client.iter().cloned().collect(),
                allow_hangs: options.hangs.allow_hangs,
                c: options.c.clone(),
                format: options.format,
                accept_bounded: options.accept_bounded,
                trace_dir: options.trace_dir.clone(),
                quiet: options.quiet,
                ..Batch::default()
            };
            let exit = check::run_with(&batch, &options.search, &tool, None, output);
            match tool.failure() {
                None => Ok(exit),
                Some(message) => Err(format!("{}: {message}", input::display_path(&options.file))),
            }
        }
    }
}

/// Returns the name of the memory model to simulate.
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
