//! The labelled transition system of a program: its states, and what prevents each step.
//!
//! Source: \[KVY10\] IV-A, \[KVY11\] 5. The machine takes the steps; a [`Prevention`] says what labels them.
//! A label is a list of statements: those that are overtaken, and last the one that overtakes. Keeping any
//! one of the constraints between the former and the latter prevents the step: the label is a
//! disjunction. A step may have several labels, of which each alone must be dealt with, a conjunction: it is told
//! as several steps. A step without a label cannot be prevented.
//!
//! The papers' error states lead to the goal, and so does a step that stumbles; what comes after an error
//! is left out, because whatever avoids the error avoids it, too.
//!
//! - [`windows`](crate::windows): a table-driven model, exact up to a bound.
//! - [`coherent`](crate::coherent): an abstract model, for store buffers of any length.

use fencepost_ir::{Op, ThreadId};
use fencepost_models::bits::Writer;
use fencepost_models::machine::system::VIOLATION;
use fencepost_models::state::State;
use fencepost_models::{Action, Machine, MemoryModel, Step, Stumble, Taken};
use fencepost_search::{Labelled, Sink, Steps, TransitionSystem};
use std::sync::atomic::{AtomicU64, Ordering};

/// What prevents the steps of a model.
pub(crate) trait Prevention<M: MemoryModel>: Sync {
    /// Labels the step that executes the next statement of a thread.
    fn statement(
        &self,
        machine: &Machine<'_, M>,
        state: &State<M::Pending>,
        t: ThreadId,
        labels: &mut Labels,
    );

    /// Labels an internal step.
    fn internal(
        &self,
        machine: &Machine<'_, M>,
        state: &State<M::Pending>,
        t: ThreadId,
        which: u32,
        labels: &mut Labels,
    );

    /// Takes one step that cannot be prevented, from `base` to `work`, if it is enough to look at that one
    /// alone.
    fn alone(&self, _: &Machine<'_, M>, _: &mut Scratch<M::Pending>) -> bool {
        false
    }
}

/// The labels of one step.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    statements: Vec<u32>,
    /// By label: where it ends.
    ends: Vec<usize>,
}

impl Labels {
    fn clear(&mut self) {
        self.statements.clear();
        self.ends.clear();
    }

    /// Adds a label: what is overtaken, in any order, and what overtakes. If nothing is overtaken, there is
    /// no label.
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

    /// Adds a label for each statement that is overtaken, once.
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

/// A machine whose steps are labelled with what prevents them. The machine has no partial-order reduction of
/// its own, which would leave labels out.
#[derive(Debug)]
pub(crate) struct LabelledMachine<'m, 'p, M: MemoryModel, P> {
    pub(crate) machine: &'m Machine<'p, M>,
    prevention: P,
    /// How many steps were told to searches: what a graph would need room for.
    told: AtomicU64,
}

/// Working memory of one thread.
#[derive(Debug)]
pub(crate) struct Scratch<Q> {
    pub(crate) base: State<Q>,
    pub(crate) work: State<Q>,
    writer: Writer,
    internal: Vec<u32>,
    labels: Labels,
}

/// Where the steps of a state go.
trait Out {
    fn step(&mut self, to: &[u8], labels: &Labels);
    fn error(&mut self, labels: &Labels);
    fn bounded(&mut self);
}

impl Out for Steps<'_> {
    fn step(&mut self, to: &[u8], labels: &Labels) {
        if labels.ends.is_empty() {
            self.to(to, &[]);
        }
        labels.iter().for_each(|label| self.to(to, label));
    }

    fn error(&mut self, labels: &Labels) {
        if labels.ends.is_empty() {
            self.to_goal(&[]);
        }
        labels.iter().for_each(|label| self.to_goal(label));
    }

    fn bounded(&mut self) {}
}

/// A search needs states only.
struct Seen<'s, S> {
    sink: &'s mut S,
    told: u64,
}

impl<S: Sink> Out for Seen<'_, S> {
    fn step(&mut self, to: &[u8], labels: &Labels) {
        self.sink.successor(to);
        self.told += labels.ends.len().max(1) as u64;
    }

    fn error(&mut self, labels: &Labels) {
        self.told += labels.ends.len().max(1) as u64;
    }

    fn bounded(&mut self) {
        self.sink.bounded();
    }
}

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
        let mut seen = Seen { sink, told: 0 };
        self.each(state, scratch, &mut seen);
        self.told.fetch_add(seen.told, Ordering::Relaxed);
    }
}

impl<M: MemoryModel, P: Prevention<M>> Labelled for LabelledMachine<'_, '_, M, P> {
    type Scratch = Scratch<M::Pending>;

    fn scratch(&self) -> Self::Scratch {
        TransitionSystem::scratch(self)
    }

    fn initial(&self, _: &mut Self::Scratch, steps: &mut Steps<'_>) {
        self.machine.initial(&mut self.machine.scratch(), &mut First(steps));
    }

    fn steps(&self, state: &[u8], scratch: &mut Self::Scratch, steps: &mut Steps<'_>) {
        self.each(state, scratch, steps);
    }
}

impl<'m, 'p, M: MemoryModel, P: Prevention<M>> LabelledMachine<'m, 'p, M, P> {
    /// The system of a machine.
    pub(crate) fn new(machine: &'m Machine<'p, M>, prevention: P) -> Self {
        debug_assert!(!machine.reductions.partial_order, "it would leave labels out");
        LabelledMachine { machine, prevention, told: AtomicU64::new(0) }
    }

    /// How many steps were told to searches so far.
    pub(crate) fn told(&self) -> u64 {
        self.told.load(Ordering::Relaxed)
    }

    /// Hands out each step of a state.
    fn each(&self, bytes: &[u8], scratch: &mut Scratch<M::Pending>, out: &mut impl Out) {
        let machine = self.machine;
        machine.unpack(bytes, &mut scratch.base);
        scratch.labels.clear();
        if machine.wrong(&scratch.base).is_some() {
            out.error(&scratch.labels);
            return;
        }
        if self.prevention.alone(machine, scratch) {
            out.step(machine.encode(&scratch.work, &mut scratch.writer), &scratch.labels);
            return;
        }
        let mut at_rest = true;
        for thread in machine.shape.program().thread_ids() {
            scratch.labels.clear();
            self.prevention.statement(machine, &scratch.base, thread, &mut scratch.labels);
            if chooses(machine, &scratch.base, thread) {
                for attempt in machine.steps(&scratch.base) {
                    if attempt.step.thread == thread
                        && matches!(attempt.step.action, Action::Run(_))
                    {
                        scratch.work = attempt.after;
                        at_rest &= !tell(machine, attempt.taken, scratch, out);
                    }
                }
            } else {
                let taken = take(machine, thread, Action::Run(Vec::new()), scratch);
                at_rest &= !tell(machine, taken, scratch, out);
            }
            let mut internal = std::mem::take(&mut scratch.internal);
            internal.clear();
            machine.model.internal(&machine.shape, &scratch.base, thread, &mut internal);
            for which in &internal {
                let Scratch { base, labels, .. } = scratch;
                labels.clear();
                self.prevention.internal(machine, base, thread, *which, labels);
                let taken = take(machine, thread, Action::Internal(*which), scratch);
                at_rest &= !tell(machine, taken, scratch, out);
            }
            scratch.internal = internal;
        }
        if at_rest && machine.wrong_at_rest(&scratch.base).is_some() {
            scratch.labels.clear();
            out.error(&scratch.labels);
        }
    }
}

/// Takes a step from `base` to `work`.
pub(crate) fn take<M: MemoryModel>(
    machine: &Machine<'_, M>,
    thread: ThreadId,
    action: Action,
    scratch: &mut Scratch<M::Pending>,
) -> Result<Taken, Stumble> {
    scratch.work.clone_from(&scratch.base);
    machine.take(&mut scratch.work, &Step { thread, action }, &mut ())
}

/// Tells a step that led to `work`. Whether it is enabled at all.
fn tell<M: MemoryModel>(
    machine: &Machine<'_, M>,
    taken: Result<Taken, Stumble>,
    scratch: &mut Scratch<M::Pending>,
    out: &mut impl Out,
) -> bool {
    match taken {
        Ok(Taken::Blocked) => return false,
        Ok(Taken::Bounded) => out.bounded(),
        Ok(Taken::Yes) => {
            out.step(machine.encode(&scratch.work, &mut scratch.writer), &scratch.labels);
        }
        Err(_) => out.error(&scratch.labels),
    }
    true
}

/// Whether the thread's next statement may stand for several steps.
fn chooses<M: MemoryModel>(
    machine: &Machine<'_, M>,
    state: &State<M::Pending>,
    t: ThreadId,
) -> bool {
    let pc = state.pcs[t.index()];
    matches!(machine.shape.stmt(t, pc).op, Op::Choose { .. } | Op::AtomicBegin)
        || machine.model.ways(&machine.shape, state, t, pc) > 1
}

/// Takes the initial states of the machine.
struct First<'a, 's>(&'a mut Steps<'s>);

impl Sink for First<'_, '_> {
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
