//! Cycles of edges: the rules for cycles, and the canonical rotation of a cycle.
//!
//! The rules for a cycle:
//! - An edge starts with the kind of access that its predecessor ends with.
//! - There is an external edge. External edges separate the threads. With a single external edge
//!   the cycle has one thread, as in `CoWW`.
//! - An edge to a different location leads to a new location, and the last such edge leads back
//!   to the first location. So a cycle has no such edge (then it has one location) or at least
//!   two.
//! - A cycle with one location contains program order. Without it, each access would precede
//!   itself, and no condition on values can express that.
//! - A location has at most two stores. The final value shows which of two stores is last in
//!   coherence order, but does not determine the order of three stores. diy uses observer threads
//!   for that; we reject such cycles.
//! - A thread has at most six loads, because each load needs a register.
//!
//! All rotations of a cycle are the same cycle with threads and locations renamed. The canonical
//! rotation is the one that diy shows in the `Orig=` line of a test. It starts at the start of a
//! thread. Of these rotations it is the least by, in this order: the first and last accesses of
//! all threads (`W`, `WW`, `RR`, `RW`, `WR`, `R`, in this order, so that the writer is the first
//! thread of message passing), the number of edges in the first thread, the edges (from-read,
//! coherence, fences, read-from, program order, exchange).
//!
//! DIVERGENCE: diy sorts internal read-from before internal coherence, coherence before fences, and
//! fences before read-from. This is not an order, so its choice can depend on the rotation of the
//! input. We sort coherence first.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::edge::{Access, Edge, UnknownEdge};
use crate::x86::X86_REGISTER_COUNT;

/// The maximal number of loads in a thread: each load needs a register.
const MAX_LOADS: usize = X86_REGISTER_COUNT;

/// The maximal number of stores to a location.
const MAX_STORES: u32 = 2;

/// A cycle of edges that defines a test. Two cycles are equal if they are rotations of each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cycle {
    /// The edges in the canonical rotation, from the start of the first thread.
    edges: Vec<Edge>,
}

/// Why edges do not form a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CycleError {
    /// A word is not the name of an edge.
    UnknownEdge(UnknownEdge),
    /// The second edge does not start with the kind of access that the first ends with.
    Mismatch(Edge, Edge),
    /// No edge leads to another thread.
    NoExternalEdge,
    /// Exactly one edge leads to a different location.
    SingleLocationChange,
    /// The cycle has one location and no program order.
    NoProgramOrder,
    /// A location has more than two stores.
    TooManyStores,
    /// A thread has more loads than there are registers.
    TooManyLoads,
}

impl fmt::Display for CycleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CycleError::UnknownEdge(unknown) => unknown.fmt(f),
            CycleError::Mismatch(a, b) => {
                write!(
                    f,
                    "edge {a} ends with {}, but the next edge {b} starts with {}",
                    a.target(),
                    b.source()
                )
            }
            CycleError::NoExternalEdge => {
                f.write_str("no edge leads to another thread; add Rfe, Fre or Coe")
            }
            CycleError::SingleLocationChange => f.write_str(
                "only one edge changes the location; use none or at least two such edges",
            ),
            CycleError::NoProgramOrder => f.write_str(
                "all accesses are to one location without program order; add a Pos edge",
            ),
            CycleError::TooManyStores => write!(f, "a location has more than {MAX_STORES} stores"),
            CycleError::TooManyLoads => write!(f, "a thread has more than {} loads", MAX_LOADS),
        }
    }
}

impl std::error::Error for CycleError {}

/// An access of the test that a cycle defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) thread: usize,
    pub(crate) location: usize,
    pub(crate) access: Access,
    /// The value that a store writes, or that a load must read. The values of stores are 1, 2,
    /// ... in coherence order. A load reads the store before it on the cycle.
    pub(crate) value: u32,
}

impl Cycle {
    /// Creates the cycle of these edges, in any rotation.
    ///
    /// # Errors
    /// The first rule that the edges violate, in the order of the rules in the module header.
    pub fn new(edges: &[Edge]) -> Result<Cycle, CycleError> {
        let next = edges.iter().cycle().skip(1);
        if let Some((a, b)) = edges.iter().zip(next).find(|(a, b)| a.target() != b.source()) {
            return Err(CycleError::Mismatch(*a, *b));
        }
        let starts = thread_starts(edges);
        let rotations = starts.into_iter().map(|start| rotation(edges, start));
        let least = rotations.min_by(|a, b| compare_rotations(a, b));
        let cycle = Cycle { edges: least.ok_or(CycleError::NoExternalEdge)? };
        let location_changes = edges.iter().filter(|edge| edge.changes_location()).count();
        if location_changes == 1 {
            return Err(CycleError::SingleLocationChange);
        }
        if location_changes == 0 && edges.iter().all(|edge| edge.location_change().is_none()) {
            return Err(CycleError::NoProgramOrder);
        }
        let events = cycle.events();
        if events.iter().any(|e| e.access == Access::Store && e.value > MAX_STORES) {
            return Err(CycleError::TooManyStores);
        }
        let loads = |thread| {
            events.iter().filter(|e| e.thread == thread && e.access == Access::Load).count()
        };
        if (0..cycle.threads().count()).any(|thread| loads(thread) > MAX_LOADS) {
            return Err(CycleError::TooManyLoads);
        }
        Ok(cycle)
    }

    /// Returns the edges, from the start of the first thread.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Returns the edges of each thread. The last edge of a thread is external.
    pub fn threads(&self) -> impl Iterator<Item = &[Edge]> {
        self.edges.split_inclusive(|edge| edge.is_external())
    }

    /// Returns whether all accesses are to one location.
    pub fn has_one_location(&self) -> bool {
        !self.edges.iter().any(|edge| edge.changes_location())
    }

    /// Returns the edges as in diy's `Cycle=` line: the least rotation by the order of [`Edge`].
    pub fn least_rotation(&self) -> Vec<Edge> {
        let all = (0..self.edges.len()).map(|start| rotation(&self.edges, start));
        all.min().expect("a cycle has at least one edge")
    }

    /// Returns the accesses. The edge at an index starts at the access at the same index.
    pub(crate) fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        let (mut thread, mut location) = (0, 0);
        let location_changes = self.edges.iter().filter(|edge| edge.changes_location()).count();
        for edge in &self.edges {
            events.push(Event { thread, location, access: edge.source(), value: 0 });
            thread += usize::from(edge.is_external());
            if edge.changes_location() {
                location = (location + 1) % location_changes;
            }
        }
        self.assign_values(&mut events);
        events
    }

    /// Assigns the values. The stores to a location get 1, 2, ... along the cycle, from the edge
    /// that leads to the location. With a single location they start after the first edge of
    /// program order.
    fn assign_values(&self, events: &mut [Event]) {
        let last_change = self.edges.iter().rposition(|edge| edge.changes_location());
        let before_start = last_change
            .or_else(|| self.edges.iter().position(|edge| edge.location_change().is_some()));
        let start = before_start.map_or(0, |at| at + 1);
        let mut value = 0;
        for step in 0..events.len() {
            let at = (start + step) % events.len();
            value += u32::from(events[at].access == Access::Store);
            events[at].value = value;
            if self.edges[at].changes_location() {
                value = 0;
            }
        }
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&edge_names(&self.edges))
    }
}

impl FromStr for Cycle {
    type Err = CycleError;

    fn from_str(text: &str) -> Result<Cycle, CycleError> {
        let edges: Result<Vec<Edge>, _> = text.split_whitespace().map(str::parse).collect();
        Cycle::new(&edges.map_err(CycleError::UnknownEdge)?)
    }
}

/// Returns the names of the edges, separated by spaces.
pub(crate) fn edge_names(edges: &[Edge]) -> String {
    edges.iter().map(Edge::to_string).collect::<Vec<_>>().join(" ")
}

/// Returns the indices where threads start: after external edges.
fn thread_starts(edges: &[Edge]) -> Vec<usize> {
    let external = (0..edges.len()).filter(|at| edges[*at].is_external());
    external.map(|at| (at + 1) % edges.len()).collect()
}

fn rotation(edges: &[Edge], start: usize) -> Vec<Edge> {
    [&edges[start..], &edges[..start]].concat()
}

/// Compares two rotations that start at the start of a thread. The least is canonical.
fn compare_rotations(a: &[Edge], b: &[Edge]) -> Ordering {
    let threads = |edges: &[Edge]| -> Vec<(u32, usize)> {
        let parts = edges.split_inclusive(|edge| edge.is_external());
        parts.map(|part| (thread_rank(part), part.len())).collect()
    };
    let (left, right) = (threads(a), threads(b));
    let ends = |threads: &[(u32, usize)]| threads.iter().map(|(ends, _)| *ends).collect::<Vec<_>>();
    let first = |threads: &[(u32, usize)]| threads.first().map(|(_, length)| *length);
    let ranks =
        |edges: &[Edge]| edges.iter().map(|edge| (edge_rank(*edge), *edge)).collect::<Vec<_>>();
    ends(&left)
        .cmp(&ends(&right))
        .then_with(|| first(&left).cmp(&first(&right)))
        .then_with(|| ranks(a).cmp(&ranks(b)))
}

/// Returns the rank of a thread, by its first and last access.
fn thread_rank(thread: &[Edge]) -> u32 {
    match ends(thread) {
        (Access::Store, None) => 0,
        (Access::Store, Some(Access::Store)) => 1,
        (Access::Load, Some(Access::Load)) => 2,
        (Access::Load, Some(Access::Store)) => 3,
        (Access::Store, Some(Access::Load)) => 4,
        (Access::Load, None) => 5,
    }
}

/// Returns the first access of a thread, and the last if it has more than one.
pub(crate) fn ends(thread: &[Edge]) -> (Access, Option<Access>) {
    let (first, last) = (thread.first(), thread.last());
    let first = first.expect("a thread has an external edge").source();
    (first, last.filter(|_| thread.len() > 1).map(|edge| edge.source()))
}

fn edge_rank(edge: Edge) -> u32 {
    match edge {
        Edge::FromRead(_) => 0,
        Edge::Coherence(_) => 1,
        Edge::Fenced(..) => 2,
        Edge::ReadFrom(_) => 3,
        Edge::ProgramOrder(..) => 4,
        Edge::Exchange => 5,
    }
}
