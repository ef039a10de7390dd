//! The covering order on the states of an abstract model's machine. Searches compare collapsed states
//! ([`super::part_order`]), if steps are tabulated.

use super::Machine;
use crate::bits::Writer;
use crate::model::Covering;
use crate::state::State;
use fencepost_ir::ThreadId;
use fencepost_search::{Ordered, Relation};

/// Working memory for the comparison of states.
#[derive(Debug)]
pub struct Work<P> {
    pub(super) kept: State<P>,
    pub(super) new: State<P>,
    pub(super) writer: Writer,
}

impl<P> Work<P> {
    /// Returns the state whose key was computed last, unpacked.
    pub fn keyed(&self) -> &State<P> {
        &self.new
    }
}

impl<M: Covering> Machine<'_, M> {
    /// Packs the part of the key that belongs to one thread.
    pub(super) fn encode_key(&self, state: &State<M::Pending>, t: ThreadId, writer: &mut Writer) {
        self.encode_control(state, t, writer);
        self.model.encode_key(&self.shape, &state.pending, t, writer);
        writer.align();
    }
}

impl<M: Covering> Ordered for Machine<'_, M> {
    type Work = Work<M::Pending>;

    fn work(&self) -> Self::Work {
        Work { kept: self.blank(), new: self.blank(), writer: Writer::default() }
    }

    fn key(&self, state: &[u8], work: &mut Self::Work, key: &mut Vec<u8>) {
        let Work { new, writer, .. } = work;
        self.unpack(state, new);
        writer.clear();
        self.encode_memory(&new.memory, writer);
        for t in self.shape.program().thread_ids() {
            self.encode_key(new, t, writer);
        }
        key.extend_from_slice(writer.bytes());
    }

    fn relate(
        &self,
        kept: &[u8],
        new: &[u8],
        work: &mut Self::Work,
        joined: &mut Vec<u8>,
    ) -> Relation {
        let Work { kept: old, new: state, writer } = work;
        self.unpack(kept, old);
        self.unpack(new, state);
        let threads = || self.shape.program().thread_ids();
        let (model, kept, new) = (&self.model, &old.pending, &mut state.pending);
        if threads().all(|t| model.covers(kept, new, t)) {
            return Relation::Covered;
        }
        if threads().all(|t| model.covers(new, kept, t)) {
            return Relation::Covers;
        }
        if threads().all(|t| model.may_join(kept, new, t)) {
            threads().for_each(|t| model.join(new, kept, t));
            joined.extend_from_slice(self.encode(state, writer));
            return Relation::Joined;
        }
        Relation::Unrelated
    }
}
