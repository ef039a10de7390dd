//! The labelled transition system of a program: states, and steps labelled with what prevents them.
//!
//! Source: \[KVY10\] IV-A, \[KVY11\] 5. The machine takes the steps. A [`Prevention`] computes
//! their labels. A label is a list of statements: the overtaken statements, then the overtaking
//! statement. Enforcing any one of the constraints `overtaken < overtaking` prevents the step, so a
//! label is a disjunction. A step may have several labels, and each must be prevented (a
//! conjunction). Such a step becomes several edges, one for each label. A step without a label
//! cannot be prevented.
//!
//! The papers' error states lead to the goal, and so does a step failure. States after an error are
//! omitted: constraints that avoid the error avoid them too.
//!
//! - [`window_prevention`](crate::window_prevention): a table-driven model, exact up to a bound.
//! - [`coherence_prevention`](crate::coherence_prevention): an abstract model, for store buffers of
//!   any length.

use fencepost_ir::{Label, Op, ThreadId};
use fencepost_models::bits::Writer;
use fencepost_models::machine::system::VIOLATION;
use fencepost_models::state::State;
use fencepost_models::{Action, Machine, MemoryModel, Step, StepFailure, StepResult};
use fencepost_search::{Encoding, Labelled, Sink, Steps, TransitionSystem};
use std::sync::atomic::{AtomicU64, Ordering};

/// Labels the steps of a model with the constraints that prevent them.
pub(crate) trait Prevention<M: MemoryModel>: Sync {
    /// Labels the step that executes the next statement of a thread.
    fn label_statement(
        &self,
        machine: &Machine<'_, M>,
        state: &State<M::Pending>,
        t: ThreadId,
        labels: &mut Labels,
    );

    /// Labels an internal step.
    fn label_internal(
        &self,
        machine: &Machine<'_, M>,
        state: &State<M::Pending>,
        t: ThreadId,
        which: u32,
        labels: &mut Labels,
    );

    /// Returns the pending accesses of a thread, oldest first.
    fn pending(
        &self,
        machine: &Machine<'_, M>,
        state: &State<M::Pending>,
        t: ThreadId,
    ) -> Vec<Label>;

    /// Takes one step without a label from `base` to `work`, if exploring this step alone preserves
    /// the avoid formula. Returns whether it took a step.
    fn take_ample_step(&self, _: &Machine<'_, M>, _: &mut Scratch<M::Pending>) -> bool {
        false
    }
}

/// The labels of one step.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    statements: Vec<u32>,
    /// By label: its end in `statements`.
    ends: Vec<usize>,
}

impl Labels {
    fn clear(&mut self) {
        self.statements.clear();
        self.ends.clear();
    }

    /// Adds a label: the overtaken statements in any order, and the overtaking statement `own`.
    /// Adds nothing if no statement is overtaken.
    pub(crate) fn add(&mut self, overtaken: impl Iterator<Item = u32>, own: u32) {
        let begin = self.statements.len();
        self.statements.extend(overtaken);
        if self.statements.len() == begin {
            return;
        }
        self.statements[begin..].sort_unstable();
        let mut kept = begin + 1;
        for at in begin + 1..self.statements.len() {
            if self.statements[at] != self.statements[kept - 1] {
                self.statements[kept] = self.statements[at];
                kept += 1;
            }
        }
        self.statements.truncate(kept);
        self.statements.push(own);
        self.ends.push(self.statements.len());
    }

    /// Adds one label for each distinct overtaken statement.
    pub(crate) fn add_each(&mut self, overtaken: impl Iterator<Item = u32>, own: u32) {
        for statement in overtaken {
            if !self.iter().any(|label| label[0] == statement) {
                self.add([statement].into_iter(), own);
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let begins = [0].into_iter().chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, end)| &self.statements[begin..*end])
    }
}

/// A machine whose steps are labelled with the constraints that prevent them. The machine itself
/// has no partial-order reduction, because that would omit labels.
#[derive(Debug)]
pub(crate) struct LabelledMachine<'m, 'p, M: MemoryModel, P> {
    pub(crate) machine: &'m Machine<'p, M>,
    pub(crate) prevention: P,
    /// The number of edges that searches have generated: an estimate of the size of the graph.
    generated_edges: AtomicU64,
}

/// Scratch memory of one worker.
#[derive(Debug)]
pub(crate) struct Scratch<Q> {
    pub(crate) base: State<Q>,
    pub(crate) work: State<Q>,
    writer: Writer,
    internal: Vec<u32>,
    labels: Labels,
}

/// A receiver for the steps of a state.
trait StepSink {
    fn step(&mut self, to: &[u8], labels: &Labels);
    fn error(&mut self, labels: &Labels);
    fn bounded(&mut self);
}

impl StepSink for Steps<'_> {
    fn step(&mut self, to: &[u8], labels: &Labels) {
        if labels.ends.is_empty() {
            self.to(to, &[]);
        } else {
            self.to_each(to, labels.iter());
        }
    }

    fn error(&mut self, labels: &Labels) {
        if labels.ends.is_empty() {
            self.to_goal(&[]);
        }
        labels.iter().for_each(|label| self.to_goal(label));
    }

    fn bounded(&mut self) {}
}

/// Passes the successor states to a search and counts the edges.
struct SuccessorSink<'s, S> {
    sink: &'s mut S,
    edges: u64,
}

impl<S: Sink> StepSink for SuccessorSink<'_, S> {
    fn step(&mut self, to: &[u8], labels: &Labels) {
        self.sink.successor(to);
        self.edges += labels.ends.len().max(1) as u64;
    }

    fn error(&mut self, labels: &Labels) {
        self.edges += labels.ends.len().max(1) as u64;
    }

    fn bounded(&mut self) {
        self.sink.bounded();
    }
}

impl<M: MemoryModel, P: Prevention<M>> Encoding for LabelledMachine<'_, '_, M, P> {}

impl<M: MemoryModel, P: Prevention<M>> TransitionSystem for LabelledMachine<'_, '_, M, P> {
    type Scratch = Scratch<M::Pending>;

    fn scratch(&self) -> Self::Scratch {
        Scratch {
            base: self.machine.blank(),
            work: self.machine.blank(),
            writer: Writer::default(),
            internal: Vec::new(),
            labels: Labels::default(),
        }
    }

    fn initial<S: Sink>(&self, _: &mut Self::Scratch, sink: &mut S) {
        self.machine.initial(&mut self.machine.scratch(), sink);
    }

    fn expand<S: Sink>(&self, state: &[u8], scratch: &mut Self::Scratch, sink: &mut S) {
        let mut successors = SuccessorSink { sink, edges: 0 };
        self.for_each_step(state, scratch, &mut successors);
        self.generated_edges.fetch_add(successors.edges, Ordering::Relaxed);
    }
}

impl<M: MemoryModel, P: Prevention<M>> Labelled for LabelledMachine<'_, '_, M, P> {
    type Scratch = Scratch<M::Pending>;

    fn scratch(&self) -> Self::Scratch {
        TransitionSystem::scratch(self)
    }

    fn initial(&self, _: &mut Self::Scratch, steps: &mut Steps<'_>) {
        self.machine.initial(&mut self.machine.scratch(), &mut InitialStates(steps));
    }

    fn steps(&self, state: &[u8], scratch: &mut Self::Scratch, steps: &mut Steps<'_>) {
        self.for_each_step(state, scratch, steps);
    }
}

impl<'m, 'p, M: MemoryModel, P: Prevention<M>> LabelledMachine<'m, 'p, M, P> {
    /// Creates the system of a machine.
    pub(crate) fn new(machine: &'m Machine<'p, M>, prevention: P) -> Self {
        debug_assert!(!machine.reductions.partial_order, "partial-order reduction omits labels");
        LabelledMachine { machine, prevention, generated_edges: AtomicU64::new(0) }
    }

    /// Returns the number of edges that searches have generated so far.
    pub(crate) fn generated_edges(&self) -> u64 {
        self.generated_edges.load(Ordering::Relaxed)
    }

    /// Passes each step of a state to `out`.
    fn for_each_step(
        &self,
        bytes: &[u8],
        scratch: &mut Scratch<M::Pending>,
        out: &mut impl StepSink,
    ) {
        let machine = self.machine;
        machine.unpack(bytes, &mut scratch.base);
        scratch.labels.clear();
        if machine.state_violation(&scratch.base).is_some() {
            out.error(&scratch.labels);
            return;
        }
        if self.prevention.take_ample_step(machine, scratch) {
            out.step(machine.encode(&scratch.work, &mut scratch.writer), &scratch.labels);
            return;
        }
        for thread in machine.shape.program().thread_ids() {
            scratch.labels.clear();
            self.prevention.label_statement(machine, &scratch.base, thread, &mut scratch.labels);
            if has_alternatives(machine, &scratch.base, thread) {
                for attempt in machine.attempt_steps(&scratch.base) {
                    if attempt.step.thread == thread
                        && matches!(attempt.step.action, Action::Run(_))
                    {
                        scratch.work = attempt.after;
                        emit(machine, attempt.taken, scratch, out);
                    }
                }
            } else {
                let taken = take_step(machine, thread, Action::Run(Vec::new()), scratch);
                emit(machine, taken, scratch, out);
            }
            let mut internal = std::mem::take(&mut scratch.internal);
            internal.clear();
            machine.model.internal_steps(&machine.shape, &scratch.base, thread, &mut internal);
            for which in &internal {
                let Scratch { base, labels, .. } = scratch;
                labels.clear();
                self.prevention.label_internal(machine, base, thread, *which, labels);
                let taken = take_step(machine, thread, Action::Internal(*which), scratch);
                emit(machine, taken, scratch, out);
            }
            scratch.internal = internal;
        }
        if machine.end_violation(&scratch.base).is_some() {
            scratch.labels.clear();
            out.error(&scratch.labels);
        }
    }
}

/// Takes a step from `base` to `work`.
pub(crate) fn take_step<M: MemoryModel>(
    machine: &Machine<'_, M>,
    thread: ThreadId,
    action: Action,
    scratch: &mut Scratch<M::Pending>,
) -> Result<StepResult, StepFailure> {
    scratch.work.clone_from(&scratch.base);
    machine.take_step(&mut scratch.work, &Step { thread, action }, &mut ())
}

/// Passes a step that led to `work` to `out`.
fn emit<M: MemoryModel>(
    machine: &Machine<'_, M>,
    taken: Result<StepResult, StepFailure>,
    scratch: &mut Scratch<M::Pending>,
    out: &mut impl StepSink,
) {
    match taken {
        Ok(StepResult::Blocked) => {}
        Ok(StepResult::BoundReached) => out.bounded(),
        Ok(StepResult::Taken) => {
            out.step(machine.encode(&scratch.work, &mut scratch.writer), &scratch.labels);
        }
        Err(_) => out.error(&scratch.labels),
    }
}

/// Returns whether the next statement of a thread may have several steps.
fn has_alternatives<M: MemoryModel>(
    machine: &Machine<'_, M>,
    state: &State<M::Pending>,
    t: ThreadId,
) -> bool {
    let pc = state.pcs[t.index()];
    matches!(machine.shape.stmt(t, pc).op, Op::Choose { .. } | Op::AtomicBegin)
        || machine.model.alternatives(&machine.shape, state, t, pc) > 1
}

/// Adds the initial states of the machine to the graph.
struct InitialStates<'a, 's>(&'a mut Steps<'s>);

impl Sink for InitialStates<'_, '_> {
    fn successor(&mut self, state: &[u8]) {
        self.0.to(state, &[]);
    }

    fn is_farther(&self, _: &[u8]) -> bool {
        true
    }

    fn target(&mut self, class: u32, _: u32) {
        if class == VIOLATION {
            self.0.to_goal(&[]);
        }
    }

    fn fact(&mut self, _: &[u8]) {}

    fn bounded(&mut self) {}
}
