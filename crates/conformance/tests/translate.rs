//! The translation by contexts is exact: it reaches the same shared memories under SC as the
//! original reaches under the model within the bound \[Zac\].
//!
//! - [`explore`]: explores a translation under SC.
//! - [`compare`](mod@compare): compares one program with the instrumented reference interpreter,
//!   for both models, both bounds, and k from 0 on.
//! - [`corpus`]: programs of the corpus.
//! - [`random`]: random programs.
//! - [`engine`]: the engine that searches translations.
//! - [`mutations`]: mutations of the rules are detected.
//!
//! Direction: both. A search that is cut short is not compared. So every test counts its
//! comparisons and fails if there are too few.
//!
//! `FENCEPOST_SEEDS=from..to` selects other random programs.

mod compare;
mod corpus;
mod engine;
mod explore;
mod mutations;
mod random;
