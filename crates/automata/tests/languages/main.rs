//! The store of languages against naive definitions, on random and on chosen languages.

mod classes;
mod common;
mod large;
mod operations;
mod shown;
