//! Which statements a thread may fetch.
//!
//! Nothing behind a full fence, a fence for loads, an acquire read or an instruction barrier can be
//! performed before certain earlier accesses. So the thread does not fetch it before. This loses no
//! behaviour and leaves fewer states.
//!
//! *Late fetches.* A thread waits before an access as long as it has a pending write to every location
//! that it can still access. Without this rule, a thread that acquires and releases a lock in a loop
//! has windows of any length. Direction: exact for outcomes, assertions, faults and critical sections.
//! Before such a write is performed, the later accesses of the thread only take values from its own
//! pending writes: they neither read nor write memory, and their holds have no effect. So all of them
//! can be moved behind the first step that performs the last pending write to one of the locations.
//! Directly behind it, a read of this location finds the same value in memory, no other thread holds
//! the location, and all accesses before the write have known addresses. The pending writes can
//! always be performed, in states that [count](crate::machine). What an invariant or a client
//! operation observes could change, because the write becomes visible before the thread continues.
//! The rule is not used there, nor with records, whose allocation is an effect.

use super::Arm;
use super::barrier::{Barrier, barrier};
use super::facts::{self, Facts, is_marked};
use crate::mutation::Mutation;
use crate::shape::Shape;
use crate::window::{Note, Window};
use fencepost_ir::{Acquire, Loc, Op, Pc, ThreadId};

impl Arm {
    /// Returns whether the thread has pending writes to all locations that it accesses from `pc` on.
    pub(super) fn is_late(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        facts: &[Facts],
        pc: Pc,
    ) -> bool {
        if !shape.permits_late_fetches || shape.stmt(t, pc).op.access().is_none() {
            return false;
        }
        let will_write = |entry: &usize| {
            let fact = &facts[*entry];
            let is_decided = !facts::is_comparison(shape, t, fact)
                || !fact.reads && !window.has(*entry, Note::Succeeds);
            fact.writes && is_decided && !fact.has_open_address
        };
        let written = (0..facts.len()).filter(will_write);
        let written: Vec<Loc> = written.filter_map(|entry| facts[entry].location?.ok()).collect();
        let is_within = || shape.thread(t).future_accesses.are_within(pc, &written);
        !written.is_empty() && (is_within() || self.mutated.is(Mutation::FetchesTooLate))
    }

    /// Returns whether the thread must perform accesses of its window before it fetches a statement.
    pub(super) fn must_wait(&self, window: &Window, facts: &[Facts], op: &Op) -> bool {
        if let Op::Fence(kinds) = op
            && !self.mutated.is(Mutation::IgnoredFence)
        {
            let waits = match barrier(*kinds) {
                Barrier::Full => {
                    let is_guess = |entry: &usize| is_marked(window, *entry);
                    facts.iter().any(Facts::is_pending)
                        || (0..facts.len()).any(|entry| is_guess(&entry))
                }
                Barrier::Loads => facts.iter().any(|fact| fact.reads && !fact.order.discards_value),
                Barrier::Instruction => facts
                    .iter()
                    .enumerate()
                    .any(|(entry, fact)| is_marked(window, entry) || fact.has_open_address),
                // What is behind it waits for an acquire read, so the fence itself need not. The
                // inference of orders relies on this.
                Barrier::Stores => return false,
                Barrier::Nothing => false,
            };
            if waits {
                return true;
            }
        }
        if self.mutated.is(Mutation::AcquireIgnored) {
            return false;
        }
        let mut has_pending = false;
        for fact in facts {
            let is_acquire = fact.order.acquire != Acquire::None;
            if fact.reads && is_acquire {
                return true;
            }
            // A read-modify-write with acquire and release orders what is before it with what is
            // behind it.
            let is_full = is_acquire && fact.order.release && !fact.order.exclusive;
            if fact.writes && fact.is_update && is_full && has_pending {
                return true;
            }
            has_pending |= fact.is_pending();
        }
        false
    }
}
