//! Programs in herd's dialect of C.
//!
//! - [`ast`]: functions, statements, expressions.
//! - [`parse`]: from tokens to functions.
//! - [`table`]: what each function that a test may call means.
//! - [`mod@lower`]: from a function to a thread.

pub mod ast;
pub mod lower;
pub mod parse;
pub mod table;

#[cfg(test)]
mod tests;
