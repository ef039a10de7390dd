//! Can the automata engine be trusted? It is to be exact: no outcome and no error missing, none added, for
//! buffers of any length (\[LW10\], and our extension to PSO).
//!
//! - [`ask`]: engines asked within limits, and answers held against each other.
//! - [`outcomes`]: where everything can be counted, the same outcomes and verdicts, with sleep sets and without: on
//!   the corpus and on random programs.
//! - [`loops`]: random programs whose buffers grow without end, between what a bounded search finds and what an
//!   abstract one allows.
//! - [`agreement`]: verdicts about mutual exclusion against the truth and against the abstraction.
//! - [`certificates`]: what is verified, proved a second time.
//! - [`fences`]: the cheapest fences with this verifier and with the usual one.
//! - [`mutations`]: would any of this notice an error in a rule?
//!
//! Direction: both. A search that is cut short says nothing about what is missing, so every test counts how
//! often it could compare, and fails when that is too seldom.
//!
//! `FENCEPOST_SEEDS=from..to` draws other random programs than the usual ones.

mod agreement;
mod ask;
mod certificates;
mod fences;
mod loops;
mod mutations;
mod outcomes;
