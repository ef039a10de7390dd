//! Compares the language store with naive definitions, on random and on selected languages.

mod classes;
mod common;
mod large;
mod operations;
mod rendering;
