//! Programs in herd's C dialect.
//!
//! - [`ast`]: functions, statements, expressions.
//! - [`parse`]: parses tokens into functions.
//! - [`functions`]: the semantics of the functions that a test may call.
//! - [`mod@lower`]: lowers a function to a thread.

pub mod ast;
pub mod functions;
pub mod lower;
pub mod parse;

#[cfg(test)]
mod tests;
