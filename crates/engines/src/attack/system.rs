//! The steps of attacks: the machine of SC with a [`Part`] more.
//!
//! A step of the search is a visible step of a thread with the invisible ones after it (fences, drains, local statements): these
//! touch nothing that others see. A delaying attacker passes them as TSO lets it.

use super::hope::Hope;
use super::part::{Addresses, Part, Phase};
use crate::sc::{ScMachine, ScState};
use crate::stateless::footprint::{Cells, Footprint};
use crate::stateless::path::is_invisible;
use fencepost_ir::waits::Waiting;
use fencepost_ir::{FenceKinds, MemoryOp, Op, Pc, ThreadId};
use fencepost_models::bits::Writer;
use fencepost_models::event::Record;
use fencepost_models::machine::choice::Choices;
use fencepost_models::machine::system::INITIAL;
use fencepost_models::{Action, Step, Taken};
use fencepost_monitor::Access;
use fencepost_search::{Sink, TransitionSystem};

/// The class of everything that is looked for.
pub(super) const TARGET: u32 = 0;

/// How many invisible steps run together at most: a loop of them must not go on for ever.
const TOGETHER: u32 = 1_000;

/// A step of the search: some steps of the machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made<'a> {
    pub(super) thread: ThreadId,
    /// Which way `choose` goes in the first.
    pub(super) script: &'a [u32],
    pub(super) steps: u32,
    /// Whether the first is a store that stays in the buffer.
    pub(super) delayed: bool,
}

/// What a step leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome<'a> {
    /// This state.
    Next(&'a [u8]),
    /// A property is broken under SC.
    Trouble,
    /// The attack has succeeded.
    Success,
}

/// What choices of `init` lead to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Start<'a> {
    /// This state.
    At(&'a [u8]),
    /// A property is broken already.
    Trouble,
    /// `init` cannot run to its end, or goes wrong and nobody wants to know.
    Nowhere,
}

/// How a thread has gone on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Went {
    /// So many steps.
    On(u32),
    /// It is not possible now.
    Nowhere,
    /// A wait has gone round.
    Round,
    /// The last of so many steps went wrong.
    Wrong(u32),
}

/// Working memory of a search thread.
pub(super) struct Scratch {
    base: ScState,
    work: ScState,
    part: Part,
    next: Part,
    footprint: Footprint,
    choices: Choices,
    writer: Writer,
    packed: Writer,
}

/// All attacks on a program, as a system to search.
pub(super) struct Attacks<'m, 'p> {
    machine: &'m ScMachine<'p>,
    waiting: &'m Waiting,
    judge: bool,
    cells: Cells,
    addresses: Addresses,
    hopes: Vec<Hope>,
}

impl TransitionSystem for Attacks<'_, '_> {
    type Scratch = Scratch;

    fn scratch(&self) -> Self::Scratch {
        Scratch {
            base: self.machine.blank(),
            work: self.machine.blank(),
            part: Part::calm(&self.addresses),
            next: Part::calm(&self.addresses),
            footprint: Footprint::default(),
            choices: Choices::default(),
            writer: Writer::default(),
            packed: Writer::default(),
        }
    }

    fn initial<S: Sink>(&self, scratch: &mut Self::Scratch, sink: &mut S) {
        let mut choices = Choices::default();
        loop {
            match self.start(&mut choices, scratch, &mut Vec::new()) {
                Start::At(state) => sink.successor(state),
                Start::Trouble => sink.target(TARGET, INITIAL),
                Start::Nowhere => {}
            }
            if !choices.advance() {
                break;
            }
        }
    }

    fn expand<S: Sink>(&self, state: &[u8], scratch: &mut Self::Scratch, sink: &mut S) {
        self.each(state, scratch, |number, _, outcome| match outcome {
            Outcome::Next(next) => sink.successor(next),
            Outcome::Trouble | Outcome::Success => sink.target(TARGET, number),
        });
    }
}

impl<'m, 'p> Attacks<'m, 'p> {
    /// The machine is one of SC for the problem without waits. With `judge`, runs under SC that break a property
    /// are looked for, too.
    pub(super) fn new(machine: &'m ScMachine<'p>, waiting: &'m Waiting, judge: bool) -> Self {
        let shape = &machine.shape;
        let addresses = Addresses::new(shape);
        let hope = |t| Hope::new(shape, t, addresses.allocators());
        let hopes = shape.program().thread_ids().map(hope).collect();
        Attacks { machine, waiting, judge, cells: Cells::new(shape), addresses, hopes }
    }

    /// Begins with these choices of `init`. `steps` are the invisible steps of threads then.
    pub(super) fn start<'s>(
        &self,
        choices: &mut Choices,
        scratch: &'s mut Scratch,
        steps: &mut Vec<Step>,
    ) -> Start<'s> {
        steps.clear();
        let trouble = if self.judge { Start::Trouble } else { Start::Nowhere };
        let Scratch { work, next, writer, packed, .. } = scratch;
        match self.machine.start(work, choices, &mut ()) {
            Ok(true) => {}
            Ok(false) => return Start::Nowhere,
            Err(_) => return trouble,
        }
        if self.judge && self.machine.wrong(work).is_some() {
            return Start::Trouble;
        }
        for t in self.machine.shape.program().thread_ids() {
            for _ in 0..TOGETHER {
                if !self.is_passed_at_once(work, t, self.judge) {
                    break;
                }
                steps.push(Step { thread: t, action: Action::Run(Vec::new()) });
                if !self.passes(work, t, &mut ()) {
                    return trouble;
                }
            }
        }
        next.clone_from(&Part::calm(&self.addresses));
        Start::At(self.pack(next, work, writer, packed))
    }

    /// Every step of a state, in a fixed order: its number, itself, what it leads to.
    pub(super) fn each(
        &self,
        state: &[u8],
        scratch: &mut Scratch,
        mut visit: impl FnMut(u32, Made<'_>, Outcome<'_>),
    ) {
        let at = scratch.part.decode(&self.machine.shape, &self.addresses, state);
        self.machine.unpack(&state[at..], &mut scratch.base);
        let mut number = 0;
        let mut visit = |made: Made<'_>, outcome: Outcome<'_>| {
            visit(number, made, outcome);
            number += 1;
        };
        let mut is_at_rest = true;
        for t in self.machine.shape.program().thread_ids() {
            match scratch.part.phase {
                Phase::Calm => {
                    is_at_rest &= !self.calm(t, scratch, &mut visit);
                    self.begin(t, scratch, &mut visit);
                }
                Phase::Delaying if t == scratch.part.attacker => {
                    self.delaying(t, scratch, &mut visit);
                }
                Phase::Frozen if t == scratch.part.attacker => {}
                Phase::Delaying | Phase::Frozen => self.react(t, scratch, &mut visit),
            }
        }
        let Scratch { part, base, .. } = scratch;
        let judged = self.judge && part.phase == Phase::Calm && is_at_rest;
        if judged && self.machine.wrong_at_rest(base).is_some() {
            let nothing = Made { thread: ThreadId(0), script: &[], steps: 0, delayed: false };
            visit(nothing, Outcome::Trouble);
        }
    }

    /// The steps of a thread while all is calm. Whether it has any, or waits.
    fn calm(
        &self,
        t: ThreadId,
        scratch: &mut Scratch,
        visit: &mut impl FnMut(Made<'_>, Outcome<'_>),
    ) -> bool {
        let Scratch { base, work, part, footprint, choices, writer, packed, .. } = scratch;
        let mut can = false;
        *choices = Choices::default();
        loop {
            choices.rewind();
            work.clone_from(base);
            let went = self.go(work, t, choices, footprint, self.judge);
            let script = choices.script();
            let made = |steps| Made { thread: t, script, steps, delayed: false };
            can |= went != Went::Nowhere;
            match went {
                Went::On(steps) => {
                    visit(made(steps), Outcome::Next(self.pack(part, work, writer, packed)));
                }
                Went::Wrong(steps) if self.judge => visit(made(steps), Outcome::Trouble),
                Went::Wrong(_) | Went::Nowhere | Went::Round => {}
            }
            if !choices.advance() {
                return can;
            }
        }
    }

    /// A thread becomes the attacker, if it can: the store it is at stays in its buffer.
    fn begin(
        &self,
        t: ThreadId,
        scratch: &mut Scratch,
        visit: &mut impl FnMut(Made<'_>, Outcome<'_>),
    ) {
        let stmt = self.machine.shape.stmt(t, scratch.base.pcs[t.index()]);
        // Where others never look, a delay shows nothing; the next store may do.
        if matches!(stmt.op, Op::Store { .. })
            && self.hopes[t.index()].has(stmt.next, false)
            && let Some(loc) = self.machine.accesses(&scratch.base, t)
            && self.addresses.others_touch(loc, t)
        {
            self.delaying(t, scratch, visit);
        }
    }

    /// The steps of an attacker, delaying or about to begin.
    fn delaying(
        &self,
        t: ThreadId,
        scratch: &mut Scratch,
        visit: &mut impl FnMut(Made<'_>, Outcome<'_>),
    ) {
        let machine = self.machine;
        let pc = scratch.base.pcs[t.index()];
        let loc = machine.accesses(&scratch.base, t);
        let op = &machine.shape.stmt(t, pc).op;
        // The access, if this is one that can be it.
        let mut access = None;
        let mut forwarded = None;
        match (op, loc) {
            (Op::Load { .. }, Some(loc)) if !scratch.part.barred => {
                forwarded = scratch.part.buffer[loc.index()];
                access = forwarded.is_none().then_some(Access::read(loc.0));
            }
            (Op::New { pool, .. }, _) => {
                let locations = machine.shape.program().locations.len() as u32;
                access = Some(Access::update(locations + u32::from(pool.0)));
            }
            (Op::Store { .. }, Some(_)) | (Op::Choose { .. } | Op::Invoke { .. }, _) => {}
            // Left only where there were too many to be passed at once.
            _ if self.may_pass(&scratch.part, &scratch.base, t) => {}
            _ => return,
        }
        access = access.filter(|access| self.addresses.others_write(access.address, t));
        let Scratch { base, work, part, next, choices, writer, packed, .. } = scratch;
        *choices = Choices::default();
        loop {
            choices.rewind();
            work.clone_from(base);
            next.clone_from(part);
            if let (Some(loc), Some(value)) = (loc, forwarded) {
                work.memory.values[loc.index()] = value;
            }
            let taken = machine.run(work, t, choices, &mut ());
            let here = work.pcs[t.index()];
            if taken == Ok(Taken::Yes) && !self.waiting.is_dead_end(t, here) {
                let mut delayed = false;
                if let Some(loc) = loc {
                    if let Op::Store { .. } = op {
                        next.delays(t, loc, work.memory.values[loc.index()]);
                        delayed = true;
                    }
                    work.memory.values[loc.index()] = base.memory.values[loc.index()];
                }
                if let Op::Fence(kinds) = op {
                    next.barred |= kinds.contains(FenceKinds::STORE_LOAD);
                }
                let script = choices.script();
                if let Some(access) = access {
                    next.looks(&self.addresses, access);
                }
                if let Some(steps) = self.coast(next, work, t) {
                    let made = Made { thread: t, script, steps: steps + 1, delayed };
                    visit(made, Outcome::Next(self.pack(next, work, writer, packed)));
                }
                if let Some(access) = access {
                    next.clone_from(part);
                    next.freezes(&self.addresses, access);
                    // Where a frozen thread stands tells no states apart.
                    work.pcs[t.index()] = Pc(0);
                    let shape = machine.shape.thread(t);
                    let registers = shape.registers..shape.registers + shape.register_fields.len();
                    work.registers[registers].fill(0);
                    let made = Made { thread: t, script, steps: 1, delayed };
                    visit(made, Outcome::Next(self.pack(next, work, writer, packed)));
                }
            }
            if !choices.advance() {
                return;
            }
        }
    }

    /// A delaying thread passes what it can at once. How many steps; none when delaying has become pointless.
    fn coast(&self, part: &mut Part, state: &mut ScState, t: ThreadId) -> Option<u32> {
        let mut steps = 0;
        while steps < TOGETHER && self.may_pass(part, state, t) {
            let stmt = self.machine.shape.stmt(t, state.pcs[t.index()]);
            if let Op::Fence(kinds) = stmt.op {
                part.barred |= kinds.contains(FenceKinds::STORE_LOAD);
            }
            if !self.passes(state, t, &mut ()) {
                return None;
            }
            steps += 1;
        }
        self.hopes[t.index()].has(state.pcs[t.index()], part.barred).then_some(steps)
    }

    /// Whether a delaying thread is at something invisible that it need not wait for.
    fn may_pass(&self, part: &Part, state: &ScState, t: ThreadId) -> bool {
        if !is_invisible(self.machine, state, t) {
            return false;
        }
        match self.machine.shape.stmt(t, state.pcs[t.index()]).op.memory() {
            Some(MemoryOp::Fence(kinds)) => kinds != FenceKinds::FULL,
            Some(MemoryOp::Drain(_)) => {
                let loc = self.machine.accesses(state, t);
                loc.is_some_and(|loc| part.buffer[loc.index()].is_none())
            }
            Some(MemoryOp::Load { .. } | MemoryOp::Store { .. } | MemoryOp::Update { .. })
            | None => true,
        }
    }

    /// The steps of another thread during an attack: those that happen after the attacker's accesses.
    fn react(
        &self,
        t: ThreadId,
        scratch: &mut Scratch,
        visit: &mut impl FnMut(Made<'_>, Outcome<'_>),
    ) {
        let Scratch { base, work, part, next, footprint, choices, writer, packed } = scratch;
        let is_free = part.has_reached(t) || is_invisible(self.machine, base, t);
        *choices = Choices::default();
        loop {
            choices.rewind();
            work.clone_from(base);
            let went = self.go(work, t, choices, footprint, false);
            let (mut reaches, mut meets) = (false, false);
            footprint.for_each_action(|action| {
                reaches |= part.reaches(t, action);
                meets |= part.meets(action);
            });
            let script = choices.script();
            let made = |steps| Made { thread: t, script, steps, delayed: false };
            let succeeds = part.phase == Phase::Frozen && reaches && meets;
            match went {
                // What goes wrong after the access that matters does not undo it.
                Went::On(steps) | Went::Wrong(steps) if succeeds => {
                    visit(made(steps), Outcome::Success);
                }
                Went::On(steps) if reaches || is_free => {
                    next.clone_from(part);
                    if reaches {
                        footprint.for_each_action(|action| next.goes_on(t, action));
                    }
                    next.forget(&self.addresses);
                    visit(made(steps), Outcome::Next(self.pack(next, work, writer, packed)));
                }
                Went::On(_) | Went::Wrong(_) | Went::Nowhere | Went::Round => {}
            }
            if !choices.advance() {
                return;
            }
        }
    }

    /// Takes the next step of a thread as under SC, and the invisible ones after it.
    fn go(
        &self,
        state: &mut ScState,
        t: ThreadId,
        choices: &mut Choices,
        footprint: &mut Footprint,
        judge: bool,
    ) -> Went {
        let pc = state.pcs[t.index()];
        let mut steps = 1;
        footprint.clear();
        let mut went = match self.machine.run(state, t, choices, footprint) {
            Ok(Taken::Yes) => Went::On(steps),
            Ok(Taken::Blocked | Taken::Bounded) => return Went::Nowhere,
            Err(_) => Went::Wrong(steps),
        };
        let is_wrong = |state: &_| judge && self.machine.wrong_after(state, t).is_some();
        while let Went::On(_) = went {
            if is_wrong(state) {
                went = Went::Wrong(steps);
            } else if steps <= TOGETHER && self.is_passed_at_once(state, t, judge) {
                steps += 1;
                let passes = self.passes(state, t, footprint);
                went = if passes { Went::On(steps) } else { Went::Wrong(steps) };
            } else {
                break;
            }
        }
        let to = state.pcs[t.index()];
        footprint.finish(&self.machine.shape, &self.cells, t, (pc, to));
        let is_round = matches!(went, Went::On(_)) && self.waiting.is_dead_end(t, to);
        if is_round { Went::Round } else { went }
    }

    /// Whether a thread is at something invisible that runs with the step before it. Where sections are judged, the
    /// end of one does not: someone may see the thread inside.
    fn is_passed_at_once(&self, state: &ScState, t: ThreadId, judge: bool) -> bool {
        let watched = judge && self.machine.shape.watches_critical;
        let stmt = self.machine.shape.stmt(t, state.pcs[t.index()]);
        is_invisible(self.machine, state, t) && !(watched && matches!(stmt.op, Op::Leave))
    }

    /// Takes an invisible step. False when it goes wrong.
    fn passes(&self, state: &mut ScState, t: ThreadId, record: &mut dyn Record) -> bool {
        match self.machine.run(state, t, &mut Choices::default(), record) {
            Ok(Taken::Yes) => true,
            Ok(Taken::Blocked | Taken::Bounded) => unreachable!("it waits for nothing"),
            Err(_) => false,
        }
    }

    fn pack<'w>(
        &self,
        part: &Part,
        state: &ScState,
        writer: &mut Writer,
        packed: &'w mut Writer,
    ) -> &'w [u8] {
        packed.clear();
        part.encode(&self.machine.shape, &self.addresses, packed);
        packed.copy(self.machine.encode(state, writer));
        packed.bytes()
    }
}
