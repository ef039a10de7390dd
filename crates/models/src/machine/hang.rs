//! Hangs: states from which no thread can ever change memory or finish.
//!
//! A thread *waits forever* in a state if no run of this thread alone from there stores, allocates
//! or frees, changes memory, or finishes. A state is a *hang* if some thread has not finished and
//! every such thread waits forever. Then memory never changes again, so the threads do not
//! influence each other, and no run from this state ends. A hang has no pending stores, because a
//! commit is a step of its thread.
//!
//! The definition needs no classification of loops. It covers spin loops with any number of loads,
//! loops over registers, compare-and-swaps that fail, swaps that write the value that is already in
//! memory, and blocked `atomic` blocks. A loop that stores is not covered, even if it stores the
//! same value again and again: that is a livelock.
//!
//! A thread that is blocked by a false `assume` outside of `atomic` discards the run, so the state
//! is not a hang. Only with the property `deadlock_free` does it count as waiting.
//!
//! A thread that has guessed the direction of a branch does not wait forever: the guess may be
//! wrong, and the thread reaches every hang without guesses, too.
//!
//! *Grace periods.* What a thread does at a grace period also depends on the sections and pending
//! accesses of the others. A run of a thread alone may therefore see every condition that another
//! thread can fulfil in such a run of its own, at any moment. This is a least fixpoint over the
//! threads. It over-approximates what the threads reach together without an effect, so a state in
//! which every thread waits forever is a hang. The converse holds for the states that a hang reaches
//! again and again: there, every condition that a thread fulfils recurs. So a program has a hang
//! exactly if some reachable state is found to be one.
//!
//! Direction: exact. Partial-order reduction preserves hangs: every step from a hang leads to a
//! hang, and an omitted thread can be moved first without leaving the set of hangs.

use super::choice::Choices;
use super::system::Scratch;
use super::{Action, Attempt, Machine, Step, StepResult};
use crate::bits::Writer;
use crate::event::{Event, EventKind};
use crate::model::MemoryModel;
use crate::state::State;
use fencepost_ir::{Label, Loc, Op, Property, ThreadId, Value};
use fencepost_search::{WorkLimits, components};
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximal number of states of one thread that are examined. A thread with more states, such as
/// one that counts in a large range while it waits, is not decided.
const MAX_THREAD_STATES: usize = 1 << 16;

/// Whether a state is a hang.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HangCheck {
    /// The state is not a hang, or the problem allows hangs.
    No,
    /// The state is a hang.
    Yes,
    /// A thread has too many states to decide whether it waits forever, or the search was cancelled.
    Undecided,
}

/// Whether a thread waits forever.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ThreadCheck {
    /// It gets on, or it discards the run. The state is not a hang.
    GetsOn,
    /// It waits forever.
    Waits,
    /// It has too many states to decide.
    Undecided,
}

/// The number of steps after which a thread is examined state by state.
const MAX_SOON_STEPS: usize = 16;

/// The maximal number of entries of a [`WaitCache`].
const MAX_CACHE_ENTRIES: usize = 2 * MAX_THREAD_STATES;

/// Remembers for the memory and the part of one thread in a packed state whether the thread waits
/// forever. Many states differ only in other threads.
#[derive(Debug, Default)]
pub struct WaitCache {
    known: FxHashMap<Vec<u8>, ThreadCheck>,
    key: Vec<u8>,
    is_sequential: bool,
}

impl WaitCache {
    /// A cache for a search with one thread. A thread that counts in a long loop is run through the
    /// loop once, not once for each state of the loop. Whether a thread with too many states is
    /// decided then depends on the order of the checks.
    pub fn sequential() -> Self {
        WaitCache { is_sequential: true, ..WaitCache::default() }
    }

    /// Returns what is known about the thread of the current key.
    fn get(&self) -> Option<ThreadCheck> {
        self.known.get(&self.key).copied()
    }

    /// Returns what is known about thread `t` with this packed memory and thread.
    fn get_alone(&mut self, t: ThreadId, part: &[u8]) -> Option<ThreadCheck> {
        self.key.clear();
        self.key.push(t.index() as u8);
        self.key.extend_from_slice(part);
        self.get()
    }

    /// Remembers the result for the current key.
    fn insert(&mut self, check: ThreadCheck) {
        self.make_room(1);
        self.known.insert(self.key.clone(), check);
    }

    /// Remembers the result of a run of thread `t` alone, for all states that share it.
    fn insert_run<P>(&mut self, t: ThreadId, run: &RunAlone<P>) {
        let shared: Vec<bool> = match run.result {
            AloneResult::Waits => vec![true; run.visited.len()],
            AloneResult::GetsOn(at) if self.is_sequential => run.can_reach(at),
            // The other states may be decided with less work, or not within the limit.
            AloneResult::GetsOn(_) | AloneResult::Undecided => {
                (0..run.visited.len()).map(|at| at == 0).collect()
            }
        };
        self.make_room(run.visited.len());
        for (part, _) in run.numbers.iter().filter(|(_, number)| shared[**number]) {
            let key = [&[t.index() as u8], part.as_slice()].concat();
            self.known.insert(key, run.result.check());
        }
    }

    fn make_room(&mut self, entries: usize) {
        if self.known.len() + entries > MAX_CACHE_ENTRIES {
            self.known.clear();
        }
    }
}

/// How a thread waits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wait {
    /// The statement at which the thread is blocked, or the first load of its loop.
    pub label: Label,
    /// Whether the thread is blocked. Otherwise it executes a loop.
    pub is_blocked: bool,
    /// The locations that the thread reads while it waits, with their values, in the order of the
    /// first read.
    pub reads: Vec<(Loc, Value)>,
}

/// The states that a thread reaches if it runs alone.
struct RunAlone<P> {
    result: AloneResult,
    visited: Vec<Visited<P>>,
    /// The number of each visited state, by its packed memory and thread.
    numbers: FxHashMap<Vec<u8>, usize>,
}

/// What a thread can do if it runs alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AloneResult {
    /// From the state with this number, it stores, changes memory, fails or finishes, or it is
    /// blocked by `assume` outside of `atomic`.
    GetsOn(usize),
    /// It waits forever, in the visited states.
    Waits,
    /// It has too many states.
    Undecided,
}

impl AloneResult {
    fn check(self) -> ThreadCheck {
        match self {
            AloneResult::GetsOn(_) => ThreadCheck::GetsOn,
            AloneResult::Waits => ThreadCheck::Waits,
            AloneResult::Undecided => ThreadCheck::Undecided,
        }
    }
}

impl<P> RunAlone<P> {
    /// Returns for each visited state whether the thread can reach the state `goal` from it.
    fn can_reach(&self, goal: usize) -> Vec<bool> {
        let mut predecessors = vec![Vec::new(); self.visited.len()];
        for (from, state) in self.visited.iter().enumerate() {
            state.next.iter().for_each(|to| predecessors[*to].push(from));
        }
        let mut reaches = vec![false; self.visited.len()];
        reaches[goal] = true;
        let mut open = vec![goal];
        while let Some(at) = open.pop() {
            for from in &predecessors[at] {
                if !reaches[*from] {
                    reaches[*from] = true;
                    open.push(*from);
                }
            }
        }
        reaches
    }
}

/// A state of a thread that runs alone.
struct Visited<P> {
    state: State<P>,
    /// The events of the steps from this state, also of blocked steps.
    events: Vec<Event>,
    /// The states after it, by number.
    next: Vec<usize>,
}

/// Returns the threads that decide whether a state is a hang: those that have not finished, without
/// the last thread while it waits for others. A cache knows only its own part.
fn undecided_threads((unfinished, at_join): (u64, u64)) -> u64 {
    if unfinished & !at_join == 0 { unfinished } else { unfinished & !at_join }
}

/// Returns whether a state is a hang, from the checks of some of its threads.
fn combine(threads: u64, mut check: impl FnMut(ThreadId) -> ThreadCheck) -> HangCheck {
    let mut result = HangCheck::No;
    let mut left = threads;
    while left != 0 {
        match check(ThreadId::from_index(left.trailing_zeros() as usize)) {
            ThreadCheck::GetsOn => return HangCheck::No,
            ThreadCheck::Waits if result == HangCheck::No => result = HangCheck::Yes,
            ThreadCheck::Waits => {}
            ThreadCheck::Undecided => result = HangCheck::Undecided,
        }
        left &= left - 1;
    }
    result
}

impl<M: MemoryModel> Machine<'_, M> {
    /// Returns whether a state is a hang. Always [`HangCheck::No`] if the problem allows hangs.
    pub fn check_hang(&self, state: &State<M::Pending>, cache: &mut WaitCache) -> HangCheck {
        if !self.may_be_hang(state) {
            return HangCheck::No;
        }
        if self.shape.grace_periods.occur {
            return self.check_hang_of_grace_periods(state, &self.work_limits).0;
        }
        let mut writer = Writer::default();
        self.combine_threads(state, |t| {
            let part = self.encode_alone(state, t, &mut writer);
            let known = cache.get_alone(t, part);
            known.unwrap_or_else(|| self.check_thread_and_cache(state, t, cache))
        })
    }

    /// Returns whether a state is a hang, with these limits of work instead of those of the
    /// machine, and without a cache.
    pub(super) fn check_hang_within(
        &self,
        state: &State<M::Pending>,
        limits: &WorkLimits,
    ) -> HangCheck {
        if !self.may_be_hang(state) {
            return HangCheck::No;
        }
        if self.shape.grace_periods.occur {
            return self.check_hang_of_grace_periods(state, limits).0;
        }
        self.combine_threads(state, |t| self.run_alone(state, t, limits, |_| None).result.check())
    }

    /// Returns whether the state that is expanded is a hang. Nothing is unpacked if the cache knows
    /// its threads.
    pub(super) fn check_hang_here(&self, scratch: &mut Scratch<M::Pending>) -> HangCheck {
        if self.shape.grace_periods.occur {
            return self.check_hang_of_grace_periods(&scratch.base, &self.work_limits).0;
        }
        let threads = match &scratch.table {
            Some(table) => undecided_threads(scratch.parts.unfinished_and_at_join(table)),
            None => self.threads_to_check(&scratch.base),
        };
        combine(threads, |t| {
            let mut key = std::mem::take(&mut scratch.wait_cache.key);
            key.clear();
            key.push(t.index() as u8);
            self.append_memory_and_part(t, scratch, &mut key);
            scratch.wait_cache.key = key;
            if let Some(known) = scratch.wait_cache.get() {
                return known;
            }
            self.unpack_base(scratch);
            let Scratch { base, work, wait_cache: cache, .. } = &mut *scratch;
            let found = if self.gets_on_soon(base, work, t) {
                cache.insert(ThreadCheck::GetsOn);
                ThreadCheck::GetsOn
            } else {
                self.check_thread_and_cache(base, t, cache)
            };
            self.restore(work, base, t);
            found
        })
    }

    /// Returns whether a state is a hang, from the checks of its threads that have not finished.
    fn combine_threads(
        &self,
        state: &State<M::Pending>,
        check: impl FnMut(ThreadId) -> ThreadCheck,
    ) -> HangCheck {
        combine(self.threads_to_check(state), check)
    }

    /// Returns the threads that decide whether a state is a hang (bit `1 << thread`).
    fn threads_to_check(&self, state: &State<M::Pending>) -> u64 {
        let set = |is_in: &dyn Fn(ThreadId) -> bool| {
            let threads = self.shape.program().thread_ids().filter(|t| is_in(*t));
            threads.fold(0, |set, t| set | 1u64 << t.index())
        };
        let unfinished = set(&|t| !self.has_finished(state, t));
        undecided_threads((unfinished, set(&|t| self.is_at_join(state, t))))
    }

    /// Returns whether one run of the thread alone gets on within a few steps. `work` equals `state`
    /// at the call. A fast sufficient condition.
    fn gets_on_soon(
        &self,
        state: &State<M::Pending>,
        work: &mut State<M::Pending>,
        t: ThreadId,
    ) -> bool {
        let mut internal = Vec::new();
        for _ in 0..MAX_SOON_STEPS {
            internal.clear();
            if !self.model.has_no_pending_access(&work.pending, t) {
                self.model.internal_steps(&self.shape, work, t, &mut internal);
            }
            let taken = match internal.first() {
                Some(which) => self.perform_internal_step(work, t, *which, &mut ()),
                None => self.run(work, t, &mut Choices::default(), &mut ()),
            };
            if taken != Ok(StepResult::Taken) || self.has_guessed(work, t) {
                return false;
            }
            // From some statements, every path leads to a store, an allocation or the end.
            if !self.shape.thread(t).may_wait[work.pcs[t.index()].index()]
                || work.memory != state.memory
            {
                return true;
            }
        }
        false
    }

    /// Returns whether a thread that has not finished waits forever, and remembers it.
    fn check_thread_and_cache(
        &self,
        state: &State<M::Pending>,
        t: ThreadId,
        cache: &mut WaitCache,
    ) -> ThreadCheck {
        let run = self.run_alone(state, t, &self.work_limits, |part| {
            if cache.is_sequential { cache.get_alone(t, part) } else { None }
        });
        cache.insert_run(t, &run);
        run.result.check()
    }

    /// Returns how each thread waits in a hang. `None` for a thread that has finished, and for the
    /// last thread while it waits for the others.
    pub fn waits(&self, state: &State<M::Pending>) -> Vec<Option<Wait>> {
        let unlimited = WorkLimits::default();
        let (_, others) = self.check_hang_of_grace_periods(state, &unlimited);
        let wait = |t| {
            let mut start = others.clone();
            self.restore(&mut start, state, t);
            let run = self.run_alone(&start, t, &unlimited, |_| None);
            (run.result == AloneResult::Waits).then(|| self.describe_wait(&run.visited, t))
        };
        let threads = self.shape.program().thread_ids();
        let is_idle = |t| self.has_finished(state, t) || self.is_at_join(state, t);
        threads.map(|t| if is_idle(t) { None } else { wait(t) }).collect()
    }

    /// Returns whether a state of a program with grace periods is a hang, without a cache: what a
    /// thread can do also depends on the sections of the others. The second result is the state as
    /// a grace period can find it: each thread is outside of every section that it can leave alone,
    /// and has nothing pending.
    fn check_hang_of_grace_periods(
        &self,
        state: &State<M::Pending>,
        limits: &WorkLimits,
    ) -> (HangCheck, State<M::Pending>) {
        let mut others = state.clone();
        if !self.shape.grace_periods.occur {
            return (HangCheck::No, others);
        }
        // A thread may need a grace period to leave a section of another domain, and a grace period
        // of a thread that was examined before may wait for this one.
        loop {
            let mut has_changed = false;
            let result = self.combine_threads(state, |t| {
                let mut start = others.clone();
                self.restore(&mut start, state, t);
                let run = self.run_alone(&start, t, limits, |_| None);
                let reached = run.visited.iter().map(|visited| &visited.state);
                has_changed |= self.fulfil_conditions(t, reached, &mut others);
                run.result.check()
            });
            if result != HangCheck::Yes || !has_changed {
                return (result, others);
            }
        }
    }

    /// Returns whether a thread is the last thread and has not begun.
    fn is_at_join(&self, state: &State<M::Pending>, t: ThreadId) -> bool {
        matches!(self.shape.stmt(t, state.pcs[t.index()]).op, Op::Join)
    }

    /// Returns whether hangs are checked and every thread has halted or is at a statement from
    /// which it may wait forever. A fast necessary condition for a hang.
    #[inline]
    pub(super) fn may_be_hang(&self, state: &State<M::Pending>) -> bool {
        let mut threads = state.pcs.iter().zip(&self.shape.threads).enumerate();
        !self.shape.problem.may_hang
            && threads.all(|(t, (pc, thread))| {
                thread.may_wait[pc.index()] || self.has_halted(ThreadId::from_index(t), *pc)
            })
            // A thread that waits for such a location does not wait because of memory.
            && !self.shape.program().thread_ids().any(|t| self.holds_locations(state, t))
    }

    /// Returns whether a thread has halted and nothing of it is pending.
    pub fn has_finished(&self, state: &State<M::Pending>, t: ThreadId) -> bool {
        self.has_halted(t, state.pcs[t.index()])
            && self.model.has_no_pending_access(&state.pending, t)
    }

    /// Explores the states that the thread can reach alone, until it gets on. `known` returns what is
    /// known about a packed memory and thread; states about which something is known are not explored.
    fn run_alone(
        &self,
        start: &State<M::Pending>,
        t: ThreadId,
        limits: &WorkLimits,
        mut known: impl FnMut(&[u8]) -> Option<ThreadCheck>,
    ) -> RunAlone<M::Pending> {
        let mut numbers: FxHashMap<Vec<u8>, usize> = FxHashMap::default();
        let mut writer = Writer::default();
        numbers.insert(self.encode_alone(start, t, &mut writer).to_vec(), 0);
        let new = |state| Visited { state, events: Vec::new(), next: Vec::new() };
        let mut visited = vec![new(start.clone())];
        let mut known_to_wait = FxHashSet::default();
        if self.has_guessed(start, t) {
            return RunAlone { result: AloneResult::GetsOn(0), visited, numbers };
        }
        let mut at = 0;
        while at < visited.len() {
            if known_to_wait.contains(&at) {
                at += 1;
                continue;
            }
            let state = visited[at].state.clone();
            let steps = self.attempt_next_statement(&state, t).into_iter();
            for Attempt { step, taken, after } in
                steps.chain(self.attempt_internal_steps(&state, t))
            {
                let mut events = Vec::new();
                let _ = self.take_step(&mut state.clone(), &step, &mut events);
                let gets_on = match taken {
                    Ok(StepResult::Taken) => {
                        after.memory != start.memory
                            || self.has_finished(&after, t)
                            || self.has_effect(&state, &step, &events)
                    }
                    // A full window performs its accesses first.
                    Ok(StepResult::Blocked | StepResult::BoundReached) => false,
                    Err(_) => true,
                };
                if gets_on {
                    return RunAlone { result: AloneResult::GetsOn(at), visited, numbers };
                }
                visited[at].events.append(&mut events);
                let is_guess = self.has_guessed(&after, t);
                if taken != Ok(StepResult::Taken) || is_guess {
                    continue;
                }
                let key = self.encode_alone(&after, t, &mut writer);
                let number = numbers.get(key).copied().unwrap_or(visited.len());
                if number == visited.len() {
                    match known(key) {
                        Some(ThreadCheck::GetsOn) => {
                            return RunAlone { result: AloneResult::GetsOn(at), visited, numbers };
                        }
                        Some(ThreadCheck::Waits) => {
                            known_to_wait.insert(number);
                        }
                        Some(ThreadCheck::Undecided) | None => {}
                    }
                    numbers.insert(key.to_vec(), number);
                    visited.push(new(after));
                }
                visited[at].next.push(number);
            }
            if visited[at].next.is_empty() && self.is_discarded(&state, t) {
                return RunAlone { result: AloneResult::GetsOn(at), visited, numbers };
            }
            if visited.len() > MAX_THREAD_STATES || limits.is_cancelled() {
                return RunAlone { result: AloneResult::Undecided, visited, numbers };
            }
            at += 1;
        }
        RunAlone { result: AloneResult::Waits, visited, numbers }
    }

    /// Returns whether a step stores, allocates or frees, also if memory is the same afterwards.
    fn has_effect(&self, before: &State<M::Pending>, step: &Step, events: &[Event]) -> bool {
        let pc = before.pcs[step.thread.index()];
        let is_store = matches!(self.shape.stmt(step.thread, pc).op, Op::Store { .. });
        events.iter().any(|event| match event.kind {
            EventKind::Store { .. }
            | EventKind::CommitAndKeep { .. }
            | EventKind::Repeat { .. }
            | EventKind::New(_)
            | EventKind::Free(_) => true,
            // The write of an update that is performed in two steps.
            EventKind::Commit { .. } => !event
                .pc
                .is_some_and(|pc| matches!(self.shape.stmt(step.thread, pc).op, Op::Update { .. })),
            // In a block, a store of the value that is in memory has no effect.
            EventKind::Write { .. } => is_store && matches!(step.action, Action::Run(_)),
            EventKind::Fetch { .. }
            | EventKind::Load { .. }
            | EventKind::Update { .. }
            | EventKind::Fence(_)
            | EventKind::Drain(_)
            | EventKind::Set { .. }
            | EventKind::Test(_)
            | EventKind::Guess(_)
            | EventKind::Leave
            | EventKind::SectionBegin
            | EventKind::SectionEnd
            | EventKind::GracePeriod { .. }
            | EventKind::AtomicBegin
            | EventKind::AtomicEnd
            | EventKind::Skip
            | EventKind::Confirm
            | EventKind::Defer => false,
        })
    }

    /// Returns whether a blocked thread discards the run: a false `assume` outside of `atomic`
    /// blocks it, and the problem does not count that as waiting.
    fn is_discarded(&self, state: &State<M::Pending>, t: ThreadId) -> bool {
        matches!(self.shape.stmt(t, state.pcs[t.index()]).op, Op::Assume(_))
            && !self.shape.problem.properties.contains(&Property::DeadlockFree)
    }

    /// Describes how a thread waits in the states that it reaches alone.
    fn describe_wait(&self, visited: &[Visited<M::Pending>], t: ThreadId) -> Wait {
        let blocked = visited.iter().position(|visited| visited.next.is_empty());
        // What the thread does before it waits is not shown: a pending load is performed once.
        let shown = blocked.map_or_else(|| recurring_states(visited), |at| vec![at]);
        let mut reads: Vec<(Loc, Value)> = Vec::new();
        let mut read_label = None;
        for event in shown.iter().flat_map(|at| &visited[*at].events) {
            if let EventKind::Load { loc, value, .. } | EventKind::Update { loc, old: value, .. } =
                event.kind
                && !reads.iter().any(|(known, _)| *known == loc)
            {
                reads.push((loc, value));
                read_label = read_label.or(event.label);
            }
        }
        // With a window, the program counter is behind the load.
        let pc = visited[shown[0]].state.pcs[t.index()];
        let label = read_label.filter(|_| blocked.is_none());
        let label = label.unwrap_or(self.shape.stmt(t, pc).label);
        Wait { label, is_blocked: blocked.is_some(), reads }
    }

    /// Returns whether a thread is blocked by a false `assume` that discards the run.
    pub fn discards_run(&self, state: &State<M::Pending>) -> bool {
        let is_blocked = |t: &ThreadId| {
            let attempts = self.attempt_next_statement(state, *t);
            attempts.iter().all(|attempt| attempt.taken == Ok(StepResult::Blocked))
        };
        let mut threads = self.shape.program().thread_ids();
        threads.any(|t| {
            !self.has_halted(t, state.pcs[t.index()])
                && self.is_discarded(state, t)
                && is_blocked(&t)
        })
    }
}

/// Returns the states that the thread can enter again from every state that follows them, by
/// number, in ascending order: a fair run stays in them. Every state has a successor, so there is
/// at least one such state.
fn recurring_states<P>(visited: &[Visited<P>]) -> Vec<usize> {
    let targets = |at: u32| visited[at as usize].next.iter().map(|to| *to as u32).collect();
    let is_closed = |component: &Vec<u32>| {
        let mut targets = component.iter().flat_map(|at| &visited[*at as usize].next);
        targets.all(|to| component.binary_search(&(*to as u32)).is_ok())
    };
    let closed = components(visited.len(), targets).into_iter().filter(is_closed);
    let mut states: Vec<usize> = closed.flatten().map(|at| at as usize).collect();
    states.sort_unstable();
    states
}
