//! Names of threads and cells that are the same in every execution.
//!
//! A thread is named by its path: the root is empty, and the n-th thread that a thread spawns
//! appends n. A store buffer is named by its thread and a number: 0 under TSO, and the n-th object
//! to which the thread stores under PSO.
//!
//! An object has one cell for its place of creation in the source. Objects of one place share a
//! cell. Direction: an over-approximation of conflicts. The verdict is exact, but the number of
//! executions can be larger than the number of traces. Rejected: the order of first use, because it
//! differs between executions. The order of creation would need a constructor that is not `const`.

use crate::op::Site;
use std::collections::HashMap;
use std::panic::Location;

/// A thread of the exploration.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ThreadName {
    /// A thread of the program, by its path.
    Program(Vec<u32>),
    /// A store buffer: the index of its thread and its number in this thread.
    Buffer(usize, usize),
}

/// A cell of the exploration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Cell {
    /// The objects that one place in the source creates.
    Objects(Location<'static>),
    /// A store in a buffer: thread, buffer, number of the store.
    Pending(usize, usize, usize),
    /// The status of a thread.
    Status(usize),
}

impl Cell {
    /// Returns the cell of an object.
    pub(crate) fn of(site: Site) -> Cell {
        Cell::Objects(*site)
    }
}

/// The numbers of all threads and cells of an exploration.
#[derive(Default, Debug)]
pub(crate) struct Names {
    threads: Vec<ThreadName>,
    thread_numbers: HashMap<ThreadName, usize>,
    cells: HashMap<Cell, u32>,
}

impl Names {
    /// Returns the index of a thread. A new thread gets the next index.
    pub(crate) fn thread(&mut self, name: ThreadName) -> usize {
        let next = self.threads.len();
        let index = *self.thread_numbers.entry(name.clone()).or_insert(next);
        if index == next {
            self.threads.push(name);
        }
        index
    }

    /// Returns the names of all threads, by index.
    pub(crate) fn threads(&self) -> &[ThreadName] {
        &self.threads
    }

    /// Returns the number of a cell. A new cell gets the next number.
    pub(crate) fn cell(&mut self, cell: Cell) -> u32 {
        let next = self.cells.len() as u32;
        *self.cells.entry(cell).or_insert(next)
    }

    /// Returns the name of a thread as text: `main`, `T0`, `T0.1`, `main~0` for a buffer.
    pub(crate) fn display(&self, thread: usize) -> String {
        match self.threads.get(thread) {
            None => format!("#{thread}"),
            Some(ThreadName::Buffer(owner, buffer)) => {
                format!("{}~{buffer}", self.display(*owner))
            }
            Some(ThreadName::Program(path)) if path.is_empty() => "main".to_owned(),
            Some(ThreadName::Program(path)) => {
                let path: Vec<String> = path.iter().map(u32::to_string).collect();
                format!("T{}", path.join("."))
            }
        }
    }

    /// Reads the text form of a name.
    pub(crate) fn parse(&mut self, text: &str) -> Option<usize> {
        if let Some((owner, buffer)) = text.split_once('~') {
            let owner = self.parse(owner)?;
            return Some(self.thread(ThreadName::Buffer(owner, buffer.parse().ok()?)));
        }
        let path = match text {
            "main" => Vec::new(),
            _ => {
                let numbers = text.strip_prefix('T')?.split('.').map(str::parse);
                numbers.collect::<Result<_, _>>().ok()?
            }
        };
        Some(self.thread(ThreadName::Program(path)))
    }
}
