//! A table of the outcomes that each memory model allows.
//!
//! `yes` means that the model allows the outcome, `.` that it does not. An incomplete search cannot
//! exclude an outcome: the table shows `?`.

use crate::paint::{Paint, counted, width};
use crate::verdict_line::{reason_text, shown};
use crate::violation::describe_claim;
use fencepost_engines::{Answer, Verdict};
use fencepost_ir::{Problem, Value, Violation};
use fencepost_models::ModelSpec;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The mark of an outcome that the model allows.
const MARK: &str = "yes";

/// The outcomes under one model.
#[derive(Clone, Debug)]
pub struct Column<'a> {
    /// The memory model.
    pub model: &'a ModelSpec,
    /// The engine's answer.
    pub answer: &'a Answer,
}

/// Returns the union of the outcomes of all models, in order.
fn all_outcomes(columns: &[Column<'_>]) -> BTreeSet<Vec<Value>> {
    columns.iter().flat_map(|column| column.answer.outcomes.iter().cloned()).collect()
}

/// Formats the values of an outcome as the language writes them, in the order of `observed`.
fn values(problem: &Problem, outcome: &[Value]) -> Vec<String> {
    let types = problem.observed.iter().map(|what| problem.program.observable_type(*what));
    types.zip(outcome).map(|(ty, value)| ty.show(*value)).collect()
}

fn names(problem: &Problem) -> Vec<String> {
    problem.observed.iter().map(|what| problem.program.observable_name(*what)).collect()
}

/// Returns the table.
pub fn table(title: &str, problem: &Problem, columns: &[Column<'_>], paint: Paint) -> String {
    let outcomes = all_outcomes(columns);
    let names = names(problem);
    let rows: Vec<Vec<String>> = outcomes.iter().map(|o| values(problem, o)).collect();
    let widths: Vec<usize> = (0..names.len())
        .map(|at| {
            let shown = rows.iter().map(|row| width(&row[at])).max().unwrap_or(0);
            shown.max(width(&names[at]))
        })
        .collect();
    let total = counted(outcomes.len() as u64, "outcome");
    let left = (widths.iter().map(|w| w + 2).sum::<usize>()).max(width(&total) + 2);
    let models: Vec<String> = columns.iter().map(|c| shown(c.model)).collect();
    let line = |out: &mut String, cells: &[String], marks: &[String]| {
        let cells: String = cells.iter().zip(&widths).map(|(c, w)| format!("{c:<w$}  ")).collect();
        let marks: String =
            marks.iter().zip(&models).map(|(mark, name)| column(mark, name)).collect();
        let text = format!("  {cells:<left$}{marks}");
        writeln!(out, "{}", text.trim_end()).expect("writing to a string cannot fail");
    };
    let mut out = format!("{}\n", paint.strong(title));
    line(&mut out, &names, &models);
    for (outcome, row) in outcomes.iter().zip(&rows) {
        let marks: Vec<String> = columns
            .iter()
            .map(|column| match column.answer.outcomes.contains(outcome) {
                true => MARK.into(),
                false if column.answer.outcomes_complete => ".".into(),
                false => "?".into(),
            })
            .collect();
        line(&mut out, row, &marks);
    }
    let counts: String = columns
        .iter()
        .zip(&models)
        .map(|(found, name)| {
            let more = if found.answer.outcomes_complete { "" } else { "+" };
            column(&format!("{}{more}", found.answer.outcomes.len()), name)
        })
        .collect();
    let text = format!("  {total:<left$}{counts}");
    writeln!(out, "{}", text.trim_end()).expect("writing to a string cannot fail");
    for column in columns {
        for note in notes(problem, column) {
            writeln!(out, "  {}: {note}", shown(column.model))
                .expect("writing to a string cannot fail");
        }
    }
    out
}

/// Formats a cell of a model's column.
fn column(text: &str, model: &str) -> String {
    format!("  {text:<w$}", w = width(model).max(MARK.len()))
}

/// Returns the notes below the table about one column.
fn notes(problem: &Problem, column: &Column<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    match &column.answer.verdict {
        Verdict::Inconclusive(inconclusive) => {
            let complete_up_to = match inconclusive.clean_up_to() {
                Some(bound) => format!("; complete for buffers up to {bound}"),
                None => String::new(),
            };
            let reason = reason_text(inconclusive.reason());
            notes.push(format!("the list is incomplete: {reason}{complete_up_to}"));
        }
        Verdict::Violated(violated) => {
            let violation = violated.evidence().violation();
            if !column.answer.outcomes_complete {
                notes.push("the list is incomplete".into());
            }
            // The table shows violations in final states. A run without a final state has no row.
            let unfinished = match violation {
                Violation::Fault(..)
                | Violation::Assertion(..)
                | Violation::Hang
                | Violation::Livelock { .. } => true,
                Violation::MutualExclusion(..)
                | Violation::Invariant(_)
                | Violation::Final(_)
                | Violation::Operations(_)
                | Violation::NoWitness(_)
                | Violation::NotRobust => false,
            };
            if unfinished {
                let what = describe_claim(problem, violation.into(), None);
                notes.push(format!("some runs do not finish: {what}"));
            }
        }
        Verdict::Verified(_) => {}
    }
    notes
}

/// The output of `fencepost outcomes --format json`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct OutcomesReport {
    /// The version of Fencepost.
    pub fencepost: String,
    /// Always `outcomes`.
    pub command: String,
    /// One result for each program.
    pub results: Vec<OutcomesResult>,
}

/// The outcomes of one program.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct OutcomesResult {
    /// The file name, as given by the user.
    pub file: String,
    /// The client, if the file has clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The names of the observed variables.
    pub observed: Vec<String>,
    /// The outcomes under each model.
    pub models: Vec<ModelOutcomes>,
}

/// The outcomes of one program under one model.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ModelOutcomes {
    /// The model's name.
    pub model: String,
    /// Whether the list of outcomes is complete.
    pub complete: bool,
    /// The outcomes: lists of values in the order of `observed`, as the language writes them.
    pub outcomes: Vec<Vec<String>>,
    /// Notes on the outcomes, one sentence each.
    pub notes: Vec<String>,
}

impl OutcomesResult {
    /// Creates the record of a program's outcomes.
    pub fn new(file: &str, problem: &Problem, columns: &[Column<'_>]) -> Self {
        OutcomesResult {
            file: file.into(),
            client: (!problem.name.is_empty()).then(|| problem.name.clone()),
            observed: names(problem),
            models: columns
                .iter()
                .map(|column| ModelOutcomes {
                    model: column.model.name.to_string(),
                    complete: column.answer.outcomes_complete,
                    outcomes: column.answer.outcomes.iter().map(|o| values(problem, o)).collect(),
                    notes: notes(problem, column),
                })
                .collect(),
        }
    }
}
