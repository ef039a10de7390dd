//! The visited set of an ordered system: only states that no other one covers.
//!
//! When one state stands for all that another stands for, the other need not be searched. What is
//! kept is an *antichain*: its members are pairwise unrelated, and every state that was ever handed in
//! is covered by one of them. Source: the orders of \[KVY11\] 4.1 and, with a join, 4.3. Direction: what the
//! members stand for is at least what is reachable; a member that came from a join need not be
//! reachable itself.
//!
//! Members that agree on their *key* form a chain, oldest first; only they are compared. A shard's table leads
//! from the hash of a key to the first of its chain, and each state has four bytes for the next one. Keys are
//! not stored: they are made again from the first member when a chain has no equal one, and when the table
//! grows. A chain is short or the order says little; walking it is the whole cost of an insertion.
//!
//! A new state is dropped when a member equals or covers it. Else the members that it covers leave their
//! chain. If it has a *join* with a member, that member leaves, and the join is what is
//! new, compared with the chain from its start. What is new at the end becomes the last of the chain, with the parent
//! of the state that caused it. A state that has left stays in the arena, since paths may lead
//! through it, but a search does not expand it any more.

use crate::system::{Ordered, Relation};
use crate::visited::{Arena, StateId, Table, Visited, grow, hash};
use std::mem;

/// The last of a chain.
const END: u32 = 0;
/// Not in a chain any more.
const GONE: u32 = u32::MAX;

/// One shard of a visited set that keeps no state covered by another.
#[derive(Debug)]
pub struct Antichain {
    /// By key: the first of its chain.
    table: Table,
    arena: Arena,
    /// By state: the index of the next in its chain + 1, or [`END`], or [`GONE`].
    next: Vec<u32>,
    chains: usize,
    gone: usize,
}

/// Working memory for comparing states.
#[derive(Debug)]
pub(crate) struct Compare<W> {
    work: W,
    key: Vec<u8>,
    other: Vec<u8>,
    /// The join that is being compared.
    current: Vec<u8>,
    /// The join that comes next.
    upcoming: Vec<u8>,
    joined: Vec<u8>,
    /// Members that leave, in the order of their chain.
    leaving: Vec<usize>,
}

/// Where a state belongs.
enum Place {
    /// It is a member.
    Equal(usize),
    /// Its chain is in this slot.
    Chain(usize),
    /// It has no chain; this slot is empty.
    Empty(usize),
}

impl AsRef<Arena> for Antichain {
    fn as_ref(&self) -> &Arena {
        &self.arena
    }
}

impl Antichain {
    /// The members, oldest first.
    pub(crate) fn states(&self) -> impl Iterator<Item = &[u8]> {
        let indices = self.next.iter().enumerate().filter(|(_, next)| **next != GONE);
        indices.map(|(index, _)| self.arena.state(index))
    }

    /// The chain that begins with a state.
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
    fn place<T: Ordered>(
        &self,
        system: &T,
        hash: u64,
        state: &[u8],
        compare: &mut Compare<T::Work>,
    ) -> Place {
        let mut equal = None;
        let mut has_key = false;
        let found = self.table.find(hash, |first| {
            equal = self.chain(first).find(|index| self.arena.state(*index) == state);
            equal.is_some() || {
                let Compare { work, key, other, .. } = &mut *compare;
                if !mem::replace(&mut has_key, true) {
                    key.clear();
                    system.key(state, work, key);
                }
                other.clear();
                system.key(self.arena.state(first), work, other);
                key == other
            }
        });
        match (equal, found) {
            (Some(index), _) => Place::Equal(index),
            (None, Ok(slot)) => Place::Chain(slot),
            (None, Err(slot)) => Place::Empty(slot),
        }
    }

    /// Takes members out of the chain that begins with `first`; tells what it begins with then.
    fn unlink(&mut self, first: usize, leaving: &[usize]) -> Option<usize> {
        let mut leaving = leaving.iter().copied().peekable();
        let (mut begin, mut last) = (END, None);
        let mut at = first as u32 + 1;
        while at != END {
            let index = at as usize - 1;
            let next = self.next[index];
            if leaving.next_if_eq(&index).is_some() {
                self.next[index] = GONE;
                self.gone += 1;
            } else {
                match last {
                    None => begin = at,
                    Some(last) => self.next[last as usize] = at,
                }
                last = Some(at - 1);
            }
            at = next;
        }
        debug_assert_eq!(leaving.next(), None, "members leave in the order of their chain");
        if let Some(last) = last {
            self.next[last as usize] = END;
        }
        (begin != END).then(|| begin as usize - 1)
    }

    /// Adds a state at the end of a chain.
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

    /// Adds a state to a chain that has none equal to it.
    fn merge<T: Ordered>(
        &mut self,
        system: &T,
        (slot, hash): (usize, u64),
        state: &[u8],
        parent: StateId,
        compare: &mut Compare<T::Work>,
    ) {
        let Compare { work, current, upcoming, joined, leaving, .. } = compare;
        let mut first = Some(self.table.index(slot));
        let mut new = state;
        while let Some(begin) = first {
            leaving.clear();
            let mut has_join = false;
            for index in self.chain(begin) {
                let kept = self.arena.state(index);
                debug_assert_ne!(
                    kept, new,
                    "a member that equals a join would have covered its parts"
                );
                joined.clear();
                match settled(system.relate(kept, new, work, joined), kept, joined) {
                    Relation::Unrelated => {}
                    Relation::Covered => return,
                    Relation::Covers => leaving.push(index),
                    Relation::Joined if has_join => {} // the join meets it once more
                    Relation::Joined => {
                        has_join = true;
                        leaving.push(index);
                        mem::swap(joined, upcoming);
                    }
                }
            }
            if !leaving.is_empty() {
                first = self.unlink(begin, leaving);
                if let Some(first) = first {
                    self.table.set(slot, hash, first);
                }
            }
            if !has_join {
                break;
            }
            mem::swap(current, upcoming);
            new = current;
        }
        let index = self.append(first, new, parent);
        if first.is_none() {
            self.table.set(slot, hash, index);
        }
    }

    fn rehash<T: Ordered>(&mut self, system: &T, compare: &mut Compare<T::Work>) {
        let (arena, next) = (&self.arena, &self.next);
        let mut is_first = vec![true; next.len()];
        for next in next.iter().filter(|next| **next != END && **next != GONE) {
            is_first[*next as usize - 1] = false;
        }
        let firsts = (0..next.len()).filter(|index| next[*index] != GONE && is_first[*index]);
        self.table.grow(firsts.map(|index| {
            compare.other.clear();
            system.key(arena.state(index), &mut compare.work, &mut compare.other);
            (hash(&compare.other), index)
        }));
    }
}

/// A join that is the kept state says that this covers the new one. (A join that is the new one needs no care:
/// the kept one leaves in either case.)
fn settled(relation: Relation, kept: &[u8], joined: &[u8]) -> Relation {
    match relation {
        Relation::Joined if joined == kept => Relation::Covered,
        Relation::Joined | Relation::Unrelated | Relation::Covered | Relation::Covers => relation,
    }
}

impl<T: Ordered> Visited<T> for Antichain {
    type Work = Compare<T::Work>;

    fn new() -> Self {
        let (table, arena) = (Table::new(), Arena::default());
        Antichain { table, arena, next: Vec::new(), chains: 0, gone: 0 }
    }

    fn work(system: &T) -> Self::Work {
        Compare {
            work: system.work(),
            key: Vec::new(),
            other: Vec::new(),
            current: Vec::new(),
            upcoming: Vec::new(),
            joined: Vec::new(),
            leaving: Vec::new(),
        }
    }

    #[inline]
    fn hash(system: &T, state: &[u8], compare: &mut Self::Work) -> u64 {
        compare.key.clear();
        system.key(state, &mut compare.work, &mut compare.key);
        hash(&compare.key)
    }

    #[inline]
    fn touch(&self, hash: u64) -> u64 {
        self.table.touch(hash)
    }

    fn insert(
        &mut self,
        system: &T,
        hash: u64,
        state: &[u8],
        parent: StateId,
        compare: &mut Self::Work,
    ) {
        match self.place(system, hash, state, compare) {
            Place::Equal(_) => {}
            Place::Chain(slot) => self.merge(system, (slot, hash), state, parent, compare),
            Place::Empty(slot) => {
                let index = self.append(None, state, parent);
                self.table.set(slot, hash, index);
                self.chains += 1;
                if self.table.is_crowded(self.chains) {
                    self.rehash(system, compare);
                }
            }
        }
    }

    fn standing_for(
        &self,
        system: &T,
        hash: u64,
        state: &[u8],
        end: usize,
        compare: &mut Self::Work,
    ) -> Option<usize> {
        match self.place(system, hash, state, compare) {
            Place::Equal(index) => Some(index).filter(|index| *index < end),
            Place::Empty(_) => None,
            Place::Chain(slot) => {
                let mut older = self.chain(self.table.index(slot)).take_while(|index| *index < end);
                older.find(|index| {
                    let kept = self.arena.state(*index);
                    compare.joined.clear();
                    let relation =
                        system.relate(kept, state, &mut compare.work, &mut compare.joined);
                    settled(relation, kept, &compare.joined) == Relation::Covered
                })
            }
        }
    }

    #[inline]
    fn is_member(&self, index: usize) -> bool {
        self.next[index] != GONE
    }

    fn members(&self) -> Option<Vec<u32>> {
        let indices = self.next.iter().enumerate().filter(|(_, next)| **next != GONE);
        Some(indices.map(|(index, _)| index as u32).collect())
    }

    fn count(&self) -> usize {
        self.arena.len() - self.gone
    }

    fn bytes(&self) -> u64 {
        self.table.bytes() + self.arena.bytes() + self.next.capacity() as u64 * 4
    }
}
