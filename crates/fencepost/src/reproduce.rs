//! `fencepost reproduce`: the tables of the papers, their figures beside ours.
//!
//! Everything about a paper is data: `corpus/papers/<name>.toml`, which [`paper`] reads. [`run`](mod@run) computes the
//! figures of a row, [`compare`] compares them with the paper's, and `fencepost_report::reproduction` prints. Data and
//! programs are part of the binary, so a table can be computed anywhere.

mod compare;
mod paper;
mod run;
#[cfg(test)]
mod tests;

use crate::args::{Format, Reproduce};
use crate::exit::Exit;
use crate::guard::guarded_while;
use crate::output::Output;
use crate::session::{Session, settings};
use compare::judged;
use fencepost_corpus::PAPERS;
use fencepost_report::reproduction::{Figure, Reproduction, table};
use paper::Paper;
use run::Runner;
use std::time::Instant;

/// For `--help`.
pub(crate) const HELP: &str = "\
Exit codes:
   0  every row was computed, whether it agrees with the paper or not
   5  a row met a limit, or was left out
   4  no row has such a name
   2  wrong usage
   6  an internal error of Fencepost: please report it";

/// The names of the tables on the command line.
pub(crate) fn names() -> Vec<&'static str> {
    PAPERS.iter().map(|(name, _)| *name).collect()
}

/// Computes a table and shows it.
pub(crate) fn run(options: &Reproduce, output: &mut Output) -> Exit {
    let asked = PAPERS.iter().find(|(name, _)| *name == options.table);
    let (name, text) = asked.expect("the command line takes the names of tables only");
    let paper = match Paper::parse(name, text) {
        Ok(paper) => paper,
        Err(error) => {
            output.error(&error.to_string());
            return Exit::Internal;
        }
    };
    let started = Instant::now();
    let session = Session::new(&options.search, options.quiet);
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
        let done = guarded_while(format!("computing {what}"), || {
            session.run(&what, |budget| runner.run(&entry, budget))
        });
        let Ok((found, seconds)) = done else { return Exit::Internal };
        if session.interrupted() {
            left_out += 1;
            continue;
        }
        let found = found.map(|figures| figures.with("seconds", Figure::Seconds(seconds)));
        rows.push(judged(&entry, found));
    }
    let reproduction = Reproduction {
        fencepost: env!("CARGO_PKG_VERSION").into(),
        table: name.to_string(),
        rows,
        left_out,
        seconds: started.elapsed().as_secs_f64(),
    };
    match options.format {
        Format::Text => {
            output.print(&table(&reproduction, &paper.title, &paper.about, output.paint))
        }
        Format::Json => {
            let text = serde_json::to_string_pretty(&reproduction);
            output.print(&format!("{}\n", text.expect("plain data becomes JSON")));
        }
    }
    if reproduction.rows.is_empty() && reproduction.left_out == 0 {
        output.error("no row has such a name");
        return Exit::Nothing;
    }
    if reproduction.is_complete() { Exit::Fine } else { Exit::Inconclusive }
}
