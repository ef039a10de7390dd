//! `fencepost litmus generate`: generates tests from critical cycles.

use crate::args::{Limits, MEMORY_HELP};
use crate::exit::{self, Exit};
use crate::input;
use crate::output::Output;
use crate::session::Session;
use crate::store::replace;
use fencepost_cycles::{Cycle, Edge, default_edges, generate_while};
use fencepost_report::paint::{counted, printable};
use fencepost_report::verdict_line::limit_text;
use fencepost_search::{Cancel, Stop};
use std::path::PathBuf;

/// The largest length of a cycle. With all edges, there are millions of longer cycles.
const MAX_LENGTH: u64 = 12;

/// The approximate memory of a cycle: its edges, its name and its places in sets and lists.
const CYCLE_BYTES: u64 = 500;

/// Generate the litmus tests of all critical cycles up to a length
///
/// A cycle is a list of edges: program order to another location (PodRR, PodRW, PodWR, PodWW) or to
/// the same location (PosRR, ...), program order with a fence (MFencedWR, SFencedWW, LFencedRR,
/// MFencesWR, ...), communication with another thread (Rfe, Fre, Coe) or within a thread (Rfi, Fri,
/// Coi), and exchanges (Exch). `*` means both R and W. Tests have the names that diy gives them.
/// Rotations of a cycle give one test.
#[derive(clap::Args, Debug)]
#[command(after_help = exit::GENERATE_HELP)]
#[command(mut_arg("time", |time| {
    time.default_value("0").help("Limit on wall-clock time in seconds; 0 means no limit")
}))]
#[command(mut_arg("memory", |memory| memory.help(MEMORY_HELP)))]
pub(crate) struct Options {
    /// Maximal number of edges of a cycle
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = clap::value_parser!(u64).range(2..=MAX_LENGTH))]
    length: u64,

    /// The edges of the cycles [default: Pod**, MFenced**, SFenced**, LFenced**, Rfe, Fre, Coe]
    #[arg(long, value_delimiter = ',', value_name = "EDGE,...")]
    edges: Vec<String>,

    /// Generate only the test of this cycle, such as "PodWR Fre PodWR Fre"; repeatable
    #[arg(long, value_name = "CYCLE", conflicts_with_all = ["length", "edges"])]
    cycle: Vec<String>,

    /// Write the tests into this directory, one file each, with a list `@all` [default: print names
    /// and cycles]
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,

    #[command(flatten)]
    limits: Limits,
}

/// Why no tests, or not all tests, are generated.
enum Failure {
    /// An option or a file cannot be used, with a message.
    Unusable(String),
    /// A limit or Ctrl-C, and the number of tests that are written or listed.
    Stopped(Stop, usize),
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Failure::Unusable(message)
    }
}

/// Writes the tests into a directory, or lists their names and cycles.
pub(super) fn run(options: &Options, output: &mut Output) -> Exit {
    let session = Session::new(&options.limits, true);
    let (generated, _) = session.run("litmus tests", |budget| {
        let cycles = cycles(options, budget.cancel)?;
        write(options, &cycles, budget.cancel, output)?;
        Ok(cycles.len())
    });
    match generated {
        Ok(0) => {
            output.error(&format!(
                "these edges form no critical cycle up to length {}",
                options.length
            ));
            Exit::Nothing
        }
        Ok(_) => Exit::Success,
        Err(Failure::Unusable(message)) => {
            output.error(&message);
            Exit::Unusable
        }
        Err(Failure::Stopped(stop, done)) => {
            let done = counted(done as u64, "test");
            output.error(&format!(
                "{}: only {done} generated; choose a smaller --length or fewer --edges, or raise \
                 the limit",
                limit_text(stop)
            ));
            Exit::Inconclusive
        }
    }
}

fn cycles(options: &Options, cancel: &Cancel) -> Result<Vec<Cycle>, Failure> {
    if !options.cycle.is_empty() {
        let cycle = |text: &String| {
            text.parse().map_err(|error| format!("--cycle {}: {error}", printable(text)))
        };
        let cycles: Result<Vec<Cycle>, String> = options.cycle.iter().map(cycle).collect();
        return Ok(cycles?);
    }
    let mut edges: Vec<Edge> = Vec::new();
    for name in &options.edges {
        let found = Edge::matching(name)
            .map_err(|error| format!("--edges {}: {error}", printable(name)))?;
        for edge in found {
            if !edges.contains(&edge) {
                edges.push(edge);
            }
        }
    }
    if edges.is_empty() {
        edges = default_edges();
    }
    let most = options.limits.bytes() / CYCLE_BYTES;
    let may_continue = |found: usize| found as u64 <= most && cancel.reason().is_none();
    generate_while(options.length as usize, &edges, &may_continue)
        .ok_or_else(|| Failure::Stopped(cancel.reason().unwrap_or(Stop::Memory), 0))
}

fn write(
    options: &Options,
    cycles: &[Cycle],
    cancel: &Cancel,
    output: &mut Output,
) -> Result<(), Failure> {
    let stopped = |done: usize| match cancel.reason() {
        Some(stop) => Err(Failure::Stopped(stop, done)),
        None => Ok(()),
    };
    let Some(dir) = &options.output else {
        let width = cycles.iter().map(|cycle| cycle.name().len()).max().unwrap_or(0);
        for (at, cycle) in cycles.iter().enumerate() {
            stopped(at)?;
            output.print(&format!("{:<width$}  {cycle}\n", cycle.name()));
            if output.is_closed() {
                break;
            }
        }
        return Ok(());
    };
    let message = |error| format!("cannot write into {}: {error}", input::display_path(dir));
    std::fs::create_dir_all(dir).map_err(message)?;
    let mut list = String::new();
    for (at, cycle) in cycles.iter().enumerate() {
        stopped(at)?;
        let file = format!("{}.litmus", cycle.name());
        replace(&dir.join(&file), cycle.litmus_text().as_bytes()).map_err(message)?;
        list.push_str(&file);
        list.push('\n');
    }
    replace(&dir.join("@all"), list.as_bytes()).map_err(message)?;
    output.message(&format!(
        "{} written to {}\n",
        counted(cycles.len() as u64, "test"),
        input::display_path(dir)
    ));
    Ok(())
}
