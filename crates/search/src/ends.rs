//! The ends of concatenated states: nothing for each state while all have the same length. Otherwise an
//! offset of four bytes for each block of states, and a distance of two bytes for each state.
//!
//! Long states do not fit. When the first block with such states is complete, all offsets become
//! numbers of four bytes. Rejected: lengths of one byte, whose sums take longer to compute than the
//! other byte is worth.

use crate::visited::grow;
use std::ops::Range;

/// The number of states in a block.
const BLOCK: usize = 16;

/// The ends of states.
#[derive(Debug)]
pub(crate) enum Ends {
    /// The length of every state, and the number of states.
    Equal(usize, usize),
    /// For each block, the end of the state before it. For each state, the distance from there.
    Short(Vec<u32>, Vec<u16>),
    /// For each state, its end.
    Long(Vec<u32>),
}

impl Default for Ends {
    fn default() -> Self {
        Ends::Equal(0, 0)
    }
}

impl Ends {
    /// Returns where a state begins and ends.
    #[inline(always)]
    pub(crate) fn range(&self, index: usize) -> Range<usize> {
        match self {
            Ends::Equal(len, _) => index * len..index * len + len,
            Ends::Short(..) | Ends::Long(_) => self.stored_range(index),
        }
    }

    /// Returns where a state begins and ends if lengths differ.
    #[inline]
    fn stored_range(&self, index: usize) -> Range<usize> {
        match self {
            Ends::Equal(..) => unreachable!("states of equal length have no stored ends"),
            Ends::Short(blocks, ends) => {
                let block = blocks[index / BLOCK] as usize;
                let is_first = index.is_multiple_of(BLOCK);
                let start = if is_first { block } else { block + ends[index - 1] as usize };
                start..block + ends[index] as usize
            }
            Ends::Long(ends) => {
                let start = if index == 0 { 0 } else { ends[index - 1] as usize };
                start..ends[index] as usize
            }
        }
    }

    /// Appends the end of a state, below 2^32.
    #[inline]
    pub(crate) fn push(&mut self, end: usize) {
        match self {
            Ends::Equal(_, 0) => *self = Ends::Equal(end, 1),
            Ends::Equal(len, count) if end == (*count + 1) * *len => *count += 1,
            Ends::Equal(len, count) => {
                let (len, count) = (*len, *count);
                *self = Ends::Short(Vec::new(), Vec::new());
                (1..=count).for_each(|number| self.push(number * len));
                self.push(end);
            }
            Ends::Short(blocks, ends) => {
                if ends.len().is_multiple_of(BLOCK) {
                    let last = ends.last().zip(blocks.last());
                    let start = last.map_or(0, |(end, block)| u32::from(*end) + *block);
                    grow(blocks, 1);
                    blocks.push(start);
                }
                let block = blocks[ends.len() / BLOCK] as usize;
                let Ok(distance) = u16::try_from(end - block) else { return self.push_long(end) };
                grow(ends, 1);
                ends.push(distance);
            }
            Ends::Long(ends) => {
                grow(ends, 1);
                ends.push(end as u32);
            }
        }
    }

    #[cold]
    fn push_long(&mut self, end: usize) {
        let len = match self {
            Ends::Equal(_, count) => *count,
            Ends::Short(_, ends) => ends.len(),
            Ends::Long(ends) => ends.len(),
        };
        let ends = (0..len).map(|index| self.range(index).end).chain([end]).map(|end| end as u32);
        *self = Ends::Long(ends.collect());
    }

    /// Returns the number of allocated bytes.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Ends::Equal(..) => 0,
            Ends::Short(blocks, ends) => (blocks.capacity() * 4 + ends.capacity() * 2) as u64,
            Ends::Long(ends) => (ends.capacity() * 4) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_equal_states_need_no_memory_until_a_length_differs() {
        for other in [0, 3, 100_000] {
            let mut ends = Ends::default();
            (1..=100).for_each(|number| ends.push(number * 7));
            assert_eq!(ends.bytes(), 0);
            assert_eq!(ends.range(99), 693..700);
            ends.push(700 + other);
            ends.push(700 + other + 7);
            assert_eq!((ends.range(0), ends.range(99)), (0..7, 693..700));
            assert_eq!(ends.range(100), 700..700 + other);
            assert_eq!(ends.range(101), 700 + other..707 + other);
        }
    }

    #[test]
    fn ends_of_short_and_long_states_are_kept() {
        for long in [0, 100_000] {
            let mut ends = Ends::default();
            let mut expected = Vec::new();
            let mut end = 0;
            for index in 0..1_000 {
                end += if index == 700 { long } else { index % 50 };
                ends.push(end);
                expected.push(end);
            }
            assert_eq!(matches!(ends, Ends::Long(_)), long > 0);
            assert_eq!((0..1_000).map(|index| ends.range(index).end).collect::<Vec<_>>(), expected);
            assert!((1..1_000).all(|index| ends.range(index).start == expected[index - 1]));
            assert_eq!(ends.range(0).start, 0);
        }
    }
}
