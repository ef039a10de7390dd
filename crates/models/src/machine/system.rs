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
//! If no step alone is sufficient, the steps of a race may be: see [`super::race`].
//!
//! `Invoke` counts the returned operations of other threads. A step that is explored first may
//! increase this count. The count only restricts which orders of operations explain the results,
//! and a larger count allows fewer orders. So the reduction loses no violation.

use super::choice::Choices;
use super::hang::{HangCheck, WaitCache};
use super::packed::Segments;
use super::{Machine, StepResult};
use crate::bits::Writer;
use crate::model::{MemoryModel, RacingStep, StepFailure};
use crate::mutation::Mutation;
use crate::state::State;
use fencepost_ir::{Loc, Op, Pc, Problem, ThreadId};
use fencepost_search::{Sink, TransitionSystem};

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
    pub(super) base: State<P>,
    /// The packed form of `base`.
    segments: Segments,
    /// A copy of `base` that a step changes and `restore` resets.
    pub(super) work: State<P>,
    writer: Writer,
    pub(super) saved_successors: Vec<Vec<u8>>,
    internal: Vec<u32>,
    pub(super) choices: Choices,
    wait_cache: WaitCache,
    /// The locations of possible races.
    pub(super) locations: Vec<Loc>,
    /// The steps of a race.
    pub(super) race: Vec<(ThreadId, RacingStep)>,
}

impl<M: MemoryModel> TransitionSystem for Machine<'_, M> {
    type Scratch = Scratch<M::Pending>;

    fn scratch(&self) -> Self::Scratch {
        Scratch {
            base: self.blank(),
            segments: Segments::default(),
            work: self.blank(),
            writer: Writer::default(),
            saved_successors: Vec::new(),
            internal: Vec::new(),
            choices: Choices::default(),
            wait_cache: WaitCache::default(),
            locations: Vec::new(),
            race: Vec::new(),
        }
    }

    fn initial<S: Sink>(&self, scratch: &mut Self::Scratch, sink: &mut S) {
        let Scratch { work, writer, choices, .. } = scratch;
        *choices = Choices::default();
        loop {
            match self.start(work, choices, &mut ()) {
                Ok(true) => {
                    if self.state_violation(work).is_some() {
                        sink.target(VIOLATION, INIT_DETAIL);
                    }
                    sink.successor(self.encode(work, writer));
                }
                Ok(false) => {}
                Err(_) => sink.target(VIOLATION, INIT_DETAIL),
            }
            if !self.next_combination(choices) {
                break;
            }
        }
    }

    fn expand<S: Sink>(&self, bytes: &[u8], scratch: &mut Self::Scratch, sink: &mut S) {
        self.decode(bytes, &mut scratch.base, &mut scratch.segments);
        scratch.work.clone_from(&scratch.base);
        if self.reductions.partial_order
            && (self.expand_reduced(scratch, sink) || self.expand_race(scratch, sink))
        {
            return;
        }
        let mut number = 0;
        let mut enabled = false;
        let mut may_be_hang = self.may_be_hang(&scratch.base);
        for t in self.shape.program().thread_ids() {
            scratch.choices = Choices::default();
            loop {
                scratch.choices.rewind();
                let taken = self.run(&mut scratch.work, t, &mut scratch.choices, &mut ());
                enabled |= self.emit_successor(taken, number, t, scratch, sink);
                may_be_hang = may_be_hang && !self.leaves_wait(taken, t, scratch);
                self.restore(&mut scratch.work, &scratch.base, t);
                number += 1;
                if !self.next_combination(&mut scratch.choices) {
                    break;
                }
            }
            scratch.internal.clear();
            self.model.internal_steps(&self.shape, &scratch.base, t, &mut scratch.internal);
            for at in 0..scratch.internal.len() {
                let which = scratch.internal[at];
                let taken = self.perform_internal_step(&mut scratch.work, t, which, &mut ());
                enabled |= self.emit_successor(taken, number, t, scratch, sink);
                may_be_hang = may_be_hang && !self.leaves_wait(taken, t, scratch);
                self.restore(&mut scratch.work, &scratch.base, t);
                number += 1;
            }
        }
        if !enabled && self.is_final(&scratch.base) {
            self.emit_final_state(&scratch.base, sink);
        } else if may_be_hang {
            let Scratch { base, segments, work, wait_cache, .. } = scratch;
            match self.check_hang_cached(base, segments, work, wait_cache) {
                HangCheck::No => {}
                HangCheck::Yes => sink.target(VIOLATION, STATE_DETAIL),
                HangCheck::Undecided => {
                    sink.target(undecided_hang(self.shape.problem), STATE_DETAIL);
                }
            }
        }
    }
}

impl<M: MemoryModel> Machine<'_, M> {
    /// Returns whether a step from `base` to `work` shows that the thread does not wait forever: it
    /// changes memory, or leads to a statement from which the thread cannot wait forever. A guess
    /// may be wrong and shows nothing.
    #[inline]
    fn leaves_wait(
        &self,
        taken: Result<StepResult, StepFailure>,
        t: ThreadId,
        scratch: &Scratch<M::Pending>,
    ) -> bool {
        let Scratch { base, work, .. } = scratch;
        taken == Ok(StepResult::Taken)
            && !self.model.is_speculating(&self.shape, &work.pending, t)
            && (!self.shape.thread(t).may_wait[work.pcs[t.index()].index()]
                || work.memory != base.memory)
    }

    /// Reports the successor of a step to the search. Returns whether the step is enabled.
    #[inline]
    fn emit_successor<S: Sink>(
        &self,
        taken: Result<StepResult, StepFailure>,
        number: u32,
        t: ThreadId,
        scratch: &mut Scratch<M::Pending>,
        sink: &mut S,
    ) -> bool {
        match taken {
            Ok(StepResult::Blocked) => false,
            Ok(StepResult::BoundReached) => {
                sink.bounded();
                true
            }
            Ok(StepResult::Taken) => {
                if self.state_violation_after(&scratch.work, t).is_some()
                    && self.is_realizable(&scratch.work, None)
                {
                    sink.target(VIOLATION, number);
                }
                sink.successor(self.pack(t, scratch));
                true
            }
            Err(_) => {
                if self.is_realizable(&scratch.work, Some(t)) {
                    sink.target(VIOLATION, number);
                }
                true
            }
        }
    }

    /// Packs the successor in `work` after a step of `t`.
    #[inline]
    fn pack<'s>(&self, t: ThreadId, scratch: &'s mut Scratch<M::Pending>) -> &'s [u8] {
        let Scratch { base, segments, work, writer, .. } = scratch;
        let same_memory = work.memory == base.memory;
        self.encode_after(work, segments, same_memory, t, writer)
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
        for t in self.shape.program().thread_ids() {
            if self.run_commutes(&scratch.base, t) {
                scratch.choices = Choices::default();
                let mut saved = 0;
                let mut usable = true;
                loop {
                    scratch.choices.rewind();
                    let taken = self.run(&mut scratch.work, t, &mut scratch.choices, &mut ());
                    usable &= taken == Ok(StepResult::Taken)
                        && self.save_reduced_successor(saved, t, scratch, sink);
                    self.restore(&mut scratch.work, &scratch.base, t);
                    saved += 1;
                    if !usable || !self.next_combination(&mut scratch.choices) {
                        break;
                    }
                }
                if usable {
                    for successor in &scratch.saved_successors[..saved] {
                        sink.successor(successor);
                    }
                    return true;
                }
            }
            if self.late_location(&scratch.base, t).is_some() {
                let taken = self.run_at_once(&mut scratch.work, t, true);
                let usable = taken == Ok(StepResult::Taken)
                    && self.save_reduced_successor(0, t, scratch, sink);
                self.restore(&mut scratch.work, &scratch.base, t);
                if usable {
                    sink.successor(&scratch.saved_successors[0]);
                    return true;
                }
            }
            scratch.internal.clear();
            self.model.internal_steps(&self.shape, &scratch.base, t, &mut scratch.internal);
            for at in 0..scratch.internal.len() {
                let which = scratch.internal[at];
                let commutes = self.mutated.is(Mutation::CommitsCommute)
                    || self.model.internal_commutes(&self.shape, &scratch.base, t, which);
                if !commutes {
                    continue;
                }
                let taken = self.perform_internal_step(&mut scratch.work, t, which, &mut ());
                let usable = taken == Ok(StepResult::Taken)
                    && self.save_reduced_successor(0, t, scratch, sink);
                self.restore(&mut scratch.work, &scratch.base, t);
                if usable {
                    sink.successor(&scratch.saved_successors[0]);
                    return true;
                }
            }
        }
        false
    }

    /// Saves the successor in `work` if the reduction may use it.
    pub(super) fn save_reduced_successor<S: Sink>(
        &self,
        at: usize,
        t: ThreadId,
        scratch: &mut Scratch<M::Pending>,
        sink: &S,
    ) -> bool {
        let visible = self.shape.checks_mutual_exclusion
            && self.is_critical(&scratch.base, t) != self.is_critical(&scratch.work, t);
        if visible && !self.mutated.is(Mutation::CriticalSectionsInvisible) {
            return false;
        }
        let passes_control_point =
            self.control_point(&scratch.base, t) != self.control_point(&scratch.work, t);
        if passes_control_point && !self.mutated.is(Mutation::ControlPointsInvisible) {
            return false;
        }
        let farther = sink.is_farther(self.pack(t, scratch));
        if !farther && !self.mutated.is(Mutation::NoCycleProviso) {
            return false;
        }
        if scratch.saved_successors.len() <= at {
            scratch.saved_successors.resize_with(at + 1, Vec::new);
        }
        scratch.saved_successors[at].clear();
        scratch.saved_successors[at].extend_from_slice(scratch.writer.bytes());
        true
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

    fn run_commutes(&self, state: &State<M::Pending>, t: ThreadId) -> bool {
        let pc = state.pcs[t.index()];
        let op = &self.shape.stmt(t, pc).op;
        match op {
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
                    || self.model.issue_commutes(&self.shape, state, t, pc);
                self.mutated.is(Mutation::AccessesCommute) || (commutes && !is_seen)
            }
            Op::SectionBegin { .. } => !self.may_be_seen(state, t),
            Op::SectionEnd { .. } => true,
            Op::GracePeriod { .. } => self.shape.grace_periods.always_end,
            Op::AtomicBegin => {
                self.mutated.is(Mutation::BlocksCommute) || self.block_commutes(state, t, pc)
            }
            Op::New { .. }
            | Op::Free { .. }
            | Op::AtomicEnd
            | Op::Invoke { .. }
            | Op::Return { .. }
            | Op::Join
            | Op::Halt => false,
        }
    }
}
