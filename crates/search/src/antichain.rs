//! The visited set of an ordered system: an antichain.
//!
//! A state that is covered by another state need not be explored. The set keeps an *antichain*: its
//! members are pairwise unrelated, and every inserted state is covered by a member. Source: the
//! orders of \[KVY11\] 4.1 and, with a join, 4.3. Direction: over-approximation. The members cover
//! at least all reachable states; a member that is a join need not be reachable.
//!
//! Members with the same *key* form a chain, a linked list with the oldest member first. Only
//! members of one chain are compared. The table of a shard maps the hash of a key to the first
//! member of its chain, and each state has four bytes for the link to the next member. Keys are not
//! stored. They are recomputed from the first member of a chain when the chain contains no equal
//! state, and when the table grows. An insertion walks the whole chain. Chains are short unless the
//! order relates few states.
//!
//! Insertion drops a new state that a member equals or covers. Otherwise it removes the members
//! that the new state covers from the chain. If the new state has a *join* with a member, it
//! removes that member too; the join becomes the new state and is compared with the whole chain
//! again. At the end, the new state is appended to the chain, with the parent of the inserted
//! state. A removed state stays in the arena, because paths may contain it, but a search does not
//! expand it.

use crate::system::{Ordered, Relation};
use crate::visited::{Arena, StateId, Table, Visited, grow, hash};
use std::mem;

/// The link of the last member of a chain.
const END: u32 = 0;
/// The link of a state that was removed from its chain.
const REMOVED: u32 = u32::MAX;

/// One shard of a visited set whose members are an antichain.
#[derive(Debug)]
pub struct Antichain {
    /// Maps the hash of a key to the first member of its chain.
    table: Table,
    arena: Arena,
    /// Indexed by state: the index of the next member of the chain + 1, or [`END`], or [`REMOVED`].
    next: Vec<u32>,
    chains: usize,
    removed: usize,
}

/// Working memory for comparing states.
#[derive(Debug)]
pub(crate) struct CompareScratch<W> {
    work: W,
    key: Vec<u8>,
    other_key: Vec<u8>,
    /// The join that is being compared.
    current_join: Vec<u8>,
    /// The join that is compared next.
    next_join: Vec<u8>,
    joined: Vec<u8>,
    /// The members to remove, in the order of their chain.
    to_remove: Vec<usize>,
}

/// The result of looking up a state.
enum Lookup {
    /// The state is the member with this index.
    Equal(usize),
    /// The chain of the state's key is in this slot.
    Chain(usize),
    /// The state's key has no chain. This slot is empty.
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

    #[inline]
    fn lookup<T: Ordered>(
        &self,
        system: &T,
        hash: u64,
        state: &[u8],
        compare: &mut CompareScratch<T::Work>,
    ) -> Lookup {
        let mut equal = None;
        let mut has_key = false;
        let found = self.table.find(hash, |first| {
            equal = self.chain(first).find(|index| self.arena.state(*index) == state);
            equal.is_some() || {
                let CompareScratch { work, key, other_key, .. } = &mut *compare;
                if !mem::replace(&mut has_key, true) {
                    key.clear();
                    system.key(state, work, key);
                }
                other_key.clear();
                system.key(self.arena.state(first), work, other_key);
                key == other_key
            }
        });
        match (equal, found) {
            (Some(index), _) => Lookup::Equal(index),
            (None, Ok(slot)) => Lookup::Chain(slot),
            (None, Err(slot)) => Lookup::Empty(slot),
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
        (slot, hash): (usize, u64),
        state: &[u8],
        parent: StateId,
        compare: &mut CompareScratch<T::Work>,
    ) {
        let CompareScratch { work, current_join, next_join, joined, to_remove, .. } = compare;
        let mut first = Some(self.table.index(slot));
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
                    self.table.set(slot, hash, first);
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
            self.table.set(slot, hash, index);
        }
    }

    fn rehash<T: Ordered>(&mut self, system: &T, compare: &mut CompareScratch<T::Work>) {
        let (arena, next) = (&self.arena, &self.next);
        let mut is_first = vec![true; next.len()];
        for next in next.iter().filter(|next| **next != END && **next != REMOVED) {
            is_first[*next as usize - 1] = false;
        }
        let firsts = (0..next.len()).filter(|index| next[*index] != REMOVED && is_first[*index]);
        self.table.grow(firsts.map(|index| {
            compare.other_key.clear();
            system.key(arena.state(index), &mut compare.work, &mut compare.other_key);
            (hash(&compare.other_key), index)
        }));
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
        Antichain { table, arena, next: Vec::new(), chains: 0, removed: 0 }
    }

    fn work(system: &T) -> Self::Work {
        CompareScratch {
            work: system.work(),
            key: Vec::new(),
            other_key: Vec::new(),
            current_join: Vec::new(),
            next_join: Vec::new(),
            joined: Vec::new(),
            to_remove: Vec::new(),
        }
    }

    #[inline]
    fn hash(system: &T, state: &[u8], compare: &mut Self::Work) -> u64 {
        compare.key.clear();
        system.key(state, &mut compare.work, &mut compare.key);
        hash(&compare.key)
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
            Lookup::Chain(slot) => self.merge(system, (slot, hash), state, parent, compare),
            Lookup::Empty(slot) => {
                let index = self.append(None, state, parent);
                self.table.set(slot, hash, index);
                self.chains += 1;
                if self.table.exceeds_load_factor(self.chains) {
                    self.rehash(system, compare);
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
            Lookup::Chain(slot) => {
                let mut older = self.chain(self.table.index(slot)).take_while(|index| *index < end);
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
        self.table.bytes() + self.arena.bytes() + self.next.capacity() as u64 * 4
    }
}
