//! One run of the machine as a path that grows and shrinks: states, critical sections, and the monitor.
//!
//! An *event* is a visible step of a thread with the invisible ones after it: fences, drains and the ends of critical
//! sections change nothing that others see under sequential consistency, so they run at once.
//!
//! *Mutual exclusion* is judged on the order of events, not on states: two sections overlap in
//! some run of the same partial order unless one was left before the other was entered.

use super::footprint::{Cells, Footprint};
use super::variants::Variant;
use super::watch::Watch;
use crate::sc::{ScMachine, ScState};
use fencepost_explore::{self as explore, Attempt, Execution, Move};
use fencepost_ir::waits::Waiting;
use fencepost_ir::{Op, ThreadId};
use fencepost_models::machine::choice::Choices;
use fencepost_models::state::State;
use fencepost_models::{Action, Machine, MemoryModel, Step, Taken};

/// What the machine did in an event.
#[derive(Clone, Debug)]
pub(crate) struct PathEvent {
    /// How many steps it has.
    pub(crate) steps: u32,
    /// After how many of them its thread is in a critical section that it was not in before.
    entered: Option<u32>,
    thread: usize,
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
    pub(crate) events: Vec<PathEvent>,
    sections: Vec<Section>,
    /// What is wrong with the last event.
    pub(crate) wrong: Option<Trouble>,
    pub(crate) footprint: Footprint,
    choices: Choices,
    watch: Option<Watch>,
    /// Whether the monitor has fired on this path.
    pub(crate) fired: bool,
    /// Steps of the machine before the first event.
    pub(crate) opening: Vec<Step>,
    pub(crate) init: Vec<u32>,
    /// For attempts: the state before, the state after, and what was touched.
    before: ScState,
    after: ScState,
    attempted: Footprint,
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
            sections: vec![Section::default(); threads],
            wrong: None,
            footprint: Footprint::default(),
            choices: Choices::default(),
            watch: watch.map(|model| Watch::new(&machine.shape, model, cells.addresses)),
            fired: false,
            opening: Vec::new(),
            init: Vec::new(),
            before: machine.blank(),
            after: machine.blank(),
            attempted: Footprint::default(),
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

    /// Whether the thread has nothing more to do.
    pub(crate) fn has_halted(&self, t: usize) -> bool {
        let thread = ThreadId::from_index(t);
        self.machine.has_halted(thread, self.state().pcs[t])
    }

    /// Takes the next step of a thread.
    pub(crate) fn step(&mut self, made: &Move) -> explore::Step {
        let depth = self.events.len();
        let t = ThreadId::from_index(made.thread);
        if self.states.len() == depth + 1 {
            self.states.push(self.machine.blank());
        }
        let (done, rest) = self.states.split_at_mut(depth + 1);
        rest[0].clone_from(&done[depth]);
        if made.choices.is_empty() {
            self.choices.clone_from(&Choices::default());
        } else {
            self.choices = Choices::scripted(&made.choices);
        }
        let (state, pc) = (&mut rest[0], done[depth].pcs[made.thread]);
        self.footprint.clear();
        let taken = self.machine.run(state, t, &mut self.choices, &mut self.footprint);
        let mut wrong = match taken {
            Ok(Taken::Yes) => self.machine.wrong_after(state, t).map(|_| Trouble::Here),
            Ok(Taken::Blocked | Taken::Bounded) => {
                self.footprint.finish(&self.machine.shape, self.cells, t, (pc, pc));
                return explore::Step::Blocked;
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
            return explore::Step::Spinning;
        }
        let (thread, fired) = (made.thread, self.fired);
        self.events.push(PathEvent { steps, entered, thread, section: before, fired });
        self.sections[thread] = section;
        self.wrong = wrong;
        if let Some(watch) = &mut self.watch {
            self.fired |= watch.push(thread, &self.footprint);
        }
        explore::Step::Taken
    }

    /// What a thread can do next after so many events of the path and then these moves.
    pub(crate) fn attempts(&mut self, events: usize, moves: &[&Move], t: usize) -> Vec<Attempt> {
        let Path { machine, waiting, cells, states, before, after, attempted, .. } = self;
        before.clone_from(&states[events]);
        for Move { thread, choices } in moves {
            let thread = ThreadId::from_index(*thread);
            let taken = machine.run(before, thread, &mut Choices::scripted(choices), &mut ());
            debug_assert_eq!(taken, Ok(Taken::Yes), "it does not depend on what is left out");
            pass_invisible(machine, before, thread);
        }
        let thread = ThreadId::from_index(t);
        let pc = before.pcs[t];
        let mut attempts = Vec::new();
        let mut choices = Choices::default();
        loop {
            choices.rewind();
            after.clone_from(before);
            attempted.clear();
            let taken = machine.run(after, thread, &mut choices, attempted);
            let made = Move { thread: t, choices: choices.script().to_vec() };
            let mut to = pc;
            let mut possible = taken != Ok(Taken::Blocked);
            if taken == Ok(Taken::Yes) {
                pass_invisible(machine, after, thread);
                to = after.pcs[t];
                possible = !waiting.is_dead_end(thread, to);
            }
            attempted.finish(&machine.shape, cells, thread, (pc, to));
            if taken.is_err() {
                attempted.touch_all(cells);
            }
            attempts.push(Attempt { made, possible, footprint: attempted.touches.clone() });
            if !choices.advance() {
                return attempts;
            }
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

    /// Takes all events off but the first so many.
    pub(crate) fn truncate(&mut self, events: usize) {
        while self.events.len() > events
            && let Some(event) = self.events.pop()
        {
            self.sections[event.thread] = event.section;
            if let Some(watch) = &mut self.watch {
                watch.pop();
            }
            self.fired = event.fired;
        }
        self.wrong = None;
    }

    /// Looks whether the section that the last event has entered, if it has, overlaps with the last one of another
    /// thread.
    pub(crate) fn judge_overlap(&mut self, execution: &Execution) {
        let last = execution.len() - 1;
        let PathEvent { entered, thread, .. } = self.events[last];
        if self.wrong.is_some() || entered.is_none() || !self.machine.shape.watches_critical {
            return;
        }
        let clock = execution.clock(last);
        let overlaps = |other: usize| match self.sections[other] {
            Section { inside: Some(_), .. } => true,
            // It was left for sure when the event after the one that left it has happened.
            Section { left: Some((at, _)), .. } => clock[other] <= execution.events()[at].number,
            Section { inside: None, left: None } => false,
        };
        let mut others = (0..self.sections.len()).filter(|t| *t != thread);
        self.wrong = others.find(|t| overlaps(*t)).map(Trouble::Overlap);
    }

    /// The steps of the machine up to here: all, or those that lead to an overlap.
    pub(crate) fn steps(&self, execution: &Execution) -> Vec<Step> {
        let mut steps = self.opening.clone();
        let overlap = match self.wrong {
            Some(Trouble::Overlap(other)) => Some(self.sections[other]),
            Some(Trouble::Here) | None => None,
        };
        let last = self.events.len().saturating_sub(1);
        for (at, (event, visible)) in self.events.iter().zip(execution.events()).enumerate() {
            let mut taken = event.steps;
            if let Some(section) = overlap {
                let (stays, until) = match section {
                    Section { inside: Some(entered), .. } => (entered, None),
                    Section { left: Some((at, steps)), .. } => (at, Some(steps)),
                    Section { inside: None, left: None } => unreachable!("sections overlap"),
                };
                let stays_for = stays != OPENING && execution.happens_before(at, stays);
                if !execution.happens_before(at, last) && !stays_for {
                    continue;
                }
                if at == stays {
                    taken = until.unwrap_or(taken);
                }
                if at == last {
                    taken = event.entered.unwrap_or(taken);
                }
            }
            let thread = ThreadId::from_index(event.thread);
            for number in 0..taken {
                let script = if number == 0 { visible.made.choices.clone() } else { Vec::new() };
                steps.push(Step { thread, action: Action::Run(script) });
            }
        }
        steps
    }
}

/// Takes the invisible steps of a thread, up to one that goes wrong.
fn pass_invisible(machine: &ScMachine<'_>, state: &mut ScState, t: ThreadId) {
    while is_invisible(machine, state, t)
        && machine.run(state, t, &mut Choices::default(), &mut ()) == Ok(Taken::Yes)
    {}
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
