//! Which entry of a window may be performed before which: the bypass table, same-location order,
//! fences, and forwarding.

use super::window::{Operand, Window};
use super::{Table, is_known, location_of, value_of};
use crate::address::check_limits;
use crate::mutation::Mutation;
use crate::shape::Shape;
use fencepost_ir::{Access, FenceKinds, Loc, Op, Pc, ThreadId, Value};

/// What an entry does to memory; none for assignments, assertions and fences.
pub(super) fn kinds(
    shape: &Shape<'_>,
    t: ThreadId,
    window: &Window,
    entry: usize,
) -> Option<Access> {
    shape.stmt(t, window.pc(entry)).op.access()
}

/// How many accesses of a window come before an entry.
pub(super) fn accesses_before(
    shape: &Shape<'_>,
    t: ThreadId,
    window: &Window,
    entry: usize,
) -> u32 {
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

/// What is to be known of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    kinds: Option<Access>,
    fences: FenceKinds,
    /// The location of its access, an error where its address is faulty; none when it is not known yet.
    spot: Option<Result<Loc, ()>>,
    ready: bool,
    pc: Pc,
}

/// What is to be known of the entries of a window, so that each is looked at once.
pub(super) fn survey(shape: &Shape<'_>, t: ThreadId, window: &Window) -> Vec<Entry> {
    let look = |(pc, operands): (Pc, &[Operand])| {
        let op = &shape.stmt(t, pc).op;
        let kinds = op.access();
        let spot = match op.address() {
            Some(address) if kinds.is_some() => {
                location_of(shape, t, pc, address, operands).map(|loc| loc.map_err(|_| ()))
            }
            _ => None,
        };
        let fences = if let Op::Fence(kinds) = op { *kinds } else { FenceKinds::default() };
        let ready = operands.iter().all(|operand| matches!(operand, Operand::Value(_)));
        Entry { kinds, fences, spot, ready, pc }
    };
    let mut survey = Vec::with_capacity(window.len());
    survey.extend(window.entries(shape, t).map(look));
    survey
}

impl Entry {
    /// Whether its access may be to a location.
    fn may_be_at(&self, shape: &Shape<'_>, t: ThreadId, loc: Loc) -> bool {
        match self.spot {
            Some(Ok(other)) => other == loc,
            Some(Err(())) => false,
            None => shape.thread(t).footprints[self.pc.index()].contains(&loc),
        }
    }
}

/// Where a load of `loc` gets its value: the youngest earlier store that may be there decides.
pub(super) fn forward(
    shape: &Shape<'_>,
    t: ThreadId,
    window: &Window,
    survey: &[Entry],
    entry: usize,
    loc: Loc,
) -> Forward {
    for earlier in (0..entry).rev() {
        let Op::Store { value, .. } = &shape.stmt(t, survey[earlier].pc).op else {
            continue;
        };
        if !survey[earlier].may_be_at(shape, t, loc) {
            continue;
        }
        let uses = &shape.thread(t).uses[survey[earlier].pc.index()];
        let operands = window.operands(shape, t, earlier);
        if survey[earlier].spot.is_none() || !is_known(value, uses, operands) {
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

impl Table {
    /// Whether an entry may be performed now.
    pub(super) fn may_perform(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        survey: &[Entry],
        entry: usize,
    ) -> bool {
        let Entry { kinds: Some(mine), ready: true, spot, .. } = survey[entry] else {
            return false;
        };
        // A faulty address is no reason to wait: performing it reports the fault.
        let loc = spot.and_then(Result::ok);
        let mut fences = FenceKinds::default();
        for earlier in survey[..entry].iter().rev() {
            if !self.mutated.is(Mutation::IgnoredFence) {
                fences = fences.union(earlier.fences);
            }
            let Some(theirs) = earlier.kinds else {
                continue;
            };
            if self.is_ordered(theirs, mine) || fences.orders(theirs, mine) {
                return false;
            }
            let forwards = mine.loads && !mine.stores && theirs.stores && !theirs.loads;
            let ignored = earlier.spot.is_none()
                && self.mutated.is(Mutation::UnknownAddressIgnored)
                || self.mutated.is(Mutation::OutOfOrderCommit);
            let same = loc.is_some_and(|loc| earlier.may_be_at(shape, t, loc)) && !ignored;
            if same && !(forwards && self.bypass.read_own_early) {
                return false;
            }
        }
        match (mine.stores, loc) {
            (false, Some(loc)) => {
                !matches!(forward(shape, t, window, survey, entry, loc), Forward::Wait)
            }
            _ => true,
        }
    }

    /// Whether the bypass table keeps the two accesses in order.
    fn is_ordered(&self, earlier: Access, later: Access) -> bool {
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

    /// Whether a fence entry still orders something that is pending before it.
    pub(super) fn fence_matters(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        fence: usize,
        kinds_of_fence: FenceKinds,
    ) -> bool {
        (0..fence).filter_map(|earlier| kinds(shape, t, window, earlier)).any(|earlier| {
            let any = Access { loads: true, stores: true };
            kinds_of_fence.orders(earlier, any)
        })
    }
}
