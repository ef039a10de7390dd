//! Verdicts, traces and diagnostics as text and JSON.
//!
//! The renderers are pure functions from data to strings. They access no file, clock or terminal.
//! The same data gives the same bytes. The caller decides once whether to use colour and passes a
//! [`Paint`].
//!
//! - [`diagnostics`]: diagnostics of a front end, with the source line and a caret.
//! - [`trace`]: the rows of a replayed run; [`wording`] describes one event.
//! - [`spurious`]: a run of an abstract model that the exact model does not have.
//! - [`picture`]: the rows with one column for each thread; [`memory`] is the last column.
//! - [`reorderings`]: the reorderings that explain a run.
//! - [`hang`]: what the threads wait for in a hang.
//! - [`cycle`]: why a run is not sequentially consistent.
//! - [`data_race`]: data races.
//! - [`violation`]: one sentence about a violation or a witness.
//! - [`finding`]: the result of one query.
//! - [`verdict_line`]: the row for each model, and the reasons for inconclusive verdicts.
//! - [`outcomes`]: a table of outcomes by model.
//! - [`repair`], [`out_of_reach`], [`repair_json`]: the answer of inference as text and JSON;
//!   [`diff`]: the change; [`explanation`]: the rounds of inference.
//! - [`state_graph`]: a transition system with its avoid formulas, for Graphviz.
//! - [`reproduction`]: a table of a paper with our figures.
//! - [`litmus`]: results of litmus tests: herd's format, tables, comparison with records.
//! - [`models`]: the list of memory models. [`order_table`]: what memory orders mean under them.
//! - [`monitor`]: whether a reordering of a recorded execution could violate SC.
//! - [`json`]: the results of `check` as JSON.
//! - [`trace_file`]: a stored trace that can be re-executed.
//! - [`paint`]: colours and text width; [`terminal`]: escapes text from inputs.

pub mod cycle;
pub mod data_race;
pub mod diagnostics;
pub mod diff;
pub mod explanation;
pub mod finding;
pub mod hang;
pub mod json;
pub mod litmus;
pub mod memory;
pub mod models;
pub mod monitor;
mod order_change;
pub mod order_table;
pub mod out_of_reach;
pub mod outcomes;
pub mod paint;
pub mod picture;
pub mod reorderings;
pub mod repair;
pub mod repair_json;
pub mod reproduction;
pub mod spurious;
pub mod state_graph;
pub mod terminal;
pub mod trace;
pub mod trace_file;
pub mod verdict_line;
pub mod violation;
pub mod weakening;
pub mod weakening_json;
pub mod wording;

pub use paint::Paint;
pub use trace::TraceRows;
