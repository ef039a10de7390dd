//! Sequential consistency: a store is visible to all threads at once. Direction: exact.

use crate::bits::{Reader, Writer};
use crate::buffered::{Committed, Discipline, LoadTarget, PlainQueues, Store};
use crate::shape::Shape;
use fencepost_ir::{FenceKinds, Loc, ThreadId, Value};

/// The store-buffer discipline of SC: no queues.
#[derive(Clone, Copy, Debug)]
pub struct Sc;

impl Discipline for Sc {
    type Queues = ();

    const HAS_EXACT_QUEUES: bool = true;

    const WRITES_DIRECTLY: bool = true;

    fn empty(&self, _: &Shape<'_>) {}

    fn push(&self, _: &Shape<'_>, (): &mut (), _: ThreadId, _: Store) -> bool {
        unreachable!("SC stores write memory directly")
    }

    #[inline]
    fn youngest_value(
        &self,
        _: &Shape<'_>,
        (): &mut (),
        _: ThreadId,
        _: LoadTarget,
        _: u32,
    ) -> Option<Value> {
        None
    }

    #[inline]
    fn may_load(&self, (): &mut (), _: ThreadId) -> bool {
        true
    }

    fn may_update(&self, _: &Shape<'_>, (): &mut (), _: ThreadId, _: Loc) -> bool {
        true
    }

    fn fence(&self, (): &mut (), _: ThreadId, _: FenceKinds) -> bool {
        true
    }

    fn may_fence(&self, (): &(), _: ThreadId, _: FenceKinds) -> bool {
        true
    }

    fn is_empty(&self, (): &(), _: ThreadId) -> bool {
        true
    }

    fn for_each_pending(&self, _: &Shape<'_>, (): &(), _: ThreadId, _: &mut dyn FnMut(Loc)) {}

    fn enabled_commits(&self, (): &(), _: ThreadId, _: &mut Vec<u32>) {}

    fn commit_location(&self, _: &Shape<'_>, (): &(), _: ThreadId, _: u32) -> Loc {
        unreachable!("SC has no pending stores")
    }

    fn commit(&self, _: &Shape<'_>, (): &mut (), _: ThreadId, _: u32) -> Committed {
        unreachable!("SC has no pending stores")
    }

    fn copy_thread(&self, (): &(), (): &mut (), _: ThreadId) {}

    fn encode(&self, _: &Shape<'_>, (): &(), _: ThreadId, _: &mut Writer) {}

    #[inline]
    fn packed_bits(&self, _: &Shape<'_>, _: &[u8], _: usize, _: ThreadId) -> usize {
        0
    }

    fn decode(&self, _: &Shape<'_>, _: &mut Reader<'_>, (): &mut (), _: ThreadId) {}
}

impl PlainQueues for Sc {
    fn for_each_value(
        &self,
        _: &Shape<'_>,
        (): &mut (),
        _: ThreadId,
        _: &mut dyn FnMut(Loc, &mut Value),
    ) {
    }
}
