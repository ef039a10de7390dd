//! `fencepost litmus generate`: tests from critical cycles.

use crate::exit::Exit;
use crate::input;
use crate::output::Output;
use crate::store::replace;
use fencepost_cycles::{Cycle, Edge, default_edges, generate};
use fencepost_report::paint::{counted, printable};
use std::path::PathBuf;

/// The longest cycles that are made: with all edges there are millions of longer ones.
const LONGEST: u64 = 12;

/// Make the litmus tests of all critical cycles up to a length
///
/// A cycle is a list of edges: program order to another location (PodRR, PodRW, PodWR, PodWW) or to the same one
/// (PosRR, ...), the same with a fence (MFencedWR, SFencedWW, LFencedRR, MFencesWR, ...), communication with another
/// thread (Rfe, Fre, Coe) or within one (Rfi, Fri, Coi), and exchanges (Exch). `*` stands for both R and W. Tests are
/// named as diy names them, and each is made once, whatever thread it begins with.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// How many edges a cycle has at most
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = clap::value_parser!(u64).range(2..=LONGEST))]
    length: u64,

    /// The edges that cycles are made of [default: Pod**, MFenced**, SFenced**, LFenced**, Rfe, Fre, Coe]
    #[arg(long, value_delimiter = ',', value_name = "EDGE,...")]
    edges: Vec<String>,

    /// Make the tests of these cycles only, written as in "PodWR Fre PodWR Fre"; may be given several times
    #[arg(long, value_name = "CYCLE", conflicts_with_all = ["length", "edges"])]
    cycle: Vec<String>,

    /// Write the tests into this folder, one file each, with a list `@all`
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Makes tests; without a folder for them, lists their names and cycles.
pub(super) fn run(options: &Options, output: &mut Output) -> Exit {
    let made = cycles(options).and_then(|cycles| {
        write(options, &cycles, output)?;
        Ok(cycles.len())
    });
    match made {
        Ok(0) => {
            output.error("no critical cycle is made of these edges and as short as that");
            Exit::Nothing
        }
        Ok(_) => Exit::Fine,
        Err(message) => {
            output.error(&message);
            Exit::Unusable
        }
    }
}

fn cycles(options: &Options) -> Result<Vec<Cycle>, String> {
    if !options.cycle.is_empty() {
        let cycle = |text: &String| {
            text.parse().map_err(|wrong| format!("--cycle {}: {wrong}", printable(text)))
        };
        return options.cycle.iter().map(cycle).collect();
    }
    let mut edges: Vec<Edge> = Vec::new();
    for name in &options.edges {
        let found = Edge::matching(name)
            .map_err(|wrong| format!("--edges {}: {wrong}", printable(name)))?;
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
    let Some(folder) = &options.output else {
        let width = cycles.iter().map(|cycle| cycle.name().len()).max().unwrap_or(0);
        for cycle in cycles {
            output.print(&format!("{:<width$}  {cycle}\n", cycle.name()));
        }
        return Ok(());
    };
    let told = |error| format!("cannot write into {}: {error}", input::shown(folder));
    std::fs::create_dir_all(folder).map_err(told)?;
    let mut list = String::new();
    for cycle in cycles {
        let file = format!("{}.litmus", cycle.name());
        replace(&folder.join(&file), cycle.test().as_bytes()).map_err(told)?;
        list.push_str(&file);
        list.push('\n');
    }
    replace(&folder.join("@all"), list.as_bytes()).map_err(told)?;
    output.message(&format!(
        "{} in {}\n",
        counted(cycles.len() as u64, "test"),
        input::shown(folder)
    ));
    Ok(())
}
