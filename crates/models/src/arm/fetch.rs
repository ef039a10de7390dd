//! Which statements a thread may fetch.
//!
//! Nothing behind a full fence, a fence for loads, an acquire read or an instruction barrier can be
//! performed before certain earlier accesses. So the thread does not fetch it before. This loses no
//! behaviour and leaves fewer states.

use super::Arm;
use super::barrier::{Barrier, barrier};
use super::facts::{Facts, is_marked};
use crate::mutation::Mutation;
use crate::window::Window;
use fencepost_ir::{Acquire, Op};

impl Arm {
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
