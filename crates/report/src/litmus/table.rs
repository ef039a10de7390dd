//! A table with a row for each test and a column for each model, and a line of totals.

use super::{Entry, ModelResult};
use crate::paint::{Paint, count, counted, width};
use crate::verdict_line::shown;
use fencepost_frontends::litmus::Test;
use fencepost_models::ModelSpec;

/// Returns the text of a cell.
fn cell(test: &Test, result: &Result<ModelResult, String>) -> String {
    match result {
        Ok(result) => {
            let (verdict, observation) = (result.verdict(test.quantifier), result.observation());
            if verdict == observation { verdict.into() } else { format!("{verdict} {observation}") }
        }
        Err(_) => "fault".into(),
    }
}

/// Returns the table. An unsupported file has a row that says so.
pub fn table(entries: &[Entry], models: &[ModelSpec], paint: Paint) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut head = vec!["test".to_string(), "kind".to_string()];
    head.extend(models.iter().map(shown));
    for entry in entries {
        match entry {
            Entry::TestRun(run) => {
                let mut row = vec![run.test.name.clone(), run.test.kind().to_string()];
                row.extend(run.models.iter().map(|(_, result)| cell(&run.test, result)));
                rows.push(row);
            }
            Entry::Unsupported(file, _) => rows.push(vec![file.clone(), "unsupported".into()]),
        }
    }
    let widths: Vec<usize> = (0..head.len())
        .map(|at| {
            let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| width(cell));
            cells.chain([width(&head[at])]).max().unwrap_or(0)
        })
        .collect();
    let line = |row: &[String]| {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(text, wide)| format!("{text:<wide$}")).collect();
        cells.join("  ").trim_end().to_string()
    };
    let mut out = paint.strong(&line(&head));
    out.push('\n');
    for row in &rows {
        out.push_str(&line(row));
        out.push('\n');
    }
    out
}

/// The number of tests and verdicts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// The number of tests.
    pub tests: usize,
    /// The number of unsupported files.
    pub unsupported: usize,
    /// The number of verdicts `Ok`, over all models.
    pub ok: usize,
    /// The number of verdicts `No`, over all models.
    pub no: usize,
    /// The number of verdicts that are known only up to a bound, or not at all.
    pub undecided: usize,
    /// The number of tests with a fault under some model.
    pub faults: usize,
}

impl Totals {
    /// Counts the entries of a list.
    pub fn of(entries: &[Entry]) -> Self {
        let mut totals = Totals::default();
        for entry in entries {
            let Entry::TestRun(run) = entry else {
                totals.unsupported += 1;
                continue;
            };
            totals.tests += 1;
            totals.faults += usize::from(run.models.iter().any(|(_, result)| result.is_err()));
            for result in run.models.iter().filter_map(|(_, result)| result.as_ref().ok()) {
                match result.answer(run.test.quantifier) {
                    Some(true) => totals.ok += 1,
                    Some(false) => totals.no += 1,
                    None => totals.undecided += 1,
                }
            }
        }
        totals
    }

    /// Formats the totals on one line.
    pub fn line(&self, models: usize, seconds: f64) -> String {
        let mut parts = vec![
            counted(self.tests as u64, "test"),
            counted(models as u64, "model"),
            format!("{} Ok", count(self.ok as u64)),
            format!("{} No", count(self.no as u64)),
        ];
        let mut more = |number: usize, what: &str| {
            if number > 0 {
                parts.push(format!("{} {what}", count(number as u64)));
            }
        };
        more(self.undecided, "undecided");
        more(self.faults, "with a fault");
        more(self.unsupported, "unsupported");
        format!("{} ({seconds:.2} s)\n", parts.join(", "))
    }
}
