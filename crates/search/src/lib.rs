//! State-space search, without a word about what the states mean.
//!
//! A [`TransitionSystem`] hands out encoded states (byte strings) and expands them; [`explore()`] visits
//! every reachable one breadth first, on all the threads it is given, and returns the same
//! [`Exploration`] whatever their number.
//!
//! In an [`Ordered`] system one state may cover others. [`explore_ordered`] then keeps and expands only states that no
//! other one covers: an [`Antichain`].
//!
//! - [`system`]: what is searched: the traits to implement and the sink they talk to.
//! - [`visited`]: the set of visited states, packed, with parents for paths.
//! - [`antichain`]: the visited set of an ordered system.
//! - [`explore`](mod@explore): the search itself.
//! - [`graph`](mod@graph): what it saw as a graph whose steps have labels, for questions about all paths.
//! - [`limits`]: how far it may go, why it stopped, how it is cancelled and watched.

pub mod antichain;
pub mod explore;
pub mod graph;
pub mod limits;
pub mod system;
pub mod visited;

pub use antichain::Antichain;
pub use explore::{Exploration, Options, Target, explore, explore_ordered};
pub use graph::{Graph, Labelled, Steps, graph, graph_ordered};
pub use limits::{Cancel, Coverage, Limits, Progress, Stop};
pub use system::{Ordered, Relation, Sink, TransitionSystem};
pub use visited::{Arena, Shard, StateId};

#[cfg(test)]
mod tests;
