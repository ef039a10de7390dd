//! DFA minimisation by partition refinement (Hopcroft).
//!
//! The initial partition has two blocks: accepting and other states. A block is used as a
//! *splitter*: for each letter, every block is split into the states with a transition into the
//! splitter and the states without one. When a block that was already used as a splitter is split,
//! only the smaller part must be used again, because the predecessors of the larger part are the
//! remaining predecessors of the block. Each state is therefore in at most `log n` splitters after
//! the first, and the total time is about `m log n` for `m` transitions and `n` states. This also
//! holds for a partial transition function, as here, provided that all initial blocks are
//! splitters.
//! Rejected: Moore's algorithm, which refines all blocks in rounds. On a cycle with one letter that
//! differs it needs as many rounds as there are states.

use crate::Letter;
use crate::dfa::{Builder, Dfa};

/// Returns the canonical form of a DFA whose states are all live and reachable.
pub(crate) fn minimise(dfa: &Dfa) -> Dfa {
    let mut partition = Partition::new(dfa);
    let sources = sources(dfa);
    let mut incoming: Vec<(Letter, u32)> = Vec::new();
    while let Some(splitter) = partition.worklist.pop() {
        incoming.clear();
        for &state in partition.members(splitter as usize) {
            incoming.extend(&sources[state as usize]);
        }
        incoming.sort_unstable();
        for group in incoming.chunk_by(|a, b| a.0 == b.0) {
            partition.split(group.iter().map(|(_, source)| *source));
        }
    }
    if partition.starts.len() == dfa.len() {
        return dfa.rooted_at(0);
    }
    let mut builder = Builder::new();
    for block in 0..partition.starts.len() {
        let state = partition.members(block)[0];
        for (letter, target) in dfa.transitions(state) {
            builder.add_transition(*letter, partition.block[*target as usize]);
        }
        builder.finish_state(dfa.accepts(state));
    }
    builder.finish().rooted_at(partition.block[0])
}

/// Returns, by state, the letters and sources of its incoming transitions.
fn sources(dfa: &Dfa) -> Vec<Vec<(Letter, u32)>> {
    let mut sources = vec![Vec::new(); dfa.len()];
    for state in dfa.states() {
        for (letter, target) in dfa.transitions(state) {
            sources[*target as usize].push((*letter, state));
        }
    }
    sources
}

/// A partition of the states into blocks, with the worklist of splitters.
struct Partition {
    /// The states, block by block. While blocks are split, the marked states of a block come first.
    order: Vec<u32>,
    /// By state: its index in `order`.
    position: Vec<u32>,
    /// By state: its block.
    block: Vec<u32>,
    /// By block: its start in `order`.
    starts: Vec<u32>,
    /// By block: its end in `order`.
    ends: Vec<u32>,
    /// By block: the number of marked states.
    marked: Vec<u32>,
    /// Blocks to use as splitters.
    worklist: Vec<u32>,
    /// Blocks with marked states.
    touched: Vec<u32>,
}

impl Partition {
    /// Returns the initial partition: accepting and other states.
    fn new(dfa: &Dfa) -> Self {
        let (mut order, others): (Vec<u32>, Vec<u32>) =
            dfa.states().partition(|state| dfa.accepts(*state));
        let middle = order.len() as u32;
        order.extend(others);
        let mut position = vec![0; dfa.len()];
        for (at, state) in order.iter().enumerate() {
            position[*state as usize] = at as u32;
        }
        let mut partition = Self {
            block: vec![0; dfa.len()],
            position,
            starts: Vec::new(),
            ends: Vec::new(),
            marked: Vec::new(),
            worklist: Vec::new(),
            touched: Vec::new(),
            order,
        };
        for (begin, end) in [(0, middle), (middle, dfa.len() as u32)] {
            if begin < end {
                let block = partition.add_block(begin, end);
                partition.worklist.push(block);
            }
        }
        partition
    }

    fn members(&self, block: usize) -> &[u32] {
        &self.order[self.starts[block] as usize..self.ends[block] as usize]
    }

    /// Creates a block from a range of `order`.
    fn add_block(&mut self, begin: u32, end: u32) -> u32 {
        let new = self.starts.len() as u32;
        self.starts.push(begin);
        self.ends.push(end);
        self.marked.push(0);
        for at in begin..end {
            self.block[self.order[at as usize] as usize] = new;
        }
        new
    }

    /// Splits every block into its states among `states` and the others. `states` must not contain
    /// duplicates.
    fn split(&mut self, states: impl Iterator<Item = u32>) {
        for state in states {
            let block = self.block[state as usize];
            let marked = &mut self.marked[block as usize];
            if *marked == 0 {
                self.touched.push(block);
            }
            let (from, to) = (self.position[state as usize], self.starts[block as usize] + *marked);
            *marked += 1;
            let other = self.order[to as usize];
            self.order.swap(from as usize, to as usize);
            self.position[state as usize] = to;
            self.position[other as usize] = from;
        }
        while let Some(block) = self.touched.pop() {
            let at = block as usize;
            let marked = std::mem::take(&mut self.marked[at]);
            let (begin, end) = (self.starts[at], self.ends[at]);
            let middle = begin + marked;
            if middle == end {
                continue;
            }
            // The smaller part becomes the new block: relabelling its states costs less.
            let new = if marked <= end - middle {
                self.starts[at] = middle;
                self.add_block(begin, middle)
            } else {
                self.ends[at] = middle;
                self.add_block(middle, end)
            };
            // If the old block is in the worklist, both parts are now. Otherwise the smaller part
            // suffices.
            self.worklist.push(new);
        }
    }
}
