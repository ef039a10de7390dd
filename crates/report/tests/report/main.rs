//! Tests of the text and JSON output on small programs.
//!
//! `INSTA_UPDATE=always cargo test -p fencepost-report` updates the snapshots.

mod common;
mod outcomes;
mod pictures;
mod repairs;
mod results;
mod weakenings;
