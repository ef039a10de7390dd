//! `fencepost litmus`: runs litmus tests in herd's format.
//!
//! - [`mod@collect`]: expands directories and lists to files.
//! - [`mod@run`]: runs many tests in parallel, each within its limits.
//! - [`herd_options`]: options of herd.
//! - [`convert`]: `--to fp`; [`generate`]: generates tests from critical cycles.

mod collect;
mod convert;
mod generate;
pub(crate) mod herd_options;
mod run;

use crate::args::Search;
use crate::exit::{self, Exit};
use crate::input;
use crate::output::Output;
use crate::reader::read_text;
use crate::session::Session;
use clap::ValueEnum;
use collect::{Collected, collect};
use fencepost_models::ModelSpec;
use fencepost_report::litmus::block::{block, warning};
use fencepost_report::litmus::expect::{RecordComparison, Records, Unmatched};
use fencepost_report::litmus::json::LitmusReport;
use fencepost_report::litmus::table::{Totals, table};
use fencepost_report::litmus::{Entry, TestRun};
use fencepost_report::paint::{counted, printable};
use std::path::PathBuf;
use std::time::Instant;

/// The output format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum LitmusFormat {
    /// The format of herd; requires exactly one model
    Herd,
    /// One row for each test, one column for each model
    Table,
    /// JSON, for other programs to read
    Json,
}

/// The language that tests are converted to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Language {
    /// Fencepost's own language
    Fp,
}

/// Run litmus tests in herd's format (.litmus: X86, X86_64, AArch64, C)
///
/// Computes all final states of each test under each model. Loops are explored completely; they are
/// not unrolled up to a depth.
#[derive(clap::Args, Debug)]
#[command(after_help = exit::LITMUS_HELP)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    subcommand: Option<LitmusCommand>,

    /// Tests: files, directories, `@FILE` for a file that lists paths, `-` for standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Memory models: names such as sc, tso, pso and rmo (`fencepost models` lists them), or paths
    /// of model files
    #[arg(long, value_delimiter = ',', default_value = "sc,tso,pso,rmo", value_name = "MODEL,...")]
    model: Vec<String>,

    /// The output format [default: herd for one model, table for several]
    #[arg(long, value_enum)]
    format: Option<LitmusFormat>,

    /// Compare the results with the records in these files (tables, or logs of herd); print only
    /// differences
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "format")]
    expect: Vec<PathBuf>,

    /// Convert the tests to this language instead of running them
    #[arg(long, value_enum, value_name = "LANGUAGE", conflicts_with_all = ["format", "expect"])]
    to: Option<Language>,

    /// With --to: write to this file; with several tests, into this directory
    #[arg(long, short, value_name = "PATH", requires = "to")]
    output: Option<PathBuf>,

    /// Print no `Time` lines, which differ from run to run
    #[arg(long)]
    no_times: bool,

    /// Show no progress and no totals
    #[arg(long, short)]
    quiet: bool,

    #[command(flatten)]
    search: Search,
}

#[derive(clap::Subcommand, Debug)]
enum LitmusCommand {
    Generate(generate::Options),
}

/// Runs litmus tests.
pub(crate) fn run(options: &Options, output: &mut Output) -> Exit {
    if let Some(LitmusCommand::Generate(options)) = &options.subcommand {
        return generate::run(options, output);
    }
    let models = match input::models(&options.model) {
        Ok(models) => models,
        Err(errors) => {
            errors.iter().for_each(|message| output.error(message));
            return Exit::Unusable;
        }
    };
    let Collected { files, errors, .. } = collect(&options.paths, output);
    errors.iter().for_each(|message| output.error(message));
    let exit = if errors.is_empty() { Exit::Success } else { Exit::Unusable };
    if files.is_empty() {
        if errors.is_empty() {
            output.error("no litmus tests found: their file names must end in .litmus");
        }
        return exit.combine(Exit::Nothing);
    }
    if options.to.is_some() {
        return exit.combine(convert::run(&files, options.output.as_deref(), output));
    }
    match run_tests(options, &models, &files, output) {
        Ok(result) => exit.combine(result),
        Err(message) => {
            output.error(&message);
            Exit::Unusable
        }
    }
}

/// Runs the tests and prints their results. The error is a message to print.
fn run_tests(
    options: &Options,
    models: &[ModelSpec],
    files: &[PathBuf],
    output: &mut Output,
) -> Result<Exit, String> {
    let default = if models.len() == 1 { LitmusFormat::Herd } else { LitmusFormat::Table };
    let format = options.format.unwrap_or(default);
    if format == LitmusFormat::Herd && models.len() > 1 {
        return Err("--format herd requires exactly one model: choose it with --model".into());
    }
    let mut records = Records::default();
    for path in &options.expect {
        let message = |error| format!("cannot read {}: {error}", input::display_path(path));
        let text = read_text(path).map_err(message)?;
        records.read(&text).map_err(|error| format!("{}: {error}", input::display_path(path)))?;
    }
    let compares = !options.expect.is_empty();
    let session = Session::new(&options.search.limits, options.quiet);
    let started = Instant::now();
    let mut exit = Exit::Success;
    let mut entries: Vec<Entry> = Vec::new();
    let mut comparison = Comparison::default();
    let paint = output.paint_messages;
    let runner = run::Runner { models, search: &options.search, session: &session, paint };
    runner.run(files, |finished| {
        // After the output is closed, the remaining results are only those of cancelled searches.
        if output.is_closed() {
            return false;
        }
        output.message(&finished.messages);
        exit = exit.combine(finished.exit);
        if let Entry::TestRun(ran) = &finished.entry {
            print_warnings(ran, compares, output);
            if compares {
                comparison.add(ran, &mut records, output);
            } else {
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
        exit = exit.combine(Exit::Inconclusive);
    }
    if compares {
        let names: Vec<&str> = models.iter().map(|model| &*model.name).collect();
        comparison.list_unmatched(&records.unmatched(&names), output);
        if !options.quiet {
            output.print(&comparison.line(&totals, models.len()));
        }
        return Ok(exit.combine(
            match (comparison.different + comparison.ambiguous, comparison.same) {
                (0, 0) => Exit::Nothing,
                (0, _) => Exit::Success,
                (_, _) => Exit::Differs,
            },
        ));
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
            output.json(&report);
        }
    }
    Ok(exit)
}

/// Prints warnings about incomplete results, and faults. A comparison prints faults itself, and it
/// compares results without states like others.
fn print_warnings(ran: &TestRun, compares: bool, output: &Output) {
    for (model, seen) in &ran.models {
        match seen {
            Ok(seen) if compares && seen.incomplete.is_none() => {}
            Ok(seen) => {
                if let Some(text) = warning(ran, seen) {
                    output.message(&format!("warning: {text} ({})\n", model.name));
                }
            }
            Err(_) if compares => {}
            Err(fault) => output.error(&format!("{}: {fault} ({})", ran.file, model.name)),
        }
    }
}

/// The number of records without a test that are listed. The others are only counted.
const LISTED_UNMATCHED: usize = 50;

/// The number of results that equal their record, that differ from it, and that have none, and the
/// number of records that have no test.
#[derive(Default)]
struct Comparison {
    same: usize,
    different: usize,
    unrecorded: usize,
    ambiguous: usize,
    unmatched: usize,
}

impl Comparison {
    fn add(&mut self, ran: &TestRun, records: &mut Records, output: &mut Output) {
        for (model, seen) in &ran.models {
            let compared = records.compare(ran, &model.name, seen.as_ref().map_err(String::as_str));
            match compared {
                RecordComparison::Same => self.same += 1,
                RecordComparison::Unknown => self.unrecorded += 1,
                RecordComparison::Ambiguous(reason) => {
                    self.ambiguous += 1;
                    output.print(&format!("{}  {}  {reason}\n", ran.file, model.name));
                }
                RecordComparison::Different(lines) => {
                    self.different += 1;
                    for line in lines {
                        let about = format!("{}  {}", ran.file, model.name);
                        output.print(&format!("{about}  {line}\n"));
                    }
                }
            }
        }
    }

    /// Lists the records that no test was compared with.
    fn list_unmatched(&mut self, unmatched: &[Unmatched], output: &mut Output) {
        self.unmatched = unmatched.len();
        for record in unmatched.iter().take(LISTED_UNMATCHED) {
            let model = record.model.as_deref().map(|model| format!("  {model}"));
            let (test, model) = (printable(&record.test), model.unwrap_or_default());
            output.print(&format!("{test}{model}  recorded, but no such test was run\n"));
        }
        if let Some(more @ 1..) = unmatched.len().checked_sub(LISTED_UNMATCHED) {
            output.print(&format!("{} more without a test\n", counted(more as u64, "record")));
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
        if self.unrecorded > 0 {
            line.push_str(&format!(", {} without a record", self.unrecorded));
        }
        if self.ambiguous > 0 {
            line.push_str(&format!(", {} ambiguous", self.ambiguous));
        }
        if totals.unsupported > 0 {
            line.push_str(&format!(", {} unsupported", totals.unsupported));
        }
        if self.unmatched > 0 {
            let records = counted(self.unmatched as u64, "record");
            line.push_str(&format!(", {records} without a test"));
        }
        line.push('\n');
        line
    }
}
