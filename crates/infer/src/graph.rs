//! The labelled transition system of a program under a table-driven model.
//!
//! Source: \[KVY10\] IV-A. Every model is read as its bypass table, because a window's entries carry their
//! statements; SC is the table that relaxes nothing. The states are those of the machine without
//! partial-order reduction: a step that is left out would leave its formula out. Fusing and clearing dead
//! registers stay, since local statements are never out of order.
//!
//! A step that performs an access is labelled with the accesses of its window that are older, then with its
//! own: \[KVY10\]'s `prevent` is the set of constraints between the former and the latter. This holds
//! for a forwarded load, too: a fence would make it wait for the store. No other step can be prevented. The
//! paper's error states lead to the goal, and so does a step that stumbles; what comes after an error is
//! left out, because whatever avoids the error avoids it, too.

use fencepost_ir::{Op, Pc, Thread, ThreadId};
use fencepost_models::bits::{Field, Reader, Writer};
use fencepost_models::machine::system::VIOLATION;
use fencepost_models::state::State;
use fencepost_models::table::Table;
use fencepost_models::{Action, Machine, MemoryModel, Step, Stumble, Taken};
use fencepost_search::{Labelled, Sink, Steps, TransitionSystem};

type Pending = <Table as MemoryModel>::Pending;

/// A machine whose steps are labelled with what prevents them.
#[derive(Debug)]
pub(crate) struct Windows<'m, 'p>(pub(crate) &'m Machine<'p, Table>);

/// Working memory of one thread.
#[derive(Debug)]
pub(crate) struct Scratch {
    base: State<Pending>,
    work: State<Pending>,
    writer: Writer,
    internal: Vec<u32>,
    label: Vec<u32>,
}

impl Labelled for Windows<'_, '_> {
    type Scratch = Scratch;

    fn scratch(&self) -> Scratch {
        Scratch {
            base: self.0.blank(),
            work: self.0.blank(),
            writer: Writer::default(),
            internal: Vec::new(),
            label: Vec::new(),
        }
    }

    fn initial(&self, _: &mut Scratch, steps: &mut Steps<'_>) {
        self.0.initial(&mut self.0.scratch(), &mut First(steps));
    }

    fn steps(&self, bytes: &[u8], scratch: &mut Scratch, steps: &mut Steps<'_>) {
        let machine = self.0;
        unpack(machine, bytes, &mut scratch.base);
        let packed = machine.encode(&scratch.base, &mut scratch.writer);
        assert!(packed == bytes, "a state is unpacked as it was packed");
        if machine.wrong(&scratch.base).is_some() {
            steps.to_goal(&[]);
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
                        at_rest &= !tell(machine, attempt.taken, scratch, steps);
                    }
                }
            } else {
                let step = Step { thread, action: Action::Run(Vec::new()) };
                scratch.work.clone_from(&scratch.base);
                let taken = machine.take(&mut scratch.work, &step, &mut ());
                at_rest &= !tell(machine, taken, scratch, steps);
            }
            let mut internal = std::mem::take(&mut scratch.internal);
            internal.clear();
            machine.model.internal(&machine.shape, &scratch.base, thread, &mut internal);
            for which in &internal {
                self.prevent(thread, *which, scratch);
                let step = Step { thread, action: Action::Internal(*which) };
                scratch.work.clone_from(&scratch.base);
                let taken = machine.take(&mut scratch.work, &step, &mut ());
                at_rest &= !tell(machine, taken, scratch, steps);
            }
            scratch.internal = internal;
        }
        if at_rest && machine.wrong_at_rest(&scratch.base).is_some() {
            steps.to_goal(&[]);
        }
    }
}

impl Windows<'_, '_> {
    /// Puts the label of an internal step into `scratch`: what it overtakes, sorted, then what it
    /// performs; nothing if it overtakes nothing.
    fn prevent(&self, thread: ThreadId, which: u32, scratch: &mut Scratch) {
        let Machine { shape, model, .. } = self.0;
        let labels = model.labels_up_to(shape, &scratch.base.pending, thread, which);
        scratch.label.clear();
        scratch.label.extend(labels.map(|label| label.0));
        let own = scratch.label.pop().expect("an internal step performs an access");
        scratch.label.sort_unstable();
        scratch.label.dedup();
        if !scratch.label.is_empty() {
            scratch.label.push(own);
        }
    }
}

/// Tells a step that led to `work`. Whether it is enabled at all.
fn tell(
    machine: &Machine<'_, Table>,
    taken: Result<Taken, Stumble>,
    scratch: &mut Scratch,
    steps: &mut Steps<'_>,
) -> bool {
    match taken {
        Ok(Taken::Blocked) => return false,
        Ok(Taken::Bounded) => {}
        Ok(Taken::Yes) => {
            steps.to(machine.encode(&scratch.work, &mut scratch.writer), &scratch.label);
        }
        Err(_) => steps.to_goal(&scratch.label),
    }
    true
}

/// Whether the statement may stand for several steps.
fn chooses(thread: &Thread, pc: Pc) -> bool {
    matches!(thread.stmt(pc).op, Op::Choose { .. } | Op::AtomicBegin)
}

/// Unpacks a state; the other way round is [`Machine::encode`].
fn unpack(machine: &Machine<'_, Table>, bytes: &[u8], state: &mut State<Pending>) {
    let Machine { shape, model, .. } = machine;
    let mut reader = Reader::new(bytes);
    for (field, value) in shape.location_fields.iter().zip(&mut state.memory.values) {
        *value = reader.get(*field);
    }
    for allocated in &mut state.memory.allocated {
        *allocated = reader.get(Field::for_count(2)) != 0;
    }
    reader.align();
    for t in shape.program().thread_ids() {
        let thread = shape.thread(t);
        state.pcs[t.index()] = Pc(reader.get(thread.pc) as u32);
        let registers = &mut state.registers[thread.registers..];
        for (field, value) in thread.register_fields.iter().zip(registers) {
            *value = reader.get(*field);
        }
        model.decode(shape, &mut reader, &mut state.pending, t);
        reader.align();
    }
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
