//! The online monitor: two vector clocks, and a check whether an event is borderline.
//!
//! Source: \[BM08\] Fig. 2 (the check) and Fig. 3 (the clock of relaxed happens-before).
//! Direction: exact. The tests compare each answer with [`crate::Execution`], and whole programs
//! with a machine that has store buffers.
//!
//! *Happens-before*: the usual vector clock, with one entry for each thread.
//!
//! *Relaxed happens-before*: the entries count the events of *groups*. Relaxed happens-before
//! orders the events of a group totally. The groups of a thread are its events that are not plain
//! stores, and its plain stores (under PSO: its plain stores to one address). A write is before a
//! clock if the clock's entry for the write's group is at least the write's number in the group.
//!
//! Both clocks are stored next to each other as one clock. Each write stores its clock and the
//! join of the clocks of its readers. A reader is ordered after the last write. A writer is
//! ordered after the last write and its readers, and therefore after all earlier accesses to the
//! address. So an address needs no clock. A thread has its happens-before clock and these relaxed
//! clocks:
//!
//! | relaxed clock | events ordered after it |
//! |---|---|
//! | `past`: events that are not plain stores, and drained stores | all |
//! | `stores`: all plain stores | blocks; under TSO stores and updates |
//! | `before_loads`: stores before a store-load fence | loads; under PSO updates |
//! | `before_stores`: stores before a store-store fence (PSO) | stores and updates |
//!
//! *The check.* The writes to one address are totally ordered, and both relations respect this
//! order. So the writes that happen before the thread's last event are a prefix of this order,
//! and so are the writes that the event must follow. Fig. 2 searches down from the newest write.
//! This implementation finds the newest write that happens before the thread by binary search and
//! checks only that write. An event that writes cannot be moved between an update and the write
//! that the update reads. For such an event the check uses the newest write at or below this one
//! that does not read.
//!
//! A block with several addresses cannot be moved for each address separately. The check puts it
//! at the earliest position that the relaxed order allows for all addresses at once: after the
//! events that it must follow, after the readers of the values that it would overwrite, and so on
//! until a fixpoint. A cycle may also enter the block at one address and leave it at another. So
//! the check is repeated for each write that the block could follow, at the earliest position
//! after that write. This is the only check whose cost grows with the length of the execution.

use crate::clock::{Cells, CellsMark, LANES, join};
use crate::event::{Access, Action, Borderline, Model};
use crate::mutation::{self, Mutation};

/// An online monitor of one SC execution.
///
/// Panics if a thread or an address is not below the number that was passed to [`Monitor::new`].
#[derive(Clone, Debug)]
pub struct Monitor {
    layout: Layout,
    cells: Cells,
    /// For each address: its writes in coherence order. The first write is the initial value.
    writes: Vec<Vec<Write>>,
    /// The address of each write, in execution order.
    written: Vec<u32>,
    events: usize,
    /// The clock of the current event: relaxed, then happens-before.
    event_clock: Vec<u32>,
    /// A copy of `event_clock` while a block is moved.
    saved_clock: Vec<u32>,
    mutation: Option<Mutation>,
}

/// A position in the history of a [`Monitor`], for [`Monitor::undo`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    cells: CellsMark,
    written: usize,
    events: usize,
}

/// A write to an address.
#[derive(Clone, Copy, Debug)]
struct Write {
    /// The number of the event.
    event: usize,
    thread: u32,
    /// The number of the write among the events of its thread, from 1.
    number_in_thread: u32,
    group: u32,
    /// The number of the write in its group, from 1.
    number_in_group: u32,
    /// The newest write at or below this one that does not read. 0 is the initial value.
    newest_blind: u32,
    reads: bool,
    /// Whether the write is a plain store. Its own thread can read it before its commit.
    is_plain_store: bool,
    /// The position of the write's clock. The clock of its readers follows.
    clock: usize,
}

/// The thread of the initial values.
const INITIAL_THREAD: u32 = u32::MAX;

impl Write {
    fn initial(clock: usize) -> Write {
        Write {
            event: 0,
            thread: INITIAL_THREAD,
            number_in_thread: 0,
            group: 0,
            number_in_group: 0,
            newest_blind: 0,
            reads: false,
            is_plain_store: false,
            clock,
        }
    }
}

/// The positions of clocks and counters in the cells.
#[derive(Clone, Copy, Debug)]
struct Layout {
    model: Model,
    threads: usize,
    addresses: usize,
    /// The length of a relaxed clock, padded.
    relaxed_width: usize,
    /// The length of a happens-before clock, padded.
    hb_width: usize,
}

impl Layout {
    fn new(model: Model, threads: usize, addresses: usize) -> Layout {
        let relaxed_width = match model {
            Model::Tso => 2 * threads,
            Model::Pso => (1 + addresses) * threads,
        };
        let [relaxed_width, hb_width] =
            [relaxed_width, threads].map(|numbers| numbers.next_multiple_of(LANES));
        Layout { model, threads, addresses, relaxed_width, hb_width }
    }

    /// Returns the length of a clock: relaxed, then happens-before.
    fn clock_width(self) -> usize {
        self.relaxed_width + self.hb_width
    }

    fn of_thread(self, thread: usize) -> usize {
        assert!(thread < self.threads, "the monitor was created without thread {thread}");
        thread * (4 * self.relaxed_width + self.hb_width)
    }
    /// The happens-before clock of the thread follows `past`.
    fn past(self, thread: usize) -> usize {
        self.of_thread(thread)
    }
    fn happens_before(self, thread: usize) -> usize {
        self.of_thread(thread) + self.relaxed_width
    }
    fn stores(self, thread: usize) -> usize {
        self.of_thread(thread) + self.clock_width()
    }
    fn before_loads(self, thread: usize) -> usize {
        self.of_thread(thread) + self.clock_width() + self.relaxed_width
    }
    fn before_stores(self, thread: usize) -> usize {
        self.of_thread(thread) + self.clock_width() + 2 * self.relaxed_width
    }
    /// The position of the index in `writes` of the thread's newest write to the address.
    fn newest_own_write(self, thread: usize, address: u32) -> usize {
        self.threads * (4 * self.relaxed_width + self.hb_width)
            + thread * self.addresses
            + address as usize
    }
    /// The position of the number of direct accesses.
    fn direct_count(self) -> usize {
        self.newest_own_write(self.threads, 0)
    }
    fn length(self) -> usize {
        (self.direct_count() + 1).next_multiple_of(LANES)
    }

    /// Returns the group of events that are not plain stores.
    fn unbuffered_group(self, thread: usize) -> usize {
        thread
    }
    /// Returns the group of a plain store.
    fn buffered_group(self, thread: usize, address: u32) -> usize {
        match self.model {
            Model::Tso => self.threads + thread,
            Model::Pso => self.threads + thread * self.addresses + address as usize,
        }
    }

    fn readers_clock(self, write: &Write) -> usize {
        write.clock + self.clock_width()
    }
}

impl Monitor {
    /// Creates a monitor for executions of `threads` threads with addresses below `addresses`.
    pub fn new(model: Model, threads: usize, addresses: usize) -> Monitor {
        let layout = Layout::new(model, threads, addresses);
        let fixed = layout.length();
        let clocks = 2 * layout.clock_width();
        Monitor {
            layout,
            cells: Cells::new(fixed + addresses * clocks),
            writes: (0..addresses).map(|a| vec![Write::initial(fixed + a * clocks)]).collect(),
            written: Vec::new(),
            events: 0,
            event_clock: vec![0; layout.clock_width()],
            saved_clock: vec![0; layout.clock_width()],
            mutation: None,
        }
    }

    /// Activates a mutation, to check that the tests detect it.
    pub fn with_mutation(self, mutation: Mutation) -> Monitor {
        Monitor { mutation: Some(mutation), ..self }
    }

    fn has_mutation(&self, mutation: Mutation) -> bool {
        mutation::is_active(self.mutation, mutation)
    }

    /// Returns the number of events, including fences and drains.
    pub fn len(&self) -> usize {
        self.events
    }

    /// Returns whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.events == 0
    }

    /// Returns the current position, for [`Monitor::undo`].
    pub fn mark(&self) -> Mark {
        Mark { cells: self.cells.mark(), written: self.written.len(), events: self.events }
    }

    /// Removes all events after a mark. Later marks become invalid.
    pub fn undo(&mut self, mark: Mark) {
        for &address in &self.written[mark.written..] {
            if self.has_mutation(Mutation::WritesNotUndone) {
                break;
            }
            self.writes[address as usize].pop();
        }
        self.written.truncate(mark.written);
        self.cells.undo(mark.cells);
        self.events = mark.events;
    }

    /// Adds the next event. Returns `Some` if the event is borderline: moving it before an
    /// earlier write gives an execution of the memory model that is not SC. The event is added at
    /// its original position.
    ///
    /// Under TSO the monitor checks stores, updates and blocks only after an [`Action::Direct`].
    /// Without one, writes can be executed in the order in which they reach memory, so some other
    /// execution leaves SC by a load (\[BM08\] Theorem 1).
    pub fn add_event(&mut self, thread: usize, action: Action<'_>) -> Option<Borderline> {
        let layout = self.layout;
        let tso = layout.model == Model::Tso;
        self.event_clock
            .copy_from_slice(self.cells.slice(layout.past(thread), layout.clock_width()));
        let found = match action {
            Action::Load(address) => {
                self.join_relaxed(layout.before_loads(thread));
                let found = self.find_overtaken(thread, address, false);
                let last = self.last_write(address);
                let readers = layout.readers_clock(last);
                // A thread can read its own store before the store and the overwritten writes
                // commit.
                let forwarded = last.is_plain_store && last.thread == thread as u32;
                if !forwarded || self.has_mutation(Mutation::NoForwarding) {
                    self.join_both(last.clock);
                }
                self.count_unbuffered(thread);
                self.cells.join(readers, &self.event_clock);
                found
            }
            Action::Store(address) => {
                self.join_relaxed(if tso {
                    layout.stores(thread)
                } else {
                    layout.before_stores(thread)
                });
                let found = if self.checks_all_events() {
                    self.find_overtaken(thread, address, true)
                } else {
                    None
                };
                let last = self.last_write(address);
                let readers = layout.readers_clock(last);
                self.join_both(last.clock);
                if !self.has_mutation(Mutation::ReadersIgnored) {
                    self.join_both(readers);
                }
                let group = layout.buffered_group(thread, address);
                self.event_clock[group] = self.cells.get(layout.stores(thread) + group) + 1;
                self.event_clock[layout.relaxed_width + thread] += 1;
                let (relaxed, happens) = self.event_clock.split_at(layout.relaxed_width);
                self.cells.join(layout.stores(thread), relaxed);
                self.cells.replace(layout.happens_before(thread), happens);
                self.add_write(thread, address, group, false, true);
                found
            }
            Action::Update { address, writes } => {
                if tso {
                    self.join_relaxed(layout.stores(thread));
                } else {
                    self.join_relaxed(layout.before_loads(thread));
                    self.join_relaxed(layout.before_stores(thread));
                }
                let found = if self.checks_all_events() {
                    self.find_overtaken(thread, address, writes)
                } else {
                    None
                };
                self.add_unbuffered(thread, &[Access { address, reads: true, writes }]);
                found
            }
            Action::Direct(address) => {
                let found = self.find_overtaken(thread, address, true);
                let direct_count = layout.direct_count();
                self.cells.set(direct_count, self.cells.get(direct_count) + 1);
                self.add_unbuffered(thread, &[Access::update(address)]);
                found
            }
            Action::Block(accesses) => {
                debug_assert!(
                    accesses.iter().enumerate().all(|(at, access)| {
                        accesses[..at].iter().all(|other| other.address != access.address)
                    }),
                    "a block has at most one access for each address"
                );
                self.join_relaxed(layout.stores(thread));
                let found = if self.checks_all_events() {
                    self.find_overtaken_by_block(accesses)
                } else {
                    None
                };
                self.add_unbuffered(thread, accesses);
                found
            }
            Action::Fence { store_store, store_load } => {
                // The fence itself is not ordered after the stores: `event_clock` is only a
                // buffer here.
                let stores = self.cells.slice(layout.stores(thread), layout.relaxed_width);
                let stores_clock = &mut self.event_clock[..layout.relaxed_width];
                stores_clock.copy_from_slice(stores);
                if store_load && !mutation::is_active(self.mutation, Mutation::StoreLoadIgnored) {
                    self.cells.join(layout.before_loads(thread), stores_clock);
                }
                let ignored = mutation::is_active(self.mutation, Mutation::StoreStoreIgnored);
                if store_store && !tso && !ignored {
                    self.cells.join(layout.before_stores(thread), stores_clock);
                }
                None
            }
            Action::Drain(address) => {
                let own = self.cells.get(layout.newest_own_write(thread, address)) as usize;
                let clock = self.writes[address as usize][own].clock;
                if !self.has_mutation(Mutation::DrainIgnored) {
                    self.join_relaxed(clock);
                }
                self.cells.replace(layout.past(thread), &self.event_clock);
                None
            }
        };
        let event = self.events;
        self.events += 1;
        found.map(|before| Borderline { event, before })
    }

    /// Returns whether events other than loads and direct accesses must be checked.
    fn checks_all_events(&self) -> bool {
        match self.layout.model {
            Model::Tso => self.cells.get(self.layout.direct_count()) > 0,
            Model::Pso => true,
        }
    }

    fn last_write(&self, address: u32) -> &Write {
        self.writes[address as usize].last().expect("the initial value counts as a write")
    }

    /// Orders the current event after a relaxed clock.
    fn join_relaxed(&mut self, clock: usize) {
        let relaxed_width = self.layout.relaxed_width;
        join(&mut self.event_clock[..relaxed_width], self.cells.slice(clock, relaxed_width));
    }

    /// Orders the current event after a clock, in both relations.
    fn join_both(&mut self, clock: usize) {
        join(&mut self.event_clock, self.cells.slice(clock, self.layout.clock_width()));
    }

    /// Returns the number of writes to the address that happen before the current event, including
    /// the initial value.
    fn count_happening_before(&self, address: u32) -> usize {
        let clock = &self.event_clock[self.layout.relaxed_width..];
        let happens = |write: &Write| clock[write.thread as usize] >= write.number_in_thread;
        let writes = &self.writes[address as usize];
        match &writes[1..] {
            [] => 1,
            [.., newest] if happens(newest) => writes.len(),
            [older @ .., _] => 1 + older.partition_point(happens),
        }
    }

    /// Implements Fig. 2 for an access to one address: returns the write that the access can
    /// overtake such that SC is left. `self.event_clock` is the clock of the thread before the
    /// access.
    fn find_overtaken(&self, thread: usize, address: u32, writing: bool) -> Option<usize> {
        let writes = &self.writes[address as usize];
        let mut newest = self.count_happening_before(address) - 1;
        if writing && !self.has_mutation(Mutation::UpdatesNotAtomic) {
            newest = writes[newest].newest_blind as usize;
        }
        // The access cannot overtake its thread's own writes or the initial value.
        if newest <= self.cells.get(self.layout.newest_own_write(thread, address)) as usize {
            return None;
        }
        let write = &writes[newest];
        (self.event_clock[write.group as usize] < write.number_in_group).then_some(write.event)
    }

    /// Checks a block at its earliest position, and at the earliest position after each write
    /// that it could follow. Does not change `self.event_clock`.
    fn find_overtaken_by_block(&mut self, accesses: &[Access]) -> Option<usize> {
        self.saved_clock.copy_from_slice(&self.event_clock);
        let mut found = self.find_overtaken_at_earliest_position(accesses);
        // A block with one address is ordered only by its own thread: one position is enough.
        let earliest_only = self.has_mutation(Mutation::BlocksMovedToEarliestOnly);
        for access in accesses.iter().filter(|_| accesses.len() > 1 && !earliest_only) {
            self.event_clock.copy_from_slice(&self.saved_clock);
            let writes = self.count_relaxed_before(access.address)
                ..self.writes[access.address as usize].len();
            for write in writes {
                if found.is_some() {
                    break;
                }
                self.event_clock.copy_from_slice(&self.saved_clock);
                self.join_relaxed(self.writes[access.address as usize][write].clock);
                found = self.find_overtaken_at_earliest_position(accesses);
            }
        }
        self.event_clock.copy_from_slice(&self.saved_clock);
        found
    }

    /// Puts a block at the earliest position after `self.event_clock`, and joins the clocks of
    /// all events before that position into `self.event_clock`. Returns a write after that
    /// position that happens before the block.
    fn find_overtaken_at_earliest_position(&mut self, accesses: &[Access]) -> Option<usize> {
        let layout = self.layout;
        let mut is_fixpoint = false;
        while !is_fixpoint {
            is_fixpoint = true;
            for access in accesses.iter().filter(|access| access.writes) {
                let at = self.count_relaxed_before(access.address);
                let writes = &self.writes[access.address as usize];
                let readers = layout.readers_clock(&writes[at - 1]);
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
            let last = &self.writes[access.address as usize]
                [self.count_relaxed_before(access.address) - 1];
            let readers = layout.readers_clock(last);
            self.join_happens_before(last.clock);
            if access.writes {
                self.join_happens_before(readers);
            }
        }
        accesses.iter().find_map(|access| {
            let writes = &self.writes[access.address as usize];
            let next = writes.get(self.count_relaxed_before(access.address))?;
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

    /// Returns the number of writes to the address that are before `self.event_clock` in relaxed
    /// happens-before, including the initial value.
    fn count_relaxed_before(&self, address: u32) -> usize {
        let before =
            |write: &Write| self.event_clock[write.group as usize] >= write.number_in_group;
        1 + self.writes[address as usize][1..].partition_point(before)
    }

    /// Adds an update, a direct access or a block.
    fn add_unbuffered(&mut self, thread: usize, accesses: &[Access]) {
        for access in accesses {
            let last = self.last_write(access.address);
            let readers = self.layout.readers_clock(last);
            self.join_both(last.clock);
            if access.writes {
                self.join_both(readers);
            }
        }
        self.count_unbuffered(thread);
        let group = self.layout.unbuffered_group(thread);
        for access in accesses {
            if access.writes {
                self.add_write(thread, access.address, group, access.reads, false);
            } else {
                let readers = self.layout.readers_clock(self.last_write(access.address));
                self.cells.join(readers, &self.event_clock);
            }
        }
    }

    /// Counts an event that is not a plain store. All later events of its thread are ordered after
    /// it.
    fn count_unbuffered(&mut self, thread: usize) {
        let layout = self.layout;
        self.event_clock[layout.unbuffered_group(thread)] += 1;
        self.event_clock[layout.relaxed_width + thread] += 1;
        self.cells.replace(layout.past(thread), &self.event_clock);
    }

    fn add_write(
        &mut self,
        thread: usize,
        address: u32,
        group: usize,
        reads: bool,
        is_plain_store: bool,
    ) {
        let layout = self.layout;
        let clock = self.cells.end();
        self.cells.push_with_zeros(&self.event_clock);
        let writes = &mut self.writes[address as usize];
        let index = writes.len() as u32;
        let newest_blind = if reads {
            writes.last().expect("the initial value counts as a write").newest_blind
        } else {
            index
        };
        writes.push(Write {
            event: self.events,
            thread: thread as u32,
            number_in_thread: self.event_clock[layout.relaxed_width + thread],
            group: group as u32,
            number_in_group: self.event_clock[group],
            newest_blind,
            reads,
            is_plain_store,
            clock,
        });
        self.written.push(address);
        self.cells.set(layout.newest_own_write(thread, address), index);
    }
}
