//! Fence inference: computes the cheapest fences that make a program correct.
//!
//! - [`fence_costs`]: the fence kinds that inference may place, with their costs.
//! - [`candidates`]: the places for them. [`order_candidates`]: stronger memory orders of accesses.
//! - [`set`], [`hitting_set`]: the cheapest set that hits every clause.
//! - [`lazy`]: counterexample-guided inference. [`clause`] computes the clause of a violating run.
//!   `few_threads` looks for violations in which few threads take steps.
//! - [`fixpoint_inference`]: inference from avoid formulas \[KVY10, KVY11\]. [`constraint`] defines
//!   `L1 < L2`. [`fixpoint`] computes the avoid formula: `labelled_machine` is the labelled
//!   transition system, `window_prevention` and `coherence_prevention` label its steps for exact
//!   and for abstract models, and `avoid` represents the formulas of states.
//!   [`place_for_constraints`] computes the cheapest placement that enforces a formula.
//! - [`repair`]: the result types.
//! - [`weaken`]: the orders and fences that are stronger than necessary.
//! - [`optimality`]: writes the proof that a repair is the cheapest.

// A new operation, event or property must be handled everywhere: no catch-all arms on our own
// enums.
#![warn(clippy::wildcard_enum_match_arm)]

mod avoid;
pub mod candidates;
pub mod clause;
mod coherence_prevention;
pub mod constraint;
pub mod fence_costs;
mod few_threads;
pub mod fixpoint;
pub mod fixpoint_inference;
pub mod hitting_set;
mod labelled_machine;
pub mod lazy;
pub mod optimality;
pub mod order_candidates;
pub mod place_for_constraints;
pub mod repair;
pub mod set;
pub mod weaken;
mod window_prevention;
