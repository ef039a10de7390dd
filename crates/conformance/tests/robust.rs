//! Verdicts on robustness. A program is robust if its traces are those of SC (\[BM08\]). These
//! tests enumerate both trace sets and compare them. Every engine must agree with the comparison.
//!
//! - [`queries`]: trace sets, queries to engines, random programs.
//! - [`verdicts`]: robust if and only if the trace sets are equal, on random programs and on litmus
//!   tests.
//! - [`evidence`]: the evidence is a run of the weaker machine, and its trace is not an SC trace.
//! - [`counts`]: one execution for each trace, and the number of all interleavings.
//! - [`spin_loops`]: spin loops, decided by hand.
//! - [`strict`]: the strict definition, in which failed spin iterations count.
//! - [`fence_counts`]: the fewest fences that make a program robust by the strict definition.
//! - [`cases`]: other programs decided by hand.
//!
//! Direction: both. Programs whose traces cannot be enumerated are skipped. So every test counts
//! its comparisons and fails if there are too few.
//!
//! `FENCEPOST_SEEDS=from..to` selects other random programs.

mod cases;
mod counts;
mod evidence;
mod fence_counts;
mod queries;
mod spin_loops;
mod strict;
mod verdicts;
