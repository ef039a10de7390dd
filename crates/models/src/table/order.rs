//! The order in which the entries of a window may be performed: the bypass table, same-location
//! order, fences, and forwarding.

use super::Table;
use crate::address::check_limits;
use crate::mutation::Mutation;
use crate::shape::Shape;
use crate::window::operands::{is_known, location_of, value_of};
use crate::window::{Mark, Operand, Window};
use fencepost_ir::{Access, FenceKinds, Loc, Op, Pc, ThreadId, Value};

/// The source of a load's value.
pub(super) enum LoadSource {
    /// Memory.
    Memory,
    /// An earlier store in the window, with this value.
    Value(Value),
    /// An earlier store whose location or value is unknown. The load must wait.
    Wait,
}

/// The facts about an entry that decide whether it may be performed.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryInfo {
    access: Option<Access>,
    fences: FenceKinds,
    /// The location of the access: an error if the address faults, `None` if the address is
    /// unknown.
    location: Option<Result<Loc, ()>>,
    ready: bool,
    pc: Pc,
}

/// Computes the facts about all entries of a window, each once.
pub(super) fn entry_infos(shape: &Shape<'_>, t: ThreadId, window: &Window) -> Vec<EntryInfo> {
    let has_guess = window.oldest_guess().is_some();
    let info = |(entry, (pc, operands)): (usize, (Pc, &[Operand]))| {
        let op = &shape.stmt(t, pc).op;
        let has_failed = has_guess && matches!(window.mark(entry), Some(Mark::Failed(_)));
        let access = if has_failed { None } else { op.access() };
        let location = match op.address() {
            Some(address) if access.is_some() => {
                location_of(shape, t, pc, address, operands).map(|loc| loc.map_err(|_| ()))
            }
            _ => None,
        };
        let fences = if let Op::Fence(kinds) = op { *kinds } else { FenceKinds::default() };
        let ready = operands.iter().all(|operand| matches!(operand, Operand::Value(_)));
        EntryInfo { access, fences, location, ready, pc }
    };
    let mut infos = Vec::with_capacity(window.len());
    infos.extend(window.entries(shape, t).enumerate().map(info));
    infos
}

impl EntryInfo {
    /// Returns whether the access may be to a location.
    fn may_be_at(&self, shape: &Shape<'_>, t: ThreadId, loc: Loc) -> bool {
        match self.location {
            Some(Ok(other)) => other == loc,
            Some(Err(())) => false,
            None => shape.thread(t).footprints[self.pc.index()].contains(&loc),
        }
    }
}

/// Returns the source of a load of `loc`: the youngest earlier store that may be to `loc`, else
/// memory.
pub(super) fn forward(
    shape: &Shape<'_>,
    t: ThreadId,
    window: &Window,
    infos: &[EntryInfo],
    entry: usize,
    loc: Loc,
) -> LoadSource {
    for earlier in (0..entry).rev() {
        let Op::Store { value, .. } = &shape.stmt(t, infos[earlier].pc).op else {
            continue;
        };
        if !infos[earlier].may_be_at(shape, t, loc) {
            continue;
        }
        let uses = &shape.thread(t).uses[infos[earlier].pc.index()];
        let operands = window.operands(shape, t, earlier);
        if infos[earlier].location.is_none() || !is_known(value, uses, operands) {
            return LoadSource::Wait;
        }
        // A value that faults, or is outside the range of the location, is a fault when the store
        // is performed. The load waits for this.
        let limits = shape.location_limits[loc.index()];
        let value = value.eval(&|reg| value_of(uses, operands, *reg));
        return match value.and_then(|value| check_limits(limits, value)) {
            Ok(value) => LoadSource::Value(value),
            Err(_) => LoadSource::Wait,
        };
    }
    LoadSource::Memory
}

impl Table {
    /// Returns whether an entry may be performed now.
    pub(super) fn may_perform(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        infos: &[EntryInfo],
        entry: usize,
    ) -> bool {
        let EntryInfo { access: Some(mine), ready: true, location, .. } = infos[entry] else {
            return false;
        };
        if window.is_speculative(entry) && self.waits_for_guesses(mine, location) {
            return false;
        }
        // An address that faults does not wait: performing the access reports the fault.
        let loc = location.and_then(Result::ok);
        let mut fences = FenceKinds::default();
        for earlier in infos[..entry].iter().rev() {
            if !self.mutated.is(Mutation::IgnoredFence) {
                fences = fences.union(earlier.fences);
            }
            let Some(theirs) = earlier.access else {
                continue;
            };
            if self.is_ordered(theirs, mine) || fences.orders(theirs, mine) {
                return false;
            }
            let forwards = mine.loads && !mine.stores && theirs.stores && !theirs.loads;
            let ignored = earlier.location.is_none()
                && self.mutated.is(Mutation::UnknownAddressIgnored)
                || self.mutated.is(Mutation::OutOfOrderCommit);
            let same = loc.is_some_and(|loc| earlier.may_be_at(shape, t, loc)) && !ignored;
            if same && !(forwards && self.bypass.read_own_early) {
                return false;
            }
        }
        match (mine.stores, loc) {
            (false, Some(loc)) => {
                !matches!(forward(shape, t, window, infos, entry, loc), LoadSource::Wait)
            }
            _ => true,
        }
    }

    /// Returns whether an access behind a guess must wait until the guess is resolved: a store, an
    /// update, or an address that faults.
    fn waits_for_guesses(&self, access: Access, location: Option<Result<Loc, ()>>) -> bool {
        let faults = matches!(location, Some(Err(())));
        (access.stores && !self.mutated.is(Mutation::StoresIgnoreGuesses))
            || (faults && !self.mutated.is(Mutation::SpeculativeFailuresCount))
            || self.mutated.is(Mutation::LoadsWaitForGuesses)
    }

    /// Returns whether the bypass table keeps the two accesses in order.
    fn is_ordered(&self, earlier: Access, later: Access) -> bool {
        let Table { bypass, .. } = self;
        (earlier.stores && later.loads && !bypass.store_load)
            || (earlier.stores && later.stores && !bypass.store_store)
            || (earlier.loads && later.loads && !bypass.load_load)
            || (earlier.loads && later.stores && !bypass.load_store)
    }

    /// Appends the known locations of the accesses in a window.
    pub(super) fn known_locations(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        out: &mut Vec<Loc>,
    ) {
        let is_access = |entry: &usize| window.access(shape, t, *entry).is_some();
        let accesses = (0..window.len()).filter(is_access);
        out.extend(accesses.filter_map(|entry| window.location(shape, t, entry)?.ok()));
    }

    /// Returns the oldest entry that may be an access to the location, if it is known to be one.
    pub(super) fn oldest_access_to(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        loc: Loc,
    ) -> Option<u32> {
        let oldest = (0..window.len()).find(|entry| {
            window.access(shape, t, *entry).is_some()
                && self.may_be_at(shape, t, window, *entry, loc)
        })?;
        let is_known = window.location(shape, t, oldest) == Some(Ok(loc));
        is_known.then_some(oldest as u32)
    }

    /// Returns whether an entry's access may be to a location.
    pub(super) fn may_be_at(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        entry: usize,
        loc: Loc,
    ) -> bool {
        match window.location(shape, t, entry) {
            Some(Ok(other)) => other == loc,
            Some(Err(_)) => false,
            None => shape.thread(t).footprints[window.pc(entry).index()].contains(&loc),
        }
    }
}
