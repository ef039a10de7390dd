//! Labels the steps of a table-driven model with the constraints that prevent them.
//!
//! Source: \[KVY10\] IV-A. Every model is represented by its bypass table, because the entries of a
//! window carry their statements. SC is the table that relaxes nothing. The label of a step that
//! performs an access is the older accesses in the window, then the access itself. These are the
//! constraints of `prevent` in \[KVY10\]. A forwarded load has a label too: a fence makes the load
//! wait for the store. No other step can be prevented.
//!
//! *Reduction.* The partial-order reduction of the machine would omit clauses. This one does not:
//! the oldest access of a window is explored alone if it commutes with everything that can precede
//! it (`MemoryModel::internal_commutes`), so that its time is not observable. A run that performs
//! the access later has the same outcome, but the access stays in the window for longer, so more
//! constraints prevent the run. Its clause contains the clause of the run that performs the access
//! at once. For a younger access this does not hold: performing it at once overtakes the older
//! accesses, which is a constraint that a later time does not need. The step must not return to an earlier statement: this cycle
//! proviso prevents that other steps are postponed forever.

use crate::labelled_machine::{Labels, Prevention, Scratch, take_step};
use fencepost_ir::{Label, Op, Pc, ThreadId};
use fencepost_models::state::State;
use fencepost_models::table::Table;
use fencepost_models::{Action, Machine, MemoryModel, StepResult};

type Pending = <Table as MemoryModel>::Pending;

/// Labels a step with the accesses that it overtakes in its window.
#[derive(Debug)]
pub(crate) struct WindowPrevention {
    /// Whether unobservable steps are explored alone.
    reduce: bool,
}

impl WindowPrevention {
    /// Creates the labelling for a machine.
    pub(crate) fn new(machine: &Machine<'_, Table>, reduce: bool) -> Self {
        // The time when an operation returns is observable.
        let code = machine.shape.program().threads.iter().flat_map(|thread| &thread.code);
        let invokes = code.into_iter().any(|stmt| matches!(stmt.op, Op::Invoke { .. }));
        WindowPrevention { reduce: reduce && !invokes }
    }
}

impl Prevention<Table> for WindowPrevention {
    /// Adds no label: fetching a statement overtakes nothing.
    fn label_statement(
        &self,
        _: &Machine<'_, Table>,
        _: &State<Pending>,
        _: ThreadId,
        _: &mut Labels,
    ) {
    }

    fn label_internal(
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
        let own = shape.stmt(t, own.expect("an internal step performs an entry of the window"));
        let older = entries.take(which as usize).filter(|s| s.op.access().is_some());
        labels.add(older.map(|stmt| stmt.label.0), own.label.0);
    }

    fn pending(
        &self,
        machine: &Machine<'_, Table>,
        state: &State<Pending>,
        t: ThreadId,
    ) -> Vec<Label> {
        let entries = machine.model.window(&state.pending, t);
        let stmts = entries.map(|pc| machine.shape.stmt(t, pc));
        stmts.filter(|stmt| stmt.op.access().is_some()).map(|stmt| stmt.label).collect()
    }

    /// Takes one unobservable step, if there is one.
    fn take_ample_step(
        &self,
        machine: &Machine<'_, Table>,
        scratch: &mut Scratch<Pending>,
    ) -> bool {
        let Machine { shape, model, .. } = machine;
        for t in shape.program().thread_ids().filter(|_| self.reduce) {
            let Some(entry) = oldest_access(machine, &scratch.base, t) else { continue };
            if !model.internal_commutes(shape, &scratch.base, t, entry) {
                continue;
            }
            let action = Action::Internal(entry);
            let Ok(StepResult::Taken) = take_step(machine, t, action, scratch) else { continue };
            let Scratch { base, work, .. } = scratch;
            let (from, to) = (base.pcs[t.index()], work.pcs[t.index()]);
            let window_shrinks =
                model.window(&work.pending, t).len() < model.window(&base.pending, t).len();
            let makes_progress = to > from || (to == from && window_shrinks);
            let is_visible = machine.is_critical(base, t) != machine.is_critical(work, t)
                || machine.control_point(base, t) != machine.control_point(work, t);
            if makes_progress && !is_visible {
                return true;
            }
        }
        false
    }
}

/// Returns the oldest access in the window of a thread.
fn oldest_access(machine: &Machine<'_, Table>, state: &State<Pending>, t: ThreadId) -> Option<u32> {
    let Machine { shape, model, .. } = machine;
    let is_access = |pc: Pc| shape.stmt(t, pc).op.access().is_some();
    model.window(&state.pending, t).position(is_access).map(|entry| entry as u32)
}
