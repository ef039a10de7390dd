//! Engines that check the properties of a program under a memory model.
//!
//! - [`engine`]: the interface of an engine: task, settings, budget, answer.
//! - [`verdict`]: the verdict of an answer, and `judge`, the only function that reaches one.
//! - [`explicit`]: exhaustive search over packed states.
//! - [`dive`]: depth-first search for a run that decides a condition on final states.
//! - [`abstraction`]: proofs for store buffers of any length.
//! - [`few_threads`]: violations in which few threads take steps.
//! - `forgetting`: proofs for windows of any length.
//! - `hiding`: proofs without the accesses to some locations.
//! - [`automata`]: exact search for store buffers of any length.
//! - [`stateless`]: enumeration of sequentially consistent executions.
//! - [`robust`]: robustness: does a program have only sequentially consistent behaviours?
//! - [`happens_before`]: is one run sequentially consistent?
//! - `attack`: robustness against TSO for programs with loops, by a search of SC states.
//! - [`translate`]: search of a program under SC that simulates the store buffers.
//! - [`values`]: another engine on a program with abstract values.
//! - [`auto`]: a portfolio of the other engines.
//! - [`evidence`]: replayed runs that show a violation or a witness.
//! - [`outcome_runs`]: runs that have no outcome.
//! - [`path`]: from a target of a search to the steps that lead there.
//! - [`concretise`]: from a run of an abstract model to a run of the exact model.
//! - [`counters`]: proofs for programs whose numbers grow for ever.
//! - [`certificate`]: proofs for an independent checker.
//! - [`data_races`]: data races of C programs.
//! - [`growing_variable`]: variables that take more and more values.

// A new operation, event or property must be handled everywhere: no catch-all arms on our own
// enums.
#![warn(clippy::wildcard_enum_match_arm)]

pub mod abstraction;
pub(crate) mod attack;
pub mod auto;
pub mod automata;
pub mod bounded;
pub mod certificate;
pub mod concretise;
pub mod counters;
pub mod data_races;
pub mod dive;
pub mod engine;
pub mod evidence;
pub mod explicit;
pub mod few_threads;
mod forgetting;
pub mod growing_variable;
pub mod happens_before;
mod hiding;
pub mod livelock;
pub mod outcome_runs;
pub mod path;
pub mod robust;
pub(crate) mod sc;
pub mod stateless;
mod transfer;
pub mod translate;
pub mod values;
pub mod verdict;

pub use abstraction::Abstraction;
pub use auto::Auto;
pub use automata::Automata;
pub use bounded::Bounded;
pub use data_races::{RaceSearch, find_data_race, race_of_run};
pub use dive::{Dived, dive_for_outcome};
pub use engine::{Answer, Budget, Decider, Engine, Settings, Statistics, Task};
pub use evidence::{Claim, ClaimWithRun, Evidence, Witness};
pub use explicit::Explicit;
pub use outcome_runs::{OutcomeRuns, UnfinishedThread};
pub use robust::{ResumableRobust, Robust, RobustDefinition, RobustMethod};
pub use stateless::Stateless;
pub use translate::Translate;
pub use values::ValueAbstraction;
pub use verdict::{Bound, Inconclusive, InconclusiveReason, Unsupported, Verdict};
