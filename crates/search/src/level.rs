//! Levels of a breadth-first search: the states of one depth, in chunks.

use crate::visited::SHARDS;
use std::ops::Range;

/// The number of states in a chunk.
const CHUNK_STATES: usize = 64;
/// Rounds with fewer states run on the calling thread.
const MIN_PARALLEL_STATES: usize = 512;

/// States of one depth that are to be expanded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Level {
    /// The states. A chunk is a shard and a range of its states.
    pub(crate) chunks: Vec<(usize, Range<usize>)>,
    /// Indexed by shard: one past the last state of this depth.
    pub(crate) ends: [usize; SHARDS],
}

impl Level {
    /// Returns the level with all states from the ends of the previous level to these ends.
    pub(crate) fn between(previous: &[usize; SHARDS], ends: [usize; SHARDS]) -> Self {
        Level { chunks: split_into_chunks(previous, &ends), ends }
    }
}

/// Returns whether the states of a round are worth several threads.
pub(crate) fn is_large(round: &[(usize, Range<usize>)]) -> bool {
    round.iter().map(|(_, range)| range.len()).sum::<usize>() >= MIN_PARALLEL_STATES
}

/// Splits a level into chunks: the states of each shard from its first to its end. A chunk is a
/// shard and a range of its states.
fn split_into_chunks(
    firsts: &[usize; SHARDS],
    ends: &[usize; SHARDS],
) -> Vec<(usize, Range<usize>)> {
    let mut chunks = Vec::new();
    // A small level yields one chunk for each shard, at most SHARDS chunks.
    for (shard, (first, end)) in firsts.iter().zip(ends).enumerate() {
        let mut from = *first;
        while from < *end {
            let to = (from + CHUNK_STATES).min(*end);
            chunks.push((shard, from..to));
            from = to;
        }
    }
    chunks
}
