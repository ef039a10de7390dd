//! Labels the steps of an abstract model with the constraints that prevent them.
//!
//! Source: \[KVY11\] 5.3. Entries and elements of abstract buffers carry the labels of their
//! stores. A step that executes an access can be prevented if a store of its thread is pending: a
//! fence between the store and the access delays the access. Commits cannot be prevented.
//!
//! - `fd`: every store in the buffer is pending. The constraints of the step form one clause:
//!   enforcing any of them prevents the step (5.3.1).
//! - `pd` and `set`: a state represents several concrete states, and an element need not be pending
//!   in all of them. Each constraint is a clause of its own: all must be enforced (5.3.2).
//!
//! Direction: over-approximation. The formula may require more than necessary, never less. A run of
//! the exact model follows a path of the graph. At each step that has a label, one of the edges of
//! the step is labelled with a store that is really pending. A set of constraints that satisfies
//! the formula contains the constraint of such an edge, and enforcing this constraint excludes the
//! run.
//!
//! *Cover.* A search for errors omits a state that another state covers. Here that would make
//! formulas stronger: a store alone in a head is covered by the same store in a set, where it may
//! be committed twice, so an error could become reachable by steps that nothing prevents. With
//! heads of length 1, no program would be guaranteed a formula other than `false` (\[KVY11\] 5.1,
//! SC-recoverability). Therefore `fd` keeps all states, and `pd` and `set` join only states with
//! equal heads. This joins slightly less than \[KVY11\] 4.3, where no other set covers the empty
//! set.

use crate::labelled_machine::{LabelledMachine, Labels, Prevention};
use fencepost_ir::{Label, ThreadId};
use fencepost_models::buffered::Buffered;
use fencepost_models::coherence::{Coherence, Domain};
use fencepost_models::machine::ordered::Work;
use fencepost_models::state::State;
use fencepost_models::{Machine, MemoryModel};
use fencepost_search::{Ordered, Relation};

type Abstract = Buffered<Coherence>;
type Pending = <Abstract as MemoryModel>::Pending;

/// Labels a step with the pending stores of its thread.
#[derive(Debug)]
pub(crate) struct CoherencePrevention;

impl Prevention<Abstract> for CoherencePrevention {
    fn label_statement(
        &self,
        machine: &Machine<'_, Abstract>,
        state: &State<Pending>,
        t: ThreadId,
        labels: &mut Labels,
    ) {
        let Machine { shape, model, .. } = machine;
        let stmt = shape.stmt(t, state.pcs[t.index()]);
        if stmt.op.access().is_none() {
            return;
        }
        let (pending, own) = (model.pending_labels(&state.pending, t), stmt.label.0);
        match model.0.domain {
            Domain::Full => labels.add(pending, own),
            Domain::Partial | Domain::Set => labels.add_each(pending, own),
        }
    }

    fn label_internal(
        &self,
        _: &Machine<'_, Abstract>,
        _: &State<Pending>,
        _: ThreadId,
        _: u32,
        _: &mut Labels,
    ) {
    }

    fn pending(
        &self,
        machine: &Machine<'_, Abstract>,
        state: &State<Pending>,
        t: ThreadId,
    ) -> Vec<Label> {
        machine.model.pending_labels(&state.pending, t).map(Label).collect()
    }
}

impl Ordered for LabelledMachine<'_, '_, Abstract, CoherencePrevention> {
    type Work = Work<Pending>;

    fn work(&self) -> Work<Pending> {
        self.machine.work()
    }

    /// Writes the key of the machine, followed by the heads of the buffers.
    fn key(&self, state: &[u8], work: &mut Work<Pending>, key: &mut Vec<u8>) {
        self.machine.key(state, work, key);
        for buffer in &work.keyed().pending {
            key.extend_from_slice(&(buffer.head.len() as u32).to_le_bytes());
            for entry in &buffer.head {
                key.extend_from_slice(&entry.slot.to_le_bytes());
                key.extend_from_slice(&[entry.epoch, u8::from(entry.before_barrier)]);
                key.extend_from_slice(&entry.value.to_le_bytes());
                key.extend_from_slice(&entry.label.to_le_bytes());
            }
        }
    }

    fn relate(
        &self,
        kept: &[u8],
        new: &[u8],
        work: &mut Work<Pending>,
        joined: &mut Vec<u8>,
    ) -> Relation {
        self.machine.relate(kept, new, work, joined)
    }
}
