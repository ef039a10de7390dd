//! A row for each test, a column for each model, and a line of totals.

use super::{Entry, Seen};
use crate::paint::{Paint, count, counted, width};
use crate::verdict_line::shown;
use fencepost_frontends::litmus::Test;
use fencepost_models::ModelSpec;

/// What a cell of the table says.
fn cell(test: &Test, seen: &Result<Seen, String>) -> String {
    match seen {
        Ok(seen) => {
            let (verdict, observation) = (seen.verdict(test.quantifier), seen.observation());
            if verdict == observation { verdict.into() } else { format!("{verdict} {observation}") }
        }
        Err(_) => "fault".into(),
    }
}

/// The table. What cannot be run has a row that says so.
pub fn table(entries: &[Entry], models: &[ModelSpec], paint: Paint) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut head = vec!["test".to_string(), "kind".to_string()];
    head.extend(models.iter().map(shown));
    for entry in entries {
        match entry {
            Entry::Ran(ran) => {
                let mut row = vec![ran.test.name.clone(), ran.test.kind().to_string()];
                row.extend(ran.models.iter().map(|(_, seen)| cell(&ran.test, seen)));
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

/// How many tests there were, and what became of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Files that are tests.
    pub tests: usize,
    /// Files that are not, or do what is not supported.
    pub unsupported: usize,
    /// Verdicts `Ok`, over all models.
    pub ok: usize,
    /// Verdicts `No`.
    pub no: usize,
    /// Verdicts that are known up to a bound only, or not at all.
    pub unsure: usize,
    /// Tests with a fault under some model.
    pub faults: usize,
}

impl Totals {
    /// Those of a list.
    pub fn of(entries: &[Entry]) -> Self {
        let mut totals = Totals::default();
        for entry in entries {
            let Entry::Ran(ran) = entry else {
                totals.unsupported += 1;
                continue;
            };
            totals.tests += 1;
            totals.faults += usize::from(ran.models.iter().any(|(_, seen)| seen.is_err()));
            for seen in ran.models.iter().filter_map(|(_, seen)| seen.as_ref().ok()) {
                match seen.answer(ran.test.quantifier) {
                    Some(true) => totals.ok += 1,
                    Some(false) => totals.no += 1,
                    None => totals.unsure += 1,
                }
            }
        }
        totals
    }

    /// In words.
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
        more(self.unsure, "without an answer");
        more(self.faults, "with a fault");
        more(self.unsupported, "unsupported");
        format!("{} ({seconds:.2} s)\n", parts.join(", "))
    }
}
