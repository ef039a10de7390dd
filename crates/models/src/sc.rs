//! Sequential consistency: a store is visible to all at once. Direction: exact.

use crate::bits::{Reader, Writer};
use crate::buffered::{Committed, Discipline, Place, Store};
use crate::shape::Shape;
use fencepost_ir::{FenceKinds, Loc, ThreadId, Value};

/// The discipline without queues.
#[derive(Clone, Copy, Debug)]
pub struct Sc;

impl Discipline for Sc {
    type Queues = ();

    const DIRECT: bool = true;

    fn empty(&self, _: &Shape<'_>) {}

    fn push(&self, _: &Shape<'_>, (): &mut (), _: ThreadId, _: Store) -> bool {
        unreachable!("stores go to memory at once")
    }

    #[inline]
    fn youngest(&self, _: &Shape<'_>, (): &mut (), _: ThreadId, _: Place, _: u32) -> Option<Value> {
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

    fn for_each(&self, _: &Shape<'_>, (): &(), _: ThreadId, _: &mut dyn FnMut(Loc)) {}

    fn commits(&self, (): &(), _: ThreadId, _: &mut Vec<u32>) {}

    fn commit_location(&self, _: &Shape<'_>, (): &(), _: ThreadId, _: u32) -> Loc {
        unreachable!("nothing is ever pending")
    }

    fn commit(&self, _: &Shape<'_>, (): &mut (), _: ThreadId, _: u32) -> Committed {
        unreachable!("nothing is ever pending")
    }

    fn copy_thread(&self, (): &(), (): &mut (), _: ThreadId) {}

    fn encode(&self, _: &Shape<'_>, (): &(), _: ThreadId, _: &mut Writer) {}

    fn decode(&self, _: &Shape<'_>, _: &mut Reader<'_>, (): &mut (), _: ThreadId) {}
}
