//! Memory models, and the machine that runs a program under one.
//!
//! - [`machine`]: the only code that executes operations; its steps; the machine as a system to search.
//! - [`model`]: what a memory model is to the machine.
//! - [`buffered`]: what store-buffer models share; [`sc`], [`tso`], [`pso`] are its disciplines.
//! - [`coherence`]: abstract store buffers of any length, for TSO and PSO.
//! - [`symbolic`]: sets of store-buffer contents as regular languages, for TSO and PSO.
//! - [`table`]: table-driven models with a window of unperformed accesses: RMO, IBM 370, your own.
//! - [`catalog`]: the models by name.
//! - [`shape`], [`state`], [`bits`]: what is known of a program, a state, and its packed form.
//! - [`specification`]: what operations may return when each runs alone.
//! - [`event`], [`replay`]: what happens in a step, and a whole run told step by step.
//! - [`mutation`]: deliberate errors for the tests.

// A new operation, event or property must be decided on everywhere: no catch-all arms on our own enums.
#![warn(clippy::wildcard_enum_match_arm)]

pub mod address;
pub mod ahead;
pub mod bits;
pub mod buffered;
pub mod catalog;
pub mod coherence;
pub mod event;
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
pub mod table;
pub mod tso;

pub use catalog::{ModelFileError, ModelSpec, Visitor};
pub use event::{Event, EventKind, Source};
pub use machine::{Action, Attempt, Machine, Reductions, Step, Taken};
pub use model::{Covering, Fidelity, MemoryModel, Stumble};
