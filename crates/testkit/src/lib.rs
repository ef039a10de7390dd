//! What the tests of all crates share.
//!
//! - [`Random`]: the one source of random numbers.
//! - [`seeds`]: which seeds a random test draws, in `cargo test` and in `cargo xtask campaign`.
//! - [`programs`]: generators of random programs, as source text, and a shrinker.
//! - [`lower()`], [`problem`], [`corpus`]: from source text and corpus files to problems.
//! - [`caught`]: a panic as an error.
//! - [`tools`]: tests that need an outside program.
//!
//! Nothing here knows a memory model or an engine, so that the tests of every crate can use it.

pub mod corpus;
pub mod programs;
pub mod tools;

mod lower;
mod panics;
mod random;
mod seeds;

pub use lower::{lower, lower_with_places, problem};
pub use panics::caught;
pub use random::Random;
pub use seeds::{compared, is_campaign, seeds};
