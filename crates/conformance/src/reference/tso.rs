//! TSO: each thread has one queue of pending stores (location, value), oldest first. `barrier` is
//! the number of oldest entries that must commit before the thread may load again.

use fencepost_ir::{Fault, FenceKinds, Loc, Value};

use super::Rules;
use super::in_order::Pending;
use super::memory::Memory;

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Queue {
    entries: Vec<(Loc, Value)>,
    barrier: usize,
}

impl Pending for Queue {
    fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn fits_bound(&self, _: Option<Loc>, bound: usize) -> bool {
        self.entries.len() < bound
    }

    fn store(&mut self, _: &Rules, _: &mut Memory, loc: Loc, value: Value) -> Result<(), Fault> {
        self.entries.push((loc, value));
        Ok(())
    }

    fn may_load(&self) -> bool {
        self.barrier == 0
    }

    fn youngest(&self, loc: Loc) -> Option<Value> {
        self.entries.iter().rfind(|(at, _)| *at == loc).map(|(_, value)| *value)
    }

    fn may_update(&self, _: Option<Loc>) -> bool {
        self.is_empty()
    }

    fn fence(&mut self, kinds: FenceKinds) -> bool {
        if kinds == FenceKinds::FULL {
            return self.is_empty();
        }
        if kinds.contains(FenceKinds::STORE_LOAD) {
            self.barrier = self.entries.len();
        }
        true
    }

    fn commits(&self) -> Vec<(Loc, Value, Self)> {
        let mut after = self.clone();
        if after.is_empty() {
            return Vec::new();
        }
        let (loc, value) = after.entries.remove(0);
        after.barrier = after.barrier.saturating_sub(1);
        vec![(loc, value, after)]
    }
}
