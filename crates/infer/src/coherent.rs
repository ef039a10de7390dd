//! What prevents the steps of an abstract model.
//!
//! Source: \[KVY11\] 5.3. Entries and elements of abstract buffers carry the labels of their stores. A step that
//! executes an access is avoidable when something is pending for its thread: a fence between that store and
//! the access would have held it up. Commits cannot be prevented.
//!
//! - `fd`: all that is in the buffer is pending, so that the constraints of the step form one clause: keeping any of
//!   them prevents it (5.3.1).
//! - `pd` and `set`: an element may not be pending in some of the situations that a state stands for,
//!   so that each constraint is a clause of its own: all must be kept (5.3.2).
//!
//! Direction: the formula may ask for more than is needed, never for less. A run of the exact model follows a path of
//! the graph, and at each of its steps something that is really pending is in the label of one of the path's steps; a
//! set of constraints that satisfies the formula has one of these, and the run does not happen where it is kept.
//!
//! *Which states are one.* A search for errors leaves out what another state covers. Here that would cost formulas: a
//! store alone in a head is covered by the same store in a set, which may be committed twice, and a path
//! that nothing prevents would lead there; with k = 1 no program could be sure of a formula that is not false (\[KVY11\] 5.1,
//! SC-recoverability). So `fd` keeps all states, and `pd` and `set` join those only whose heads are the same. It
//! is \[KVY11\] 4.3, which lets no empty set be covered by another one, and a little less.

use crate::graph::{LabelledMachine, Labels, Prevention};
use fencepost_ir::ThreadId;
use fencepost_models::buffered::Buffered;
use fencepost_models::coherence::{Coherence, Domain};
use fencepost_models::machine::ordered::Work;
use fencepost_models::state::State;
use fencepost_models::{Machine, MemoryModel};
use fencepost_search::{Ordered, Relation};

type Abstract = Buffered<Coherence>;
type Pending = <Abstract as MemoryModel>::Pending;

/// What prevents a step is what is pending for its thread.
#[derive(Debug)]
pub(crate) struct Coherent;

impl Prevention<Abstract> for Coherent {
    fn statement(
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

    fn internal(
        &self,
        _: &Machine<'_, Abstract>,
        _: &State<Pending>,
        _: ThreadId,
        _: u32,
        _: &mut Labels,
    ) {
    }
}

/// Working memory for comparing states.
#[derive(Debug)]
pub(crate) struct Compared {
    work: Work<Pending>,
    state: State<Pending>,
}

impl Ordered for LabelledMachine<'_, '_, Abstract, Coherent> {
    type Work = Compared;

    fn work(&self) -> Compared {
        Compared { work: self.machine.work(), state: self.machine.blank() }
    }

    /// As the machine has it, with the heads.
    fn key(&self, state: &[u8], compared: &mut Compared, key: &mut Vec<u8>) {
        let Compared { work, state: unpacked } = compared;
        self.machine.key(state, work, key);
        self.machine.unpack(state, unpacked);
        for buffer in &unpacked.pending {
            key.extend_from_slice(&(buffer.head.len() as u32).to_le_bytes());
            for entry in &buffer.head {
                key.extend_from_slice(&entry.slot.to_le_bytes());
                key.extend_from_slice(&[entry.epoch, u8::from(entry.before)]);
                key.extend_from_slice(&entry.value.to_le_bytes());
                key.extend_from_slice(&entry.label.to_le_bytes());
            }
        }
    }

    fn relate(
        &self,
        kept: &[u8],
        new: &[u8],
        compared: &mut Compared,
        joined: &mut Vec<u8>,
    ) -> Relation {
        self.machine.relate(kept, new, &mut compared.work, joined)
    }
}
