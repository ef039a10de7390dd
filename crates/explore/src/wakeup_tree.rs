//! Wake-up trees: the executions that remain to be explored from a state.
//!
//! Source: \[AAJS14\]. A move is a *weak initial* of a sequence if it can come first in a
//! sequence that is equivalent to this one or extends it. There are two cases. The move is the
//! first move of its thread in the sequence and commutes with all moves before it. Or its thread
//! does not occur in the sequence and the move commutes with all moves of the sequence.

use crate::event::{CellAccess, Move, TrackedMove, conflict};
use crate::open_tree::NodeState;
use std::collections::VecDeque;

/// A move of a sequence, with its footprint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SequenceItem<'a> {
    pub(crate) mv: &'a Move,
    pub(crate) footprint: &'a [CellAccess],
    /// Whether later executions insert sequences with this item, too.
    pub(crate) stays: bool,
}

impl SequenceItem<'_> {
    pub(crate) fn to_tracked(self) -> TrackedMove {
        TrackedMove { mv: self.mv.clone(), footprint: self.footprint.to_vec() }
    }
}

impl<'a> From<&'a TrackedMove> for SequenceItem<'a> {
    fn from(TrackedMove { mv, footprint }: &'a TrackedMove) -> Self {
        SequenceItem { mv, footprint, stays: true }
    }
}

/// Whether and how a move is a weak initial of a sequence.
pub(crate) enum WeakInitial {
    /// A weak initial: the item at this position of the sequence.
    InSequence(usize),
    /// A weak initial whose thread does not occur in the sequence.
    Independent,
    /// Not a weak initial.
    No,
}

/// Returns whether and how a move is a weak initial of a sequence.
pub(crate) fn weak_initial(first: SequenceItem<'_>, sequence: &[SequenceItem<'_>]) -> WeakInitial {
    let SequenceItem { mv, footprint, .. } = first;
    match sequence.iter().position(|item| item.mv.thread == mv.thread) {
        Some(at) => {
            let own = &sequence[at];
            let mut earlier = sequence[..at].iter();
            let commutes = earlier.all(|item| !conflict(item.footprint, own.footprint));
            if own.mv.choices == mv.choices && commutes {
                WeakInitial::InSequence(at)
            } else {
                WeakInitial::No
            }
        }
        None if sequence.iter().any(|item| conflict(item.footprint, footprint)) => WeakInitial::No,
        None => WeakInitial::Independent,
    }
}

/// The result of inserting a sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Insertion {
    /// Whether the sequence was inserted.
    pub(crate) inserted: bool,
    /// Whether the tree now has a leaf that consists of items that stay.
    pub(crate) is_final: bool,
}

/// An ordered tree of moves. Each path from the root is a sequence to explore.
#[derive(Clone, Debug, Default)]
pub(crate) struct WakeupTree {
    branches: VecDeque<Branch>,
}

/// A move to explore and the wake-up tree after it.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub(crate) first: TrackedMove,
    /// What was explored after the move.
    pub(crate) state: NodeState,
    /// What remains. If nothing was explored and this tree is empty, every continuation is allowed.
    pub(crate) next: WakeupTree,
}

impl Branch {
    /// Returns whether every continuation of the move is explored or will be explored.
    fn covers_everything(&self) -> bool {
        self.state != NodeState::Planned || self.next.is_empty()
    }
}

impl WakeupTree {
    pub(crate) fn is_empty(&self) -> bool {
        self.branches.is_empty()
    }

    /// Removes and returns the first branch.
    pub(crate) fn pop_first(&mut self) -> Option<Branch> {
        self.branches.pop_front()
    }

    /// Appends a branch.
    pub(crate) fn push(&mut self, branch: Branch) {
        self.branches.push_back(branch);
    }

    /// Adds a branch before all others.
    pub(crate) fn push_first(&mut self, branch: Branch) {
        self.branches.push_front(branch);
    }

    /// Inserts a sequence, unless the tree already leads to an equivalent execution.
    pub(crate) fn insert(&mut self, mut sequence: Vec<SequenceItem<'_>>) -> Insertion {
        for branch in &mut self.branches {
            let stays = match weak_initial((&branch.first).into(), &sequence) {
                WeakInitial::No => continue,
                WeakInitial::InSequence(at) => sequence.remove(at).stays,
                WeakInitial::Independent => false,
            };
            let Insertion { inserted, is_final } = match branch.covers_everything() {
                true => Insertion { inserted: false, is_final: true },
                false => branch.next.insert(sequence),
            };
            return Insertion { inserted, is_final: is_final && stays };
        }
        let is_final = sequence.iter().all(|item| item.stays);
        let branch = |item: &SequenceItem<'_>, next| Branch {
            first: item.to_tracked(),
            state: NodeState::Planned,
            next,
        };
        if let [first, others @ ..] = sequence.as_slice() {
            let mut next = WakeupTree::default();
            for item in others.iter().rev() {
                next = WakeupTree { branches: [branch(item, next)].into() };
            }
            self.branches.push_back(branch(first, next));
        }
        Insertion { inserted: true, is_final }
    }
}
