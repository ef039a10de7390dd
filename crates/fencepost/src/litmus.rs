//! `fencepost litmus`: litmus tests in herd's format.
//!
//! - [`mod@collect`]: from paths to files: folders and lists.
//! - [`mod@run`]: many tests on all cores, each within its limits.
//! - [`convert`]: `--to fp`; [`generate`]: tests from critical cycles.

mod collect;
mod convert;
mod generate;
mod run;

use crate::args::Search;
use crate::exit::{self, Exit};
use crate::input;
use crate::output::Output;
use crate::session::Session;
use clap::ValueEnum;
use collect::{Collected, collect};
use fencepost_models::ModelSpec;
use fencepost_report::litmus::block::{block, warning};
use fencepost_report::litmus::expect::{Compared, Records};
use fencepost_report::litmus::json::LitmusReport;
use fencepost_report::litmus::table::{Totals, table};
use fencepost_report::litmus::{Entry, Ran};
use fencepost_report::paint::counted;
use std::path::PathBuf;
use std::time::Instant;

/// How results are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum LitmusFormat {
    /// As herd prints them; takes one model
    Herd,
    /// A row for each test, a column for each model
    Table,
    /// For programs
    Json,
}

/// A language to convert to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Language {
    /// Ours
    Fp,
}

/// Run litmus tests in herd's format (.litmus: X86, X86_64, C)
///
/// Every state that a test can end in, under each model. Loops are decided, not unrolled.
#[derive(clap::Args, Debug)]
#[command(after_help = exit::LITMUS_HELP)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    other: Option<Other>,

    /// Tests: files, folders, `@FILE` for a list of them, `-` for standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Memory models, by name (see `fencepost models`) or by the path of a model file
    #[arg(long, value_delimiter = ',', default_value = "sc,tso,pso,rmo", value_name = "MODEL,...")]
    model: Vec<String>,

    /// How to print results [default: herd for one model, table for several]
    #[arg(long, value_enum)]
    format: Option<LitmusFormat>,

    /// Compare with what is recorded in these files (tables, or logs of herd), and print only differences
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "format")]
    expect: Vec<PathBuf>,

    /// Write the tests in this language instead of running them
    #[arg(long, value_enum, value_name = "LANGUAGE", conflicts_with_all = ["format", "expect"])]
    to: Option<Language>,

    /// With --to: write into this file; into this folder, if there are several tests
    #[arg(long, short, value_name = "PATH", requires = "to")]
    output: Option<PathBuf>,

    /// Print no lines `Time`, which differ from run to run
    #[arg(long)]
    no_times: bool,

    /// Show no progress and no totals
    #[arg(long, short)]
    quiet: bool,

    #[command(flatten)]
    search: Search,
}

#[derive(clap::Subcommand, Debug)]
enum Other {
    Generate(generate::Options),
}

/// Runs litmus tests.
pub(crate) fn run(options: &Options, output: &mut Output) -> Exit {
    if let Some(Other::Generate(options)) = &options.other {
        return generate::run(options, output);
    }
    let models = match input::models(&options.model) {
        Ok(models) => models,
        Err(wrong) => {
            wrong.iter().for_each(|message| output.error(message));
            return Exit::Unusable;
        }
    };
    let Collected { files, wrong, .. } = collect(&options.paths);
    wrong.iter().for_each(|message| output.error(message));
    let exit = if wrong.is_empty() { Exit::Fine } else { Exit::Unusable };
    if files.is_empty() {
        if wrong.is_empty() {
            output.error("there are no litmus tests (files that end in .litmus) there");
        }
        return exit.and(Exit::Nothing);
    }
    if options.to.is_some() {
        return exit.and(convert::run(&files, options.output.as_deref(), output));
    }
    match execute(options, &models, &files, output) {
        Ok(ended) => exit.and(ended),
        Err(message) => {
            output.error(&message);
            Exit::Unusable
        }
    }
}

/// The error is what to say.
fn execute(
    options: &Options,
    models: &[ModelSpec],
    files: &[PathBuf],
    output: &mut Output,
) -> Result<Exit, String> {
    let usual = if models.len() == 1 { LitmusFormat::Herd } else { LitmusFormat::Table };
    let format = options.format.unwrap_or(usual);
    if format == LitmusFormat::Herd && models.len() > 1 {
        return Err("--format herd takes one model: what herd prints does not name it".into());
    }
    let mut records = Records::default();
    for path in &options.expect {
        let told = |error| format!("cannot read {}: {error}", input::shown(path));
        let text = std::fs::read_to_string(path).map_err(told)?;
        records.read(&text).map_err(|wrong| format!("{}: {wrong}", input::shown(path)))?;
    }
    let compares = !options.expect.is_empty();
    let session = Session::new(&options.search, options.quiet);
    let started = Instant::now();
    let mut exit = Exit::Fine;
    let mut entries: Vec<Entry> = Vec::new();
    let mut comparison = Comparison::default();
    let paint = output.paint_messages;
    let runner = run::Runner { models, search: &options.search, session: &session, paint };
    runner.run(files, |finished| {
        // What comes after the reader has gone was only cut short.
        if output.is_closed() {
            return false;
        }
        output.message(&finished.said);
        exit = exit.and(finished.exit);
        if let Entry::Ran(ran) = &finished.entry {
            if compares {
                comparison.add(ran, &records, output);
            } else {
                told_of(ran, output);
                let seen = ran.models.iter().filter_map(|(_, seen)| seen.as_ref().ok());
                for seen in seen.filter(|_| format == LitmusFormat::Herd) {
                    output.print(&block(ran, seen, !options.no_times));
                }
            }
        }
        entries.push(finished.entry);
        !output.is_closed()
    });
    let totals = Totals::of(&entries);
    let left = (files.len() - entries.len()) as u64;
    if left > 0 && session.interrupted() && !output.is_closed() {
        output.message(&format!("interrupted: {} not run\n", counted(left, "test")));
        exit = exit.and(Exit::Inconclusive);
    }
    if compares {
        if !options.quiet {
            output.print(&comparison.line(&totals, models.len()));
        }
        return Ok(exit.and(match (comparison.different, comparison.same) {
            (0, 0) => Exit::Nothing,
            (0, _) => Exit::Fine,
            (_, _) => Exit::Differs,
        }));
    }
    match format {
        LitmusFormat::Herd => {}
        LitmusFormat::Table => {
            output.print(&table(&entries, models, output.paint));
            if !options.quiet {
                let seconds = started.elapsed().as_secs_f64();
                output.print(&totals.line(models.len(), seconds));
            }
        }
        LitmusFormat::Json => {
            let report = LitmusReport::new(env!("CARGO_PKG_VERSION"), &entries);
            let text = serde_json::to_string_pretty(&report).expect("plain data becomes JSON");
            output.print(&format!("{text}\n"));
        }
    }
    Ok(exit)
}

/// Says what a reader of the results should know.
fn told_of(ran: &Ran, output: &Output) {
    for (model, seen) in &ran.models {
        match seen {
            Ok(seen) => {
                if let Some(text) = warning(ran, seen) {
                    output.message(&format!("warning: {text} ({})\n", model.name));
                }
            }
            Err(fault) => output.error(&format!("{}: {fault} ({})", ran.file, model.name)),
        }
    }
}

/// How tests compare with their records.
#[derive(Default)]
struct Comparison {
    same: usize,
    different: usize,
    unknown: usize,
}

impl Comparison {
    fn add(&mut self, ran: &Ran, records: &Records, output: &mut Output) {
        for (model, seen) in &ran.models {
            let compared = match seen {
                Ok(seen) => records.compare(ran, &model.name, seen),
                Err(fault) => Compared::Different(vec![fault.clone()]),
            };
            match compared {
                Compared::Same => self.same += 1,
                Compared::Unknown => self.unknown += 1,
                Compared::Different(lines) => {
                    self.different += 1;
                    for line in lines {
                        let about = format!("{}  {}", ran.file, model.name);
                        output.print(&format!("{about}  {line}\n"));
                    }
                }
            }
        }
    }

    fn line(&self, totals: &Totals, models: usize) -> String {
        let mut line = format!(
            "{}, {}: {} compared, {}",
            counted(totals.tests as u64, "test"),
            counted(models as u64, "model"),
            self.same + self.different,
            counted(self.different as u64, "difference"),
        );
        if self.unknown > 0 {
            line.push_str(&format!(", {} without a record", self.unknown));
        }
        if totals.unsupported > 0 {
            line.push_str(&format!(", {} unsupported", totals.unsupported));
        }
        line.push('\n');
        line
    }
}
