//! Which entry of a window may be performed before which: the bypass table, same-location order,
//! fences, and forwarding.

use super::window::Window;
use super::{Table, is_known, value_of};
use crate::address::check_limits;
use crate::shape::Shape;
use fencepost_ir::{FenceKinds, Loc, Op, ThreadId, Value};

/// What an access does to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kinds {
    pub(super) loads: bool,
    pub(super) stores: bool,
}

/// What an entry does to memory; none for assignments, assertions and fences.
pub(super) fn kinds(
    shape: &Shape<'_>,
    t: ThreadId,
    window: &Window,
    entry: usize,
) -> Option<Kinds> {
    match shape.stmt(t, window.pc(entry)).op {
        Op::Load { .. } => Some(Kinds { loads: true, stores: false }),
        Op::Store { .. } => Some(Kinds { loads: false, stores: true }),
        Op::Update { .. } => Some(Kinds { loads: true, stores: true }),
        _ => None,
    }
}

/// How many accesses of a window come before an entry.
pub(super) fn accesses_before(shape: &Shape<'_>, t: ThreadId, window: &Window, entry: usize) -> u32 {
    (0..entry).filter(|e| kinds(shape, t, window, *e).is_some()).count() as u32
}

/// Where a load gets its value.
pub(super) enum Forward {
    /// From memory.
    Memory,
    /// From an earlier store of the window.
    Value(Value),
    /// From a store that is not known well enough yet.
    Wait,
}

impl Table {
    /// Whether an entry may be performed now.
    pub(super) fn may_perform(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        entry: usize,
    ) -> bool {
        let Some(mine) = kinds(shape, t, window, entry) else {
            return false;
        };
        if !window.is_ready(shape, t, entry) {
            return false;
        }
        // A faulty address is no reason to wait: performing it reports the fault.
        let loc = self.location(shape, t, window, entry).and_then(Result::ok);
        let mut fences = FenceKinds::default();
        for earlier in (0..entry).rev() {
            if let Op::Fence(more) = shape.stmt(t, window.pc(earlier)).op {
                fences = fences.union(more);
            }
            let Some(theirs) = kinds(shape, t, window, earlier) else {
                continue;
            };
            if self.is_ordered(theirs, mine) || is_fenced(fences, theirs, mine) {
                return false;
            }
            let forwards = mine.loads && !mine.stores && theirs.stores && !theirs.loads;
            let same = loc.is_some_and(|loc| self.may_be_at(shape, t, window, earlier, loc));
            if same && !(forwards && self.bypass.read_own_early) {
                return false;
            }
        }
        match (mine.stores, loc) {
            (false, Some(loc)) => {
                !matches!(self.forward(shape, t, window, entry, loc), Forward::Wait)
            }
            _ => true,
        }
    }

    /// Whether the bypass table keeps the two accesses in order.
    fn is_ordered(&self, earlier: Kinds, later: Kinds) -> bool {
        let Table { bypass, .. } = self;
        (earlier.stores && later.loads && !bypass.store_load)
            || (earlier.stores && later.stores && !bypass.store_store)
            || (earlier.loads && later.loads && !bypass.load_load)
            || (earlier.loads && later.stores && !bypass.load_store)
    }

    /// Whether an entry's access may be to a location.
    pub(super) fn may_be_at(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        entry: usize,
        loc: Loc,
    ) -> bool {
        match self.location(shape, t, window, entry) {
            Some(Ok(other)) => other == loc,
            Some(Err(_)) => false,
            None => shape.thread(t).footprints[window.pc(entry).index()].contains(&loc),
        }
    }

    /// Where a load of `loc` gets its value: the youngest earlier store that may be there decides.
    pub(super) fn forward(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        entry: usize,
        loc: Loc,
    ) -> Forward {
        for earlier in (0..entry).rev() {
            let pc = window.pc(earlier);
            let Op::Store { value, .. } = &shape.stmt(t, pc).op else {
                continue;
            };
            if !self.may_be_at(shape, t, window, earlier, loc) {
                continue;
            }
            let uses = &shape.thread(t).uses[pc.index()];
            let operands = window.operands(shape, t, earlier);
            let sure = self.location(shape, t, window, earlier).is_some();
            if !sure || !is_known(value, uses, operands) {
                return Forward::Wait;
            }
            // A value that faults, or does not fit the location, faults when the store is performed;
            // the load waits for that.
            let limits = shape.location_limits[loc.index()];
            let value = value.eval(&|reg| value_of(uses, operands, *reg));
            return match value.and_then(|value| check_limits(limits, value)) {
                Ok(value) => Forward::Value(value),
                Err(_) => Forward::Wait,
            };
        }
        Forward::Memory
    }

    /// Whether a fence entry still orders something that is pending before it.
    pub(super) fn fence_matters(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        fence: usize,
        orders: FenceKinds,
    ) -> bool {
        (0..fence).filter_map(|earlier| kinds(shape, t, window, earlier)).any(|earlier| {
            let any = Kinds { loads: true, stores: true };
            is_fenced(orders, earlier, any)
        })
    }
}

fn is_fenced(fences: FenceKinds, earlier: Kinds, later: Kinds) -> bool {
    (earlier.stores && later.stores && fences.contains(FenceKinds::STORE_STORE))
        || (earlier.stores && later.loads && fences.contains(FenceKinds::STORE_LOAD))
        || (earlier.loads && later.loads && fences.contains(FenceKinds::LOAD_LOAD))
        || (earlier.loads && later.stores && fences.contains(FenceKinds::LOAD_STORE))
}
