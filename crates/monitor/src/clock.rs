//! Storage for all vector clocks, with undo.
//!
//! All clocks are in one vector of cells. Each change of a clock first saves the old values in a
//! journal. Undo restores the values from the end of the journal back to a mark.
//!
//! Rejected: a copy of all clocks for each mark, because an event changes two or three clocks and a
//! stateless search sets a mark at every event. Rejected: a journal of only the cells that change,
//! because the branch costs more than the copy.
//!
//! The start and the length of a clock are multiples of [`LANES`], so that [`LANES`] numbers are
//! processed at once.

/// The number of cells that are processed at once.
pub(crate) const LANES: usize = 4;

/// The cells of all clocks.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    values: Vec<u32>,
    /// A stack of records. A record is the old values, then their position, then their number.
    journal: Vec<u32>,
}

/// A position in the history of [`Cells`], for [`Cells::undo`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CellsMark {
    values: usize,
    journal: usize,
}

impl Cells {
    pub(crate) fn new(length: usize) -> Cells {
        Cells { values: vec![0; length], journal: Vec::new() }
    }

    /// Returns the position of the next clock that is added.
    pub(crate) fn end(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn get(&self, at: usize) -> u32 {
        self.values[at]
    }

    pub(crate) fn slice(&self, at: usize, length: usize) -> &[u32] {
        &self.values[at..at + length]
    }

    /// Changes the clock at `at`, [`LANES`] numbers at a time. `change` receives the old numbers
    /// and those of `other`.
    #[inline]
    fn change(&mut self, at: usize, other: &[u32], change: impl Fn(Lanes, Lanes) -> Lanes) {
        let (others, rest) = other.as_chunks::<LANES>();
        let (mine, _) = self.values[at..at + other.len()].as_chunks_mut::<LANES>();
        debug_assert!(
            rest.is_empty() && at.is_multiple_of(LANES),
            "clocks must be aligned and padded"
        );
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

    /// Replaces the clock at `at`.
    pub(crate) fn replace(&mut self, at: usize, clock: &[u32]) {
        self.change(at, clock, |_, new| new);
    }

    /// Joins `clock` into the clock at `at`.
    pub(crate) fn join(&mut self, at: usize, clock: &[u32]) {
        self.change(at, clock, max);
    }

    /// Appends a clock, then a zero clock of the same length.
    pub(crate) fn push_with_zeros(&mut self, clock: &[u32]) {
        self.values.extend_from_slice(clock);
        self.values.resize(self.values.len() + clock.len(), 0);
    }

    /// Replaces the clock at `at` and sets the clock after it to zero. Cannot be undone.
    pub(crate) fn overwrite(&mut self, at: usize, clock: &[u32]) {
        let (place, after) = self.values[at..at + 2 * clock.len()].split_at_mut(clock.len());
        place.copy_from_slice(clock);
        after.fill(0);
    }

    /// Replaces cells. Cannot be undone.
    pub(crate) fn overwrite_part(&mut self, at: usize, values: &[u32]) {
        self.values[at..at + values.len()].copy_from_slice(values);
    }

    /// Appends cells. Cannot be undone.
    pub(crate) fn extend_zeros(&mut self, length: usize) {
        self.values.resize(self.values.len() + length, 0);
    }

    /// Forgets all changes. Marks become invalid.
    pub(crate) fn forget_undo(&mut self) {
        self.journal.clear();
    }

    /// Returns a mark for the current values.
    pub(crate) fn mark(&self) -> CellsMark {
        CellsMark { values: self.values.len(), journal: self.journal.len() }
    }

    /// Restores the values at a mark.
    pub(crate) fn undo(&mut self, mark: CellsMark) {
        while self.journal.len() > mark.journal {
            let [.., at, length] = self.journal[..] else {
                panic!("a journal record ends with its position and length")
            };
            let (at, length) = (at as usize, length as usize);
            self.journal.truncate(self.journal.len() - 2);
            let (lanes, _) = self.values[at..at + length].as_chunks_mut::<LANES>();
            for lanes in lanes.iter_mut().rev() {
                *lanes =
                    *self.journal.last_chunk().expect("a journal record contains the old values");
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
