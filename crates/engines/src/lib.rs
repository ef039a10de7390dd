//! Ways to answer whether a program keeps its properties under a memory model.
//!
//! - [`engine`]: what an engine is: a task in, an answer out.
//! - [`verdict`]: what an answer says, and the one function that decides it.
//! - [`explicit`]: exhaustive search over packed states.

pub mod engine;
pub mod explicit;
pub mod verdict;

pub use engine::{Answer, Budget, Engine, Settings, Statistics, Task};
pub use explicit::Explicit;
pub use verdict::{Evidence, Inconclusive, Verdict, Violation, Why};
