//! Litmus tests: do they show what they must?
//!
//! - [`ask`]: reading a test and running it.
//! - [`corpus`]: the tests of `corpus/x86` against what was worked out by hand, the reference interpreter and the
//!   axiomatic judge.
//! - [`suite`]: the generated tests of all short critical cycles against theory.
//! - [`back`]: tests written in our language and read again.
//! - [`recorded`]: tests with recorded outcomes, from a folder outside of the project.
//!
//! Direction: both. Sets of outcomes are compared whole, and every test counts what it compared.

mod ask;
mod back;
mod corpus;
mod recorded;
mod suite;
