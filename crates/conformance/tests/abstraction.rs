//! Soundness and precision of the abstract store buffers. They must over-approximate the exact
//! models, but not more than the book's page on abstract store buffers states.
//!
//! - [`requirements`]: the requirements on one program: *inclusion* (every exact outcome and every
//!   exact violation is found), *hierarchy* (coarser domains allow more), *exactness* (with heads
//!   as long as the longest queue, nothing is added).
//! - [`inclusion`]: these requirements on the corpus and on random programs.
//! - [`precision`]: programs that must be verified: those of \[KVY11\] Table 1, and some litmus
//!   tests.
//! - [`mutations`]: mutations of the abstract rules are detected.
//! - [`agreement`]: the engines on top: `auto` compared with `explicit`, and different numbers of
//!   threads.
//! - [`tables`]: searches with tabulated steps compared with searches that execute every step.
//!
//! Direction: a wrong "verified" is the worst possible error. So inclusion is checked with all and
//! with no reductions, against two exact oracles: the explicit engine and the reference
//! interpreter.
//!
//! `FENCEPOST_SEEDS=from..to` selects other random programs.

mod agreement;
mod inclusion;
mod mutations;
mod precision;
mod requirements;
mod tables;
