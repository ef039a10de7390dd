//! The check of a block with several addresses.
//!
//! Such a block cannot be moved for each address separately. The check puts it at the earliest
//! position that the relaxed order allows for all addresses at once: after the events that it must
//! follow, after the readers of the values that it would overwrite, and so on until a fixpoint. A
//! cycle may also enter the block at one address and leave it at another. So the check is repeated
//! for each write that the block could follow, at the earliest position after that write. This is
//! the only check whose cost grows with the length of the execution, and the only one that needs
//! the clocks of old writes.

use crate::clock::join;
use crate::event::{Access, Model};
use crate::history::Write;
use crate::layout::Layout;
use crate::monitor::Monitor;
use crate::mutation::Mutation;

/// A write that a moved block follows. Under PSO a plain store is in no clock.
#[derive(Clone, Copy)]
struct Followed {
    address: u32,
    index: usize,
}

impl Monitor {
    /// Checks a block at its earliest position, and at the earliest position after each write
    /// that it could follow. Does not change `self.event_clock`.
    /// Gives up if `stop` returns true.
    pub(crate) fn find_overtaken_by_block(
        &mut self,
        accesses: &[Access],
        stop: &dyn Fn() -> bool,
    ) -> Option<usize> {
        self.saved_clock.copy_from_slice(&self.event_clock);
        let mut found = self.find_overtaken_at_earliest_position(accesses, None, stop);
        let earliest_only = self.has_mutation(Mutation::BlocksMovedToEarliestOnly);
        for access in accesses.iter().filter(|_| !earliest_only) {
            let address = access.address;
            self.event_clock.copy_from_slice(&self.saved_clock);
            let writes = self.count_relaxed_before(address, None)
                ..self.locations[address as usize].writes.len();
            for index in writes {
                if found.is_some() || stop() {
                    break;
                }
                self.event_clock.copy_from_slice(&self.saved_clock);
                self.join_relaxed(self.locations[address as usize].writes[index].clock);
                let followed = Some(Followed { address, index });
                found = self.find_overtaken_at_earliest_position(accesses, followed, stop);
            }
        }
        self.event_clock.copy_from_slice(&self.saved_clock);
        found
    }

    /// Puts a block at the earliest position after `self.event_clock`, and joins the clocks of
    /// all events before that position into `self.event_clock`. Returns a write after that
    /// position that happens before the block.
    fn find_overtaken_at_earliest_position(
        &mut self,
        accesses: &[Access],
        followed: Option<Followed>,
        stop: &dyn Fn() -> bool,
    ) -> Option<usize> {
        let layout = self.layout;
        let mut is_fixpoint = false;
        while !is_fixpoint && !stop() {
            is_fixpoint = true;
            for access in accesses.iter().filter(|access| access.writes) {
                let at = self.count_relaxed_before(access.address, followed);
                let writes = &self.locations[access.address as usize].writes;
                let readers = self.readers_clock(&writes[at - 1]);
                let following_update =
                    writes.get(at).filter(|next| next.reads).map(|next| next.clock);
                for clock in [readers].into_iter().chain(following_update) {
                    let theirs = self.cells.slice(clock, layout.relaxed_width);
                    if self.event_clock.iter().zip(theirs).any(|(mine, theirs)| mine < theirs) {
                        self.join_relaxed(clock);
                        is_fixpoint = false;
                    }
                }
            }
        }
        for access in accesses {
            let at = self.count_relaxed_before(access.address, followed) - 1;
            let last = self.locations[access.address as usize].writes[at];
            let readers = self.readers_clock(&last);
            self.join_happens_before(last.clock);
            if access.writes {
                self.join_happens_before(readers);
            }
        }
        accesses.iter().find_map(|access| {
            let writes = &self.locations[access.address as usize].writes;
            let next = writes.get(self.count_relaxed_before(access.address, followed))?;
            let happens = self.event_clock[layout.relaxed_width + next.thread as usize]
                >= next.number_in_thread;
            happens.then_some(next.event)
        })
    }

    /// Orders the current event after a clock in happens-before only.
    fn join_happens_before(&mut self, clock: usize) {
        let Layout { relaxed_width, hb_width, .. } = self.layout;
        join(
            &mut self.event_clock[relaxed_width..],
            self.cells.slice(clock + relaxed_width, hb_width),
        );
    }

    /// Returns the number of writes to the address that are before `self.event_clock` or at or
    /// before the followed write in relaxed happens-before, including the initial value.
    fn count_relaxed_before(&self, address: u32, followed: Option<Followed>) -> usize {
        let location = &self.locations[address as usize];
        let count = match self.layout.model {
            Model::Tso => {
                let clock = &self.event_clock;
                let before = |write: &Write| clock[write.chain as usize] >= write.number_in_chain;
                1 + location.writes[1..].partition_point(before)
            }
            Model::Pso => 1 + location.newest_covered(&self.event_clock) as usize,
        };
        let followed = followed.filter(|followed| followed.address == address);
        followed.map_or(count, |followed| count.max(followed.index + 1))
    }
}
