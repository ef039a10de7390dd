//! All tests of the generator of litmus tests, as one binary.

mod generation;
mod texts;
