//! Wake-up trees: the executions that remain to be explored from a state.
//!
//! Source: \[AAJS14\]. A move is a *weak initial* of a sequence if it can come first in a
//! sequence that is equivalent to this one or extends it. There are two cases. The move is the
//! first move of its thread in the sequence and commutes with all moves before it. Or its thread
//! does not occur in the sequence and the move commutes with all moves of the sequence.

use crate::event::{CellAccess, Move, TrackedMove, conflict};
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

/// Returns whether a move is a weak initial of a sequence.
pub(crate) fn is_weak_initial(first: SequenceItem<'_>, sequence: &[SequenceItem<'_>]) -> bool {
    match weak_initial(first, sequence) {
        WeakInitial::InSequence(_) | WeakInitial::Independent => true,
        WeakInitial::No => false,
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

/// A move to explore and the wake-up tree after it. If that tree is empty, every continuation is
/// allowed.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub(crate) first: TrackedMove,
    pub(crate) next: WakeupTree,
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
    pub(crate) fn push(&mut self, first: TrackedMove, next: WakeupTree) {
        self.branches.push_back(Branch { first, next });
    }

    /// Inserts a sequence, unless the tree already leads to an equivalent execution.
    pub(crate) fn insert(&mut self, mut sequence: Vec<SequenceItem<'_>>) -> Insertion {
        for branch in &mut self.branches {
            let stays = match weak_initial((&branch.first).into(), &sequence) {
                WeakInitial::No => continue,
                WeakInitial::InSequence(at) => sequence.remove(at).stays,
                WeakInitial::Independent => false,
            };
            let Insertion { inserted, is_final } = match branch.next.is_empty() {
                true => Insertion { inserted: false, is_final: true },
                false => branch.next.insert(sequence),
            };
            return Insertion { inserted, is_final: is_final && stays };
        }
        let is_final = sequence.iter().all(|item| item.stays);
        let mut chain = WakeupTree::default();
        for item in sequence.into_iter().rev() {
            let branch = Branch { first: item.to_tracked(), next: chain };
            chain = WakeupTree { branches: [branch].into() };
        }
        self.branches.append(&mut chain.branches);
        Insertion { inserted: true, is_final }
    }
}
