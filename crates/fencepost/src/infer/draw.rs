//! `infer --dot`: the transition system of each program with the avoid formula of each state.
//!
//! Source: \[KVY10\] Fig. 3. A separate search, after the inference and with the same limits. A
//! system that is too large, or that a limit stopped, is not drawn. The lines that say so go to
//! standard output, or to standard error with `--format json`.

use super::{Job, report_error};
use crate::args::Format;
use crate::input;
use crate::output::Output;
use crate::store::{TraceNames, replace};
use fencepost::Repaired;
use fencepost_infer::fixpoint::drawing::{MAX_DRAWN_STATES, NoDrawing};
use fencepost_infer::fixpoint::{MAX_CONSTRAINTS, NoFormula};
use fencepost_report::json::InputError;
use fencepost_report::paint::count;
use fencepost_report::state_graph;
use fencepost_report::verdict_line::limit_text;
use std::path::Path;

/// Writes one file for each program.
pub(super) fn draw(
    dir: &Path,
    job: &Job,
    repaired: &Repaired<'_>,
    output: &mut Output,
) -> Result<(), InputError> {
    let subject = repaired.subject();
    let mut names = TraceNames::default();
    for (problem, graph) in subject.problems.iter().zip(repaired.state_graphs()) {
        let line = match graph {
            Ok(graph) => {
                let parts = [&*problem.name, &*subject.model.name];
                let path = names.numbered(dir, subject.file, &parts, "dot");
                let text = state_graph::dot(problem, subject.model, &graph);
                let name = input::display_path(&path);
                let written =
                    std::fs::create_dir_all(dir).and_then(|()| replace(&path, text.as_bytes()));
                if let Err(error) = written {
                    let message = format!("cannot write the drawing {name}: {error}");
                    return Err(report_error(&name, message, output));
                }
                format!("drawn: {name}\n")
            }
            Err(reason) => {
                let client = match &*problem.name {
                    "" => String::new(),
                    name => format!("client {name}: "),
                };
                format!("{client}not drawn: {}\n", describe(reason))
            }
        };
        match job.format {
            Format::Text => output.print(&line),
            Format::Json => output.message(&line),
        }
    }
    Ok(())
}

/// Returns the reason why there is no drawing, and what to do.
fn describe(reason: NoDrawing) -> String {
    match reason {
        NoDrawing::TooLarge(states) => format!(
            "{} states may lead to an error, and a drawing has at most {MAX_DRAWN_STATES}; try: a \
             smaller program, a smaller --buffer, or --domain",
            count(states as u64)
        ),
        NoDrawing::NoFormula(NoFormula::Stopped(stop)) => limit_text(stop).into(),
        NoDrawing::NoFormula(NoFormula::TooManyConstraints(orderings)) => {
            format!("the formula has {orderings} orderings; the maximum is {MAX_CONSTRAINTS}")
        }
    }
}
