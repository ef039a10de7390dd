//! Preserved program order: which accesses of a thread are performed in program order.
//!
//! The relation concerns one run of one thread and does not depend on other threads. "D before E"
//! means that D takes effect on memory first. Source: the rules for table-driven models on the
//! book's page on semantics (`book/src/semantics.md`). Where an access waits until something is
//! known, the relation orders it after the accesses that make it known.
//!
//! Accesses to the same location are ordered, with one exception: a load that may read a pending
//! store of its own thread. Such a load waits for the value of that store, and for the addresses of
//! younger stores that may be to its location.

use fencepost_ir::{Access, Loc};

use super::run::{Event, Node, Nodes, Run};
use crate::reference::Table;

/// Returns, for each node of the run, the nodes that are always performed before it.
pub(super) fn preserved_order(run: &Run, table: Table) -> Vec<Nodes> {
    let mut before = Vec::new();
    for (at, event) in run.events.iter().enumerate() {
        if let Event::Node(node) = event {
            before.push(preserved_before(&run.events[..at], node, table));
        }
    }
    before
}

/// Returns the nodes among `earlier` that are performed before `later`.
fn preserved_before(earlier: &[Event], later: &Node, table: Table) -> Nodes {
    let mut before = later.operands;
    let mut position = nodes_in(earlier);
    // The fences between the current node and `later`: the loop goes from the youngest to the
    // oldest.
    let mut fences = Vec::new();
    // Whether a younger store was found that the load reads instead of an older one.
    let mut found_forwarding_store = false;
    for (at, event) in earlier.iter().enumerate().rev() {
        let node = match event {
            Event::Node(node) => node,
            Event::Fence(kinds) => {
                fences.push(*kinds);
                continue;
            }
            Event::Control(sources) => {
                // With speculation, a load does not wait for branches.
                if later.access.stores || !table.speculation {
                    before |= sources;
                }
                continue;
            }
            Event::Drain(loc, sources) => {
                before |= sources | drain_dependencies(&earlier[..at], *loc);
                continue;
            }
        };
        position -= 1;
        let this: Nodes = 1 << position;
        let (Some(_), Some(_)) = (node.footprint, later.footprint) else {
            before |= this;
            continue;
        };
        let fenced = fences.iter().any(|kinds| kinds.orders(node.access, later.access));
        if fenced || table_preserves(table, node.access, later.access) {
            before |= this;
        } else if table.read_own_early && is_load(later.access) && is_store(node.access) {
            if !found_forwarding_store && node.loc == later.loc {
                before |= node.operands;
                found_forwarding_store = true;
            } else if !found_forwarding_store && may_access(node, later.loc) {
                before |= node.address;
            }
        } else if node.loc == later.loc {
            before |= this;
        } else if may_access(node, later.loc) {
            before |= node.address;
        }
    }
    before
}

/// Returns the nodes that a `drain` waits for: stores and updates to the location, and the address
/// dependencies of those that may be to the location.
fn drain_dependencies(earlier: &[Event], loc: Loc) -> Nodes {
    let mut waited = 0;
    let nodes = earlier.iter().filter_map(|event| match event {
        Event::Node(node) => Some(node),
        Event::Fence(_) | Event::Drain(..) | Event::Control(_) => None,
    });
    for (position, node) in nodes.enumerate() {
        if node.access.stores && node.footprint.is_some() && node.loc == loc {
            waited |= 1 << position;
        } else if node.access.stores && may_access(node, loc) {
            waited |= node.address;
        }
    }
    waited
}

/// Returns whether the table preserves the order of two accesses: it does not allow some pair of
/// their kinds to be reordered.
fn table_preserves(table: Table, earlier: Access, later: Access) -> bool {
    (earlier.stores && later.loads && !table.w_r)
        || (earlier.stores && later.stores && !table.w_w)
        || (earlier.loads && later.loads && !table.r_r)
        || (earlier.loads && later.stores && !table.r_w)
}

/// Returns whether an access may be to the location while its address is not known.
fn may_access(node: &Node, loc: Loc) -> bool {
    let covers = |(base, length): (Loc, u32)| (base.0..base.0 + length).contains(&loc.0);
    node.footprint.is_some_and(covers)
}

fn is_load(access: Access) -> bool {
    access.loads && !access.stores
}

fn is_store(access: Access) -> bool {
    access.stores && !access.loads
}

fn nodes_in(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event, Event::Node(_))).count()
}
