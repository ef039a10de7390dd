//! All tests of translation and export, as one binary.

mod buffers;
mod c;
mod common;
mod fp;
mod litmus;
mod loop_bounds;
mod lower;
mod promela;
mod sequential;
mod structure;
