//! Wakeup trees: which executions are still to be explored from a state.
//!
//! Source: \[AAJS14\]. A move is a *weak initial* of a sequence when some execution with the same happens-before order,
//! or one that goes on from it, begins with the move: it is the first of its thread there and commutes with what
//! comes before it, or its thread is not there and it commutes with all of it.

use crate::event::{Move, Touch, conflict};
use std::collections::VecDeque;

/// A move of a sequence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item<'a> {
    pub(crate) made: &'a Move,
    pub(crate) footprint: &'a [Touch],
}

/// How a move relates to a sequence.
enum Initial {
    /// It is the item at this position, and may come first.
    At(usize),
    /// It is not in it, and may come first.
    Beside,
    /// It may not.
    No,
}

fn initial(made: &Move, footprint: &[Touch], sequence: &[Item<'_>]) -> Initial {
    match sequence.iter().position(|item| item.made.thread == made.thread) {
        Some(at) => {
            let own = &sequence[at];
            let mut earlier = sequence[..at].iter();
            let commutes = earlier.all(|item| !conflict(item.footprint, own.footprint));
            if own.made.choices == made.choices && commutes { Initial::At(at) } else { Initial::No }
        }
        None if sequence.iter().any(|item| conflict(item.footprint, footprint)) => Initial::No,
        None => Initial::Beside,
    }
}

/// Whether a move is a weak initial of a sequence.
pub(crate) fn is_weak_initial(first: Item<'_>, sequence: &[Item<'_>]) -> bool {
    match initial(first.made, first.footprint, sequence) {
        Initial::At(_) | Initial::Beside => true,
        Initial::No => false,
    }
}

/// Moves that are to be explored from a state, in order, each with what is to come after it.
#[derive(Clone, Debug, Default)]
pub(crate) struct WakeupTree {
    branches: VecDeque<Branch>,
}

/// A move that is to be explored, and what is to come after it; an empty tree: nothing in particular.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub(crate) made: Move,
    pub(crate) footprint: Vec<Touch>,
    pub(crate) next: WakeupTree,
}

impl WakeupTree {
    pub(crate) fn is_empty(&self) -> bool {
        self.branches.is_empty()
    }

    /// Takes the first branch.
    pub(crate) fn pop_first(&mut self) -> Option<Branch> {
        self.branches.pop_front()
    }

    /// Adds a move with nothing in particular after it, as the last branch.
    pub(crate) fn push(&mut self, made: Move, footprint: Vec<Touch>) {
        self.branches.push_back(Branch { made, footprint, next: WakeupTree::default() });
    }

    /// Adds a sequence, unless what is there leads to it anyway.
    pub(crate) fn insert(&mut self, mut sequence: Vec<Item<'_>>) {
        for branch in &mut self.branches {
            match initial(&branch.made, &branch.footprint, &sequence) {
                Initial::No => continue,
                Initial::At(at) => {
                    sequence.remove(at);
                }
                Initial::Beside => {}
            }
            if !branch.next.is_empty() {
                branch.next.insert(sequence);
            }
            return;
        }
        let mut chain = WakeupTree::default();
        for Item { made, footprint } in sequence.into_iter().rev() {
            let branch = Branch { made: made.clone(), footprint: footprint.to_vec(), next: chain };
            chain = WakeupTree { branches: [branch].into() };
        }
        self.branches.append(&mut chain.branches);
    }
}
