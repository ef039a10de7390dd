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
//! child contains the moves of all earlier children that do not conflict with its own move.
//!
//! A node is *ready* if the subtrees of all moves in its sleep set are done. The root is ready, and
//! so is every open node. A planned child of an open node is ready if each earlier child is done or
//! conflicts with it. A part of a round is a ready node with everything that remains below it. The
//! part explores this subtree in sequential order. Its rest replaces the subtree. A round starts
//! with one part, the root, and splits parts while there are few ([`OpenTree::ready`]). The choice
//! depends on the tree alone. Parts have many executions, so that their costs do not matter.
//!
//! # Why no trace is lost
//!
//! Once it is done, a ready node *A* covers everything: all executions that pass through its state
//! *E* are explored, up to the order of commuting moves. The proof follows the one of \[AAJS14\].
//! Assume that *E w* is not explored. No move of the final sleep set of *E* is a weak initial of
//! *w*: the subtree of the move would cover *E w*. Let *p* be the move of this set that commutes
//! with the longest prefix *x* of *w*, and let *e* be the event of *w* behind *x*. Let *p* be
//! explored at the state *E'*, with *E = E' u*. Some execution behind *E' p* contains *u x e*. It
//! reverses the race of *p* and *e*: it inserts a sequence *v* that contains *u x e* into the
//! wake-up tree of *E'*, unless a sleeping move is a weak initial of *v*.
//!
//! - If *u* is empty, then a weak initial *r* of *v* is asleep at *E*, or is explored from *E*
//!   before *A* is done. So *r* is in the final sleep set. It is a weak initial of *w*, or it
//!   commutes with *x e*. Both contradict the choice of *p*.
//! - Otherwise *p* is asleep on the whole path *u*. *A* and the nodes above it on this path were
//!   not started while the subtree of *p* was unfinished, so they were planned, or not in the tree.
//!   A leaf of a wake-up tree has an empty sleep set, so they were not leaves. Thus *v* was inserted
//!   along *u*, unless a move *r* that is asleep or belongs to an earlier branch is a weak initial
//!   of the rest of *v*. As *v* contains the rest of *u*, such a move *r* commutes with it, and is
//!   in the sleep set of *E*. The contradiction is the same as before.
//!
//! The proof uses only the subtrees of moves in the sleep set of *A*. So while *A* waits, or while
//! other parts are explored at the same time, a reversal of another part that leads to *A* can be
//! dropped: *A* covers it.

use crate::event::{TrackedMove, conflict};
use crate::optimal::{Node, Stack, Subtree, SubtreeResult};
use crate::sleep_set::SleepSet;
use crate::wakeup_tree::{Branch, SequenceItem, WakeupTree, WeakInitial, weak_initial};
use std::cmp::Reverse;
use std::ops::Range;

/// The number of parts of a tree from which on none is split.
const ENOUGH_PARTS: usize = 16;

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
    /// Nothing. The children are planned, too. If there are none, every continuation remains.
    Planned,
    /// Everything except the children, without the moves of this sleep set. Their subtrees are done.
    Open(SleepSet),
    /// Everything.
    Done,
}

/// The children of each node, in order.
type Children = Vec<Vec<usize>>;

impl OpenTree {
    /// Returns the tree of all executions from a start state.
    pub(crate) fn new(start: Vec<u32>) -> Self {
        let root = OpenNode { before: None, state: NodeState::Planned };
        OpenTree { start, nodes: vec![root] }
    }

    /// Returns whether nothing remains.
    pub(crate) fn is_done(&self) -> bool {
        self.nodes[0].state == NodeState::Done
    }

    /// Returns the number of sequences that remain to be explored.
    pub fn subtrees(&self) -> usize {
        self.leaves(&self.children())[0]
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

    /// Returns whether each node is behind its parent, and only planned nodes are below planned
    /// nodes.
    pub(crate) fn is_well_formed(&self) -> bool {
        let is_right = |(at, node): (usize, &OpenNode)| match &node.before {
            None => at == 0,
            Some((parent, _)) => {
                *parent < at && (node.is_planned() || !self.nodes[*parent].is_planned())
            }
        };
        !self.nodes.is_empty() && self.nodes.iter().enumerate().all(is_right)
    }

    fn children(&self) -> Children {
        let mut children = vec![Vec::new(); self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            if let Some((parent, _)) = node.before {
                children[parent].push(at);
            }
        }
        children
    }

    /// Returns for each node the number of planned leaves below it.
    fn leaves(&self, children: &Children) -> Vec<usize> {
        let mut leaves = vec![0; self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate().rev() {
            if node.is_planned() && children[at].is_empty() {
                leaves[at] = 1;
            }
            if let Some((parent, _)) = node.before {
                leaves[parent] += leaves[at];
            }
        }
        leaves
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

    /// Returns subtrees that are ready, at most `max`, each with its node.
    pub(crate) fn ready(&self, max: usize) -> Vec<(usize, Subtree)> {
        if max == 0 {
            return Vec::new();
        }
        let children = self.children();
        let parts = self.choose_parts(max, &children);
        let mut trees = self.wakeup_trees(&parts);
        let mut subtree = |part| (part, self.subtree(part, &parts, &mut trees, &children));
        parts.iter().map(|part| subtree(*part)).collect()
    }

    /// Chooses ready nodes, at most `max`. None of them is below another one.
    ///
    /// The part with the most leaves is split first. A part that cannot be split into two goes on
    /// alone, which also explores the nodes below it that are not ready.
    fn choose_parts(&self, max: usize, children: &Children) -> Vec<usize> {
        let leaves = self.leaves(children);
        let mut parts = vec![0];
        // Parts that may be split.
        let mut candidates = vec![0];
        while parts.len() < max.min(ENOUGH_PARTS)
            && let Some(part) = candidates.pop()
        {
            let mut ready = self.ready_children(part, children);
            while let [only] = ready[..] {
                ready = self.ready_children(only, children);
            }
            if ready.is_empty() {
                continue;
            }
            parts.retain(|other| *other != part);
            ready.truncate(max - parts.len());
            parts.extend(&ready);
            candidates.extend(ready);
            candidates.sort_unstable_by_key(|node| (leaves[*node], Reverse(*node)));
        }
        parts.sort_unstable();
        parts
    }

    /// Returns the children of an open node that are ready.
    fn ready_children(&self, node: usize, children: &Children) -> Vec<usize> {
        let NodeState::Open(_) = self.nodes[node].state else { return Vec::new() };
        let mut unfinished: Vec<usize> = Vec::new();
        let mut ready = Vec::new();
        for child in &children[node] {
            let is_ready = match self.nodes[*child].state {
                NodeState::Done => continue,
                NodeState::Open(_) => true,
                NodeState::Planned => {
                    let edge = self.edge(*child);
                    unfinished.iter().all(|earlier| {
                        let earlier = self.edge(*earlier);
                        earlier.mv.thread == edge.mv.thread
                            || conflict(&earlier.footprint, &edge.footprint)
                    })
                }
            };
            if is_ready {
                ready.push(*child);
            }
            unfinished.push(*child);
        }
        ready
    }

    /// Returns the wake-up trees of the parts, and of the children of nodes above a part. They
    /// contain the trees of all other nodes.
    fn wakeup_trees(&self, parts: &[usize]) -> Vec<WakeupTree> {
        let mut is_above = vec![false; self.nodes.len()];
        for part in parts {
            let mut at = *part;
            while let Some((parent, _)) = self.nodes[at].before {
                is_above[parent] = true;
                at = parent;
            }
        }
        let mut trees: Vec<WakeupTree> = vec![WakeupTree::default(); self.nodes.len()];
        for (at, OpenNode { before, state }) in self.nodes.iter().enumerate().rev() {
            if let Some((parent, first)) = before
                && !is_above[*parent]
            {
                let (first, state) = (first.clone(), state.clone());
                let next = std::mem::take(&mut trees[at]);
                trees[*parent].push_first(Branch { first, state, next });
            }
        }
        trees
    }

    /// Returns the subtree of a part with the states above it, and takes its wake-up tree.
    fn subtree(
        &self,
        part: usize,
        parts: &[usize],
        trees: &mut [WakeupTree],
        children: &Children,
    ) -> Subtree {
        let path = self.path(part);
        let siblings = |at: usize, below: usize| {
            let mut tree = WakeupTree::default();
            for child in children[at].iter().filter(|child| **child != below) {
                let first = self.edge(*child).clone();
                let is_covered = !self.nodes[*child].is_planned() || parts.contains(child);
                // The part explores none of these branches.
                tree.push(match is_covered {
                    true => Branch { first, state: NodeState::Done, next: WakeupTree::default() },
                    false => {
                        Branch { first, state: NodeState::Planned, next: trees[*child].clone() }
                    }
                });
            }
            tree
        };
        let above = path.iter().zip(&path[1..]);
        let above = above.map(|(at, below)| Node::open(self.sleep(*at), siblings(*at, *below)));
        let above: Vec<Node> = above.collect();
        let tree = std::mem::take(&mut trees[part]);
        let top = match &self.nodes[part] {
            OpenNode { before: Some((parent, mv)), state: NodeState::Planned } => {
                let mut sleep = self.sleep(*parent);
                let earlier = children[*parent].iter().take_while(|child| **child != part);
                for child in earlier.filter(|child| self.nodes[**child].state == NodeState::Done) {
                    sleep.insert(self.edge(*child).clone());
                }
                Node::new(sleep.after(mv.mv.thread, &mv.footprint), tree)
            }
            OpenNode { before: None, state: NodeState::Planned } => {
                Node::new(SleepSet::default(), tree)
            }
            OpenNode { state: NodeState::Open(_) | NodeState::Done, .. } => {
                Node::open(self.sleep(part), tree)
            }
        };
        let prefix = path[1..].iter().map(|node| self.edge(*node).clone()).collect();
        Subtree { start: self.start.clone(), prefix, above, top }
    }

    /// Returns the sleep set of an open node.
    fn sleep(&self, node: usize) -> SleepSet {
        match &self.nodes[node].state {
            NodeState::Open(sleep) => sleep.clone(),
            NodeState::Planned | NodeState::Done => SleepSet::default(),
        }
    }

    /// Adds results of the parts that [`OpenTree::ready`] returned, each with its node. `parts` are
    /// the nodes of all these parts. Returns for each result whether it was accepted.
    ///
    /// A result is rejected if another part has planned a sequence that changes where one of its
    /// reversals belongs. The part did not know that sequence, and it returns only reversals that
    /// its earlier ones do not cover. Such an earlier one could now be dropped because of the new
    /// sequence, and then nothing covers the others. No known system shows this: the tests pass
    /// without the rule. A part without an accepted result remains. The first result is always
    /// accepted.
    pub(crate) fn absorb(
        &mut self,
        parts: &[usize],
        results: Vec<(usize, SubtreeResult)>,
    ) -> Vec<bool> {
        let mut children = self.children();
        let known = self.nodes.len();
        let mut accepted = Vec::new();
        for (part, SubtreeResult { reversals, rest }) in results {
            let path = self.path(part);
            let unknown = known..self.nodes.len();
            let is_accepted = reversals.into_iter().all(|(depth, sequence)| {
                self.insert(path[depth], &sequence, parts, &unknown, &mut children)
            });
            accepted.push(is_accepted);
            if !is_accepted {
                continue;
            }
            children[part].clear();
            self.nodes[part].state = NodeState::Done;
            if let Some(stack) = rest {
                self.add_stack(part, stack, &mut children);
            }
        }
        self.update_done(&children);
        self.remove_done(children);
        accepted
    }

    fn add(
        &mut self,
        parent: usize,
        mv: TrackedMove,
        state: NodeState,
        children: &mut Children,
    ) -> usize {
        let node = self.nodes.len();
        self.nodes.push(OpenNode { before: Some((parent, mv)), state });
        children.push(Vec::new());
        children[parent].push(node);
        node
    }

    /// Adds the states of an exploration that is not complete, from `node` on.
    fn add_stack(&mut self, node: usize, stack: Stack, children: &mut Children) {
        let mut at = node;
        let mut events = stack.events.into_iter();
        let mut left = Vec::new();
        for Node { sleep, tree, .. } in stack.nodes {
            self.nodes[at].state = NodeState::Open(sleep);
            left.push((at, tree));
            if let Some(event) = events.next() {
                at = self.add(at, event, NodeState::Planned, children);
            }
        }
        while let Some((at, mut tree)) = left.pop() {
            while let Some(Branch { first, state, next }) = tree.pop_first() {
                let child = self.add(at, first, state, children);
                left.push((child, next));
            }
        }
    }

    /// Inserts a sequence at an open node, unless it is explored or planned. Returns whether the
    /// nodes in `unknown` make no difference.
    fn insert(
        &mut self,
        mut at: usize,
        sequence: &[TrackedMove],
        parts: &[usize],
        unknown: &Range<usize>,
        children: &mut Children,
    ) -> bool {
        let mut items: Vec<SequenceItem<'_>> = sequence.iter().map(SequenceItem::from).collect();
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
                let is_planned = self.nodes[*child].is_planned() && !parts.contains(child);
                if !is_planned || children[*child].is_empty() {
                    return true;
                }
                at = *child;
                continue 'descend;
            }
            break;
        }
        for item in items {
            at = self.add(at, item.to_tracked(), NodeState::Planned, children);
        }
        true
    }

    /// Finds the open nodes that are done.
    fn update_done(&mut self, children: &Children) {
        for node in (0..self.nodes.len()).rev() {
            let mut below = children[node].iter();
            if matches!(self.nodes[node].state, NodeState::Open(_))
                && below.all(|child| self.nodes[*child].state == NodeState::Done)
            {
                self.nodes[node].state = NodeState::Done;
            }
        }
    }

    /// Removes the nodes that are not children any more and the nodes below nodes that are done.
    /// Moves the first children of an open node that are done to its sleep set.
    fn remove_done(&mut self, children: Children) {
        let mut nodes: Vec<Option<OpenNode>> =
            std::mem::take(&mut self.nodes).into_iter().map(Some).collect();
        // Nodes to keep, with their new parents.
        let mut left = vec![(0, 0)];
        while let Some((at, parent)) = left.pop() {
            let Some(OpenNode { before, mut state }) = nodes[at].take() else { continue };
            let mut below = children[at].as_slice();
            match &mut state {
                NodeState::Done => below = &[],
                NodeState::Open(sleep) => {
                    while let [first, others @ ..] = below
                        && let Some(child) =
                            nodes[*first].take_if(|child| child.state == NodeState::Done)
                    {
                        child.before.into_iter().for_each(|(_, mv)| sleep.insert(mv));
                        below = others;
                    }
                }
                NodeState::Planned => {}
            }
            let kept = self.nodes.len();
            self.nodes.push(OpenNode { before: before.map(|(_, mv)| (parent, mv)), state });
            left.extend(below.iter().rev().map(|child| (*child, kept)));
        }
    }
}

impl OpenNode {
    fn is_planned(&self) -> bool {
        self.state == NodeState::Planned
    }
}
