//! The monitor: two vector clocks, and the question whether an event could have come too early.
//!
//! Source: \[BM08\] Fig. 2 (the question) and Fig. 3 (the clock of the relaxed order). Direction: exact; the tests
//! compare with [`crate::Execution`] for each event, and with runs of the machines of the book for whole programs.
//!
//! *Happens-before*: the usual vector clock, one number for each thread.
//!
//! *Relaxed happens-before*: numbers count the events of a *group* that the relaxed order puts one after another: the
//! events of a thread that are not plain stores, and its plain stores (under PSO: those to one address). A write is
//! before a clock when the clock's number of its group has reached the write's.
//!
//! The two lie side by side in one clock. Each write keeps its clock and, beside it, the join of the clocks of its
//! readers. A reader comes after the last write; a writer comes after the last write and its readers, and with them
//! after all accesses to the address so far. So an address needs no clock of its own, and a thread has, beside its
//! happens-before:
//!
//! | relaxed clock | who comes after it |
//! |---|---|
//! | `past`: events that are no plain stores, and drained stores | everything |
//! | `stores`: all plain stores | blocks; under TSO stores and updates |
//! | `before_loads`: stores before a store-load fence | loads; under PSO updates |
//! | `before_stores`: stores before a store-store fence (PSO) | stores and updates |
//!
//! *The question.* Writes to one address are in one order, and both orders respect it. So those that happen before
//! the thread's last event are the first few of them, and so are those that the event must come after. Fig. 2 walks
//! down from the newest; we find the newest write that happens before the thread by bisection, and look at that one
//! only. When the event writes, it cannot come between a write that reads and what that one read: we look at the
//! newest write at or below it that does not read.
//!
//! A block with several addresses cannot be moved address by address. It is put as early as the relaxed order allows,
//! for all of them at once: after what it must follow, after the readers of what it would overwrite, and so on until
//! nothing is added. The cycle may also enter it by one address and leave it by another one. So it is asked once more
//! for each write that it could follow, at the earliest place after that one: the one question whose cost grows with
//! the execution.

use crate::clock::{Cells, CellsMark, LANES, join};
use crate::event::{Access, Action, Borderline, Model};
use crate::mutation::{self, Mutation};

/// Watches one sequentially consistent execution, event by event.
///
/// A thread or an address that was not announced to [`Monitor::new`] is a mistake of the caller and panics.
#[derive(Clone, Debug)]
pub struct Monitor {
    layout: Layout,
    cells: Cells,
    /// For each address its writes in their order; the first one is the initial value.
    writes: Vec<Vec<Write>>,
    /// The addresses written, in the order of the execution.
    written: Vec<u32>,
    events: usize,
    /// The clock of the event at hand: relaxed, then happens-before.
    stamp: Vec<u32>,
    /// Where `stamp` waits while a block is moved.
    kept: Vec<u32>,
    mutated: Option<Mutation>,
}

/// A moment of a [`Monitor`] to go back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    cells: CellsMark,
    written: usize,
    events: usize,
}

/// One write to an address.
#[derive(Clone, Copy, Debug)]
struct Write {
    /// The number of its event.
    event: usize,
    thread: u32,
    /// Its number among the events of its thread, from 1.
    step: u32,
    /// Its group and its number in the group, from 1.
    group: u32,
    count: u32,
    /// The newest write at or below this one that does not read; 0 if there is none.
    blind: u32,
    reads: bool,
    /// Whether it is a plain store, which its own thread may read before others do.
    plain: bool,
    /// Where its clock is; the one of its readers follows.
    clock: usize,
}

/// The thread of initial values.
const NOBODY: u32 = u32::MAX;

impl Write {
    fn initial(clock: usize) -> Write {
        Write {
            event: 0,
            thread: NOBODY,
            step: 0,
            group: 0,
            count: 0,
            blind: 0,
            reads: false,
            plain: false,
            clock,
        }
    }
}

/// Where things are in the cells.
#[derive(Clone, Copy, Debug)]
struct Layout {
    model: Model,
    threads: usize,
    addresses: usize,
    /// The numbers of a relaxed clock, padded.
    width: usize,
    /// The numbers of a happens-before clock, padded.
    span: usize,
}

impl Layout {
    fn new(model: Model, threads: usize, addresses: usize) -> Layout {
        let width = match model {
            Model::Tso => 2 * threads,
            Model::Pso => (1 + addresses) * threads,
        };
        let [width, span] = [width, threads].map(|numbers| numbers.next_multiple_of(LANES));
        Layout { model, threads, addresses, width, span }
    }

    /// The numbers of a clock: relaxed, then happens-before.
    fn full(self) -> usize {
        self.width + self.span
    }

    fn of_thread(self, thread: usize) -> usize {
        assert!(thread < self.threads, "thread {thread} was not announced");
        thread * (4 * self.width + self.span)
    }
    /// The thread's happens-before follows its past.
    fn past(self, thread: usize) -> usize {
        self.of_thread(thread)
    }
    fn happens(self, thread: usize) -> usize {
        self.of_thread(thread) + self.width
    }
    fn stores(self, thread: usize) -> usize {
        self.of_thread(thread) + self.full()
    }
    fn before_loads(self, thread: usize) -> usize {
        self.of_thread(thread) + self.full() + self.width
    }
    fn before_stores(self, thread: usize) -> usize {
        self.of_thread(thread) + self.full() + 2 * self.width
    }
    /// The thread's newest write to the address, as an index of `writes`.
    fn own(self, thread: usize, address: u32) -> usize {
        self.threads * (4 * self.width + self.span) + thread * self.addresses + address as usize
    }
    /// How many direct accesses there were.
    fn directs(self) -> usize {
        self.own(self.threads, 0)
    }
    fn length(self) -> usize {
        (self.directs() + 1).next_multiple_of(LANES)
    }

    /// The group of what is not a plain store.
    fn prompt(self, thread: usize) -> usize {
        thread
    }
    /// The group of a plain store.
    fn buffered(self, thread: usize, address: u32) -> usize {
        match self.model {
            Model::Tso => self.threads + thread,
            Model::Pso => self.threads + thread * self.addresses + address as usize,
        }
    }

    fn readers(self, write: &Write) -> usize {
        write.clock + self.full()
    }
}

impl Monitor {
    /// A monitor of executions of `threads` threads on addresses below `addresses`.
    pub fn new(model: Model, threads: usize, addresses: usize) -> Monitor {
        let layout = Layout::new(model, threads, addresses);
        let fixed = layout.length();
        let clocks = 2 * layout.full();
        Monitor {
            layout,
            cells: Cells::new(fixed + addresses * clocks),
            writes: (0..addresses).map(|a| vec![Write::initial(fixed + a * clocks)]).collect(),
            written: Vec::new(),
            events: 0,
            stamp: vec![0; layout.full()],
            kept: vec![0; layout.full()],
            mutated: None,
        }
    }

    /// The same with an error, for tests of the tests.
    pub fn with_mutation(self, mutation: Mutation) -> Monitor {
        Monitor { mutated: Some(mutation), ..self }
    }

    fn is(&self, mutation: Mutation) -> bool {
        mutation::is(self.mutated, mutation)
    }

    /// How many events there were, fences and drains included.
    pub fn len(&self) -> usize {
        self.events
    }

    /// Whether there was no event yet.
    pub fn is_empty(&self) -> bool {
        self.events == 0
    }

    /// This moment, for [`Monitor::undo`].
    pub fn mark(&self) -> Mark {
        Mark { cells: self.cells.mark(), written: self.written.len(), events: self.events }
    }

    /// Goes back to a moment. Marks made after it are void.
    pub fn undo(&mut self, mark: Mark) {
        for &address in &self.written[mark.written..] {
            if self.is(Mutation::WritesKept) {
                break;
            }
            self.writes[address as usize].pop();
        }
        self.written.truncate(mark.written);
        self.cells.undo(mark.cells);
        self.events = mark.events;
    }

    /// Takes the next event. The answer is `Some` when the model, but not sequential consistency, has the execution
    /// up to here with this event moved before an earlier write. The event itself is taken in as it was.
    ///
    /// Under TSO stores, updates and blocks are asked about only after a [`Action::Direct`]. As long as there is
    /// none, writes may be taken in the order they reach memory, so that some other execution leaves sequential
    /// consistency by a load (\[BM08\] Theorem 1).
    pub fn event(&mut self, thread: usize, action: Action<'_>) -> Option<Borderline> {
        let layout = self.layout;
        let tso = layout.model == Model::Tso;
        self.stamp.copy_from_slice(self.cells.slice(layout.past(thread), layout.full()));
        let found = match action {
            Action::Load(address) => {
                self.after(layout.before_loads(thread));
                let found = self.ask(thread, address, false);
                let last = self.last(address);
                let readers = layout.readers(last);
                // A thread may read its own store before it, and what it overwrites, is in memory.
                let forwarded = last.plain && last.thread == thread as u32;
                if !forwarded || self.is(Mutation::NoForwarding) {
                    self.after_all(last.clock);
                }
                self.count_prompt(thread);
                self.cells.join(readers, &self.stamp);
                found
            }
            Action::Store(address) => {
                self.after(if tso { layout.stores(thread) } else { layout.before_stores(thread) });
                let found = if self.asks() { self.ask(thread, address, true) } else { None };
                let last = self.last(address);
                let readers = layout.readers(last);
                self.after_all(last.clock);
                if !self.is(Mutation::ReadersForgotten) {
                    self.after_all(readers);
                }
                let group = layout.buffered(thread, address);
                self.stamp[group] = self.cells.get(layout.stores(thread) + group) + 1;
                self.stamp[layout.width + thread] += 1;
                let (relaxed, happens) = self.stamp.split_at(layout.width);
                self.cells.join(layout.stores(thread), relaxed);
                self.cells.replace(layout.happens(thread), happens);
                self.note_write(thread, address, group, false, true);
                found
            }
            Action::Update { address, writes } => {
                if tso {
                    self.after(layout.stores(thread));
                } else {
                    self.after(layout.before_loads(thread));
                    self.after(layout.before_stores(thread));
                }
                let found = if self.asks() { self.ask(thread, address, writes) } else { None };
                self.take(thread, &[Access { address, reads: true, writes }]);
                found
            }
            Action::Direct(address) => {
                let found = self.ask(thread, address, true);
                let directs = layout.directs();
                self.cells.set(directs, self.cells.get(directs) + 1);
                self.take(thread, &[Access::update(address)]);
                found
            }
            Action::Block(accesses) => {
                debug_assert!(
                    accesses.iter().enumerate().all(|(at, access)| {
                        accesses[..at].iter().all(|other| other.address != access.address)
                    }),
                    "a block has one access for each address"
                );
                self.after(layout.stores(thread));
                let found = if self.asks() { self.ask_block(accesses) } else { None };
                self.take(thread, accesses);
                found
            }
            Action::Fence { store_store, store_load } => {
                // It is not the fence that comes after them: the stamp only carries the clock.
                let stores = self.cells.slice(layout.stores(thread), layout.width);
                let carried = &mut self.stamp[..layout.width];
                carried.copy_from_slice(stores);
                if store_load && !mutation::is(self.mutated, Mutation::StoreLoadIgnored) {
                    self.cells.join(layout.before_loads(thread), carried);
                }
                let ignored = mutation::is(self.mutated, Mutation::StoreStoreIgnored);
                if store_store && !tso && !ignored {
                    self.cells.join(layout.before_stores(thread), carried);
                }
                None
            }
            Action::Drain(address) => {
                let own = self.cells.get(layout.own(thread, address)) as usize;
                let clock = self.writes[address as usize][own].clock;
                if !self.is(Mutation::DrainIgnored) {
                    self.after(clock);
                }
                self.cells.replace(layout.past(thread), &self.stamp);
                None
            }
        };
        let event = self.events;
        self.events += 1;
        found.map(|before| Borderline { event, before })
    }

    /// Whether other events than loads and direct accesses can be the first to leave sequential consistency.
    fn asks(&self) -> bool {
        match self.layout.model {
            Model::Tso => self.cells.get(self.layout.directs()) > 0,
            Model::Pso => true,
        }
    }

    fn last(&self, address: u32) -> &Write {
        self.writes[address as usize].last().expect("the initial value is a write")
    }

    /// Puts the event at hand after a relaxed clock.
    fn after(&mut self, clock: usize) {
        let width = self.layout.width;
        join(&mut self.stamp[..width], self.cells.slice(clock, width));
    }

    /// Puts the event at hand after a clock, in both orders.
    fn after_all(&mut self, clock: usize) {
        join(&mut self.stamp, self.cells.slice(clock, self.layout.full()));
    }

    /// How many of the writes to the address, the initial value among them, happen before the event at hand.
    fn happening_before(&self, address: u32) -> usize {
        let clock = &self.stamp[self.layout.width..];
        let happens = |write: &Write| clock[write.thread as usize] >= write.step;
        let writes = &self.writes[address as usize];
        match &writes[1..] {
            [] => 1,
            [.., newest] if happens(newest) => writes.len(),
            [older @ .., _] => 1 + older.partition_point(happens),
        }
    }

    /// Fig. 2 for an access to one address; `self.stamp` is what it follows in program order.
    fn ask(&self, thread: usize, address: u32, writing: bool) -> Option<usize> {
        let writes = &self.writes[address as usize];
        let mut newest = self.happening_before(address) - 1;
        if writing && !self.is(Mutation::UpdatesTorn) {
            newest = writes[newest].blind as usize;
        }
        // Not before its thread's own writes, and not before the initial value.
        if newest <= self.cells.get(self.layout.own(thread, address)) as usize {
            return None;
        }
        let write = &writes[newest];
        (self.stamp[write.group as usize] < write.count).then_some(write.event)
    }

    /// The same for a block: at its earliest place, and at the earliest ones after each write that it could follow.
    /// Leaves `self.stamp` as it was.
    fn ask_block(&mut self, accesses: &[Access]) -> Option<usize> {
        self.kept.copy_from_slice(&self.stamp);
        let mut found = self.ask_place(accesses);
        // With one address, it is its own thread alone that a block comes after.
        let tried_once = self.is(Mutation::BlocksTriedOnce);
        for access in accesses.iter().filter(|_| accesses.len() > 1 && !tried_once) {
            self.stamp.copy_from_slice(&self.kept);
            let writes = self.following(access.address)..self.writes[access.address as usize].len();
            for write in writes {
                if found.is_some() {
                    break;
                }
                self.stamp.copy_from_slice(&self.kept);
                self.after(self.writes[access.address as usize][write].clock);
                found = self.ask_place(accesses);
            }
        }
        self.stamp.copy_from_slice(&self.kept);
        found
    }

    /// Puts a block at the earliest place after `self.stamp`, which grows to all that comes before it there. The
    /// answer is a write after it that happens before it.
    fn ask_place(&mut self, accesses: &[Access]) -> Option<usize> {
        let layout = self.layout;
        let mut settled = false;
        while !settled {
            settled = true;
            for access in accesses.iter().filter(|access| access.writes) {
                let at = self.following(access.address);
                let writes = &self.writes[access.address as usize];
                let readers = layout.readers(&writes[at - 1]);
                let torn = writes.get(at).filter(|next| next.reads).map(|next| next.clock);
                for clock in [readers].into_iter().chain(torn) {
                    let theirs = self.cells.slice(clock, layout.width);
                    if self.stamp.iter().zip(theirs).any(|(mine, theirs)| mine < theirs) {
                        self.after(clock);
                        settled = false;
                    }
                }
            }
        }
        for access in accesses {
            let last = &self.writes[access.address as usize][self.following(access.address) - 1];
            let readers = layout.readers(last);
            self.happens_after(last.clock);
            if access.writes {
                self.happens_after(readers);
            }
        }
        accesses.iter().find_map(|access| {
            let writes = &self.writes[access.address as usize];
            let next = writes.get(self.following(access.address))?;
            let happens = self.stamp[layout.width + next.thread as usize] >= next.step;
            happens.then_some(next.event)
        })
    }

    /// Puts the event at hand after a clock in happens-before only.
    fn happens_after(&mut self, clock: usize) {
        let Layout { width, span, .. } = self.layout;
        join(&mut self.stamp[width..], self.cells.slice(clock + width, span));
    }

    /// How many of the writes to the address, the initial value among them, are before `self.stamp`.
    fn following(&self, address: u32) -> usize {
        let before = |write: &Write| self.stamp[write.group as usize] >= write.count;
        1 + self.writes[address as usize][1..].partition_point(before)
    }

    /// Takes in an event that is no plain store and no plain load.
    fn take(&mut self, thread: usize, accesses: &[Access]) {
        for access in accesses {
            let last = self.last(access.address);
            let readers = self.layout.readers(last);
            self.after_all(last.clock);
            if access.writes {
                self.after_all(readers);
            }
        }
        self.count_prompt(thread);
        let group = self.layout.prompt(thread);
        for access in accesses {
            if access.writes {
                self.note_write(thread, access.address, group, access.reads, false);
            } else {
                let readers = self.layout.readers(self.last(access.address));
                self.cells.join(readers, &self.stamp);
            }
        }
    }

    /// Counts an event that is no plain store: everything of its thread comes after it.
    fn count_prompt(&mut self, thread: usize) {
        let layout = self.layout;
        self.stamp[layout.prompt(thread)] += 1;
        self.stamp[layout.width + thread] += 1;
        self.cells.replace(layout.past(thread), &self.stamp);
    }

    fn note_write(&mut self, thread: usize, address: u32, group: usize, reads: bool, plain: bool) {
        let layout = self.layout;
        let clock = self.cells.end();
        self.cells.add_with_zeros(&self.stamp);
        let writes = &mut self.writes[address as usize];
        let index = writes.len() as u32;
        let blind =
            if reads { writes.last().expect("the initial value is a write").blind } else { index };
        writes.push(Write {
            event: self.events,
            thread: thread as u32,
            step: self.stamp[layout.width + thread],
            group: group as u32,
            count: self.stamp[group],
            blind,
            reads,
            plain,
            clock,
        });
        self.written.push(address);
        self.cells.set(layout.own(thread, address), index);
    }
}
