//! Wakeup trees: which runs are still to be explored from a state, and which need not be.
//!
//! After optimal dynamic partial-order reduction (Abdulla, Aronis, Jonsson, Sagonas 2014). A move is a *weak initial* of a
//! sequence of steps when some run with the same partial order begins with it: it is the first of its
//! thread there and commutes with what comes before it, or it is not there and commutes with all of it.

use super::footprint::{Touch, conflict};
use super::path::Move;

/// A move that need not be explored: everything that begins with it was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Asleep {
    pub(crate) made: Move,
    /// What it touches: whatever touches the same wakes it.
    pub(crate) touches: Vec<Touch>,
    /// What it could touch, had it chosen differently: it comes first for all that begins with it only if
    /// all of that commutes. None if it has nothing to choose.
    pub(crate) chosen: Option<Vec<Touch>>,
}

impl Asleep {
    /// As a step of a sequence.
    pub(crate) fn item(&self) -> Item<'_> {
        Item { made: &self.made, touches: self.chosen.as_ref().unwrap_or(&self.touches) }
    }
}

/// A move that is to be explored, and what is to come after it: nothing in particular, or these.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub(crate) made: Move,
    pub(crate) touches: Vec<Touch>,
    pub(crate) next: Vec<Branch>,
}

/// A step of a sequence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item<'a> {
    pub(crate) made: &'a Move,
    pub(crate) touches: &'a [Touch],
}

/// How a move relates to a sequence.
enum Initial {
    /// It is the step at this position, and may come first.
    At(usize),
    /// It is not in it, and may come first.
    Beside,
    /// It may not.
    No,
}

fn initial(made: &Move, touches: &[Touch], sequence: &[Item<'_>]) -> Initial {
    match sequence.iter().position(|item| item.made.thread == made.thread) {
        Some(at) => {
            let own = &sequence[at];
            let commutes = sequence[..at].iter().all(|item| !conflict(item.touches, own.touches));
            if own.made.script == made.script && commutes { Initial::At(at) } else { Initial::No }
        }
        None if sequence.iter().any(|item| conflict(item.touches, touches)) => Initial::No,
        None => Initial::Beside,
    }
}

/// Whether a run with the same partial order as the sequence, or one that goes on from it, begins with the
/// move.
pub(crate) fn is_weak_initial(made: &Move, touches: &[Touch], sequence: &[Item<'_>]) -> bool {
    match initial(made, touches, sequence) {
        Initial::At(_) | Initial::Beside => true,
        Initial::No => false,
    }
}

/// Adds a sequence to a tree, unless what is there leads to it anyway.
pub(crate) fn insert(tree: &mut Vec<Branch>, mut sequence: Vec<Item<'_>>) {
    if sequence.is_empty() {
        return;
    }
    for branch in tree.iter_mut() {
        match initial(&branch.made, &branch.touches, &sequence) {
            Initial::No => continue,
            Initial::At(at) => {
                sequence.remove(at);
            }
            Initial::Beside => {}
        }
        if !branch.next.is_empty() {
            insert(&mut branch.next, sequence);
        }
        return;
    }
    let mut chain = Vec::new();
    for item in sequence.into_iter().rev() {
        let branch =
            Branch { made: item.made.clone(), touches: item.touches.to_vec(), next: chain };
        chain = vec![branch];
    }
    tree.append(&mut chain);
}
