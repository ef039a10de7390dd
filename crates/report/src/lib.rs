//! Verdicts, traces and diagnostics as text and JSON: plain data in, strings out.
//!
//! Nothing here touches a file, a clock or a terminal. The same data gives the same bytes; whether to
//! use colour is the caller's decision, made once and handed in as a [`Paint`].
//!
//! - [`diagnostics`]: what a front end says, with the source line and a caret.
//! - [`trace`]: a run replayed and told row by row; [`wording`] has the words for one event.
//! - [`suspect`]: a run of an abstract model that the exact one does not follow.
//! - [`picture`]: the rows as a picture, a column for each thread; [`memory`] is its last column.
//! - [`why`]: which reorderings a run owes its end to.
//! - [`cycle`]: why a run is not sequentially consistent.
//! - [`violation`]: one sentence about what went wrong.
//! - [`verdict_line`]: the row for each model, and what ended an inconclusive search.
//! - [`outcomes`]: which model allows which outcome, as a table.
//! - [`repair`]: what inference answers, with [`diff`], what changes in the source; [`repair_json`] for programs.
//! - [`reproduction`]: a table of a paper, its figures beside ours.
//! - [`litmus`]: what litmus tests show, as herd prints it, as a table, and compared with records.
//! - [`models`]: the list of models.
//! - [`monitor`]: whether a recorded execution could have left sequential consistency.
//! - [`json`]: the same for programs, with a documented, stable form.
//! - [`trace_file`]: a trace that can be stored, handed on and re-executed.
//! - [`paint`]: colours, or none.

pub mod cycle;
pub mod diagnostics;
pub mod diff;
pub mod finding;
pub mod json;
pub mod litmus;
pub mod memory;
pub mod models;
pub mod monitor;
pub mod outcomes;
pub mod paint;
pub mod picture;
pub mod repair;
pub mod repair_json;
pub mod reproduction;
pub mod suspect;
pub mod trace;
pub mod trace_file;
pub mod verdict_line;
pub mod violation;
pub mod why;
pub mod wording;

pub use paint::Paint;
pub use trace::Story;
