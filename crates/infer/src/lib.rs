//! Fence inference: the cheapest fences that make a program right.
//!
//! - [`menu`]: which barriers are offered, and what they cost; [`candidates`]: where.
//! - [`set`], [`hitting`]: the cheapest set that hits every clause.
//! - [`lazy`]: the cheapest fences, learnt from violations; [`clause`]: what a violation teaches.
//! - [`papers`]: the papers' way; [`constraint`]: `L1 < L2`; [`fixpoint`]: the formula over constraints, with
//!   `graph` (the labelled transition system), `windows` and `coherent` (what prevents its steps, for exact and
//!   for abstract models) and `avoid` (formulas of states); [`enforce`]: the cheapest placement that keeps
//!   a formula.
//! - [`repair`]: what inference answers.

// A new operation, event or property must be decided on everywhere: no catch-all arms on our own enums.
#![warn(clippy::wildcard_enum_match_arm)]

mod avoid;
pub mod candidates;
pub mod clause;
mod coherent;
pub mod constraint;
pub mod enforce;
pub mod fixpoint;
mod graph;
pub mod hitting;
pub mod lazy;
pub mod menu;
pub mod papers;
pub mod repair;
pub mod set;
mod windows;
