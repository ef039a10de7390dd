//! The front end for C: programs with `main` and threads, as people write them for model checkers.
//!
//! ```text
//! text -> preprocess (tokens) -> parse (ast) -> check (typed) -> lower (program representation)
//! ```
//!
//! - [`source_map`]: the files of a translation unit.
//! - [`ast`]: the syntax tree.
//! - [`check`]: builds the typed tree.
//! - [`codes`]: the codes of diagnostics.
//! - [`typed`]: the tree with types, sizes and conversions.
//! - [`orders`]: the values of memory orders.

pub mod ast;
pub mod check;
pub mod codes;
pub mod orders;
pub mod source_map;
pub mod typed;
