//! The tested closure as a system of `fencepost-explore`.
//!
//! Each visible operation is an event of its thread, and each commit of a pending store is an event
//! of its store buffer. To go back, the closure runs again from the start; this is delayed until
//! an event follows. Moves that are only evaluated need no run: see [`crate::state`].
//!
//! Direction: exact for closures that are deterministic, except for the order of operations.
//! A closure that performs another operation when it runs again is reported.

use crate::evaluate::Evaluated;
use crate::model::Model;
use crate::names::{Names, ThreadName};
use crate::op::{Kind, Op, Site, is_same_step};
use crate::run::{Body, Run, lock};
use crate::spin_loop::SpinLoops;
use crate::state::{Pending, State, Status};
use crate::trace::{Failure, FailureKind, Trace};
use fencepost_explore::{Attempt, CellAccess, End, Execution, Move, MoveResult, System};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// What an event did.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// An operation with its result.
    Op(Op, u64),
    Commit(Pending),
}

/// An event.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) thread: usize,
    pub(crate) action: Action,
    /// Whether a store became pending.
    pub(crate) is_pending: bool,
    is_unconditional: bool,
}

/// What all executions of a check share.
pub(crate) struct Shared {
    pub(crate) body: Body,
    /// Where the check is.
    pub(crate) at: Site,
    pub(crate) model: Model,
    pub(crate) names: Arc<Mutex<Names>>,
    /// The number of threads of the exploration, including store buffers.
    pub(crate) capacity: usize,
    /// Set if an execution has more threads.
    pub(crate) overflow: AtomicBool,
    /// The number of executions, except redundant ones.
    pub(crate) executions: AtomicU64,
    /// Whether the exploration ends with the first execution that is cut.
    pub(crate) stops_at_cut: bool,
    pub(crate) spin_loops: SpinLoops,
}

/// The executions of the closure.
pub(crate) struct ClosureSystem<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) run: Option<Run>,
    pub(crate) records: Vec<Record>,
    /// The states before each event and after the last one.
    states: Vec<State>,
    /// The next operation of each thread of the program that has one.
    pub(crate) next: BTreeMap<usize, Op>,
    footprint: Vec<CellAccess>,
    pub(crate) failure: Option<FailureKind>,
    findings: Vec<Failure>,
}

impl<'a> ClosureSystem<'a> {
    pub(crate) fn new(shared: &'a Shared) -> Self {
        lock(&shared.names).thread(ThreadName::Program(Vec::new()));
        ClosureSystem {
            shared,
            run: None,
            records: Vec::new(),
            states: vec![State::new(shared.model)],
            next: BTreeMap::from([(0, begin(shared.at))]),
            footprint: Vec::new(),
            failure: None,
            findings: Vec::new(),
        }
    }

    pub(crate) fn state(&self) -> &State {
        self.states.last().expect("there is a state before the first event")
    }

    fn name(&self, thread: usize) -> Option<ThreadName> {
        lock(&self.shared.names).threads().get(thread).cloned()
    }

    /// Evaluates the next move of a thread in a state. `op` is its next operation, if known.
    pub(crate) fn evaluate(&self, state: &State, thread: usize, op: Option<&Op>) -> Evaluated {
        let name = self.name(thread);
        let names = &mut lock(&self.shared.names);
        match (name, op) {
            (Some(ThreadName::Buffer(owner, buffer)), _) => {
                state.evaluate_commit(owner, buffer, names).1
            }
            (_, Some(op)) => state.evaluate(thread, op, names),
            (_, None) => state.evaluate(thread, &begin(self.shared.at), names),
        }
    }

    /// Runs the closure again up to the last event. Reports if it does not do the same again.
    fn restart(&mut self) {
        let records = std::mem::take(&mut self.records);
        self.states.truncate(1);
        let next = BTreeMap::from([(0, begin(self.shared.at))]);
        let expected = std::mem::replace(&mut self.next, next);
        self.run = Some(Run::new(&self.shared.body, self.shared.at, &self.shared.names));
        let is_same = records.iter().all(|record| self.repeat(record))
            && self.next.len() == expected.len()
            && self.next.iter().all(|(thread, op)| {
                expected.get(thread).is_some_and(|expected| is_same_step(op, expected))
            });
        if !is_same {
            self.failure = Some(FailureKind::NotDeterministic);
        }
    }

    /// Takes the move of an event again. Returns whether the closure does the same.
    pub(crate) fn repeat(&mut self, record: &Record) -> bool {
        let next = self.next.get(&record.thread).copied();
        let is_same = match &record.action {
            Action::Commit(_) => true,
            Action::Op(op, _) => next.is_some_and(|next| is_same_step(op, &next)),
        };
        if !is_same || !self.evaluate(self.state(), record.thread, next.as_ref()).enabled {
            return false;
        }
        self.execute(record.thread, record.is_unconditional);
        self.failure.is_none()
    }

    /// Takes an enabled move. The closure runs.
    pub(crate) fn execute(&mut self, thread: usize, is_unconditional: bool) {
        let mut state = self.state().clone();
        let mut is_pending = false;
        let action = match self.name(thread) {
            Some(ThreadName::Buffer(owner, buffer)) => {
                let stored = &state.threads[&owner].buffers[buffer];
                let store = stored.stores[stored.committed].clone();
                state.commit(owner, buffer);
                Action::Commit(store)
            }
            Some(ThreadName::Program(_)) | None => {
                let op = self.next.remove(&thread).expect("a thread with a move has an operation");
                let result = state.perform(thread, &op);
                self.go_on(thread, &op, result);
                let mut names = lock(&self.shared.names);
                let buffers = state.thread(thread).map_or(0, |it| it.buffers.len());
                (0..buffers).for_each(|at| {
                    names.thread(ThreadName::Buffer(thread, at));
                });
                is_pending = matches!(op.kind, Kind::Store { .. })
                    && state.pending(thread) > self.state().pending(thread);
                Action::Op(op, result)
            }
        };
        if lock(&self.shared.names).threads().len() > self.shared.capacity {
            self.shared.overflow.store(true, Ordering::Relaxed);
        }
        self.states.push(state);
        self.records.push(Record { thread, action, is_pending, is_unconditional });
    }

    /// Lets a thread go on after an operation.
    fn go_on(&mut self, thread: usize, op: &Op, result: u64) {
        let run = self.run.as_ref().expect("the closure runs");
        if matches!(op.kind, Kind::Finish) {
            run.finish(thread);
            return;
        }
        if let Kind::Spawn(child) = op.kind {
            self.next.insert(child, begin(op.at));
        }
        match run.resume(thread, result) {
            Ok(next) => {
                self.next.insert(thread, next);
            }
            Err(message) => self.failure = Some(FailureKind::Panic(message)),
        }
    }

    /// Returns whether a thread waits in a spin loop that would give up.
    fn waits_in_loop_that_gives_up(&self) -> bool {
        self.next.iter().any(|(thread, op)| {
            matches!(op.kind, Kind::SpinHint) && self.shared.spin_loops.gives_up(*thread, op.at)
        })
    }

    /// Records a failure and ends the exploration.
    fn report(&mut self, kind: FailureKind) -> ControlFlow<()> {
        let waiting = self.next.iter().filter(|(thread, _)| {
            self.state().thread(**thread).is_some_and(|it| it.status == Status::Spawned)
        });
        let waiting = waiting.map(|(thread, op)| (*thread, *op)).collect();
        let names = lock(&self.shared.names);
        let trace = Trace::new(self.shared.model, &self.records, waiting, &names);
        drop(names);
        self.findings.push(Failure { kind, trace });
        ControlFlow::Break(())
    }
}

fn begin(at: Site) -> Op {
    Op { kind: Kind::Begin, at }
}

impl System for ClosureSystem<'_> {
    type Findings = Vec<Failure>;

    fn threads(&self) -> usize {
        self.shared.capacity
    }

    fn has_halted(&mut self, thread: usize) -> bool {
        self.name(thread).is_none_or(|name| self.state().has_halted(&name, thread))
    }

    fn step(&mut self, mv: &Move) -> MoveResult {
        let op = self.next.get(&mv.thread).copied();
        let evaluated = self.evaluate(self.state(), mv.thread, op.as_ref());
        self.footprint = evaluated.footprint;
        if !evaluated.enabled {
            return match op {
                Some(Op { kind: Kind::SpinHint, at }) => {
                    self.examine_spin_loop(mv.thread, at);
                    MoveResult::Spinning
                }
                Some(_) | None => MoveResult::Blocked,
            };
        }
        if self.run.is_none() {
            self.restart();
        }
        if self.failure.is_none() {
            self.execute(mv.thread, evaluated.is_unconditional);
        }
        MoveResult::Taken
    }

    fn footprint(&self) -> &[CellAccess] {
        &self.footprint
    }

    fn truncate(&mut self, events: usize) {
        self.failure = None;
        if events >= self.records.len() {
            return;
        }
        self.run = None;
        for record in self.records.drain(events..).rev() {
            if let Action::Op(op, _) = record.action {
                self.next.insert(record.thread, op);
                if let Kind::Spawn(child) = op.kind {
                    self.next.remove(&child);
                }
            }
        }
        self.states.truncate(events + 1);
    }

    fn attempts(&mut self, events: usize, moves: &[&Move], thread: usize) -> Vec<Attempt> {
        let mut state = self.states[events].clone();
        let mut of_thread: BTreeMap<usize, Vec<Option<Op>>> = BTreeMap::new();
        let mut done: BTreeMap<usize, usize> = BTreeMap::new();
        for (at, record) in self.records.iter().enumerate() {
            let op = match &record.action {
                Action::Op(op, _) => Some(*op),
                Action::Commit(_) => None,
            };
            of_thread.entry(record.thread).or_default().push(op);
            *done.entry(record.thread).or_default() += usize::from(at < events);
        }
        let op_of = |thread: usize, number: usize| {
            let ops = of_thread.get(&thread).map_or(&[][..], Vec::as_slice);
            match ops.get(number) {
                Some(op) => *op,
                None => self.next.get(&thread).copied(),
            }
        };
        for mv in moves {
            let number = done.entry(mv.thread).or_default();
            match self.name(mv.thread) {
                Some(ThreadName::Buffer(owner, buffer)) => state.commit(owner, buffer),
                Some(ThreadName::Program(_)) | None => {
                    let op = op_of(mv.thread, *number).expect("the thread has taken this move");
                    state.perform(mv.thread, &op);
                }
            }
            *number += 1;
        }
        let op = op_of(thread, done.get(&thread).copied().unwrap_or(0));
        let Evaluated { enabled, footprint, is_unconditional: _ } =
            self.evaluate(&state, thread, op.as_ref());
        vec![Attempt { mv: Move::of(thread), enabled, footprint }]
    }

    fn is_unconditional(&self, _execution: &Execution, event: usize) -> bool {
        self.records.get(event).is_some_and(|record| record.is_unconditional)
    }

    fn has_failed(&mut self, _execution: &Execution) -> bool {
        self.failure.is_some()
    }

    fn observe(&mut self, _execution: &Execution) -> ControlFlow<()> {
        match self.failure.take() {
            Some(kind) => {
                self.shared.executions.fetch_add(1, Ordering::Relaxed);
                self.report(kind)
            }
            None => ControlFlow::Continue(()),
        }
    }

    fn observe_end(&mut self, _execution: &Execution, end: End) -> ControlFlow<()> {
        if self.shared.overflow.load(Ordering::Relaxed) {
            return ControlFlow::Continue(());
        }
        if let Some(kind) = self.failure.take() {
            return self.report(kind);
        }
        if end != End::Redundant {
            self.shared.executions.fetch_add(1, Ordering::Relaxed);
        }
        match end {
            End::Stuck { .. } if self.waits_in_loop_that_gives_up() => ControlFlow::Continue(()),
            End::Stuck { spinning: true } => self.report(FailureKind::Hang),
            End::Stuck { spinning: false } => self.report(FailureKind::Deadlock),
            End::Cut if self.shared.stops_at_cut => ControlFlow::Break(()),
            End::Complete | End::Redundant | End::Cut | End::Failed => ControlFlow::Continue(()),
        }
    }

    fn into_findings(self) -> Vec<Failure> {
        self.findings
    }
}

/// The replay of one execution.
impl ClosureSystem<'_> {
    /// Returns a failure at this point.
    pub(crate) fn fail(&mut self, kind: FailureKind) -> Failure {
        let _ = self.report(kind);
        self.findings.pop().expect("the failure was reported")
    }

    /// Returns the failure of the last event, if it has failed.
    pub(crate) fn take_failure(&mut self) -> Option<Failure> {
        self.failure.take().map(|kind| self.fail(kind))
    }

    /// Returns the failure of an execution that ends here, if no thread can go on.
    pub(crate) fn end_of_replay(&mut self) -> Option<Failure> {
        let threads = lock(&self.shared.names).threads().len();
        let (mut waits, mut spins) = (false, false);
        for thread in 0..threads {
            if self.has_halted(thread) {
                continue;
            }
            let op = self.next.get(&thread).copied();
            if self.evaluate(self.state(), thread, op.as_ref()).enabled {
                return None;
            }
            waits = true;
            spins |= op.is_some_and(|op| matches!(op.kind, Kind::SpinHint));
        }
        match (waits, spins) {
            (false, _) => None,
            (true, true) => Some(self.fail(FailureKind::Hang)),
            (true, false) => Some(self.fail(FailureKind::Deadlock)),
        }
    }
}
