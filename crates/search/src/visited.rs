//! The visited set: one shard of it.
//!
//! The bytes of all states are concatenated in an [`Arena`]. A [hash table](crate::table) finds
//! states by their hashes. Each state also has a parent of four bytes and, unless all states have the
//! same length, an offset of [two bytes](crate::ends). A state of `n` bytes needs `n + 4` or `n + 6`
//! bytes and 5 to 7 bytes of table.
//!
//! The set is split by hash into [`SHARDS`] shards. The number of shards is constant, so the order
//! of states within each shard, and with it every result, does not depend on the number of threads.
//! Rejected: one shared table with compare-and-swap. It is as fast, but the order of states depends
//! on timing.
//!
//! There are two visited sets: [`Shard`] keeps every state, [`Antichain`](crate::Antichain) only
//! states that no other state covers. The trait `Visited` is their common interface.

use crate::ends::Ends;
use crate::system::Encoding;
use crate::table::Table;
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// The number of shards of the visited set.
pub const SHARDS: usize = 16;

/// The number of concatenated bytes above which a search stops. Ends of states have four bytes.
pub(crate) const MAX_BYTES: usize = 0xf000_0000;

/// The id of a stored state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StateId(pub(crate) u32);

impl StateId {
    pub(crate) const NONE: StateId = StateId(u32::MAX);

    pub(crate) fn new(shard: usize, index: usize) -> StateId {
        StateId((index * SHARDS + shard) as u32)
    }

    pub(crate) fn shard(self) -> usize {
        self.0 as usize % SHARDS
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize / SHARDS
    }
}

/// Returns the hash of an encoded state or of a key.
#[inline]
pub fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// Returns the shard of a hash.
#[inline]
pub(crate) fn shard_of(hash: u64) -> usize {
    (hash >> 60) as usize % SHARDS
}

/// Compares two states. The first and the last eight bytes of a state with 8 to 16 bytes are all of
/// it, and so on. A call of `memcmp` costs more.
#[inline(always)]
pub(crate) fn is_equal(a: &[u8], b: &[u8]) -> bool {
    /// Compares the first and the last `N` bytes.
    #[inline(always)]
    fn ends_are_equal<const N: usize>(a: &[u8], b: &[u8]) -> bool {
        a.first_chunk::<N>() == b.first_chunk::<N>() && a.last_chunk::<N>() == b.last_chunk::<N>()
    }
    a.len() == b.len()
        && match a.len() {
            8..=16 => ends_are_equal::<8>(a, b),
            4..=7 => ends_are_equal::<4>(a, b),
            17..=32 => ends_are_equal::<16>(a, b),
            _ => a == b,
        }
}

/// One shard of the visited set of a system `T`. A *member* is a stored state that has not been
/// replaced by a state that covers it.
pub(crate) trait Visited<T>: AsRef<Arena> + Send + Sync {
    /// Working memory of one search thread.
    type Work: Send;

    fn new() -> Self;

    fn work(system: &T) -> Self::Work;

    /// Returns the hash that determines the shard and the table slot of a state. `known` is the hash
    /// that the system has computed, if it has.
    fn hash(system: &T, state: &[u8], known: Option<u64>, work: &mut Self::Work) -> u64;

    /// Encodes the stored states again.
    fn recode(&mut self, recode: &impl Fn(&[u8], &mut Vec<u8>));

    /// Loads the table slot of a hash into the cache. Insertion is bound by memory latency;
    /// prefetching the slots of the next few states overlaps the cache misses.
    fn prefetch(&self, hash: u64) -> u64;

    /// Adds a state, unless a member equals or covers it.
    fn insert(
        &mut self,
        system: &T,
        hash: u64,
        state: &[u8],
        parent: StateId,
        work: &mut Self::Work,
    );

    /// Returns the first member with an index below `end` that equals or covers a state.
    fn covering_member(
        &self,
        system: &T,
        hash: u64,
        state: &[u8],
        end: usize,
        work: &mut Self::Work,
    ) -> Option<usize>;

    fn is_member(&self, index: usize) -> bool;

    /// Returns the indices of the members in ascending order, or `None` if all stored states are
    /// members.
    fn members(&self) -> Option<Vec<u32>>;

    /// Returns the number of members.
    fn count(&self) -> usize;

    /// Returns the number of allocated bytes.
    fn bytes(&self) -> u64;
}

/// Concatenated states, each with its parent.
#[derive(Debug, Default)]
pub struct Arena {
    bytes: Vec<u8>,
    ends: Ends,
    parents: Vec<StateId>,
}

impl Arena {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.bytes.capacity() + self.parents.capacity() * 4) as u64 + self.ends.bytes()
    }

    /// Returns whether offsets or ids cannot address another state.
    pub(crate) fn is_full(&self) -> bool {
        self.len() >= (u32::MAX as usize / SHARDS) - 2 || self.bytes.len() > MAX_BYTES
    }

    #[inline(always)]
    pub(crate) fn state(&self, index: usize) -> &[u8] {
        &self.bytes[self.ends.range(index)]
    }

    pub(crate) fn parent(&self, index: usize) -> StateId {
        self.parents[index]
    }

    #[inline]
    pub(crate) fn push(&mut self, state: &[u8], parent: StateId) {
        grow(&mut self.bytes, state.len());
        self.bytes.extend_from_slice(state);
        self.ends.push(self.bytes.len());
        grow(&mut self.parents, 1);
        self.parents.push(parent);
    }

    /// Encodes the states again.
    pub(crate) fn recode(&mut self, recode: &impl Fn(&[u8], &mut Vec<u8>)) {
        let (mut bytes, mut ends, mut state) = (Vec::new(), Ends::default(), Vec::new());
        for index in 0..self.len() {
            state.clear();
            recode(self.state(index), &mut state);
            grow(&mut bytes, state.len());
            bytes.extend_from_slice(&state);
            ends.push(bytes.len());
        }
        (self.bytes, self.ends) = (bytes, ends);
    }
}

/// One shard of a visited set that keeps every state.
#[derive(Debug)]
pub struct Shard {
    table: Table,
    arena: Arena,
}

impl AsRef<Arena> for Shard {
    fn as_ref(&self) -> &Arena {
        &self.arena
    }
}

impl<T: Encoding> Visited<T> for Shard {
    type Work = ();

    fn new() -> Self {
        Shard { table: Table::new(), arena: Arena::default() }
    }

    fn work(_: &T) {}

    #[inline]
    fn hash(system: &T, state: &[u8], known: Option<u64>, (): &mut ()) -> u64 {
        known.unwrap_or_else(|| system.hasher()(state))
    }

    fn recode(&mut self, recode: &impl Fn(&[u8], &mut Vec<u8>)) {
        self.arena.recode(recode);
    }

    #[inline]
    fn prefetch(&self, hash: u64) -> u64 {
        self.table.prefetch(hash)
    }

    #[inline]
    fn insert(&mut self, system: &T, hash: u64, state: &[u8], parent: StateId, (): &mut ()) {
        let arena = &self.arena;
        let Err(slot) = self.table.find(hash, |index| is_equal(arena.state(index), state)) else {
            return;
        };
        self.table.set(slot, hash, self.arena.len());
        self.arena.push(state, parent);
        let (arena, table) = (&self.arena, &mut self.table);
        if table.exceeds_load_factor(arena.len()) {
            let hasher = system.hasher();
            table.grow((0..arena.len()).map(|index| (hasher(arena.state(index)), index)));
        }
    }

    #[inline]
    fn covering_member(
        &self,
        _: &T,
        hash: u64,
        state: &[u8],
        end: usize,
        (): &mut (),
    ) -> Option<usize> {
        let is_equal = |index| is_equal(self.arena.state(index), state);
        let slot = self.table.find(hash, is_equal).ok()?;
        Some(self.table.index(slot)).filter(|index| *index < end)
    }

    #[inline]
    fn is_member(&self, _: usize) -> bool {
        true
    }

    fn members(&self) -> Option<Vec<u32>> {
        None
    }

    fn count(&self) -> usize {
        self.arena.len()
    }

    fn bytes(&self) -> u64 {
        self.table.bytes() + self.arena.bytes()
    }
}

/// Reserves space in steps of a quarter, for long vectors of an eighth. Doubling would leave up to half
/// of the memory unused.
#[inline]
pub(crate) fn grow<T>(vec: &mut Vec<T>, more: usize) {
    if vec.capacity() - vec.len() < more {
        let part = if vec.len() < 1 << 17 { 4 } else { 8 };
        vec.reserve_exact(more + vec.len() / part + 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Encoding for () {}

    fn new() -> Shard {
        Visited::<()>::new()
    }

    fn insert(shard: &mut Shard, hash: u64, state: &[u8], parent: StateId) -> bool {
        let before = shard.arena.len();
        shard.insert(&(), hash, state, parent, &mut ());
        shard.arena.len() > before
    }

    fn find(shard: &Shard, hash: u64, state: &[u8]) -> Option<usize> {
        shard.covering_member(&(), hash, state, usize::MAX, &mut ())
    }

    #[test]
    fn every_state_is_stored_once_in_order() {
        let mut shard = new();
        let state = |n: u32| n.to_le_bytes().repeat(1 + n as usize % 3);
        for n in 0..5_000 {
            let bytes = state(n);
            assert!(insert(&mut shard, hash(&bytes), &bytes, StateId(n)));
            assert!(!insert(&mut shard, hash(&bytes), &bytes, StateId(0)));
        }
        assert_eq!(shard.arena.len(), 5_000);
        for n in 0..5_000 {
            assert_eq!(shard.arena.state(n as usize), state(n));
            assert_eq!(shard.arena.parent(n as usize), StateId(n));
        }
        assert_eq!(find(&shard, hash(&state(5_000)), &state(5_000)), None);
    }

    #[test]
    fn states_with_equal_hashes_stay_distinct() {
        let mut shard = new();
        assert!(insert(&mut shard, 7, b"one", StateId::NONE));
        assert!(insert(&mut shard, 7, b"two", StateId::NONE));
        assert_eq!((find(&shard, 7, b"one"), find(&shard, 7, b"two")), (Some(0), Some(1)));
        assert_eq!(find(&shard, 7, b"six"), None);
        assert_eq!(shard.covering_member(&(), 7, b"two", 1, &mut ()), None);
    }
}
