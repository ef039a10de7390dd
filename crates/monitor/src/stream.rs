//! The monitor of a long execution: keeps only what later events need.
//!
//! Direction: exact. The answers are those of [`Monitor`]. The tests compare both.
//!
//! *Clocks.* Each thread has a fixed number of clocks. Each address has two: of its last write and
//! of the readers of that write. A clock has 3 (TSO) or 4 (PSO) numbers for each thread. A store
//! that another thread overwrites keeps its relaxed clock until its thread is ordered after it,
//! because a drain of the thread may still wait for it.
//!
//! *Writes and covers.* An event asks for the newest write to its address that happens before it,
//! and for the events that cover this write. The clock of the event is a join of the clocks of
//! threads and addresses. For each chain, a join has a number that one of the joined clocks has. So
//! a write is needed only if some clock of a thread or an address contains it, but not the next
//! write of its thread to the address. The same holds for covers and the next cover of the same
//! chain. The other ones are dropped when the number of kept ones has doubled. So the memory does
//! not grow with the number of events if the threads communicate. If a clock stays old, because its
//! thread or address has no events, at most the newest write and cover of each chain and address
//! that this clock contains are kept for it. In the worst case a write takes 50 bytes and a cover
//! 12, without clocks.
//!
//! *Blocks.* The check of a block with several addresses needs the clocks of old writes (`block.rs`).
//! A monitor that drops them returns [`DroppedHistory`]. Then the execution must be repeated with
//! [`StreamMonitor::with_all_writes`], which drops nothing. Under TSO no block needs this check.
//!
//! Threads and addresses are added at their first event.
//!
//! Rejected: reference counts for shared clocks. Only the last write to an address needs its clock.

use crate::clock::Cells;
use crate::event::{Action, Borderline, Model};
use crate::history::{Location, Write};
use crate::layout::Layout;
use crate::monitor::Monitor;
use crate::mutation::Mutation;
use crate::retention::LiveClocks;
use std::mem::size_of;

/// The number of writes and covers up to which nothing is dropped.
const MIN_RETAINED: usize = 1 << 14;

/// A monitor of one long SC execution, without undo.
///
/// ```
/// use fencepost_monitor::{Action, Borderline, Model, StreamMonitor};
///
/// let mut monitor = StreamMonitor::new(Model::Tso);
/// for _ in 0..1_000 {
///     assert_eq!(monitor.add_event(0, Action::Store(0)), Ok(None));
///     assert_eq!(monitor.add_event(0, Action::Load(1)), Ok(None));
/// }
/// assert_eq!(monitor.add_event(1, Action::Store(1)), Ok(None));
/// let found = Borderline { event: 2_001, before: 1_998 };
/// assert_eq!(monitor.add_event(1, Action::Load(0)), Ok(Some(found)));
/// ```
#[derive(Debug)]
pub struct StreamMonitor {
    monitor: Monitor,
    retained: Retained,
    /// The number of writes and covers above which some are dropped.
    threshold: usize,
}

/// What a [`StreamMonitor`] keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retained {
    /// The number of threads that there is space for.
    pub threads: usize,
    /// The number of addresses that there is space for.
    pub addresses: usize,
    /// The numbers in the clocks of threads, addresses and, if all writes are kept, writes.
    pub clock_numbers: usize,
    /// Writes, including the initial values.
    pub writes: usize,
    /// Events that are ordered directly after a write (PSO).
    pub covers: usize,
}

impl Retained {
    /// Returns the approximate memory in bytes. Vectors may have twice the space that they need.
    pub fn bytes(&self) -> u64 {
        // This also covers the clocks of overwritten stores, which are not counted.
        let histories = 2 * (self.writes * size_of::<Write>() + self.covers * 12);
        let locations = self.addresses * size_of::<Location>();
        (4 * self.clock_numbers + histories + locations) as u64
    }
}

/// A block with several addresses cannot be checked, because the clocks of old writes were dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DroppedHistory;

impl StreamMonitor {
    /// Creates a monitor that drops what later events do not need.
    pub fn new(model: Model) -> StreamMonitor {
        let mut monitor = Monitor::new(model, 0, 0);
        monitor.keeps_clocks = false;
        StreamMonitor { monitor, retained: Retained::default(), threshold: MIN_RETAINED }
    }

    /// Creates a monitor that keeps all writes with their clocks, for executions with blocks.
    pub fn with_all_writes(model: Model) -> StreamMonitor {
        let monitor = Monitor::new(model, 0, 0);
        StreamMonitor { monitor, retained: Retained::default(), threshold: usize::MAX }
    }

    /// Activates a mutation, to check that the tests detect it.
    pub fn with_mutation(self, mutation: Mutation) -> StreamMonitor {
        StreamMonitor { monitor: self.monitor.with_mutation(mutation), ..self }
    }

    /// Drops as often as possible, to test that no answer depends on it.
    pub fn dropping_eagerly(self) -> StreamMonitor {
        StreamMonitor { threshold: 0, ..self }
    }

    /// Returns what the monitor keeps.
    pub fn retained(&self) -> Retained {
        Retained {
            threads: self.monitor.layout.threads,
            addresses: self.monitor.layout.addresses,
            clock_numbers: self.monitor.cells.end(),
            ..self.retained
        }
    }

    /// Adds the next event, as [`Monitor::add_event`] does.
    ///
    /// # Errors
    /// The monitor cannot check the event, see [`StreamMonitor::with_all_writes`]. The event is not
    /// added.
    pub fn add_event(
        &mut self,
        thread: usize,
        action: Action<'_>,
    ) -> Result<Option<Borderline>, DroppedHistory> {
        self.add_event_until(thread, action, &|| false)
    }

    /// Adds the next event, as [`StreamMonitor::add_event`] does. Gives up if `stop` returns true;
    /// then the answer is not valid. Only a block with several addresses takes long.
    ///
    /// # Errors
    /// See [`StreamMonitor::add_event`].
    pub fn add_event_until(
        &mut self,
        thread: usize,
        action: Action<'_>,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Borderline>, DroppedHistory> {
        if let Action::Block([_, _, ..]) = action
            && !self.monitor.keeps_clocks
            && self.monitor.checks_all_events()
        {
            return Err(DroppedHistory);
        }
        self.make_space(thread, action);
        let found = self.monitor.add_event_until(thread, action, stop);
        self.retained.writes += self.monitor.written.len();
        self.retained.covers += self.monitor.covered.len();
        self.monitor.forget_undo();
        if self.retained.writes + self.retained.covers > self.threshold {
            self.drop_unneeded();
        }
        Ok(found)
    }

    /// Sets the number of the next event. The numbers of events must increase.
    pub fn number_next_event(&mut self, number: usize) {
        self.monitor.number_next_event(number);
    }

    /// Returns the number of bytes that the monitor needs in addition while it adds an event of a
    /// new thread or address; 0 for other events.
    pub fn bytes_to_grow(&self, thread: usize, action: Action<'_>) -> u64 {
        self.larger_size(thread, action).map_or(0, |(threads, addresses)| {
            let Layout { model, threads: old, addresses: fewer, .. } = self.monitor.layout;
            // All clocks are copied. Their length depends on the number of threads.
            let writes = self.monitor.cells.end() - Layout::new(model, old, fewer).length();
            let longer = threads.div_ceil(old.max(1));
            let fixed = Layout::new(model, threads, addresses).length();
            4 * (fixed + longer * writes) as u64
                + ((addresses - fewer) * (size_of::<Location>() + size_of::<Write>())) as u64
        })
    }

    /// Adds threads and addresses up to those of an event.
    fn make_space(&mut self, thread: usize, action: Action<'_>) {
        if let Some((threads, addresses)) = self.larger_size(thread, action) {
            self.retained.writes += addresses - self.monitor.layout.addresses;
            self.monitor.resize(threads, addresses);
        }
    }

    /// Returns the numbers of threads and addresses that an event needs, if there is no space for
    /// it.
    #[inline]
    fn larger_size(&self, thread: usize, action: Action<'_>) -> Option<(usize, usize)> {
        let last = match action {
            Action::Load(address)
            | Action::Store(address)
            | Action::Update { address, .. }
            | Action::Direct(address)
            | Action::Drain(address) => Some(address),
            Action::Block(accesses) => accesses.iter().map(|access| access.address).max(),
            Action::Fence { .. } => None,
        };
        let needed = last.map_or(0, |address| address as usize + 1);
        let Layout { threads, addresses, .. } = self.monitor.layout;
        if thread < threads && needed <= addresses {
            return None;
        }
        // Doubling keeps the total cost linear.
        let larger = |needed: usize, now: usize| {
            if needed <= now { now } else { needed.max(2 * now).max(4) }
        };
        Some((larger(thread + 1, threads), larger(needed, addresses)))
    }

    fn drop_unneeded(&mut self) {
        let live = LiveClocks::new(&self.monitor);
        let (mut writes, mut covers) = (0, 0);
        for location in &mut self.monitor.locations {
            live.prune(location);
            writes += location.writes.len();
            covers += location.covers.len();
        }
        self.monitor.drop_overwritten();
        (self.retained.writes, self.retained.covers) = (writes, covers);
        if self.threshold > 0 {
            self.threshold = MIN_RETAINED + 2 * (writes + covers);
        }
    }
}

impl Monitor {
    /// Forgets how to undo the events so far.
    fn forget_undo(&mut self) {
        self.cells.forget_undo();
        self.written.clear();
        self.covered.clear();
    }

    /// Puts the clock of the current event, a write, into the place of the last write's clock.
    /// Returns its position.
    pub(crate) fn overwrite_clock(&mut self, thread: usize, address: u32) -> usize {
        let layout = self.layout;
        let forgets = self.has_mutation(Mutation::OverwrittenStoresDropped);
        let location = &mut self.locations[address as usize];
        let last = *location.last();
        location.overwritten.retain(|(owner, _)| *owner != thread as u32);
        if last.is_plain_store && last.thread != thread as u32 {
            let clock = self.cells.slice(last.clock, layout.relaxed_width);
            let past = self.cells.slice(layout.past(last.thread as usize), layout.relaxed_width);
            if !is_before(clock, past) && !forgets {
                location.overwritten.push((last.thread, clock.into()));
            }
        }
        self.cells.overwrite(last.clock, &self.event_clock);
        last.clock
    }

    /// Drops the clocks of overwritten stores that their thread is ordered after.
    fn drop_overwritten(&mut self) {
        let (layout, cells) = (self.layout, &self.cells);
        for location in &mut self.locations {
            location.overwritten.retain(|(owner, clock)| {
                let past = cells.slice(layout.past(*owner as usize), layout.relaxed_width);
                !is_before(clock, past)
            });
        }
    }

    /// Changes the numbers of threads and addresses. Marks become invalid.
    fn resize(&mut self, threads: usize, addresses: usize) {
        let old = self.layout;
        let new = Layout::new(old.model, threads, addresses);
        let mut cells = Cells::new(new.length());
        let relaxed = old.relaxed_width;
        let mut copy = |from: usize, to: usize, length: usize| {
            cells.overwrite_part(to, self.cells.slice(from, length));
        };
        for thread in 0..old.threads {
            copy(old.past(thread), new.past(thread), relaxed);
            copy(old.happens_before(thread), new.happens_before(thread), old.hb_width);
            copy(old.stores(thread), new.stores(thread), relaxed);
            copy(old.before_loads(thread), new.before_loads(thread), relaxed);
            copy(old.before_stores(thread), new.before_stores(thread), relaxed);
        }
        copy(old.direct_count(), new.direct_count(), 1);
        for address in 0..old.addresses as u32 {
            let [from, to] = [old, new].map(|layout| layout.newest_own_write(0, address));
            copy(from, to, old.hb_width);
        }
        // Clocks of later writes follow the fixed part.
        let end = self.cells.end();
        let clocks = (end - old.length()).checked_div(2 * old.clock_width()).unwrap_or(0);
        cells.extend_zeros(clocks * 2 * new.clock_width());
        let moved = |clock: usize| {
            let after = clock.checked_sub(old.length());
            let number = |after: usize| after / old.clock_width() * new.clock_width();
            after.map(|after| new.length() + number(after))
        };
        for (address, location) in (0..).zip(&mut self.locations) {
            let to = new.write_clock(address);
            let mut copied = None;
            for write in &mut location.writes {
                let from = write.clock;
                write.clock = moved(from).unwrap_or(to);
                if copied.replace(from) != Some(from) {
                    copy_clock(&mut cells, &self.cells, old, from, new, write.clock);
                    let [from, to] = [(from, old), (write.clock, new)]
                        .map(|(clock, layout)| clock + layout.clock_width());
                    copy_clock(&mut cells, &self.cells, old, from, new, to);
                }
            }
            for (_, clock) in &mut location.overwritten {
                let mut longer = vec![0; new.relaxed_width];
                longer[..clock.len()].copy_from_slice(clock);
                *clock = longer.into();
            }
        }
        let added = old.addresses as u32..addresses as u32;
        self.locations.extend(added.map(|a| Location::new(new.write_clock(a))));
        for clock in [&mut self.event_clock, &mut self.saved_clock] {
            *clock = vec![0; new.clock_width()];
        }
        (self.layout, self.cells) = (new, cells);
    }
}

/// Copies a clock between cells with different layouts.
fn copy_clock(cells: &mut Cells, source: &Cells, old: Layout, from: usize, new: Layout, to: usize) {
    cells.overwrite_part(to, source.slice(from, old.relaxed_width));
    let happens = source.slice(from + old.relaxed_width, old.hb_width);
    cells.overwrite_part(to + new.relaxed_width, happens);
}

/// Returns whether a relaxed clock is before another.
fn is_before(clock: &[u32], other: &[u32]) -> bool {
    clock.iter().zip(other).all(|(mine, theirs)| mine <= theirs)
}
