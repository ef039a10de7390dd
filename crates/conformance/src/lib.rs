//! Fencepost compared with a reference.
//!
//! Three things that know nothing of the engines, so that a test can hold one against the other:
//! - [`mod@reference`]: the book's page "What a program means", read a second time and implemented
//!   as plainly as possible. Slow, and easy to compare with that page line by line.
//! - [`random`]: small random programs, as source text, that reach the corners of the language;
//!   and a shrinker for those that show a difference.
//! - [`traces`]: the traces of a program's runs, all of them: robust by definition.
//!
//! The tests of this crate check the reference by itself (litmus tests, models within models) and
//! everything else against it.

pub mod random;
pub mod reference;
pub mod traces;
