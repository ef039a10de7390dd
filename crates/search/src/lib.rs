//! State-space search over opaque states (byte strings).
//!
//! A [`TransitionSystem`] provides encoded states and their successors. [`explore()`] visits every
//! reachable state in breadth-first order, in parallel. The resulting [`Exploration`] does not
//! depend on the number of threads.
//!
//! In an [`Ordered`] system one state may cover others. [`explore_ordered`] stores and expands only
//! states that no other state covers: an [`Antichain`].
//!
//! - [`system`]: the traits of transition systems, and the sink for their results.
//! - [`visited`]: the set of visited states, packed, with parents for paths.
//! - [`antichain`]: the visited set of an ordered system.
//! - [`explore`](mod@explore): the search.
//! - [`dive`](mod@dive): a depth-first search for one target.
//! - [`graph`](mod@graph): the explored states as a graph with labelled steps, for analyses of all
//!   paths.
//! - [`components`](mod@components): strongly connected components of a graph.
//! - `interner`: numbers for byte strings, for systems that store parts of states once.
//! - [`limits`]: limits, stop reasons, cancellation, progress.

pub mod antichain;
mod chunk;
pub mod components;
pub mod dive;
mod ends;
pub mod explore;
pub mod graph;
mod interner;
mod level;
mod limits;
pub mod system;
mod table;
pub mod visited;

pub use antichain::Antichain;
pub use components::components;
pub use dive::dive;
pub use explore::{Exploration, Options, Target, explore, explore_ordered, resume};
pub use graph::{Graph, Labelled, Steps, graph, graph_ordered};
pub use interner::Interner;
pub use limits::{Cancel, Coverage, Limits, Progress, Stop, WorkLimits};
pub use system::{BLOCK, Encoding, Ordered, Relation, Sink, TransitionSystem};
pub use visited::{Arena, Shard, StateId, hash};

#[cfg(test)]
mod tests;
