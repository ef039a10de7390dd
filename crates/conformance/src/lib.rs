//! Conformance tests: Fencepost compared with independent oracles.
//!
//! The oracles share no code with the engines:
//! - [`mod@reference`]: the reference interpreter. A second implementation of the semantics
//!   (`book/src/semantics.md`), as plain as possible. It is slow, and easy to compare with that
//!   page.
//! - [`axiomatic`]: the axiomatic judge, for litmus tests. The same semantics as candidate
//!   executions and two axioms, without states.
//!
//!   Both have a part of their own for the model `arm`, from `book/src/arm.md`.
//! - [`traces`]: the traces of all runs of a program. Decides robustness by its definition.
//!
//! The tests of this crate check the oracles themselves (litmus tests, inclusions between models)
//! and compare every engine, model and corpus program with them.

pub mod axiomatic;
pub mod reference;
pub mod traces;
