//! One execution of the machine, as a path that grows and shrinks: states, critical sections,
//! monitor.
//!
//! An *event* is a visible step of a thread with the invisible steps after it. Fences, drains and
//! ends of critical sections have no observable effect under SC, so they are part of the event
//! before them. The exception are programs with an invariant that requires a control point: there,
//! every step is an event. A step to or from a control point of an invariant is visible, because the
//! control point is a `choose`.
//!
//! *Mutual exclusion* is checked on the partial order of events, not on states. Two sections
//! overlap in some execution of the same partial order unless one was left before the other was
//! entered.
//!
//! A thread may loop forever through invisible steps ([`super::silent_loop`]). Its last event ends
//! inside the loop. Such a thread has no further events, but it is not blocked: it *loops*.

use super::event_table::{EventId, EventTable, ObservedEvent, PartId, SectionChange};
use super::footprint::{Cells, Footprint};
use super::invisible::{is_merged, pass_invisible};
use super::lazy_monitor::LazyMonitor;
use super::silent_loop::SilentLoopDetector;
use super::variants::Variant;
use crate::sc::{ScMachine, ScState};
use fencepost_explore::{self as explore, Attempt, Execution, Move};
use fencepost_ir::ThreadId;
use fencepost_ir::spin_loops::SpinAssumed;
use fencepost_models::machine::choice::Choices;
use fencepost_models::{Action, Step, StepResult};

/// An event of the path.
#[derive(Clone, Debug)]
pub(crate) struct PathEvent {
    /// The number of steps of the event.
    pub(crate) steps: u32,
    /// The number of steps after which the thread has entered a critical section, if it enters one.
    entered: Option<u32>,
    thread: usize,
    /// The section of the thread before the event.
    section: Section,
    /// Whether the monitor had fired before the event.
    fired: bool,
    /// The part of the thread before the event, if it is known.
    part: Option<PartId>,
}

/// The position of a thread relative to its critical sections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Section {
    /// The event that entered the current section, if the thread is in one.
    inside: Option<usize>,
    /// The event that left the last section, and the number of its steps before it did.
    left: Option<(usize, u32)>,
}

/// Stands for the event that entered a section in which a thread starts.
const INIT_DETAIL: usize = usize::MAX;

/// A violation at the last event of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PathViolation {
    /// The last step failed, or the state after it violates a property.
    AtEnd,
    /// The section that the last event entered overlaps with the last section of this thread.
    Overlap(usize),
}

pub(crate) struct Path<'m, 'p> {
    pub(crate) machine: &'m ScMachine<'p>,
    spin_assumed: &'m SpinAssumed,
    cells: &'m Cells,
    /// The state before each event, and after the last. Further states are kept to reuse memory.
    states: Vec<ScState>,
    pub(crate) events: Vec<PathEvent>,
    /// By thread: whether it is in a silent loop.
    loops: Vec<bool>,
    sections: Vec<Section>,
    /// The violation at the last event.
    pub(crate) violation: Option<PathViolation>,
    /// The footprint of the last step, unless it is in the table.
    footprint: Footprint,
    choices: Choices,
    table: EventTable,
    /// By thread: its part after the last event, if it is known.
    parts: Vec<Option<PartId>>,
    /// The last step, if it was found in the table.
    tabulated: Option<EventId>,
    monitor: Option<LazyMonitor>,
    /// Whether the monitor has fired on this path.
    pub(crate) fired: bool,
    /// The steps of the machine before the first event.
    pub(crate) initial_steps: Vec<Step>,
    pub(crate) init: Vec<u32>,
    /// Scratch space of `attempts`: the parts, the state before, the state after, and the footprint.
    parts_before: Vec<Option<PartId>>,
    before: ScState,
    after: ScState,
    attempted: Footprint,
}

impl<'m, 'p> Path<'m, 'p> {
    /// A path without events or a state. [`Path::start`] sets the state.
    pub(crate) fn new(
        machine: &'m ScMachine<'p>,
        spin_assumed: &'m SpinAssumed,
        cells: &'m Cells,
        monitored: Option<fencepost_monitor::Model>,
    ) -> Self {
        let threads = machine.shape.threads.len();
        Path {
            machine,
            spin_assumed,
            cells,
            states: vec![machine.blank()],
            events: Vec::new(),
            loops: vec![false; threads],
            sections: vec![Section::default(); threads],
            violation: None,
            footprint: Footprint::default(),
            choices: Choices::default(),
            table: EventTable::default(),
            parts: vec![None; threads],
            tabulated: None,
            monitor: monitored
                .map(|model| LazyMonitor::new(&machine.shape, model, cells.addresses)),
            fired: false,
            initial_steps: Vec::new(),
            init: Vec::new(),
            parts_before: Vec::new(),
            before: machine.blank(),
            after: machine.blank(),
            attempted: Footprint::default(),
        }
    }

    /// Starts at the state after these choices of `init`. Returns `None` if `init` does not run to
    /// its end, and an error if there is a violation before the first event.
    pub(crate) fn start(&mut self, init: &[u32]) -> Option<Result<(), ()>> {
        let mut choices = Choices::scripted(init);
        self.init = init.to_vec();
        self.initial_steps.clear();
        self.parts.fill(None);
        match self.machine.start(&mut self.states[0], &mut choices, &mut ()) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(_) => return Some(Err(())),
        }
        if self.machine.state_violation(&self.states[0]).is_some() {
            return Some(Err(()));
        }
        for t in self.machine.shape.program().thread_ids() {
            let mut detector = SilentLoopDetector::default();
            // Leaving a section is an event, so that the section can overlap with others.
            while is_merged(self.machine, &self.states[0], t)
                && !self.machine.is_critical(&self.states[0], t)
            {
                if self.machine.work_limits.is_cancelled() {
                    return None;
                }
                if detector.is_in_loop(self.machine, &self.states[0], t) {
                    self.loops[t.index()] = true;
                    break;
                }
                self.choices.clone_from(&Choices::default());
                let state = &mut self.states[0];
                let taken = self.machine.run(state, t, &mut self.choices, &mut ());
                self.initial_steps.push(Step { thread: t, action: Action::Run(Vec::new()) });
                match taken {
                    Ok(StepResult::Taken) => {}
                    Ok(StepResult::Blocked | StepResult::BoundReached) => {
                        unreachable!("an invisible step never blocks")
                    }
                    Err(_) => return Some(Err(())),
                }
            }
            if self.machine.is_critical(&self.states[0], t) {
                self.sections[t.index()].inside = Some(INIT_DETAIL);
            }
        }
        if self.machine.state_violation(&self.states[0]).is_some() {
            return Some(Err(()));
        }
        Some(Ok(()))
    }

    /// Returns the state after the last event.
    pub(crate) fn state(&self) -> &ScState {
        &self.states[self.events.len()]
    }

    /// Returns the state before an event.
    pub(crate) fn state_at(&self, at: usize) -> &ScState {
        &self.states[at]
    }

    /// Returns whether a thread has halted.
    pub(crate) fn has_halted(&self, t: usize) -> bool {
        let thread = ThreadId::from_index(t);
        self.machine.has_halted(thread, self.state().pcs[t])
    }

    /// Returns whether a thread is in a silent loop.
    pub(crate) fn is_looping(&self, t: usize) -> bool {
        self.loops[t]
    }

    /// Returns whether a thread is in a silent loop after this many events.
    fn is_looping_after(&self, events: usize, t: usize) -> bool {
        // A thread leaves no loop, so only its last event can end in one.
        let mut rest = self.events[events..].iter();
        self.loops[t] && rest.all(|event| event.thread != t)
    }

    /// Returns the footprint of the last step.
    pub(crate) fn footprint(&self) -> &Footprint {
        self.tabulated.map_or(&self.footprint, |event| &self.table.event(event).footprint)
    }

    /// Returns the next event of a thread, if it is in the table. A state inside the event may
    /// violate mutual exclusion; then there is no answer.
    fn find_event(&mut self, thread: usize) -> Option<EventId> {
        let Path { machine, states, events, sections, table, parts, .. } = self;
        let state = &states[events.len()];
        if parts[thread].is_none() {
            let t = ThreadId::from_index(thread);
            parts[thread] = table.part(machine, state, t, sections[thread].inside.is_some());
        }
        let found = table.find(parts[thread]?, state)?;
        if table.event(found).is_critical && machine.shape.checks_mutual_exclusion {
            let mut others = machine.shape.program().thread_ids();
            if others.any(|t| t.index() != thread && machine.is_critical(state, t)) {
                return None;
            }
        }
        Some(found)
    }

    /// Takes the next event of a thread, which is in the table.
    fn take_tabulated(&mut self, thread: usize, found: EventId) -> explore::MoveResult {
        self.tabulated = Some(found);
        let depth = self.events.len();
        debug_assert!(self.is_what_machine_does(thread, found), "the table is the machine");
        let event = self.table.event(found);
        if event.is_spinning {
            return explore::MoveResult::Spinning;
        }
        let (done, rest) = self.states.split_at_mut(depth + 1);
        rest[0].clone_from(&done[depth]);
        event.apply(self.machine, &mut rest[0]);
        let (section, fired, part) = (self.sections[thread], self.fired, self.parts[thread]);
        let (steps, entered) = (event.steps, event.entered);
        self.events.push(PathEvent { steps, entered, thread, section, fired, part });
        let after = &mut self.sections[thread];
        match event.section {
            SectionChange::None => {}
            SectionChange::Outside => after.inside = None,
            SectionChange::Inside => after.inside = Some(depth),
        }
        after.left = event.left.map_or(after.left, |steps| Some((depth, steps)));
        self.loops[thread] = false;
        self.violation = None;
        self.parts[thread] = event.next;
        if let Some(monitor) = &mut self.monitor {
            self.fired |= monitor.push(thread, &event.footprint);
        }
        explore::MoveResult::Taken
    }

    /// Returns whether the next event of a thread is this one, also according to the machine.
    fn is_what_machine_does(&self, thread: usize, found: EventId) -> bool {
        let (machine, event) = (self.machine, self.table.event(found));
        let t = ThreadId::from_index(thread);
        let (mut state, mut footprint) = (self.state().clone(), Footprint::default());
        let pc = state.pcs[thread];
        let mut steps = 0;
        while steps == 0 || is_merged(machine, &state, t) {
            let taken = machine.run(&mut state, t, &mut Choices::default(), &mut footprint);
            if taken != Ok(StepResult::Taken) {
                return machine.work_limits.is_cancelled();
            }
            steps += 1;
        }
        let to = state.pcs[thread];
        footprint.finish(&machine.shape, self.cells, t, (pc, to));
        let mut after = self.state().clone();
        event.apply(machine, &mut after);
        after == state
            && steps == event.steps
            && self.spin_assumed.is_cut_point(t, to) == event.is_spinning
            && footprint.touches == event.footprint.touches
            && footprint.actions == event.footprint.actions
    }

    /// Takes the next step of a thread, with the invisible steps after it.
    pub(crate) fn step(&mut self, mv: &Move) -> explore::MoveResult {
        let depth = self.events.len();
        self.tabulated = None;
        if self.loops[mv.thread] {
            self.footprint.clear();
            return explore::MoveResult::Spinning;
        }
        let t = ThreadId::from_index(mv.thread);
        if mv.choices.is_empty()
            && self.states.len() > depth + 1
            && let Some(found) = self.find_event(mv.thread)
        {
            return self.take_tabulated(mv.thread, found);
        }
        if self.states.len() == depth + 1 {
            self.states.push(self.machine.blank());
        }
        let (done, rest) = self.states.split_at_mut(depth + 1);
        rest[0].clone_from(&done[depth]);
        if mv.choices.is_empty() {
            self.choices.clone_from(&Choices::default());
        } else {
            self.choices = Choices::scripted(&mv.choices);
        }
        let (state, pc) = (&mut rest[0], done[depth].pcs[mv.thread]);
        self.footprint.clear();
        let taken = self.machine.run(state, t, &mut self.choices, &mut self.footprint);
        let has_choices = !self.choices.script().is_empty();
        let mut violation = match taken {
            Ok(StepResult::Taken) => {
                self.machine.state_violation_after(state, t).map(|_| PathViolation::AtEnd)
            }
            Ok(StepResult::Blocked | StepResult::BoundReached) => {
                self.footprint.finish(&self.machine.shape, self.cells, t, (pc, pc));
                return explore::MoveResult::Blocked;
            }
            Err(_) => Some(PathViolation::AtEnd),
        };
        let mut steps = 1;
        let before = self.sections[mv.thread];
        let mut section = before;
        let mut entered = None;
        let is = violation.is_none() && self.machine.is_critical(state, t);
        let mut is_critical = is;
        if violation.is_none() && !is && section.inside.is_some() {
            section = Section { inside: None, left: Some((depth, 0)) };
        }
        if is && section.inside.is_none() {
            section.inside = Some(depth);
            entered = Some(steps);
        }
        let (mut detector, mut loops) = (SilentLoopDetector::default(), false);
        while violation.is_none() && is_merged(self.machine, &self.states[depth + 1], t) {
            loops = detector.is_in_loop(self.machine, &self.states[depth + 1], t);
            // After a cancellation, the execution is not used.
            if loops || self.machine.work_limits.is_cancelled() {
                break;
            }
            let state = &mut self.states[depth + 1];
            let was = self.machine.is_critical(state, t);
            self.choices.clone_from(&Choices::default());
            let taken = self.machine.run(state, t, &mut self.choices, &mut self.footprint);
            if taken != Ok(StepResult::Taken)
                || self.machine.state_violation_after(state, t).is_some()
            {
                violation = Some(PathViolation::AtEnd);
            }
            let is = self.machine.is_critical(state, t);
            is_critical |= is;
            if was && !is {
                section = Section { inside: None, left: Some((depth, steps)) };
            }
            steps += 1;
            if is && section.inside.is_none() {
                section.inside = Some(depth);
                entered = entered.or(Some(steps));
            }
        }
        let to = self.states[depth + 1].pcs[mv.thread];
        self.footprint.finish(&self.machine.shape, self.cells, t, (pc, to));
        if taken.is_err() {
            self.footprint.touch_all(self.cells);
        }
        let is_spinning = violation.is_none() && self.spin_assumed.is_cut_point(t, to);
        let (thread, fired, part) = (mv.thread, self.fired, self.parts[mv.thread]);
        let is_complete = violation.is_none() && !loops;
        let mut next = None;
        if let Some(part) = part
            && is_complete
            && !has_choices
            && self.table.can_add(part)
            && !self.machine.work_limits.is_cancelled()
        {
            let change = match section.inside {
                inside if inside == before.inside => SectionChange::None,
                Some(_) => SectionChange::Inside,
                None => SectionChange::Outside,
            };
            let left = section.left.filter(|(at, _)| *at == depth).map(|(_, steps)| steps);
            let (done, rest) = self.states.split_at(depth + 1);
            let observed = ObservedEvent {
                is_spinning,
                steps,
                entered,
                section: change,
                left,
                is_critical,
                is_inside: section.inside.is_some(),
                footprint: self.footprint.clone(),
            };
            next = self.table.add(self.machine, part, t, (&done[depth], &rest[0]), observed);
        }
        if is_spinning {
            return explore::MoveResult::Spinning;
        }
        self.events.push(PathEvent { steps, entered, thread, section: before, fired, part });
        self.parts[thread] = next;
        self.sections[thread] = section;
        self.loops[thread] = loops;
        self.violation = violation;
        if let Some(monitor) = &mut self.monitor {
            self.fired |= monitor.push(thread, &self.footprint);
        }
        explore::MoveResult::Taken
    }

    /// Returns all next steps of a thread after this prefix of the path, followed by these moves.
    pub(crate) fn attempts(&mut self, events: usize, moves: &[&Move], t: usize) -> Vec<Attempt> {
        let mut loops = self.is_looping_after(events, t);
        let Path { machine, spin_assumed, cells, states, before, after, attempted, .. } = self;
        let (table, parts) = (&self.table, &mut self.parts_before);
        parts.clone_from(&self.parts);
        for event in self.events[events..].iter().rev() {
            parts[event.thread] = event.part;
        }
        let find =
            |part: Option<PartId>, state: &ScState| Some(table.event(table.find(part?, state)?));
        before.clone_from(&states[events]);
        for Move { thread, choices } in moves {
            let part = &mut parts[*thread];
            if choices.is_empty()
                && let Some(event) = find(*part, before)
            {
                debug_assert!(!event.is_spinning, "moves do not depend on the events left out");
                event.apply(machine, before);
                *part = event.next;
                continue;
            }
            *part = None;
            let thread = ThreadId::from_index(*thread);
            let taken = machine.run(before, thread, &mut Choices::scripted(choices), &mut ());
            debug_assert!(
                taken == Ok(StepResult::Taken) || machine.work_limits.is_cancelled(),
                "moves do not depend on the events left out"
            );
            let ends_in_loop = pass_invisible(machine, before, thread);
            loops |= ends_in_loop && thread.index() == t;
        }
        if loops {
            return vec![Attempt { mv: Move::of(t), enabled: false, footprint: Vec::new() }];
        }
        if let Some(event) = find(parts[t], before) {
            let footprint = event.footprint.touches.clone();
            return vec![Attempt { mv: Move::of(t), enabled: !event.is_spinning, footprint }];
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
            let mv = Move { thread: t, choices: choices.script().to_vec() };
            let mut to = pc;
            let mut enabled = taken != Ok(StepResult::Blocked);
            if taken == Ok(StepResult::Taken) {
                pass_invisible(machine, after, thread);
                to = after.pcs[t];
                enabled = !spin_assumed.is_cut_point(thread, to);
            }
            attempted.finish(&machine.shape, cells, thread, (pc, to));
            if taken.is_err() {
                attempted.touch_all(cells);
            }
            attempts.push(Attempt { mv, enabled, footprint: attempted.touches.clone() });
            if !machine.next_combination(&mut choices) {
                return attempts;
            }
        }
    }

    /// Returns whether the monitor fired on the last event and on none before.
    pub(crate) fn fired_on_last_event(&self) -> bool {
        self.fired && self.events.last().is_some_and(|event| !event.fired)
    }

    /// Returns whether the monitor would fire on the step that a thread just failed to take, or on
    /// this variant of the step.
    pub(crate) fn would_fire(&mut self, thread: usize, variant: Option<&Variant>) -> bool {
        let Path { monitor, footprint, table, tabulated, .. } = self;
        let footprint = tabulated.map_or(&*footprint, |event| &table.event(event).footprint);
        monitor.as_mut().is_some_and(|monitor| monitor.would_fire(thread, footprint, variant))
    }

    /// Returns the variants of the last event on which the monitor would have fired.
    pub(crate) fn would_have_fired(&mut self, variants: &[Variant]) -> Vec<Variant> {
        self.monitor.as_mut().map_or_else(Vec::new, |monitor| monitor.would_have_fired(variants))
    }

    /// Removes all events after this prefix.
    pub(crate) fn truncate(&mut self, events: usize) {
        while self.events.len() > events
            && let Some(event) = self.events.pop()
        {
            self.sections[event.thread] = event.section;
            self.loops[event.thread] = false;
            self.parts[event.thread] = event.part;
            if let Some(monitor) = &mut self.monitor {
                monitor.pop();
            }
            self.fired = event.fired;
        }
        self.violation = None;
    }

    /// Checks whether the section that the last event entered overlaps with the last section of
    /// another thread.
    pub(crate) fn check_overlap(&mut self, execution: &Execution) {
        let last = execution.len() - 1;
        let PathEvent { entered, thread, .. } = self.events[last];
        if self.violation.is_some()
            || entered.is_none()
            || !self.machine.shape.checks_mutual_exclusion
        {
            return;
        }
        let clock = execution.clock(last);
        let overlaps = |other: usize| match self.sections[other] {
            Section { inside: Some(_), .. } => true,
            // The section was left for certain if the event after the leaving event happened.
            Section { left: Some((at, _)), .. } => clock[other] <= execution.events()[at].number,
            Section { inside: None, left: None } => false,
        };
        let mut others = (0..self.sections.len()).filter(|t| *t != thread);
        self.violation = others.find(|t| overlaps(*t)).map(PathViolation::Overlap);
    }

    /// Returns the steps of the path: all of them, or those that lead to an overlap.
    pub(crate) fn steps(&self, execution: &Execution) -> Vec<Step> {
        let mut steps = self.initial_steps.clone();
        let overlap = match self.violation {
            Some(PathViolation::Overlap(other)) => Some(self.sections[other]),
            Some(PathViolation::AtEnd) | None => None,
        };
        let last = self.events.len().saturating_sub(1);
        for (at, (event, visible)) in self.events.iter().zip(execution.events()).enumerate() {
            let mut taken = event.steps;
            if let Some(section) = overlap {
                let (stays, steps_inside) = match section {
                    Section { inside: Some(entered), .. } => (entered, None),
                    Section { left: Some((at, steps)), .. } => (at, Some(steps)),
                    Section { inside: None, left: None } => {
                        unreachable!("both sections were entered")
                    }
                };
                let stays_for = stays != INIT_DETAIL && execution.happens_before(at, stays);
                if !execution.happens_before(at, last) && !stays_for {
                    continue;
                }
                if at == stays {
                    taken = steps_inside.unwrap_or(taken);
                }
                if at == last {
                    taken = event.entered.unwrap_or(taken);
                }
            }
            let thread = ThreadId::from_index(event.thread);
            for number in 0..taken {
                let script = if number == 0 { visible.mv.choices.clone() } else { Vec::new() };
                steps.push(Step { thread, action: Action::Run(script) });
            }
        }
        steps
    }
}
