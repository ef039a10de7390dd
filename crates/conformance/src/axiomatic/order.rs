//! Preserved program order: which accesses of a thread are performed in the order of the text.
//!
//! Everything here is about one run and does not depend on what other threads do. What "D before E" means is that
//! D takes effect on memory first. Source: the rules of "Table-driven models" on the book's page "What a program
//! means"; a rule there that lets an access wait for as long as something is not known becomes a pair with what makes it known.
//!
//! A load that may read its own thread's pending store is the one case without a pair at the same location. Then it
//! must wait for the value of that store instead, and for the address of any younger one that might turn out to be
//! to its location.

use fencepost_ir::{Access, Loc};

use super::run::{Event, Node, Nodes, Run};
use crate::reference::Table;

/// For each node of the run, the set of those that come before it whatever happens.
pub(super) fn kept(run: &Run, table: Table) -> Vec<Nodes> {
    let mut before = Vec::new();
    for (at, event) in run.events.iter().enumerate() {
        if let Event::Node(node) = event {
            before.push(kept_before(&run.events[..at], node, table));
        }
    }
    before
}

/// What comes before `later`, of all that stands before it in the text.
fn kept_before(earlier: &[Event], later: &Node, table: Table) -> Nodes {
    let mut before = later.operands;
    let mut position = nodes_in(earlier);
    // From the youngest to the oldest: the fences met so far are those in between.
    let mut fences = Vec::new();
    // Whether a store was met that a load would read rather than an older one.
    let mut met_own = false;
    for (at, event) in earlier.iter().enumerate().rev() {
        let node = match event {
            Event::Node(node) => node,
            Event::Fence(kinds) => {
                fences.push(*kinds);
                continue;
            }
            Event::Wait(sources) => {
                before |= sources;
                continue;
            }
            Event::Drain(loc, sources) => {
                before |= sources | drained(&earlier[..at], *loc);
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
        if fenced || keeps(table, node.access, later.access) {
            before |= this;
        } else if table.read_own_early && is_load(later.access) && is_store(node.access) {
            if !met_own && node.loc == later.loc {
                before |= node.operands;
                met_own = true;
            } else if !met_own && may_be_at(node, later.loc) {
                before |= node.address;
            }
        } else if node.loc == later.loc {
            before |= this;
        } else if may_be_at(node, later.loc) {
            before |= node.address;
        }
    }
    before
}

/// What a `drain` waits for: stores and updates that are to the location, and the addresses of those that might be.
fn drained(earlier: &[Event], loc: Loc) -> Nodes {
    let mut waited = 0;
    let nodes = earlier.iter().filter_map(|event| match event {
        Event::Node(node) => Some(node),
        Event::Fence(_) | Event::Drain(..) | Event::Wait(_) => None,
    });
    for (position, node) in nodes.enumerate() {
        if node.access.stores && node.footprint.is_some() && node.loc == loc {
            waited |= 1 << position;
        } else if node.access.stores && may_be_at(node, loc) {
            waited |= node.address;
        }
    }
    waited
}

/// Whether the table keeps two accesses in order: some pair of what they do is not in it.
fn keeps(table: Table, earlier: Access, later: Access) -> bool {
    (earlier.stores && later.loads && !table.w_r)
        || (earlier.stores && later.stores && !table.w_w)
        || (earlier.loads && later.loads && !table.r_r)
        || (earlier.loads && later.stores && !table.r_w)
}

/// Whether an access may be to the location, as long as its address is not known.
fn may_be_at(node: &Node, loc: Loc) -> bool {
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
