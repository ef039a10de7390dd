//! The state of the shared objects and threads: which operations are enabled, what they access, and
//! what they do.
//!
//! The code of the program is not needed to execute operations in another order, so the exploration
//! evaluates the moves of reversed races here, without an execution.
//!
//! Source: the definitions of SC, TSO and PSO in the book's `semantics.md`. Direction: exact, with
//! the following deviations.
//!
//! - DIVERGENCE: `compare_exchange_weak` and waits on condition variables have no spurious results.
//! - DIVERGENCE: a spin hint can be a wait; see [`State::is_wait`].

use crate::model::Model;
use crate::names::{Cell, Names, ThreadName};
use crate::op::{Kind, Op, Site, Target};
use fencepost_explore::CellAccess;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

/// The status of a thread of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Status {
    #[default]
    NotSpawned,
    Spawned,
    Finished,
}

/// A store that was issued.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) target: Target,
    pub(crate) value: u64,
    pub(crate) at: Site,
    /// The buffers and the numbers of their stores that must be committed before.
    after: Vec<(usize, usize)>,
}

/// A store buffer with all stores that it ever had.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    /// The object, under PSO.
    loc: Option<u32>,
    pub(crate) stores: Vec<Pending>,
    pub(crate) committed: usize,
}

/// A read since the last spin hint.
#[derive(Clone, Debug)]
struct Read {
    target: Target,
    version: u64,
}

/// The state of a thread of the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Thread {
    pub(crate) status: Status,
    pub(crate) buffers: Vec<Buffer>,
    /// The stores before the last release fence, under PSO.
    barrier: Vec<(usize, usize)>,
    /// The reads since the last spin hint.
    reads: Vec<Read>,
    /// Whether the thread did anything but reads since then.
    acted: bool,
    last_hint: Option<Site>,
}

/// The waiters of a condition variable.
#[derive(Clone, Debug, Default)]
struct Condvar {
    waiters: Vec<usize>,
    /// For each notification that no thread has used: the threads that can use it. Each set
    /// contains those of the sets before that still wait.
    notifications: Vec<Vec<usize>>,
}

/// The state between two events.
#[derive(Clone, Debug)]
pub(crate) struct State {
    model: Model,
    /// For each object: its value and how often it has changed.
    memory: BTreeMap<u32, (u64, u64)>,
    pub(crate) threads: BTreeMap<usize, Thread>,
    condvars: BTreeMap<u32, Condvar>,
}

/// An evaluated operation.
pub(crate) struct Evaluated {
    pub(crate) enabled: bool,
    /// The cells that the operation accesses or, if it is not enabled, inspects.
    pub(crate) footprint: Vec<CellAccess>,
    /// Whether the operation has this footprint and is enabled wherever its thread could perform
    /// it.
    pub(crate) is_unconditional: bool,
}

impl State {
    /// Returns the start state, in which only the first thread exists.
    pub(crate) fn new(model: Model) -> State {
        let main = Thread { status: Status::Spawned, ..Thread::default() };
        let threads = BTreeMap::from([(0, main)]);
        State { model, memory: BTreeMap::new(), threads, condvars: BTreeMap::new() }
    }

    fn value(&self, target: Target) -> (u64, u64) {
        self.memory.get(&target.loc).copied().unwrap_or((target.init, 0))
    }

    fn write(&mut self, target: Target, value: u64) {
        let (old, version) = self.value(target);
        self.memory.insert(target.loc, (value, version + u64::from(old != value)));
    }

    /// Returns the state of a thread.
    pub(crate) fn thread(&self, thread: usize) -> Option<&Thread> {
        self.threads.get(&thread)
    }

    fn thread_mut(&mut self, thread: usize) -> &mut Thread {
        self.threads.entry(thread).or_default()
    }

    /// Returns the last store of a thread to an object: its buffer and its number.
    fn last_store(&self, thread: usize, loc: u32) -> Option<(usize, usize)> {
        let buffers = &self.thread(thread)?.buffers;
        buffers.iter().enumerate().find_map(|(at, buffer)| {
            let number = buffer.stores.iter().rposition(|store| store.target.loc == loc)?;
            Some((at, number))
        })
    }

    /// Returns the last stores that must be committed before an operation: those of all buffers,
    /// or those that the model orders before an access to `target`.
    fn required(&self, thread: usize, target: Option<Target>, all: bool) -> Vec<(usize, usize)> {
        let Some(thread) = self.thread(thread) else { return Vec::new() };
        let mut required = Vec::new();
        for (at, buffer) in thread.buffers.iter().enumerate() {
            let is_own = buffer.loc.is_none_or(|loc| target.is_some_and(|it| it.loc == loc));
            if (all || is_own) && !buffer.stores.is_empty() {
                required.push((at, buffer.stores.len() - 1));
            }
        }
        if !all {
            required.extend(&thread.barrier);
        }
        required
    }

    fn is_committed(&self, thread: usize, (buffer, number): (usize, usize)) -> bool {
        self.threads[&thread].buffers[buffer].committed > number
    }

    /// Returns the stores of the thread that an operation waits for.
    fn awaited(&self, thread: usize, kind: &Kind) -> Vec<(usize, usize)> {
        let releases = |order: Ordering| {
            matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
        };
        match *kind {
            Kind::Store { order: Ordering::SeqCst, .. } | Kind::Fence(Ordering::SeqCst) => {
                self.required(thread, None, true)
            }
            Kind::Update { target, order, .. } | Kind::CompareExchange { target, order, .. } => {
                self.required(thread, Some(target), releases(order))
            }
            Kind::Lock(target) | Kind::TryLock(target) => {
                self.required(thread, Some(target), false)
            }
            Kind::WaitEnd { mutex, .. } => self.required(thread, Some(mutex), false),
            Kind::Unlock(_)
            | Kind::Wait { .. }
            | Kind::Notify { .. }
            | Kind::Spawn(_)
            | Kind::Finish
            | Kind::Exclusive(_) => self.required(thread, None, true),
            Kind::Load(_)
            | Kind::Store { .. }
            | Kind::Fence(_)
            | Kind::SpinHint
            | Kind::Begin
            | Kind::Join(_) => Vec::new(),
        }
    }

    /// Evaluates the next operation of a thread, without performing it.
    pub(crate) fn evaluate(&self, thread: usize, op: &Op, names: &mut Names) -> Evaluated {
        let awaited = self.awaited(thread, &op.kind);
        let mut enabled = awaited.iter().all(|store| self.is_committed(thread, *store));
        let mut is_unconditional = awaited.is_empty();
        let mut footprint: Vec<CellAccess> = Vec::new();
        for (buffer, number) in awaited {
            footprint.push(CellAccess::read(names.cell(Cell::Pending(thread, buffer, number))));
        }
        let mut access = |cell: Cell, writes: bool| {
            let cell = names.cell(cell);
            footprint.push(CellAccess { cell, writes });
        };
        match op.kind {
            Kind::Load(target) => match self.last_store(thread, target.loc) {
                None => access(Cell::of(target.site), false),
                Some((buffer, number)) => {
                    is_unconditional = false;
                    access(Cell::Pending(thread, buffer, number), false);
                    if self.is_committed(thread, (buffer, number)) {
                        access(Cell::of(target.site), false);
                    }
                }
            },
            Kind::Store { target, order, .. } => match self.buffer_of(thread, target, order) {
                None => access(Cell::of(target.site), true),
                Some(buffer) => {
                    let buffers = self.thread(thread).map_or(&[][..], |it| &it.buffers);
                    let number = buffers.get(buffer).map_or(0, |buffer| buffer.stores.len());
                    access(Cell::Pending(thread, buffer, number), true);
                }
            },
            Kind::Update { target, .. } => access(Cell::of(target.site), true),
            Kind::CompareExchange { target, expected, .. } => {
                is_unconditional = false;
                access(Cell::of(target.site), self.value(target).0 == expected);
            }
            Kind::Exclusive(target) => {
                is_unconditional = false;
                access(Cell::of(target.site), true);
                let pending = self.threads.values().flat_map(|thread| &thread.buffers);
                let mut pending = pending.flat_map(|buffer| &buffer.stores[buffer.committed..]);
                enabled &= pending.all(|store| store.target.loc != target.loc);
            }
            Kind::Fence(_) => {}
            Kind::SpinHint => {
                if self.is_wait(thread, op.at) {
                    is_unconditional = false;
                    let reads = &self.threads[&thread].reads;
                    enabled = reads.iter().any(|read| self.value(read.target).1 != read.version);
                    for read in reads {
                        access(Cell::of(read.target.site), false);
                    }
                }
            }
            Kind::Spawn(child) => access(Cell::Status(child), true),
            Kind::Begin => {
                is_unconditional = false;
                access(Cell::Status(thread), false);
                enabled &= self.thread(thread).is_some_and(|it| it.status == Status::Spawned);
            }
            Kind::Finish => access(Cell::Status(thread), true),
            Kind::Join(child) => {
                is_unconditional = false;
                access(Cell::Status(child), false);
                enabled &= self.thread(child).is_some_and(|it| it.status == Status::Finished);
            }
            Kind::Lock(target) => {
                is_unconditional = false;
                access(Cell::of(target.site), true);
                enabled &= self.value(target).0 == 0;
            }
            Kind::TryLock(target) => {
                is_unconditional = false;
                access(Cell::of(target.site), self.value(target).0 == 0);
            }
            Kind::Unlock(target) => access(Cell::of(target.site), true),
            Kind::Wait { condvar, mutex } => {
                access(Cell::of(condvar.site), true);
                access(Cell::of(mutex.site), true);
            }
            Kind::WaitEnd { condvar, mutex } => {
                is_unconditional = false;
                access(Cell::of(condvar.site), true);
                access(Cell::of(mutex.site), true);
                let notified = self.condvars.get(&condvar.loc).is_some_and(|condvar| {
                    condvar.notifications.iter().any(|threads| threads.contains(&thread))
                });
                enabled &= notified && self.value(mutex).0 == 0;
            }
            Kind::Notify { condvar, .. } => access(Cell::of(condvar.site), true),
        }
        footprint.sort_unstable();
        footprint.dedup_by(|later, first| {
            let same = later.cell == first.cell;
            first.writes |= same && later.writes;
            same
        });
        Evaluated { enabled, footprint, is_unconditional }
    }

    /// Returns whether a spin hint is a wait: the previous hint of the thread was at the same
    /// place, and the thread has changed nothing since then. The wait ends when an object that it has
    /// read changes its value.
    ///
    /// DIVERGENCE: the iterations that such a loop would do in the meantime are not explored. See
    /// [`crate::spin_loop`] for loops that give up.
    pub(crate) fn is_wait(&self, thread: usize, at: Site) -> bool {
        self.thread(thread).is_some_and(|thread| {
            let is_loop = thread.last_hint.is_some_and(|hint| *hint == *at);
            is_loop && !thread.acted && !thread.reads.is_empty()
        })
    }

    /// Returns the objects that a thread has read since its last spin hint.
    pub(crate) fn reads_since_hint(&self, thread: usize) -> BTreeSet<u32> {
        let reads = self.thread(thread).map_or(&[][..], |thread| &thread.reads);
        reads.iter().map(|read| read.target.loc).collect()
    }

    /// Returns the buffer for a store, or `None` if the store acts on memory.
    fn buffer_of(&self, thread: usize, target: Target, order: Ordering) -> Option<usize> {
        if order == Ordering::SeqCst {
            return None;
        }
        match self.model {
            Model::Sc => None,
            Model::Tso => Some(0),
            Model::Pso => {
                let buffers = self.thread(thread).map_or(&[][..], |it| &it.buffers);
                let own = buffers.iter().position(|buffer| buffer.loc == Some(target.loc));
                Some(own.unwrap_or(buffers.len()))
            }
        }
    }

    fn read(&mut self, thread: usize, target: Target) {
        let version = self.value(target).1;
        self.thread_mut(thread).reads.push(Read { target, version });
    }

    /// Performs an enabled operation and returns its result.
    pub(crate) fn perform(&mut self, thread: usize, op: &Op) -> u64 {
        self.thread_mut(thread).acted |= !self.only_reads(&op.kind);
        match op.kind {
            Kind::Load(target) => {
                self.read(thread, target);
                match self.last_store(thread, target.loc) {
                    Some((buffer, number)) if !self.is_committed(thread, (buffer, number)) => {
                        self.threads[&thread].buffers[buffer].stores[number].value
                    }
                    Some(_) | None => self.value(target).0,
                }
            }
            Kind::Store { target, value, order } => {
                match self.buffer_of(thread, target, order) {
                    None => self.write(target, value),
                    Some(buffer) => {
                        let is_release = self.model == Model::Pso && order == Ordering::Release;
                        let after = match is_release {
                            true => self.required(thread, None, true),
                            false => self.threads[&thread].barrier.clone(),
                        };
                        let loc = (self.model == Model::Pso).then_some(target.loc);
                        let buffers = &mut self.thread_mut(thread).buffers;
                        if buffer == buffers.len() {
                            buffers.push(Buffer { loc, stores: Vec::new(), committed: 0 });
                        }
                        let store = Pending { target, value, at: op.at, after };
                        buffers[buffer].stores.push(store);
                    }
                }
                0
            }
            Kind::Update { target, modify, operand, .. } => {
                let old = self.value(target).0;
                self.read(thread, target);
                self.write(target, modify(old, operand));
                old
            }
            Kind::CompareExchange { target, expected, new, .. } => {
                let old = self.value(target).0;
                self.read(thread, target);
                if old == expected {
                    self.write(target, new);
                }
                old
            }
            Kind::Exclusive(target) => self.value(target).0,
            Kind::Fence(order) => {
                if self.model == Model::Pso && matches!(order, Ordering::Release | Ordering::AcqRel)
                {
                    self.thread_mut(thread).barrier = self.required(thread, None, true);
                }
                0
            }
            Kind::SpinHint => {
                let thread = self.thread_mut(thread);
                thread.reads.clear();
                thread.acted = false;
                thread.last_hint = Some(op.at);
                0
            }
            Kind::Spawn(child) => {
                self.thread_mut(child).status = Status::Spawned;
                0
            }
            Kind::Begin | Kind::Join(_) => 0,
            Kind::Finish => {
                self.thread_mut(thread).status = Status::Finished;
                0
            }
            Kind::Lock(target) => {
                self.write(target, 1);
                1
            }
            Kind::TryLock(target) => {
                let is_free = self.value(target).0 == 0;
                self.read(thread, target);
                if is_free {
                    self.write(target, 1);
                }
                u64::from(is_free)
            }
            Kind::Unlock(target) => {
                self.write(target, 0);
                0
            }
            Kind::Wait { condvar, mutex } => {
                self.write(mutex, 0);
                self.condvars.entry(condvar.loc).or_default().waiters.push(thread);
                0
            }
            Kind::WaitEnd { condvar, mutex } => {
                self.write(mutex, 1);
                self.condvars.entry(condvar.loc).or_default().wake(thread);
                0
            }
            Kind::Notify { condvar, all } => {
                self.condvars.entry(condvar.loc).or_default().notify(all);
                0
            }
        }
    }

    /// Returns whether an operation changes no value.
    pub(crate) fn only_reads(&self, kind: &Kind) -> bool {
        match *kind {
            Kind::Load(_) | Kind::SpinHint | Kind::Fence(_) => true,
            Kind::Update { target, modify, operand, .. } => {
                let old = self.value(target).0;
                modify(old, operand) == old
            }
            Kind::CompareExchange { target, expected, new, .. } => {
                let old = self.value(target).0;
                old != expected || new == old
            }
            Kind::TryLock(target) => self.value(target).0 != 0,
            Kind::Store { .. }
            | Kind::Exclusive(_)
            | Kind::Spawn(_)
            | Kind::Begin
            | Kind::Finish
            | Kind::Join(_)
            | Kind::Lock(_)
            | Kind::Unlock(_)
            | Kind::Wait { .. }
            | Kind::WaitEnd { .. }
            | Kind::Notify { .. } => false,
        }
    }

    /// Returns the next store that a buffer commits and whether it may commit it now, with the
    /// cells that the commit accesses or, if it is not enabled, inspects.
    pub(crate) fn evaluate_commit(
        &self,
        owner: usize,
        buffer: usize,
        names: &mut Names,
    ) -> (Option<&Pending>, Evaluated) {
        let stored = self.thread(owner).and_then(|thread| thread.buffers.get(buffer));
        let number = stored.map_or(0, |stored| stored.committed);
        let mut footprint =
            vec![CellAccess::write(names.cell(Cell::Pending(owner, buffer, number)))];
        let store = stored.and_then(|stored| stored.stores.get(number));
        let mut enabled = false;
        if let Some(store) = store {
            enabled = store.after.iter().all(|store| self.is_committed(owner, *store));
            footprint.push(CellAccess::write(names.cell(Cell::of(store.target.site))));
            // The commits of this buffer are in order.
            for (other, number) in store.after.iter().filter(|(other, _)| *other != buffer) {
                let cell = names.cell(Cell::Pending(owner, *other, *number));
                footprint.push(CellAccess::read(cell));
            }
        }
        (store, Evaluated { enabled, footprint, is_unconditional: false })
    }

    /// Returns the number of pending stores of a thread.
    pub(crate) fn pending(&self, thread: usize) -> usize {
        let buffers = self.thread(thread).map_or(&[][..], |it| &it.buffers);
        buffers.iter().map(|buffer| buffer.stores.len() - buffer.committed).sum()
    }

    /// Commits the next store of a buffer.
    pub(crate) fn commit(&mut self, owner: usize, buffer: usize) {
        let stored = &mut self.thread_mut(owner).buffers[buffer];
        let Pending { target, value, .. } = stored.stores[stored.committed];
        stored.committed += 1;
        self.write(target, value);
    }

    /// Returns whether a thread or buffer has nothing to do.
    pub(crate) fn has_halted(&self, name: &ThreadName, thread: usize) -> bool {
        match name {
            ThreadName::Program(_) => {
                self.thread(thread).is_none_or(|it| it.status != Status::Spawned)
            }
            ThreadName::Buffer(owner, buffer) => {
                let buffers = self.thread(*owner).map_or(&[][..], |it| &it.buffers);
                buffers.get(*buffer).is_none_or(|it| it.committed == it.stores.len())
            }
        }
    }
}

impl Condvar {
    /// Lets one or all of the threads that wait and are not notified end their wait.
    fn notify(&mut self, all: bool) {
        let free = self.waiters.len() - self.notifications.len();
        let new = if all { free } else { free.min(1) };
        self.notifications.extend(std::iter::repeat_n(self.waiters.clone(), new));
    }

    /// Ends the wait of a notified thread. It uses the oldest notification that it can use: every
    /// thread that can use this one can use the later ones.
    fn wake(&mut self, thread: usize) {
        self.waiters.retain(|waiter| *waiter != thread);
        if let Some(used) = self.notifications.iter().position(|it| it.contains(&thread)) {
            self.notifications.remove(used);
        }
        self.notifications.iter_mut().for_each(|it| it.retain(|waiter| *waiter != thread));
    }
}
