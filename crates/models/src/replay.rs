//! Replay of a trace: for each step its events, the pending accesses and memory after it; for each
//! event the store that it reads from and the accesses that it overtakes.
//!
//! Every violation is replayed before it is reported. A trace that the machine cannot follow is a
//! [`Divergence`].

use crate::catalog::{ModelSpec, Visitor};
use crate::event::{Event, EventKind, Source};
use crate::machine::choice::Choices;
use crate::machine::hang::Wait;
use crate::machine::{Machine, Reductions, Step, StepResult};
use crate::model::MemoryModel;
use crate::shape::Shape;
use crate::state::State;
use fencepost_ir::{
    Condition, Fault, Label, Loc, Observable, Op, Pc, Problem, ThreadId, Value, Violation,
};
use fencepost_search::WorkLimits;

/// The steps of one run, after the choices made in `init`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// The alternatives that `choose` takes in `init`.
    pub init: Vec<u32>,
    /// The steps.
    pub steps: Vec<Step>,
    /// The bound on pending accesses with which the trace was found, if the bound determines how
    /// far a step goes.
    pub bound: Option<u32>,
}

impl Trace {
    /// Returns a bound for the replay: the bound of the trace, or a bound that no run reaches.
    pub fn replay_bound(&self) -> u32 {
        self.bound.unwrap_or(1 << 20)
    }
}

/// An access that is issued but has not taken effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PendingAccess {
    /// The statement.
    pub label: Label,
    /// Whether the access may write memory.
    pub stores: bool,
    /// The location, if known.
    pub loc: Option<Loc>,
    /// The value that the access stores, if known.
    pub value: Option<Value>,
}

/// The store that wrote a value: its thread and statement. `None` for the initial value.
pub type Origin = Option<(ThreadId, Label)>;

/// An event, annotated with its relation to earlier events of the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AnnotatedEvent {
    /// The event. Its label is known.
    pub event: Event,
    /// For a load or update: the store that it reads from. `None` for an update whose read is an
    /// earlier event.
    pub reads_from: Option<Origin>,
    /// The earlier accesses of the same thread that the event overtakes, oldest first.
    pub overtaken: Vec<Label>,
    /// For a load from memory or an update: the pending stores of *other* threads to the location.
    pub unseen_stores: Vec<(ThreadId, PendingAccess)>,
}

/// One step of a replayed run, with the state after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplayedStep {
    /// The step.
    pub step: Step,
    /// The events of the step.
    pub events: Vec<AnnotatedEvent>,
    /// Memory after the step.
    pub memory: Vec<Value>,
    /// By thread: the pending accesses after the step, oldest first.
    pub pending: Vec<Vec<PendingAccess>>,
    /// By thread: whether it is in a critical section after the step.
    pub critical: Vec<bool>,
}

/// The state before the first step.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FirstState {
    /// Memory before the first step.
    pub memory: Vec<Value>,
    /// The events before the first step: local statements and fetches.
    pub events: Vec<AnnotatedEvent>,
    /// By thread: its pending accesses (table-driven models fetch eagerly).
    pub pending: Vec<Vec<PendingAccess>>,
    /// By thread: whether it is in a critical section.
    pub critical: Vec<bool>,
}

/// The state after the last step.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LastState {
    /// The program counter of each thread.
    pub pcs: Vec<Pc>,
    /// The registers of each thread.
    pub registers: Vec<Vec<Value>>,
    /// The control point of each thread, if an invariant mentions it.
    pub control_points: Vec<Option<Label>>,
    /// By thread: how it waits, if the state is a hang and the thread has not finished.
    pub waits: Vec<Option<Wait>>,
}

/// A replayed run: a trace with annotated events and intermediate states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplayedRun {
    /// The replayed trace.
    pub trace: Trace,
    /// The state before the first step.
    pub first: FirstState,
    /// The state after the last step. Empty if the last step fails.
    pub last: LastState,
    /// The replayed steps.
    pub steps: Vec<ReplayedStep>,
    /// If threads hold locations at the end of a violating run: what happens until they do not. It
    /// shows that the program reaches the end of the run.
    pub completion: Vec<AnnotatedEvent>,
    /// The violation at the end of the run: the last step fails, or the last state violates a
    /// property. A replay does not find livelocks; who finds one sets it.
    pub violation: Option<Violation>,
    /// Whether the last state is final.
    pub is_final: bool,
    /// The observed values in the last state.
    pub outcome: Vec<Value>,
}

impl ReplayedRun {
    /// Returns memory at the end.
    pub fn memory(&self) -> &[Value] {
        self.steps.last().map_or(&self.first.memory, |step| &step.memory)
    }

    /// Returns the number of the first step of the cycle, if the run is a livelock.
    pub fn cycle_start(&self) -> Option<usize> {
        let Some(Violation::Livelock { cycle_start, .. }) = self.violation else { return None };
        Some(cycle_start)
    }

    /// Returns the value of an observable at the end. `None` for a register or a control point if the
    /// last step fails.
    pub fn value(&self, what: Observable) -> Option<Value> {
        match what {
            Observable::Loc(loc) => self.memory().get(loc.index()).copied(),
            Observable::Reg(t, reg) => {
                self.last.registers.get(t.index())?.get(reg.index()).copied()
            }
            Observable::At(t, label) => {
                let control_point = self.last.control_points.get(t.index())?;
                Some(Value::from(*control_point == Some(label)))
            }
        }
    }

    /// Returns whether the last state is final and satisfies a condition. A condition that faults
    /// does not hold.
    pub fn satisfies(&self, condition: &Condition) -> bool {
        let value = condition.expr.eval(&|what| self.value(*what).unwrap_or(0));
        self.is_final && value.is_ok_and(|value| value != 0)
    }
}

/// A trace that the machine cannot follow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// The index of the step that the machine cannot take. `None` if `init` fails.
    pub step: Option<usize>,
    /// The reason.
    pub reason: String,
}

impl ModelSpec {
    /// Replays a trace of a program under this model. The reductions must be those with which the
    /// trace was found, because they determine how many statements one step executes. Partial-order
    /// reduction makes no difference.
    pub fn replay(
        &self,
        problem: &Problem,
        reductions: Reductions,
        trace: &Trace,
    ) -> Result<ReplayedRun, Divergence> {
        struct Replay<'a>(&'a Problem, Reductions, &'a Trace);
        impl Visitor for Replay<'_> {
            type Output = Result<ReplayedRun, Divergence>;

            fn visit<M: MemoryModel>(self, model: M) -> Self::Output {
                replay(&Machine::new(self.0, model, self.1), self.2)
            }
        }
        self.visit(trace.replay_bound(), Replay(problem, reductions, trace))
    }
}

/// Replays a trace. The machine's bound must be large enough.
pub fn replay<M: MemoryModel>(
    machine: &Machine<'_, M>,
    trace: &Trace,
) -> Result<ReplayedRun, Divergence> {
    replay_abstract(machine, trace, &[])
}

/// The number of events that a replay keeps of a block that runs too long. The rest repeats.
const MAX_ENDLESS_EVENTS: usize = 200;

/// Replays a trace of an abstract model. Before each step, the state is replaced by the given
/// packed state, which covers the successor of the previous step.
pub fn replay_abstract<M: MemoryModel>(
    machine: &Machine<'_, M>,
    trace: &Trace,
    states: &[Vec<u8>],
) -> Result<ReplayedRun, Divergence> {
    let mut state = machine.blank();
    let mut events: Vec<Event> = Vec::new();
    let mut choices = Choices::scripted(&trace.init);
    let started = machine.start(&mut state, &mut choices, &mut events);
    let mut annotator = Annotator::new(machine);
    let mut run = ReplayedRun {
        trace: trace.clone(),
        first: FirstState { memory: state.memory.values.clone(), ..FirstState::default() },
        last: LastState::default(),
        steps: Vec::new(),
        completion: Vec::new(),
        violation: None,
        is_final: false,
        outcome: Vec::new(),
    };
    let diverge = |step, reason: &str| Err(Divergence { step, reason: reason.into() });
    match started {
        Ok(true) => {}
        Ok(false) => return diverge(None, "the `init` block is blocked"),
        Err((thread, failure)) if trace.steps.is_empty() => {
            run.violation = Some(failure.violation(machine.shape.program(), thread));
            return Ok(run);
        }
        Err(_) => {
            return diverge(None, "a fault or a failed assertion occurs before the first step");
        }
    }
    run.first.events =
        events.drain(..).map(|event| annotator.annotate(&machine.shape, event)).collect();
    run.first.pending.clone_from(&annotator.pending);
    run.first.critical = critical(machine, &state);
    for (at, step) in trace.steps.iter().enumerate() {
        if step.thread.index() >= machine.shape.threads.len() {
            return diverge(Some(at), "the program has no such thread");
        }
        if let Some(packed) = states.get(at) {
            machine.unpack(packed, &mut state);
        }
        let is_last = at + 1 == trace.steps.len();
        let taken = machine.take_step(&mut state, step, &mut events);
        let step_failure = match taken {
            Ok(StepResult::Taken) => None,
            Ok(StepResult::Blocked) => return diverge(Some(at), "this step is not enabled"),
            Ok(StepResult::BoundReached) => {
                return diverge(Some(at), "the bound on pending accesses forbids this step");
            }
            Err(failure) => Some(failure),
        };
        if step_failure.is_some_and(|failure| failure.fault == Some(Fault::BlockTooLong)) {
            events.truncate(MAX_ENDLESS_EVENTS);
        }
        let events: Vec<AnnotatedEvent> =
            events.drain(..).map(|event| annotator.annotate(&machine.shape, event)).collect();
        if machine.model.has_no_pending_access(&state.pending, step.thread) {
            // An abstraction does not count pending stores, so the annotator may have too many.
            annotator.pending[step.thread.index()].clear();
            annotator.has_read[step.thread.index()].clear();
        }
        run.steps.push(ReplayedStep {
            step: step.clone(),
            events,
            memory: state.memory.values.clone(),
            pending: annotator.pending.clone(),
            critical: critical(machine, &state),
        });
        if let Some(mut failure) = step_failure {
            if !is_last {
                return diverge(Some(at), "this step fails before the end of the trace");
            }
            run.completion = completion(machine, state, Some(step.thread), annotator);
            let last_label = run.steps.last().and_then(|step| step.events.last()?.event.label);
            failure.label = failure.label.or(last_label);
            run.violation = Some(failure.violation(machine.shape.program(), Some(step.thread)));
            return Ok(run);
        }
    }
    run.violation = violation_at(machine, &state);
    if run.violation.is_some() {
        run.completion = completion(machine, state.clone(), None, annotator);
    }
    let is_hang = run.violation == Some(Violation::Hang);
    let threads = machine.shape.program().thread_ids();
    run.last = LastState {
        registers: registers(machine, &state),
        pcs: state.pcs.clone(),
        control_points: threads.map(|t| machine.control_point(&state, t)).collect(),
        waits: if is_hang { machine.waits(&state) } else { Vec::new() },
    };
    run.is_final = machine.is_final(&state);
    let observed = &machine.shape.problem.observed;
    run.outcome = observed.iter().map(|what| machine.observe(&state, *what)).collect();
    Ok(run)
}

/// Returns the events that end all holds of locations. Returns none if there is no hold.
fn completion<M: MemoryModel>(
    machine: &Machine<'_, M>,
    state: State<M::Pending>,
    failed: Option<ThreadId>,
    mut annotator: Annotator,
) -> Vec<AnnotatedEvent> {
    let mut events: Vec<Event> = Vec::new();
    machine.complete(state, failed, &mut events);
    events.into_iter().map(|event| annotator.annotate(&machine.shape, event)).collect()
}

/// Returns the property that the last state of a run violates, if any.
pub fn violation_at<M: MemoryModel>(
    machine: &Machine<'_, M>,
    state: &State<M::Pending>,
) -> Option<Violation> {
    // A replay repeats what a search has decided. A cancelled search must not change its result.
    let unlimited = WorkLimits::default();
    machine.state_violation(state).or_else(|| machine.end_violation_within(state, &unlimited))
}

fn critical<M: MemoryModel>(machine: &Machine<'_, M>, state: &State<M::Pending>) -> Vec<bool> {
    machine.shape.program().thread_ids().map(|t| machine.is_critical(state, t)).collect()
}

fn registers<M: MemoryModel>(
    machine: &Machine<'_, M>,
    state: &State<M::Pending>,
) -> Vec<Vec<Value>> {
    let of = |thread: &crate::shape::ThreadShape| {
        let registers = thread.registers..thread.registers + thread.register_fields.len();
        state.registers[registers].to_vec()
    };
    machine.shape.threads.iter().map(of).collect()
}

/// The information that is collected while a run is annotated.
#[derive(Clone)]
struct Annotator {
    pending: Vec<Vec<PendingAccess>>,
    /// By pending access: whether it is an update whose read has an event of its own.
    has_read: Vec<Vec<bool>>,
    /// By location: the store that wrote its value.
    writers: Vec<Origin>,
}

impl Annotator {
    fn new<M: MemoryModel>(machine: &Machine<'_, M>) -> Self {
        Annotator {
            pending: vec![Vec::new(); machine.shape.threads.len()],
            has_read: vec![Vec::new(); machine.shape.threads.len()],
            writers: vec![None; machine.shape.program().locations.len()],
        }
    }

    fn annotate(&mut self, shape: &Shape<'_>, mut event: Event) -> AnnotatedEvent {
        let t = event.thread.index();
        let mut reads_from = None;
        let mut overtaken = Vec::new();
        let mut unseen_stores = Vec::new();
        match event.kind {
            EventKind::Fetch { stores, loc, value } => {
                let label = event.label.expect("only commits have no label");
                self.push_pending(t, PendingAccess { label, stores, loc, value });
            }
            EventKind::Store { loc, value } => {
                let label = event.label.expect("only commits have no label");
                let (loc, value) = (Some(loc), Some(value));
                self.push_pending(t, PendingAccess { label, stores: true, loc, value });
            }
            EventKind::Load { loc, source, .. } => {
                let at = self.window_position(&event);
                let before = at.unwrap_or(self.pending[t].len());
                let forwarded = matches!(source, Source::Forwarded { .. });
                let store =
                    self.pending[t][..before].iter().rev().find(|p| p.stores && p.loc == Some(loc));
                reads_from = Some(match store {
                    Some(store) if forwarded => Some((event.thread, store.label)),
                    _ => self.writers[loc.index()],
                });
                overtaken = self.pending[t][..before].iter().map(|p| p.label).collect();
                if !forwarded {
                    unseen_stores = self.pending_stores_of_others(t, loc);
                }
                // An update that only reads here writes later.
                let is_update = event.pc.is_some_and(|pc| {
                    matches!(shape.stmt(event.thread, pc).op, fencepost_ir::Op::Update { .. })
                });
                match at {
                    Some(at) if is_update => self.has_read[t][at] = true,
                    Some(_) | None => self.remove_pending(t, at),
                }
            }
            EventKind::Write { loc, .. } => self.set_writer(event.thread, event.label, loc),
            EventKind::Commit { loc, value } | EventKind::CommitAndKeep { loc, value } => {
                let at =
                    self.window_position(&event).or_else(|| self.committed_position(t, loc, value));
                if let Some(at) = at {
                    event.label = Some(self.pending[t][at].label);
                    overtaken = self.pending[t][..at].iter().map(|p| p.label).collect();
                }
                if let EventKind::Commit { .. } = event.kind {
                    self.remove_pending(t, at);
                }
                self.set_writer(event.thread, event.label, loc);
            }
            EventKind::Update { loc, new, .. } => {
                let at = self.window_position(&event);
                let before = at.unwrap_or(self.pending[t].len());
                overtaken = self.pending[t][..before].iter().map(|p| p.label).collect();
                let has_read = at.is_some_and(|at| self.has_read[t][at]);
                reads_from = (!has_read).then_some(self.writers[loc.index()]);
                unseen_stores = self.pending_stores_of_others(t, loc);
                self.remove_pending(t, at);
                if new.is_some() {
                    self.set_writer(event.thread, event.label, loc);
                }
            }
            EventKind::Repeat { .. } => {
                let at = self.window_position(&event);
                self.remove_pending(t, at);
            }
            EventKind::New(reference) => self.clear_writers(shape, event, reference),
            EventKind::Fence(_)
            | EventKind::Drain(_)
            | EventKind::Set { .. }
            | EventKind::Test(_)
            | EventKind::Guess(_)
            | EventKind::Free(_)
            | EventKind::Leave
            | EventKind::SectionBegin
            | EventKind::SectionEnd
            | EventKind::GracePeriod { .. }
            | EventKind::AtomicBegin
            | EventKind::AtomicEnd
            | EventKind::Defer
            | EventKind::Confirm
            | EventKind::Skip => {}
        }
        AnnotatedEvent { event, reads_from, overtaken, unseen_stores }
    }

    /// Returns the position of the pending access that an event performs from a window.
    fn window_position(&self, event: &Event) -> Option<usize> {
        let at = event.earlier_pending? as usize;
        let pending = &self.pending[event.thread.index()];
        debug_assert_eq!(
            pending.get(at).map(|p| p.label),
            event.label,
            "a performed access is pending"
        );
        Some(at)
    }

    /// Returns the position of the pending store that a commit writes: the oldest store to its
    /// location with its value. In the exact models this is the oldest store to the location.
    fn committed_position(&self, t: usize, loc: Loc, value: Value) -> Option<usize> {
        let (loc, value) = (Some(loc), Some(value));
        self.pending[t].iter().position(|p| p.loc == loc && p.value == value)
    }

    fn push_pending(&mut self, t: usize, access: PendingAccess) {
        self.pending[t].push(access);
        self.has_read[t].push(false);
    }

    fn remove_pending(&mut self, t: usize, at: Option<usize>) {
        if let Some(at) = at {
            self.pending[t].remove(at);
            self.has_read[t].remove(at);
        }
    }

    /// Clears the writers of a new record's fields: they hold initial values.
    fn clear_writers(&mut self, shape: &Shape<'_>, event: Event, reference: Value) {
        let op = event.pc.map(|pc| &shape.stmt(event.thread, pc).op);
        if let Some(Op::New { pool, .. }) = op {
            let cell = shape.cell_index(*pool, reference) as u32;
            for (writer, owner) in self.writers.iter_mut().zip(&shape.cell) {
                if *owner == Some(cell) {
                    *writer = None;
                }
            }
        }
    }

    /// Records the store that wrote the value of a location.
    fn set_writer(&mut self, thread: ThreadId, label: Option<Label>, loc: Loc) {
        self.writers[loc.index()] = label.map(|label| (thread, label));
    }

    /// Returns the pending stores of other threads to a location.
    fn pending_stores_of_others(&self, t: usize, loc: Loc) -> Vec<(ThreadId, PendingAccess)> {
        let others = self.pending.iter().enumerate().filter(|(other, _)| *other != t);
        others
            .flat_map(|(other, list)| list.iter().map(move |p| (ThreadId::from_index(other), *p)))
            .filter(|(_, p)| p.stores && p.loc == Some(loc))
            .collect()
    }
}
