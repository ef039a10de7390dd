//! The SC machine as a system to explore for data races.
//!
//! It adds to the [system](MachineSystem) of the stateless engine the events of the current
//! execution. The detector runs at the end of each execution, so it also sees all prefixes. At the
//! end of an execution, a thread may be in an iteration of a spin loop that fails. Its accesses
//! count, too.

use super::Found;
use super::detector::Detector;
use crate::stateless::system::MachineSystem;
use fencepost_explore::{
    Attempt, CellAccess, End, Execution, Findings, Move, MoveResult, System, moves_of,
};
use fencepost_ir::ThreadId;
use fencepost_models::event::Event;
use fencepost_models::replay::Trace;
use fencepost_models::{Action, Step};
use fencepost_search::Cancel;
use std::ops::ControlFlow;

/// The first race of an exploration.
#[derive(Clone, Debug, Default)]
pub(super) struct FirstRace(pub(super) Option<Found>);

impl Findings for FirstRace {
    fn merge(&mut self, later: Self) {
        self.0 = self.0.take().or(later.0);
    }
}

/// The threads of a program, and the events of the current execution.
pub(super) struct RaceSystem<'m, 'p> {
    inner: MachineSystem<'m, 'p>,
    cancel: &'m Cancel,
    events: Vec<Event>,
    /// For each move of the execution, the number of events before it.
    starts: Vec<usize>,
    found: FirstRace,
}

impl<'m, 'p> RaceSystem<'m, 'p> {
    pub(super) fn new(inner: MachineSystem<'m, 'p>, cancel: &'m Cancel) -> Self {
        let found = FirstRace::default();
        RaceSystem { inner, cancel, events: Vec::new(), starts: Vec::new(), found }
    }

    /// Returns the events of the last step.
    fn last_events(&self, thread: usize) -> impl Iterator<Item = Event> + use<'_> {
        let thread = ThreadId::from_index(thread);
        let events = self.inner.path.footprint().events.iter();
        events.map(move |(kind, pc)| Event {
            thread,
            label: None,
            pc: *pc,
            earlier_pending: None,
            kind: *kind,
        })
    }

    fn trace(&self, execution: &Execution, moves: usize) -> Trace {
        let mut steps = self.inner.path.steps(execution);
        let taken: u32 = self.inner.path.events[..moves].iter().map(|event| event.steps).sum();
        steps.truncate(self.inner.path.initial_steps.len() + taken as usize);
        Trace { init: self.inner.path.init.clone(), steps, bound: None }
    }

    /// Looks for a race of the execution.
    fn check(&mut self, execution: &Execution) {
        let program = self.inner.path.machine.shape.program();
        let mut detector = Detector::new(program);
        for at in 0..self.starts.len() {
            let end = self.starts.get(at + 1).copied().unwrap_or(self.events.len());
            self.events[self.starts[at]..end].iter().for_each(|event| detector.add(event));
            detector.end_block();
            if let Some(race) = detector.race() {
                let trace = self.trace(execution, at + 1);
                self.found = FirstRace(Some(Found { race, trace }));
                return;
            }
        }
        self.check_failed_iterations(execution, &detector);
    }

    /// Looks for a race of a failed iteration of a spin loop at the end of an execution.
    fn check_failed_iterations(&mut self, execution: &Execution, detector: &Detector<'_>) {
        for t in 0..self.threads() {
            if self.inner.has_halted(t) || self.inner.path.is_looping(t) {
                continue;
            }
            for mv in moves_of(t, self.inner.alternatives(t)) {
                if self.inner.step(&mv) != MoveResult::Spinning {
                    self.inner.truncate(execution.len());
                    continue;
                }
                let mut detector = detector.clone();
                self.last_events(t).for_each(|event| detector.add(&event));
                if let Some(race) = detector.race() {
                    let mut trace = self.trace(execution, execution.len());
                    let thread = ThreadId::from_index(t);
                    trace.steps.push(Step { thread, action: Action::Run(mv.choices) });
                    self.found = FirstRace(Some(Found { race, trace }));
                    return;
                }
            }
        }
    }
}

impl System for RaceSystem<'_, '_> {
    type Findings = FirstRace;

    fn threads(&self) -> usize {
        self.inner.threads()
    }

    fn has_halted(&mut self, thread: usize) -> bool {
        self.inner.has_halted(thread)
    }

    fn alternatives(&mut self, thread: usize) -> Vec<Move> {
        self.inner.alternatives(thread)
    }

    fn step(&mut self, mv: &Move) -> MoveResult {
        let result = self.inner.step(mv);
        if result == MoveResult::Taken {
            self.starts.push(self.events.len());
            let events: Vec<Event> = self.last_events(mv.thread).collect();
            self.events.extend(events);
        }
        result
    }

    fn footprint(&self) -> &[CellAccess] {
        self.inner.footprint()
    }

    fn truncate(&mut self, events: usize) {
        self.inner.truncate(events);
        if let Some(start) = self.starts.get(events) {
            self.events.truncate(*start);
            self.starts.truncate(events);
        }
    }

    fn attempts(&mut self, events: usize, moves: &[&Move], thread: usize) -> Vec<Attempt> {
        self.inner.attempts(events, moves, thread)
    }

    fn is_unconditional(&self, execution: &Execution, event: usize) -> bool {
        self.inner.is_unconditional(execution, event)
    }

    fn has_failed(&mut self, execution: &Execution) -> bool {
        self.inner.has_failed(execution)
    }

    fn observe_end(&mut self, execution: &Execution, _end: End) -> ControlFlow<()> {
        // After a cancellation, the last step may be incomplete.
        if self.cancel.reason().is_none() {
            self.check(execution);
        }
        match self.found.0 {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }

    fn into_findings(self) -> FirstRace {
        self.found
    }
}
