//! Moves of threads and what they touch.
//!
//! The exploration knows nothing else of a system. Two moves of different threads commute unless they touch a common
//! cell and one of them writes it.

/// What a thread does next.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Move {
    /// The thread, from 0.
    pub thread: usize,
    /// Which alternatives the thread takes where it chooses; empty if it does not choose. Two moves of a thread
    /// at the same point of an execution are alternatives exactly if their choices differ.
    pub choices: Vec<u32>,
}

impl Move {
    /// The move of a thread that does not choose.
    pub fn of(thread: usize) -> Self {
        Move { thread, choices: Vec::new() }
    }

    /// Whether the thread has alternatives to this move.
    pub(crate) fn has_alternatives(&self) -> bool {
        !self.choices.is_empty()
    }
}

/// One cell that a move reads or writes. A move that does both writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Touch {
    /// The cell. Small numbers are best: a table has an entry for each number up to the largest.
    pub cell: u32,
    /// Whether the cell is written.
    pub writes: bool,
}

impl Touch {
    /// A read.
    pub fn read(cell: u32) -> Self {
        Touch { cell, writes: false }
    }

    /// A write, or a read and a write.
    pub fn write(cell: u32) -> Self {
        Touch { cell, writes: true }
    }
}

/// Whether two moves that touch these cells do not commute.
#[inline]
pub(crate) fn conflict(one: &[Touch], other: &[Touch]) -> bool {
    one.iter().any(|a| other.iter().any(|b| a.cell == b.cell && (a.writes || b.writes)))
}

/// A move on an execution.
#[derive(Clone, Debug)]
pub struct Event {
    /// The move.
    pub made: Move,
    /// The number of the event among the events of its thread, from 1.
    pub number: u32,
    /// Where its footprint begins among those of the execution.
    pub(crate) from: usize,
}
