//! Litmus tests in litmus format have the expected outcomes.
//!
//! - [`queries`]: reads and runs a test.
//! - [`corpus`]: the tests of `corpus/x86`, compared with expectations derived by hand, the
//!   reference interpreter and the axiomatic judge.
//! - [`suite`]: the generated tests of all short critical cycles, compared with theory.
//! - [`round_trip`]: tests exported and read again.
//! - [`recorded`]: tests with recorded outcomes, from a folder outside the project.
//!
//! Direction: both. Complete sets of outcomes are compared, and every test counts its comparisons.

pub(crate) mod corpus;
pub(crate) mod queries;
mod recorded;
mod round_trip;
mod suite;
