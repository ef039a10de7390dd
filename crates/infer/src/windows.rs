//! What prevents the steps of a table-driven model.
//!
//! Source: \[KVY10\] IV-A. Every model is read as its bypass table, because a window's entries carry their
//! statements; SC is the table that relaxes nothing. A step that performs an access is labelled with the
//! accesses of its window that are older, then with its own: \[KVY10\]'s `prevent` is the set of constraints
//! between the former and the latter. This holds for a forwarded load, too: a fence would make it wait
//! for the store. No other step can be prevented.
//!
//! *Reduction.* The machine's own partial-order reduction would leave formulas out. This one does not: the oldest
//! access of a window goes first, alone, if nobody else can notice when it happens, because no
//! other thread writes its location, nor reads it if it is written. A run that performs it
//! later does the same in the end, with an older access in the window for longer, so that more constraints
//! prevent it; its clause contains that of the run which performs it at once. The step must not loop back, so
//! that nothing is put off for ever.

use crate::graph::{Labels, Prevention, Scratch, take};
use fencepost_ir::{Op, Pc, ThreadId};
use fencepost_models::state::State;
use fencepost_models::table::Table;
use fencepost_models::{Action, Machine, MemoryModel, Taken};

type Pending = <Table as MemoryModel>::Pending;

/// What prevents a step is what it overtakes in its window.
#[derive(Debug)]
pub(crate) struct Windows {
    /// Whether steps that nobody notices go first.
    reduce: bool,
}

impl Windows {
    /// For a machine.
    pub(crate) fn new(machine: &Machine<'_, Table>, reduce: bool) -> Self {
        // Where operations are invoked, others notice when a result becomes known.
        let code = machine.shape.program().threads.iter().flat_map(|thread| &thread.code);
        let invokes = code.into_iter().any(|stmt| matches!(stmt.op, Op::Invoke { .. }));
        Windows { reduce: reduce && !invokes }
    }
}

impl Prevention<Table> for Windows {
    /// A statement that is fetched overtakes nothing yet.
    fn statement(&self, _: &Machine<'_, Table>, _: &State<Pending>, _: ThreadId, _: &mut Labels) {}

    fn internal(
        &self,
        machine: &Machine<'_, Table>,
        state: &State<Pending>,
        t: ThreadId,
        which: u32,
        labels: &mut Labels,
    ) {
        let Machine { shape, model, .. } = machine;
        let entries = model.window(&state.pending, t).map(|pc| shape.stmt(t, pc));
        let own = model.window(&state.pending, t).nth(which as usize);
        let own = shape.stmt(t, own.expect("an internal step performs an entry"));
        let older = entries.take(which as usize).filter(|s| s.op.access().is_some());
        labels.add(older.map(|stmt| stmt.label.0), own.label.0);
    }

    /// One step that nobody else notices, if there is one.
    fn alone(&self, machine: &Machine<'_, Table>, scratch: &mut Scratch<Pending>) -> bool {
        let Machine { shape, model, .. } = machine;
        for t in shape.program().thread_ids().filter(|_| self.reduce) {
            let Some((entry, pc)) = oldest(machine, &scratch.base, t) else { continue };
            if !is_private(machine, t, pc) {
                continue;
            }
            let action = Action::Internal(entry as u32);
            let Ok(Taken::Yes) = take(machine, t, action, scratch) else { continue };
            let Scratch { base, work, .. } = scratch;
            let (from, to) = (base.pcs[t.index()], work.pcs[t.index()]);
            let fewer = model.window(&work.pending, t).len() < model.window(&base.pending, t).len();
            let goes_on = to > from || (to == from && fewer);
            if goes_on && machine.is_critical(base, t) == machine.is_critical(work, t) {
                return true;
            }
        }
        false
    }
}

/// The oldest access in a thread's window.
fn oldest(
    machine: &Machine<'_, Table>,
    state: &State<Pending>,
    t: ThreadId,
) -> Option<(usize, Pc)> {
    let Machine { shape, model, .. } = machine;
    let is_access = |pc: Pc| shape.stmt(t, pc).op.access().is_some();
    model.window(&state.pending, t).enumerate().find(|(_, pc)| is_access(*pc))
}

/// Whether other threads cannot tell when an access happens, and no invariant can.
fn is_private(machine: &Machine<'_, Table>, t: ThreadId, pc: Pc) -> bool {
    let shape = &machine.shape;
    let others = !(1_u64 << t.index());
    let loads = matches!(shape.stmt(t, pc).op, Op::Load { .. });
    shape.thread(t).footprints[pc.index()].iter().map(|loc| loc.index()).all(|loc| {
        shape.writers[loc] & others == 0
            && (loads || (shape.readers[loc] & others == 0 && !shape.watched[loc]))
            && !(shape.has_free && shape.cell[loc].is_some())
    })
}
