//! The steps of attacks: the SC machine extended by a [`AttackState`].
//!
//! A step of the search is a visible step of a thread with the invisible steps after it (fences,
//! drains, local statements). Other threads cannot observe these. A delaying attacker passes them
//! as TSO allows.

use super::attack_state::{Addresses, AttackState, Phase};
use super::useful_delay::UsefulDelay;
use crate::sc::{ScMachine, ScState, check_hang};
use crate::stateless::footprint::{Cells, Footprint};
use crate::stateless::invisible::{is_invisible, is_merged};
use crate::stateless::silent_loop::SilentLoopDetector;
use fencepost_ir::spin_loops::SpinAssumed;
use fencepost_ir::{FenceKinds, MemoryOp, Op, Pc, ThreadId};
use fencepost_models::bits::Writer;
use fencepost_models::event::EventRecorder;
use fencepost_models::machine::choice::Choices;
use fencepost_models::machine::hang::{HangCheck, WaitCache};
use fencepost_models::machine::system::INIT_DETAIL;
use fencepost_models::{Action, Step, StepResult};
use fencepost_monitor::Access;
use fencepost_search::{Encoding, Sink, TransitionSystem};

/// The target class of violations and attacks.
pub(super) const TARGET: u32 = 0;
/// The target class of states for which it is not decided whether they are hangs.
pub(super) const UNDECIDED_HANG: u32 = 1;

/// The largest number of invisible steps in one step of the search. Ends infinite loops of such
/// steps.
const MAX_INVISIBLE_STEPS: u32 = 1_000;

/// A step of the search: one or more steps of the machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchStep<'a> {
    pub(super) thread: ThreadId,
    /// The choices of the first machine step.
    pub(super) script: &'a [u32],
    pub(super) steps: u32,
    /// Whether the first machine step is a store that stays in the buffer.
    pub(super) delayed: bool,
}

/// The result of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome<'a> {
    /// A successor state.
    Next(&'a [u8]),
    /// A property is violated under SC.
    Violation,
    /// The attack succeeds.
    Success,
    /// It is not decided whether the state is a hang. There is no step.
    UndecidedHang,
}

/// The result of `init`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Start<'a> {
    /// An initial state.
    At(&'a [u8]),
    /// A property is violated.
    Violation,
    /// `init` is blocked, or it fails and properties are not checked.
    Infeasible,
}

/// The result of taking steps of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Advance {
    /// This many steps were taken.
    Taken(u32),
    /// The thread is blocked.
    Blocked,
    /// A spin iteration failed.
    FailedSpin,
    /// The last of this many steps failed.
    Failed(u32),
}

/// Working memory of a search thread.
pub(super) struct Scratch {
    base: ScState,
    work: ScState,
    attack_state: AttackState,
    next: AttackState,
    footprint: Footprint,
    choices: Choices,
    writer: Writer,
    packed: Writer,
    wait_cache: WaitCache,
}

/// All attacks on a program, as a transition system.
pub(super) struct Attacks<'m, 'p> {
    machine: &'m ScMachine<'p>,
    /// The machine of the problem whose spin loops are not cut, to check for hangs.
    original: &'m ScMachine<'p>,
    spin_assumed: &'m SpinAssumed,
    check_properties: bool,
    cells: Cells,
    addresses: Addresses,
    useful_delays: Vec<UsefulDelay>,
}

impl Encoding for Attacks<'_, '_> {}

impl TransitionSystem for Attacks<'_, '_> {
    type Scratch = Scratch;

    fn scratch(&self) -> Self::Scratch {
        Scratch {
            base: self.machine.blank(),
            work: self.machine.blank(),
            attack_state: AttackState::no_attack(&self.addresses),
            next: AttackState::no_attack(&self.addresses),
            footprint: Footprint::default(),
            choices: Choices::default(),
            writer: Writer::default(),
            packed: Writer::default(),
            wait_cache: WaitCache::default(),
        }
    }

    fn initial<S: Sink>(&self, scratch: &mut Self::Scratch, sink: &mut S) {
        let mut choices = Choices::default();
        loop {
            match self.start(&mut choices, scratch, &mut Vec::new()) {
                Start::At(state) => sink.successor(state),
                Start::Violation => sink.target(TARGET, INIT_DETAIL),
                Start::Infeasible => {}
            }
            if !self.machine.next_combination(&mut choices) {
                break;
            }
        }
    }

    fn expand<S: Sink>(&self, state: &[u8], scratch: &mut Self::Scratch, sink: &mut S) {
        self.for_each_step(state, scratch, |number, _, outcome| match outcome {
            Outcome::Next(next) => sink.successor(next),
            Outcome::Violation | Outcome::Success => sink.target(TARGET, number),
            Outcome::UndecidedHang => sink.target(UNDECIDED_HANG, number),
        });
    }
}

impl<'m, 'p> Attacks<'m, 'p> {
    /// The machine is the SC machine of the spin-assumed problem. With `check_properties`, the
    /// search also looks for SC runs that violate a property.
    pub(super) fn new(
        machine: &'m ScMachine<'p>,
        original: &'m ScMachine<'p>,
        spin_assumed: &'m SpinAssumed,
        check_properties: bool,
    ) -> Self {
        let shape = &machine.shape;
        let addresses = Addresses::new(shape);
        let useful_delay = |t| UsefulDelay::new(shape, t, addresses.allocators());
        let useful_delays = shape.program().thread_ids().map(useful_delay).collect();
        Attacks {
            machine,
            original,
            spin_assumed,
            check_properties,
            cells: Cells::new(shape),
            addresses,
            useful_delays,
        }
    }

    /// Returns whether the search was cancelled.
    pub(super) fn is_cancelled(&self) -> bool {
        self.machine.work_limits.is_cancelled()
    }

    /// Starts with these choices of `init`. Stores the initial invisible steps of threads in
    /// `steps`.
    pub(super) fn start<'s>(
        &self,
        choices: &mut Choices,
        scratch: &'s mut Scratch,
        steps: &mut Vec<Step>,
    ) -> Start<'s> {
        steps.clear();
        let failed_start = if self.check_properties { Start::Violation } else { Start::Infeasible };
        let Scratch { work, next, writer, packed, .. } = scratch;
        match self.machine.start(work, choices, &mut ()) {
            Ok(true) => {}
            Ok(false) => return Start::Infeasible,
            Err(_) => return failed_start,
        }
        if self.check_properties && self.machine.state_violation(work).is_some() {
            return Start::Violation;
        }
        for t in self.machine.shape.program().thread_ids() {
            let mut detector = SilentLoopDetector::default();
            for _ in 0..MAX_INVISIBLE_STEPS {
                if !self.is_merged(work, t, self.check_properties)
                    || detector.is_in_loop(self.machine, work, t)
                {
                    break;
                }
                steps.push(Step { thread: t, action: Action::Run(Vec::new()) });
                if !self.take_invisible(work, t, &mut ()) {
                    return failed_start;
                }
            }
        }
        // The threads may have arrived at control points.
        if self.check_properties && self.machine.state_violation(work).is_some() {
            return Start::Violation;
        }
        next.clone_from(&AttackState::no_attack(&self.addresses));
        Start::At(self.pack(next, work, writer, packed))
    }

    /// Visits every step of a state in a fixed order: its number, the step, its result.
    pub(super) fn for_each_step(
        &self,
        state: &[u8],
        scratch: &mut Scratch,
        mut visit: impl FnMut(u32, SearchStep<'_>, Outcome<'_>),
    ) {
        let at = scratch.attack_state.decode(&self.machine.shape, &self.addresses, state);
        self.machine.unpack(&state[at..], &mut scratch.base);
        let mut number = 0;
        let mut visit = |search_step: SearchStep<'_>, outcome: Outcome<'_>| {
            visit(number, search_step, outcome);
            number += 1;
        };
        let mut changes_memory = false;
        let last = self.machine.shape.program().last_thread();
        for t in self.machine.shape.program().thread_ids() {
            match scratch.attack_state.phase {
                Phase::NoAttack => {
                    changes_memory |= self.sc_steps(t, scratch, &mut visit);
                    self.start_attack(t, scratch, &mut visit);
                }
                Phase::Delaying if t == scratch.attack_state.attacker => {
                    self.attacker_steps(t, scratch, &mut visit);
                }
                Phase::Frozen if t == scratch.attack_state.attacker => {}
                // The last thread waits until the delayed stores are committed.
                Phase::Delaying | Phase::Frozen if Some(t) == last => {}
                Phase::Delaying | Phase::Frozen => self.helper_steps(t, scratch, &mut visit),
            }
        }
        let Scratch { attack_state, base, wait_cache, .. } = scratch;
        if !self.check_properties || attack_state.phase != Phase::NoAttack || changes_memory {
            return;
        }
        let no_step = SearchStep { thread: ThreadId(0), script: &[], steps: 0, delayed: false };
        if self.machine.is_final(base) {
            if self.machine.final_violation(base).is_some() {
                visit(no_step, Outcome::Violation);
            }
            return;
        }
        match check_hang(self.original, self.spin_assumed, base, wait_cache) {
            HangCheck::No => {}
            HangCheck::Yes => visit(no_step, Outcome::Violation),
            HangCheck::Undecided => visit(no_step, Outcome::UndecidedHang),
        }
    }

    /// Visits the steps of a thread without an attack. Returns whether a step changes memory.
    fn sc_steps(
        &self,
        t: ThreadId,
        scratch: &mut Scratch,
        visit: &mut impl FnMut(SearchStep<'_>, Outcome<'_>),
    ) -> bool {
        let Scratch { base, work, attack_state, footprint, choices, writer, packed, .. } = scratch;
        let mut changes_memory = false;
        *choices = Choices::default();
        loop {
            choices.rewind();
            work.clone_from(base);
            let advance = self.take_step(work, t, choices, footprint, self.check_properties);
            let script = choices.script();
            let search_step = |steps| SearchStep { thread: t, script, steps, delayed: false };
            match advance {
                Advance::Taken(steps) => {
                    changes_memory |= work.memory != base.memory;
                    visit(
                        search_step(steps),
                        Outcome::Next(self.pack(attack_state, work, writer, packed)),
                    );
                }
                Advance::Failed(steps) if self.check_properties => {
                    visit(search_step(steps), Outcome::Violation)
                }
                Advance::Failed(_) | Advance::Blocked | Advance::FailedSpin => {}
            }
            if !self.machine.next_combination(choices) {
                return changes_memory;
            }
        }
    }

    /// Starts an attack if the thread is at a store: the store stays in the buffer.
    fn start_attack(
        &self,
        t: ThreadId,
        scratch: &mut Scratch,
        visit: &mut impl FnMut(SearchStep<'_>, Outcome<'_>),
    ) {
        let stmt = self.machine.shape.stmt(t, scratch.base.pcs[t.index()]);
        // Delaying a store that no other thread can observe is useless. A later store may be
        // useful.
        if matches!(stmt.op, Op::Store { .. })
            && self.useful_delays[t.index()].is_useful(stmt.next, false)
            && let Some(loc) = self.machine.next_access(&scratch.base, t)
            && self.addresses.others_touch(loc, t)
        {
            self.attacker_steps(t, scratch, visit);
        }
    }

    /// Visits the steps of an attacker that delays or starts to delay.
    fn attacker_steps(
        &self,
        t: ThreadId,
        scratch: &mut Scratch,
        visit: &mut impl FnMut(SearchStep<'_>, Outcome<'_>),
    ) {
        let machine = self.machine;
        let pc = scratch.base.pcs[t.index()];
        let loc = machine.next_access(&scratch.base, t);
        let op = &machine.shape.stmt(t, pc).op;
        // The access that can end the delaying phase, if the statement has one.
        let mut access = None;
        let mut forwarded = None;
        match (op, loc) {
            (Op::Load { .. }, Some(loc)) if !scratch.attack_state.loads_blocked => {
                forwarded = scratch.attack_state.buffer[loc.index()];
                access = forwarded.is_none().then_some(Access::read(loc.0));
            }
            (Op::New { pool, .. }, _) => {
                let locations = machine.shape.program().locations.len() as u32;
                access = Some(Access::update(locations + u32::from(pool.0)));
            }
            (Op::Store { .. }, Some(_)) | (Op::Choose { .. } | Op::Invoke { .. }, _) => {}
            // Reached only if there were too many invisible steps for one step of the search.
            _ if self.may_pass(&scratch.attack_state, &scratch.base, t) => {}
            _ => return,
        }
        access = access.filter(|access| self.addresses.others_write(access.address, t));
        let Scratch { base, work, attack_state, next, choices, writer, packed, .. } = scratch;
        *choices = Choices::default();
        loop {
            choices.rewind();
            work.clone_from(base);
            next.clone_from(attack_state);
            if let (Some(loc), Some(value)) = (loc, forwarded) {
                work.memory.values[loc.index()] = value;
            }
            let taken = machine.run(work, t, choices, &mut ());
            let here = work.pcs[t.index()];
            if taken == Ok(StepResult::Taken) && !self.spin_assumed.is_cut_point(t, here) {
                let mut delayed = false;
                if let Some(loc) = loc {
                    if let Op::Store { .. } = op {
                        next.delay_store(t, loc, work.memory.values[loc.index()]);
                        delayed = true;
                    }
                    work.memory.values[loc.index()] = base.memory.values[loc.index()];
                }
                if let Op::Fence(kinds) = op {
                    next.loads_blocked |= kinds.contains(FenceKinds::STORE_LOAD);
                }
                let script = choices.script();
                if let Some(access) = access {
                    next.record_attacker_access(&self.addresses, access);
                }
                if let Some(steps) = self.pass_invisible(next, work, t) {
                    let search_step = SearchStep { thread: t, script, steps: steps + 1, delayed };
                    visit(search_step, Outcome::Next(self.pack(next, work, writer, packed)));
                }
                if let Some(access) = access {
                    next.clone_from(attack_state);
                    next.freeze(&self.addresses, access);
                    // The position of a frozen thread does not distinguish states.
                    work.pcs[t.index()] = Pc(0);
                    let shape = machine.shape.thread(t);
                    let registers = shape.registers..shape.registers + shape.register_fields.len();
                    work.registers[registers].fill(0);
                    let search_step = SearchStep { thread: t, script, steps: 1, delayed };
                    visit(search_step, Outcome::Next(self.pack(next, work, writer, packed)));
                }
            }
            if !self.machine.next_combination(choices) {
                return;
            }
        }
    }

    /// Takes the invisible steps of a delaying thread that TSO allows. Returns how many. None if
    /// delaying is no longer useful.
    fn pass_invisible(
        &self,
        attack_state: &mut AttackState,
        state: &mut ScState,
        t: ThreadId,
    ) -> Option<u32> {
        let mut steps = 0;
        let mut detector = SilentLoopDetector::default();
        while steps < MAX_INVISIBLE_STEPS
            && self.may_pass(attack_state, state, t)
            && !detector.is_in_loop(self.machine, state, t)
        {
            let stmt = self.machine.shape.stmt(t, state.pcs[t.index()]);
            if let Op::Fence(kinds) = stmt.op {
                attack_state.loads_blocked |= kinds.contains(FenceKinds::STORE_LOAD);
            }
            if !self.take_invisible(state, t, &mut ()) {
                return None;
            }
            steps += 1;
        }
        self.useful_delays[t.index()]
            .is_useful(state.pcs[t.index()], attack_state.loads_blocked)
            .then_some(steps)
    }

    /// Returns whether a delaying thread is at an invisible statement that does not wait for its
    /// buffer.
    fn may_pass(&self, attack_state: &AttackState, state: &ScState, t: ThreadId) -> bool {
        if !is_invisible(self.machine, state, t) {
            return false;
        }
        match self.machine.shape.stmt(t, state.pcs[t.index()]).op.memory() {
            Some(MemoryOp::Fence(kinds)) => kinds != FenceKinds::FULL,
            Some(MemoryOp::Drain(_)) => {
                let loc = self.machine.next_access(state, t);
                loc.is_some_and(|loc| attack_state.buffer[loc.index()].is_none())
            }
            Some(MemoryOp::Load { .. } | MemoryOp::Store { .. } | MemoryOp::Update { .. })
            | None => true,
        }
    }

    /// Visits the steps of a helper during an attack: those that happen after the accesses of the
    /// attacker.
    fn helper_steps(
        &self,
        t: ThreadId,
        scratch: &mut Scratch,
        visit: &mut impl FnMut(SearchStep<'_>, Outcome<'_>),
    ) {
        let Scratch { base, work, attack_state, next, footprint, choices, writer, packed, .. } =
            scratch;
        let is_allowed = attack_state.has_reached(t) || is_invisible(self.machine, base, t);
        *choices = Choices::default();
        loop {
            choices.rewind();
            work.clone_from(base);
            let advance = self.take_step(work, t, choices, footprint, false);
            let (mut happens_after, mut touches_buffer) = (false, false);
            footprint.for_each_action(|action| {
                happens_after |= attack_state.happens_after(t, action);
                touches_buffer |= attack_state.touches_buffer(action);
            });
            let script = choices.script();
            let search_step = |steps| SearchStep { thread: t, script, steps, delayed: false };
            let succeeds = attack_state.phase == Phase::Frozen && happens_after && touches_buffer;
            match advance {
                // A failure after the decisive access does not undo the access.
                Advance::Taken(steps) | Advance::Failed(steps) if succeeds => {
                    visit(search_step(steps), Outcome::Success);
                }
                Advance::Taken(steps) if happens_after || is_allowed => {
                    next.clone_from(attack_state);
                    if happens_after {
                        footprint.for_each_action(|action| next.record_action(t, action));
                    }
                    next.reset_irrelevant_levels(&self.addresses);
                    visit(search_step(steps), Outcome::Next(self.pack(next, work, writer, packed)));
                }
                Advance::Taken(_) | Advance::Failed(_) | Advance::Blocked | Advance::FailedSpin => {
                }
            }
            if !self.machine.next_combination(choices) {
                return;
            }
        }
    }

    /// Takes the next step of a thread under SC, with the invisible steps after it.
    fn take_step(
        &self,
        state: &mut ScState,
        t: ThreadId,
        choices: &mut Choices,
        footprint: &mut Footprint,
        check_properties: bool,
    ) -> Advance {
        let pc = state.pcs[t.index()];
        let mut steps = 1;
        footprint.clear();
        let mut advance = match self.machine.run(state, t, choices, footprint) {
            Ok(StepResult::Taken) => Advance::Taken(steps),
            Ok(StepResult::Blocked | StepResult::BoundReached) => return Advance::Blocked,
            Err(_) => Advance::Failed(steps),
        };
        let mut detector = SilentLoopDetector::default();
        let is_wrong =
            |state: &_| check_properties && self.machine.state_violation_after(state, t).is_some();
        while let Advance::Taken(_) = advance {
            if is_wrong(state) {
                advance = Advance::Failed(steps);
            } else if steps <= MAX_INVISIBLE_STEPS
                && self.is_merged(state, t, check_properties)
                && !detector.is_in_loop(self.machine, state, t)
            {
                steps += 1;
                let take_invisible = self.take_invisible(state, t, footprint);
                advance =
                    if take_invisible { Advance::Taken(steps) } else { Advance::Failed(steps) };
            } else {
                break;
            }
        }
        let to = state.pcs[t.index()];
        footprint.finish(&self.machine.shape, &self.cells, t, (pc, to));
        let is_failed_spin =
            matches!(advance, Advance::Taken(_)) && self.spin_assumed.is_cut_point(t, to);
        if is_failed_spin { Advance::FailedSpin } else { advance }
    }

    /// Returns whether a thread is at an invisible statement that belongs to the step before it. If
    /// critical sections are checked, leaving one is a step of its own: the thread may overlap with
    /// another.
    fn is_merged(&self, state: &ScState, t: ThreadId, check_properties: bool) -> bool {
        let checks_sections = check_properties && self.machine.shape.checks_mutual_exclusion;
        let stmt = self.machine.shape.stmt(t, state.pcs[t.index()]);
        is_merged(self.machine, state, t) && !(checks_sections && matches!(stmt.op, Op::Leave))
    }

    /// Takes an invisible step. Returns false if it fails.
    fn take_invisible(
        &self,
        state: &mut ScState,
        t: ThreadId,
        record: &mut dyn EventRecorder,
    ) -> bool {
        match self.machine.run(state, t, &mut Choices::default(), record) {
            Ok(StepResult::Taken) => true,
            Ok(StepResult::Blocked | StepResult::BoundReached) => {
                unreachable!("an invisible step never blocks")
            }
            Err(_) => false,
        }
    }

    fn pack<'w>(
        &self,
        attack_state: &AttackState,
        state: &ScState,
        writer: &mut Writer,
        packed: &'w mut Writer,
    ) -> &'w [u8] {
        packed.clear();
        attack_state.encode(&self.machine.shape, &self.addresses, packed);
        packed.copy(self.machine.encode(state, writer));
        packed.bytes()
    }
}
