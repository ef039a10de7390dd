//! The command line.

use crate::exit;
use crate::memory_size::parse_size;
use clap::{Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use fencepost_models::Reductions;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// See what store buffers do to your program.
#[derive(Parser, Debug)]
#[command(version, about, after_help = exit::HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colour; `auto` is on a terminal, and heeds NO_COLOR and CLICOLOR
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Check(Check),
    Outcomes(Outcomes),
    Replay(Replay),
    Models(Models),
    Fmt(Fmt),
    Dump(Dump),
    /// Print a completion script for a shell
    Completions {
        /// Which shell
        shell: Shell,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum Format {
    #[default]
    Text,
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum EngineName {
    #[default]
    Explicit,
}

/// Check that programs keep their properties under memory models
#[derive(clap::Args, Debug)]
#[command(after_help = exit::HELP)]
pub(crate) struct Check {
    /// Programs to check; directories are searched for programs, `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Memory models, by name (see `fencepost models`) or by the path of a model file
    #[arg(long, value_delimiter = ',', default_value = "sc,tso,pso", value_name = "MODEL,...")]
    pub(crate) model: Vec<String>,

    /// How to look for an answer; `explicit` visits every reachable state
    #[arg(long, value_enum, default_value_t)]
    pub(crate) engine: EngineName,

    /// How to print results
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,

    /// Let "no violation with buffers up to N" count as success in the exit code
    #[arg(long)]
    pub(crate) accept_bounded: bool,

    /// Check only the client with this text (`ee|dd`)
    #[arg(long, value_name = "TEXT")]
    pub(crate) client: Option<String>,

    /// Write the trace of every violation into this directory, for `fencepost replay`
    #[arg(long, value_name = "DIR")]
    pub(crate) trace_dir: Option<PathBuf>,

    /// Show the trace of every violated model, not only of the first
    #[arg(long)]
    pub(crate) all_traces: bool,

    /// Show a run that reaches what a `final exists` asks for
    #[arg(long)]
    pub(crate) witness: bool,

    /// Print verdicts only: no traces, advice or progress
    #[arg(long, short)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) search: Search,
}

/// What a search may use, and how it goes about it.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Search")]
pub(crate) struct Search {
    /// Seconds for each program and model; 0 for no limit
    #[arg(long, default_value_t = 60.0, value_parser = parse_seconds, value_name = "SECONDS")]
    #[arg(allow_negative_numbers = true)]
    pub(crate) time: f64,

    /// Memory for the search (about), as in 512M or 4G [default: 60 % of the machine's]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) memory: Option<u64>,

    /// States to store at most, about
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..), value_name = "N")]
    pub(crate) max_states: Option<u64>,

    /// Largest bound on pending accesses to try (per thread; under PSO per thread and location)
    /// [default: 32; 128 for models with a window]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=4096), value_name = "N")]
    pub(crate) max_buffer: Option<u32>,

    /// Use exactly this bound on pending accesses instead of growing it
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=4096), value_name = "N")]
    #[arg(conflicts_with = "max_buffer")]
    pub(crate) buffer: Option<u32>,

    /// Search threads [default: one for each processor]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,

    /// Take every local statement as a step of its own
    #[arg(long)]
    pub(crate) no_fuse: bool,

    /// Keep the values of registers that are never read again
    #[arg(long)]
    pub(crate) no_dead: bool,

    /// Search without partial-order reduction
    #[arg(long)]
    pub(crate) no_por: bool,
}

impl Search {
    /// The reductions in use.
    pub(crate) fn reductions(&self) -> Reductions {
        Reductions { fuse: !self.no_fuse, clear_dead: !self.no_dead, partial_order: !self.no_por }
    }
}

/// List the outcomes of a program, and which models allow each
///
/// An outcome is what `observe` names (else what final conditions mention, else everything) in a
/// state where all threads have finished.
#[derive(clap::Args, Debug)]
pub(crate) struct Outcomes {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Memory models, by name or by the path of a model file
    #[arg(long, value_delimiter = ',', default_value = "sc,tso,pso,rmo", value_name = "MODEL,...")]
    pub(crate) model: Vec<String>,

    /// How to print results
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,

    /// Only the client with this text (`ee|dd`)
    #[arg(long, value_name = "TEXT")]
    pub(crate) client: Option<String>,

    #[command(flatten)]
    pub(crate) search: Search,
}

/// Re-execute a stored trace step by step
///
/// Exits with 0 when the trace replays and ends in the recorded violation, with 10 when it diverges.
#[derive(clap::Args, Debug)]
pub(crate) struct Replay {
    /// A trace written by `fencepost check --trace-dir`
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,

    /// How to print results
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// List the memory models and what each relaxes
#[derive(clap::Args, Debug)]
pub(crate) struct Models {
    /// How to print them
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Format programs in place
#[derive(clap::Args, Debug)]
pub(crate) struct Fmt {
    /// Programs to format; directories are searched for programs, `-` filters standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Change nothing; list the files that are not formatted and exit with 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,
}

/// Print what a program is made of, statement by statement
#[derive(clap::Args, Debug)]
pub(crate) struct Dump {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..1e9).contains(&seconds) => Ok(seconds),
        _ => Err("not a number of seconds".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Args::command().debug_assert();
    }
}
