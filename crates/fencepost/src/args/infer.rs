//! The options of `fencepost infer`.

use super::{Abstract, Format, Hangs, Search, Verifier, parse_cost, parse_kind, parse_order_cost};
use crate::args::CPrograms;
use crate::exit;
use clap::ValueEnum;
use fencepost_infer::fence_costs::FenceKind;
use fencepost_infer::order_candidates::OrderCosts;
use std::path::PathBuf;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum Method {
    /// Add fences to prevent one counterexample after the other; the result is the cheapest
    /// possible
    #[default]
    Lazy,
    /// The method of the papers: compute the orderings that avoid every error state, then enforce
    /// them on every path
    Fixpoint,
}

/// Find the cheapest fences that make a program correct under a memory model
#[derive(clap::Args, Debug)]
#[command(after_help = exit::INFER_HELP)]
pub(crate) struct Infer {
    /// The program; `-` means standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Memory models: names such as tso, pso and rmo (`fencepost models` lists them), or paths of
    /// model files; each model gets an answer of its own
    #[arg(long, value_delimiter = ',', default_value = "tso", value_name = "MODEL,...")]
    pub(crate) model: Vec<String>,

    /// The method that finds fences; --help describes each
    #[arg(long, value_enum, default_value_t)]
    pub(crate) method: Method,

    /// The engine that checks whether fences suffice; --help describes each
    #[arg(long, value_enum, default_value_t)]
    pub(crate) engine: Verifier,

    /// With --engine robust: every read counts, also in failed iterations of spin loops
    #[arg(long)]
    pub(crate) strict: bool,

    /// Fence kinds to choose from: full, store_store, store_load, load_load, load_store, drain; or
    /// acquire, release, mfence, sfence, lfence [default: the kinds that have an effect under the
    /// model]
    #[arg(long, value_delimiter = ',', value_parser = parse_kind, value_name = "KIND,...")]
    pub(crate) fences: Vec<FenceKind>,

    /// Costs of fence kinds, from 1 to 1000, such as full=10,store_store=1 [default: full=5,
    /// store_load=4, drain=3, others 2]
    #[arg(long, value_delimiter = ',', value_parser = parse_cost, value_name = "KIND=N,...")]
    pub(crate) cost: Vec<(FenceKind, u32)>,

    /// List all placements of lowest cost, not only one
    #[arg(long)]
    pub(crate) all: bool,

    /// Besides adding fences, make memory orders of accesses stronger where that is cheaper:
    /// `relaxed` becomes `acquire`, `release`, `acq_rel` or `seq_cst`. Only orders that the program
    /// writes as names can change. Default under `arm`, unless --fences is given
    #[arg(long, conflicts_with = "from_scratch")]
    pub(crate) strengthen: bool,

    /// Costs of the parts that a stronger order adds, from 1 to 1000 [default: acquire=1, release=1,
    /// seq_cst=2; the seq_cst part is the store-load fence after a store; under `arm`, it is the order
    /// of a load after release stores]
    #[arg(
        long,
        value_delimiter = ',',
        value_parser = parse_order_cost,
        value_name = "PART=N,...",
        requires = "strengthen"
    )]
    pub(crate) order_cost: Vec<(&'static str, u32)>,

    /// Instead of repairing the program, list the memory orders and fences that are stronger than
    /// all the models need, each verified; holds for these models only, not for compilers and other
    /// machines
    #[arg(
        long,
        conflicts_with_all = [
            "strengthen", "from_scratch", "method", "fences", "cost", "all", "forbid", "only_in",
            "certificate", "accept_bounded", "trace_dir", "dot",
        ]
    )]
    pub(crate) weaken: bool,

    /// Also reconsider the fences that are already in the program: remove or weaken those not
    /// needed
    #[arg(long)]
    pub(crate) from_scratch: bool,

    /// Put no fence before the statements on this line of the named file; repeatable
    #[arg(long, value_name = "LINE", value_delimiter = ',')]
    pub(crate) forbid: Vec<u32>,

    /// Put fences only into this procedure or thread; repeatable
    #[arg(long, value_name = "FUNCTION", value_delimiter = ',')]
    pub(crate) only_in: Vec<String>,

    /// Repair a library for this client instead of the clients in the file; repeatable. `ee|dd`
    /// means: one thread calls operation `e` twice, another thread calls `d` twice
    #[arg(long, value_name = "TEXT")]
    pub(crate) client: Vec<String>,

    #[command(flatten)]
    pub(crate) hangs: Hangs,

    #[command(flatten)]
    pub(crate) c: CPrograms,

    /// Repair a library for the clients in this file, one per line (`fencepost clients` prints such
    /// a file); `-` means standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) clients: Option<PathBuf>,

    /// Write the fences into the program file itself, and into the files that it includes
    #[arg(long, short)]
    pub(crate) write: bool,

    /// Write the program with its fences to this file
    #[arg(long, short, value_name = "FILE", conflicts_with = "write")]
    pub(crate) output: Option<PathBuf>,

    /// Write the proof that the fences suffice and that no cheaper ones do to this file;
    /// `fencepost certify` checks it. Requires one model: sc, tso or pso
    #[arg(long, value_name = "FILE", conflicts_with = "write")]
    pub(crate) certificate: Option<PathBuf>,

    /// Show how the answer was found: each placement tried, and the constraint learned from each
    /// violation
    #[arg(long)]
    pub(crate) explain: bool,

    /// The output format
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,

    /// Accept fences that are verified only "with buffers up to N": exit with 0, and write them
    #[arg(long)]
    pub(crate) accept_bounded: bool,

    /// Write the trace that each fence prevents into this directory; `fencepost replay` reads it
    #[arg(long, value_name = "DIR")]
    pub(crate) trace_dir: Option<PathBuf>,

    /// Write the states that may lead to an error into this directory, each with its avoid formula,
    /// as Graphviz files; requires `--method fixpoint` and a small program
    #[arg(long, value_name = "DIR")]
    pub(crate) dot: Option<PathBuf>,

    /// Print only the verdict and the changed lines: no traces, advice or progress
    #[arg(long, short)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) abstraction: Abstract,

    #[command(flatten)]
    pub(crate) search: Search,
}

impl Infer {
    /// Returns the costs of stronger orders.
    pub(crate) fn order_costs(&self) -> OrderCosts {
        let mut costs = OrderCosts::default();
        for (part, cost) in &self.order_cost {
            costs.set(part, *cost);
        }
        costs
    }
}
