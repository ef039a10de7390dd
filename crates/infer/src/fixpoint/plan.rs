//! The part of a graph that matters for its avoid formula, and the order of its nodes.
//!
//! Nodes that are reachable by steps without a label cannot be avoided. They are entries: paths
//! start there. Nodes that cannot reach the goal are irrelevant. The remaining nodes are open. They
//! are ordered by strongly connected component (Tarjan), each component in reverse post-order.

use super::prevent;
use crate::constraint::Constraint;
use fencepost_search::Graph;
use std::collections::BTreeSet;

/// The role of a node in the computation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// The node cannot reach the goal, or only through entries.
    Irrelevant,
    /// The node is reachable by steps without a label, so it cannot be avoided.
    Entry,
    /// The formula of the node must be computed.
    Open,
}

/// The order of the computation.
#[derive(Debug)]
pub(super) struct Plan {
    /// By node: its role.
    pub(super) roles: Vec<Role>,
    /// The open nodes in topological order of their components.
    pub(super) order: Vec<u32>,
    /// The start of each component in `order`, then the length of `order`.
    pub(super) components: Vec<usize>,
}

impl Plan {
    pub(super) fn new(graph: &Graph) -> Self {
        let entries = entries(graph);
        let mut roles = vec![Role::Irrelevant; graph.nodes()];
        for (role, is_entry) in roles.iter_mut().zip(&entries) {
            if *is_entry {
                *role = Role::Entry;
            }
        }
        mark_open(graph, &mut roles);
        let (order, components) = components(graph, &roles);
        Plan { roles, order, components }
    }

    /// Returns whether no cycle passes several open nodes.
    pub(super) fn is_acyclic(&self) -> bool {
        self.components.len() == self.order.len() + 1
    }

    /// Returns the constraints of the steps into open nodes.
    pub(super) fn constraints(&self, graph: &Graph) -> BTreeSet<Constraint> {
        let mut used = vec![false; graph.labels().len()];
        let relevant = (0..graph.nodes()).filter(|n| self.roles[*n] != Role::Irrelevant);
        for (to, label) in relevant.flat_map(|node| graph.steps(node as u32)) {
            used[label as usize] |= self.roles[to as usize] == Role::Open;
        }
        let used = graph.labels().iter().zip(used).filter(|(_, used)| *used);
        used.flat_map(|(label, _)| prevent(label)).collect()
    }
}

/// Returns by node whether it is reachable by steps without a label.
fn entries(graph: &Graph) -> Vec<bool> {
    let mut reached = vec![false; graph.nodes()];
    let mut stack: Vec<u32> = graph.initial().to_vec();
    stack.iter().for_each(|node| reached[*node as usize] = true);
    while let Some(node) = stack.pop() {
        for (to, label) in graph.steps(node) {
            if label == Graph::EMPTY && !reached[to as usize] {
                reached[to as usize] = true;
                stack.push(to);
            }
        }
    }
    reached
}

/// Marks the nodes that can reach the goal without passing an entry as open.
fn mark_open(graph: &Graph, roles: &mut [Role]) {
    if roles[graph.goal() as usize] == Role::Entry {
        return;
    }
    // The reversed steps between nodes that are not entries.
    let is_entry = |node: u32| roles[node as usize] == Role::Entry;
    let inner = |node: u32| graph.steps(node).map(|(to, _)| to).filter(|to| !is_entry(*to));
    let nodes = graph.nodes() as u32;
    let mut starts = vec![0_u32; graph.nodes() + 1];
    for to in (0..nodes).filter(|node| !is_entry(*node)).flat_map(inner) {
        starts[to as usize + 1] += 1;
    }
    for at in 0..graph.nodes() {
        starts[at + 1] += starts[at];
    }
    let mut sources = vec![0; starts[graph.nodes()] as usize];
    let mut free = starts.clone();
    for from in (0..nodes).filter(|node| !is_entry(*node)) {
        for to in inner(from) {
            sources[free[to as usize] as usize] = from;
            free[to as usize] += 1;
        }
    }
    let mut stack = vec![graph.goal()];
    roles[graph.goal() as usize] = Role::Open;
    while let Some(node) = stack.pop() {
        let range = starts[node as usize] as usize..starts[node as usize + 1] as usize;
        for from in &sources[range] {
            if roles[*from as usize] == Role::Irrelevant {
                roles[*from as usize] = Role::Open;
                stack.push(*from);
            }
        }
    }
}

/// Computes the strongly connected components of the open nodes (Tarjan's algorithm without
/// recursion). Returns the nodes in topological order of the components, each component in reverse
/// post-order, and the start of each component.
fn components(graph: &Graph, roles: &[Role]) -> (Vec<u32>, Vec<usize>) {
    const NEW: u32 = u32::MAX;
    let is_open = |node: u32| roles[node as usize] == Role::Open;
    let nodes = graph.nodes();
    // By node: its discovery index, and the smallest discovery index of a node on the stack that it
    // reaches.
    let mut found = vec![NEW; nodes];
    let mut low = vec![NEW; nodes];
    let mut finished = vec![NEW; nodes];
    let mut in_component = vec![false; nodes];
    let (mut finds, mut finishes) = (0, 0);
    let mut stack: Vec<u32> = Vec::new();
    let mut order: Vec<u32> = Vec::new();
    let mut ends: Vec<usize> = Vec::new();
    for root in (0..nodes as u32).filter(|node| is_open(*node)) {
        if found[root as usize] != NEW {
            continue;
        }
        let mut path = vec![(root, graph.steps(root))];
        found[root as usize] = finds;
        low[root as usize] = finds;
        finds += 1;
        stack.push(root);
        while let Some((node, steps)) = path.last_mut() {
            let at = *node as usize;
            if let Some((to, _)) = steps.next() {
                let next = to as usize;
                if !is_open(to) || in_component[next] {
                    continue;
                }
                if found[next] == NEW {
                    found[next] = finds;
                    low[next] = finds;
                    finds += 1;
                    stack.push(to);
                    path.push((to, graph.steps(to)));
                } else {
                    low[at] = low[at].min(found[next]);
                }
                continue;
            }
            finished[at] = finishes;
            finishes += 1;
            if low[at] == found[at] {
                let begin = order.len();
                loop {
                    let member = stack.pop().expect("the root of a component is on the stack");
                    in_component[member as usize] = true;
                    order.push(member);
                    if member as usize == at {
                        break;
                    }
                }
                order[begin..].sort_unstable_by_key(|member| finished[*member as usize]);
                ends.push(order.len());
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                let parent = *parent as usize;
                low[parent] = low[parent].min(low[at]);
            }
        }
    }
    order.reverse();
    let starts = ends.iter().rev().map(|end| order.len() - end).chain([order.len()]).collect();
    (order, starts)
}
