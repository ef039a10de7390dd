//! The writes to an address, and the events that are directly ordered after them.

/// The writes to an address and what is known about them.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    /// The writes in coherence order. The first write is the initial value. A monitor with undo
    /// has all writes, so that the index of a write is its position.
    pub(crate) writes: Vec<Write>,
    /// The events that are directly ordered after a write (PSO), by the index of the write.
    pub(crate) covers: Vec<Cover>,
    /// The relaxed clock of a thread's newest plain store to the address, if another thread has
    /// overwritten it and the monitor keeps no clock for each write.
    pub(crate) overwritten: Vec<(u32, Box<[u32]>)>,
}

/// A write to an address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    /// The number of the event.
    pub(crate) event: usize,
    /// The position of the write's clock. The clock of its readers follows.
    pub(crate) clock: usize,
    /// The number of the write in the coherence order. 0 is the initial value.
    pub(crate) index: u32,
    pub(crate) thread: u32,
    /// The number of the write among the events of its thread, from 1.
    pub(crate) number_in_thread: u32,
    /// The chain of the write, and its number in the chain, from 1. A plain store under PSO is in
    /// no chain; it has covers instead.
    pub(crate) chain: u32,
    pub(crate) number_in_chain: u32,
    /// The index of the newest write at or below this one that does not read.
    pub(crate) newest_blind: u32,
    pub(crate) reads: bool,
    /// Whether the write is a plain store. Its own thread can read it before its commit.
    pub(crate) is_plain_store: bool,
}

/// An event that relaxed happens-before orders directly after a write: the event with this
/// position in this chain, also if it is still to come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cover {
    /// The index of the write.
    pub(crate) index: u32,
    pub(crate) chain: u32,
    pub(crate) position: u32,
}

/// The thread of the initial values.
const INITIAL_THREAD: u32 = u32::MAX;

impl Location {
    /// Returns an address with its initial value.
    pub(crate) fn new(clock: usize) -> Location {
        let initial = Write {
            event: 0,
            clock,
            index: 0,
            thread: INITIAL_THREAD,
            number_in_thread: 0,
            chain: 0,
            number_in_chain: 0,
            newest_blind: 0,
            reads: false,
            is_plain_store: false,
        };
        Location { writes: vec![initial], covers: Vec::new(), overwritten: Vec::new() }
    }

    /// Returns the last write.
    #[inline]
    pub(crate) fn last(&self) -> &Write {
        self.writes.last().expect("the initial value counts as a write")
    }

    /// Returns the write with this index.
    #[inline]
    pub(crate) fn write(&self, index: u32) -> &Write {
        match self.writes.get(index as usize) {
            Some(write) if write.index == index => write,
            _ => {
                let at = self.writes.partition_point(|write| write.index < index);
                debug_assert!(self.writes[at].index == index, "a write was dropped too early");
                &self.writes[at]
            }
        }
    }

    /// Adds an event that is ordered after a write. Returns its position in `covers`, or `None`
    /// if an earlier event of the chain is ordered after the write or after a later one.
    #[inline]
    pub(crate) fn cover(&mut self, cover: Cover) -> Option<usize> {
        let mut at = self.covers.len();
        for (position, other) in self.covers.iter().enumerate().rev() {
            if other.index < cover.index {
                break;
            }
            if other.chain == cover.chain {
                return None;
            }
            if other.index > cover.index {
                at = position;
            }
        }
        self.covers.insert(at, cover);
        Some(at)
    }

    /// Returns the index of the newest write that relaxed happens-before orders before a clock
    /// (PSO).
    pub(crate) fn newest_covered(&self, clock: &[u32]) -> u32 {
        let covered = self.covers.iter().rev().find(|cover| cover.is_before(clock));
        covered.map_or(0, |cover| cover.index)
    }

    /// Returns whether relaxed happens-before orders a write before a clock (PSO).
    #[inline]
    pub(crate) fn is_covered(&self, index: u32, clock: &[u32]) -> bool {
        let mut later = self.covers.iter().rev().take_while(|cover| cover.index >= index);
        later.any(|cover| cover.is_before(clock))
    }
}

impl Cover {
    #[inline]
    fn is_before(&self, clock: &[u32]) -> bool {
        clock[self.chain as usize] >= self.position
    }
}
