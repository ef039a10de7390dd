//! What readers and programs see, on small programs.
//!
//! `INSTA_UPDATE=always cargo test -p fencepost-report` writes what is printed now into the snapshots.

mod common;
mod outcomes;
mod pictures;
mod repairs;
mod results;
