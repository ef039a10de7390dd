//! One run for each trace: optimal dynamic partial-order reduction.
//!
//! After a run, each *race* in it (two steps that do not commute, of different threads, with nothing
//! between them that keeps them in order) is reversed: what is independent of the first runs without
//! it, then the second. Unless that is known to lead to what was, or will be, explored, it goes into the
//! [wakeup tree](super::wakeup) of the state before the first. So every trace is explored once, and no run
//! is begun in vain.
//!
//! *Threads that wait.* A step may be impossible because of what others wrote, as the attempt to take
//! a lock is. Reversed to a place where it is still not possible, it races there with the last
//! write to something it looked at: that write is left out, too, and so on until the step is possible, or
//! nothing is left to blame. The same for threads that still wait when a run ends.

use super::explorer::{End, Explorer};
use super::footprint::{Footprint, Touch, conflict};
use super::path::{Move, Pushed, is_invisible};
use super::wakeup::{Asleep, Branch, Item, insert, is_weak_initial};
use crate::sc::ScState;
use fencepost_ir::{Op, ThreadId, Update};
use fencepost_models::Taken;
use fencepost_models::machine::choice::Choices;
use std::collections::BTreeSet;

/// A state on the path.
struct Node {
    /// What need not be explored from it.
    sleep: Vec<Asleep>,
    /// What is still to be explored.
    tree: Vec<Branch>,
    /// Not looked at yet.
    fresh: bool,
    /// What the move that is explored touches, whichever way its choices go, if it has some.
    chosen: Vec<Touch>,
}

/// The exploration of one part.
pub(crate) struct Traces<'x, 'm, 'p> {
    explorer: &'x mut Explorer<'m, 'p>,
    /// How many events come before what is explored.
    base: usize,
    nodes: Vec<Node>,
    /// From this event on races were not looked for yet.
    new: usize,
    work: ScState,
    footprint: Footprint,
    /// Whether the run at hand ended with something wrong.
    went_wrong: bool,
    /// Reversals that were tried after the run at hand: what was left out, and whose step.
    tried: BTreeSet<(Vec<usize>, usize)>,
}

/// An attempt of a thread to take its next step.
struct Attempt {
    made: Move,
    possible: bool,
    touches: Vec<Touch>,
}

impl<'x, 'm, 'p> Traces<'x, 'm, 'p> {
    /// Explores all traces that begin with the path at hand and with none of what is asleep. True when
    /// done, false when there are more runs than wanted, or nobody wants more.
    pub(crate) fn explore(explorer: &'x mut Explorer<'m, 'p>, sleep: Vec<Asleep>) -> bool {
        let base = explorer.path.events.len();
        let work = explorer.path.machine.blank();
        let root = Node { sleep, tree: Vec::new(), fresh: true, chosen: Vec::new() };
        let mut traces = Traces {
            explorer,
            base,
            nodes: vec![root],
            new: base,
            work,
            footprint: Footprint::default(),
            went_wrong: false,
            tried: BTreeSet::new(),
        };
        traces.run()
    }

    fn run(&mut self) -> bool {
        while let Some(node) = self.nodes.last_mut() {
            if node.fresh {
                node.fresh = false;
                if node.tree.is_empty() && !self.begin() {
                    return false;
                }
                continue;
            }
            if !node.tree.is_empty() {
                let branch = node.tree.remove(0);
                if !self.descend(branch) {
                    return false;
                }
                continue;
            }
            self.nodes.pop();
            if self.nodes.is_empty() {
                return true;
            }
            self.ascend();
        }
        true
    }

    /// Chooses what to do at a state that nobody has plans for. False when nobody wants more.
    fn begin(&mut self) -> bool {
        if self.explorer.path.events.len() >= self.explorer.longest {
            return self.end(End::Cut);
        }
        let threads = self.explorer.threads();
        let last = self.explorer.path.events.last().map_or(0, |event| event.made.thread);
        let (mut sleeping, mut waiting) = (false, false);
        for offset in 0..threads {
            let t = (last + offset) % threads;
            if self.explorer.path.has_halted(t) {
                continue;
            }
            let moves = self.explorer.moves(t);
            let alone = moves.len() == 1;
            let all = if alone { Vec::new() } else { self.all_touches(t) };
            for made in moves {
                let node = self.nodes.last_mut().expect("at a state");
                if node.sleep.iter().any(|asleep| asleep.made == made) {
                    sleeping = true;
                    continue;
                }
                match self.explorer.path.push(made.clone()) {
                    Pushed::Blocked => {}
                    Pushed::Waiting => waiting = true,
                    pushed if alone => return self.arrive(pushed, Vec::new()),
                    Pushed::Yes | Pushed::Wrong(_) => {
                        self.explorer.path.pop();
                        node.tree.push(Branch { made, touches: all.clone(), next: Vec::new() });
                    }
                }
            }
            if !self.nodes.last().expect("at a state").tree.is_empty() {
                return true;
            }
        }
        let halted = (0..threads).all(|t| self.explorer.path.has_halted(t));
        self.end(match (sleeping, halted) {
            (true, _) => End::Redundant,
            (false, true) => End::Complete,
            (false, false) => End::Stuck { waiting },
        })
    }

    /// What the next step of a thread touches, whichever way its choices go.
    fn all_touches(&mut self, t: usize) -> Vec<Touch> {
        self.work.clone_from(self.explorer.path.state());
        self.attempts(t).into_iter().flat_map(|attempt| attempt.touches).collect()
    }

    /// Goes on along a branch. False when nobody wants more.
    fn descend(&mut self, branch: Branch) -> bool {
        if !branch.made.script.is_empty() {
            self.nodes.last_mut().expect("at a state").chosen = branch.touches;
        }
        let pushed = self.explorer.path.push(branch.made);
        self.arrive(pushed, branch.next)
    }

    /// There is one more event on the path. False when nobody wants more.
    fn arrive(&mut self, pushed: Pushed, tree: Vec<Branch>) -> bool {
        match pushed {
            Pushed::Yes => {
                if self.explorer.fired() {
                    return false;
                }
            }
            Pushed::Wrong(trouble) => {
                let goes_on = self.explorer.wrong(trouble) && self.end(End::Wrong);
                if goes_on {
                    self.ascend();
                }
                return goes_on;
            }
            Pushed::Blocked | Pushed::Waiting => {
                unreachable!("what was possible once is possible again")
            }
        }
        let path = &self.explorer.path;
        let last = path.events.len() - 1;
        let made = &path.events[last].made;
        let touched = path.touched(last);
        let sleep = self.nodes.last().expect("at a state").sleep.iter();
        let sleep = sleep
            .filter(|asleep| {
                asleep.made.thread != made.thread && !conflict(&asleep.touches, touched)
            })
            .cloned()
            .collect();
        self.nodes.push(Node { sleep, tree, fresh: true, chosen: Vec::new() });
        true
    }

    /// Goes back from an event; everything that begins with it was explored.
    fn ascend(&mut self) {
        let path = &mut self.explorer.path;
        let last = path.events.len() - 1;
        let made = path.events[last].made.clone();
        let touches = path.touched(last).to_vec();
        path.pop();
        self.new = self.new.min(last);
        if !made.script.is_empty() {
            // Another choice may come to another place in a race that was looked at already.
            self.new = self.base;
        }
        let chosen = (!made.script.is_empty()).then(|| self.all_touches(made.thread));
        let node = self.nodes.last_mut().expect("before the event");
        node.sleep.push(Asleep { made, touches, chosen });
    }

    /// A run has come to its end. False when nobody wants more.
    fn end(&mut self, end: End) -> bool {
        if !self.explorer.end(end) {
            return false;
        }
        self.tried.clear();
        self.went_wrong = end == End::Wrong;
        let path = &self.explorer.path;
        let events = path.events.len();
        for event in self.new..events {
            if self.explorer.is_cancelled() {
                return false;
            }
            for first in self.races(event) {
                self.reverse(first, event);
            }
        }
        self.new = events;
        for t in 0..self.explorer.threads() {
            if self.explorer.path.has_halted(t) || end == End::Wrong {
                continue;
            }
            let all = vec![false; events];
            self.work.clone_from(self.explorer.path.state());
            for attempt in self.attempts(t) {
                if !attempt.possible {
                    self.blame(&all, t, &attempt.touches);
                }
            }
        }
        true
    }

    /// The events that an event is in a race with.
    fn races(&self, event: usize) -> Vec<usize> {
        let path = &self.explorer.path;
        let thread = path.events[event].made.thread;
        let mut direct = Vec::new();
        for touch in path.touched(event) {
            let history = path.history(touch.cell);
            let before = history.partition_point(|(other, _)| (*other as usize) < event);
            for (other, wrote) in history[..before].iter().rev() {
                if touch.writes || *wrote {
                    direct.push(*other as usize);
                }
                if *wrote {
                    break;
                }
            }
        }
        let previous = path.last_of(thread, |own| own >= event);
        self.immediate(direct, thread, previous)
    }

    /// Of events that a step of a thread conflicts with, those that it races with: of other threads, with nothing
    /// between, and not before the part. `previous` is the thread's last event before the step.
    fn immediate(
        &self,
        mut events: Vec<usize>,
        thread: usize,
        previous: Option<usize>,
    ) -> Vec<usize> {
        events.sort_unstable();
        events.dedup();
        let path = &self.explorer.path;
        let is_immediate = |one: usize| {
            let mut between = events.iter().filter(|other| **other != one).chain(&previous);
            path.events[one].made.thread != thread
                && between.all(|other| !path.is_before(one, *other))
        };
        events.iter().copied().filter(|one| *one >= self.base && is_immediate(*one)).collect()
    }

    /// Plans a run in which an event comes before another one that it is in a race with.
    fn reverse(&mut self, first: usize, second: usize) {
        let path = &self.explorer.path;
        let made = &path.events[second].made;
        let mut removed: Vec<bool> = (0..path.events.len())
            .map(|event| event >= first && path.is_before(first, event))
            .collect();
        if self.went_wrong {
            // Nothing comes after it, and it may not go wrong the same way elsewhere.
            removed[path.events.len() - 1] = true;
        }
        if self.is_plain(second) {
            let touches = path.touched(second).to_vec();
            let attempt = Attempt { made: made.clone(), possible: true, touches };
            self.plan(first, &removed, &attempt);
        } else {
            let thread = made.thread;
            self.without(removed, thread);
        }
    }

    /// Whether an event does the same wherever it comes: it never waits, and touches what it touched.
    fn is_plain(&self, event: usize) -> bool {
        let path = &self.explorer.path;
        let thread = ThreadId::from_index(path.events[event].made.thread);
        let pc = path.state_at(event).pcs[thread.index()];
        if self.explorer.waiting.has_waits(thread) || self.explorer.cells.is_watched(thread) {
            return false;
        }
        match &path.machine.shape.stmt(thread, pc).op {
            Op::Load { .. } | Op::Store { .. } | Op::Choose { .. } => true,
            Op::Update { update, .. } => !matches!(update, Update::Cas { .. }),
            Op::New { .. }
            | Op::Free { .. }
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Invoke { .. }
            | Op::Skip
            | Op::Assign { .. }
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::Return { .. }
            | Op::Fence(_)
            | Op::Drain(_)
            | Op::Leave
            | Op::Halt => false,
        }
    }

    /// Plans the next step of a thread without some events and all that depend on them.
    fn without(&mut self, removed: Vec<bool>, thread: usize) {
        let Some(first) = removed.iter().position(|removed| *removed) else { return };
        let set = (0..removed.len()).filter(|event| removed[*event]).collect();
        if !self.tried.insert((set, thread)) {
            return;
        }
        let path = &self.explorer.path;
        self.work.clone_from(path.state_at(first));
        for event in (first..removed.len()).filter(|event| !removed[*event]) {
            let Move { thread, script } = &path.events[event].made;
            let thread = ThreadId::from_index(*thread);
            let mut choices = Choices::scripted(script);
            for _ in 0..path.events[event].steps {
                let taken = path.machine.run(&mut self.work, thread, &mut choices, &mut ());
                debug_assert_eq!(taken, Ok(Taken::Yes), "it does not depend on what is left out");
                choices = Choices::default();
            }
        }
        let mut attempts = self.attempts(thread);
        if attempts.len() > 1 {
            // One way to choose commutes with something only if all do.
            let all: Vec<Touch> =
                attempts.iter().flat_map(|attempt| attempt.touches.iter().copied()).collect();
            for attempt in attempts.iter_mut().filter(|attempt| attempt.possible) {
                attempt.touches.clone_from(&all);
            }
        }
        for attempt in attempts {
            if attempt.possible {
                self.plan(first, &removed, &attempt);
            } else {
                self.blame(&removed, thread, &attempt.touches);
            }
        }
    }

    /// What a thread can do next at the state in `work`.
    fn attempts(&mut self, t: usize) -> Vec<Attempt> {
        let path = &self.explorer.path;
        let thread = ThreadId::from_index(t);
        let mut attempts = Vec::new();
        let mut choices = Choices::default();
        loop {
            choices.rewind();
            let mut state = self.work.clone();
            let pc = state.pcs[t];
            self.footprint.clear();
            let taken = path.machine.run(&mut state, thread, &mut choices, &mut self.footprint);
            let made = Move { thread: t, script: choices.script().to_vec() };
            let mut to = pc;
            let mut possible = taken != Ok(Taken::Blocked);
            if taken == Ok(Taken::Yes) {
                let mut settled = Choices::default();
                while is_invisible(path.machine, &state, thread)
                    && path.machine.run(&mut state, thread, &mut settled, &mut ()) == Ok(Taken::Yes)
                {
                    settled = Choices::default();
                }
                to = state.pcs[t];
                possible = !self.explorer.waiting.is_dead_end(thread, to);
            }
            self.footprint.finish(&path.machine.shape, self.explorer.cells, thread, (pc, to));
            if taken.is_err() {
                self.footprint.touch_all(self.explorer.cells);
            }
            attempts.push(Attempt { made, possible, touches: self.footprint.touches.clone() });
            if !choices.advance() {
                return attempts;
            }
        }
    }

    /// For a step that is not possible without some events: leaves out, one after the other, the
    /// last writes to what it looked at, too.
    fn blame(&mut self, removed: &[bool], thread: usize, touches: &[Touch]) {
        let path = &self.explorer.path;
        let previous = path.last_of(thread, |event| removed[event]);
        let mut writers: Vec<usize> = Vec::new();
        for touch in touches {
            let history = path.history(touch.cell).iter().rev();
            let mut left = history.filter(|(event, wrote)| *wrote && !removed[*event as usize]);
            writers.extend(left.next().map(|(event, _)| *event as usize));
        }
        for event in self.immediate(writers, thread, previous) {
            let path = &self.explorer.path;
            let more = (0..removed.len())
                .map(|other| removed[other] || (other >= event && path.is_before(event, other)))
                .collect();
            self.without(more, thread);
        }
    }

    /// Adds a run to the tree of the state before the first event that is left out: what is not left
    /// out, then the attempt.
    fn plan(&mut self, first: usize, removed: &[bool], attempt: &Attempt) {
        let path = &self.explorer.path;
        let kept = (first..removed.len()).filter(|event| !removed[*event]);
        let item =
            |event: usize| Item { made: &path.events[event].made, touches: path.touched(event) };
        let own = Item { made: &attempt.made, touches: &attempt.touches };
        let sequence: Vec<Item<'_>> = kept.map(item).chain([own]).collect();
        let node = &mut self.nodes[first - self.base];
        let made = &path.events[first].made;
        let taken = match made.script.is_empty() {
            true => item(first),
            false => Item { made, touches: &node.chosen },
        };
        let asleep = node.sleep.iter().map(Asleep::item);
        let covered = |item: Item<'_>| is_weak_initial(item.made, item.touches, &sequence);
        if asleep.chain([taken]).any(covered) {
            return;
        }
        insert(&mut node.tree, sequence);
    }
}
