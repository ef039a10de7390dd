//! All tests of the `fencepost` binary, in one test binary.

mod command_line;
mod endless_inputs;
mod hostile_text;
mod included_files;
mod litmus;
mod litmus_behaviour;
mod litmus_files;
mod parallel_files;
mod processes;
mod recorder;
mod repairs;
mod reproduce;
mod spin;
mod verifiers;
mod written_files;
