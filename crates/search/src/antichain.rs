//! The visited set of an ordered system: an antichain.
//!
//! A state that is covered by another state need not be explored. The set keeps an *antichain*: its
//! members are pairwise unrelated, and every inserted state is covered by a member. Source: the
//! orders of \[KVY11\] 4.1 and, with a join, 4.3. Direction: over-approximation. The members cover
//! at least all reachable states; a member that is a join need not be reachable.
//!
//! Members with the same *key* form a chain, a linked list with the oldest member first. Only
//! members of one chain are compared. The table of a shard maps the hash of a key to its chain. A
//! chain stores its key and its first member, and each state has four bytes
//! for the link to the next member. Rejected: recomputing keys from the first member. It saves the
//! bytes of one key for each chain, but a comparison and the growth of the table decode a state. An
//! insertion walks the whole chain. Chains are short unless the order relates few states.
//!
//! Insertion drops a new state that a member equals or covers. Otherwise it removes the members
//! that the new state covers from the chain. If the new state has a *join* with a member, it
//! removes that member too; the join becomes the new state and is compared with the whole chain
//! again. At the end, the new state is appended to the chain, with the parent of the inserted
//! state. A removed state stays in the arena, because paths may contain it, but a search does not
//! expand it.

use crate::system::{Ordered, Relation};
use crate::table::Table;
use crate::visited::{Arena, StateId, Visited, grow, hash, is_equal};
use std::mem;

/// The link of the last member of a chain.
const END: u32 = 0;
/// The link of a state that was removed from its chain.
const REMOVED: u32 = u32::MAX;

/// One shard of a visited set whose members are an antichain.
#[derive(Debug)]
pub struct Antichain {
    /// Maps the hash of a key to the index of its chain.
    table: Table,
    chains: Chains,
    arena: Arena,
    /// Indexed by state: the index of the next member of the chain + 1, or [`END`], or [`REMOVED`].
    next: Vec<u32>,
    removed: usize,
}

/// The keys and first members of the chains.
#[derive(Debug, Default)]
struct Chains {
    keys: Vec<u8>,
    /// `key_ends[i]` is one past the last byte of the key of chain `i`.
    key_ends: Vec<usize>,
    firsts: Vec<u32>,
}

impl Chains {
    fn len(&self) -> usize {
        self.firsts.len()
    }

    #[inline]
    fn key(&self, chain: usize) -> &[u8] {
        let start = if chain == 0 { 0 } else { self.key_ends[chain - 1] };
        &self.keys[start..self.key_ends[chain]]
    }

    #[inline]
    fn first(&self, chain: usize) -> usize {
        self.firsts[chain] as usize
    }

    /// Returns the hash of the key and the index of every chain.
    fn with_hashes(&self) -> impl Iterator<Item = (u64, usize)> {
        (0..self.len()).map(|chain| (hash(self.key(chain)), chain))
    }

    /// Adds a chain with its first member.
    fn push(&mut self, key: &[u8], first: usize) {
        grow(&mut self.keys, key.len());
        self.keys.extend_from_slice(key);
        grow(&mut self.key_ends, 1);
        self.key_ends.push(self.keys.len());
        grow(&mut self.firsts, 1);
        self.firsts.push(first as u32);
    }

    fn bytes(&self) -> u64 {
        let per_chain = self.key_ends.capacity() * 8 + self.firsts.capacity() * 4;
        (self.keys.capacity() + per_chain) as u64
    }
}

/// Working memory for comparing states.
#[derive(Debug)]
pub(crate) struct CompareScratch<W> {
    work: W,
    /// The state whose key was computed last, its key and the hash of the key. A search asks for them
    /// several times in succession.
    keyed: Option<Vec<u8>>,
    key: Vec<u8>,
    hash: u64,
    /// The join that is being compared.
    current_join: Vec<u8>,
    /// The join that is compared next.
    next_join: Vec<u8>,
    joined: Vec<u8>,
    /// The members to remove, in the order of their chain.
    to_remove: Vec<usize>,
}

impl<W> CompareScratch<W> {
    /// Computes the key of a state and its hash.
    #[inline]
    fn compute_key<T: Ordered<Work = W>>(&mut self, system: &T, state: &[u8]) {
        let keyed = match &mut self.keyed {
            Some(keyed) if is_equal(keyed, state) => return,
            Some(keyed) => keyed,
            None => self.keyed.insert(Vec::new()),
        };
        keyed.clear();
        keyed.extend_from_slice(state);
        self.key.clear();
        system.key(state, &mut self.work, &mut self.key);
        self.hash = hash(&self.key);
    }
}

/// The result of looking up a state.
enum Lookup {
    /// The state is the member with this index.
    Equal(usize),
    /// The chain of the state's key. It contains no equal state.
    Chain(usize),
    /// The state's key has no chain. This slot of the table is empty.
    Empty(usize),
}

impl AsRef<Arena> for Antichain {
    fn as_ref(&self) -> &Arena {
        &self.arena
    }
}

impl Antichain {
    /// Returns the members, oldest first.
    pub(crate) fn member_states(&self) -> impl Iterator<Item = &[u8]> {
        let indices = self.next.iter().enumerate().filter(|(_, next)| **next != REMOVED);
        indices.map(|(index, _)| self.arena.state(index))
    }

    /// Iterates over the chain that starts with the state `first`.
    #[inline]
    fn chain(&self, first: usize) -> impl Iterator<Item = usize> + '_ {
        let mut at = first as u32 + 1;
        std::iter::from_fn(move || {
            let index = (at != END).then(|| at as usize - 1)?;
            at = self.next[index];
            Some(index)
        })
    }

    /// Looks up a state. Unless the result is [`Lookup::Equal`], the key of the state is in
    /// `compare.key` afterwards.
    #[inline]
    fn lookup<T: Ordered>(
        &self,
        system: &T,
        hash: u64,
        state: &[u8],
        compare: &mut CompareScratch<T::Work>,
    ) -> Lookup {
        let mut equal = None;
        let found = self.table.find(hash, |chain| {
            let mut members = self.chain(self.chains.first(chain));
            equal = members.find(|index| is_equal(self.arena.state(*index), state));
            equal.is_some() || {
                compare.compute_key(system, state);
                self.chains.key(chain) == compare.key.as_slice()
            }
        });
        match (equal, found) {
            (Some(index), _) => Lookup::Equal(index),
            (None, Ok(slot)) => Lookup::Chain(self.table.index(slot)),
            (None, Err(slot)) => {
                compare.compute_key(system, state);
                Lookup::Empty(slot)
            }
        }
    }

    /// Removes members from the chain that starts with `first`. Returns the new first member.
    fn unlink(&mut self, first: usize, to_remove: &[usize]) -> Option<usize> {
        let mut to_remove = to_remove.iter().copied().peekable();
        let (mut new_first, mut last) = (END, None);
        let mut at = first as u32 + 1;
        while at != END {
            let index = at as usize - 1;
            let next = self.next[index];
            if to_remove.next_if_eq(&index).is_some() {
                self.next[index] = REMOVED;
                self.removed += 1;
            } else {
                match last {
                    None => new_first = at,
                    Some(last) => self.next[last as usize] = at,
                }
                last = Some(at - 1);
            }
            at = next;
        }
        debug_assert_eq!(
            to_remove.next(),
            None,
            "members to remove are in the order of their chain"
        );
        if let Some(last) = last {
            self.next[last as usize] = END;
        }
        (new_first != END).then(|| new_first as usize - 1)
    }

    /// Appends a state to the chain that starts with `first`, or starts a new chain.
    fn append(&mut self, first: Option<usize>, state: &[u8], parent: StateId) -> usize {
        let index = self.arena.len();
        if let Some(last) = first.and_then(|first| self.chain(first).last()) {
            self.next[last] = index as u32 + 1;
        }
        self.arena.push(state, parent);
        grow(&mut self.next, 1);
        self.next.push(END);
        index
    }

    /// Inserts a state into a chain that contains no equal state.
    fn merge<T: Ordered>(
        &mut self,
        system: &T,
        chain: usize,
        state: &[u8],
        parent: StateId,
        compare: &mut CompareScratch<T::Work>,
    ) {
        let CompareScratch { work, current_join, next_join, joined, to_remove, .. } = compare;
        let mut first = Some(self.chains.first(chain));
        let mut new = state;
        while let Some(chain_first) = first {
            to_remove.clear();
            let mut has_join = false;
            for index in self.chain(chain_first) {
                let kept = self.arena.state(index);
                debug_assert_ne!(
                    kept, new,
                    "a member that equals the join would have covered the joined states"
                );
                joined.clear();
                match normalize_join(system.relate(kept, new, work, joined), kept, joined) {
                    Relation::Unrelated => {}
                    Relation::Covered => return,
                    Relation::Covers => to_remove.push(index),
                    // The next iteration compares this member with the join.
                    Relation::Joined if has_join => {}
                    Relation::Joined => {
                        has_join = true;
                        to_remove.push(index);
                        mem::swap(joined, next_join);
                    }
                }
            }
            if !to_remove.is_empty() {
                first = self.unlink(chain_first, to_remove);
                if let Some(first) = first {
                    self.chains.firsts[chain] = first as u32;
                }
            }
            if !has_join {
                break;
            }
            mem::swap(current_join, next_join);
            new = current_join;
        }
        let index = self.append(first, new, parent);
        if first.is_none() {
            self.chains.firsts[chain] = index as u32;
        }
    }
}

/// Replaces `Joined` by `Covered` if the join equals the stored state. A join that equals the new
/// state needs no special case: the stored state is removed either way.
fn normalize_join(relation: Relation, kept: &[u8], joined: &[u8]) -> Relation {
    match relation {
        Relation::Joined if joined == kept => Relation::Covered,
        Relation::Joined | Relation::Unrelated | Relation::Covered | Relation::Covers => relation,
    }
}

impl<T: Ordered> Visited<T> for Antichain {
    type Work = CompareScratch<T::Work>;

    fn new() -> Self {
        let (table, arena) = (Table::new(), Arena::default());
        Antichain { table, chains: Chains::default(), arena, next: Vec::new(), removed: 0 }
    }

    fn work(system: &T) -> Self::Work {
        CompareScratch {
            work: system.work(),
            keyed: None,
            key: Vec::new(),
            hash: 0,
            current_join: Vec::new(),
            next_join: Vec::new(),
            joined: Vec::new(),
            to_remove: Vec::new(),
        }
    }

    #[inline]
    fn hash(system: &T, state: &[u8], _: Option<u64>, compare: &mut Self::Work) -> u64 {
        compare.compute_key(system, state);
        compare.hash
    }

    fn recode(&mut self, recode: &impl Fn(&[u8], &mut Vec<u8>)) {
        self.arena.recode(recode);
    }

    #[inline]
    fn prefetch(&self, hash: u64) -> u64 {
        self.table.prefetch(hash)
    }

    fn insert(
        &mut self,
        system: &T,
        hash: u64,
        state: &[u8],
        parent: StateId,
        compare: &mut Self::Work,
    ) {
        match self.lookup(system, hash, state, compare) {
            Lookup::Equal(_) => {}
            Lookup::Chain(chain) => self.merge(system, chain, state, parent, compare),
            Lookup::Empty(slot) => {
                let index = self.append(None, state, parent);
                self.table.set(slot, hash, self.chains.len());
                self.chains.push(&compare.key, index);
                if self.table.exceeds_load_factor(self.chains.len()) {
                    let chains = &self.chains;
                    self.table.grow(chains.with_hashes());
                }
            }
        }
    }

    fn covering_member(
        &self,
        system: &T,
        hash: u64,
        state: &[u8],
        end: usize,
        compare: &mut Self::Work,
    ) -> Option<usize> {
        match self.lookup(system, hash, state, compare) {
            Lookup::Equal(index) => Some(index).filter(|index| *index < end),
            Lookup::Empty(_) => None,
            Lookup::Chain(chain) => {
                let first = self.chains.first(chain);
                let mut older = self.chain(first).take_while(|index| *index < end);
                older.find(|index| {
                    let kept = self.arena.state(*index);
                    compare.joined.clear();
                    let relation =
                        system.relate(kept, state, &mut compare.work, &mut compare.joined);
                    normalize_join(relation, kept, &compare.joined) == Relation::Covered
                })
            }
        }
    }

    #[inline]
    fn is_member(&self, index: usize) -> bool {
        self.next[index] != REMOVED
    }

    fn members(&self) -> Option<Vec<u32>> {
        let indices = self.next.iter().enumerate().filter(|(_, next)| **next != REMOVED);
        Some(indices.map(|(index, _)| index as u32).collect())
    }

    fn count(&self) -> usize {
        self.arena.len() - self.removed
    }

    fn bytes(&self) -> u64 {
        let links = self.next.capacity() as u64 * 4;
        self.table.bytes() + self.chains.bytes() + self.arena.bytes() + links
    }
}
