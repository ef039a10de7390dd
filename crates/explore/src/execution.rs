//! The current execution: its events and their happens-before order.
//!
//! Happens-before is the transitive closure of two relations: the order of the events of one
//! thread, and the order of conflicting events. It is stored as one vector clock for each event.
//! The entry of a thread is the number of the thread's last event that happens before.

use crate::event::{CellAccess, Event, Move, TrackedMove};

/// A sequence of events with its happens-before order.
#[derive(Clone, Debug)]
pub struct Execution {
    events: Vec<Event>,
    /// The vector clocks of all events, concatenated.
    clocks: Vec<u32>,
    /// The footprints of all events, concatenated.
    footprints: Vec<CellAccess>,
    /// For each cell: the events that accessed it, and whether they wrote it.
    accesses: Vec<Vec<(u32, bool)>>,
    /// For each thread: its events.
    by_thread: Vec<Vec<u32>>,
}

impl Execution {
    /// Returns the empty execution of `threads` threads.
    pub(crate) fn new(threads: usize) -> Self {
        Execution {
            events: Vec::new(),
            clocks: Vec::new(),
            footprints: Vec::new(),
            accesses: Vec::new(),
            by_thread: vec![Vec::new(); threads],
        }
    }

    /// Returns the number of events.
    #[inline]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Returns whether the execution has no events.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns the events in execution order.
    #[inline]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Returns the cells that an event accessed.
    #[inline]
    pub fn footprint(&self, event: usize) -> &[CellAccess] {
        let next = self.events.get(event + 1);
        let end = next.map_or(self.footprints.len(), |next| next.footprint_start);
        &self.footprints[self.events[event].footprint_start..end]
    }

    /// Returns the move of an event with its footprint.
    pub(crate) fn tracked(&self, event: usize) -> TrackedMove {
        let mv = self.events[event].mv.clone();
        TrackedMove { mv, footprint: self.footprint(event).to_vec() }
    }

    /// Returns the vector clock of an event: for each thread, the number of its last event that is
    /// this event or happens before it, or 0 if there is none.
    #[inline]
    pub fn clock(&self, event: usize) -> &[u32] {
        let threads = self.by_thread.len();
        &self.clocks[event * threads..(event + 1) * threads]
    }

    /// Returns whether `one` is `other` or happens before it.
    #[inline]
    pub fn happens_before(&self, one: usize, other: usize) -> bool {
        let Event { mv, number, .. } = &self.events[one];
        self.clock(other)[mv.thread] >= *number
    }

    /// Returns a function that says whether `one` happens before an event.
    #[inline]
    pub(crate) fn happening_after(&self, one: usize) -> impl Fn(usize) -> bool {
        let Event { mv, number, .. } = &self.events[one];
        let (thread, number, threads) = (mv.thread, *number, self.by_thread.len());
        move |other| self.clocks[other * threads + thread] >= number
    }

    /// Returns the events that accessed a cell, in execution order, and whether they wrote it.
    #[inline]
    pub fn accesses(&self, cell: u32) -> &[(u32, bool)] {
        self.accesses.get(cell as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns the accesses to a cell before an event.
    pub(crate) fn accesses_before(&self, cell: u32, event: usize) -> &[(u32, bool)] {
        let accesses = self.accesses(cell);
        &accesses[..accesses.partition_point(|(other, _)| (*other as usize) < event)]
    }

    /// Returns the thread of the last event.
    #[inline]
    pub(crate) fn last_thread(&self) -> Option<usize> {
        self.events.last().map(|event| event.mv.thread)
    }

    /// Returns the last event of a thread for which `removed` is false.
    pub(crate) fn last_of(&self, thread: usize, removed: impl Fn(usize) -> bool) -> Option<usize> {
        let mut events = self.by_thread[thread].iter().rev().map(|event| *event as usize);
        events.find(|event| !removed(*event))
    }

    /// Appends an event.
    pub(crate) fn push(&mut self, mv: Move, footprint: &[CellAccess]) {
        let depth = self.events.len();
        let thread = mv.thread;
        let threads = self.by_thread.len();
        let number = self.by_thread[thread].len() as u32 + 1;
        let clock = self.clocks.len();
        match self.by_thread[thread].last() {
            Some(last) => {
                let last = *last as usize * threads;
                self.clocks.extend_from_within(last..last + threads);
            }
            None => self.clocks.resize(clock + threads, 0),
        }
        self.clocks[clock + thread] = number;
        let footprint_start = self.footprints.len();
        for access in footprint {
            let cell = access.cell as usize;
            if cell >= self.accesses.len() {
                self.accesses.resize_with(cell + 1, Vec::new);
            }
            let accesses = &mut self.accesses[cell];
            for (earlier, wrote) in accesses.iter().rev() {
                if (access.writes || *wrote) && *earlier as usize != depth {
                    let (before, new) = self.clocks.split_at_mut(clock);
                    let other = &before[*earlier as usize * threads..][..threads];
                    new.iter_mut().zip(other).for_each(|(new, other)| *new = (*new).max(*other));
                }
                if *wrote {
                    break;
                }
            }
            accesses.push((depth as u32, access.writes));
            self.footprints.push(*access);
        }
        self.by_thread[thread].push(depth as u32);
        self.events.push(Event { mv, number, footprint_start });
    }

    /// Removes the last event and returns its move.
    pub(crate) fn pop(&mut self) -> Move {
        let last = self.events.pop();
        let Event { mv, footprint_start, .. } = last.expect("the execution has an event to remove");
        for access in self.footprints.drain(footprint_start..) {
            self.accesses[access.cell as usize].pop();
        }
        self.by_thread[mv.thread].pop();
        self.clocks.truncate(self.events.len() * self.by_thread.len());
        mv
    }
}
