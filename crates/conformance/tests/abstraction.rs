//! Can the abstract store buffers be trusted? They must allow all that the exact models allow, and no more
//! than the book's page "Abstract store buffers" says.
//!
//! - [`examine`]: what is asked of one program: *inclusion* (every exact outcome and every exact error is
//!   there), *hierarchy* (coarser domains allow more), *exactness* (with heads as long as the longest
//!   queue, nothing is added).
//! - [`inclusion`]: asked of the corpus and of random programs.
//! - [`precision`]: verdicts that must not get lost: those of \[KVY11\] Table 1, and some litmus tests.
//! - [`mutations`]: would any of this notice an error in an abstract rule?
//! - [`agreement`]: the engines on top: `auto` against `explicit`, and the number of threads.
//!
//! Direction: one wrong "verified" would be worse than everything else here, so inclusion is asked with all
//! and with no reductions, against two exact sides: the explicit engine, and the reference interpreter.
//!
//! `FENCEPOST_SEEDS=from..to` draws other random programs than the usual ones.

mod agreement;
mod examine;
mod inclusion;
mod mutations;
mod precision;
