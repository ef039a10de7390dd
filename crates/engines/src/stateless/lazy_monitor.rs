//! The robustness monitor on a path, fed as late as possible.
//!
//! Under TSO, only a load can be reordered before an earlier store. Until some thread has a load
//! after a store that may still be pending, the two orders that the monitor compares are equal, so
//! it cannot fire. Until then, events are only queued, and most of them are removed before the
//! monitor sees them. A load of a location that no other thread writes and a store to a location
//! that no other thread accesses are not observable and do not count. Under PSO, and if the program
//! allocates records, more can be reordered. Then every event is fed immediately.

use super::footprint::{Footprint, MonitorAction};
use super::variants::Variant;
use fencepost_ir::Op;
use fencepost_models::shape::Shape;
use fencepost_monitor::{Access, Action, Mark, Model, Monitor};

/// A queued event.
#[derive(Clone, Copy, Debug)]
struct QueuedEvent {
    thread: usize,
    /// The start of its actions and of their accesses.
    actions: usize,
    accesses: usize,
    /// Whether the thread had a store that may be pending before this event.
    may_have_pending: bool,
}

/// The monitor on a path.
#[derive(Debug)]
pub(crate) struct LazyMonitor {
    monitor: Monitor,
    /// Whether every event is fed immediately.
    feeds_immediately: bool,
    /// By thread: the accesses that other threads cannot observe.
    unobserved: Vec<UnobservedAccesses>,
    /// By thread: whether the thread has a store that may be pending.
    may_have_pending: Vec<bool>,
    events: Vec<QueuedEvent>,
    actions: Vec<MonitorAction>,
    accesses: Vec<Access>,
    /// The state of the monitor before each event that was fed.
    fed_marks: Vec<Mark>,
    /// The first event that may be reordered before an earlier one.
    first_reordered: Option<usize>,
}

/// The accesses of a thread that other threads cannot observe, by location.
#[derive(Clone, Debug)]
struct UnobservedAccesses {
    /// Loads: no other thread writes the location.
    loads: Vec<bool>,
    /// Stores: no other thread accesses the location.
    stores: Vec<bool>,
}

impl LazyMonitor {
    /// Creates the monitor for executions of a program.
    pub(crate) fn new(shape: &Shape<'_>, model: Model, addresses: usize) -> Self {
        let program = shape.program();
        let mut code = program.threads.iter().flat_map(|thread| &thread.code);
        let allocates = code.any(|stmt| matches!(stmt.op, Op::New { .. }));
        let threads = program.threads.len();
        let unobserved = |t: usize| {
            let no_other = |mask: &u64| mask & !(1 << t) == 0;
            let stores = shape.readers.iter().zip(&shape.writers).map(|(r, w)| no_other(&(r | w)));
            UnobservedAccesses {
                loads: shape.writers.iter().map(no_other).collect(),
                stores: stores.collect(),
            }
        };
        LazyMonitor {
            monitor: Monitor::new(model, threads, addresses),
            feeds_immediately: allocates || model == Model::Pso,
            unobserved: (0..threads).map(unobserved).collect(),
            may_have_pending: vec![false; threads],
            events: Vec::new(),
            actions: Vec::new(),
            accesses: Vec::new(),
            fed_marks: Vec::new(),
            first_reordered: None,
        }
    }

    /// Adds an event. Returns whether the monitor fires on it.
    pub(crate) fn push(&mut self, thread: usize, footprint: &Footprint) -> bool {
        let (actions, accesses) = (self.actions.len(), self.accesses.len());
        let may_have_pending = self.may_have_pending[thread];
        self.events.push(QueuedEvent { thread, actions, accesses, may_have_pending });
        let mut is_reordered = false;
        for monitor_action in &footprint.actions {
            match *monitor_action {
                MonitorAction::Plain(action) => {
                    self.actions.push(*monitor_action);
                    is_reordered |= self.may_be_reordered(thread, action);
                }
                MonitorAction::Block { from, to } => {
                    self.actions
                        .push(MonitorAction::Block { from: from + accesses, to: to + accesses });
                    self.may_have_pending[thread] = false;
                }
            }
        }
        self.accesses.extend_from_slice(&footprint.accesses);
        if is_reordered && self.first_reordered.is_none() {
            self.first_reordered = Some(self.events.len() - 1);
        }
        (self.feeds_immediately || self.first_reordered.is_some()) && self.feed_queued()
    }

    /// Updates the pending stores of a thread. Returns whether the action may be reordered before
    /// an earlier action of the thread.
    fn may_be_reordered(&mut self, thread: usize, action: Action<'_>) -> bool {
        let unobserved = &self.unobserved[thread];
        match action {
            Action::Load(at) => self.may_have_pending[thread] && !unobserved.loads[at as usize],
            Action::Store(at) => {
                self.may_have_pending[thread] |= !unobserved.stores[at as usize];
                false
            }
            Action::Update { .. } | Action::Block(_) | Action::Fence { store_load: true, .. } => {
                self.may_have_pending[thread] = false;
                false
            }
            Action::Fence { .. } | Action::Drain(_) | Action::Direct(_) => false,
        }
    }

    /// Feeds all queued events to the monitor. Returns whether the monitor fires on the last one.
    fn feed_queued(&mut self) -> bool {
        let mut fires = false;
        for at in self.fed_marks.len()..self.events.len() {
            self.fed_marks.push(self.monitor.mark());
            fires = self.feed(at);
        }
        fires
    }

    fn feed(&mut self, at: usize) -> bool {
        let QueuedEvent { thread, actions, .. } = self.events[at];
        let to = self.events.get(at + 1).map_or(self.actions.len(), |next| next.actions);
        let mut fires = false;
        for monitor_action in &self.actions[actions..to] {
            let action = match monitor_action {
                MonitorAction::Plain(action) => *action,
                MonitorAction::Block { from, to } => Action::Block(&self.accesses[*from..*to]),
            };
            fires |= self.monitor.add_event(thread, action).is_some();
        }
        fires
    }

    /// Removes the last event.
    pub(crate) fn pop(&mut self) {
        let last = self.events.pop().expect("there must be an event to remove");
        self.may_have_pending[last.thread] = last.may_have_pending;
        self.actions.truncate(last.actions);
        self.accesses.truncate(last.accesses);
        if self.first_reordered == Some(self.events.len()) {
            self.first_reordered = None;
        }
        if self.fed_marks.len() > self.events.len() {
            let mark = self.fed_marks.pop().expect("the event was fed");
            self.monitor.undo(mark);
        }
    }

    /// Returns whether the monitor would fire on the step that a thread just failed to take, or on
    /// this variant of the step.
    pub(crate) fn would_fire(
        &mut self,
        thread: usize,
        tried: &Footprint,
        variant: Option<&Variant>,
    ) -> bool {
        self.feed_queued();
        let mark = self.monitor.mark();
        let mut fires = false;
        match variant {
            Some(variant) => fires = self.monitor.add_event(thread, variant.action()).is_some(),
            None => tried.for_each_action(|action| {
                fires |= self.monitor.add_event(thread, action).is_some();
            }),
        }
        self.monitor.undo(mark);
        fires
    }

    /// Returns the variants of the last event on which the monitor would have fired.
    pub(crate) fn would_have_fired(&mut self, variants: &[Variant]) -> Vec<Variant> {
        self.feed_queued();
        let (Some(last), Some(mark)) = (self.events.len().checked_sub(1), self.fed_marks.last())
        else {
            return Vec::new();
        };
        let (thread, mark) = (self.events[last].thread, *mark);
        self.monitor.undo(mark);
        let mut found = Vec::new();
        for variant in variants {
            if self.monitor.add_event(thread, variant.action()).is_some() {
                found.push(variant.clone());
            }
            self.monitor.undo(mark);
        }
        self.feed(last);
        found
    }
}
