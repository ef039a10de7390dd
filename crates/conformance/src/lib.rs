//! Fencepost compared with a reference.
//!
//! Four things that know nothing of the engines, so that a test can hold one against the other:
//! - [`mod@reference`]: the book's page "What a program means", read a second time and implemented
//!   as plainly as possible. Slow, and easy to compare with that page line by line.
//! - [`axiomatic`]: the same page in the other style, for litmus tests: candidate executions and two
//!   axioms, no states.
//! - [`random`]: small random programs, as source text, that reach the corners of the language;
//!   and a shrinker for those that show a difference.
//! - [`traces`]: the traces of a program's runs, all of them: robust by definition.
//!
//! The tests of this crate check the reference by itself (litmus tests, models within models) and
//! everything else against it.

pub mod axiomatic;
pub mod random;
pub mod reference;
pub mod traces;
