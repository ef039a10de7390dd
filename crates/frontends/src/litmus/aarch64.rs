//! AArch64 programs: columns of instructions.
//!
//! - [`ast`]: instructions and operands.
//! - [`registers`]: names of registers.
//! - [`parse`]: parses instructions.
//! - [`mod@lower`]: lowers a column to a thread.
//! - `exclusives`: which exclusive stores an exclusive load can reach.
//! - `targets`: the locations of computed addresses, and checks that depend on them.

pub mod ast;
mod exclusives;
pub mod lower;
pub mod parse;
pub mod registers;
pub(super) mod targets;
