//! The front end for C: programs with `main` and threads, as people write them for model checkers.
//!
//! ```text
//! text -> preprocess (tokens) -> parse (ast) -> check (typed) -> lower (program representation)
//! ```
//!
//! - [`source_map`]: the files of a translation unit.
//! - [`tokens`], [`literals`]: the lexer, and the values of numbers, characters and strings.
//! - [`preprocess`]: macros, conditionals and includes.
//! - [`headers`]: our own headers.
//! - [`parse`]: builds the syntax tree.
//! - [`ast`]: the syntax tree.
//! - [`check`]: builds the typed tree.
//! - [`typed`]: the tree with types, sizes and conversions.
//! - [`lower`](mod@lower): builds the program representation.
//! - [`orders`]: the values of memory orders.
//! - [`fences`]: the fences that inference inserts.
//! - [`frontend`]: all steps together.
//! - [`codes`]: the codes of diagnostics.

pub mod ast;
pub mod check;
pub mod codes;
mod fences;
pub mod frontend;
pub mod headers;
pub mod literals;
pub mod lower;
pub mod orders;
pub mod parse;
pub mod preprocess;
pub mod source_map;
pub mod spellings;
mod stack;
pub mod tokens;
pub mod typed;

pub use frontend::CFrontend;
pub use parse::parse_unit;
pub use preprocess::PreprocessOptions;
