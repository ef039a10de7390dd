//! Test support shared by all crates.
//!
//! - [`Random`]: the only source of random numbers.
//! - [`seeds()`]: the seeds of a random test, in `cargo test` and in `cargo xtask campaign`.
//! - [`programs`]: generators of random programs, as source text, and a shrinker.
//! - [`c_programs`]: generators of random C programs.
//! - [`lower()`], [`problem`], [`corpus`]: source text and corpus files, lowered to problems.
//! - [`catch_panic`]: turns a panic into an error.
//! - [`tools`]: skips tests whose external programs are not installed.
//!
//! This crate depends on no memory model and no engine, so that the tests of every crate can use
//! it.

pub mod c_programs;
pub mod corpus;
pub mod programs;
pub mod tools;

mod lower;
mod panics;
mod random;
mod seeds;

pub use lower::{c_problem, litmus_problem, lower, lower_with_orders, lower_with_places, problem};
pub use panics::catch_panic;
pub use random::Random;
pub use seeds::{is_campaign, report_comparisons, seeds};
