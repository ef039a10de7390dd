//! All tests of the binary, as one test binary.

mod command_line;
mod litmus;
mod litmus_files;
mod processes;
mod repairs;
mod reproduce;
mod spin;
