//! The monitor on a path, fed as late as possible.
//!
//! As long as no load has come after a store of its thread that may still be pending, the two orders that the monitor
//! compares are one, and it has nothing to say: under TSO nothing else can go ahead of anything. So events
//! are kept aside until then, and most are taken back before. A load of a location that only its own
//! thread writes, and a store to one that nobody else accesses, tell nobody anything and do not count.
//! Under PSO, and where records are allocated, more can go ahead: there every event is fed at once.

use super::footprint::{Act, Footprint};
use super::variants::Variant;
use fencepost_ir::Op;
use fencepost_models::shape::Shape;
use fencepost_monitor::{Access, Action, Mark, Model, Monitor};

/// What is kept of an event.
#[derive(Clone, Copy, Debug)]
struct Kept {
    thread: usize,
    /// Where its actions and their accesses begin.
    acts: usize,
    accesses: usize,
    /// Whether its thread had a store before that may be pending.
    stored: bool,
}

/// The monitor on a path.
#[derive(Debug)]
pub(crate) struct Watch {
    monitor: Monitor,
    /// Feed every event at once.
    eager: bool,
    /// By thread: the locations that it must not be asked about, as a load or as a store.
    alone: Vec<Alone>,
    /// By thread: whether it has a store that may be pending.
    stored: Vec<bool>,
    events: Vec<Kept>,
    acts: Vec<Act>,
    accesses: Vec<Access>,
    /// How things stood before each event that was fed.
    fed: Vec<Mark>,
    /// The first event that may have gone ahead of another one.
    relaxed: Option<usize>,
}

/// By location.
#[derive(Clone, Debug)]
struct Alone {
    /// Nobody else writes it.
    written: Vec<bool>,
    /// Nobody else accesses it.
    accessed: Vec<bool>,
}

impl Watch {
    /// Watches runs of a program.
    pub(crate) fn new(shape: &Shape<'_>, model: Model, addresses: usize) -> Self {
        let program = shape.program();
        let mut code = program.threads.iter().flat_map(|thread| &thread.code);
        let allocates = code.any(|stmt| matches!(stmt.op, Op::New { .. }));
        let threads = program.threads.len();
        let alone = |t: usize| {
            let others = |mask: &u64| mask & !(1 << t) == 0;
            let accessed = shape.readers.iter().zip(&shape.writers).map(|(r, w)| others(&(r | w)));
            Alone {
                written: shape.writers.iter().map(others).collect(),
                accessed: accessed.collect(),
            }
        };
        Watch {
            monitor: Monitor::new(model, threads, addresses),
            eager: allocates || model == Model::Pso,
            alone: (0..threads).map(alone).collect(),
            stored: vec![false; threads],
            events: Vec::new(),
            acts: Vec::new(),
            accesses: Vec::new(),
            fed: Vec::new(),
            relaxed: None,
        }
    }

    /// Takes an event in. Whether the monitor fires on it.
    pub(crate) fn push(&mut self, thread: usize, footprint: &Footprint) -> bool {
        let (acts, accesses) = (self.acts.len(), self.accesses.len());
        let stored = self.stored[thread];
        self.events.push(Kept { thread, acts, accesses, stored });
        let mut relaxed = false;
        for act in &footprint.acts {
            match *act {
                Act::Plain(action) => {
                    self.acts.push(*act);
                    relaxed |= self.note(thread, action);
                }
                Act::Block { from, to } => {
                    self.acts.push(Act::Block { from: from + accesses, to: to + accesses });
                    self.stored[thread] = false;
                }
            }
        }
        self.accesses.extend_from_slice(&footprint.accesses);
        if relaxed && self.relaxed.is_none() {
            self.relaxed = Some(self.events.len() - 1);
        }
        (self.eager || self.relaxed.is_some()) && self.catch_up()
    }

    /// Whether an action may go ahead of an earlier one of its thread.
    fn note(&mut self, thread: usize, action: Action<'_>) -> bool {
        let alone = &self.alone[thread];
        match action {
            Action::Load(at) => self.stored[thread] && !alone.written[at as usize],
            Action::Store(at) => {
                self.stored[thread] |= !alone.accessed[at as usize];
                false
            }
            Action::Update { .. } | Action::Block(_) | Action::Fence { store_load: true, .. } => {
                self.stored[thread] = false;
                false
            }
            Action::Fence { .. } | Action::Drain(_) | Action::Direct(_) => false,
        }
    }

    /// Feeds the monitor all that was kept aside. Whether it fires on the last event.
    fn catch_up(&mut self) -> bool {
        let mut fires = false;
        for at in self.fed.len()..self.events.len() {
            self.fed.push(self.monitor.mark());
            fires = self.feed(at);
        }
        fires
    }

    fn feed(&mut self, at: usize) -> bool {
        let Kept { thread, acts, .. } = self.events[at];
        let to = self.events.get(at + 1).map_or(self.acts.len(), |next| next.acts);
        let mut fires = false;
        for act in &self.acts[acts..to] {
            let action = match act {
                Act::Plain(action) => *action,
                Act::Block { from, to } => Action::Block(&self.accesses[*from..*to]),
            };
            fires |= self.monitor.event(thread, action).is_some();
        }
        fires
    }

    /// Takes the last event back.
    pub(crate) fn pop(&mut self) {
        let last = self.events.pop().expect("there is an event to take back");
        self.stored[last.thread] = last.stored;
        self.acts.truncate(last.acts);
        self.accesses.truncate(last.accesses);
        if self.relaxed == Some(self.events.len()) {
            self.relaxed = None;
        }
        if self.fed.len() > self.events.len() {
            let mark = self.fed.pop().expect("it was fed");
            self.monitor.undo(mark);
        }
    }

    /// Whether the monitor would fire on what a thread has just tried in vain, or on something else
    /// that it could do.
    pub(crate) fn would_fire(
        &mut self,
        thread: usize,
        tried: &Footprint,
        variant: Option<&Variant>,
    ) -> bool {
        self.catch_up();
        let mark = self.monitor.mark();
        let mut fires = false;
        match variant {
            Some(variant) => fires = self.monitor.event(thread, variant.action()).is_some(),
            None => tried.for_each_action(|action| {
                fires |= self.monitor.event(thread, action).is_some();
            }),
        }
        self.monitor.undo(mark);
        fires
    }

    /// Which of these the monitor would have fired on, instead of the last event.
    pub(crate) fn would_have_fired(&mut self, variants: &[Variant]) -> Vec<Variant> {
        self.catch_up();
        let (Some(last), Some(mark)) = (self.events.len().checked_sub(1), self.fed.last()) else {
            return Vec::new();
        };
        let (thread, mark) = (self.events[last].thread, *mark);
        self.monitor.undo(mark);
        let mut found = Vec::new();
        for variant in variants {
            if self.monitor.event(thread, variant.action()).is_some() {
                found.push(variant.clone());
            }
            self.monitor.undo(mark);
        }
        self.feed(last);
        found
    }
}
