//! One execution that grows and shrinks: its events and their happens-before order.
//!
//! An event happens after all earlier events of its thread, and after all earlier events that it does not commute
//! with, and after what happens before these. The order is kept in vector clocks: the entry of a thread is the
//! number of its last event that happens before.

use crate::event::{Event, Move, Touch};

/// An execution: the events so far, in the order in which they were taken.
#[derive(Clone, Debug)]
pub struct Execution {
    events: Vec<Event>,
    /// The clocks of all events, one after another.
    clocks: Vec<u32>,
    /// The footprints of all events, one after another.
    touches: Vec<Touch>,
    /// By cell: which events touched it, and whether they wrote it.
    accesses: Vec<Vec<(u32, bool)>>,
    /// By thread: its events.
    own: Vec<Vec<u32>>,
}

impl Execution {
    /// The empty execution of so many threads.
    pub(crate) fn new(threads: usize) -> Self {
        Execution {
            events: Vec::new(),
            clocks: Vec::new(),
            touches: Vec::new(),
            accesses: Vec::new(),
            own: vec![Vec::new(); threads],
        }
    }

    /// How many events it has.
    #[inline]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Its events, in the order in which they were taken.
    #[inline]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The cells that an event touched.
    #[inline]
    pub fn footprint(&self, event: usize) -> &[Touch] {
        let to = self.events.get(event + 1).map_or(self.touches.len(), |next| next.from);
        &self.touches[self.events[event].from..to]
    }

    /// By thread: the number of its last event that is this event or happens before it, 0 if there is none.
    #[inline]
    pub fn clock(&self, event: usize) -> &[u32] {
        let threads = self.own.len();
        &self.clocks[event * threads..(event + 1) * threads]
    }

    /// Whether one event is the other or happens before it.
    #[inline]
    pub fn happens_before(&self, one: usize, other: usize) -> bool {
        let Event { made, number, .. } = &self.events[one];
        self.clock(other)[made.thread] >= *number
    }

    /// Which events touched a cell, in their order, and whether they wrote it.
    #[inline]
    pub fn accesses(&self, cell: u32) -> &[(u32, bool)] {
        self.accesses.get(cell as usize).map_or(&[], Vec::as_slice)
    }

    /// The thread of the last event.
    #[inline]
    pub(crate) fn last_thread(&self) -> Option<usize> {
        self.events.last().map(|event| event.made.thread)
    }

    /// The last event of a thread that is not removed.
    pub(crate) fn last_of(&self, thread: usize, removed: impl Fn(usize) -> bool) -> Option<usize> {
        let mut own = self.own[thread].iter().rev().map(|event| *event as usize);
        own.find(|event| !removed(*event))
    }

    /// Adds an event.
    pub(crate) fn push(&mut self, made: Move, footprint: &[Touch]) {
        let depth = self.events.len();
        let thread = made.thread;
        let threads = self.own.len();
        let number = self.own[thread].len() as u32 + 1;
        let clock = self.clocks.len();
        match self.own[thread].last() {
            Some(last) => {
                let last = *last as usize * threads;
                self.clocks.extend_from_within(last..last + threads);
            }
            None => self.clocks.resize(clock + threads, 0),
        }
        self.clocks[clock + thread] = number;
        let from = self.touches.len();
        for touch in footprint {
            let cell = touch.cell as usize;
            if cell >= self.accesses.len() {
                self.accesses.resize_with(cell + 1, Vec::new);
            }
            let accesses = &mut self.accesses[cell];
            for (earlier, wrote) in accesses.iter().rev() {
                if (touch.writes || *wrote) && *earlier as usize != depth {
                    let (before, now) = self.clocks.split_at_mut(clock);
                    let then = &before[*earlier as usize * threads..][..threads];
                    now.iter_mut().zip(then).for_each(|(now, then)| *now = (*now).max(*then));
                }
                if *wrote {
                    break;
                }
            }
            accesses.push((depth as u32, touch.writes));
            self.touches.push(*touch);
        }
        self.own[thread].push(depth as u32);
        self.events.push(Event { made, number, from });
    }

    /// Takes the last event back.
    pub(crate) fn pop(&mut self) -> Move {
        let Event { made, from, .. } = self.events.pop().expect("there is an event to take back");
        for touch in self.touches.drain(from..) {
            self.accesses[touch.cell as usize].pop();
        }
        self.own[made.thread].pop();
        self.clocks.truncate(self.events.len() * self.own.len());
        made
    }
}
