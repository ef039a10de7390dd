//! Numbers that only grow, and that can go back: the memory of all vector clocks.
//!
//! All clocks lie in one vector of cells. Every clock that changes leaves its old values in a journal, so that going
//! back to a mark is undoing the journal from its end. We rejected a copy of all clocks for each mark: an event
//! changes two or three, and a stateless search marks every event; and a journal of the cells that really change: the
//! branch costs more than the copy.
//!
//! Clocks begin at multiples of [`LANES`] and are that long, so that four numbers are handled at once and no call
//! copies a handful.

/// How many numbers are handled at once.
pub(crate) const LANES: usize = 4;

/// The cells of all clocks.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    values: Vec<u32>,
    /// Records, the last one at the end: old values, where they were, how many.
    journal: Vec<u32>,
}

/// A moment to go back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CellsMark {
    values: usize,
    journal: usize,
}

impl Cells {
    pub(crate) fn new(length: usize) -> Cells {
        Cells { values: vec![0; length], journal: Vec::new() }
    }

    /// Where the next clock that is added will begin.
    pub(crate) fn end(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn get(&self, at: usize) -> u32 {
        self.values[at]
    }

    pub(crate) fn slice(&self, at: usize, length: usize) -> &[u32] {
        &self.values[at..at + length]
    }

    /// Changes a clock, four numbers at a time; `change` gets the old ones and those of `other`.
    #[inline]
    fn change(&mut self, at: usize, other: &[u32], change: impl Fn(Lanes, Lanes) -> Lanes) {
        let (others, rest) = other.as_chunks::<LANES>();
        let (mine, _) = self.values[at..at + other.len()].as_chunks_mut::<LANES>();
        debug_assert!(rest.is_empty() && at.is_multiple_of(LANES), "clocks are padded");
        for (mine, &other) in mine.iter_mut().zip(others) {
            self.journal.extend_from_slice(mine);
            *mine = change(*mine, other);
        }
        self.journal.extend_from_slice(&[at as u32, other.len() as u32]);
    }

    /// Sets a cell.
    pub(crate) fn set(&mut self, at: usize, value: u32) {
        let start = at - at % LANES;
        let lanes: &mut Lanes =
            self.values[start..].first_chunk_mut().expect("the cells are padded");
        self.journal.extend_from_slice(lanes);
        self.journal.extend_from_slice(&[start as u32, LANES as u32]);
        lanes[at - start] = value;
    }

    /// Replaces the clock that begins at `at`.
    pub(crate) fn replace(&mut self, at: usize, clock: &[u32]) {
        self.change(at, clock, |_, new| new);
    }

    /// Joins `clock` into the clock that begins at `at`.
    pub(crate) fn join(&mut self, at: usize, clock: &[u32]) {
        self.change(at, clock, max);
    }

    /// Adds a clock, and after it as many zeros.
    pub(crate) fn add_with_zeros(&mut self, clock: &[u32]) {
        self.values.extend_from_slice(clock);
        self.values.resize(self.values.len() + clock.len(), 0);
    }

    pub(crate) fn mark(&self) -> CellsMark {
        CellsMark { values: self.values.len(), journal: self.journal.len() }
    }

    pub(crate) fn undo(&mut self, mark: CellsMark) {
        while self.journal.len() > mark.journal {
            let [.., at, length] = self.journal[..] else { panic!("a record has two numbers") };
            let (at, length) = (at as usize, length as usize);
            self.journal.truncate(self.journal.len() - 2);
            let (lanes, _) = self.values[at..at + length].as_chunks_mut::<LANES>();
            for lanes in lanes.iter_mut().rev() {
                *lanes = *self.journal.last_chunk().expect("a record has its old values");
                self.journal.truncate(self.journal.len() - LANES);
            }
        }
        self.values.truncate(mark.values);
    }
}

type Lanes = [u32; LANES];

#[inline]
fn max(mine: Lanes, theirs: Lanes) -> Lanes {
    std::array::from_fn(|lane| mine[lane].max(theirs[lane]))
}

/// Joins `other` into `clock`.
#[inline]
pub(crate) fn join(clock: &mut [u32], other: &[u32]) {
    let (mine, theirs) = (clock.as_chunks_mut::<LANES>().0, other.as_chunks::<LANES>().0);
    for (mine, &theirs) in mine.iter_mut().zip(theirs) {
        *mine = max(*mine, theirs);
    }
}
