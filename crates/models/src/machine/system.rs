//! The machine as a transition system, with partial-order reduction.
//!
//! *Reduction.* If a step of a thread commutes with everything that other threads, and the memory
//! model for this thread, can do before it, then the step alone is a persistent set: no other step
//! of the state needs to be explored. Properties observe more than final states, so two conditions
//! are added. The step must be invisible to the properties. Its successors must be farther from the
//! initial state, so that no step is delayed forever around a cycle (the cycle proviso; see
//! [`Sink::is_farther`]). Typical such steps: a store enters its store buffer, a fence is passed, a
//! load reads a location that no other thread can still write.
//!
//! If no step alone is sufficient, the steps of a race may be: see [`super::race`]. Steps that commute
//! whatever the rest of the state is are part of the step before them: see [`super::quiet`].
//!
//! `Invoke` counts the returned operations of other threads. A step that is explored first may
//! increase this count. The count only restricts which orders of operations explain the results,
//! and a larger count allows fewer orders. So the reduction loses no violation.

use super::choice::Choices;
use super::collapsed::CollapsedForm;
use super::hang::{HangCheck, WaitCache};
use super::packed::Segments;
use super::step_table::{Entry, StepTable, Taken};
use super::successor::SavedSuccessor;
use super::tabulated::Parts;
use super::{Machine, StepResult};
use crate::bits::Writer;
use crate::model::{Condition, MemoryModel, RacingStep};
use crate::mutation::Mutation;
use crate::state::State;
use fencepost_ir::{Loc, Op, Pc, Problem, ThreadId};
use fencepost_search::{Encoding, Sink, TransitionSystem};

/// The class of targets that violate a property.
pub const VIOLATION: u32 = 0;
/// The class of witnesses for the first `sometimes` condition. The classes of the other conditions
/// follow.
pub const FIRST_WITNESS: u32 = 1;

/// Returns the class of states for which it is not decided whether they are hangs. It follows the
/// classes of the witnesses.
pub fn undecided_hang(problem: &Problem) -> u32 {
    FIRST_WITNESS + problem.sometimes.len() as u32
}

/// The detail of a target that is the state itself, not a step.
pub const STATE_DETAIL: u32 = u32::MAX;
/// The detail of a violation in `init` or in an initial state.
pub const INIT_DETAIL: u32 = u32::MAX - 1;

/// Working memory of a search worker.
#[derive(Debug)]
pub struct Scratch<P> {
    /// The state that is expanded.
    pub(super) base: State<P>,
    /// Whether `base` is unpacked, if there is a table.
    pub(super) is_unpacked: bool,
    /// The packed form of the state.
    pub(super) segments: Segments,
    /// A copy of `base` that a step changes and `restore` resets.
    pub(super) work: State<P>,
    pub(super) writer: Writer,
    pub(super) saved_successors: Vec<SavedSuccessor>,
    pub(super) internal: Vec<u32>,
    pub(super) choices: Choices,
    pub(super) wait_cache: WaitCache,
    /// The locations of possible races.
    pub(super) locations: Vec<Loc>,
    /// The steps of a race.
    pub(super) race: Vec<(ThreadId, RacingStep)>,
    /// The tabulated steps, if the model has tables.
    pub(super) table: Option<StepTable>,
    /// The numbers of parts, if states are [collapsed](super::collapsed).
    pub(super) form: Option<CollapsedForm>,
    /// The parts of the threads in the state, if there is a table.
    pub(super) parts: Parts,
    /// New entries of the table.
    pub(super) entries: Vec<Entry>,
}

impl<M: MemoryModel> Encoding for Machine<'_, M> {}

impl<M: MemoryModel> TransitionSystem for Machine<'_, M> {
    type Scratch = Scratch<M::Pending>;

    fn scratch(&self) -> Self::Scratch {
        Scratch {
            base: self.blank(),
            is_unpacked: false,
            segments: Segments::default(),
            work: self.blank(),
            writer: Writer::default(),
            saved_successors: Vec::new(),
            internal: Vec::new(),
            choices: Choices::default(),
            wait_cache: WaitCache::default(),
            locations: Vec::new(),
            race: Vec::new(),
            table: self.has_table().then(StepTable::default),
            form: None,
            parts: Parts::default(),
            entries: Vec::new(),
        }
    }

    fn initial<S: Sink>(&self, scratch: &mut Self::Scratch, sink: &mut S) {
        scratch.choices = Choices::default();
        loop {
            match self.start(&mut scratch.work, &mut scratch.choices, &mut ()) {
                Ok(true) => {
                    if self.state_violation(&scratch.work).is_some() {
                        sink.target(VIOLATION, INIT_DETAIL);
                    }
                    match scratch.form {
                        Some(_) => self.write_collapsed(scratch),
                        None => {
                            self.encode(&scratch.work, &mut scratch.writer);
                        }
                    }
                    self.emit(scratch, sink);
                }
                Ok(false) => {}
                Err(_) => sink.target(VIOLATION, INIT_DETAIL),
            }
            if !self.next_combination(&mut scratch.choices) {
                break;
            }
        }
    }

    fn expand<S: Sink>(&self, bytes: &[u8], scratch: &mut Self::Scratch, sink: &mut S) {
        self.open(bytes, scratch);
        if self.reductions.partial_order
            && (self.expand_reduced(scratch, sink) || self.expand_race(scratch, sink))
        {
            return;
        }
        let may_be_hang = match scratch.table {
            Some(_) => !self.shape.problem.may_hang && scratch.parts.summary.may_be_hang,
            None => self.may_be_hang(&scratch.base),
        };
        let mut seen = Seen { number: 0, enabled: false, may_be_hang };
        if self.is_short(scratch) {
            let mut from = (0, 0);
            while let Some((t, step)) = self.emit_short(from, scratch, sink, &mut seen) {
                self.emit_steps(t, step, scratch, sink, &mut seen);
                from = (t.index(), step + 1);
            }
        } else {
            for t in self.shape.program().thread_ids() {
                for step in 0..self.count_steps(scratch, t) {
                    self.emit_steps(t, step, scratch, sink, &mut seen);
                }
            }
        }
        let is_final = |scratch: &Scratch<M::Pending>| match &scratch.table {
            Some(table) => scratch.parts.unfinished_and_at_join(table).0 == 0,
            None => self.is_final(&scratch.base),
        };
        if !seen.enabled && is_final(scratch) {
            self.unpack_base(scratch);
            self.emit_final_state(&scratch.base, sink);
        } else if seen.may_be_hang {
            match self.check_hang_here(scratch) {
                HangCheck::No => {}
                HangCheck::Yes => sink.target(VIOLATION, STATE_DETAIL),
                HangCheck::Undecided => {
                    sink.target(undecided_hang(self.shape.problem), STATE_DETAIL);
                }
            }
        }
    }
}

/// What the steps of a state have shown so far.
pub(super) struct Seen {
    /// The number of attempted steps.
    pub(super) number: u32,
    /// Whether a step is enabled.
    pub(super) enabled: bool,
    /// Whether the state may be a hang.
    pub(super) may_be_hang: bool,
}

impl<M: MemoryModel> Machine<'_, M> {
    /// Returns whether a step from `base` to `work` shows that the thread does not wait forever: it
    /// changes memory, or leads to a statement from which the thread cannot wait forever. A guess
    /// may be wrong and shows nothing.
    #[inline]
    fn leaves_wait(&self, t: ThreadId, scratch: &Scratch<M::Pending>) -> bool {
        let Scratch { base, work, .. } = scratch;
        !self.model.is_speculating(&self.shape, &work.pending, t)
            && (!self.shape.thread(t).may_wait[work.pcs[t.index()].index()]
                || work.memory != base.memory)
    }

    /// Reports the successors of a step with each combination of its choices.
    fn emit_steps<S: Sink>(
        &self,
        t: ThreadId,
        step: u32,
        scratch: &mut Scratch<M::Pending>,
        sink: &mut S,
        seen: &mut Seen,
    ) {
        match self.look_up(scratch, t, step) {
            Some(at) => self.emit_entries(at, t, scratch, sink, seen),
            None => self.emit_step(step, t, scratch, sink, seen),
        }
    }

    /// Reports the successors of a step that is not tabulated.
    fn emit_step<S: Sink>(
        &self,
        step: u32,
        t: ThreadId,
        scratch: &mut Scratch<M::Pending>,
        sink: &mut S,
        seen: &mut Seen,
    ) {
        let mut attempted = Some(self.attempt(scratch, t, step));
        while let Some(taken) = attempted {
            seen.enabled |= taken != Taken::Blocked;
            match taken {
                Taken::Blocked => {}
                Taken::BoundReached => sink.bounded(),
                Taken::Yes => {
                    if self.state_violation_after(&scratch.work, t).is_some()
                        && self.is_realizable(&scratch.work, None)
                    {
                        sink.target(VIOLATION, seen.number);
                    }
                    self.write_successor(t, scratch);
                    self.emit(scratch, sink);
                    seen.may_be_hang = seen.may_be_hang && !self.leaves_wait(t, scratch);
                }
                Taken::Failed => {
                    if self.is_realizable(&scratch.work, Some(t)) {
                        sink.target(VIOLATION, seen.number);
                    }
                }
            }
            self.restore(&mut scratch.work, &scratch.base, t);
            seen.number += 1;
            attempted = self.attempt_next(scratch, t, step);
        }
    }

    /// Returns whether a thread other than `t` is in a critical section. There is a table.
    fn is_other_critical(&self, t: ThreadId, scratch: &Scratch<M::Pending>) -> bool {
        let Scratch { table: Some(table), parts, .. } = scratch else { return false };
        parts.is_other_critical(&table.part(parts.id(t)).facts)
    }

    /// Reports the successors of a step from its first entry on.
    #[inline]
    fn emit_entries<S: Sink>(
        &self,
        first: u32,
        t: ThreadId,
        scratch: &mut Scratch<M::Pending>,
        sink: &mut S,
        seen: &mut Seen,
    ) {
        for at in first.. {
            let Some(table) = &scratch.table else { return };
            let &Entry { taken, has_more, is_critical, leaves_wait, is_loop, .. } = table.entry(at);
            seen.enabled |= taken != Taken::Blocked;
            match taken {
                Taken::Blocked => {}
                Taken::BoundReached => sink.bounded(),
                Taken::Yes => {
                    seen.may_be_hang &= !leaves_wait;
                    self.write_entry(at, t, scratch);
                    let is_shared = is_critical
                        && self.shape.checks_mutual_exclusion
                        && self.is_other_critical(t, scratch);
                    if is_shared
                        || !self.shape.invariants.is_empty() && self.entry_violates(at, t, scratch)
                    {
                        sink.target(VIOLATION, seen.number);
                    }
                    match is_loop {
                        true => sink.same_state(scratch.writer.bytes()),
                        false => self.emit(scratch, sink),
                    }
                }
                Taken::Failed => sink.target(VIOLATION, seen.number),
            }
            seen.number += 1;
            if !has_more {
                return;
            }
        }
    }

    /// Reports a final state.
    fn emit_final_state<S: Sink>(&self, state: &State<M::Pending>, sink: &mut S) {
        if self.final_violation(state).is_some() {
            sink.target(VIOLATION, STATE_DETAIL);
        }
        let mut outcome = Vec::new();
        for what in &self.shape.problem.observed {
            outcome.extend_from_slice(&self.observe(state, *what).to_le_bytes());
        }
        sink.fact(&outcome);
        for (class, condition) in (FIRST_WITNESS..).zip(&self.shape.problem.sometimes) {
            if self.holds(state, condition) {
                sink.target(class, STATE_DETAIL);
            }
        }
    }

    /// Explores only one thread's step, if that is sufficient. Returns whether it is.
    fn expand_reduced<S: Sink>(&self, scratch: &mut Scratch<M::Pending>, sink: &mut S) -> bool {
        if scratch.table.is_some() && !scratch.parts.summary.may_commute {
            return false;
        }
        for t in self.shape.program().thread_ids() {
            let first = self.next_commuting(scratch, t, 0);
            if first == Some(0) && self.expand_alone(scratch, t, 0, sink) {
                return true;
            }
            if scratch.table.is_none() && self.late_location(&scratch.base, t).is_some() {
                let taken = self.run_at_once(&mut scratch.work, t, true);
                let usable = taken == Ok(StepResult::Taken)
                    && self.save_reduced_successor(0, t, scratch, sink);
                self.restore(&mut scratch.work, &scratch.base, t);
                if usable {
                    self.emit_saved(1, scratch, sink);
                    return true;
                }
            }
            let mut next = match first {
                Some(0) => self.next_commuting(scratch, t, 1),
                Some(_) | None => first,
            };
            while let Some(step) = next {
                if self.expand_alone(scratch, t, step, sink) {
                    return true;
                }
                next = self.next_commuting(scratch, t, step + 1);
            }
        }
        false
    }

    /// Explores only a step that commutes, if the reduction may use all of its successors. Returns
    /// whether it may.
    fn expand_alone<S: Sink>(
        &self,
        scratch: &mut Scratch<M::Pending>,
        t: ThreadId,
        step: u32,
        sink: &mut S,
    ) -> bool {
        let mut saved = 0;
        if let Some(first) = self.look_up(scratch, t, step) {
            for at in first.. {
                let Some(table) = &scratch.table else { return false };
                let &Entry { taken, has_more, is_visible, .. } = table.entry(at);
                if taken != Taken::Yes || is_visible {
                    return false;
                }
                self.write_entry(at, t, scratch);
                if !self.save_if_farther(saved, scratch, sink) {
                    return false;
                }
                saved += 1;
                if !has_more {
                    break;
                }
            }
        } else {
            let mut attempted = Some(self.attempt(scratch, t, step));
            while let Some(taken) = attempted {
                let usable =
                    taken == Taken::Yes && self.save_reduced_successor(saved, t, scratch, sink);
                self.restore(&mut scratch.work, &scratch.base, t);
                if !usable {
                    return false;
                }
                saved += 1;
                attempted = self.attempt_next(scratch, t, step);
            }
        }
        self.emit_saved(saved, scratch, sink);
        true
    }

    /// Returns whether a step of a thread is visible to a property.
    pub(super) fn is_visible(
        &self,
        before: &State<M::Pending>,
        after: &State<M::Pending>,
        t: ThreadId,
    ) -> bool {
        let enters_or_leaves = self.shape.checks_mutual_exclusion
            && self.is_critical(before, t) != self.is_critical(after, t);
        let passes_control_point = self.control_point(before, t) != self.control_point(after, t);
        (enters_or_leaves && !self.mutated.is(Mutation::CriticalSectionsInvisible))
            || (passes_control_point && !self.mutated.is(Mutation::ControlPointsInvisible))
    }

    /// Saves the successor in `work` if the reduction may use it.
    pub(super) fn save_reduced_successor<S: Sink>(
        &self,
        at: usize,
        t: ThreadId,
        scratch: &mut Scratch<M::Pending>,
        sink: &S,
    ) -> bool {
        if self.is_visible(&scratch.base, &scratch.work, t) {
            return false;
        }
        self.write_successor(t, scratch);
        self.save_if_farther(at, scratch, sink)
    }

    /// Returns whether the atomic block at `pc` commutes with everything that other threads can do
    /// before it. A store to a latch that still has its initial value precedes all reads of it.
    fn block_commutes(&self, state: &State<M::Pending>, t: ThreadId, pc: Pc) -> bool {
        let Some(block) = &self.shape.thread(t).blocks[pc.index()] else { return false };
        let (shape, model) = (&self.shape, &self.model);
        let is_closed_latch = |loc: Loc| {
            let initial = shape.program().location(loc).init;
            shape.latches[loc.index()]
                && state.memory.values[loc.index()] == initial
                && shape.is_unobserved(loc)
                && !model.others_may_store(shape, state, t, loc)
        };
        let is_free =
            |loc: &Loc| is_closed_latch(*loc) || !model.others_may_access(shape, state, t, *loc);
        !shape.grace_periods.occur
            && block.loads.iter().all(|loc| !model.others_may_store(shape, state, t, *loc))
            && block.stores.iter().all(is_free)
    }

    /// Returns whether the next statement of a thread commutes with everything that can precede it.
    pub(super) fn run_commutes(&self, state: &State<M::Pending>, t: ThreadId) -> bool {
        match self.run_condition(state, t) {
            Some(condition) => self.model.holds(&self.shape, state, t, condition),
            None => self.block_commutes(state, t, state.pcs[t.index()]),
        }
    }

    /// Returns when the next statement of a thread commutes. `None` for an atomic block.
    pub(super) fn run_condition(
        &self,
        state: &State<M::Pending>,
        t: ThreadId,
    ) -> Option<Condition> {
        let pc = state.pcs[t.index()];
        let op = &self.shape.stmt(t, pc).op;
        let commutes = match op {
            Op::Skip | Op::Assign { .. } | Op::Choose { .. } | Op::Assert(_) => true,
            // A thread may also wait until it needs no guess.
            Op::Branch { .. } | Op::Assume(_) => {
                let uses = &self.shape.thread(t).uses[pc.index()];
                self.model.speculation().is_none() || self.model.are_registers_known(state, t, uses)
            }
            Op::Leave => {
                !self.shape.checks_mutual_exclusion
                    || self.mutated.is(Mutation::CriticalSectionsInvisible)
            }
            Op::Load { .. }
            | Op::Store { .. }
            | Op::Update { .. }
            | Op::Fence(_)
            | Op::Drain(_) => {
                let is_seen = self.model.becomes_pending(op) && self.may_be_seen(state, t);
                let commutes = (self.shape.grace_periods.occur
                    && self.model.is_fetched_eagerly(op))
                    || self.mutated.is(Mutation::AccessesCommute);
                if !commutes && !is_seen {
                    return Some(self.model.issue_commutes(&self.shape, state, t, pc));
                }
                self.mutated.is(Mutation::AccessesCommute) || !is_seen
            }
            Op::SectionBegin { .. } => !self.may_be_seen(state, t),
            Op::SectionEnd { .. } => true,
            Op::GracePeriod { .. } => self.shape.grace_periods.always_end,
            Op::AtomicBegin => {
                if !self.mutated.is(Mutation::BlocksCommute) {
                    return None;
                }
                true
            }
            Op::New { .. }
            | Op::Free { .. }
            | Op::AtomicEnd
            | Op::Invoke { .. }
            | Op::Return { .. }
            | Op::Join
            | Op::Halt => false,
        };
        Some(if commutes { Condition::Always } else { Condition::Never })
    }
}
