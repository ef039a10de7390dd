//! A table of the outcomes that each memory model allows.
//!
//! `yes` means that the model allows the outcome, `.` that it does not. An incomplete search cannot
//! exclude an outcome: the table shows `?`.

use crate::paint::{Paint, counted, width};
use crate::verdict_line::{growth_note, reason_text, reason_word, shown};
use crate::violation::describe_claim;
use crate::wording::statement;
use fencepost_engines::{Answer, InconclusiveReason, OutcomeRuns, UnfinishedThread};
use fencepost_ir::{Problem, Value};
use fencepost_models::ModelSpec;
use fencepost_search::Stop;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The mark of an outcome that the model allows.
const MARK: &str = "yes";

/// The number of violations that a note lists.
const MAX_VIOLATIONS: usize = 5;

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

/// Returns the notes below the table about one column: why outcomes may be missing, and which runs
/// have no outcome.
fn notes(problem: &Problem, column: &Column<'_>) -> Vec<String> {
    let answer = column.answer;
    let mut notes = Vec::new();
    let Some(runs) = &answer.runs else { return notes };
    if let Some(reason) = &runs.incomplete {
        let complete_up_to = match runs.complete_up_to {
            Some(bound) => format!("; complete for buffers up to {bound}"),
            None => String::new(),
        };
        let advice = advice(reason).map_or_else(String::new, |text| format!("; try: {text}"));
        notes.push(format!(
            "the list is incomplete: {}{complete_up_to}{advice}",
            reason_text(reason)
        ));
        if let Some(growing) = answer.growing {
            notes.push(growth_note(problem, growing));
        }
    } else if !runs.exist {
        notes.push("there is no run: an `assume` in `init` is never true".into());
    } else if answer.outcomes.is_empty() {
        notes.push("no run ends in a final state".into());
        let known =
            !runs.failures.is_empty() || !runs.blocked.is_empty() || !runs.waiting.is_empty();
        if !known {
            notes.push("in every run, some thread runs forever".into());
        }
    }
    let violations = violations(problem, runs);
    if !violations.is_empty() {
        let mut text =
            violations.iter().take(MAX_VIOLATIONS).cloned().collect::<Vec<_>>().join("; ");
        if violations.len() > MAX_VIOLATIONS {
            text.push_str(&format!("; and {} more", violations.len() - MAX_VIOLATIONS));
        }
        notes.push(format!("some runs end in a violation: {text}"));
    }
    let unfinished = unfinished_threads(problem, runs);
    for state in unfinished.chunk_by(|one, other| one.kind == other.kind) {
        let threads: Vec<String> = state.iter().map(Unfinished::describe).collect();
        notes.push(format!("some runs never end: {}", threads.join(", ")));
    }
    notes
}

/// Returns advice for an incomplete list.
fn advice(reason: &InconclusiveReason) -> Option<&'static str> {
    match reason {
        InconclusiveReason::Limit(stop) => match stop {
            Stop::States => Some("raise --max-states"),
            Stop::Memory => Some("raise --memory"),
            Stop::Time => Some("raise --time"),
            Stop::Interrupted | Stop::Depth => None,
        },
        InconclusiveReason::Bound { .. } => Some("raise --max-buffer or --buffer"),
        InconclusiveReason::Spurious | InconclusiveReason::Unsupported { .. } => None,
    }
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
    /// Why the list is incomplete: the same words as the reason of an inconclusive verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// The largest bound on pending accesses for which the list is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete_up_to: Option<u32>,
    /// The faults and failed assertions that end some runs, at most one for each statement.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<String>,
    /// Threads that never finish in some runs. Empty does not mean that all runs end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<Unfinished>,
}

/// Why a thread never finishes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum UnfinishedKind {
    /// No thread can make a step.
    Blocked,
    /// Every step leads back to the same state.
    Waits,
}

/// A thread that never finishes in some run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Unfinished {
    /// The name of the thread.
    pub thread: String,
    /// The line of its next statement.
    pub line: u32,
    /// The text of its next statement.
    pub statement: String,
    /// Why it never finishes.
    pub kind: UnfinishedKind,
}

impl Unfinished {
    fn new(problem: &Problem, unfinished: UnfinishedThread, kind: UnfinishedKind) -> Self {
        let thread = problem.program.thread(unfinished.thread);
        let label = thread.stmt(unfinished.pc).label;
        Unfinished {
            thread: thread.name.clone(),
            line: problem.program.label(label).span.line,
            statement: statement(&problem.program, label, 40),
            kind,
        }
    }

    fn describe(&self) -> String {
        let verb = match self.kind {
            UnfinishedKind::Blocked => "is blocked",
            UnfinishedKind::Waits => "waits",
        };
        format!("{} {verb} forever at :{} `{}`", self.thread, self.line, self.statement)
    }
}

impl OutcomesResult {
    /// Creates the record of a program's outcomes.
    pub fn new(file: &str, problem: &Problem, columns: &[Column<'_>]) -> Self {
        OutcomesResult {
            file: file.into(),
            client: (!problem.name.is_empty()).then(|| problem.name.clone()),
            observed: names(problem),
            models: columns.iter().map(|column| ModelOutcomes::new(problem, column)).collect(),
        }
    }
}

impl ModelOutcomes {
    fn new(problem: &Problem, column: &Column<'_>) -> Self {
        let Answer { outcomes, outcomes_complete, runs, .. } = column.answer;
        let runs = runs.as_deref();
        let unfinished = runs.map_or_else(Vec::new, |runs| unfinished_threads(problem, runs));
        ModelOutcomes {
            model: column.model.name.to_string(),
            complete: *outcomes_complete,
            outcomes: outcomes.iter().map(|outcome| values(problem, outcome)).collect(),
            notes: notes(problem, column),
            reason: runs.and_then(|runs| runs.incomplete.as_ref()).map(reason_word),
            complete_up_to: runs.and_then(|runs| runs.complete_up_to),
            violations: runs.map_or_else(Vec::new, |runs| violations(problem, runs)),
            unfinished,
        }
    }
}

/// Describes the violations that end some runs.
fn violations(problem: &Problem, runs: &OutcomeRuns) -> Vec<String> {
    let described = runs.failures.iter().map(|v| describe_claim(problem, (*v).into(), None));
    described.collect()
}

/// Returns the threads that never finish: those of a blocked state, then those of a state in which
/// threads wait forever.
fn unfinished_threads(problem: &Problem, runs: &OutcomeRuns) -> Vec<Unfinished> {
    let kinds = [(&runs.blocked, UnfinishedKind::Blocked), (&runs.waiting, UnfinishedKind::Waits)];
    let threads =
        kinds.into_iter().flat_map(|(threads, kind)| threads.iter().map(move |t| (*t, kind)));
    threads.map(|(thread, kind)| Unfinished::new(problem, thread, kind)).collect()
}
