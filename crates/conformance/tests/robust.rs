//! Can verdicts about robustness be trusted? A program is robust when its traces are those of SC
//! (\[BM08\]); here both sets are written down and compared, and every engine has to say the same.
//!
//! - [`ask`]: trace sets, engines asked, random programs.
//! - [`verdicts`]: robust if and only if the sets are equal, on random programs and on litmus tests.
//! - [`evidence`]: a run that is shown is one of the weaker machine, and its trace is not one of SC.
//! - [`counts`]: one run for each trace, and all interleavings, counted.
//! - [`waits`]: loops that only re-read; [`cases`]: other programs decided by hand.
//!
//! Direction: both. Programs whose traces cannot be written down are passed over, so every test counts
//! how often it could compare, and fails when that is too seldom.
//!
//! `FENCEPOST_SEEDS=from..to` draws other random programs than the usual ones.

mod ask;
mod cases;
mod counts;
mod evidence;
mod verdicts;
mod waits;
