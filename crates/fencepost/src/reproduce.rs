//! `fencepost reproduce`: recomputes the tables of the papers and compares the figures.
//!
//! A paper is described by data: `corpus/papers/<name>.toml`, which [`paper`] reads.
//! [`run`](mod@run) computes the figures of a row, [`compare`] compares them with those of the
//! paper, and `fencepost_report::reproduction` prints the table. The data and the programs are
//! embedded in the binary.

mod compare;
#[cfg(test)]
mod overview;
mod paper;
mod run;
#[cfg(test)]
mod tests;

use crate::args::{Reproduce, TableFormat};
use crate::exit::Exit;
use crate::guard::catch_panic_while;
use crate::output::Output;
use crate::session::{Session, settings};
use compare::compare_row;
use fencepost::Stopwatch;
use fencepost_corpus::PAPERS;
use fencepost_report::reproduction::{Figure, Reproduction, Row, markdown, table};
use paper::Paper;
use run::Runner;

/// The exit codes in `--help`.
pub(crate) const HELP: &str = "\
Exit codes:
   0  all rows are computed, whether they agree with the paper or not
   5  a limit stopped a row, or Ctrl-C skipped it
   4  no row matches --only
   2  wrong usage
   6  an internal error of Fencepost: please report it";

/// Returns the names of the tables on the command line.
pub(crate) fn names() -> Vec<&'static str> {
    PAPERS.iter().map(|(name, _)| *name).collect()
}

/// Computes a table and prints it.
pub(crate) fn run(options: &Reproduce, output: &mut Output) -> Exit {
    let selected = PAPERS.iter().find(|(name, _)| *name == options.table);
    let (name, text) = selected.expect("the command line accepts only names of tables");
    let paper = match Paper::parse(name, text) {
        Ok(paper) => paper,
        Err(error) => {
            output.error(&error.to_string());
            return Exit::Internal;
        }
    };
    let stopwatch = Stopwatch::start();
    let session = Session::new(&options.search.limits, options.quiet);
    let mut runner = Runner::new(settings(&options.search));
    let (mut rows, mut left_out) = (Vec::new(), 0);
    for entry in paper.entries() {
        if options.only.as_ref().is_some_and(|only| !entry.matches(only)) {
            continue;
        }
        if session.interrupted() {
            left_out += 1;
            continue;
        }
        let what = format!("{}  {}", entry.name(), entry.column_name());
        let result = catch_panic_while(format!("computing {what}"), || {
            session.run(&what, |budget| runner.run(&entry, budget))
        });
        let Ok((found, elapsed)) = result else { return Exit::Internal };
        if session.interrupted() {
            left_out += 1;
            continue;
        }
        let seconds = Figure::Seconds(elapsed.seconds());
        let found = found.map(|figures| figures.with("seconds", seconds));
        let cpu_seconds = elapsed.cpu_seconds();
        rows.push(Row { cpu_seconds, ..compare_row(&entry, found) });
    }
    let elapsed = stopwatch.elapsed();
    let reproduction = Reproduction {
        fencepost: env!("CARGO_PKG_VERSION").into(),
        table: name.to_string(),
        rows,
        left_out,
        seconds: elapsed.seconds(),
        cpu_seconds: elapsed.cpu_seconds(),
    };
    match options.format {
        TableFormat::Text => {
            output.print(&table(&reproduction, &paper.title, &paper.about, output.paint))
        }
        TableFormat::Markdown => {
            output.print(&markdown(&reproduction, &paper.title, &paper.about));
        }
        TableFormat::Json => output.json(&reproduction),
    }
    if reproduction.rows.is_empty() && reproduction.left_out == 0 {
        output.error("no row matches --only");
        return Exit::Nothing;
    }
    if reproduction.is_complete() { Exit::Success } else { Exit::Inconclusive }
}
