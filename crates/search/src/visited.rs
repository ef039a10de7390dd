//! The set of visited states: one shard of it.
//!
//! Bytes of all states lie one after another in an arena; an open-addressing table finds them by
//! hash. A table entry is 32 bits of the hash and the state's index, so that most comparisons touch
//! the table only. Beside it there are four bytes of offset and four of parent for each state: a state of `n`
//! bytes costs `n + 8` bytes and 9 to 18 bytes of table.
//!
//! The whole set is split into [`SHARDS`] shards by hash, always the same number: the order of states
//! within each shard, and so everything that is reported, does not depend on how many threads
//! search. Rejected: one shared table with compare-and-swap, which is as fast but orders states by
//! the accidents of timing.

use rustc_hash::FxHasher;
use std::hash::Hasher;

/// How many shards the visited set has.
pub const SHARDS: usize = 16;

/// A visited state.
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

/// The hash of an encoded state.
#[inline]
pub(crate) fn hash(state: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(state);
    hasher.finish()
}

/// The shard a hash belongs to.
#[inline]
pub(crate) fn shard_of(hash: u64) -> usize {
    (hash >> 60) as usize % SHARDS
}

/// One shard of the visited set.
#[derive(Debug)]
pub(crate) struct Shard {
    /// Hash bits 28..60 in the upper half, index + 1 in the lower; 0 is empty. A power of two long.
    table: Vec<u64>,
    arena: Vec<u8>,
    /// `ends[i]` is one past the last byte of state `i` in the arena.
    ends: Vec<u32>,
    parents: Vec<StateId>,
}

impl Shard {
    pub(crate) fn new() -> Self {
        Shard { table: vec![0; 32], arena: Vec::new(), ends: Vec::new(), parents: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes held, counting what is reserved.
    pub(crate) fn bytes(&self) -> u64 {
        (self.table.capacity() * 8
            + self.arena.capacity()
            + self.ends.capacity() * 4
            + self.parents.capacity() * 4) as u64
    }

    /// Whether another state of this size could not be addressed.
    pub(crate) fn is_full(&self) -> bool {
        self.len() >= (u32::MAX as usize / SHARDS) - 2 || self.arena.len() > 0xf000_0000
    }

    #[inline]
    pub(crate) fn state(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.arena[start..self.ends[index] as usize]
    }

    pub(crate) fn parent(&self, index: usize) -> StateId {
        self.parents[index]
    }

    #[inline]
    fn slot(&self, hash: u64) -> usize {
        hash as usize & (self.table.len() - 1)
    }

    #[inline]
    fn tag(hash: u64) -> u64 {
        (hash >> 28) << 32
    }

    /// Brings the table slot of a hash into the cache. Inserting many states is bound by memory
    /// latency; touching the slots of a few states ahead overlaps the waits.
    #[inline]
    pub(crate) fn touch(&self, hash: u64) -> u64 {
        self.table[self.slot(hash)]
    }

    /// The index of a state, or the empty slot where it belongs.
    #[inline]
    pub(crate) fn find(&self, hash: u64, state: &[u8]) -> Result<usize, usize> {
        let mask = self.table.len() - 1;
        let tag = Self::tag(hash);
        let mut slot = self.slot(hash);
        loop {
            let entry = self.table[slot];
            if entry == 0 {
                return Err(slot);
            }
            if entry & 0xffff_ffff_0000_0000 == tag {
                let index = (entry as u32 - 1) as usize;
                if self.state(index) == state {
                    return Ok(index);
                }
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Adds a state unless it is known. Returns whether it was added.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64, state: &[u8], parent: StateId) -> bool {
        let Err(slot) = self.find(hash, state) else {
            return false;
        };
        let index = self.ends.len();
        self.table[slot] = Self::tag(hash) | (index as u64 + 1);
        grow(&mut self.arena, state.len());
        self.arena.extend_from_slice(state);
        grow(&mut self.ends, 1);
        self.ends.push(self.arena.len() as u32);
        grow(&mut self.parents, 1);
        self.parents.push(parent);
        if (index + 1) * 8 > self.table.len() * 7 {
            self.rehash();
        }
        true
    }

    fn rehash(&mut self) {
        let len = self.table.len() * 2;
        let mask = len - 1;
        self.table = Vec::new(); // first, so that both do not exist at once
        self.table = vec![0; len];
        for index in 0..self.ends.len() {
            let hash = hash(self.state(index));
            let mut slot = hash as usize & mask;
            while self.table[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            self.table[slot] = Self::tag(hash) | (index as u64 + 1);
        }
    }
}

/// Reserves in steps of a quarter: doubling would leave up to half of the memory unused.
#[inline]
fn grow<T>(vec: &mut Vec<T>, more: usize) {
    if vec.capacity() - vec.len() < more {
        vec.reserve_exact(more + vec.len() / 4 + 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_kept_once_and_in_order() {
        let mut shard = Shard::new();
        let state = |n: u32| n.to_le_bytes().repeat(1 + n as usize % 3);
        for n in 0..5_000 {
            let bytes = state(n);
            assert!(shard.insert(hash(&bytes), &bytes, StateId(n)));
            assert!(!shard.insert(hash(&bytes), &bytes, StateId(0)));
        }
        assert_eq!(shard.len(), 5_000);
        for n in 0..5_000 {
            assert_eq!(shard.state(n as usize), state(n));
            assert_eq!(shard.parent(n as usize), StateId(n));
        }
        assert!(shard.find(hash(&state(5_000)), &state(5_000)).is_err());
    }

    #[test]
    fn equal_hashes_do_not_merge_states() {
        let mut shard = Shard::new();
        assert!(shard.insert(7, b"one", StateId::NONE));
        assert!(shard.insert(7, b"two", StateId::NONE));
        assert_eq!((shard.find(7, b"one"), shard.find(7, b"two")), (Ok(0), Ok(1)));
        assert!(shard.find(7, b"six").is_err());
    }
}
