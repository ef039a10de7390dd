//! All tests of the monitor, as one binary.

mod campaign;
mod cases;
mod common;
mod programs;
