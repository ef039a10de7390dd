//! The state of the shared objects and threads, and what operations do.
//! [`evaluate`](crate::evaluate) says which operations are enabled.
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
use crate::names::ThreadName;
use crate::op::{Kind, Op, Site, Target};
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
    pub(crate) after: Vec<(usize, usize)>,
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
pub(crate) struct Read {
    pub(crate) target: Target,
    pub(crate) version: u64,
}

/// The state of a thread of the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Thread {
    pub(crate) status: Status,
    pub(crate) buffers: Vec<Buffer>,
    /// The stores before the last release fence, under PSO.
    barrier: Vec<(usize, usize)>,
    /// The reads since the last spin hint.
    pub(crate) reads: Vec<Read>,
    /// Whether the thread did anything but reads since then.
    acted: bool,
    last_hint: Option<Site>,
}

/// The waiters of a condition variable.
#[derive(Clone, Debug, Default)]
pub(crate) struct Condvar {
    waiters: Vec<usize>,
    /// For each notification that no thread has used: the threads that can use it. Each set
    /// contains those of the sets before that still wait.
    pub(crate) notifications: Vec<Vec<usize>>,
}

/// The state between two events.
#[derive(Clone, Debug)]
pub(crate) struct State {
    model: Model,
    /// For each object: its value and how often it has changed.
    memory: BTreeMap<u32, (u64, u64)>,
    pub(crate) threads: BTreeMap<usize, Thread>,
    pub(crate) condvars: BTreeMap<u32, Condvar>,
}

impl State {
    /// Returns the start state, in which only the first thread exists.
    pub(crate) fn new(model: Model) -> State {
        let main = Thread { status: Status::Spawned, ..Thread::default() };
        let threads = BTreeMap::from([(0, main)]);
        State { model, memory: BTreeMap::new(), threads, condvars: BTreeMap::new() }
    }

    pub(crate) fn value(&self, target: Target) -> (u64, u64) {
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
    pub(crate) fn last_store(&self, thread: usize, loc: u32) -> Option<(usize, usize)> {
        let buffers = &self.thread(thread)?.buffers;
        buffers.iter().enumerate().find_map(|(at, buffer)| {
            let number = buffer.stores.iter().rposition(|store| store.target.loc == loc)?;
            Some((at, number))
        })
    }

    /// Returns the last stores that must be committed before an operation: those of all buffers,
    /// or those that the model orders before an access to `target`.
    pub(crate) fn required(
        &self,
        thread: usize,
        target: Option<Target>,
        all: bool,
    ) -> Vec<(usize, usize)> {
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

    pub(crate) fn is_committed(&self, thread: usize, (buffer, number): (usize, usize)) -> bool {
        self.threads[&thread].buffers[buffer].committed > number
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
    pub(crate) fn buffer_of(
        &self,
        thread: usize,
        target: Target,
        order: Ordering,
    ) -> Option<usize> {
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
