//! SC: nothing is ever pending. A load reads memory, a store writes memory. Fences and `drain` have
//! no effect.

use fencepost_ir::{Fault, FenceKinds, Loc, Value};

use super::Rules;
use super::in_order::Pending;
use super::memory::Memory;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct NoPending;

impl Pending for NoPending {
    fn is_empty(&self) -> bool {
        true
    }

    fn fits_bound(&self, _: Option<Loc>, _: usize) -> bool {
        true
    }

    fn store(
        &mut self,
        rules: &Rules,
        memory: &mut Memory,
        loc: Loc,
        value: Value,
    ) -> Result<(), Fault> {
        memory.write(rules.program, loc, value)
    }

    fn may_load(&self) -> bool {
        true
    }

    fn youngest(&self, _: Loc) -> Option<Value> {
        None
    }

    fn may_update(&self, _: Option<Loc>) -> bool {
        true
    }

    fn fence(&mut self, _: FenceKinds) -> bool {
        true
    }

    fn commits(&self) -> Vec<(Loc, Value, Self)> {
        Vec::new()
    }
}
