//! Numbers for the parts of threads, and the layout of states that consist of them.
//!
//! Few parts (program counter, registers and pending accesses of one thread) occur in very many
//! states. A collapsed state is its packed memory and one number for each thread. Source: the collapse
//! compression of \[Hol97\].
//!
//! *Width of numbers.* Usually, each number has one byte at first. If a thread has more parts than its numbers
//! count, the search encodes its states again with wider numbers (`fencepost_search::Encoding`). This
//! depends on the parts of complete rounds only, so it does not depend on the number of search threads.
//!
//! *Order.* Search threads meet new parts in an order that depends on timing, so numbers differ from
//! run to run. Nothing else does: numbers are only compared for equality, and the hash of a state is
//! computed from the bytes of its parts.
//!
//! *Hashes.* The hash of a state is a function of a sum with one summand for each thread and for each
//! word of memory. So the hash of a successor takes one addition.

use crate::bits::{Field, Place};
use fencepost_ir::ThreadId;
use fencepost_search::{BLOCK, Interner};
use rustc_hash::FxHasher;
use std::hash::Hasher;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The largest width of a number, in bytes.
pub(super) const MAX_WIDTH: u32 = 4;

/// Returns a number each of whose bits depends on all bits of `x`.
#[inline]
fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 32).wrapping_mul(0xff51_afd7_ed55_8ccd);
    (x ^ x >> 29).wrapping_mul(0xc4ce_b9fe_1a85_ec53) ^ x >> 32
}

/// Returns the factor of a word of memory in the sum of a state.
#[inline]
fn word_factor(word: usize) -> u64 {
    (word as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1
}

/// Returns the summand of packed memory.
#[inline]
pub(super) fn memory_summand(memory: &[u8]) -> u64 {
    let (words, rest) = memory.as_chunks::<8>();
    let last = rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let words = words.iter().map(|word| u64::from_le_bytes(*word)).chain([last]);
    words.zip(0..).fold(0, |sum, (word, at)| sum.wrapping_add(word.wrapping_mul(word_factor(at))))
}

/// Returns the summand of the packed memory of this length at the start of a state. At least eight
/// more bytes follow it.
#[inline]
pub(super) fn padded_memory_summand(state: &[u8], len: usize) -> u64 {
    let mut sum = 0u64;
    for (at, word) in state.as_chunks::<8>().0.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let rest = len - 8 * at;
        if rest < 8 {
            let word = word & ((1 << (8 * rest)) - 1);
            return sum.wrapping_add(word.wrapping_mul(word_factor(at)));
        }
        sum = sum.wrapping_add(word.wrapping_mul(word_factor(at)));
    }
    sum
}

/// Returns what a packed value at a place of memory adds to the summand of memory.
pub(super) fn value_summand(place: Place, value: u64) -> u64 {
    let (word, low, high) = place.words(value);
    let low = low.wrapping_mul(word_factor(word));
    low.wrapping_add(high.wrapping_mul(word_factor(word + 1)))
}

/// Returns the summand of a part of a thread.
pub(super) fn part_summand(t: ThreadId, part: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(part);
    mix(hasher.finish().wrapping_add((t.index() as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

/// Returns the hash of a state from its sum.
#[inline]
pub(super) fn hash_of_sum(sum: u64) -> u64 {
    let product = (sum ^ sum >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    product ^ product >> 32
}

/// Where a collapsed state has the number of each thread. The packed memory precedes them.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The length of packed memory.
    pub(super) memory: usize,
    /// Indexed by thread: the place of its number.
    pub(super) numbers: Vec<Place>,
    /// Indexed by thread: the width of its number in bytes.
    widths: Vec<u32>,
    /// The length of a state.
    pub(super) len: usize,
}

impl Layout {
    fn new(memory: usize, widths: Vec<u32>) -> Layout {
        let mut len = memory;
        let place = |width: &u32| {
            let field = Field::for_range((0, (1 << (8 * width)) - 1));
            let place = Place::new(field, 8 * len).expect("a number of four bytes has a place");
            len += *width as usize;
            place
        };
        let numbers = widths.iter().map(place).collect();
        Layout { memory, numbers, widths, len }
    }
}

/// The parts of one thread.
#[derive(Debug, Default)]
struct ThreadParts {
    parts: Interner,
    /// Indexed by number: the summand of the part.
    summands: Vec<u64>,
}

impl ThreadParts {
    /// Returns the width of numbers for these parts.
    fn width(&self) -> u32 {
        let bits = usize::BITS - self.parts.len().saturating_sub(1).leading_zeros();
        bits.div_ceil(8).clamp(1, MAX_WIDTH)
    }
}

#[derive(Debug)]
struct Contents {
    threads: Vec<ThreadParts>,
    layout: Layout,
}

impl Contents {
    /// Returns the parts of each thread with its number in a collapsed state.
    #[inline]
    fn numbered_parts<'a>(
        &'a self,
        state: &'a [u8],
    ) -> impl Iterator<Item = (&'a ThreadParts, usize)> {
        let mut rest = &state[self.layout.memory..];
        self.threads.iter().zip(&self.layout.widths).map(move |(thread, width)| {
            let (number, after) = rest.split_at(*width as usize);
            rest = after;
            let number = match *number {
                [a] => u32::from(a),
                [a, b] => u16::from_le_bytes([a, b]).into(),
                [a, b, c] => u32::from_le_bytes([a, b, c, 0]),
                [a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
                _ => unreachable!("a number has one to four bytes"),
            };
            (thread, number as usize)
        })
    }
}

/// The numbers of all parts of a search, and the layout of its states. Searches of the same problem
/// with other bounds can share it.
#[derive(Debug)]
pub struct PartDictionary {
    contents: RwLock<Contents>,
    /// The number of layouts so far.
    version: AtomicU32,
}

impl PartDictionary {
    /// Returns an empty dictionary for states with this length of packed memory, this number of threads
    /// and numbers of this width.
    pub(super) fn with_width(memory: usize, threads: usize, width: u32) -> Self {
        let contents = Contents {
            threads: (0..threads).map(|_| ThreadParts::default()).collect(),
            layout: Layout::new(memory, vec![width; threads]),
        };
        PartDictionary { contents: RwLock::new(contents), version: AtomicU32::new(0) }
    }

    fn read(&self) -> RwLockReadGuard<'_, Contents> {
        self.contents.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Contents> {
        self.contents.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of layouts so far.
    #[inline]
    pub(super) fn version(&self) -> u32 {
        self.version.load(Ordering::Relaxed)
    }

    pub(super) fn layout(&self) -> Layout {
        self.read().layout.clone()
    }

    /// Returns the number of a part of a thread. Adds the part if it is new.
    pub(super) fn number(&self, t: ThreadId, part: &[u8]) -> u32 {
        let thread = &mut self.write().threads[t.index()];
        let number = thread.parts.intern(part);
        if number == thread.summands.len() {
            thread.summands.push(part_summand(t, part));
        }
        number as u32
    }

    /// Appends a part of a thread to `out`.
    pub(super) fn append_part(&self, t: ThreadId, number: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(self.read().threads[t.index()].parts.get(number as usize));
    }

    /// Returns the packed form of a collapsed state.
    pub(super) fn unfold(&self, state: &[u8]) -> Vec<u8> {
        let contents = self.read();
        let mut packed = state[..contents.layout.memory].to_vec();
        for (thread, number) in contents.numbered_parts(state) {
            packed.extend_from_slice(thread.parts.get(number));
        }
        packed
    }

    /// See [`Encoding::hasher`](fencepost_search::Encoding::hasher).
    pub(super) fn hasher(&self) -> impl Fn(&[u8]) -> u64 {
        let contents = self.read();
        move |state| {
            let Layout { memory, numbers, len, .. } = &contents.layout;
            if *len > BLOCK - 8 {
                let parts = contents.numbered_parts(state);
                let summands = parts.map(|(thread, number)| thread.summands[number]);
                let memory = memory_summand(&state[..*memory]);
                return hash_of_sum(summands.fold(memory, u64::wrapping_add));
            }
            let mut block = [0; BLOCK];
            block[..*len].copy_from_slice(state);
            let summands = numbers
                .iter()
                .zip(&contents.threads)
                .map(|(place, thread)| thread.summands[place.read(&block) as usize]);
            let memory = padded_memory_summand(&block, *memory);
            hash_of_sum(summands.fold(memory, u64::wrapping_add))
        }
    }

    /// Returns whether a thread has more parts than its numbers count.
    pub(super) fn needs_recoding(&self) -> bool {
        let contents = self.read();
        let mut threads = contents.threads.iter().zip(&contents.layout.widths);
        threads.any(|(thread, width)| thread.width() > *width)
    }

    /// Widens the numbers. See [`Encoding`](fencepost_search::Encoding::begin_recoding).
    pub(super) fn begin_recoding(&self) -> impl Fn(&[u8], &mut Vec<u8>) {
        let mut contents = self.write();
        let old = contents.layout.widths.clone();
        let wider = contents.threads.iter().zip(&old);
        let widths: Vec<u32> = wider.map(|(thread, width)| thread.width().max(*width)).collect();
        let memory = contents.layout.memory;
        contents.layout = Layout::new(memory, widths.clone());
        self.version.fetch_add(1, Ordering::Relaxed);
        move |state: &[u8], out: &mut Vec<u8>| {
            out.extend_from_slice(&state[..memory]);
            let mut at = memory;
            for (old, new) in old.iter().zip(&widths) {
                let end = out.len() + *new as usize;
                out.extend_from_slice(&state[at..at + *old as usize]);
                out.resize(end, 0);
                at += *old as usize;
            }
        }
    }

    /// Returns whether a search should stop because a thread has too many parts.
    pub(super) fn is_full(&self) -> bool {
        self.read().threads.iter().any(|thread| thread.parts.is_full())
    }

    /// Returns the memory for all parts.
    pub(super) fn bytes(&self) -> u64 {
        let bytes = |thread: &ThreadParts| thread.parts.bytes() + 8 * thread.parts.len() as u64;
        self.read().threads.iter().map(bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summands_of_values_add_up_to_that_of_memory() {
        let fields = [(0, 3), (0, 1), (0, 70_000), (0, 1 << 40), (0, 6), (0, 1 << 33), (0, 200)];
        let mut bit = 0;
        let mut memory = [0u8; 128];
        let mut sum = 0u64;
        for round in 0..4u64 {
            for field in fields {
                let field = Field::for_range(field);
                let place = Place::new(field, bit).expect("the field has a place");
                let value = field.range().1 * (round + 1) / 5;
                bit += field.bits() as usize;
                place.write(&mut memory, value);
                sum = sum.wrapping_add(value_summand(place, value));
            }
        }
        for len in [bit.div_ceil(8), 56, 57, 64] {
            assert_eq!(sum, memory_summand(&memory[..len]));
            assert_eq!(sum, padded_memory_summand(&memory, len));
        }
    }

    #[test]
    fn wider_numbers_keep_states_and_hashes() {
        let dictionary = PartDictionary::with_width(2, 2, 1);
        let (p, q) = (ThreadId::from_index(0), ThreadId::from_index(1));
        let part = |number: u32| number.to_le_bytes();
        assert_eq!((dictionary.number(p, &part(7)), dictionary.number(q, &part(8))), (0, 0));
        let mut state = vec![1, 2, 0, 0];
        let (unfolded, hash) = (dictionary.unfold(&state), dictionary.hasher()(&state));
        assert_eq!(unfolded, [1, 2, 7, 0, 0, 0, 8, 0, 0, 0]);
        let mut count = 1;
        for width in [2, 3] {
            while count < 1 << (8 * (width - 1)) {
                assert_eq!(dictionary.number(q, &part(1000 + count)), count);
                assert!(!dictionary.needs_recoding(), "{count}");
                count += 1;
            }
            dictionary.number(q, &part(1000 + count));
            count += 1;
            assert!(dictionary.needs_recoding());
            let mut recoded = Vec::new();
            dictionary.begin_recoding()(&state, &mut recoded);
            assert!(!dictionary.needs_recoding());
            assert_eq!(dictionary.layout().widths, [1, width]);
            assert_eq!(recoded.len(), dictionary.layout().len);
            assert_eq!(dictionary.unfold(&recoded), unfolded);
            assert_eq!(dictionary.hasher()(&recoded), hash);
            state = recoded;
        }
    }
}
