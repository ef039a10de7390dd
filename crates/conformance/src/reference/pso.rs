//! PSO: each thread has one queue per location. Each entry has two marks: its *epoch* (the number
//! of `store_store` fences that the thread passed before it issued the store), and whether the
//! entry is *before a barrier*.
//!
//! Epochs are only compared, so they are renumbered from 0 without gaps after every change.
//! Otherwise a loop with a fence would have infinitely many states.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_ir::{Fault, FenceKinds, Loc, Value};

use super::Rules;
use super::in_order::Pending;
use super::memory::Memory;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Entry {
    value: Value,
    epoch: usize,
    before_barrier: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Queues {
    /// The non-empty queues, oldest entry first.
    queues: BTreeMap<Loc, Vec<Entry>>,
    epoch: usize,
}

impl Queues {
    fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.queues.values().flatten()
    }

    fn renumber(&mut self) {
        let used: BTreeSet<usize> =
            self.entries().map(|entry| entry.epoch).chain([self.epoch]).collect();
        let rank = |epoch: usize| used.iter().filter(|other| **other < epoch).count();
        for entry in self.queues.values_mut().flatten() {
            entry.epoch = rank(entry.epoch);
        }
        self.epoch = rank(self.epoch);
    }
}

impl Pending for Queues {
    fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    fn fits_bound(&self, loc: Option<Loc>, bound: usize) -> bool {
        let queue = loc.and_then(|loc| self.queues.get(&loc));
        loc.is_none() || queue.map_or(0, Vec::len) < bound
    }

    fn store(&mut self, _: &Rules, _: &mut Memory, loc: Loc, value: Value) -> Result<(), Fault> {
        let entry = Entry { value, epoch: self.epoch, before_barrier: false };
        self.queues.entry(loc).or_default().push(entry);
        Ok(())
    }

    fn may_load(&self) -> bool {
        !self.entries().any(|entry| entry.before_barrier)
    }

    fn youngest(&self, loc: Loc) -> Option<Value> {
        self.queues.get(&loc).and_then(|queue| queue.last()).map(|entry| entry.value)
    }

    fn may_update(&self, loc: Option<Loc>) -> bool {
        loc.is_none_or(|loc| !self.queues.contains_key(&loc))
            && !self.entries().any(|entry| entry.before_barrier)
            && !self.entries().any(|entry| entry.epoch < self.epoch)
    }

    fn fence(&mut self, kinds: FenceKinds) -> bool {
        if kinds == FenceKinds::FULL {
            return self.is_empty();
        }
        if kinds.contains(FenceKinds::STORE_STORE) {
            self.epoch += 1;
            self.renumber();
        }
        if kinds.contains(FenceKinds::STORE_LOAD) {
            for entry in self.queues.values_mut().flatten() {
                entry.before_barrier = true;
            }
        }
        true
    }

    fn commits(&self) -> Vec<(Loc, Value, Self)> {
        let mut commits = Vec::new();
        for (loc, queue) in &self.queues {
            let oldest = &queue[0];
            if self.entries().any(|entry| entry.epoch < oldest.epoch) {
                continue;
            }
            let mut after = self.clone();
            let rest = queue[1..].to_vec();
            if rest.is_empty() {
                after.queues.remove(loc);
            } else {
                after.queues.insert(*loc, rest);
            }
            after.renumber();
            commits.push((*loc, oldest.value, after));
        }
        commits
    }
}
