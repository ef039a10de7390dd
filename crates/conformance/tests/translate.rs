//! Can the translation by contexts be trusted? What it reaches under SC is to be what the original reaches
//! under the model within the bound: no state of shared memory missing, none added \[Zac\].
//!
//! - [`explore`]: everything that a translation reaches under SC.
//! - [`compare`](mod@compare): one program, both models, both bounds, k from 0 on, against the instrumented reference
//!   interpreter.
//! - [`corpus`]: programs of the corpus.
//! - [`random`]: random programs.
//! - [`engine`]: the engine that searches translations.
//! - [`mutations`]: would any of this notice an error in a rule?
//!
//! Direction: both. A search that is cut short compares nothing, so every test counts how often it could
//! compare, and fails when that is too seldom.
//!
//! `FENCEPOST_SEEDS=from..to` draws other random programs than the usual ones.

mod compare;
mod corpus;
mod engine;
mod explore;
mod mutations;
mod random;
