//! Random C programs, as source text.
//!
//! - [`sequential`]: programs without threads, for a comparison with a C compiler.
//! - [`Concurrent`]: small programs with threads, as C and as `.fp`.
//!
//! | module | content |
//! |---|---|
//! | [`types`] | integer types, their promotion and common types |
//! | [`expressions`] | expressions with the range of their values |
//! | [`statements`] | statements, loops, jumps |
//! | [`mod@sequential`] | declarations and whole programs |
//! | [`concurrent`] | programs with threads |
//!
//! Sequential programs have no undefined behaviour: the generator knows a range of every value and
//! guards an operation that could overflow. Side effects are never unsequenced.

mod concurrent;
mod expressions;
mod sequential;
mod statements;
mod types;

pub use concurrent::{Concurrent, Dialect, concurrent};
pub use sequential::{RESULTS, Sequential, sequential};
