//! Exactness of the automata engine: no outcome and no violation is missing, and none is added, for
//! buffers of any length (\[LW10\], and our extension to PSO).
//!
//! - [`queries`]: queries to engines within limits, and comparisons of answers.
//! - [`outcomes`]: where exhaustive search is possible, the engine has the same outcomes and
//!   verdicts, with and without sleep sets: on the corpus and on random programs.
//! - [`unbounded_buffers`]: on random programs with unbounded buffers, the results are between
//!   those of a bounded search and of an abstraction.
//! - [`agreement`]: verdicts on mutual exclusion agree with the corpus and with the abstraction.
//! - [`certificates`]: verified programs get an accepted certificate.
//! - [`fences`]: this engine and the usual one infer fences of the same cost.
//! - [`silent_commits`]: commits that change nothing but the buffer lead to no other outcomes.
//! - [`mutations`]: mutations of the rules are detected.
//!
//! Direction: both. A search that is cut short may miss outcomes. So every test counts its
//! comparisons and fails if there are too few.
//!
//! `FENCEPOST_SEEDS=from..to` selects other random programs.

mod agreement;
mod certificates;
mod fences;
mod mutations;
mod outcomes;
pub(crate) mod queries;
mod silent_commits;
mod unbounded_buffers;
