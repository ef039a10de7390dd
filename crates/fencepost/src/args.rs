//! The command line.

use crate::exit;
use crate::litmus;
use crate::memory_size::parse_size;
use crate::monitor;
use crate::reproduce;
use crate::robust;
use crate::translate;
use clap::builder::PossibleValuesParser;
use clap::{Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use fencepost_infer::menu::Dish;
use fencepost_models::Reductions;
use fencepost_models::coherence::Domain;
use fencepost_translate::contexts::Bound;
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
    Infer(Infer),
    Robust(robust::Options),
    Translate(translate::Options),
    Litmus(litmus::Options),
    Outcomes(Outcomes),
    Clients(Clients),
    Reproduce(Reproduce),
    Replay(Replay),
    Monitor(monitor::Options),
    Certify(Certify),
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
    /// The others side by side: hunts for a violation and tries to prove that there is none
    #[default]
    Auto,
    /// Visits every reachable state; where buffers grow without end, up to a bound
    Explicit,
    /// Proves programs for store buffers of any length (TSO, PSO); what it finds may be spurious
    Abstraction,
    /// Exact for store buffers of any length (TSO, PSO), as regular languages; may not end
    Automata,
    /// Runs under SC one after the other, one for each trace; for TSO and PSO if the program is robust
    Stateless,
    /// Simulates TSO and PSO by a program under SC, up to a number of context switches (--contexts, --delay)
    Translate,
}

/// What fences are checked with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum Verifier {
    /// All that `check` has
    #[default]
    Auto,
    /// Visits every reachable state; where buffers grow without end, up to a bound
    Explicit,
    /// Exact for store buffers of any length (TSO, PSO), as regular languages; may not end
    Automata,
    /// Until the program is robust: every run is one of sequential consistency (TSO, PSO)
    Robust,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum DomainName {
    /// Values only, not even which was stored last: the papers' baseline
    Set,
    /// Fully disjunctive: which values are pending
    #[default]
    Fd,
    /// Partially disjunctive: which values may be pending; fewer states, coarser
    Pd,
}

impl DomainName {
    /// The domain of this name.
    pub(crate) fn domain(self) -> Domain {
        match self {
            DomainName::Set => Domain::Set,
            DomainName::Fd => Domain::Full,
            DomainName::Pd => Domain::Partial,
        }
    }
}

/// What an abstraction keeps of a store buffer.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Abstraction")]
pub(crate) struct Abstract {
    /// What is kept of a buffer behind its oldest stores
    #[arg(long, value_enum, value_name = "DOMAIN")]
    pub(crate) domain: Option<DomainName>,

    /// How many of the oldest stores of a buffer are kept in order [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=64))]
    pub(crate) k: Option<u32>,
}

impl Abstract {
    /// Whether any of it was asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.domain.is_some() || self.k.is_some()
    }

    /// The domain and the number, or the defaults.
    pub(crate) fn choice(&self) -> (Domain, u32) {
        (self.domain.unwrap_or_default().domain(), self.k.unwrap_or(1))
    }
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

    /// How to look for an answer
    #[arg(long, value_enum, default_value_t)]
    pub(crate) engine: EngineName,

    /// How to print results
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,

    /// Let "no violation with buffers up to N" count as success in the exit code
    #[arg(long)]
    pub(crate) accept_bounded: bool,

    /// Check this client (`ee|dd`), of the file or not; may be given several times
    #[arg(long, value_name = "TEXT")]
    pub(crate) client: Vec<String>,

    /// Write the trace of every violation into this directory, for `fencepost replay`
    #[arg(long, value_name = "DIR")]
    pub(crate) trace_dir: Option<PathBuf>,

    /// Write a certificate of the verified program, for `fencepost certify`; takes one program and one
    /// model
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate: Option<PathBuf>,

    /// Take all interleavings with at most N preemptions instead of one run for each trace; takes `--engine
    /// stateless`
    #[arg(long, value_name = "N")]
    pub(crate) preemptions: Option<u32>,

    /// Write into this directory what each thread's buffer can hold at each statement, for Graphviz; takes
    /// `--engine automata`
    #[arg(long, value_name = "DIR")]
    pub(crate) dot: Option<PathBuf>,

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
    pub(crate) abstraction: Abstract,

    #[command(flatten)]
    pub(crate) bound: Bounds,

    #[command(flatten)]
    pub(crate) search: Search,
}

/// Which runs of a store-buffer model are simulated under SC.
#[derive(clap::Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Translation")]
pub(crate) struct Bounds {
    /// At most K context switches of each thread (its contexts are one more) [default: 2]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) contexts: Option<u32>,

    /// Any number of context switches, but every store is pending for at most K of its thread
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=1000))]
    #[arg(conflicts_with = "contexts")]
    pub(crate) delay: Option<u32>,
}

impl Bounds {
    /// The option that was given, if any.
    pub(crate) fn given(&self) -> Option<&'static str> {
        match (self.contexts, self.delay) {
            (Some(_), _) => Some("--contexts"),
            (None, Some(_)) => Some("--delay"),
            (None, None) => None,
        }
    }

    /// The bound, or the default.
    pub(crate) fn bound(&self) -> Bound {
        match self.delay {
            Some(k) => Bound::Ages(k),
            None => Bound::Switches(self.contexts.unwrap_or(2)),
        }
    }
}

/// What a search may use, and how it goes about it.
#[derive(clap::Args, Clone, Copy, Debug)]
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

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum Method {
    /// Learn from violations; the cheapest fences under the model
    #[default]
    Lazy,
    /// The papers' way: orderings that avoid every error state, enforced on every path
    Fixpoint,
}

/// Find the cheapest fences that make a program right under a memory model
#[derive(clap::Args, Debug)]
#[command(after_help = exit::INFER_HELP)]
pub(crate) struct Infer {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Memory models, by name (see `fencepost models`) or by the path of a model file; each is answered for
    /// itself
    #[arg(long, value_delimiter = ',', default_value = "tso", value_name = "MODEL,...")]
    pub(crate) model: Vec<String>,

    /// How to find fences
    #[arg(long, value_enum, default_value_t)]
    pub(crate) method: Method,

    /// How to check that fences are enough
    #[arg(long, value_enum, default_value_t)]
    pub(crate) engine: Verifier,

    /// Kinds that may be placed: full, store_store, store_load, load_load, load_store, drain; or acquire,
    /// release, mfence, sfence, lfence [default: the fences that make a difference under the model]
    #[arg(long, value_delimiter = ',', value_parser = parse_kind, value_name = "KIND,...")]
    pub(crate) fences: Vec<Dish>,

    /// What kinds cost, from 1 to 1000 [default: full=5, store_load=4, drain=3, others 2]
    #[arg(long, value_delimiter = ',', value_parser = parse_cost, value_name = "KIND=N,...")]
    pub(crate) cost: Vec<(Dish, u32)>,

    /// List every cheapest placement
    #[arg(long)]
    pub(crate) all: bool,

    /// Reconsider the fences that the program has, too
    #[arg(long)]
    pub(crate) from_scratch: bool,

    /// Put no fence before what is on this line; may be given several times
    #[arg(long, value_name = "LINE", value_delimiter = ',')]
    pub(crate) forbid: Vec<u32>,

    /// Put fences into this procedure or thread template only; may be given several times
    #[arg(long, value_name = "FUNCTION", value_delimiter = ',')]
    pub(crate) only_in: Vec<String>,

    /// Repair for this client (`ee|dd`), of the file or not; may be given several times
    #[arg(long, value_name = "TEXT")]
    pub(crate) client: Vec<String>,

    /// Repair for the clients in this file, one on each line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) clients: Option<PathBuf>,

    /// Write the fences into the file
    #[arg(long, short)]
    pub(crate) write: bool,

    /// Write the program with its fences into this file
    #[arg(long, short, value_name = "FILE", conflicts_with = "write")]
    pub(crate) output: Option<PathBuf>,

    /// Show how the answer was found: what was tried, and what each violation teaches
    #[arg(long)]
    pub(crate) explain: bool,

    /// How to print results
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,

    /// Let fences that are enough "with buffers up to N" count as success, and write them
    #[arg(long)]
    pub(crate) accept_bounded: bool,

    /// Write the trace that each fence prevents into this directory, for `fencepost replay`
    #[arg(long, value_name = "DIR")]
    pub(crate) trace_dir: Option<PathBuf>,

    /// Print the verdict and the change only: no traces, advice or progress
    #[arg(long, short)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) abstraction: Abstract,

    #[command(flatten)]
    pub(crate) search: Search,
}

/// List the clients of a library up to a size, one on each line
///
/// Clients that differ only by the order of threads are listed once.
#[derive(clap::Args, Debug)]
pub(crate) struct Clients {
    /// The library; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// How many threads each has
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) threads: usize,

    /// How many operations come first, before the threads, at most
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) init: usize,

    /// How many operations the threads have together, at most
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) ops: usize,

    /// How many clients to list, at most
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) limit: usize,

    /// How to print them
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Compute a table of a paper again, its figures beside ours
#[derive(clap::Args, Debug)]
#[command(after_help = reproduce::HELP, mut_arg("time", |time| time.help("Seconds for each row; 0 for no limit")))]
pub(crate) struct Reproduce {
    /// Which table: `fender` is fence inference by FENDER, `blender` proofs and inference by BLENDER,
    /// `automata` exact search with buffer automata
    #[arg(value_parser = PossibleValuesParser::new(reproduce::names()))]
    pub(crate) table: String,

    /// Only the rows of algorithms whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Option<String>,

    /// How to print the table
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,

    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) search: Search,
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

    /// Only this client (`ee|dd`), of the file or not
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

/// Check a certificate: that a program was verified, without trusting the search
///
/// The checker is small and separate: it takes every state of the certificate and sees that the initial
/// states are there, that no step leads out of it, and that none is wrong. Exits with 0 when it proves the
/// program right under the model it names, with 10 when it does not.
#[derive(clap::Args, Debug)]
pub(crate) struct Certify {
    /// A certificate written by `fencepost check --certificate`
    #[arg(value_name = "CERTIFICATE")]
    pub(crate) certificate: PathBuf,

    /// The program
    #[arg(value_name = "PROGRAM")]
    pub(crate) program: PathBuf,

    /// The certificate may be about this client (`ee|dd`), which the file need not have
    #[arg(long, value_name = "TEXT")]
    pub(crate) client: Option<String>,

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

pub(crate) fn parse_kind(text: &str) -> Result<Dish, String> {
    Dish::by_name(text.trim()).ok_or_else(|| {
        let own = Dish::ALL.into_iter().map(Dish::name);
        let known: Vec<String> = own.chain(Dish::OTHER_NAMES.map(String::from)).collect();
        format!("there is no such kind; there are {}", known.join(", "))
    })
}

pub(crate) fn parse_cost(text: &str) -> Result<(Dish, u32), String> {
    let (kind, cost) = text.split_once('=').ok_or("a cost is written as in full=5")?;
    let kind = parse_kind(kind)?;
    match cost.trim().parse::<u32>() {
        Ok(cost @ 1..=1000) => Ok((kind, cost)),
        Ok(_) | Err(_) => Err("a cost is a number from 1 to 1000".into()),
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
