//! State-space search, without a word about what the states mean.
//!
//! A [`TransitionSystem`] hands out encoded states (byte strings) and expands them; [`explore()`] visits
//! every reachable one breadth first, on all the threads it is given, and returns the same
//! [`Exploration`] whatever their number.
//!
//! - [`system`]: what is searched: the trait to implement and the sink it talks to.
//! - [`visited`]: the set of visited states, packed, with parents for paths.
//! - [`explore`](mod@explore): the search itself.
//! - [`graph`](mod@graph): what it saw as a graph whose steps have labels, for questions about all paths.
//! - [`limits`]: how far it may go, why it stopped, how it is cancelled and watched.

pub mod explore;
pub mod graph;
pub mod limits;
pub mod system;
pub mod visited;

pub use explore::{Exploration, Options, Target, explore};
pub use graph::{Graph, Labelled, Steps, graph};
pub use limits::{Cancel, Coverage, Limits, Progress, Stop};
pub use system::{Sink, TransitionSystem};
pub use visited::StateId;

#[cfg(test)]
mod tests;
