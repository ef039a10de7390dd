//! The online monitor: two vector clocks, and a check whether an event is borderline.
//!
//! Source: \[BM08\] Fig. 2 (the check) and Fig. 3 (the clock of relaxed happens-before).
//! Direction: exact. The tests compare each answer with [`crate::Execution`], and whole programs
//! with a machine that has store buffers.
//!
//! *Happens-before*: the usual vector clock, with one entry for each thread.
//!
//! *Relaxed happens-before*: the entries count the events of *chains*. Relaxed happens-before
//! orders the events of a chain totally. Each thread has a chain of its events that are not plain
//! stores. Under TSO its plain stores are a second chain. A write is before a clock if the clock's
//! entry for the write's chain is at least the write's number in the chain.
//!
//! Under PSO a plain store is ordered only with the accesses to its address, and with the later
//! fences of its thread. Store-store fences and store-load fences are two chains of a thread: a
//! fence is ordered after the earlier stores of its thread and before the events that wait for
//! them. Plain stores are in no chain, so the length of a clock does not depend on the number of
//! addresses. A path of relaxed happens-before leaves the plain stores to an address only through
//! an event of a chain that is directly ordered after one of them. Such an event *covers* the
//! store: a reader in another thread, a later fence of the thread, a drain of the address. So a
//! store is before a clock if the clock contains an event that covers the store or a later write to
//! the address. An update or a block covers itself. Rejected: a chain for the plain stores of each
//! thread to each address. The clocks then grow with threads times addresses, and there is one for
//! each write.
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
//! that does not read. A block with several addresses needs another check, see `block.rs`.
//!
//! *Memory.* This monitor keeps every write with two clocks, so that events can be undone.
//! [`crate::StreamMonitor`] keeps only what later events need.

use crate::clock::{Cells, CellsMark, join};
use crate::event::{Access, Action, Borderline, Model};
use crate::history::{Cover, Location, Write};
use crate::layout::Layout;
use crate::mutation::{self, Mutation};

/// An online monitor of one SC execution.
///
/// Panics if a thread or an address is not below the number that was passed to [`Monitor::new`].
#[derive(Clone, Debug)]
pub struct Monitor {
    pub(crate) layout: Layout,
    pub(crate) cells: Cells,
    pub(crate) locations: Vec<Location>,
    /// The address of each write, in execution order.
    pub(crate) written: Vec<u32>,
    /// The address and the position of each cover, in execution order.
    pub(crate) covered: Vec<(u32, u32)>,
    events: usize,
    /// The clock of the current event: relaxed, then happens-before.
    pub(crate) event_clock: Vec<u32>,
    /// A copy of `event_clock` while a block is moved.
    pub(crate) saved_clock: Vec<u32>,
    /// Whether each write keeps its clocks. Otherwise only the last write to an address does.
    pub(crate) keeps_clocks: bool,
    mutation: Option<Mutation>,
}

/// A position in the history of a [`Monitor`], for [`Monitor::undo`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    cells: CellsMark,
    written: usize,
    covered: usize,
    events: usize,
}

impl Monitor {
    /// Creates a monitor for executions of `threads` threads with addresses below `addresses`.
    pub fn new(model: Model, threads: usize, addresses: usize) -> Monitor {
        let layout = Layout::new(model, threads, addresses);
        let addresses = 0..addresses as u32;
        Monitor {
            layout,
            cells: Cells::new(layout.length()),
            locations: addresses.map(|a| Location::new(layout.write_clock(a))).collect(),
            written: Vec::new(),
            covered: Vec::new(),
            events: 0,
            event_clock: vec![0; layout.clock_width()],
            saved_clock: vec![0; layout.clock_width()],
            keeps_clocks: true,
            mutation: None,
        }
    }

    /// Activates a mutation, to check that the tests detect it.
    pub fn with_mutation(self, mutation: Mutation) -> Monitor {
        Monitor { mutation: Some(mutation), ..self }
    }

    pub(crate) fn mutation(&self) -> Option<Mutation> {
        self.mutation
    }

    pub(crate) fn has_mutation(&self, mutation: Mutation) -> bool {
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

    /// Sets the number of the next event. The numbers of events must increase.
    pub(crate) fn number_next_event(&mut self, number: usize) {
        debug_assert!(number >= self.events, "the numbers of events must increase");
        self.events = number;
    }

    /// Returns the current position, for [`Monitor::undo`].
    pub fn mark(&self) -> Mark {
        Mark {
            cells: self.cells.mark(),
            written: self.written.len(),
            covered: self.covered.len(),
            events: self.events,
        }
    }

    /// Removes all events after a mark. Later marks become invalid.
    pub fn undo(&mut self, mark: Mark) {
        for &address in &self.written[mark.written..] {
            if self.has_mutation(Mutation::WritesNotUndone) {
                break;
            }
            self.locations[address as usize].writes.pop();
        }
        self.written.truncate(mark.written);
        for &(address, position) in self.covered[mark.covered..].iter().rev() {
            if self.has_mutation(Mutation::CoversNotUndone) {
                break;
            }
            self.locations[address as usize].covers.remove(position as usize);
        }
        self.covered.truncate(mark.covered);
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
        self.add_event_until(thread, action, &|| false)
    }

    /// Adds the next event. The answer is not valid if `stop` was true during the call.
    pub(crate) fn add_event_until(
        &mut self,
        thread: usize,
        action: Action<'_>,
        stop: &dyn Fn() -> bool,
    ) -> Option<Borderline> {
        let layout = self.layout;
        let tso = layout.model == Model::Tso;
        self.event_clock
            .copy_from_slice(self.cells.slice(layout.past(thread), layout.clock_width()));
        let found = match action {
            Action::Load(address) => {
                self.join_relaxed(layout.before_loads(thread));
                let found = self.find_overtaken(thread, address, false);
                let last = *self.last_write(address);
                // A thread can read its own store before the store and the overwritten writes
                // commit.
                let forwarded = last.is_plain_store && last.thread == thread as u32;
                let ordered = !forwarded || self.has_mutation(Mutation::NoForwarding);
                if ordered {
                    self.join_both(last.clock);
                }
                self.count_unbuffered(thread);
                if ordered {
                    self.cover(address, last.index, layout.unbuffered_chain(thread));
                }
                self.cells.join(self.readers_clock(&last), &self.event_clock);
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
                let last = *self.last_write(address);
                self.join_both(last.clock);
                if !self.has_mutation(Mutation::ReadersIgnored) {
                    self.join_both(self.readers_clock(&last));
                }
                let chain = match layout.model {
                    Model::Tso => {
                        let chain = layout.stores_chain(thread);
                        self.event_clock[chain] = self.cells.get(layout.stores(thread) + chain) + 1;
                        chain
                    }
                    Model::Pso => {
                        self.cover_by_next_fences(thread, address, last.index + 1);
                        layout.unbuffered_chain(thread)
                    }
                };
                self.event_clock[layout.relaxed_width + thread] += 1;
                let (relaxed, happens) = self.event_clock.split_at(layout.relaxed_width);
                self.cells.join(layout.stores(thread), relaxed);
                self.cells.replace(layout.happens_before(thread), happens);
                self.add_write(thread, address, chain, false, true);
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
                if !tso {
                    let fences = layout.store_store_chain(thread);
                    self.event_clock[fences] = self.store_store_fences(thread) + 1;
                }
                let found = match accesses {
                    [] => None,
                    _ if !self.checks_all_events() => None,
                    [access] => self.find_overtaken(thread, access.address, access.writes),
                    _ => self.find_overtaken_by_block(accesses, stop),
                };
                self.add_unbuffered(thread, accesses);
                found
            }
            Action::Fence { store_store, store_load } => {
                if store_load && !self.has_mutation(Mutation::StoreLoadIgnored) {
                    let fences = (!tso).then(|| layout.store_load_chain(thread));
                    self.add_fence(thread, layout.before_loads(thread), fences);
                }
                if store_store && !tso && !self.has_mutation(Mutation::StoreStoreIgnored) {
                    let fences = layout.store_store_chain(thread);
                    self.add_fence(thread, layout.before_stores(thread), Some(fences));
                }
                None
            }
            Action::Drain(address) => {
                let own = self.cells.get(layout.newest_own_write(thread, address));
                if !self.has_mutation(Mutation::DrainIgnored) && own > 0 {
                    self.join_own_store(thread, address, own);
                    if !tso {
                        let chain = layout.unbuffered_chain(thread);
                        self.event_clock[chain] += 1;
                        self.cover(address, own, chain);
                    }
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
    pub(crate) fn checks_all_events(&self) -> bool {
        match self.layout.model {
            Model::Tso => self.cells.get(self.layout.direct_count()) > 0,
            Model::Pso => true,
        }
    }

    fn last_write(&self, address: u32) -> &Write {
        self.locations[address as usize].last()
    }

    pub(crate) fn readers_clock(&self, write: &Write) -> usize {
        write.clock + self.layout.clock_width()
    }

    /// Returns the number of store-store fences and blocks of a thread so far (PSO). The current
    /// event is of this thread.
    fn store_store_fences(&self, thread: usize) -> u32 {
        let chain = self.layout.store_store_chain(thread);
        // A block counts in `past`, and `event_clock` is after `past`.
        self.event_clock[chain].max(self.cells.get(self.layout.before_stores(thread) + chain))
    }

    /// Adds a fence of a thread: the events after the relaxed clock `before` are ordered after all
    /// plain stores of the thread. `chain` is the chain of the fence, if it is in one.
    fn add_fence(&mut self, thread: usize, before: usize, chain: Option<usize>) {
        let layout = self.layout;
        let number = chain.map(|chain| {
            let number = self.event_clock[chain].max(self.cells.get(before + chain));
            (chain, number + 1)
        });
        // The fence itself is not ordered after the stores for all events: `saved_clock` is only
        // a buffer here.
        let clock = &mut self.saved_clock[..layout.relaxed_width];
        clock.copy_from_slice(self.cells.slice(layout.stores(thread), layout.relaxed_width));
        if let Some((chain, number)) = number {
            clock[chain] = number;
        }
        self.cells.join(before, clock);
    }

    /// Notes that the event of the chain at the current position is ordered after a write (PSO).
    fn cover(&mut self, address: u32, index: u32, chain: usize) {
        self.cover_at(address, index, chain, self.event_clock[chain]);
    }

    /// Notes that the next fences of a thread are ordered after its plain store (PSO).
    fn cover_by_next_fences(&mut self, thread: usize, address: u32, index: u32) {
        let layout = self.layout;
        let loads = layout.store_load_chain(thread);
        let store_loads = self.cells.get(layout.before_loads(thread) + loads);
        let store_stores = self.store_store_fences(thread);
        self.cover_at(address, index, layout.store_store_chain(thread), store_stores + 1);
        self.cover_at(address, index, loads, store_loads + 1);
    }

    fn cover_at(&mut self, address: u32, index: u32, chain: usize, position: u32) {
        if self.layout.model == Model::Tso || index == 0 {
            return;
        }
        let cover = Cover { index, chain: chain as u32, position };
        if let Some(at) = self.locations[address as usize].cover(cover) {
            self.covered.push((address, at as u32));
        }
    }

    /// Orders the current event after the thread's newest write to the address, in relaxed
    /// happens-before. `own` is the index of the write.
    fn join_own_store(&mut self, thread: usize, address: u32, own: u32) {
        let location = &self.locations[address as usize];
        if self.keeps_clocks || location.last().index == own {
            return self.join_relaxed(location.write(own).clock);
        }
        // Without an overwritten store, the thread is already ordered after its write.
        let mut overwritten = location.overwritten.iter();
        if let Some((_, clock)) = overwritten.find(|(owner, _)| *owner == thread as u32) {
            join(&mut self.event_clock[..clock.len()], clock);
        }
    }

    /// Orders the current event after a relaxed clock.
    pub(crate) fn join_relaxed(&mut self, clock: usize) {
        let relaxed_width = self.layout.relaxed_width;
        join(&mut self.event_clock[..relaxed_width], self.cells.slice(clock, relaxed_width));
    }

    /// Orders the current event after a clock, in both relations.
    fn join_both(&mut self, clock: usize) {
        join(&mut self.event_clock, self.cells.slice(clock, self.layout.clock_width()));
    }

    /// Returns the newest write to the address that happens before the current event.
    fn newest_happening_before(&self, address: u32) -> &Write {
        let clock = &self.event_clock[self.layout.relaxed_width..];
        let happens = |write: &Write| clock[write.thread as usize] >= write.number_in_thread;
        let writes = &self.locations[address as usize].writes;
        match &writes[1..] {
            [] => &writes[0],
            [.., newest] if happens(newest) => newest,
            [older @ .., _] => &writes[older.partition_point(happens)],
        }
    }

    /// Returns whether relaxed happens-before orders a write before the current event.
    fn is_relaxed_before(&self, address: u32, write: &Write) -> bool {
        match self.layout.model {
            Model::Tso => self.event_clock[write.chain as usize] >= write.number_in_chain,
            Model::Pso => {
                self.locations[address as usize].is_covered(write.index, &self.event_clock)
            }
        }
    }

    /// Implements Fig. 2 for an access to one address: returns the write that the access can
    /// overtake such that SC is left. `self.event_clock` is the clock of the thread before the
    /// access.
    fn find_overtaken(&self, thread: usize, address: u32, writing: bool) -> Option<usize> {
        let mut write = self.newest_happening_before(address);
        if writing && !self.has_mutation(Mutation::UpdatesNotAtomic) {
            write = self.locations[address as usize].write(write.newest_blind);
        }
        // The access cannot overtake its thread's own writes or the initial value.
        if write.index <= self.cells.get(self.layout.newest_own_write(thread, address)) {
            return None;
        }
        (!self.is_relaxed_before(address, write)).then_some(write.event)
    }

    /// Adds an update, a direct access or a block.
    fn add_unbuffered(&mut self, thread: usize, accesses: &[Access]) {
        for access in accesses {
            let last = *self.last_write(access.address);
            self.join_both(last.clock);
            if access.writes {
                self.join_both(self.readers_clock(&last));
            }
        }
        self.count_unbuffered(thread);
        let chain = self.layout.unbuffered_chain(thread);
        for access in accesses {
            let last = *self.last_write(access.address);
            if access.writes {
                self.cover(access.address, last.index + 1, chain);
                self.add_write(thread, access.address, chain, access.reads, false);
            } else {
                self.cover(access.address, last.index, chain);
                self.cells.join(self.readers_clock(&last), &self.event_clock);
            }
        }
    }

    /// Counts an event that is not a plain store. All later events of its thread are ordered after
    /// it.
    fn count_unbuffered(&mut self, thread: usize) {
        let layout = self.layout;
        self.event_clock[layout.unbuffered_chain(thread)] += 1;
        self.event_clock[layout.relaxed_width + thread] += 1;
        self.cells.replace(layout.past(thread), &self.event_clock);
    }

    fn add_write(
        &mut self,
        thread: usize,
        address: u32,
        chain: usize,
        reads: bool,
        is_plain_store: bool,
    ) {
        let layout = self.layout;
        let clock = if self.keeps_clocks {
            let clock = self.cells.end();
            self.cells.push_with_zeros(&self.event_clock);
            clock
        } else {
            self.overwrite_clock(thread, address)
        };
        let last = self.last_write(address);
        let index = last.index + 1;
        let newest_blind = if reads { last.newest_blind } else { index };
        self.locations[address as usize].writes.push(Write {
            event: self.events,
            clock,
            index,
            thread: thread as u32,
            number_in_thread: self.event_clock[layout.relaxed_width + thread],
            chain: chain as u32,
            number_in_chain: self.event_clock[chain],
            newest_blind,
            reads,
            is_plain_store,
        });
        self.written.push(address);
        self.cells.set(layout.newest_own_write(thread, address), index);
    }
}
