//! One run as a path that grows and shrinks: states, events, what happens before what, and the monitor.
//!
//! An *event* is a visible step of a thread with the invisible ones after it: fences, drains and the ends of critical
//! sections change nothing that others see under sequential consistency, so they run at once. Events
//! are ordered by vector clocks: a step comes after all earlier ones of its thread and all that it does
//! not commute with.
//!
//! *Mutual exclusion* is judged on the order of events, not on states: two sections overlap in
//! some run of the same partial order unless one was left before the other was entered.

use super::footprint::{Cells, Footprint, Touch};
use super::variants::Variant;
use super::watch::Watch;
use crate::sc::{ScMachine, ScState};
use fencepost_ir::waits::Waiting;
use fencepost_ir::{Op, ThreadId};
use fencepost_models::machine::choice::Choices;
use fencepost_models::state::State;
use fencepost_models::{Action, Machine, MemoryModel, Step, Taken};

/// What a thread does next: itself, and which way `choose` goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Move {
    pub(crate) thread: usize,
    pub(crate) script: Vec<u32>,
}

/// An event on the path.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) made: Move,
    /// Its number among the events of its thread, from 1.
    pub(crate) number: u32,
    /// How many steps of the machine it has.
    pub(crate) steps: u32,
    /// After how many of them its thread is in a critical section that it was not in before.
    entered: Option<u32>,
    /// Where its cells begin among all of the path.
    from: usize,
    /// Its thread's section before it.
    section: Section,
    /// Whether the monitor had fired before it.
    fired: bool,
}

/// Where a thread is with its critical sections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Section {
    /// In one now: the position of the event that entered it.
    inside: Option<usize>,
    /// The last one that was left: the event that did, and how many steps of it came before.
    left: Option<(usize, u32)>,
}

/// Stands for the event that entered a section that a thread is in from the beginning.
const OPENING: usize = usize::MAX;

/// What came of trying to go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pushed {
    /// There is one more event.
    Yes,
    /// The thread has to wait; what it looked at is in the footprint.
    Blocked,
    /// The same, in a loop that only re-reads.
    Waiting,
    /// There is one more event, and something is wrong.
    Wrong(Trouble),
}

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trouble {
    /// The last step stumbled, or the state after it breaks a property.
    Here,
    /// The section that the last event entered overlaps with the last one of this thread.
    Overlap(usize),
}

pub(crate) struct Path<'m, 'p> {
    pub(crate) machine: &'m ScMachine<'p>,
    waiting: &'m Waiting,
    cells: &'m Cells,
    /// The state before each event, and after the last. States beyond are kept for their memory.
    states: Vec<ScState>,
    pub(crate) events: Vec<Event>,
    /// The clocks of all events, one after another.
    clocks: Vec<u32>,
    touches: Vec<Touch>,
    /// By cell: which events touched it, and whether they wrote.
    history: Vec<Vec<(u32, bool)>>,
    /// By thread: its events.
    own: Vec<Vec<u32>>,
    sections: Vec<Section>,
    pub(crate) footprint: Footprint,
    choices: Choices,
    watch: Option<Watch>,
    /// Whether the monitor has fired on this path.
    pub(crate) fired: bool,
    /// Steps of the machine before the first event.
    pub(crate) opening: Vec<Step>,
    pub(crate) init: Vec<u32>,
}

impl<'m, 'p> Path<'m, 'p> {
    /// A path without events, not at any state yet; see [`Path::start`].
    pub(crate) fn new(
        machine: &'m ScMachine<'p>,
        waiting: &'m Waiting,
        cells: &'m Cells,
        watch: Option<fencepost_monitor::Model>,
    ) -> Self {
        let threads = machine.shape.threads.len();
        Path {
            machine,
            waiting,
            cells,
            states: vec![machine.blank()],
            events: Vec::new(),
            clocks: Vec::new(),
            touches: Vec::new(),
            history: vec![Vec::new(); cells.len()],
            own: vec![Vec::new(); threads],
            sections: vec![Section::default(); threads],
            footprint: Footprint::default(),
            choices: Choices::default(),
            watch: watch.map(|model| Watch::new(&machine.shape, model, cells.addresses)),
            fired: false,
            opening: Vec::new(),
            init: Vec::new(),
        }
    }

    /// Begins at the state that these choices of `init` lead to. `None` when `init` cannot run to its
    /// end; an error when something goes wrong before the first event.
    pub(crate) fn start(&mut self, init: &[u32]) -> Option<Result<(), ()>> {
        let mut choices = Choices::scripted(init);
        self.init = init.to_vec();
        self.opening.clear();
        match self.machine.start(&mut self.states[0], &mut choices, &mut ()) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(_) => return Some(Err(())),
        }
        if self.machine.wrong(&self.states[0]).is_some() {
            return Some(Err(()));
        }
        for t in self.machine.shape.program().thread_ids() {
            // The end of a section is an event, so that the section can overlap with others.
            while is_invisible(self.machine, &self.states[0], t)
                && !self.machine.is_critical(&self.states[0], t)
            {
                self.choices.clone_from(&Choices::default());
                let state = &mut self.states[0];
                let taken = self.machine.run(state, t, &mut self.choices, &mut ());
                self.opening.push(Step { thread: t, action: Action::Run(Vec::new()) });
                match taken {
                    Ok(Taken::Yes) => {}
                    Ok(Taken::Blocked | Taken::Bounded) => unreachable!("it waits for nothing"),
                    Err(_) => return Some(Err(())),
                }
            }
            if self.machine.is_critical(&self.states[0], t) {
                self.sections[t.index()].inside = Some(OPENING);
            }
        }
        if self.machine.wrong(&self.states[0]).is_some() {
            return Some(Err(()));
        }
        Some(Ok(()))
    }

    /// The state after the last event.
    pub(crate) fn state(&self) -> &ScState {
        &self.states[self.events.len()]
    }

    /// The state before an event.
    pub(crate) fn state_at(&self, at: usize) -> &ScState {
        &self.states[at]
    }

    /// The cells an event touched.
    pub(crate) fn touched(&self, event: usize) -> &[Touch] {
        let to = self.events.get(event + 1).map_or(self.touches.len(), |next| next.from);
        &self.touches[self.events[event].from..to]
    }

    /// The clock of an event.
    fn clock(&self, event: usize) -> &[u32] {
        let threads = self.own.len();
        &self.clocks[event * threads..(event + 1) * threads]
    }

    /// Whether one event is another or comes before it.
    #[inline]
    pub(crate) fn is_before(&self, one: usize, other: usize) -> bool {
        let Event { made, number, .. } = &self.events[one];
        self.clock(other)[made.thread] >= *number
    }

    /// The last event of a thread that is not left out.
    pub(crate) fn last_of(&self, t: usize, left_out: impl Fn(usize) -> bool) -> Option<usize> {
        let own = self.own[t].iter().rev().map(|event| *event as usize);
        own.into_iter().find(|event| !left_out(*event))
    }

    /// Which events touched a cell, and whether they wrote it.
    pub(crate) fn history(&self, cell: u32) -> &[(u32, bool)] {
        &self.history[cell as usize]
    }

    /// Whether the thread has nothing more to do.
    pub(crate) fn has_halted(&self, t: usize) -> bool {
        let thread = ThreadId::from_index(t);
        self.machine.has_halted(thread, self.state().pcs[t])
    }

    /// Takes the next step of a thread; its choices go the way of the script.
    pub(crate) fn push(&mut self, made: Move) -> Pushed {
        let depth = self.events.len();
        let t = ThreadId::from_index(made.thread);
        if self.states.len() == depth + 1 {
            self.states.push(self.machine.blank());
        }
        let (done, rest) = self.states.split_at_mut(depth + 1);
        rest[0].clone_from(&done[depth]);
        if made.script.is_empty() {
            self.choices.clone_from(&Choices::default());
        } else {
            self.choices = Choices::scripted(&made.script);
        }
        let (state, pc) = (&mut rest[0], done[depth].pcs[made.thread]);
        self.footprint.clear();
        let taken = self.machine.run(state, t, &mut self.choices, &mut self.footprint);
        let mut wrong = match taken {
            Ok(Taken::Yes) => self.machine.wrong_after(state, t).map(|_| Trouble::Here),
            Ok(Taken::Blocked | Taken::Bounded) => {
                self.footprint.finish(&self.machine.shape, self.cells, t, (pc, pc));
                return Pushed::Blocked;
            }
            Err(_) => Some(Trouble::Here),
        };
        let mut steps = 1;
        let before = self.sections[made.thread];
        let mut section = before;
        let mut entered = None;
        let is = wrong.is_none() && self.machine.is_critical(state, t);
        if wrong.is_none() && !is && section.inside.is_some() {
            section = Section { inside: None, left: Some((depth, 0)) };
        }
        if is && section.inside.is_none() {
            section.inside = Some(depth);
            entered = Some(steps);
        }
        while wrong.is_none() && is_invisible(self.machine, &self.states[depth + 1], t) {
            let state = &mut self.states[depth + 1];
            let was = self.machine.is_critical(state, t);
            self.choices.clone_from(&Choices::default());
            let taken = self.machine.run(state, t, &mut self.choices, &mut self.footprint);
            if taken != Ok(Taken::Yes) || self.machine.wrong_after(state, t).is_some() {
                wrong = Some(Trouble::Here);
            }
            let is = self.machine.is_critical(state, t);
            if was && !is {
                section = Section { inside: None, left: Some((depth, steps)) };
            }
            steps += 1;
            if is && section.inside.is_none() {
                section.inside = Some(depth);
                entered = entered.or(Some(steps));
            }
        }
        let to = self.states[depth + 1].pcs[made.thread];
        self.footprint.finish(&self.machine.shape, self.cells, t, (pc, to));
        if taken.is_err() {
            self.footprint.touch_all(self.cells);
        }
        if wrong.is_none() && self.waiting.is_dead_end(t, to) {
            return Pushed::Waiting;
        }
        let number = self.own[made.thread].len() as u32 + 1;
        let from = self.touches.len();
        let fired = self.fired;
        let event = Event { made, number, steps, entered, from, section: before, fired };
        self.enter(event, section);
        let overlap = || entered.and_then(|_| self.overlaps(depth));
        match wrong.or_else(overlap) {
            Some(trouble) => Pushed::Wrong(trouble),
            None => Pushed::Yes,
        }
    }

    /// Puts the event that was just run on the path.
    fn enter(&mut self, event: Event, section: Section) {
        let depth = self.events.len();
        let thread = event.made.thread;
        let threads = self.own.len();
        let from = self.clocks.len();
        match self.own[thread].last() {
            Some(last) => {
                let last = *last as usize * threads;
                self.clocks.extend_from_within(last..last + threads);
            }
            None => self.clocks.resize(from + threads, 0),
        }
        self.clocks[from + thread] = event.number;
        for touch in &self.footprint.touches {
            let history = &mut self.history[touch.cell as usize];
            for (toucher, wrote) in history.iter().rev() {
                if (touch.writes || *wrote) && *toucher as usize != depth {
                    let (earlier, now) = self.clocks.split_at_mut(from);
                    let clock = &earlier[*toucher as usize * threads..][..threads];
                    now.iter_mut().zip(clock).for_each(|(now, then)| *now = (*now).max(*then));
                }
                if *wrote {
                    break;
                }
            }
            history.push((depth as u32, touch.writes));
            self.touches.push(*touch);
        }
        self.own[thread].push(depth as u32);
        self.sections[thread] = section;
        self.events.push(event);
        if let Some(watch) = &mut self.watch {
            self.fired |= watch.push(thread, &self.footprint);
        }
    }

    /// Whether the monitor has fired on the last event, and on none before.
    pub(crate) fn fired_now(&self) -> bool {
        self.fired && self.events.last().is_some_and(|event| !event.fired)
    }

    /// Whether the monitor would fire on what a thread has just tried in vain, or on something else
    /// that it could do.
    pub(crate) fn would_fire(&mut self, thread: usize, variant: Option<&Variant>) -> bool {
        let Path { watch, footprint, .. } = self;
        watch.as_mut().is_some_and(|watch| watch.would_fire(thread, footprint, variant))
    }

    /// Which of these the monitor would have fired on, instead of the last event.
    pub(crate) fn would_have_fired(&mut self, variants: &[Variant]) -> Vec<Variant> {
        self.watch.as_mut().map_or_else(Vec::new, |watch| watch.would_have_fired(variants))
    }

    /// Takes the last event off.
    pub(crate) fn pop(&mut self) {
        let event = self.events.pop().expect("there is an event to take off");
        let thread = event.made.thread;
        for touch in self.touches.drain(event.from..) {
            self.history[touch.cell as usize].pop();
        }
        self.own[thread].pop();
        self.clocks.truncate(self.events.len() * self.own.len());
        self.sections[thread] = event.section;
        if let Some(watch) = &mut self.watch {
            watch.pop();
        }
        self.fired = event.fired;
    }

    /// The thread whose last critical section overlaps with the one that an event has entered.
    fn overlaps(&self, event: usize) -> Option<Trouble> {
        if !self.machine.shape.watches_critical {
            return None;
        }
        let thread = self.events[event].made.thread;
        let clock = self.clock(event);
        let overlaps = |other: usize| match self.sections[other] {
            Section { inside: Some(_), .. } => true,
            // It was left for sure when the event after the one that left it has happened.
            Section { left: Some((at, _)), .. } => clock[other] <= self.events[at].number,
            Section { inside: None, left: None } => false,
        };
        (0..self.sections.len()).find(|t| *t != thread && overlaps(*t)).map(Trouble::Overlap)
    }

    /// The steps of the machine up to here: all, or those that lead to an overlap.
    pub(crate) fn steps(&self, trouble: Option<Trouble>) -> Vec<Step> {
        let mut steps = self.opening.clone();
        let overlap = match trouble {
            Some(Trouble::Overlap(other)) => Some(self.sections[other]),
            Some(Trouble::Here) | None => None,
        };
        let last = self.events.len().saturating_sub(1);
        for (at, event) in self.events.iter().enumerate() {
            let mut taken = event.steps;
            if let Some(section) = overlap {
                let (stays, until) = match section {
                    Section { inside: Some(entered), .. } => (entered, None),
                    Section { left: Some((at, steps)), .. } => (at, Some(steps)),
                    Section { inside: None, left: None } => unreachable!("sections overlap"),
                };
                let stays_for = stays != OPENING && self.is_before(at, stays);
                if !self.is_before(at, last) && !stays_for {
                    continue;
                }
                if at == stays {
                    taken = until.unwrap_or(taken);
                }
                if at == last {
                    taken = event.entered.unwrap_or(taken);
                }
            }
            let thread = ThreadId::from_index(event.made.thread);
            for number in 0..taken {
                let script = if number == 0 { event.made.script.clone() } else { Vec::new() };
                steps.push(Step { thread, action: Action::Run(script) });
            }
        }
        steps
    }
}

/// Whether the next statement of a thread changes nothing that others see, and is always possible.
pub(crate) fn is_invisible<M: MemoryModel>(
    machine: &Machine<'_, M>,
    state: &State<M::Pending>,
    t: ThreadId,
) -> bool {
    let pc = state.pcs[t.index()];
    match &machine.shape.stmt(t, pc).op {
        Op::Fence(_) | Op::Drain(_) | Op::Leave => true,
        // Local ones are left only where steps are not fused.
        Op::Skip | Op::Assign { .. } | Op::Branch { .. } | Op::Assert(_) | Op::Return { .. } => {
            true
        }
        Op::Assume(condition) => {
            let shape = &machine.shape;
            condition.eval(&|reg| state.register(shape, t, *reg)) != Ok(0)
        }
        Op::Choose { .. }
        | Op::Load { .. }
        | Op::Store { .. }
        | Op::Update { .. }
        | Op::New { .. }
        | Op::Free { .. }
        | Op::AtomicBegin
        | Op::AtomicEnd
        | Op::Invoke { .. }
        | Op::Halt => false,
    }
}
