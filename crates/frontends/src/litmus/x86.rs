//! X86 and X86_64 programs: columns of instructions.
//!
//! - [`ast`]: instructions and operands; in both languages the destination comes first.
//! - [`registers`]: names of registers and of their parts.
//! - [`parse`]: parses tokens into columns.
//! - [`mod@print`]: prints instructions in herd's format.
//! - [`mod@lower`]: lowers a column to a thread.
//! - [`flags`]: the status flags.
//! - `loops`: the loop depth of each cell.

pub mod ast;
pub mod flags;
mod loops;
pub mod lower;
pub mod parse;
pub mod print;
pub mod registers;
