//! Ways to answer whether a program keeps its properties under a memory model.
//!
//! - [`engine`]: what an engine is: a task in, an answer out.
//! - [`verdict`]: what an answer says, and the one function that decides it.
//! - [`explicit`]: exhaustive search over packed states.
//! - [`abstraction`]: proofs for store buffers of any length.
//! - [`automata`]: exact search for store buffers of any length.
//! - [`stateless`]: sequentially consistent runs, one after the other.
//! - [`robust`]: whether a program has only sequentially consistent behaviours; [`happens`]: whether a run is one.
//! - `attack`: robustness against TSO for programs with loops, by a search of sequentially consistent states.
//! - [`translate`]: a search of a program under SC that simulates the store buffers.
//! - [`auto`]: the others side by side.
//! - [`evidence`]: runs that show something; [`path`]: from what a search found to the steps that lead there.
//! - [`concretise`]: from a run of an abstract model to one of the exact model.
//! - [`certificate`]: a proof written down, for someone else to check.
//! - [`growing`]: which variable takes more and more values.

// A new operation, event or property must be decided on everywhere: no catch-all arms on our own enums.
#![warn(clippy::wildcard_enum_match_arm)]

pub mod abstraction;
pub(crate) mod attack;
pub mod auto;
pub mod automata;
pub mod certificate;
pub mod concretise;
pub mod engine;
pub mod evidence;
pub mod explicit;
pub mod growing;
pub mod happens;
pub mod path;
pub mod robust;
pub(crate) mod sc;
pub mod stateless;
pub mod translate;
pub mod verdict;

pub use abstraction::Abstraction;
pub use auto::Auto;
pub use automata::Automata;
pub use engine::{Answer, Budget, Decider, Engine, Settings, Statistics, Task};
pub use evidence::{Claim, Evidence, Shown, Witness};
pub use explicit::Explicit;
pub use robust::{Resumed, Robust, RobustBy};
pub use stateless::Stateless;
pub use translate::Translate;
pub use verdict::{Bound, Inconclusive, InconclusiveReason, Unsupported, Verdict};
