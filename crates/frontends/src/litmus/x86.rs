//! X86 and X86_64 programs: columns of instructions.
//!
//! - [`ast`]: instructions and operands; in both languages the destination comes first.
//! - [`registers`]: names of registers and of their parts.
//! - [`parse`]: parses instructions.
//! - [`mod@print`]: prints instructions in herd's format.
//! - [`mod@lower`]: lowers a column to a thread.

pub mod ast;
pub mod lower;
pub mod parse;
pub mod print;
pub mod registers;
