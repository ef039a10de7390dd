//! The covering order on the states of an abstract model's machine.

use super::Machine;
use crate::bits::Writer;
use crate::model::Covering;
use crate::state::State;
use fencepost_search::{Ordered, Relation};

/// Working memory for the comparison of states.
#[derive(Debug)]
pub struct Work<P> {
    kept: State<P>,
    new: State<P>,
    writer: Writer,
}

impl<P> Work<P> {
    /// Returns the state whose key was computed last, unpacked.
    pub fn keyed(&self) -> &State<P> {
        &self.new
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
            self.encode_control(new, t, writer);
            self.model.encode_key(&self.shape, &new.pending, t, writer);
            writer.align();
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
        if self.model.covers(&old.pending, &state.pending) {
            return Relation::Covered;
        }
        if self.model.covers(&state.pending, &old.pending) {
            return Relation::Covers;
        }
        if self.model.join(&mut state.pending, &old.pending) {
            joined.extend_from_slice(self.encode(state, writer));
            return Relation::Joined;
        }
        Relation::Unrelated
    }
}
