//! Fence inference: the cheapest fences that make a program right.
//!
//! - [`menu`]: which barriers are offered, and what they cost; [`candidates`]: where.
//! - [`set`], [`hitting`]: the cheapest set that hits every clause.
//! - [`constraint`]: `L1 < L2`.
//! - [`edit`]: a placement as text.
//! - [`fixpoint`]: the papers' way, with `graph` (the labelled transition system) and `avoid` (its formulas);
//!   [`enforce`]: the cheapest placement that keeps a formula.

mod avoid;
pub mod candidates;
pub mod clause;
pub mod constraint;
pub mod edit;
pub mod enforce;
pub mod fixpoint;
mod graph;
pub mod hitting;
pub mod lazy;
pub mod menu;
pub mod repair;
pub mod set;
