//! The store-buffer discipline: what distinguishes SC, TSO and PSO.

use crate::bits::{Reader, Writer};
use crate::model::Fidelity;
use crate::shape::Shape;
use crate::state::State;
use fencepost_ir::{FenceKinds, Label, Loc, ThreadId, Value};
use std::fmt::Debug;

/// A store-buffer discipline: which stores share a queue, and what waits for what.
///
/// The queues may represent several contents at once. A predicate with a `&mut` argument then tests
/// each content and removes the contents for which it does not hold. It returns whether any content
/// remains.
pub trait Discipline: Sync {
    /// The queues of all threads.
    type Queues: Clone + PartialEq + Debug + Send;

    /// Whether stores write memory directly, so that nothing is ever pending.
    const WRITES_DIRECTLY: bool = false;

    /// The direction of approximation.
    const FIDELITY: Fidelity = Fidelity::Exact;

    /// Whether a load may have several possible values, because the youngest pending store is
    /// unknown.
    const LOADS_HAVE_ALTERNATIVES: bool = false;

    /// Whether the queues represent one content, and a thread reads its youngest pending store.
    const HAS_EXACT_QUEUES: bool = false;

    /// Whether steps may be tabulated, see [`crate::model::MemoryModel::has_tables`].
    const HAS_TABLES: bool = Self::HAS_EXACT_QUEUES;

    /// Returns empty queues.
    fn empty(&self, shape: &Shape<'_>) -> Self::Queues;

    /// Appends a store. Returns false if the bound forbids it.
    fn push(&self, shape: &Shape<'_>, q: &mut Self::Queues, t: ThreadId, store: Store) -> bool;

    /// Returns the value of the thread's youngest pending store to the location, which the thread
    /// sees instead of the value in memory. If the discipline does not know the youngest store,
    /// `alternative` selects one (see [`Self::alternatives`]).
    fn youngest_value(
        &self,
        shape: &Shape<'_>,
        q: &mut Self::Queues,
        t: ThreadId,
        target: LoadTarget,
        alternative: u32,
    ) -> Option<Value>;

    /// Returns the number of values that a load may read.
    #[inline]
    fn alternatives(&self, _: &Shape<'_>, _: &Self::Queues, _: ThreadId, _: LoadTarget) -> u32 {
        1
    }

    /// Returns whether no earlier fence blocks the thread's loads.
    fn may_load(&self, q: &mut Self::Queues, t: ThreadId) -> bool;

    /// Returns whether the thread may update the location in memory.
    fn may_update(&self, shape: &Shape<'_>, q: &mut Self::Queues, t: ThreadId, loc: Loc) -> bool;

    /// Returns whether the thread has no pending store to a location for which `matches` holds.
    fn has_no_pending_store_to(
        &self,
        shape: &Shape<'_>,
        q: &mut Self::Queues,
        t: ThreadId,
        matches: &dyn Fn(Loc) -> bool,
    ) -> bool {
        let mut found = false;
        self.for_each_pending(shape, q, t, &mut |loc| found |= matches(loc));
        !found
    }

    /// Returns whether the thread has nothing pending. Restricts the contents, unlike
    /// [`Self::is_empty`].
    fn is_drained(&self, q: &mut Self::Queues, t: ThreadId) -> bool {
        self.is_empty(q, t)
    }

    /// Passes a fence. Returns false if the fence is blocked.
    fn fence(&self, q: &mut Self::Queues, t: ThreadId, kinds: FenceKinds) -> bool;

    /// Returns whether a fence of these kinds can be passed now.
    fn may_fence(&self, q: &Self::Queues, t: ThreadId, kinds: FenceKinds) -> bool;

    /// Returns whether the thread has nothing pending.
    fn is_empty(&self, q: &Self::Queues, t: ThreadId) -> bool;

    /// Calls `visit` with the location of each pending store of the thread.
    fn for_each_pending(
        &self,
        shape: &Shape<'_>,
        q: &Self::Queues,
        t: ThreadId,
        visit: &mut dyn FnMut(Loc),
    );

    /// Appends the enabled commits of a thread to `out`, as arguments of [`Self::commit`].
    fn enabled_commits(&self, q: &Self::Queues, t: ThreadId, out: &mut Vec<u32>);

    /// Returns the location that a commit writes.
    fn commit_location(&self, shape: &Shape<'_>, q: &Self::Queues, t: ThreadId, which: u32) -> Loc;

    /// Removes the store that a commit writes to memory.
    fn commit(&self, shape: &Shape<'_>, q: &mut Self::Queues, t: ThreadId, which: u32)
    -> Committed;

    /// Returns whether pushing a store to the location has the same effect now and after any
    /// commits.
    #[inline]
    fn push_commutes(&self, _: &Shape<'_>, _: &Self::Queues, _: ThreadId, _: Loc) -> bool {
        true
    }

    /// Returns whether the commit takes the only store that can be the next commit to its location.
    #[inline]
    fn commit_commutes(&self, _: &Self::Queues, _: ThreadId, _: u32) -> bool {
        true
    }

    /// Copies the queues of one thread from `from` to a thread with the same code of `to`, see
    /// [`crate::model::MemoryModel::rename_pending`].
    fn rename(
        &self,
        _: &Shape<'_>,
        _from: (&Self::Queues, ThreadId),
        _to: (&mut Self::Queues, ThreadId),
        _store: &dyn Fn(Loc, Value) -> (Loc, Value),
    ) -> bool {
        false
    }

    /// Calls `visit` with each pending store of the thread, if the discipline supports
    /// [`Self::rename`]: its position in its queue, its location and its value.
    fn visit_stores(
        &self,
        _: &Shape<'_>,
        _: &Self::Queues,
        _: ThreadId,
        _visit: &mut dyn FnMut(usize, Loc, Value),
    ) {
    }

    /// Copies the queues of one thread from `from` to `to`.
    fn copy_thread(&self, from: &Self::Queues, to: &mut Self::Queues, t: ThreadId);

    /// Packs the queues of one thread.
    fn encode(&self, shape: &Shape<'_>, q: &Self::Queues, t: ThreadId, writer: &mut Writer);

    /// Returns the number of bits of the packed queues of one thread, which begin at `bit`, if the
    /// discipline [has tables](Self::HAS_TABLES).
    fn packed_bits(&self, _: &Shape<'_>, _: &[u8], _bit: usize, _: ThreadId) -> usize {
        unreachable!("the steps of the discipline are not tabulated")
    }

    /// Unpacks the queues of one thread.
    fn decode(&self, shape: &Shape<'_>, reader: &mut Reader<'_>, q: &mut Self::Queues, t: ThreadId);
}

/// The location of a load and its value in memory.
#[derive(Clone, Copy, Debug)]
pub struct LoadTarget {
    /// The location.
    pub loc: Loc,
    /// The value in memory.
    pub memory_value: Value,
}

impl LoadTarget {
    pub(super) fn of<P>(state: &State<P>, loc: Loc) -> Self {
        LoadTarget { loc, memory_value: state.memory.values[loc.index()] }
    }
}

/// A store to append to a queue.
#[derive(Clone, Copy, Debug)]
pub struct Store {
    /// The location to write.
    pub loc: Loc,
    /// The value to write.
    pub value: Value,
    /// The statement.
    pub label: Label,
}

/// A committed store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Committed {
    /// The location written.
    pub loc: Loc,
    /// The value written.
    pub value: Value,
    /// Whether the store stays pending. Only in abstractions, which do not count how often an
    /// element of a set is pending.
    pub stays_pending: bool,
}
