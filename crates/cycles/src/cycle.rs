//! Cycles of edges: which ones make a test, and which rotation stands for a cycle.
//!
//! The rules for a cycle:
//! - An edge begins with the kind of access its predecessor ends with.
//! - There is an external edge: a communication that leaves the thread. Threads are what lies between external edges.
//!   With a single one the cycle has one thread, as in `CoWW`.
//! - Locations: an edge to a different location goes to a new one, and the last of these goes back to the first. So
//!   there are none of them (then all is about one location) or at least two.
//! - A cycle about one location has program order in it. Without, it says of stores and loads that each comes before
//!   itself, and no condition on values can say that.
//! - A location has at most two stores. The final value says which of two stores came last; about three it says too
//!   little. diy has observer threads for that; we refuse.
//! - A thread has at most six loads, for as many registers.
//!
//! The same cycle begins anywhere: rotations only rename threads and locations. We keep the one that diy shows in a
//! test's `Orig=` line. It begins at the start of a thread, and among the threads it is the first by: the ends of all
//! threads from there on (`W`, `WW`, `RR`, `RW`, `WR`, `R`, in this order: message passing writes first), then the
//! number of edges in the first thread, then the edges (from-read, coherence, fences, read-from, program order,
//! exchange).
//!
//! DIVERGENCE: diy puts internal read-from before internal coherence, coherence before fences, and fences before
//! read-from, which is no order, so that its choice can depend on where it began. We let coherence come first.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::edge::{Access, Edge, UnknownEdge};
use crate::x86::OLD_REGISTERS;

/// How many loads a thread may have: one register each.
const LOADS: usize = OLD_REGISTERS;

/// How many stores a location may have.
const STORES: u32 = 2;

/// A cycle of edges that makes a test. Two are equal when they are rotations of each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cycle {
    /// In the rotation that stands for the cycle: from the start of the first thread.
    edges: Vec<Edge>,
}

/// Why edges make no cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A word is no edge.
    Unknown(UnknownEdge),
    /// One edge does not begin as the one before it ends.
    Mismatch(Edge, Edge),
    /// No edge leaves its thread.
    NoExternal,
    /// One edge leaves its location and none comes back.
    NoWayBack,
    /// About one location, and no program order.
    NoOrder,
    /// A location has more than two stores.
    ManyStores,
    /// A thread has more loads than there are registers.
    ManyLoads,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Unknown(unknown) => unknown.fmt(f),
            Fault::Mismatch(a, b) => {
                write!(
                    f,
                    "{a} ends with {}, and {b} after it begins with {}",
                    a.target(),
                    b.source()
                )
            }
            Fault::NoExternal => f.write_str("no edge goes from one thread to another"),
            Fault::NoWayBack => f.write_str("one edge goes to a different location and none back"),
            Fault::NoOrder => {
                f.write_str("all accesses are to one location and none is in program order")
            }
            Fault::ManyStores => write!(f, "a location has more than {STORES} stores"),
            Fault::ManyLoads => write!(f, "a thread has more than {} loads", LOADS),
        }
    }
}

impl std::error::Error for Fault {}

/// One access of the test that a cycle makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) thread: usize,
    pub(crate) location: usize,
    pub(crate) access: Access,
    /// What a store writes, or what a load must read: stores count along coherence from 1, and a load reads the store
    /// before it on the cycle.
    pub(crate) value: u32,
}

impl Cycle {
    /// The cycle of these edges, from wherever they begin.
    ///
    /// # Errors
    /// The first rule that the edges break, in the order of the rules in the header.
    pub fn new(edges: &[Edge]) -> Result<Cycle, Fault> {
        let next = edges.iter().cycle().skip(1);
        if let Some((a, b)) = edges.iter().zip(next).find(|(a, b)| a.target() != b.source()) {
            return Err(Fault::Mismatch(*a, *b));
        }
        let starts = starts(edges);
        let rotations = starts.into_iter().map(|start| rotation(edges, start));
        let least = rotations.min_by(|a, b| precedence(a, b));
        let cycle = Cycle { edges: least.ok_or(Fault::NoExternal)? };
        let moves = edges.iter().filter(|edge| edge.changes_location()).count();
        if moves == 1 {
            return Err(Fault::NoWayBack);
        }
        if moves == 0 && edges.iter().all(|edge| edge.place().is_none()) {
            return Err(Fault::NoOrder);
        }
        let events = cycle.events();
        if events.iter().any(|e| e.access == Access::Store && e.value > STORES) {
            return Err(Fault::ManyStores);
        }
        let loads = |thread| {
            events.iter().filter(|e| e.thread == thread && e.access == Access::Load).count()
        };
        if (0..cycle.threads().count()).any(|thread| loads(thread) > LOADS) {
            return Err(Fault::ManyLoads);
        }
        Ok(cycle)
    }

    /// The edges, from the start of the first thread.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The threads: for each its edges, of which the last one is external and leaves it.
    pub fn threads(&self) -> impl Iterator<Item = &[Edge]> {
        self.edges.split_inclusive(|edge| edge.is_external())
    }

    /// Whether all accesses are to one location.
    pub fn one_location(&self) -> bool {
        !self.edges.iter().any(|edge| edge.changes_location())
    }

    /// The edges as diy's `Cycle=` line has them: the least rotation by the order of [`Edge`].
    pub fn sorted(&self) -> Vec<Edge> {
        let all = (0..self.edges.len()).map(|start| rotation(&self.edges, start));
        all.min().expect("a cycle has edges")
    }

    /// The accesses: the event at an index is the one that the edge at this index leaves.
    pub(crate) fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        let (mut thread, mut location) = (0, 0);
        let moves = self.edges.iter().filter(|edge| edge.changes_location()).count();
        for edge in &self.edges {
            events.push(Event { thread, location, access: edge.source(), value: 0 });
            thread += usize::from(edge.is_external());
            if edge.changes_location() {
                location = (location + 1) % moves;
            }
        }
        self.count_stores(&mut events);
        events
    }

    /// Fills in the values. Along a location's part of the cycle each store is one more, beginning where the location
    /// is reached; where there is but one location, after the first program order of the cycle.
    fn count_stores(&self, events: &mut [Event]) {
        let arrival = self.edges.iter().rposition(|edge| edge.changes_location());
        let arrival = arrival.or_else(|| self.edges.iter().position(|edge| edge.place().is_some()));
        let start = arrival.map_or(0, |at| at + 1);
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
        f.write_str(&words(&self.edges))
    }
}

impl FromStr for Cycle {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Cycle, Fault> {
        let edges: Result<Vec<Edge>, _> = text.split_whitespace().map(str::parse).collect();
        Cycle::new(&edges.map_err(Fault::Unknown)?)
    }
}

/// Edges side by side.
pub(crate) fn words(edges: &[Edge]) -> String {
    edges.iter().map(Edge::to_string).collect::<Vec<_>>().join(" ")
}

/// The indices where threads start: after external edges.
fn starts(edges: &[Edge]) -> Vec<usize> {
    let external = (0..edges.len()).filter(|at| edges[*at].is_external());
    external.map(|at| (at + 1) % edges.len()).collect()
}

fn rotation(edges: &[Edge], start: usize) -> Vec<Edge> {
    [&edges[start..], &edges[..start]].concat()
}

/// Which of two rotations comes first, both from the start of a thread.
fn precedence(a: &[Edge], b: &[Edge]) -> Ordering {
    let threads = |edges: &[Edge]| -> Vec<(u32, usize)> {
        let parts = edges.split_inclusive(|edge| edge.is_external());
        parts.map(|part| (rank_of_ends(part), part.len())).collect()
    };
    let (left, right) = (threads(a), threads(b));
    let ends = |threads: &[(u32, usize)]| threads.iter().map(|(ends, _)| *ends).collect::<Vec<_>>();
    let first = |threads: &[(u32, usize)]| threads.first().map(|(_, length)| *length);
    let ranks = |edges: &[Edge]| edges.iter().map(|edge| (rank(*edge), *edge)).collect::<Vec<_>>();
    ends(&left)
        .cmp(&ends(&right))
        .then_with(|| first(&left).cmp(&first(&right)))
        .then_with(|| ranks(a).cmp(&ranks(b)))
}

/// The place of a thread among threads, by its first and last access.
fn rank_of_ends(thread: &[Edge]) -> u32 {
    match ends(thread) {
        (Access::Store, None) => 0,
        (Access::Store, Some(Access::Store)) => 1,
        (Access::Load, Some(Access::Load)) => 2,
        (Access::Load, Some(Access::Store)) => 3,
        (Access::Store, Some(Access::Load)) => 4,
        (Access::Load, None) => 5,
    }
}

/// The first access of a thread, and the last when it has more than one.
pub(crate) fn ends(thread: &[Edge]) -> (Access, Option<Access>) {
    let (first, last) = (thread.first(), thread.last());
    let first = first.expect("a thread has an edge that leaves it").source();
    (first, last.filter(|_| thread.len() > 1).map(|edge| edge.source()))
}

fn rank(edge: Edge) -> u32 {
    match edge {
        Edge::FromRead(_) => 0,
        Edge::Coherence(_) => 1,
        Edge::Fenced(..) => 2,
        Edge::ReadFrom(_) => 3,
        Edge::Order(..) => 4,
        Edge::Exchange => 5,
    }
}
