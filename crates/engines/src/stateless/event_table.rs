//! A table of the events of single threads.
//!
//! Most events depend on little: the program counter and the registers of their thread, and the
//! value of one location. So the same events occur in many executions. The table gives these parts
//! of threads numbers and remembers for each value of the location what the machine did. Later, the
//! event is a look-up and a few assignments, and its footprint is shared.
//!
//! Not in the table: steps with choices, allocations, atomic blocks and accesses to records, which
//! depend on more; events that fail, violate a property or end in a silent loop. If there are
//! invariants, nothing is in the table.
//!
//! Direction: exact. An entry is the result of the machine. It is the idea of the table of steps
//! inside the machine (`models/src/machine/step_table.rs`), for the events of a path: those include
//! invisible steps and have a footprint and actions for the monitor. Rejected: to use that table.
//! It has packed states, and the states of a path are not packed.

use super::footprint::Footprint;
use crate::sc::{ScMachine, ScState};
use fencepost_ir::{Loc, MemoryOp, Pc, ThreadId, Value};
use std::collections::HashMap;
use std::ops::Range;

/// The number of events and of parts from which on none is added.
const MAX_ENTRIES: usize = 1 << 14;
/// The number of values of a location from which on none is added to a part.
const MAX_VALUES: usize = 32;

/// The number of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PartId(u32);

/// The number of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct EventId(u32);

/// What the next event of a thread depends on, in addition to a location.
#[derive(PartialEq, Eq, Hash, Debug)]
struct PartKey {
    thread: usize,
    pc: Pc,
    /// Whether the thread has entered a critical section.
    is_inside: bool,
    registers: Vec<Value>,
}

#[derive(Debug)]
struct Part {
    /// The location that the next event accesses. `None` if the event is not in the table.
    location: Option<Loc>,
    /// The known events, by the value of the location.
    events: Vec<(Value, EventId)>,
}

/// How an event changes whether its thread is in a critical section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SectionChange {
    /// It does not.
    None,
    /// The thread is in no section after the event.
    Outside,
    /// The thread is in a section that the event has entered.
    Inside,
}

/// An event and its effect.
#[derive(Debug)]
pub(super) struct TabulatedEvent {
    thread: ThreadId,
    /// The part of the thread after the event, if it is known.
    pub(super) next: Option<PartId>,
    /// Whether the event is not enabled because it ends a spin iteration.
    pub(super) is_spinning: bool,
    /// The number of steps.
    pub(super) steps: u32,
    /// The number of steps after which the thread has entered a critical section, if it enters one.
    pub(super) entered: Option<u32>,
    pub(super) section: SectionChange,
    /// The number of steps after which the thread has last left a section, if it leaves one.
    pub(super) left: Option<u32>,
    /// Whether the thread is in a critical section after some step of the event.
    pub(super) is_critical: bool,
    pub(super) footprint: Footprint,
    /// The program counter and the registers of the thread, and the location, after the event.
    pc: Pc,
    registers: Vec<Value>,
    location: (Loc, Value),
}

impl TabulatedEvent {
    /// Changes a state as the event does.
    #[inline]
    pub(super) fn apply(&self, machine: &ScMachine<'_>, state: &mut ScState) {
        state.pcs[self.thread.index()] = self.pc;
        state.registers[registers(machine, self.thread)].copy_from_slice(&self.registers);
        state.memory.values[self.location.0.index()] = self.location.1;
    }
}

/// The table.
#[derive(Debug, Default)]
pub(super) struct EventTable {
    ids: HashMap<PartKey, PartId>,
    parts: Vec<Part>,
    events: Vec<TabulatedEvent>,
}

impl EventTable {
    /// Returns the part of a thread in a state, or `None` if the table is full.
    pub(super) fn part(
        &mut self,
        machine: &ScMachine<'_>,
        state: &ScState,
        t: ThreadId,
        is_inside: bool,
    ) -> Option<PartId> {
        if self.parts.len() >= MAX_ENTRIES {
            return None;
        }
        let pc = state.pcs[t.index()];
        let registers = state.registers[registers(machine, t)].to_vec();
        let key = PartKey { thread: t.index(), pc, is_inside, registers };
        let parts = &mut self.parts;
        Some(*self.ids.entry(key).or_insert_with(|| {
            parts.push(Part { location: accessed_location(machine, state, t), events: Vec::new() });
            PartId(parts.len() as u32 - 1)
        }))
    }

    /// Returns the next event of a thread with this part, if it is known.
    #[inline]
    pub(super) fn find(&self, part: PartId, state: &ScState) -> Option<EventId> {
        let Part { location, events } = &self.parts[part.0 as usize];
        let value = state.memory.values[(*location)?.index()];
        events.iter().find(|(known, _)| *known == value).map(|(_, event)| *event)
    }

    #[inline]
    pub(super) fn event(&self, event: EventId) -> &TabulatedEvent {
        &self.events[event.0 as usize]
    }

    /// Returns whether the next event of a thread with this part can be added.
    pub(super) fn can_add(&self, part: PartId) -> bool {
        let Part { location, events } = &self.parts[part.0 as usize];
        self.events.len() < MAX_ENTRIES && location.is_some() && events.len() < MAX_VALUES
    }

    /// Adds the next event of a thread with this part, which leads from the state `before` to the
    /// state `after`. `event` says the rest. Returns the part of the thread after the event.
    pub(super) fn add(
        &mut self,
        machine: &ScMachine<'_>,
        part: PartId,
        t: ThreadId,
        (before, after): (&ScState, &ScState),
        event: ObservedEvent,
    ) -> Option<PartId> {
        let loc = self.parts[part.0 as usize].location?;
        let ObservedEvent { is_spinning, steps, entered, section, left, is_critical, .. } = event;
        let next = match is_spinning {
            true => None,
            false => self.part(machine, after, t, event.is_inside),
        };
        let added = TabulatedEvent {
            thread: t,
            next,
            is_spinning,
            steps,
            entered,
            section,
            left,
            is_critical,
            footprint: event.footprint,
            pc: after.pcs[t.index()],
            registers: after.registers[registers(machine, t)].to_vec(),
            location: (loc, after.memory.values[loc.index()]),
        };
        debug_assert!(
            {
                let mut applied = before.clone();
                added.apply(machine, &mut applied);
                applied == *after
            },
            "an event in the table changes only its thread and one location"
        );
        let id = EventId(self.events.len() as u32);
        self.events.push(added);
        self.parts[part.0 as usize].events.push((before.memory.values[loc.index()], id));
        next
    }
}

/// What a path observes of an event.
pub(super) struct ObservedEvent {
    pub(super) is_spinning: bool,
    pub(super) steps: u32,
    pub(super) entered: Option<u32>,
    pub(super) section: SectionChange,
    pub(super) left: Option<u32>,
    pub(super) is_critical: bool,
    /// Whether the thread is in a critical section after the event.
    pub(super) is_inside: bool,
    pub(super) footprint: Footprint,
}

/// Returns the location on which the next event of a thread depends, if it depends on no other one.
fn accessed_location(machine: &ScMachine<'_>, state: &ScState, t: ThreadId) -> Option<Loc> {
    let shape = &machine.shape;
    let accesses = match shape.stmt(t, state.pcs[t.index()]).op.memory()? {
        MemoryOp::Load { .. } | MemoryOp::Store { .. } | MemoryOp::Update { .. } => true,
        MemoryOp::Fence(_) | MemoryOp::Drain(_) => false,
    };
    let is_observed = !shape.invariants.is_empty() || shape.grace_periods.occur;
    let loc = machine.next_access(state, t).filter(|_| accesses && !is_observed)?;
    shape.cell[loc.index()].is_none().then_some(loc)
}

/// Returns the range of the registers of a thread.
#[inline]
fn registers(machine: &ScMachine<'_>, t: ThreadId) -> Range<usize> {
    let shape = machine.shape.thread(t);
    shape.registers..shape.registers + shape.register_fields.len()
}
