//! Programs for X86 and X86_64: columns of instructions.
//!
//! - [`ast`]: instructions and operands, both kinds alike: the destination comes first.
//! - [`registers`]: names of registers and of parts of them.
//! - [`parse`]: from tokens to columns.
//! - [`show`]: instructions as herd writes them.
//! - [`mod@lower`]: from a column to a thread; [`flags`]: what comparisons leave behind; `loops`: which cells are in loops.

pub mod ast;
pub mod flags;
mod loops;
pub mod lower;
pub mod parse;
pub mod registers;
pub mod show;
