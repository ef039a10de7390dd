//! The results of expanding one chunk of states in [`explore`](crate::explore()).

use crate::explore::Target;
use crate::system::{BLOCK, Sink};
use crate::visited::{SHARDS, StateId, Visited, shard_of};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The size of the header of a record in an outbox: hash (8 bytes), parent (4), length (4). The
/// bytes of the state follow.
const HEADER: usize = 16;

/// Returns the header of a record.
#[inline(always)]
fn header(hash: u64, parent: StateId, len: usize) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&hash.to_le_bytes());
    header[8..12].copy_from_slice(&parent.0.to_le_bytes());
    header[12..].copy_from_slice(&(len as u32).to_le_bytes());
    header
}

/// The results of expanding one chunk.
#[derive(Default)]
pub(crate) struct Chunk {
    pub(crate) outboxes: [Vec<u8>; SHARDS],
    pub(crate) targets: Vec<Target>,
    pub(crate) facts: BTreeSet<Vec<u8>>,
    pub(crate) transitions: u64,
    /// The states whose expansion omitted a step because of the system's own bound.
    pub(crate) cut: Vec<StateId>,
}

impl Chunk {
    pub(crate) fn clear(&mut self) {
        for outbox in &mut self.outboxes {
            outbox.clear();
        }
        self.targets.clear();
        self.facts.clear();
        self.transitions = 0;
        self.cut.clear();
    }
}

/// Writes the successors of one state to the outboxes of a chunk.
pub(crate) struct ChunkSink<'a, T, V: Visited<T>> {
    pub(crate) system: &'a T,
    pub(crate) shards: &'a [V],
    /// Indexed by shard: one past the last state of the depth being expanded.
    pub(crate) ends: &'a [usize; SHARDS],
    pub(crate) chunk: &'a mut Chunk,
    pub(crate) state: StateId,
    pub(crate) work: RefCell<&'a mut V::Work>,
}

impl<T, V: Visited<T>> ChunkSink<'_, T, V> {
    #[inline(always)]
    fn add(&mut self, state: &[u8], known: Option<u64>) {
        let hash = V::hash(self.system, state, known, self.work.get_mut());
        let outbox = &mut self.chunk.outboxes[shard_of(hash)];
        // As much as a short successor reserves. Which successors are passed as short ones may depend
        // on what a search thread remembers, and allocated memory must not.
        outbox.reserve(HEADER + state.len().max(BLOCK));
        outbox.extend_from_slice(&header(hash, self.state, state.len()));
        outbox.extend_from_slice(state);
        self.chunk.transitions += 1;
    }

    #[inline(always)]
    fn has_greater_depth(&self, state: &[u8], known: Option<u64>) -> bool {
        let work = &mut **self.work.borrow_mut();
        let hash = V::hash(self.system, state, known, work);
        let shard = shard_of(hash);
        let end = self.ends[shard];
        self.shards[shard].covering_member(self.system, hash, state, end, work).is_none()
    }
}

impl<T, V: Visited<T>> Sink for ChunkSink<'_, T, V> {
    #[inline]
    fn successor(&mut self, state: &[u8]) {
        self.add(state, None);
    }

    #[inline]
    fn hashed_successor(&mut self, state: &[u8], hash: u64) {
        self.add(state, Some(hash));
    }

    #[inline(always)]
    fn short_successor(&mut self, block: &[u8; BLOCK], len: usize, hash: u64) {
        let hash = V::hash(self.system, &block[..len], Some(hash), self.work.get_mut());
        let outbox = &mut self.chunk.outboxes[shard_of(hash)];
        let mut record = [0; HEADER + BLOCK];
        record[..HEADER].copy_from_slice(&header(hash, self.state, len));
        record[HEADER..].copy_from_slice(block);
        let end = outbox.len() + HEADER + len;
        outbox.extend_from_slice(&record);
        outbox.truncate(end);
        self.chunk.transitions += 1;
    }

    #[inline]
    fn same_state(&mut self, _: &[u8]) {
        self.chunk.transitions += 1;
    }

    #[inline]
    fn is_farther(&self, state: &[u8]) -> bool {
        self.has_greater_depth(state, None)
    }

    #[inline]
    fn is_hashed_farther(&self, state: &[u8], hash: u64) -> bool {
        self.has_greater_depth(state, Some(hash))
    }

    fn target(&mut self, class: u32, detail: u32) {
        if !self.chunk.targets.iter().any(|t| t.class == class) {
            self.chunk.targets.push(Target { state: self.state, class, detail });
        }
    }

    fn fact(&mut self, fact: &[u8]) {
        if !self.chunk.facts.contains(fact) {
            self.chunk.facts.insert(fact.to_vec());
        }
    }

    fn bounded(&mut self) {
        if self.chunk.cut.last() != Some(&self.state) {
            self.chunk.cut.push(self.state);
        }
    }
}

/// An iterator over the records of an outbox.
pub(crate) struct Records<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Records<'a> {
    type Item = (u64, StateId, &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (header, rest) = self.0.split_first_chunk::<HEADER>()?;
        let (hash, header) = header.split_first_chunk::<8>().expect("the header has 16 bytes");
        let (parent, len) = header.split_first_chunk::<4>().expect("8 bytes of the header remain");
        let len =
            u32::from_le_bytes(len.try_into().expect("4 bytes of the header remain")) as usize;
        let (state, rest) = rest.split_at(len);
        self.0 = rest;
        Some((u64::from_le_bytes(*hash), StateId(u32::from_le_bytes(*parent)), state))
    }
}
