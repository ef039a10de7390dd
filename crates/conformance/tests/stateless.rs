//! Can the stateless engine be trusted? Held against the explicit one: verdicts, runs that show violations,
//! outcomes; and against itself: with other numbers of search threads, stopped and resumed, with bounds on preemptions.
//!
//! - [`ask`]: engines asked, answers compared.
//! - [`agreement`]: random programs; [`corpus`]: the corpus, and which of its programs are robust.
//! - [`edges`]: programs decided by hand.
//! - [`repeated`]: the same answer every time; [`preempted`]: bounds on preemptions.
//!
//! Direction: both under SC; under TSO and PSO the engine may not know. Programs that are too large are passed over, so
//! every test counts how often it could compare, and fails when that is too seldom.
//!
//! `FENCEPOST_SEEDS=from..to` draws other random programs than the usual ones.

mod agreement;
mod ask;
mod corpus;
mod edges;
mod preempted;
mod repeated;
