//! `fencepost robust`: decides whether programs have only sequentially consistent behaviours.
//!
//! Runs `check` with the robustness engine, or with `--infer` runs `infer`.
//!
//! - [`resume`]: `--resume`, exploration in several runs.

mod resume;

use crate::args::{CPrograms, Format, Hangs, Search, parse_cost, parse_kind};
use crate::check::{self, Batch};
use crate::exit::{self, Exit};
use crate::infer::{self, Job, definition};
use crate::output::Output;
use clap::ValueEnum;
use fencepost::{EngineChoice, RepairOptions};
use fencepost_engines::{Robust, RobustMethod};
use fencepost_infer::fence_costs::FenceKind;
use std::path::PathBuf;

/// The method that decides robustness.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum By {
    /// Try the other methods one after the other
    #[default]
    Auto,
    /// Explore executions under SC one by one, one for each equivalence class of interleavings
    Stateless,
    /// Search for a thread that delays a store past one of its later loads, observably (TSO); loops
    /// need no bound
    Attack,
}

/// Check whether programs have only sequentially consistent behaviours under TSO or PSO
///
/// A program is robust if every run has the same happens-before relation as some run under
/// sequential consistency (SC). Failed iterations of spin loops count only with --strict. A robust
/// program satisfies its properties under TSO or PSO if it satisfies them under SC, which this command
/// checks as well.
#[derive(clap::Args, Debug)]
#[command(after_help = exit::ROBUST_HELP)]
pub(crate) struct Options {
    /// Programs; a directory means all programs in it, `-` means standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Memory models: tso, pso
    #[arg(long, value_delimiter = ',', default_value = "tso", value_name = "MODEL,...")]
    model: Vec<String>,

    /// The method that decides robustness; --help describes each
    #[arg(long, value_enum, default_value_t)]
    engine: By,

    /// Explore all interleavings under SC with at most N preemptions (switches away from a thread
    /// that could continue), fewest first; a proof only if no interleaving has more
    #[arg(long, value_name = "N")]
    preemptions: Option<u32>,

    /// Let each loop go back to its start at most N times for each time a thread enters it, and cut
    /// executions that go on. If some do, the verdict names the bound. Spin loops need no bound.
    /// Requires `--engine stateless`
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    unwind: Option<u32>,

    /// Count every read, also in failed iterations of spin loops (the definition of the papers)
    #[arg(long, conflicts_with = "resume")]
    strict: bool,

    /// Find the cheapest fences that make the program robust
    #[arg(long)]
    infer: bool,

    /// The output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Exit with 0 also if "no violation up to N preemptions" or "iterations of each loop" is the
    /// strongest result
    #[arg(long)]
    accept_bounded: bool,

    /// Check a library with this client instead of the clients in the file; repeatable. `ee|dd`
    /// means: one thread calls operation `e` twice, another thread calls `d` twice
    #[arg(long, value_name = "TEXT")]
    client: Vec<String>,

    #[command(flatten)]
    hangs: Hangs,

    #[command(flatten)]
    c: CPrograms,

    /// Write every run that is not sequentially consistent into this directory; `fencepost replay`
    /// reads it
    #[arg(long, value_name = "DIR")]
    trace_dir: Option<PathBuf>,

    /// Save an unfinished exploration to this file, and continue it if the file exists; requires
    /// exactly one program and one model
    #[arg(long, value_name = "FILE", conflicts_with = "infer")]
    resume: Option<PathBuf>,

    /// Show a run for every model that is not robust, not only for the first
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

/// The options of `--infer`, with the same meaning as for `fencepost infer`.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "With --infer")]
struct Fences {
    /// Fence kinds to choose from (see `fencepost infer --help`) [default: the kinds that have an
    /// effect under the model]
    #[arg(long, value_delimiter = ',', value_parser = parse_kind, value_name = "KIND,...")]
    #[arg(requires = "infer")]
    fences: Vec<FenceKind>,

    /// Costs of fence kinds, from 1 to 1000 [default: full=5, store_load=4, drain=3, others 2]
    #[arg(long, value_delimiter = ',', value_parser = parse_cost, value_name = "KIND=N,...")]
    #[arg(requires = "infer")]
    cost: Vec<(FenceKind, u32)>,

    /// List all placements of lowest cost, not only one
    #[arg(long, requires = "infer")]
    all: bool,

    /// Also reconsider the fences that are already in the program: remove or weaken those not
    /// needed
    #[arg(long, requires = "infer")]
    from_scratch: bool,

    /// Write the fences into the program file itself
    #[arg(long, short, requires = "infer")]
    write: bool,

    /// Write the program with its fences to this file
    #[arg(long, short, value_name = "FILE", conflicts_with = "write", requires = "infer")]
    output: Option<PathBuf>,

    /// Show how the answer was found: each placement tried, and the constraint learned from each
    /// violation
    #[arg(long, requires = "infer")]
    explain: bool,
}

/// Checks robustness of every program under every model.
pub(crate) fn run(options: &Options, output: &mut Output) -> Exit {
    if options.preemptions.is_some() && options.engine == By::Attack {
        output.error("--preemptions cannot be combined with --engine attack");
        return Exit::Unusable;
    }
    let is_stateless = options.engine == By::Stateless && options.preemptions.is_none();
    if options.unwind.is_some() && (!is_stateless || options.infer) {
        output.error("--unwind requires --engine stateless, without --preemptions and --infer");
        return Exit::Unusable;
    }
    if options.infer {
        return run_infer(options, output);
    }
    if let Some(path) = &options.resume {
        if options.files.len() > 1 || options.model.len() > 1 {
            output.error("--resume requires exactly one program and one model");
            return Exit::Unusable;
        }
        if options.preemptions.is_some() || options.engine == By::Attack {
            output.error("--resume requires --engine stateless or auto, without --preemptions");
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
        (Some(most), _) => RobustMethod::Preemptions(most),
        (None, By::Auto) => RobustMethod::Auto,
        (None, By::Stateless) => RobustMethod::Stateless,
        (None, By::Attack) => RobustMethod::Attack,
    };
    let engine = Robust { method: by, definition: definition(options.strict) };
    check::run_with(&options.batch(), &options.search, &engine, None, output)
}

impl Options {
    /// Returns the batch for `check`.
    fn batch(&self) -> Batch {
        Batch {
            files: self.files.clone(),
            models: self.model.clone(),
            clients: self.client.clone(),
            allow_hangs: self.hangs.allow_hangs,
            c: self.c.clone(),
            format: self.format,
            accept_bounded: self.accept_bounded,
            trace_dir: self.trace_dir.clone(),
            unwind: self.unwind,
            all_traces: self.all_traces,
            quiet: self.quiet,
            in_parallel: self.resume.is_none(),
            ..Batch::default()
        }
    }
}

/// Infers fences that make the program robust.
fn run_infer(options: &Options, output: &mut Output) -> Exit {
    let ([file], [model]) = (&options.files[..], &options.model[..]) else {
        output.error("--infer requires exactly one program and one model");
        return Exit::Unusable;
    };
    if options.preemptions.is_some() || options.engine != By::Auto {
        output.error("--infer cannot be combined with --engine or --preemptions");
        return Exit::Unusable;
    }
    let fences = &options.fences;
    let job = Job {
        file: file.clone(),
        models: vec![model.clone()],
        client: options.client.clone(),
        allow_hangs: options.hangs.allow_hangs,
        c: options.c.clone(),
        clients: None,
        repair: RepairOptions {
            verifier: EngineChoice::robust(definition(options.strict)),
            fences: fences.fences.clone(),
            costs: fences.cost.clone(),
            all: fences.all,
            from_scratch: fences.from_scratch,
            ..RepairOptions::default()
        },
        abstraction_without_fixpoint: false,
        abstraction_error: None,
        strict_without_robust: false,
        weaken: false,
        write: fences.write,
        output: fences.output.clone(),
        certificate: None,
        explain: fences.explain,
        format: options.format,
        accept_bounded: options.accept_bounded,
        trace_dir: options.trace_dir.clone(),
        dot: None,
        quiet: options.quiet,
        search: options.search,
    };
    infer::run_job(&job, output)
}
