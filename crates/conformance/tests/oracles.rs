//! Tests of the oracles: expectations derived by hand, and comparisons of oracles with each other.
//!
//! - [`contexts`]: the reference interpreter with a bound on contexts.
//! - [`traces`]: the enumeration of traces.

mod contexts;
mod traces;
