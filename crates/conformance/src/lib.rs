//! Fencepost compared with a reference.
//!
//! Three things that know nothing of the engines, so that a test can hold one against the other:
//! - [`mod@reference`]: the book's page "What a program means", read a second time and implemented
//!   as plainly as possible. Slow, and easy to compare with that page line by line.
//! - [`axiomatic`]: the same page in the other style, for litmus tests: candidate executions and two
//!   axioms, no states.
//! - [`traces`]: the traces of a program's runs, all of them: robust by definition.
//!
//! The tests of this crate check the reference by itself (litmus tests, models within models) and
//! everything else against it.

pub mod axiomatic;
pub mod reference;
pub mod traces;
