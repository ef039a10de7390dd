//! The positions of clocks and counters in the cells of a monitor, and the chains of relaxed clocks.
//!
//! The cells have a fixed part for the threads, then a part of the same length for each address.
//! More clocks may follow.

use crate::clock::LANES;
use crate::event::Model;

/// The positions of clocks and counters in the cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) model: Model,
    pub(crate) threads: usize,
    pub(crate) addresses: usize,
    /// The length of a relaxed clock, padded.
    pub(crate) relaxed_width: usize,
    /// The length of a happens-before clock, padded.
    pub(crate) hb_width: usize,
}

impl Layout {
    pub(crate) fn new(model: Model, threads: usize, addresses: usize) -> Layout {
        let [relaxed_width, hb_width] = [threads * chains_of_a_thread(model), threads]
            .map(|numbers| numbers.next_multiple_of(LANES));
        Layout { model, threads, addresses, relaxed_width, hb_width }
    }

    /// Returns the length of a clock: relaxed, then happens-before.
    pub(crate) fn clock_width(self) -> usize {
        self.relaxed_width + self.hb_width
    }

    fn thread_width(self) -> usize {
        4 * self.relaxed_width + self.hb_width
    }
    fn of_thread(self, thread: usize) -> usize {
        assert!(thread < self.threads, "the monitor was created without thread {thread}");
        thread * self.thread_width()
    }
    /// The happens-before clock of the thread follows `past`.
    pub(crate) fn past(self, thread: usize) -> usize {
        self.of_thread(thread)
    }
    pub(crate) fn happens_before(self, thread: usize) -> usize {
        self.of_thread(thread) + self.relaxed_width
    }
    pub(crate) fn stores(self, thread: usize) -> usize {
        self.of_thread(thread) + self.clock_width()
    }
    pub(crate) fn before_loads(self, thread: usize) -> usize {
        self.of_thread(thread) + self.clock_width() + self.relaxed_width
    }
    pub(crate) fn before_stores(self, thread: usize) -> usize {
        self.of_thread(thread) + self.clock_width() + 2 * self.relaxed_width
    }
    /// The position of the number of direct accesses.
    pub(crate) fn direct_count(self) -> usize {
        self.threads * self.thread_width()
    }

    fn address_width(self) -> usize {
        self.hb_width + 2 * self.clock_width()
    }
    fn of_address(self, address: u32) -> usize {
        self.direct_count() + LANES + address as usize * self.address_width()
    }
    /// The position of the index of the thread's newest write to the address.
    pub(crate) fn newest_own_write(self, thread: usize, address: u32) -> usize {
        self.of_address(address) + thread
    }
    /// The position of the clock of the address's first write. The clock of its readers follows.
    pub(crate) fn write_clock(self, address: u32) -> usize {
        self.of_address(address) + self.hb_width
    }
    /// Returns the number of cells for all threads and addresses.
    pub(crate) fn length(self) -> usize {
        self.of_address(self.addresses as u32)
    }

    /// Returns the chain of the thread's events that are not plain stores.
    pub(crate) fn unbuffered_chain(self, thread: usize) -> usize {
        thread * chains_of_a_thread(self.model)
    }
    /// Returns the chain of the thread's plain stores (TSO).
    pub(crate) fn stores_chain(self, thread: usize) -> usize {
        debug_assert!(self.model == Model::Tso, "under PSO plain stores are not a chain");
        self.unbuffered_chain(thread) + 1
    }
    /// Returns the chain of the thread's store-store fences and blocks (PSO).
    pub(crate) fn store_store_chain(self, thread: usize) -> usize {
        debug_assert!(self.model == Model::Pso, "TSO needs no store-store fences");
        self.unbuffered_chain(thread) + 1
    }
    /// Returns the chain of the thread's store-load fences (PSO).
    pub(crate) fn store_load_chain(self, thread: usize) -> usize {
        debug_assert!(self.model == Model::Pso, "under TSO a fence is not an event");
        self.unbuffered_chain(thread) + 2
    }
}

/// Returns the number of chains of each thread. A chain keeps its number if threads are added.
fn chains_of_a_thread(model: Model) -> usize {
    match model {
        Model::Tso => 2,
        Model::Pso => 3,
    }
}
