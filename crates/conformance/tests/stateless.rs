//! The stateless engine agrees with the explicit engine (verdicts, evidence, outcomes) and with
//! itself (other numbers of search threads, interrupted and resumed, with bounds on preemptions).
//!
//! - [`queries`]: queries to engines, comparisons of answers, random programs.
//! - [`agreement`]: random programs.
//! - [`corpus`]: the corpus, and which of its programs are robust.
//! - [`corner_cases`]: programs decided by hand.
//! - [`reproducibility`]: the same answer for every number of threads and after a resumption.
//! - [`preemption_bounds`]: bounds on preemptions.
//! - [`robustness_arm`]: verdicts from SC states in the portfolio.
//! - [`unwinding`]: bounds on iterations.
//!
//! Direction: both under SC. Under TSO and PSO the engine may be inconclusive. Programs that are
//! too large are skipped. So every test counts its comparisons and fails if there are too few.
//!
//! `FENCEPOST_SEEDS=from..to` selects other random programs.

mod agreement;
mod corner_cases;
mod corpus;
mod preemption_bounds;
mod queries;
mod reproducibility;
mod robustness_arm;
mod unwinding;
