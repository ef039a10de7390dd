//! Memory models, and the machine that executes a program under a memory model.
//!
//! - [`machine`]: the only code that executes operations. It also implements the transition system
//!   for searches.
//! - [`model`]: the interface between a memory model and the machine.
//! - [`buffered`]: the common part of the store-buffer models. [`sc`], [`tso`] and [`pso`] are its
//!   disciplines.
//! - [`coherence`]: abstract store buffers of unbounded length (partial coherence), for TSO and
//!   PSO.
//! - [`symbolic`]: sets of store-buffer contents as regular languages, for TSO and PSO.
//! - [`table`]: table-driven models with an out-of-order window: RMO, IBM 370, user-defined models.
//! - [`arm`]: the model of ARMv8-A.
//! - [`window`]: the out-of-order window of these models.
//! - [`catalog`]: the models by name, and model files.
//! - [`shape`], [`future_accesses`], [`grace_periods`]: static facts about a program.
//! - [`state`], [`bits`], [`address`]: a state, its packed form, and address evaluation.
//! - [`symmetry`]: searches that store one state for each order of interchangeable threads.
//! - [`specification`]: the sequential specification that linearizability is checked against.
//! - [`event`], [`replay`]: the events of a step, and a replayed run with annotated events.
//! - [`mutation`]: deliberate errors for the tests.

// Every place that depends on a variant of our own enums lists all variants: a new operation, event
// or property must be handled there.
#![warn(clippy::wildcard_enum_match_arm)]

pub mod address;
pub mod arm;
pub mod atomic_blocks;
pub mod bits;
pub mod buffered;
pub mod catalog;
pub mod coherence;
pub mod event;
pub mod future_accesses;
pub mod grace_periods;
pub mod machine;
pub mod model;
pub mod mutation;
pub mod pso;
pub mod replay;
pub mod sc;
pub mod shape;
pub mod specification;
pub mod state;
pub mod symbolic;
pub mod symmetry;
pub mod table;
pub mod tso;
pub mod window;

pub use catalog::{ModelFileError, ModelSpec, Visitor};
pub use event::{Event, EventKind, Source};
pub use machine::{Action, Attempt, Machine, Reductions, Step, StepResult};
pub use model::{Covering, Fidelity, MemoryModel, StepFailure};
