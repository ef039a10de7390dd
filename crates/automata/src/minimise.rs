//! Merges the states that accept the same words: partition refinement after Hopcroft.
//!
//! States begin in two blocks, accepting or not. A block is a *splitter*: in a block whose states are to be
//! merged, a letter leads either all states into the splitter or none. Where that fails, the block is cut in two.
//! Of a block that was a splitter before, only the smaller part must be one again: what leads into the other part
//! is the rest of what leads into both. So a state takes part in as many splitters as there are halvings, and all
//! takes about `m log n` steps for `m` moves. That holds too when some letters lead nowhere, as here, if in the
//! beginning all blocks are splitters.
//! Rejected: rounds over all states until nothing changes (Moore). On cycles with one odd letter there are as
//! many rounds as states.

use crate::Letter;
use crate::dfa::{Builder, Dfa};

/// The unique form of an automaton all of whose states are live and reachable.
pub(crate) fn minimise(dfa: &Dfa) -> Dfa {
    let mut partition = Partition::new(dfa);
    let sources = sources(dfa);
    let mut incoming: Vec<(Letter, u32)> = Vec::new();
    while let Some(splitter) = partition.waiting.pop() {
        incoming.clear();
        for &state in partition.members(splitter as usize) {
            incoming.extend(&sources[state as usize]);
        }
        incoming.sort_unstable();
        for group in incoming.chunk_by(|a, b| a.0 == b.0) {
            partition.split(group.iter().map(|(_, source)| *source));
        }
    }
    if partition.begins.len() == dfa.len() {
        return dfa.restart(0);
    }
    let mut builder = Builder::new();
    for block in 0..partition.begins.len() {
        let state = partition.members(block)[0];
        for (letter, target) in dfa.moves(state) {
            builder.step(*letter, partition.block[*target as usize]);
        }
        builder.close(dfa.accepts(state));
    }
    builder.finish().restart(partition.block[0])
}

/// By state: the moves into it, as letter and source.
fn sources(dfa: &Dfa) -> Vec<Vec<(Letter, u32)>> {
    let mut sources = vec![Vec::new(); dfa.len()];
    for state in dfa.states() {
        for (letter, target) in dfa.moves(state) {
            sources[*target as usize].push((*letter, state));
        }
    }
    sources
}

/// The states in blocks, and the splitters that wait.
struct Partition {
    /// The states, block by block; of a block that is being cut, those that go first.
    order: Vec<u32>,
    /// By state: where it is in the order, and its block.
    place: Vec<u32>,
    block: Vec<u32>,
    /// By block: where it begins and ends in the order, and how many of its states go.
    begins: Vec<u32>,
    ends: Vec<u32>,
    going: Vec<u32>,
    waiting: Vec<u32>,
    /// The blocks of which some states go.
    touched: Vec<u32>,
}

impl Partition {
    /// The accepting states and the others.
    fn new(dfa: &Dfa) -> Self {
        let (mut order, others): (Vec<u32>, Vec<u32>) =
            dfa.states().partition(|state| dfa.accepts(*state));
        let border = order.len() as u32;
        order.extend(others);
        let mut place = vec![0; dfa.len()];
        for (at, state) in order.iter().enumerate() {
            place[*state as usize] = at as u32;
        }
        let mut partition = Self {
            block: vec![0; dfa.len()],
            place,
            begins: Vec::new(),
            ends: Vec::new(),
            going: Vec::new(),
            waiting: Vec::new(),
            touched: Vec::new(),
            order,
        };
        for (begin, end) in [(0, border), (border, dfa.len() as u32)] {
            if begin < end {
                let block = partition.add(begin, end);
                partition.waiting.push(block);
            }
        }
        partition
    }

    fn members(&self, block: usize) -> &[u32] {
        &self.order[self.begins[block] as usize..self.ends[block] as usize]
    }

    /// A block of the states in a part of the order.
    fn add(&mut self, begin: u32, end: u32) -> u32 {
        let new = self.begins.len() as u32;
        self.begins.push(begin);
        self.ends.push(end);
        self.going.push(0);
        for at in begin..end {
            self.block[self.order[at as usize] as usize] = new;
        }
        new
    }

    /// Cuts every block into those of its states that are among these, which must differ, and the others.
    fn split(&mut self, states: impl Iterator<Item = u32>) {
        for state in states {
            let block = self.block[state as usize];
            let going = &mut self.going[block as usize];
            if *going == 0 {
                self.touched.push(block);
            }
            let (from, to) = (self.place[state as usize], self.begins[block as usize] + *going);
            *going += 1;
            let other = self.order[to as usize];
            self.order.swap(from as usize, to as usize);
            self.place[state as usize] = to;
            self.place[other as usize] = from;
        }
        while let Some(block) = self.touched.pop() {
            let at = block as usize;
            let going = std::mem::take(&mut self.going[at]);
            let (begin, end) = (self.begins[at], self.ends[at]);
            let border = begin + going;
            if border == end {
                continue;
            }
            // The smaller part becomes the new block, so that moving states costs no more than it must.
            let new = if going <= end - border {
                self.begins[at] = border;
                self.add(begin, border)
            } else {
                self.ends[at] = border;
                self.add(border, end)
            };
            // If the old block waits, both parts do now; else the smaller does, and that is enough.
            self.waiting.push(new);
        }
    }
}
