//! All tests of the litmus test generator, in one binary.

mod generation;
mod texts;
