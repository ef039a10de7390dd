//! Moves of threads and their footprints.
//!
//! The exploration uses no other information about a system. Two moves of different threads
//! conflict if they access a common cell and at least one of them writes it. Otherwise they
//! commute.

/// The next step of a thread.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Move {
    /// The index of the thread, from 0.
    pub thread: usize,
    /// The chosen alternative at each choice point of the move. Empty if the move has no choice
    /// point. Two moves of a thread at the same point of an execution are alternatives exactly if
    /// their choices differ.
    pub choices: Vec<u32>,
}

impl Move {
    /// Returns the move of a thread without choice points.
    pub fn of(thread: usize) -> Self {
        Move { thread, choices: Vec::new() }
    }

    /// Returns whether the thread has alternatives to this move.
    pub(crate) fn has_alternatives(&self) -> bool {
        !self.choices.is_empty()
    }
}

/// An access of a move to one cell. An access that reads and writes counts as a write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CellAccess {
    /// The cell. Use small numbers: a table has an entry for each number up to the largest.
    pub cell: u32,
    /// Whether the access writes the cell.
    pub writes: bool,
}

impl CellAccess {
    /// Returns a read.
    pub fn read(cell: u32) -> Self {
        CellAccess { cell, writes: false }
    }

    /// Returns a write, or a read followed by a write.
    pub fn write(cell: u32) -> Self {
        CellAccess { cell, writes: true }
    }
}

/// A move with the cells that it accesses.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TrackedMove {
    /// The move.
    pub mv: Move,
    /// The footprint of the move. If the move has alternatives: the union of their footprints.
    pub footprint: Vec<CellAccess>,
}

/// Returns whether two moves with these footprints conflict.
#[inline]
pub(crate) fn conflict(one: &[CellAccess], other: &[CellAccess]) -> bool {
    one.iter().any(|a| other.iter().any(|b| a.cell == b.cell && (a.writes || b.writes)))
}

/// An occurrence of a move in an execution.
#[derive(Clone, Debug)]
pub struct Event {
    /// The move.
    pub mv: Move,
    /// The number of the event among the events of its thread, from 1.
    pub number: u32,
    /// The index of the first access of this event in [`Execution`](crate::Execution)'s footprints.
    pub(crate) footprint_start: usize,
}
