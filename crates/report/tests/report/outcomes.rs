//! Tests of the table of outcomes.

use crate::common::{MESSAGE, STORE_BUFFERING, lower, model};
use fencepost_engines::{Answer, Budget, Engine, Explicit, Settings, Task};
use fencepost_models::ModelSpec;
use fencepost_report::Paint;
use fencepost_report::outcomes::{Column, OutcomesResult, table};
use fencepost_search::{Cancel, Limits, Progress};

fn shown(source: &str, settings: Settings) -> (String, OutcomesResult) {
    let problem = lower(source);
    let models: Vec<ModelSpec> = ["sc", "tso", "pso", "rmo"].iter().map(|n| model(n)).collect();
    let answers: Vec<Answer> = models
        .iter()
        .map(|model| {
            let budget = Budget { cancel: &Cancel::default(), progress: &Progress::default() };
            Explicit.outcomes(Task { problem: &problem, model }, settings, budget)
        })
        .collect();
    let columns: Vec<Column<'_>> =
        models.iter().zip(&answers).map(|(model, answer)| Column { model, answer }).collect();
    (
        table("test.fp", &problem, &columns, Paint::Plain),
        OutcomesResult::new("test.fp", &problem, &columns),
    )
}

#[test]
fn the_table_shows_the_outcomes_of_each_model() {
    let (text, result) = shown(STORE_BUFFERING, Settings::default());
    insta::assert_snapshot!("store_buffering", text);
    assert_eq!(result.observed, ["p.r", "q.r"]);
    let sizes: Vec<usize> = result.models.iter().map(|m| m.outcomes.len()).collect();
    assert_eq!(sizes, [3, 4, 4, 4]);
    assert!(result.models.iter().all(|m| m.complete && m.notes.is_empty()));
}

#[test]
fn a_note_mentions_runs_without_a_final_state() {
    insta::assert_snapshot!("message", shown(MESSAGE, Settings::default()).0);
}

#[test]
fn an_incomplete_search_excludes_no_outcome() {
    let limits = Limits { states: 20, ..Limits::default() };
    let (text, result) = shown(STORE_BUFFERING, Settings { limits, ..Settings::default() });
    insta::assert_snapshot!("incomplete", text);
    assert!(result.models.iter().any(|m| !m.complete && !m.notes.is_empty()));
}
