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

/// The assertion fails with a buffer of one store. The outcome `p.r = 0, q.s = 0` needs four
/// pending stores.
#[test]
fn the_search_continues_with_longer_buffers_after_a_violation() {
    let source = "shared int a, b, c, d, e;
        thread p { a = 1; b = 1; c = 1; d = 1; r = e; }
        thread q { e = 1; fence; s = a; }
        thread w { v = d; assert(v == 0); }
        observe p.r, q.s;";
    let (_, result) = shown(source, Settings::default());
    for model in &result.models {
        assert!(model.complete && model.reason.is_none(), "{}", model.model);
        assert_eq!(model.violations.len(), 1, "{}", model.model);
        let weak = model.outcomes.contains(&vec!["0".into(), "0".into()]);
        assert_eq!(weak, model.model != "sc", "{}", model.model);
    }
}

#[test]
fn an_incomplete_search_excludes_no_outcome() {
    let limits = Limits { states: 20, ..Limits::default() };
    let (text, result) = shown(STORE_BUFFERING, Settings { limits, ..Settings::default() });
    insta::assert_snapshot!("incomplete", text);
    assert!(result.models.iter().any(|m| !m.complete && !m.notes.is_empty()));
}
