//! The front end for C.
//!
//! - [`sequential`]: random programs without threads have the results of a C compiler.
//! - [`concurrent`]: random programs with threads have the outcomes of the same `.fp` program.
//! - [`corpus`]: the programs of `corpus/c` have their expected verdicts.
//! - [`narrowing`]: programs keep their verdicts when numbers of 64 bits are replaced.
//! - [`bad_input`]: no input makes the front end panic.

mod bad_input;
mod concurrent;
mod corpus;
mod narrowing;
mod sequential;
