//! All tests of the monitor, in one binary.

mod campaign;
mod cases;
mod common;
mod programs;
mod stream;
