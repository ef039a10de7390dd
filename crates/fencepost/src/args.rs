//! The command line: options, defaults and `--help` texts of every command.

mod bounds;
mod c_programs;
mod data_races;
mod hangs;
mod infer;
mod values;

use crate::exit;
use crate::litmus;
use crate::memory_size::{default_limit, parse_size};
use crate::monitor;
use crate::reproduce;
use crate::robust;
use crate::translate;
pub(crate) use bounds::Bounds;
pub(crate) use c_programs::CPrograms;
use clap::builder::PossibleValuesParser;
use clap::{Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
pub(crate) use data_races::DataRaceMode;
use fencepost_models::Reductions;
use fencepost_models::coherence::Domain;
pub(crate) use hangs::Hangs;
pub(crate) use infer::{Infer, Method};
use std::path::PathBuf;
pub(crate) use values::parse_seconds;
pub(crate) use values::{parse_cost, parse_kind, parse_order_cost};

/// The arguments of the program. `--help` shows the package description instead of this line.
#[derive(Parser, Debug)]
#[command(version, about, after_help = exit::HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to print in colour; `auto` means on a terminal, subject to the environment variables
    /// NO_COLOR and CLICOLOR
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
    /// Print a script that completes Fencepost commands and options in a shell
    #[command(after_help = exit::PRINT_HELP)]
    Completions {
        /// The shell to print the script for
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

/// The formats of a reproduced table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum TableFormat {
    #[default]
    Text,
    Json,
    Markdown,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum EngineName {
    /// Run `explicit`, `abstraction` and `automata` together: some search for a violation, others
    /// for a proof
    #[default]
    Auto,
    /// Visit every reachable state; if the number of pending stores is unbounded, only up to a
    /// bound (--max-buffer)
    Explicit,
    /// Prove programs for store buffers of any length (TSO, PSO) with an over-approximation; a run
    /// that the exact model does not have (a spurious run) makes the verdict inconclusive
    Abstraction,
    /// Decide programs exactly for store buffers of any length (TSO, PSO), with one finite
    /// automaton for the contents of each buffer; may not terminate
    Automata,
    /// Explore executions one by one without storing states (stateless model checking), one for
    /// each equivalence class of interleavings; TSO and PSO only if the program is robust
    Stateless,
    /// Simulate TSO or PSO by a sequentially consistent program, up to a number of context switches
    /// (--contexts, --delay)
    Translate,
}

/// The engine that checks whether fences suffice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum Verifier {
    /// The default engine of `fencepost check`
    #[default]
    Auto,
    /// Visit every reachable state; if the number of pending stores is unbounded, only up to a
    /// bound (--max-buffer)
    Explicit,
    /// Decide programs exactly for store buffers of any length (TSO, PSO), with one finite
    /// automaton for the contents of each buffer; may not terminate
    Automata,
    /// Add fences until the program is robust: it has only sequentially consistent behaviours (TSO,
    /// PSO)
    Robust,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum DomainName {
    /// The values that may be pending, without the most recent one; the baseline of the papers
    Set,
    /// Fully disjunctive: the values that are pending, and the most recent one
    #[default]
    Fd,
    /// Partially disjunctive: the values that may be pending, and the most recent one; fewer states
    /// than `fd`, less precise
    Pd,
}

impl DomainName {
    pub(crate) fn domain(self) -> Domain {
        match self {
            DomainName::Set => Domain::Set,
            DomainName::Fd => Domain::Full,
            DomainName::Pd => Domain::Partial,
        }
    }
}

/// The precision of the abstraction of store buffers.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Abstraction")]
pub(crate) struct Abstract {
    /// What the abstraction keeps of the stores in a buffer besides its N oldest (see --k)
    /// [default: fd]
    #[arg(long, value_enum, value_name = "DOMAIN")]
    pub(crate) domain: Option<DomainName>,

    /// Keep the N oldest stores of each buffer exactly, in order [default: 1; the domain `set`
    /// keeps none]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=64))]
    pub(crate) k: Option<u32>,
}

impl Abstract {
    /// Whether any of these options is on the command line.
    pub(crate) fn is_given(&self) -> bool {
        self.domain.is_some() || self.k.is_some()
    }

    /// Returns the domain and `k`, or their defaults. The error is a message about `--k`.
    pub(crate) fn choice(&self) -> Result<(Domain, u32), String> {
        let domain = self.domain.unwrap_or_default();
        match (domain, self.k) {
            (DomainName::Set, Some(1..)) => Err(
                "--k must be 0 with --domain set, which keeps no order of stores: omit --k, or \
                     use --domain fd or pd"
                    .into(),
            ),
            (DomainName::Set, Some(0) | None) => Ok((domain.domain(), 0)),
            (DomainName::Fd | DomainName::Pd, k) => Ok((domain.domain(), k.unwrap_or(1))),
        }
    }
}

/// Check whether the properties of programs hold under memory models
#[derive(clap::Args, Debug)]
#[command(after_help = exit::HELP)]
pub(crate) struct Check {
    /// Programs to check; a directory means all programs in it, `-` means standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Memory models: names such as sc, tso, pso and rmo (`fencepost models` lists them), or paths
    /// of model files
    #[arg(long, value_delimiter = ',', default_value = "sc,tso,pso", value_name = "MODEL,...")]
    pub(crate) model: Vec<String>,

    /// The method that decides whether the properties hold; --help describes each
    #[arg(long, value_enum, default_value_t)]
    pub(crate) engine: EngineName,

    /// The output format
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,

    /// Exit with 0 also if "no violation with buffers up to N" is the strongest result
    #[arg(long)]
    pub(crate) accept_bounded: bool,

    /// Check a library with this client instead of the clients in the file; repeatable. `ee|dd`
    /// means: one thread calls operation `e` twice, another thread calls `d` twice
    #[arg(long, value_name = "TEXT")]
    pub(crate) client: Vec<String>,

    #[command(flatten)]
    pub(crate) hangs: Hangs,

    /// Write the trace of every violation into this directory; `fencepost replay` reads it
    #[arg(long, value_name = "DIR")]
    pub(crate) trace_dir: Option<PathBuf>,

    /// Write a certificate of a verified program to this file; `fencepost certify` checks it.
    /// Requires exactly one program and one model
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate: Option<PathBuf>,

    /// Explore all interleavings with at most N preemptions (switches away from a thread that could
    /// continue) instead of one execution for each equivalence class; requires `--engine stateless`
    #[arg(long, value_name = "N")]
    pub(crate) preemptions: Option<u32>,

    /// Let each loop go back to its start at most N times for each time a thread enters it, and cut
    /// executions that go on. If some do, the verdict names the bound. Spin loops need no bound.
    /// Requires `--engine stateless`
    #[arg(long, value_name = "N")]
    pub(crate) unwind: Option<u32>,

    /// Write the possible contents of each thread's store buffer at each statement into this
    /// directory, as Graphviz files; requires `--engine automata`
    #[arg(long, value_name = "DIR")]
    pub(crate) dot: Option<PathBuf>,

    /// What a data race of a C program is; --help describes each
    #[arg(long, value_enum, default_value_t, value_name = "MODE")]
    pub(crate) data_races: DataRaceMode,

    /// Show a trace for every violated model, not only for the first
    #[arg(long)]
    pub(crate) all_traces: bool,

    /// Show a run that reaches the condition of a `final exists`
    #[arg(long)]
    pub(crate) witness: bool,

    /// Print verdicts only: no traces, advice or progress
    #[arg(long, short)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) abstraction: Abstract,

    /// Abstract the values of locations that grow without bound: keep the listed values and treat
    /// all others as one value, `many`; repeatable. For example: 'count: {0, 1, many}',
    /// 'a, b: {0..4, many}'. Overflow of these values is not checked. For SC, TSO and PSO
    #[arg(long = "abstract", value_name = "VALUES")]
    pub(crate) values: Vec<String>,

    #[command(flatten)]
    pub(crate) bound: Bounds,

    #[command(flatten)]
    pub(crate) c: CPrograms,

    #[command(flatten)]
    pub(crate) search: Search,
}

/// The help of `--memory` for work that is not a search.
pub(crate) const MEMORY_HELP: &str = "Approximate memory limit, such as 512M or 4G [default: 60 % of \
                                      the machine's memory]";

/// The limits on time and memory.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Limit on wall-clock time for each program and model, in seconds; 0 means no limit
    #[arg(long, default_value_t = 60.0, value_parser = parse_seconds, value_name = "SECONDS")]
    #[arg(allow_negative_numbers = true)]
    pub(crate) time: f64,

    /// Approximate memory limit of the search, such as 512M or 4G [default: 60 % of the machine's
    /// memory]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    memory: Option<u64>,
}

impl Limits {
    /// Returns the memory limit in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.memory.unwrap_or_else(default_limit)
    }
}

/// The limits and reductions of a search.
#[derive(clap::Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Search")]
pub(crate) struct Search {
    #[command(flatten)]
    pub(crate) limits: Limits,

    /// Approximate limit on the number of stored states [default: no limit]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..), value_name = "N")]
    pub(crate) max_states: Option<u64>,

    /// Largest bound on pending accesses to try: per thread, and under PSO per thread and location
    /// [default: 32; 128 for RMO and table models]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=4096), value_name = "N")]
    pub(crate) max_buffer: Option<u32>,

    /// Use exactly this bound on pending accesses instead of increasing it step by step
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=4096), value_name = "N")]
    #[arg(conflicts_with = "max_buffer")]
    pub(crate) buffer: Option<u32>,

    /// Number of threads that search, at most 256 [default: one per processor]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=256), value_name = "N")]
    pub(crate) threads: Option<u32>,

    /// Do not merge local statements with the statement before them; more states, same verdict
    #[arg(long)]
    pub(crate) no_fuse: bool,

    /// Do not clear registers that are never read again; more states, same verdict
    #[arg(long)]
    pub(crate) no_dead: bool,

    /// Do not use partial-order reduction; more states, same verdict
    #[arg(long)]
    pub(crate) no_por: bool,

    /// Do not execute accesses that nobody can observe with the step before them; more states, same
    /// verdict
    #[arg(long)]
    pub(crate) no_quiet: bool,

    /// Do not replace values of registers by equal ones; more states, same verdict
    #[arg(long)]
    pub(crate) no_equal: bool,

    /// Do not use thread symmetry; more states, same verdict
    #[arg(long)]
    pub(crate) no_symmetry: bool,
}

impl Search {
    /// Returns the reductions that are not switched off.
    pub(crate) fn reductions(&self) -> Reductions {
        Reductions {
            fuse: !self.no_fuse,
            clear_dead: !self.no_dead,
            partial_order: !self.no_por,
            useful_guesses: !self.no_por,
            quiet_accesses: !self.no_por && !self.no_quiet,
            equal_values: !self.no_por && !self.no_quiet && !self.no_equal,
            symmetry: !self.no_symmetry,
        }
    }
}

/// List the clients of a library up to a size, one per line
///
/// A client is a test of a library: it says which operations each thread calls. `ee|dd` has two
/// threads; one calls operation `e` twice, the other calls `d` twice. `e(ed|d)` calls `e` first,
/// before the threads start. Clients that differ only in the order of their threads are listed
/// once.
#[derive(clap::Args, Debug)]
#[command(after_help = exit::CLIENTS_HELP)]
pub(crate) struct Clients {
    /// The library; `-` means standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Number of threads of each client
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) threads: usize,

    /// Maximal number of operations before the threads start
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) init: usize,

    /// Maximal number of operations of all threads together
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) ops: usize,

    /// Maximal number of clients to list
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) limit: usize,

    /// The output format
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Recompute a table of a published paper and compare the results
#[derive(clap::Args, Debug)]
#[command(after_help = reproduce::HELP)]
#[command(mut_arg("time", |time| time.help("Limit on wall-clock time for each row, in seconds; 0 means no limit")))]
pub(crate) struct Reproduce {
    /// The table: `fender` is fence inference [KVY10], `blender` is proofs and inference with
    /// abstractions [KVY11], `automata` is exact search with buffer automata [LW10], `sober` is
    /// monitoring of interleavings [BM08], `pso-to-sc` is translation to SC [Zac]
    #[arg(value_parser = PossibleValuesParser::new(reproduce::names()))]
    pub(crate) table: String,

    /// Compute only the rows of algorithms whose name contains this text
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Option<String>,

    /// The output format
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: TableFormat,

    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) search: Search,
}

/// List the outcomes of a program and the models that allow each
///
/// An outcome is the values of some variables when all threads have finished. The variables are
/// those that `observe` names. Without `observe`, they are those in final conditions. Without
/// either, all variables.
#[derive(clap::Args, Debug)]
#[command(after_help = exit::OUTCOMES_HELP)]
pub(crate) struct Outcomes {
    /// The program; `-` means standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Memory models: names such as sc, tso, pso and rmo (`fencepost models` lists them), or paths
    /// of model files
    #[arg(long, value_delimiter = ',', default_value = "sc,tso,pso,rmo", value_name = "MODEL,...")]
    pub(crate) model: Vec<String>,

    /// The output format
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,

    /// Run a library with this client, such as `ee|dd`, instead of the clients in the file
    #[arg(long, value_name = "TEXT")]
    pub(crate) client: Option<String>,

    #[command(flatten)]
    pub(crate) c: CPrograms,

    #[command(flatten)]
    pub(crate) search: Search,
}

/// Re-execute a stored trace step by step
#[derive(clap::Args, Debug)]
#[command(after_help = exit::REPLAY_HELP)]
pub(crate) struct Replay {
    /// A trace file written with --trace-dir
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,

    /// The output format
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Check a certificate that a program is correct, independently of the search that produced it
///
/// A certificate is a set of abstract states. The checker is small and separate from the search. It
/// checks that the set contains the initial states, that no step leads out of the set, and that no
/// state in it violates a property.
///
/// A certificate of `fencepost infer` also proves that no cheaper fences suffice. Its program is
/// the one without these fences. The checker follows violating runs of the program with fences,
/// and computes the cost of the cheapest fences that prevent all of them.
#[derive(clap::Args, Debug)]
#[command(after_help = exit::CERTIFY_HELP)]
#[command(mut_arg("time", |time| {
    time.default_value("0").help("Limit on wall-clock time in seconds; 0 means no limit")
}))]
#[command(mut_arg("memory", |memory| memory.help(MEMORY_HELP)))]
pub(crate) struct Certify {
    /// A certificate written by `fencepost check --certificate` or `fencepost infer --certificate`
    #[arg(value_name = "CERTIFICATE")]
    pub(crate) certificate: PathBuf,

    /// The program that the certificate is about
    #[arg(value_name = "PROGRAM")]
    pub(crate) program: PathBuf,

    /// The client that the certificate is about, such as `ee|dd`, if it is not one of the file;
    /// repeatable for a certificate of `fencepost infer`
    #[arg(long, value_name = "TEXT")]
    pub(crate) client: Vec<String>,

    #[command(flatten)]
    pub(crate) hangs: Hangs,

    /// The output format
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) c: CPrograms,

    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// List the memory models and the reorderings that each allows
#[derive(clap::Args, Debug)]
#[command(after_help = exit::PRINT_HELP)]
pub(crate) struct Models {
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Format programs in place
#[derive(clap::Args, Debug)]
#[command(after_help = exit::FMT_HELP)]
pub(crate) struct Fmt {
    /// Programs to format; a directory means all programs in it, `-` formats standard input to
    /// standard output
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Change nothing; list the files that are not formatted, and exit with 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,
}

/// Print the intermediate representation of a program, statement by statement
#[derive(clap::Args, Debug)]
#[command(after_help = exit::PRINT_HELP)]
pub(crate) struct Dump {
    /// The program; `-` means standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) c: CPrograms,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn command_line_definition_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn the_help_of_every_command_has_exit_codes() {
        fn check(command: &mut clap::Command) -> usize {
            let name = command.get_name().to_string();
            for help in [command.render_help(), command.render_long_help()] {
                let help = help.to_string();
                assert!(help.contains("\nExit codes:\n   0  "), "{name}: {help}");
                assert!(help.contains("\n   6  an internal error"), "{name}: {help}");
            }
            // `help` is a command of clap.
            let own = |command: &&mut clap::Command| command.get_name() != "help";
            1 + command.get_subcommands_mut().filter(own).map(check).sum::<usize>()
        }
        let mut commands = Args::command();
        assert!(check(&mut commands) > 15);
    }
}
