//! The tree of the executions that remain to be explored, for parallel exploration of traces.
//!
//! Optimal exploration is sequential by nature. A move in a sleep set is not explored again,
//! because an earlier subtree starts with it. But the races of that earlier subtree decide which
//! sequences must be explored *without* the move. A subtree is therefore explored only after the
//! subtrees of all moves in its sleep set. The others do not depend on each other: they can be
//! explored in parallel, and in any order.
//!
//! The tree has a node for each state at which something remains. Nodes that are
//! [planned](NodeState::Planned) are the wake-up trees of the nodes above them. The order of the
//! children of a node is the order of exploration of the sequential algorithm: the sleep set of a
//! child contains the moves of all earlier children that do not conflict with its own move. A
//! planned leaf is *ready* if all moves in its sleep set are done.

use crate::event::TrackedMove;
use crate::optimal::{Node, Rest, Subtree, SubtreeResult};
use crate::sleep_set::SleepSet;
use crate::wakeup_tree::{
    Branch, SequenceItem, WakeupTree, WeakInitial, is_weak_initial, weak_initial,
};
use std::collections::BTreeSet;
use std::ops::Range;

/// The executions from one start state that remain to be explored. Plain data, so that it can be
/// saved and loaded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenTree {
    /// The start state, in the encoding of the function that creates the systems.
    pub start: Vec<u32>,
    /// The nodes. The first one is the root. A node is behind its parent and its earlier siblings.
    pub nodes: Vec<OpenNode>,
}

/// A state at which something remains to be explored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenNode {
    /// The node of the state before, and the move that leads from there to this state. `None` for
    /// the start state.
    pub before: Option<(usize, TrackedMove)>,
    /// What was explored from this state.
    pub state: NodeState,
}

/// What was explored from a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NodeState {
    /// Nothing. Every continuation remains if the node is a leaf, and otherwise those through its
    /// children.
    Planned {
        /// Whether an execution went through this state.
        visited: bool,
    },
    /// Everything except the children, without the moves of this sleep set.
    Open(SleepSet),
    /// Everything.
    Done,
}

/// The sleep set of a state.
#[derive(Clone, Default)]
struct Sleepers {
    /// Moves whose subtrees are done.
    done: SleepSet,
    /// Moves whose subtrees are not done.
    unfinished: SleepSet,
}

impl Sleepers {
    fn after(&self, mv: &TrackedMove) -> Sleepers {
        let after = |sleep: &SleepSet| sleep.after(mv.mv.thread, &mv.footprint);
        Sleepers { done: after(&self.done), unfinished: after(&self.unfinished) }
    }
}

impl OpenTree {
    /// Returns the tree of all executions from a start state.
    pub(crate) fn new(start: Vec<u32>) -> Self {
        let root = OpenNode { before: None, state: NodeState::Planned { visited: false } };
        OpenTree { start, nodes: vec![root] }
    }

    /// Returns whether nothing remains.
    pub(crate) fn is_done(&self) -> bool {
        self.nodes[0].state == NodeState::Done
    }

    /// Returns the number of subtrees that remain, ready or not.
    pub fn subtrees(&self) -> usize {
        let children = self.children();
        let is_leaf =
            |(node, children): &(&OpenNode, &Vec<usize>)| node.is_planned() && children.is_empty();
        self.nodes.iter().zip(&children).filter(is_leaf).count()
    }

    /// Returns the sequences of moves from the start to all nodes without children.
    pub(crate) fn paths(&self) -> impl Iterator<Item = Vec<&TrackedMove>> {
        let children = self.children();
        let leaves = (0..self.nodes.len()).filter(move |node| children[*node].is_empty());
        leaves.map(|leaf| {
            let path = self.path(leaf);
            path.into_iter().filter_map(|node| Some(&self.nodes[node].before.as_ref()?.1)).collect()
        })
    }

    /// Returns whether each node is behind its parent.
    pub(crate) fn is_well_formed(&self) -> bool {
        let is_behind_parent = |(at, node): (usize, &OpenNode)| match &node.before {
            None => at == 0,
            Some((parent, _)) => *parent < at,
        };
        !self.nodes.is_empty() && self.nodes.iter().enumerate().all(is_behind_parent)
    }

    /// Returns the children of each node.
    fn children(&self) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            if let Some((parent, _)) = node.before {
                children[parent].push(at);
            }
        }
        children
    }

    /// Returns the nodes from the root to this node.
    fn path(&self, node: usize) -> Vec<usize> {
        let parent = |node: &usize| self.nodes[*node].before.as_ref().map(|(parent, _)| *parent);
        let mut path: Vec<usize> = std::iter::successors(Some(node), parent).collect();
        path.reverse();
        path
    }

    fn edge(&self, node: usize) -> &TrackedMove {
        let before = self.nodes[node].before.as_ref();
        &before.expect("only the root has no move before it").1
    }

    /// Returns the sleep sets of the nodes of a path from the root.
    fn sleepers(&self, path: &[usize], children: &[Vec<usize>]) -> Vec<Sleepers> {
        let mut all: Vec<Sleepers> = Vec::with_capacity(path.len());
        for (depth, node) in path.iter().enumerate() {
            let sleepers = match &self.nodes[*node].state {
                NodeState::Open(done) => Sleepers { done: done.clone(), ..Sleepers::default() },
                NodeState::Planned { .. } | NodeState::Done => match depth.checked_sub(1) {
                    None => Sleepers::default(),
                    Some(above) => {
                        let mut sleepers = all[above].clone();
                        for earlier in &children[path[above]] {
                            let edge = || self.edge(*earlier).clone();
                            match self.nodes[*earlier].state {
                                _ if earlier == node => break,
                                NodeState::Done => sleepers.done.insert(edge()),
                                _ => sleepers.unfinished.insert(edge()),
                            }
                        }
                        sleepers.after(self.edge(*node))
                    }
                },
            };
            all.push(sleepers);
        }
        all
    }

    /// Returns subtrees that are ready, at most `max`, each with its node. Two of them do not share
    /// a state that no execution visited. The newest are first: this keeps the tree small.
    pub(crate) fn ready(&self, max: usize) -> Vec<(usize, Subtree)> {
        let children = self.children();
        let mut claimed: BTreeSet<usize> = BTreeSet::new();
        let mut ready = Vec::new();
        for node in (0..self.nodes.len()).rev() {
            if ready.len() == max {
                break;
            }
            if !self.nodes[node].is_planned() || !children[node].is_empty() {
                continue;
            }
            let path = self.path(node);
            let unvisited = |node: &&usize| {
                matches!(self.nodes[**node].state, NodeState::Planned { visited: false })
            };
            if path.iter().filter(unvisited).any(|node| claimed.contains(node)) {
                continue;
            }
            let sleepers = self.sleepers(&path, &children);
            if sleepers.last().is_some_and(|own| own.unfinished.is_empty()) {
                claimed.extend(path.iter().filter(unvisited));
                ready.push((node, self.subtree(&path, sleepers, &children)));
            }
        }
        ready
    }

    /// Returns the subtree at the end of a path, with the states of its prefix.
    fn subtree(&self, path: &[usize], sleepers: Vec<Sleepers>, children: &[Vec<usize>]) -> Subtree {
        let unvisited =
            |node: &usize| matches!(self.nodes[*node].state, NodeState::Planned { visited: false });
        let visited = path.iter().position(unvisited).unwrap_or(path.len());
        let node = |(node, sleepers): (&usize, Sleepers)| {
            let unfinished = sleepers.unfinished.iter().cloned();
            let sleep = sleepers.done.iter().cloned().chain(unfinished).collect();
            Node::new(sleep, self.wakeup_tree(*node, children))
        };
        Subtree {
            start: self.start.clone(),
            prefix: path[1..].iter().map(|node| self.edge(*node).clone()).collect(),
            observed: visited.saturating_sub(1),
            nodes: path.iter().zip(sleepers).map(node).collect(),
        }
    }

    /// Returns the children of a node as a wake-up tree. A child that is open or done is a leaf of
    /// it: every continuation is explored there.
    fn wakeup_tree(&self, node: usize, children: &[Vec<usize>]) -> WakeupTree {
        let mut tree = WakeupTree::default();
        for child in &children[node] {
            let next = match self.nodes[*child].is_planned() {
                true => self.wakeup_tree(*child, children),
                false => WakeupTree::default(),
            };
            tree.push(self.edge(*child).clone(), next);
        }
        tree
    }

    /// Adds the results of subtrees that [`OpenTree::ready`] returned, each with its node. Returns
    /// for each of them whether it was accepted.
    ///
    /// A result is rejected if another subtree has planned a sequence that changes where one of its
    /// reversals belongs. The subtree did not know that sequence, and it returns only reversals that
    /// its earlier ones do not cover. A subtree whose result is rejected remains.
    pub(crate) fn absorb(&mut self, results: Vec<(usize, SubtreeResult)>) -> Vec<bool> {
        let mut children = self.children();
        let known = self.nodes.len();
        let mut accepted = Vec::new();
        for (node, SubtreeResult { reversals, rest }) in results {
            let path = self.path(node);
            let unknown = known..self.nodes.len();
            let mut reversals = reversals.into_iter();
            let is_accepted = reversals.all(|(depth, sequence)| {
                self.insert(&path[..=depth], sequence, &unknown, &mut children)
            });
            accepted.push(is_accepted);
            if !is_accepted {
                continue;
            }
            let depth = match rest {
                Rest::Nothing(depth) => depth,
                Rest::Stack(..) => path.len() - 1,
            };
            for node in &path[..depth] {
                if let NodeState::Planned { visited } = &mut self.nodes[*node].state {
                    *visited = true;
                }
            }
            match rest {
                Rest::Nothing(depth) => self.nodes[path[depth]].state = NodeState::Done,
                Rest::Stack(nodes, events) => self.add_stack(node, nodes, events, &mut children),
            }
        }
        self.update_done(&children);
        self.remove_done();
        accepted
    }

    fn add(&mut self, parent: usize, mv: TrackedMove, children: &mut Vec<Vec<usize>>) -> usize {
        let node = self.nodes.len();
        let state = NodeState::Planned { visited: false };
        self.nodes.push(OpenNode { before: Some((parent, mv)), state });
        children.push(Vec::new());
        children[parent].push(node);
        node
    }

    /// Adds the states of an exploration that is not complete, from `node` on.
    fn add_stack(
        &mut self,
        node: usize,
        nodes: Vec<Node>,
        events: Vec<TrackedMove>,
        children: &mut Vec<Vec<usize>>,
    ) {
        let mut at = node;
        let mut events = events.into_iter();
        let mut planned = Vec::new();
        for Node { sleep, tree, .. } in nodes {
            self.nodes[at].state = NodeState::Open(sleep);
            planned.push((at, tree));
            if let Some(event) = events.next() {
                at = self.add(at, event, children);
            }
        }
        while let Some((at, mut tree)) = planned.pop() {
            while let Some(Branch { first, next }) = tree.pop_first() {
                let child = self.add(at, first, children);
                planned.push((child, next));
            }
        }
    }

    /// Inserts a sequence at the end of a path, unless it is explored or planned. Returns whether
    /// the nodes in `unknown` make no difference.
    fn insert(
        &mut self,
        path: &[usize],
        sequence: Vec<TrackedMove>,
        unknown: &Range<usize>,
        children: &mut Vec<Vec<usize>>,
    ) -> bool {
        let mut items: Vec<SequenceItem<'_>> = sequence.iter().map(SequenceItem::from).collect();
        let sleepers = self.sleepers(path, children).pop().unwrap_or_default();
        let asleep = sleepers.done.iter().chain(sleepers.unfinished.iter());
        if asleep.into_iter().any(|mv| is_weak_initial(mv.into(), &items)) {
            return true;
        }
        let mut at = *path.last().expect("a path has a node");
        'descend: loop {
            for child in &children[at] {
                match weak_initial(self.edge(*child).into(), &items) {
                    WeakInitial::No => continue,
                    _ if unknown.contains(child) => return false,
                    WeakInitial::InSequence(position) => {
                        items.remove(position);
                    }
                    WeakInitial::Independent => {}
                }
                if !self.nodes[*child].is_planned() || children[*child].is_empty() {
                    return true;
                }
                at = *child;
                continue 'descend;
            }
            break;
        }
        for item in items {
            at = self.add(at, item.to_tracked(), children);
        }
        true
    }

    /// Finds the nodes that are done.
    fn update_done(&mut self, children: &[Vec<usize>]) {
        loop {
            let mut changed = false;
            for node in (0..self.nodes.len()).rev() {
                let mut below = children[node].iter();
                let is_done = below.all(|child| self.nodes[*child].state == NodeState::Done)
                    && match self.nodes[node].state {
                        NodeState::Done => false,
                        NodeState::Open(_) => true,
                        // A subtree of a move in the sleep set can still add children.
                        NodeState::Planned { .. } => {
                            let sleepers = || self.sleepers(&self.path(node), children).pop();
                            !children[node].is_empty()
                                && sleepers().is_some_and(|own| own.unfinished.is_empty())
                        }
                    };
                if is_done {
                    self.nodes[node].state = NodeState::Done;
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Removes the nodes below nodes that are done. Moves the first children of an open node that
    /// are done to its sleep set.
    fn remove_done(&mut self) {
        let mut moved: Vec<Option<usize>> = Vec::with_capacity(self.nodes.len());
        let mut kept: Vec<OpenNode> = Vec::new();
        // Whether a child of this node was kept.
        let mut has_children = vec![false; self.nodes.len()];
        for OpenNode { before, state } in std::mem::take(&mut self.nodes) {
            let before = match before {
                None => None,
                Some((parent, mv)) => {
                    let above = moved[parent].filter(|at| kept[*at].state != NodeState::Done);
                    let Some(above) = above else {
                        moved.push(None);
                        continue;
                    };
                    if let (NodeState::Open(sleep), NodeState::Done, false) =
                        (&mut kept[above].state, &state, has_children[above])
                    {
                        sleep.insert(mv);
                        moved.push(None);
                        continue;
                    }
                    has_children[above] = true;
                    Some((above, mv))
                }
            };
            moved.push(Some(kept.len()));
            kept.push(OpenNode { before, state });
        }
        self.nodes = kept;
    }
}

impl OpenNode {
    fn is_planned(&self) -> bool {
        matches!(self.state, NodeState::Planned { .. })
    }
}
