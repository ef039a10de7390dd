//! Generates all critical cycles up to a length.
//!
//! A cycle is *critical* if it cannot be shortened. Source: \[SS88\]. For cycles of named edges
//! this means:
//! - An edge of program order, with or without a fence, does not follow another one: an edge from
//!   the first to the last access could replace both.
//! - Of two consecutive communications that are both internal or both external, the composition
//!   is not a communication. This excludes read-from then from-read, from-read then coherence,
//!   and coherence then coherence. It allows coherence or from-read, then read-from: a third
//!   thread reads the store, as in `IRIW` and `WRW+WR`.
//!
//! With external communications and program order to different locations, plain or fenced, this
//! gives the classic critical cycles. A thread has one access, or two accesses to different
//! locations. A location has two or three accesses of different threads. Internal communications,
//! program order to the same location and exchanges make threads longer, as in `po-rfi-po`. An
//! external communication next to an internal one could be shortened, but is kept, because it
//! gives a different program.
//!
//! diy has less strict settings, in which program order follows program order (`poW-po`).
//! [`Cycle::new`] accepts such cycles, but they are not generated.

use std::collections::BTreeSet;

use crate::cycle::Cycle;
use crate::edge::{Edge, Fence, LocationChange, Reach};

/// Returns the edges of the default suite: external communications, and program order to different
/// locations, plain and with each fence.
pub fn default_edges() -> Vec<Edge> {
    let is_default = |edge: &Edge| match edge {
        Edge::ReadFrom(reach) | Edge::FromRead(reach) | Edge::Coherence(reach) => {
            *reach == Reach::External
        }
        Edge::ProgramOrder(change, _, _)
        | Edge::Fenced(Fence::Full | Fence::Stores | Fence::Loads, change, _, _) => {
            *change == LocationChange::Different
        }
        Edge::Exchange => false,
    };
    Edge::all().into_iter().filter(is_default).collect()
}

/// Returns all critical cycles of at most `length` of these edges, without duplicates, sorted by
/// length and then by name.
///
/// The number of cycles grows with the number of edges to the power of half the length.
///
/// ```
/// use fencepost_cycles::{Edge, generate};
/// let edges = [Edge::matching("**e")?, Edge::matching("Pod**")?].concat();
/// let names: Vec<String> = generate(4, &edges).iter().map(|cycle| cycle.name()).collect();
/// assert_eq!(names, ["2+2W", "LB", "MP", "R", "S", "SB"]);
/// # Ok::<(), fencepost_cycles::UnknownEdge>(())
/// ```
pub fn generate(length: usize, edges: &[Edge]) -> Vec<Cycle> {
    generate_while(length, edges, &|_| true).expect("nothing stops the generation")
}

/// Returns the cycles that [`generate`] returns, or `None` if `may_continue` returns false. It is
/// called at every step with the number of cycles so far.
pub fn generate_while(
    length: usize,
    edges: &[Edge],
    may_continue: &dyn Fn(usize) -> bool,
) -> Option<Vec<Cycle>> {
    let mut found = BTreeSet::new();
    extend(&mut Vec::new(), length, edges, may_continue, &mut found)?;
    let mut all: Vec<Cycle> = found.into_iter().collect();
    all.sort_by_cached_key(|cycle| (cycle.edges().len(), cycle.name()));
    Some(all)
}

/// Adds the cycles that extend `path`. A path starts at the start of a thread, so it can only be
/// closed after an external edge. Returns `None` if `may_continue` returns false.
fn extend(
    path: &mut Vec<Edge>,
    length: usize,
    edges: &[Edge],
    may_continue: &dyn Fn(usize) -> bool,
    found: &mut BTreeSet<Cycle>,
) -> Option<()> {
    if !may_continue(found.len()) {
        return None;
    }
    if let [first, .., last] = path.as_slice()
        && last.is_external()
        && may_follow(*last, *first)
    {
        found.extend(Cycle::new(path));
    }
    if path.len() == length {
        return Some(());
    }
    for edge in edges {
        if path.last().is_none_or(|last| may_follow(*last, *edge)) {
            path.push(*edge);
            extend(path, length, edges, may_continue, found)?;
            path.pop();
        }
    }
    Some(())
}

/// Returns whether edge `b` may follow edge `a` in a critical cycle.
fn may_follow(a: Edge, b: Edge) -> bool {
    let both_program_order = a.location_change().is_some() && b.location_change().is_some();
    let same_reach = a.reach().is_some() && a.reach() == b.reach();
    a.target() == b.source() && !both_program_order && !(same_reach && compose(a, b))
}

/// Returns whether two consecutive communications compose to one. The caller checks that their
/// accesses match, so only from-read or coherence can precede coherence.
fn compose(a: Edge, b: Edge) -> bool {
    let a_is_read_from = matches!(a, Edge::ReadFrom(_));
    match b {
        Edge::FromRead(_) => a_is_read_from,
        Edge::Coherence(_) => true,
        Edge::ReadFrom(_) | Edge::ProgramOrder(..) | Edge::Fenced(..) | Edge::Exchange => false,
    }
}

/// Returns whether a cycle is critical, as defined in the module header.
pub fn is_critical(cycle: &Cycle) -> bool {
    let next = cycle.edges().iter().cycle().skip(1);
    cycle.edges().iter().zip(next).all(|(a, b)| may_follow(*a, *b))
}
