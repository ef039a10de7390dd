//! The labelled transition system of a program under a table-driven model.
//!
//! Source: \[KVY10\] IV-A. Every model is read as its bypass table, because a window's entries carry their
//! statements; SC is the table that relaxes nothing. A step that performs an access is labelled with the
//! accesses of its window that are older, then with its own: \[KVY10\]'s `prevent` is the set of constraints
//! between the former and the latter. This holds for a forwarded load, too: a fence would make it wait
//! for the store. No other step can be prevented. The paper's error states lead to the goal, and so does a step
//! that stumbles; what comes after an error is left out, because whatever avoids the error avoids
//! it, too.
//!
//! *Reduction.* The machine's own partial-order reduction would leave formulas out. This one does not: the oldest
//! access of a window goes first, alone, if nobody else can notice when it happens, because no
//! other thread writes its location, nor reads it if it is written. A run that performs it
//! later does the same in the end, with an older access in the window for longer, so that more constraints
//! prevent it; its clause contains that of the run which performs it at once. The step must not loop back, so
//! that nothing is put off for ever.

use fencepost_ir::{Op, Pc, Thread, ThreadId};
use fencepost_models::bits::Writer;
use fencepost_models::machine::system::VIOLATION;
use fencepost_models::state::State;
use fencepost_models::table::Table;
use fencepost_models::{Action, Machine, MemoryModel, Step, Stumble, Taken};
use fencepost_search::{Labelled, Sink, Steps, TransitionSystem};

type Pending = <Table as MemoryModel>::Pending;

/// A machine whose steps are labelled with what prevents them.
#[derive(Debug)]
pub(crate) struct Windows<'m, 'p> {
    machine: &'m Machine<'p, Table>,
    /// Whether steps that nobody notices go first.
    reduce: bool,
}

/// Working memory of one thread.
#[derive(Debug)]
pub(crate) struct Scratch {
    base: State<Pending>,
    work: State<Pending>,
    writer: Writer,
    internal: Vec<u32>,
    label: Vec<u32>,
}

/// Where the steps of a state go.
trait Out {
    fn step(&mut self, to: &[u8], label: &[u32]);
    fn error(&mut self, label: &[u32]);
    fn bounded(&mut self);
}

impl Out for Steps<'_> {
    fn step(&mut self, to: &[u8], label: &[u32]) {
        self.to(to, label);
    }

    fn error(&mut self, label: &[u32]) {
        self.to_goal(label);
    }

    fn bounded(&mut self) {}
}

/// A search needs states only.
struct Seen<'s, S>(&'s mut S);

impl<S: Sink> Out for Seen<'_, S> {
    fn step(&mut self, to: &[u8], _: &[u32]) {
        self.0.successor(to);
    }

    fn error(&mut self, _: &[u32]) {}

    fn bounded(&mut self) {
        self.0.bounded();
    }
}

impl TransitionSystem for Windows<'_, '_> {
    type Scratch = Scratch;

    fn scratch(&self) -> Scratch {
        Scratch {
            base: self.machine.blank(),
            work: self.machine.blank(),
            writer: Writer::default(),
            internal: Vec::new(),
            label: Vec::new(),
        }
    }

    fn initial<S: Sink>(&self, _: &mut Scratch, sink: &mut S) {
        self.machine.initial(&mut self.machine.scratch(), sink);
    }

    fn expand<S: Sink>(&self, state: &[u8], scratch: &mut Scratch, sink: &mut S) {
        self.each(state, scratch, &mut Seen(sink));
    }
}

impl Labelled for Windows<'_, '_> {
    type Scratch = Scratch;

    fn scratch(&self) -> Scratch {
        TransitionSystem::scratch(self)
    }

    fn initial(&self, _: &mut Scratch, steps: &mut Steps<'_>) {
        self.machine.initial(&mut self.machine.scratch(), &mut First(steps));
    }

    fn steps(&self, state: &[u8], scratch: &mut Scratch, steps: &mut Steps<'_>) {
        self.each(state, scratch, steps);
    }
}

impl<'m, 'p> Windows<'m, 'p> {
    /// The system of a machine that has no partial-order reduction of its own.
    pub(crate) fn new(machine: &'m Machine<'p, Table>, reduce: bool) -> Self {
        // Where operations are invoked, others notice when a result becomes known.
        let code = machine.shape.program().threads.iter().flat_map(|thread| &thread.code);
        let invokes = code.into_iter().any(|stmt| matches!(stmt.op, Op::Invoke { .. }));
        Windows { machine, reduce: reduce && !invokes }
    }

    /// Hands out each step of a state.
    fn each(&self, bytes: &[u8], scratch: &mut Scratch, out: &mut impl Out) {
        let machine = self.machine;
        machine.unpack(bytes, &mut scratch.base, |_| {});
        if machine.wrong(&scratch.base).is_some() {
            out.error(&[]);
            return;
        }
        if self.reduce && self.unnoticed(scratch, out) {
            return;
        }
        let mut at_rest = true;
        for thread in machine.shape.program().thread_ids() {
            let pc = scratch.base.pcs[thread.index()];
            scratch.label.clear();
            if chooses(machine.shape.program().thread(thread), pc) {
                for attempt in machine.steps(&scratch.base) {
                    if attempt.step.thread == thread
                        && matches!(attempt.step.action, Action::Run(_))
                    {
                        scratch.work = attempt.after;
                        at_rest &= !tell(machine, attempt.taken, scratch, out);
                    }
                }
            } else {
                let taken = self.take(thread, Action::Run(Vec::new()), scratch);
                at_rest &= !tell(machine, taken, scratch, out);
            }
            let mut internal = std::mem::take(&mut scratch.internal);
            internal.clear();
            machine.model.internal(&machine.shape, &scratch.base, thread, &mut internal);
            for which in &internal {
                self.prevent(thread, *which, scratch);
                let taken = self.take(thread, Action::Internal(*which), scratch);
                at_rest &= !tell(machine, taken, scratch, out);
            }
            scratch.internal = internal;
        }
        if at_rest && machine.wrong_at_rest(&scratch.base).is_some() {
            out.error(&[]);
        }
    }

    /// Takes a step from `base` to `work`.
    fn take(
        &self,
        thread: ThreadId,
        action: Action,
        scratch: &mut Scratch,
    ) -> Result<Taken, Stumble> {
        scratch.work.clone_from(&scratch.base);
        self.machine.take(&mut scratch.work, &Step { thread, action }, &mut ())
    }

    /// Puts the label of an internal step into `scratch`: what it overtakes, sorted, then what it
    /// performs; nothing if it overtakes nothing.
    fn prevent(&self, t: ThreadId, which: u32, scratch: &mut Scratch) {
        let Machine { shape, model, .. } = self.machine;
        let entries = model.window(&scratch.base.pending, t).take(which as usize + 1);
        let accesses = entries.map(|pc| shape.stmt(t, pc)).filter(|s| s.op.access().is_some());
        scratch.label.clear();
        scratch.label.extend(accesses.map(|stmt| stmt.label.0));
        let own = scratch.label.pop().expect("an internal step performs an access");
        scratch.label.sort_unstable();
        scratch.label.dedup();
        if !scratch.label.is_empty() {
            scratch.label.push(own);
        }
    }

    /// Hands out one step that nobody else notices, if there is one.
    fn unnoticed(&self, scratch: &mut Scratch, out: &mut impl Out) -> bool {
        let Machine { shape, model, .. } = self.machine;
        for t in shape.program().thread_ids() {
            let Some((entry, pc)) = self.oldest(&scratch.base, t) else { continue };
            if !self.is_private(t, pc) {
                continue;
            }
            let which = entry as u32;
            let Ok(Taken::Yes) = self.take(t, Action::Internal(which), scratch) else { continue };
            let Scratch { base, work, writer, .. } = scratch;
            let machine = self.machine;
            let (from, to) = (base.pcs[t.index()], work.pcs[t.index()]);
            let fewer = model.window(&work.pending, t).len() < model.window(&base.pending, t).len();
            let goes_on = to > from || (to == from && fewer);
            if goes_on && machine.is_critical(base, t) == machine.is_critical(work, t) {
                out.step(machine.encode(work, writer), &[]);
                return true;
            }
        }
        false
    }

    /// The oldest access in a thread's window.
    fn oldest(&self, state: &State<Pending>, t: ThreadId) -> Option<(usize, Pc)> {
        let Machine { shape, model, .. } = self.machine;
        let is_access = |pc: Pc| shape.stmt(t, pc).op.access().is_some();
        model.window(&state.pending, t).enumerate().find(|(_, pc)| is_access(*pc))
    }

    /// Whether other threads cannot tell when an access happens, and no invariant can.
    fn is_private(&self, t: ThreadId, pc: Pc) -> bool {
        let shape = &self.machine.shape;
        let others = !(1_u64 << t.index());
        let loads = matches!(shape.stmt(t, pc).op, Op::Load { .. });
        shape.thread(t).footprints[pc.index()].iter().map(|loc| loc.index()).all(|loc| {
            shape.writers[loc] & others == 0
                && (loads || (shape.readers[loc] & others == 0 && !shape.watched[loc]))
                && !(shape.has_free && shape.cell[loc].is_some())
        })
    }
}

/// Tells a step that led to `work`. Whether it is enabled at all.
fn tell(
    machine: &Machine<'_, Table>,
    taken: Result<Taken, Stumble>,
    scratch: &mut Scratch,
    out: &mut impl Out,
) -> bool {
    match taken {
        Ok(Taken::Blocked) => return false,
        Ok(Taken::Bounded) => out.bounded(),
        Ok(Taken::Yes) => {
            out.step(machine.encode(&scratch.work, &mut scratch.writer), &scratch.label);
        }
        Err(_) => out.error(&scratch.label),
    }
    true
}

/// Whether the statement may stand for several steps.
fn chooses(thread: &Thread, pc: Pc) -> bool {
    matches!(thread.stmt(pc).op, Op::Choose { .. } | Op::AtomicBegin)
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
