//! `fencepost robust`: whether programs behave as if sequentially consistent.
//!
//! - [`resume`]: to go on where someone stopped.
//!
//! The same work as `check` does with an engine of its own, and with `--infer` the same as `infer`.

mod resume;

use crate::args::{Format, Search, parse_cost, parse_kind};
use crate::check::{self, Batch};
use crate::exit::{self, Exit};
use crate::infer::{self, Job};
use crate::output::Output;
use clap::ValueEnum;
use fencepost::{EngineChoice, RepairOptions};
use fencepost_engines::{Robust, RobustBy};
use fencepost_infer::menu::Dish;
use std::path::PathBuf;

/// How to find out whether a program is robust.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum By {
    /// The others one after the other
    #[default]
    Auto,
    /// Runs under SC one after the other, one for each trace
    Stateless,
    /// Searches for a thread that delays a store past one of its loads (TSO); loops need no bound
    Attack,
}

/// Find out whether programs behave as if sequentially consistent on TSO or PSO
///
/// A program is robust when every run has the same happens-before relation as one under sequential
/// consistency, but for rounds of waiting loops that come to nothing. Then it keeps its properties if it keeps
/// them under SC, which is checked on the way.
#[derive(clap::Args, Debug)]
#[command(after_help = exit::ROBUST_HELP)]
pub(crate) struct Options {
    /// Programs; directories are searched for programs, `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Memory models: tso, pso
    #[arg(long, value_delimiter = ',', default_value = "tso", value_name = "MODEL,...")]
    model: Vec<String>,

    /// How to look for an answer
    #[arg(long, value_enum, default_value_t)]
    engine: By,

    /// Take all interleavings under SC with at most N preemptions, the fewest first; nothing is proved then
    #[arg(long, value_name = "N")]
    preemptions: Option<u32>,

    /// Find the cheapest fences that make the program robust
    #[arg(long)]
    infer: bool,

    /// How to print results
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Let "no violation up to N preemptions" count as success in the exit code
    #[arg(long)]
    accept_bounded: bool,

    /// Ask about this client (`ee|dd`), of the file or not; may be given several times
    #[arg(long, value_name = "TEXT")]
    client: Vec<String>,

    /// Write every run that is not sequentially consistent into this directory, for `fencepost replay`
    #[arg(long, value_name = "DIR")]
    trace_dir: Option<PathBuf>,

    /// Keep what was explored in this file, and go on from there; takes one program and one model
    #[arg(long, value_name = "FILE", conflicts_with = "infer")]
    resume: Option<PathBuf>,

    /// Show the run of every model, not only of the first
    #[arg(long)]
    all_traces: bool,

    /// Print verdicts only: no traces, advice or progress
    #[arg(long, short)]
    quiet: bool,

    #[command(flatten)]
    fences: Fences,

    #[command(flatten)]
    search: Search,
}

/// What `--infer` may place; as for `fencepost infer`.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "With --infer")]
struct Fences {
    /// Kinds that may be placed
    #[arg(long, value_delimiter = ',', value_parser = parse_kind, value_name = "KIND,...")]
    #[arg(requires = "infer")]
    fences: Vec<Dish>,

    /// What kinds cost
    #[arg(long, value_delimiter = ',', value_parser = parse_cost, value_name = "KIND=N,...")]
    #[arg(requires = "infer")]
    cost: Vec<(Dish, u32)>,

    /// List every cheapest placement
    #[arg(long, requires = "infer")]
    all: bool,

    /// Reconsider the fences that the program has, too
    #[arg(long, requires = "infer")]
    from_scratch: bool,

    /// Write the fences into the file
    #[arg(long, short, requires = "infer")]
    write: bool,

    /// Write the program with its fences into this file
    #[arg(long, short, value_name = "FILE", conflicts_with = "write", requires = "infer")]
    output: Option<PathBuf>,

    /// Show how the answer was found
    #[arg(long, requires = "infer")]
    explain: bool,
}

/// Asks about every program and model.
pub(crate) fn run(options: &Options, output: &mut Output) -> Exit {
    if options.preemptions.is_some() && options.engine == By::Attack {
        output.error("--preemptions is for --engine stateless; an attack has no such bound");
        return Exit::Unusable;
    }
    if options.infer {
        return run_infer(options, output);
    }
    if let Some(path) = &options.resume {
        if options.files.len() > 1 || options.model.len() > 1 {
            output.error("--resume is about one program and one model");
            return Exit::Unusable;
        }
        if options.preemptions.is_some() || options.engine == By::Attack {
            output.error("--resume is for --engine stateless, without --preemptions");
            return Exit::Unusable;
        }
        return resume::run(
            path,
            |engine, output| {
                check::run_with(&options.batch(), &options.search, engine, None, output)
            },
            output,
        );
    }
    let by = match (options.preemptions, options.engine) {
        (Some(most), _) => RobustBy::Preemptions(most),
        (None, By::Auto) => RobustBy::Auto,
        (None, By::Stateless) => RobustBy::Stateless,
        (None, By::Attack) => RobustBy::Attack,
    };
    let engine = Robust { by };
    check::run_with(&options.batch(), &options.search, &engine, None, output)
}

impl Options {
    /// What `check` does with another engine.
    fn batch(&self) -> Batch {
        Batch {
            files: self.files.clone(),
            models: self.model.clone(),
            clients: self.client.clone(),
            format: self.format,
            accept_bounded: self.accept_bounded,
            trace_dir: self.trace_dir.clone(),
            all_traces: self.all_traces,
            quiet: self.quiet,
            ..Batch::default()
        }
    }
}

/// Looks for fences.
fn run_infer(options: &Options, output: &mut Output) -> Exit {
    let ([file], [model]) = (&options.files[..], &options.model[..]) else {
        output.error("--infer is about one program and one model: choose the model with --model");
        return Exit::Unusable;
    };
    if options.preemptions.is_some() || options.engine != By::Auto {
        output.error("--infer chooses how to look by itself: leave out --engine and --preemptions");
        return Exit::Unusable;
    }
    let fences = &options.fences;
    let job = Job {
        file: file.clone(),
        models: vec![model.clone()],
        client: options.client.clone(),
        clients: None,
        repair: RepairOptions {
            verifier: EngineChoice::ROBUST,
            fences: fences.fences.clone(),
            costs: fences.cost.clone(),
            all: fences.all,
            from_scratch: fences.from_scratch,
            ..RepairOptions::default()
        },
        abstraction_without_fixpoint: false,
        write: fences.write,
        output: fences.output.clone(),
        explain: fences.explain,
        format: options.format,
        accept_bounded: options.accept_bounded,
        trace_dir: options.trace_dir.clone(),
        quiet: options.quiet,
        search: options.search,
    };
    infer::run_job(&job, output)
}
