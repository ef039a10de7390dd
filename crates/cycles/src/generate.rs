//! All critical cycles up to a length.
//!
//! A cycle is *critical* when no part of it can be left out. Source: \[SS88\]; here for cycles of named edges:
//! - No two edges of program order follow each other, with or without fences: the first and the last access would do.
//! - No two communications follow each other, both internal or both external, that are one communication together:
//!   read-from and from-read, from-read and coherence, coherence and coherence. What remains of neighbours is
//!   coherence or from-read and then read-from: a store that is read by a third thread, as in `IRIW` and `WRW+WR`.
//!
//! With plain and fenced program order to different locations and external communications, this gives the classic
//! cycles: a thread has one access or two, to different locations, and a location has two or three, of different
//! threads. Internal communications, program order to the same location and exchanges make threads longer, as in
//! `po-rfi-po`: an external communication beside an internal one could be shortened, and stays, because what the
//! thread does is another program.
//!
//! diy has looser settings, in which program order follows program order (`poW-po`). [`Cycle::new`] takes such cycles;
//! they are not generated.

use std::collections::BTreeSet;

use crate::cycle::Cycle;
use crate::edge::{Edge, Fence, Place, Reach};

/// The edges of the default suite: external communications, and program order to different locations, plain and with
/// each fence.
pub fn default_edges() -> Vec<Edge> {
    let wanted = |edge: &Edge| match edge {
        Edge::ReadFrom(reach) | Edge::FromRead(reach) | Edge::Coherence(reach) => {
            *reach == Reach::External
        }
        Edge::Order(place, _, _)
        | Edge::Fenced(Fence::Full | Fence::Stores | Fence::Loads, place, _, _) => {
            *place == Place::Different
        }
        Edge::Exchange => false,
    };
    Edge::all().into_iter().filter(wanted).collect()
}

/// All critical cycles of at most `length` of these edges, each once, by length and then by name.
///
/// Their number grows with the number of edges to the power of half the length.
///
/// ```
/// use fencepost_cycles::{Edge, generate};
/// let edges = [Edge::matching("**e")?, Edge::matching("Pod**")?].concat();
/// let names: Vec<String> = generate(4, &edges).iter().map(|cycle| cycle.name()).collect();
/// assert_eq!(names, ["2+2W", "LB", "MP", "R", "S", "SB"]);
/// # Ok::<(), fencepost_cycles::UnknownEdge>(())
/// ```
pub fn generate(length: usize, edges: &[Edge]) -> Vec<Cycle> {
    let mut found = BTreeSet::new();
    extend(&mut Vec::new(), length, edges, &mut found);
    let mut all: Vec<Cycle> = found.into_iter().collect();
    all.sort_by_cached_key(|cycle| (cycle.edges().len(), cycle.name()));
    all
}

/// Adds the cycles that begin with `path`. Paths begin where a thread does, so they are whole after an external edge.
fn extend(path: &mut Vec<Edge>, length: usize, edges: &[Edge], found: &mut BTreeSet<Cycle>) {
    if let [first, .., last] = path.as_slice()
        && last.is_external()
        && follows(*last, *first)
    {
        found.extend(Cycle::new(path));
    }
    if path.len() == length {
        return;
    }
    for edge in edges {
        if path.last().is_none_or(|last| follows(*last, *edge)) {
            path.push(*edge);
            extend(path, length, edges, found);
            path.pop();
        }
    }
}

/// Whether one edge may follow another in a critical cycle.
fn follows(a: Edge, b: Edge) -> bool {
    let both_order = a.place().is_some() && b.place().is_some();
    let alike = a.reach().is_some() && a.reach() == b.reach();
    a.target() == b.source() && !both_order && !(alike && composes(a, b))
}

/// Whether two communications in a row are one. (Their accesses fit: before coherence there is from-read or coherence.)
fn composes(a: Edge, b: Edge) -> bool {
    let read = matches!(a, Edge::ReadFrom(_));
    match b {
        Edge::FromRead(_) => read,
        Edge::Coherence(_) => true,
        Edge::ReadFrom(_) | Edge::Order(..) | Edge::Fenced(..) | Edge::Exchange => false,
    }
}

/// Whether a cycle is critical: see the header of this file.
pub fn is_critical(cycle: &Cycle) -> bool {
    let next = cycle.edges().iter().cycle().skip(1);
    cycle.edges().iter().zip(next).all(|(a, b)| follows(*a, *b))
}
