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
//! Direction: exact. Partial-order reduction preserves hangs: every step from a hang leads to a
//! hang, and an omitted thread can be moved first without leaving the set of hangs.

use super::choice::Choices;
use super::packed::Segments;
use super::{Action, Attempt, Machine, Step, StepResult};
use crate::bits::Writer;
use crate::event::{Event, EventKind};
use crate::model::MemoryModel;
use crate::state::State;
use fencepost_ir::{Label, Loc, Op, Property, ThreadId, Value};
use fencepost_search::WorkLimits;
use rustc_hash::FxHashMap;

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
const MAX_CACHE_ENTRIES: usize = 1 << 15;

/// Remembers for the memory and the part of one thread in a packed state whether the thread waits
/// forever. Many states differ only in other threads.
#[derive(Debug, Default)]
pub(super) struct WaitCache {
    known: FxHashMap<Vec<u8>, ThreadCheck>,
    key: Vec<u8>,
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

/// What a thread can do if it runs alone.
enum RunAlone<P> {
    /// It stores, changes memory, fails or finishes.
    GetsOn,
    /// It is blocked by `assume` outside of `atomic`.
    Discarded,
    /// It waits forever, in these states.
    Waits(Vec<Visited<P>>),
    /// It has too many states.
    Undecided,
}

/// A state of a thread that runs alone.
struct Visited<P> {
    state: State<P>,
    /// The events of the steps from this state, also of blocked steps.
    events: Vec<Event>,
    /// The states after it, by number.
    next: Vec<usize>,
}

impl<M: MemoryModel> Machine<'_, M> {
    /// Returns whether a state is a hang. Always [`HangCheck::No`] if the problem allows hangs.
    pub fn check_hang(&self, state: &State<M::Pending>) -> HangCheck {
        self.check_hang_within(state, &self.work_limits)
    }

    /// Returns whether a state is a hang, with these limits of work instead of those of the
    /// machine.
    pub(super) fn check_hang_within(
        &self,
        state: &State<M::Pending>,
        limits: &WorkLimits,
    ) -> HangCheck {
        if !self.may_be_hang(state) {
            return HangCheck::No;
        }
        self.combine_threads(state, |t| self.check_thread(state, t, limits))
    }

    /// Returns whether a state is a hang. Its packed form is `segments`, and `work` is a copy of it
    /// that is changed and restored.
    pub(super) fn check_hang_cached(
        &self,
        state: &State<M::Pending>,
        segments: &Segments,
        work: &mut State<M::Pending>,
        cache: &mut WaitCache,
    ) -> HangCheck {
        self.combine_threads(state, |t| {
            cache.key.clear();
            cache.key.push(t.index() as u8);
            segments.append_memory_and_thread(t, &mut cache.key);
            if let Some(known) = cache.known.get(&cache.key) {
                return *known;
            }
            if cache.known.len() >= MAX_CACHE_ENTRIES {
                cache.known.clear();
            }
            let found = match self.gets_on_soon(state, work, t) {
                true => ThreadCheck::GetsOn,
                false => self.check_thread(state, t, &self.work_limits),
            };
            self.restore(work, state, t);
            cache.known.insert(cache.key.clone(), found);
            found
        })
    }

    /// Returns whether a state is a hang, from the checks of its threads that have not finished.
    fn combine_threads(
        &self,
        state: &State<M::Pending>,
        mut check: impl FnMut(ThreadId) -> ThreadCheck,
    ) -> HangCheck {
        let mut result = HangCheck::No;
        for t in self.shape.program().thread_ids().filter(|t| !self.has_finished(state, *t)) {
            match check(t) {
                ThreadCheck::GetsOn => return HangCheck::No,
                ThreadCheck::Waits if result == HangCheck::No => result = HangCheck::Yes,
                ThreadCheck::Waits => {}
                ThreadCheck::Undecided => result = HangCheck::Undecided,
            }
        }
        result
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

    /// Returns whether a thread that has not finished waits forever.
    fn check_thread(
        &self,
        state: &State<M::Pending>,
        t: ThreadId,
        limits: &WorkLimits,
    ) -> ThreadCheck {
        match self.run_alone(state, t, limits) {
            RunAlone::GetsOn | RunAlone::Discarded => ThreadCheck::GetsOn,
            RunAlone::Waits(_) => ThreadCheck::Waits,
            RunAlone::Undecided => ThreadCheck::Undecided,
        }
    }

    /// Returns how each thread waits in a hang. `None` for a thread that has finished, and for the
    /// last thread while it waits for the others.
    pub fn waits(&self, state: &State<M::Pending>) -> Vec<Option<Wait>> {
        let unlimited = WorkLimits::default();
        let wait = |t| match self.run_alone(state, t, &unlimited) {
            RunAlone::Waits(visited) => Some(self.describe_wait(&visited, t)),
            RunAlone::GetsOn | RunAlone::Discarded | RunAlone::Undecided => None,
        };
        let threads = self.shape.program().thread_ids();
        let joins = |t: ThreadId| matches!(self.shape.stmt(t, state.pcs[t.index()]).op, Op::Join);
        threads
            .map(|t| if self.has_finished(state, t) || joins(t) { None } else { wait(t) })
            .collect()
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
    }

    /// Returns whether a thread has halted and nothing of it is pending.
    pub fn has_finished(&self, state: &State<M::Pending>, t: ThreadId) -> bool {
        self.has_halted(t, state.pcs[t.index()])
            && self.model.has_no_pending_access(&state.pending, t)
    }

    /// Explores the states that the thread can reach alone, until it gets on.
    fn run_alone(
        &self,
        start: &State<M::Pending>,
        t: ThreadId,
        limits: &WorkLimits,
    ) -> RunAlone<M::Pending> {
        if self.has_guessed(start, t) {
            return RunAlone::GetsOn;
        }
        let mut numbers: FxHashMap<Vec<u8>, usize> = FxHashMap::default();
        let mut writer = Writer::default();
        numbers.insert(self.encode(start, &mut writer).to_vec(), 0);
        let new = |state| Visited { state, events: Vec::new(), next: Vec::new() };
        let mut visited = vec![new(start.clone())];
        let mut at = 0;
        while at < visited.len() {
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
                    return RunAlone::GetsOn;
                }
                visited[at].events.append(&mut events);
                let is_guess = self.has_guessed(&after, t);
                if taken != Ok(StepResult::Taken) || is_guess {
                    continue;
                }
                let key = self.encode(&after, &mut writer);
                let number = numbers.get(key).copied().unwrap_or(visited.len());
                if number == visited.len() {
                    numbers.insert(key.to_vec(), number);
                    visited.push(new(after));
                }
                visited[at].next.push(number);
            }
            if visited[at].next.is_empty() && self.is_discarded(&state, t) {
                return RunAlone::Discarded;
            }
            if visited.len() > MAX_THREAD_STATES || limits.is_cancelled() {
                return RunAlone::Undecided;
            }
            at += 1;
        }
        RunAlone::Waits(visited)
    }

    /// Returns whether a step stores, allocates or frees, also if memory is the same afterwards.
    fn has_effect(&self, before: &State<M::Pending>, step: &Step, events: &[Event]) -> bool {
        let pc = before.pcs[step.thread.index()];
        let is_store = matches!(self.shape.stmt(step.thread, pc).op, Op::Store { .. });
        events.iter().any(|event| match event.kind {
            EventKind::Store { .. }
            | EventKind::Commit { .. }
            | EventKind::CommitAndKeep { .. }
            | EventKind::New(_)
            | EventKind::Free(_) => true,
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
            | EventKind::AtomicBegin
            | EventKind::AtomicEnd
            | EventKind::Skip
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
        let first = blocked.unwrap_or_else(|| first_of_cycle(visited));
        let shown = if blocked.is_some() { &visited[first..=first] } else { &visited[first..] };
        let mut reads: Vec<(Loc, Value)> = Vec::new();
        let mut read_label = None;
        for event in shown.iter().flat_map(|visited| &visited.events) {
            if let EventKind::Load { loc, value, .. } | EventKind::Update { loc, old: value, .. } =
                event.kind
                && !reads.iter().any(|(known, _)| *known == loc)
            {
                reads.push((loc, value));
                read_label = read_label.or(event.label);
            }
        }
        // With a window, the program counter is behind the load.
        let pc = visited[first].state.pcs[t.index()];
        let label = read_label.filter(|_| blocked.is_none());
        let label = label.unwrap_or(self.shape.stmt(t, pc).label);
        Wait { label, is_blocked: blocked.is_some(), reads }
    }
}

/// Returns the number of the first state that can be reached again from itself. Every state has a
/// successor.
fn first_of_cycle<P>(visited: &[Visited<P>]) -> usize {
    // Removes states without predecessors until none is left: in the order of the numbers, the
    // first remaining state is the first of a cycle, or follows only states of cycles.
    let mut predecessors = vec![0; visited.len()];
    visited.iter().flat_map(|from| &from.next).for_each(|to| predecessors[*to] += 1);
    let mut removable: Vec<usize> =
        (0..visited.len()).filter(|at| predecessors[*at] == 0).collect();
    let mut removed = vec![false; visited.len()];
    while let Some(at) = removable.pop() {
        removed[at] = true;
        for to in &visited[at].next {
            predecessors[*to] -= 1;
            if predecessors[*to] == 0 {
                removable.push(*to);
            }
        }
    }
    removed.iter().position(|removed| !removed).unwrap_or(0)
}
