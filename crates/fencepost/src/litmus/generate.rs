//! `fencepost litmus generate`: generates tests from critical cycles.

use crate::exit::Exit;
use crate::input;
use crate::output::Output;
use crate::store::replace;
use fencepost_cycles::{Cycle, Edge, default_edges, generate};
use fencepost_report::paint::{counted, printable};
use std::path::PathBuf;

/// The largest length of a cycle. With all edges, there are millions of longer cycles.
const MAX_LENGTH: u64 = 12;

/// Generate the litmus tests of all critical cycles up to a length
///
/// A cycle is a list of edges: program order to another location (PodRR, PodRW, PodWR, PodWW) or to
/// the same location (PosRR, ...), program order with a fence (MFencedWR, SFencedWW, LFencedRR,
/// MFencesWR, ...), communication with another thread (Rfe, Fre, Coe) or within a thread (Rfi, Fri,
/// Coi), and exchanges (Exch). `*` means both R and W. Tests have the names that diy gives them.
/// Rotations of a cycle give one test.
#[derive(clap::Args, Debug)]
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
}

/// Writes the tests into a directory, or lists their names and cycles.
pub(super) fn run(options: &Options, output: &mut Output) -> Exit {
    let generated = cycles(options).and_then(|cycles| {
        write(options, &cycles, output)?;
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
        Err(message) => {
            output.error(&message);
            Exit::Unusable
        }
    }
}

fn cycles(options: &Options) -> Result<Vec<Cycle>, String> {
    if !options.cycle.is_empty() {
        let cycle = |text: &String| {
            text.parse().map_err(|error| format!("--cycle {}: {error}", printable(text)))
        };
        return options.cycle.iter().map(cycle).collect();
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
    Ok(generate(options.length as usize, &edges))
}

fn write(options: &Options, cycles: &[Cycle], output: &mut Output) -> Result<(), String> {
    let Some(dir) = &options.output else {
        let width = cycles.iter().map(|cycle| cycle.name().len()).max().unwrap_or(0);
        for cycle in cycles {
            output.print(&format!("{:<width$}  {cycle}\n", cycle.name()));
        }
        return Ok(());
    };
    let message = |error| format!("cannot write into {}: {error}", input::display_path(dir));
    std::fs::create_dir_all(dir).map_err(message)?;
    let mut list = String::new();
    for cycle in cycles {
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
