//! Which reads and writes of a window may be performed.
//!
//! Fences that order loads, acquire reads and instruction barriers are not checked here: nothing is
//! fetched behind them before they are passed, see [`super::fetch`].

use super::Arm;
use super::facts::{self, Facts, may_be_at};
use super::perform;
use crate::mutation::Mutation;
use crate::shape::Shape;
use crate::state::State;
use crate::window::{Note, Window};
use fencepost_ir::{Acquire, Loc, MemoryOp, ThreadId, Value};

/// A read that may be performed.
#[derive(Debug)]
pub(super) struct Read {
    /// The value, if an earlier write of the thread forwards it.
    pub(super) forwarded: Option<Value>,
    /// Whether that write belongs to an update or to a pair of exclusive accesses.
    pub(super) by_pair: bool,
    /// The write that forwards its value, if that is presumed.
    pub(super) presumed_from: Option<usize>,
    /// Whether its address is presumed.
    pub(super) has_open_address: bool,
    /// The earlier accesses with unknown addresses that it passes and that are then not at its
    /// location.
    pub(super) not_at: Vec<usize>,
    /// The earlier reads with unknown addresses that it passes and that are then at its location.
    pub(super) at: Vec<usize>,
    /// The earlier reads with unknown addresses for which it is guessed whether they are at its
    /// location.
    pub(super) either: Vec<usize>,
    /// Whether it is guessed whether its update writes.
    pub(super) may_fail: bool,
    /// Whether its update must not write.
    pub(super) must_fail: bool,
    /// Whether its comparison must succeed.
    pub(super) must_succeed: bool,
}

impl Read {
    /// Returns the number of guesses.
    pub(super) fn guesses(&self) -> u32 {
        self.either.len() as u32 + u32::from(self.may_fail)
    }

    /// Returns whether performing the read leaves no trace in the window.
    pub(super) fn passes_nothing(&self) -> bool {
        let is_certain = self.presumed_from.is_none() && !self.has_open_address;
        is_certain
            && self.not_at.is_empty()
            && self.at.is_empty()
            && self.guesses() == 0
            && !self.must_fail
            && !self.must_succeed
    }
}

impl Arm {
    /// Returns how a pending read at `loc` may be performed now. `None` if it must wait.
    pub(super) fn may_read(
        &self,
        shape: &Shape<'_>,
        state: &State<Vec<Window>>,
        t: ThreadId,
        facts: &[Facts],
        entry: usize,
        loc: Loc,
    ) -> Option<Read> {
        let window = &state.pending[t.index()];
        let mine = &facts[entry];
        let follows_release = |earlier: &Facts| earlier.writes && earlier.order.release;
        if mine.order.acquire == Acquire::Strong
            && !self.mutated.is(Mutation::AcquireIgnored)
            && facts[..entry].iter().any(follows_release)
        {
            return None;
        }
        if self.mutated.is(Mutation::ControlOrdersLoads) && window.is_speculative(entry) {
            return None;
        }
        let mut read = Read {
            forwarded: None,
            by_pair: false,
            presumed_from: None,
            has_open_address: mine.has_open_address,
            not_at: Vec::new(),
            at: Vec::new(),
            either: Vec::new(),
            may_fail: false,
            must_fail: false,
            must_succeed: false,
        };
        for earlier in (0..entry).rev() {
            let theirs = &facts[earlier];
            if !theirs.is_pending() || !may_be_at(shape, t, window, facts, earlier, loc) {
                continue;
            }
            if theirs.location.is_none() {
                if self.mutated.is(Mutation::LoadsIncoherent) {
                    continue;
                }
                self.pass(shape, t, window, theirs, earlier, &mut read)?;
                continue;
            }
            if theirs.writes && !self.mutated.is(Mutation::NoForwarding) {
                let is_paired = theirs.is_update || theirs.order.exclusive;
                if is_paired && mine.order.acquire != Acquire::None {
                    return None;
                }
                let value = facts::written_value(shape, t, window, theirs, earlier, loc)?;
                (read.forwarded, read.by_pair) = (Some(value), is_paired);
                let is_presumed = facts::is_presumed_write(shape, t, window, earlier)
                    && !self.mutated.is(Mutation::PresumedValuesCertain);
                read.presumed_from = is_presumed.then_some(earlier);
                break;
            }
            if theirs.reads && !self.mutated.is(Mutation::LoadsIncoherent) {
                return None;
            }
        }
        if !mine.is_update && !mine.order.exclusive {
            return Some(read);
        }
        // Two threads cannot hold a location: one of them could not write.
        let is_held = read.forwarded.is_none() && self.others_hold(shape, &state.pending, t, loc);
        let value = read.forwarded.unwrap_or(state.memory.values[loc.index()]);
        let is_settled =
            window.notes(entry).any(|note| matches!(note, Note::WritesNothing | Note::At(_)));
        let is_presumed = read.presumed_from.is_some() || !mine.is_ready;
        let is_comparison = facts::is_comparison(shape, t, mine);
        match perform::will_write(shape, t, window, entry, value) {
            _ if is_settled => {}
            _ if window.has(entry, Note::Succeeds) && is_held => return None,
            _ if window.has(entry, Note::Succeeds) => {}
            Some(true) if is_held => return None,
            Some(true) => read.must_succeed = is_comparison && is_presumed,
            Some(false) => read.must_fail = is_presumed,
            None => (read.may_fail, read.must_fail) = (!is_held, is_held),
        }
        Some(read)
    }

    /// Returns whether every later read of `loc`, with or without acquire order, must wait for a step
    /// of this window: the latest access that is known to be at `loc` is a pending read, or a write
    /// whose value is unknown or not available. That a comparison succeeds can be guessed, but this
    /// is a step, too. The step is possible without a later read if the result is used.
    pub(super) fn blocks_later_reads(
        &self,
        shape: &Shape<'_>,
        window: &Window,
        t: ThreadId,
        loc: Loc,
        acquire: bool,
    ) -> bool {
        let facts = facts::facts(shape, t, window);
        let is_at = |fact: &Facts| fact.is_pending() && fact.location == Some(Ok(loc));
        let Some(latest) = facts.iter().rposition(is_at) else { return false };
        let fact = &facts[latest];
        if !fact.writes || acquire && (fact.is_update || fact.order.exclusive) {
            return true;
        }
        let may_guess =
            fact.reads && facts::is_comparison(shape, t, fact) && !window.is_used(latest);
        !may_guess && facts::written_value(shape, t, window, fact, latest, loc).is_none()
    }

    /// Lets a read pass an earlier access with an unknown address that may be at its location.
    /// `None` if it must wait.
    fn pass(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        theirs: &Facts,
        earlier: usize,
        read: &mut Read,
    ) -> Option<()> {
        let must_write = match shape.stmt(t, theirs.pc).op.memory() {
            Some(MemoryOp::Update { update, .. }) => !facts::may_fail(update),
            _ => theirs.writes,
        };
        let is_only_location = shape.thread(t).footprints[theirs.pc.index()].len() == 1;
        let is_guessed = window.notes(earlier).any(|note| matches!(note, Note::At(_)));
        if is_guessed {
            return Some(()); // both read the same write
        }
        match (must_write, is_only_location) {
            (true, true) => return None,
            (true, false) => read.not_at.push(earlier),
            (false, true) => read.at.push(earlier),
            (false, false) => read.either.push(earlier),
        }
        Some(())
    }

    /// Returns whether the pending write of an entry may be performed now. If its address faults,
    /// performing it reports the fault.
    pub(super) fn may_write(
        &self,
        shape: &Shape<'_>,
        pending: &[Window],
        t: ThreadId,
        facts: &[Facts],
        entry: usize,
    ) -> bool {
        let window = &pending[t.index()];
        let mine = &facts[entry];
        let Some(location) = mine.location else { return false };
        if !mine.is_ready || mine.reads || window.has(entry, Note::Succeeds) {
            return false;
        }
        let mut ordered_by_fence = false;
        let mut reservation = None;
        for (at, earlier) in facts[..entry].iter().enumerate().rev() {
            let ignores_addresses = self.mutated.is(Mutation::WritesIgnoreAddresses);
            ordered_by_fence |= earlier.is_store_fence;
            if earlier.is_guess && facts::is_marked(window, at)
                || earlier.has_open_address && !ignores_addresses
                || earlier.is_open_acquire
            {
                return false;
            }
            if earlier.holds && earlier.order.exclusive && !earlier.is_update {
                reservation = reservation.or(Some(at));
            }
            if !earlier.is_pending() {
                continue;
            }
            if location.is_ok() && earlier.location == Some(location)
                || mine.order.release
                || ordered_by_fence && earlier.writes
            {
                return false;
            }
        }
        let Ok(loc) = location else { return true };
        if mine.order.exclusive
            && !mine.is_update
            && reservation.is_none_or(|at| facts[at].location != Some(Ok(loc)))
        {
            return false;
        }
        !self.others_hold(shape, pending, t, loc)
    }

    /// Returns whether another thread holds a location.
    pub(super) fn others_hold(
        &self,
        shape: &Shape<'_>,
        pending: &[Window],
        t: ThreadId,
        loc: Loc,
    ) -> bool {
        let mut others = shape.program().thread_ids().filter(|other| *other != t);
        others.any(|other| facts::holds(shape, other, &pending[other.index()], loc))
    }
}
