//! A search whose encoding of states grows finds what a search with a constant encoding finds.

use super::*;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};

/// A graph whose states have as few bytes as the largest state needs.
struct Growing {
    graph: Formula,
    /// The length of a state.
    len: AtomicU32,
    largest: AtomicU32,
}

impl Growing {
    fn new(graph: Formula) -> Self {
        Growing { graph, len: AtomicU32::new(1), largest: AtomicU32::new(0) }
    }

    fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed) as usize
    }
}

/// Returns a state from its bytes.
fn number(state: &[u8]) -> u32 {
    state.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

impl Encoding for Growing {
    fn hasher(&self) -> impl Fn(&[u8]) -> u64 {
        |state| hash(&number(state).to_le_bytes())
    }

    fn needs_recoding(&self) -> bool {
        u64::from(self.largest.load(Ordering::Relaxed)) >> (8 * self.len()) != 0
    }

    fn begin_recoding(&self) -> impl Fn(&[u8], &mut Vec<u8>) {
        let bits = u32::BITS - self.largest.load(Ordering::Relaxed).leading_zeros();
        self.len.store(bits.div_ceil(8), Ordering::Relaxed);
        let len = self.len();
        move |state: &[u8], out: &mut Vec<u8>| {
            out.extend_from_slice(state);
            out.resize(out.len() + len - state.len(), 0);
        }
    }
}

impl TransitionSystem for Growing {
    /// The successors that the search thread has seen.
    type Scratch = BTreeSet<u32>;

    fn scratch(&self) -> BTreeSet<u32> {
        BTreeSet::new()
    }

    fn initial<S: Sink>(&self, _: &mut BTreeSet<u32>, sink: &mut S) {
        sink.successor(&vec![0; self.len()]);
    }

    fn expand<S: Sink>(&self, state: &[u8], seen: &mut BTreeSet<u32>, sink: &mut S) {
        let (state, len) = (number(state), self.len());
        for next in self.graph.successors(state) {
            self.largest.fetch_max(next, Ordering::Relaxed);
            let bytes = next.to_le_bytes();
            let mut block = [0; BLOCK];
            block[..4].copy_from_slice(&bytes);
            match seen.insert(next) {
                true => sink.hashed_successor(&block[..len], hash(&bytes)),
                false => sink.short_successor(&block, len, hash(&bytes)),
            }
        }
        if state % 1000 == 999 {
            sink.target(3, state);
        }
        sink.fact(&[state as u8 % 5]);
    }
}

#[test]
fn a_search_that_encodes_its_states_again_finds_the_same() {
    for (states, len) in [(100, 1), (60_000, 2), (200_000, 3)] {
        let graph = || Formula { states, edges: 3, seed: 2 };
        let expected = search(&graph(), 1, Limits::default(), None);
        let mut bytes = None;
        for threads in [1, 2, 3] {
            let system = Growing::new(graph());
            let found = search(&system, threads, Limits::default(), None);
            assert_eq!(system.len(), len);
            assert_eq!((found.states, found.depth), (expected.states, expected.depth));
            assert_eq!(found.transitions, expected.transitions);
            assert_eq!((&found.targets, &found.facts), (&expected.targets, &expected.facts));
            for node in (0..found.states as u32).map(|node| found.node(node)) {
                assert_eq!(number(found.state(node)), number(expected.state(node)));
                assert_eq!(found.path(node).len(), expected.path(node).len());
            }
            let of_one_thread = *bytes.get_or_insert(found.bytes);
            assert_eq!(found.bytes, of_one_thread, "{threads} threads");
        }
    }
}
