//! A run told step by step: who did what, what was pending, what memory held, where each value came
//! from and what each access went ahead of.
//!
//! Every violation is replayed here before it is reported; a trace that the machine does not follow
//! is a [`Divergence`].

use crate::catalog::{ModelSpec, Visitor};
use crate::event::{Event, EventKind};
use crate::machine::choice::Choices;
use crate::machine::{Machine, Reductions, Step, Taken};
use crate::model::MemoryModel;
use crate::shape::Shape;
use crate::state::State;
use fencepost_ir::{
    Condition, Label, Loc, Observable, Op, Pc, Problem, ThreadId, Value, Violation,
};

/// A run: the choices made in `init`, then the steps.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// Alternatives taken by `choose` in `init`.
    pub init: Vec<u32>,
    /// The steps.
    pub steps: Vec<Step>,
    /// The bound on pending accesses it was found with, where that decides how far a step goes.
    pub bound: Option<u32>,
}

impl Trace {
    /// A bound to replay it with: its own, or one that is not in the way.
    pub fn room(&self) -> u32 {
        self.bound.unwrap_or(1 << 20)
    }
}

/// An access that was issued and has not taken effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pending {
    /// Its statement.
    pub label: Label,
    /// Whether it may write memory.
    pub stores: bool,
    /// Its location, where known.
    pub loc: Option<Loc>,
    /// The value it stores, where known.
    pub value: Option<Value>,
}

/// Who wrote a value; none is the initial value.
pub type Origin = Option<(ThreadId, Label)>;

/// An event with what can be said about it from the run so far.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told {
    /// The event; its label is known.
    pub event: Event,
    /// For a load or update: who wrote the value it read.
    pub origin: Option<Origin>,
    /// The thread's own earlier accesses that it went ahead of, oldest first.
    pub overtaken: Vec<Label>,
    /// For a load from memory: stores of *other* threads to the location that were pending then.
    pub missed: Vec<(ThreadId, Pending)>,
}

/// What one step did, and how things stood after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moment {
    /// The step.
    pub step: Step,
    /// Its events.
    pub events: Vec<Told>,
    /// Memory after it.
    pub memory: Vec<Value>,
    /// By thread: what is pending after it, oldest first.
    pub pending: Vec<Vec<Pending>>,
    /// By thread: whether it is in a critical section after it.
    pub critical: Vec<bool>,
}

/// The threads at the beginning of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FirstState {
    /// Memory.
    pub memory: Vec<Value>,
    /// What the threads computed and fetched before the first step.
    pub events: Vec<Told>,
    /// By thread: what it has pending (table-driven models fetch at once).
    pub pending: Vec<Vec<Pending>>,
    /// By thread: whether it is in a critical section.
    pub critical: Vec<bool>,
}

/// The threads at the end of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LastState {
    /// By thread: where it is.
    pub pcs: Vec<Pc>,
    /// By thread: its registers.
    pub registers: Vec<Vec<Value>>,
}

/// A run, told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// The trace it replays.
    pub trace: Trace,
    /// How things stood before the first step.
    pub first: FirstState,
    /// How they stood after the last. Means nothing when the last step stumbled.
    pub last: LastState,
    /// The steps.
    pub moments: Vec<Moment>,
    /// What is wrong at its end: the last step fails, or the last state breaks a property.
    pub violation: Option<Violation>,
    /// Whether the last state is final.
    pub is_final: bool,
    /// The observed values of the last state.
    pub outcome: Vec<Value>,
}

impl Run {
    /// Memory at the end.
    pub fn memory(&self) -> &[Value] {
        self.moments.last().map_or(&self.first.memory, |moment| &moment.memory)
    }

    /// The value of an observable at the end; none when the last step failed and a register is asked for.
    pub fn value(&self, what: Observable) -> Option<Value> {
        match what {
            Observable::Loc(loc) => self.memory().get(loc.index()).copied(),
            Observable::Reg(t, reg) => {
                self.last.registers.get(t.index())?.get(reg.index()).copied()
            }
        }
    }

    /// Whether the last state is final and satisfies a condition. A condition that faults does not hold.
    pub fn satisfies(&self, condition: &Condition) -> bool {
        let value = condition.expr.eval(&|what| self.value(*what).unwrap_or(0));
        self.is_final && value.is_ok_and(|value| value != 0)
    }
}

/// A trace that the machine cannot follow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// The step it cannot take, from 0; none when `init` does not run.
    pub step: Option<usize>,
    /// Why.
    pub reason: String,
}

impl ModelSpec {
    /// Replays a trace of a program under this model. The reductions must be those that the trace was found
    /// with, since they decide how many statements one step is; partial-order reduction makes no difference.
    pub fn replay(
        &self,
        problem: &Problem,
        reductions: Reductions,
        trace: &Trace,
    ) -> Result<Run, Divergence> {
        struct Replay<'a>(&'a Problem, Reductions, &'a Trace);
        impl Visitor for Replay<'_> {
            type Output = Result<Run, Divergence>;

            fn visit<M: MemoryModel>(self, model: M) -> Self::Output {
                replay(&Machine::new(self.0, model, self.1), self.2)
            }
        }
        self.visit(trace.room(), Replay(problem, reductions, trace))
    }
}

/// Runs a trace and tells it. The machine's bound must not be in the way.
pub fn replay<M: MemoryModel>(machine: &Machine<'_, M>, trace: &Trace) -> Result<Run, Divergence> {
    replay_along(machine, trace, &[])
}

/// The same for a run of an abstract model, where each step begins at a state that stands for the one
/// that the step before it led to: these, packed.
pub fn replay_along<M: MemoryModel>(
    machine: &Machine<'_, M>,
    trace: &Trace,
    states: &[Vec<u8>],
) -> Result<Run, Divergence> {
    let mut state = machine.blank();
    let mut events: Vec<Event> = Vec::new();
    let mut choices = Choices::scripted(&trace.init);
    let started = machine.start(&mut state, &mut choices, &mut events);
    let mut told = Telling::new(machine);
    let mut run = Run {
        trace: trace.clone(),
        first: FirstState { memory: state.memory.values.clone(), ..FirstState::default() },
        last: LastState::default(),
        moments: Vec::new(),
        violation: None,
        is_final: false,
        outcome: Vec::new(),
    };
    let diverge = |step, reason: &str| Err(Divergence { step, reason: reason.into() });
    match started {
        Ok(true) => {}
        Ok(false) => return diverge(None, "the init block cannot run to its end"),
        Err((thread, stumble)) if trace.steps.is_empty() => {
            run.violation = Some(stumble.violation(thread));
            return Ok(run);
        }
        Err(_) => return diverge(None, "something goes wrong before the first step"),
    }
    run.first.events = events.drain(..).map(|event| told.tell(&machine.shape, event)).collect();
    run.first.pending.clone_from(&told.pending);
    run.first.critical = critical(machine, &state);
    for (at, step) in trace.steps.iter().enumerate() {
        if step.thread.index() >= machine.shape.threads.len() {
            return diverge(Some(at), "there is no such thread");
        }
        if let Some(packed) = states.get(at) {
            machine.unpack(packed, &mut state);
        }
        let taken = machine.take(&mut state, step, &mut events);
        let stumbled = match taken {
            Ok(Taken::Yes) => None,
            Ok(Taken::Blocked) => return diverge(Some(at), "this step is not possible here"),
            Ok(Taken::Bounded) => return diverge(Some(at), "the buffer bound forbids this step"),
            Err(stumble) => Some(stumble),
        };
        let events: Vec<Told> =
            events.drain(..).map(|event| told.tell(&machine.shape, event)).collect();
        if machine.model.is_idle(&state.pending, step.thread) {
            told.pending[step.thread.index()].clear(); // an abstraction may have lost count
        }
        run.moments.push(Moment {
            step: step.clone(),
            events,
            memory: state.memory.values.clone(),
            pending: told.pending.clone(),
            critical: critical(machine, &state),
        });
        let last = at + 1 == trace.steps.len();
        if let Some(mut stumble) = stumbled {
            if !last {
                return diverge(Some(at), "this step goes wrong before the trace ends");
            }
            let last_label = run.moments.last().and_then(|m| m.events.last()?.event.label);
            stumble.label = stumble.label.or(last_label);
            run.violation = Some(stumble.violation(Some(step.thread)));
            return Ok(run);
        }
    }
    run.violation = violation_at(machine, &state);
    run.last = LastState { registers: registers(machine, &state), pcs: state.pcs.clone() };
    run.is_final = machine.is_final(&state);
    let observed = &machine.shape.problem.observed;
    run.outcome = observed.iter().map(|what| machine.observe(&state, *what)).collect();
    Ok(run)
}

/// What is wrong with the last state of a run.
pub fn violation_at<M: MemoryModel>(
    machine: &Machine<'_, M>,
    state: &State<M::Pending>,
) -> Option<Violation> {
    let has_no_step =
        || machine.steps(state).iter().all(|attempt| attempt.taken == Ok(Taken::Blocked));
    machine.wrong(state).or_else(|| has_no_step().then(|| machine.wrong_at_rest(state)).flatten())
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

/// What is remembered while a run is told.
struct Telling {
    pending: Vec<Vec<Pending>>,
    writers: Vec<Origin>,
}

impl Telling {
    fn new<M: MemoryModel>(machine: &Machine<'_, M>) -> Self {
        Telling {
            pending: vec![Vec::new(); machine.shape.threads.len()],
            writers: vec![None; machine.shape.program().locations.len()],
        }
    }

    fn tell(&mut self, shape: &Shape<'_>, mut event: Event) -> Told {
        let t = event.thread.index();
        let mut origin = None;
        let mut overtaken = Vec::new();
        let mut missed = Vec::new();
        match event.kind {
            EventKind::Fetch { stores, loc, value } => {
                let label = event.label.expect("only commits come without a label");
                self.pending[t].push(Pending { label, stores, loc, value });
            }
            EventKind::Store { loc, value } => {
                let label = event.label.expect("only commits come without a label");
                let (loc, value) = (Some(loc), Some(value));
                self.pending[t].push(Pending { label, stores: true, loc, value });
            }
            EventKind::Load { loc, source, .. } => {
                let at = self.own(&event);
                let before = at.unwrap_or(self.pending[t].len());
                let forwarded = source == crate::event::Source::Forwarded;
                let store =
                    self.pending[t][..before].iter().rev().find(|p| p.stores && p.loc == Some(loc));
                origin = Some(match store {
                    Some(store) if forwarded => Some((event.thread, store.label)),
                    _ => self.writers[loc.index()],
                });
                overtaken = self.pending[t][..before].iter().map(|p| p.label).collect();
                if !forwarded {
                    missed = self.pending_elsewhere(t, loc);
                }
                self.take_off(t, at);
            }
            EventKind::Write { loc, .. } => self.written(event.thread, event.label, loc),
            EventKind::Commit { loc, value } | EventKind::Stay { loc, value } => {
                let at = self.own(&event).or_else(|| self.committed(t, loc, value));
                if let Some(at) = at {
                    event.label = Some(self.pending[t][at].label);
                    overtaken = self.pending[t][..at].iter().map(|p| p.label).collect();
                }
                if let EventKind::Commit { .. } = event.kind {
                    self.take_off(t, at);
                }
                self.written(event.thread, event.label, loc);
            }
            EventKind::Update { loc, new, .. } => {
                let at = self.own(&event);
                let before = at.unwrap_or(self.pending[t].len());
                overtaken = self.pending[t][..before].iter().map(|p| p.label).collect();
                origin = Some(self.writers[loc.index()]);
                missed = self.pending_elsewhere(t, loc);
                self.take_off(t, at);
                if new.is_some() {
                    self.written(event.thread, event.label, loc);
                }
            }
            EventKind::New(reference) => self.renewed(shape, event, reference),
            EventKind::Fence(_)
            | EventKind::Drain(_)
            | EventKind::Set { .. }
            | EventKind::Test(_)
            | EventKind::Free(_)
            | EventKind::Leave
            | EventKind::AtomicBegin
            | EventKind::AtomicEnd
            | EventKind::Defer
            | EventKind::Skip => {}
        }
        Told { event, origin, overtaken, missed }
    }

    /// The pending access of a window that an event performs.
    fn own(&self, event: &Event) -> Option<usize> {
        let at = event.ahead? as usize;
        let pending = &self.pending[event.thread.index()];
        debug_assert_eq!(
            pending.get(at).map(|p| p.label),
            event.label,
            "what is performed is pending"
        );
        Some(at)
    }

    /// The pending store that a commit writes: the oldest to its location that has its value. In
    /// the exact models that is the oldest to its location.
    fn committed(&self, t: usize, loc: Loc, value: Value) -> Option<usize> {
        let (loc, value) = (Some(loc), Some(value));
        self.pending[t].iter().position(|p| p.loc == loc && p.value == value)
    }

    fn take_off(&mut self, t: usize, at: Option<usize>) {
        if let Some(at) = at {
            self.pending[t].remove(at);
        }
    }

    /// The fields of a new record hold their initial values again.
    fn renewed(&mut self, shape: &Shape<'_>, event: Event, reference: Value) {
        let op = event.pc.map(|pc| &shape.stmt(event.thread, pc).op);
        if let Some(Op::New { pool, .. }) = op {
            let cell = shape.cell_index(*pool, reference) as u32;
            for (writer, of) in self.writers.iter_mut().zip(&shape.cell) {
                if *of == Some(cell) {
                    *writer = None;
                }
            }
        }
    }

    fn written(&mut self, thread: ThreadId, label: Option<Label>, loc: Loc) {
        self.writers[loc.index()] = label.map(|label| (thread, label));
    }

    fn pending_elsewhere(&self, t: usize, loc: Loc) -> Vec<(ThreadId, Pending)> {
        let others = self.pending.iter().enumerate().filter(|(other, _)| *other != t);
        others
            .flat_map(|(other, list)| list.iter().map(move |p| (ThreadId::from_index(other), *p)))
            .filter(|(_, p)| p.stores && p.loc == Some(loc))
            .collect()
    }
}
