//! `fencepost translate`: programs for sequentially consistent tools.
//!
//! - [`mod@prepare`]: the translation that the options ask for.
//! - [`spin`]: SPIN as an engine; [`workshop`]: where outside programs run.

mod prepare;
mod spin;
mod workshop;

use crate::args::{Abstract, Bounds, Check, EngineName, Format, Search};
use crate::check;
use crate::exit::{self, Exit};
use crate::guard::guarded_while;
use crate::input::{self, Source};
use crate::output::Output;
use crate::store::replace;
use clap::ValueEnum;
use fencepost_ir::{Problem, Span};
use fencepost_report::paint::{count, counted, printable};
use fencepost_translate::export::{Export, c, fp, litmus, promela, sequential};
use fencepost_translate::{Unsupported, size};
use prepare::{How, prepare};
use std::path::{Path, PathBuf};

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
    let how = How::new(&model, &options.bound, options.buffers)?;
    if language == Language::Litmus && how != How::Plain {
        return Err(
            "a litmus test is the program as it is, and who reads it chooses the memory model: \
                    --to litmus goes without --model"
                .into(),
        );
    }
    if options.run.is_none() || options.output.is_some() {
        let source = Source::read(&options.file)?;
        if source.is_litmus() && language == Language::Litmus {
            return Err(format!("{} is a litmus test already", source.name));
        }
        let problem = the_program(options, &source, output)?;
        let doing = format!("translating {}", source.name);
        let written = guarded_while(doing, || written(&source.name, &problem, how, language));
        let text = match written {
            Ok(Ok((text, note))) => {
                if !options.quiet {
                    output.message(&format!("{note}\n"));
                }
                text
            }
            Ok(Err(why)) => return Err(format!("{}: {why}", source.name)),
            Err(_) => return Ok(Exit::Internal),
        };
        match &options.output {
            None => output.print(&text),
            Some(path) => replace(path, text.as_bytes())
                .map_err(|error| format!("cannot write {}: {error}", input::shown(path)))?,
        }
    }
    match options.run {
        None => Ok(Exit::Fine),
        Some(Tool::Spin) => {
            let spin = spin::Spin::new(how)?;
            let exit = check::run_with(&check(options), &spin, output);
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

/// The one program that is asked for.
fn the_program(options: &Options, source: &Source, output: &Output) -> Result<Problem, String> {
    let doing = format!("reading {}", source.name);
    let clients: Vec<String> = options.client.iter().cloned().collect();
    let lowered = guarded_while(doing, || source.lower_clients(&clients, output));
    let Ok(Ok((_, mut problems))) = lowered else { return Err(String::new()) };
    if problems.len() > 1 {
        let names: Vec<String> = problems.iter().map(|p| printable(&p.name)).collect();
        let known = names.iter().take(5).map(|name| format!("`{name}`")).collect::<Vec<_>>();
        return Err(format!(
            "{} has {}: choose one with --client ({}{})",
            source.name,
            counted(problems.len() as u64, "client"),
            known.join(", "),
            if names.len() > known.len() { ", ..." } else { "" }
        ));
    }
    problems.pop().ok_or_else(|| format!("{} has no program", source.name))
}

/// The text, and a line about it.
fn written(
    name: &str,
    problem: &Problem,
    how: How,
    language: Language,
) -> Result<(String, String), Unsupported> {
    let sequence = language == Language::CSeq;
    let translation = prepare(problem, how, sequence)?;
    let (before, after) = (size(problem) as u64, size(&translation.problem) as u64);
    let sizes = format!("{} in, {} out", counted(before, "statement"), count(after));
    let title = match problem.name.as_str() {
        "" => name.to_string(),
        client => format!("{name}, client {}", printable(client)),
    };
    let mut about = vec![
        format!("Fencepost {}: {title}", env!("CARGO_PKG_VERSION")),
        how.told(),
        format!("{sizes}."),
    ];
    if how != How::Plain && !problem.sometimes.is_empty() {
        about.push("A `final exists` that does not hold here may hold beyond the bound.".into());
    }
    if language == Language::Litmus {
        about.truncate(1);
    }
    let line = |span: Span| (span.line > 0).then_some(span.line);
    let export = Export { problem: &translation.problem, about: &about, line: &line };
    let text = match language {
        Language::Fp => fp::fp(&export)?,
        Language::Promela => promela::promela(&export)?.text,
        Language::C => c::c(&export)?,
        Language::CSeq => sequential::sequential(&export, &translation)?,
        Language::Litmus => {
            let text = litmus::litmus(&export, &test_name(name, problem))?;
            return Ok((text, format!("{title}: {}", counted(before, "statement"))));
        }
    };
    Ok((text, format!("{title}: {sizes}")))
}

/// The name of a litmus test: that of the file, with the client.
fn test_name(file: &str, problem: &Problem) -> String {
    let stem = Path::new(file).file_stem().map_or("".into(), |stem| stem.to_string_lossy());
    match problem.name.as_str() {
        "" => stem.into_owned(),
        client => format!("{stem}+{client}"),
    }
}

/// The options as those of `check`.
fn check(options: &Options) -> Check {
    Check {
        files: vec![options.file.clone()],
        model: vec![simulated(options).into()],
        engine: EngineName::Auto,
        format: options.format,
        accept_bounded: options.accept_bounded,
        client: options.client.iter().cloned().collect(),
        trace_dir: options.trace_dir.clone(),
        certificate: None,
        preemptions: None,
        bound: Bounds { contexts: None, delay: None },
        dot: None,
        all_traces: false,
        witness: false,
        quiet: options.quiet,
        abstraction: Abstract { domain: None, k: None },
        search: options.search,
    }
}
