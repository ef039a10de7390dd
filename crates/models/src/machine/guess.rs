//! Guesses: a thread continues after a branch whose condition is unknown.
//!
//! A guess only lets later loads be performed early. Everything else waits until the guess is
//! resolved, and then the thread can do the same without a guess. This gives three reductions, which
//! preserve verdicts and outcomes. In all of them, the thread waits until the condition is known, or
//! until a guess is useful:
//!
//! - *No early load.* A guess is useless if no load behind it can be performed before it is
//!   resolved ([`early_loads`](super::early_loads)). It must be to another location than the accesses
//!   that the branch waits for, because accesses to the same location stay in order.
//! - *Late guesses.* A guess waits as long as each load that could be performed first behind it
//!   would have to wait for an access that is already pending: one that produces a register of its
//!   address, or one to its location ([`MemoryModel::blocks_later_loads`]). The thread loses nothing
//!   if it guesses after the pending access. Without this rule, a thread that runs in a loop guesses
//!   its way through any number of iterations.
//! - *Failed spin iterations.* A thread that has guessed does not complete a failed spin iteration,
//!   neither by a further guess nor by a known condition. The run without the iteration has the
//!   same effects, because a failed iteration changes no location and no register that is read
//!   later, and fewer pending accesses block less.

use super::Machine;
use super::choice::Choices;
use super::early_loads::EarlyLoads;
use crate::event::EventRecorder;
use crate::model::{IssueResult, MemoryModel, StepFailure};
use crate::mutation::Mutation;
use crate::shape::Shape;
use crate::state::State;
use fencepost_ir::spin_loops::{SpinAssumed, spin_assume};
use fencepost_ir::{Loc, Op, Pc, ThreadId, flow};

/// The guesses that let a load be performed early.
#[derive(Debug)]
pub(super) struct UsefulGuesses {
    /// The spin loops, if registers in outcomes are not observed.
    all: SpinAssumed,
    /// The spin loops whose failed iterations are never guessed.
    waiting: SpinAssumed,
    /// By thread: the loads that may be performed early.
    threads: Vec<EarlyLoads>,
}

impl UsefulGuesses {
    /// Computes the useful guesses of a program under a model that guesses. Failed spin iterations
    /// may change registers in outcomes only if `outcomes` is not set.
    pub(super) fn new(shape: &Shape<'_>, model: &impl MemoryModel, outcomes: bool) -> Option<Self> {
        let threads = shape.program().thread_ids();
        Some(UsefulGuesses {
            threads: threads.map(|t| EarlyLoads::new(shape, t, model)).collect::<Option<_>>()?,
            all: spin_assume(shape.problem, false),
            waiting: spin_assume(shape.problem, outcomes),
        })
    }
}

/// Returns whether the edge from a statement to `target` ends a failed spin iteration.
fn is_failed_iteration(spin_assumed: &SpinAssumed, t: ThreadId, pc: Pc, target: Pc) -> bool {
    // Then the edge was redirected to a cut point.
    let redirected = spin_assumed.problem.program.thread(t).stmt(pc);
    !flow::successors(redirected).any(|next| next == target)
}

impl<M: MemoryModel> Machine<'_, M> {
    /// Lets the reductions change outcomes. They still preserve verdicts. This matters only for
    /// models that guess the directions of branches.
    pub fn without_outcomes(self) -> Self {
        let guesses = UsefulGuesses::new(&self.shape, &self.model, false);
        Machine { guesses, ..self }
    }

    /// Returns whether the next statement of a thread that has guessed completes a failed spin
    /// iteration, so that the thread waits.
    #[inline]
    pub(super) fn repeats_spin_iteration(
        &self,
        state: &State<M::Pending>,
        t: ThreadId,
        pc: Pc,
    ) -> bool {
        self.guesses.is_some()
            && self.reductions.useful_guesses
            && self.model.is_speculating(&self.shape, &state.pending, t)
            && self.completes_iteration(state, t, pc, |guesses| &guesses.waiting)
    }

    /// Returns whether the next statement of a thread that has guessed may have to wait in some
    /// search. Steps end before such a statement in every search, so that a trace can be replayed
    /// with other reductions.
    #[inline]
    pub(super) fn may_repeat_spin_iteration(
        &self,
        state: &State<M::Pending>,
        t: ThreadId,
        pc: Pc,
    ) -> bool {
        self.guesses.is_some()
            && self.model.is_speculating(&self.shape, &state.pending, t)
            && self.completes_iteration(state, t, pc, |guesses| &guesses.all)
    }

    fn completes_iteration(
        &self,
        state: &State<M::Pending>,
        t: ThreadId,
        pc: Pc,
        cut: impl Fn(&UsefulGuesses) -> &SpinAssumed,
    ) -> bool {
        let Some(guesses) = &self.guesses else { return false };
        let stmt = self.shape.stmt(t, pc);
        let uses = &self.shape.thread(t).uses[pc.index()];
        let next = if let Op::Branch { cond, then, otherwise } = &stmt.op {
            if !self.model.are_registers_known(state, t, uses) {
                return false;
            }
            match self.eval(state, t, cond) {
                Ok(0) => *otherwise,
                Ok(_) => *then,
                Err(_) => return false,
            }
        } else {
            stmt.next
        };
        is_failed_iteration(cut(guesses), t, pc, next)
    }

    /// Returns whether a guess is useful now: control continues from `pc` at `target`.
    fn is_useful(
        &self,
        guesses: &UsefulGuesses,
        state: &State<M::Pending>,
        t: ThreadId,
        pc: Pc,
        target: Pc,
    ) -> bool {
        if is_failed_iteration(&guesses.waiting, t, pc, target) {
            return false;
        }
        let awaited = self.model.awaited_location(&self.shape, state, t, pc);
        guesses.threads[t.index()].at(target).iter().any(|early| {
            let must_wait =
                |loc: Loc| self.model.blocks_later_loads(&self.shape, state, t, loc, early.acquire);
            early.needs.iter().all(|reg| self.model.has_value(&self.shape, state, t, *reg))
                && early.locations.iter().any(|loc| Some(*loc) != awaited && !must_wait(*loc))
        })
    }

    /// Guesses the direction of a branch, or that an assumption holds. Returns the result of the
    /// fetch and the program counter where control continues.
    pub(super) fn guess(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        pc: Pc,
        choices: &mut Choices,
        recorder: &mut dyn EventRecorder,
    ) -> Result<(IssueResult, Pc), StepFailure> {
        let Some(guesses) = &self.guesses else { return Ok((IssueResult::Blocked, pc)) };
        let stmt = self.shape.stmt(t, pc);
        let (guess, target) = if let Op::Branch { then, otherwise, .. } = stmt.op {
            let guess = choices.choose(2);
            (guess, if guess == 0 { then } else { otherwise })
        } else {
            (0, stmt.next)
        };
        if self.reductions.useful_guesses && !self.is_useful(guesses, state, t, pc, target) {
            return Ok((IssueResult::Blocked, pc));
        }
        let issued = self.model.issue(&self.shape, state, t, pc, guess, recorder)?;
        Ok((issued, target))
    }

    /// Returns whether a fault or a failed assertion of the thread's next statement does not count
    /// yet, because the thread may have guessed wrong.
    #[inline]
    pub(super) fn hides_failures(&self, state: &State<M::Pending>, t: ThreadId) -> bool {
        self.guesses.is_some()
            && self.model.is_speculating(&self.shape, &state.pending, t)
            && !self.mutated.is(Mutation::SpeculativeFailuresCount)
    }

    /// Returns whether the thread must not allocate or free records, because it may have guessed
    /// wrong.
    #[inline]
    pub(super) fn must_resolve_guesses(&self, state: &State<M::Pending>, t: ThreadId) -> bool {
        self.model.is_speculating(&self.shape, &state.pending, t)
            && !self.mutated.is(Mutation::AllocationsIgnoreGuesses)
    }

    /// Returns whether a state without enabled steps contains a wrong guess, so that the program
    /// does not reach it. Otherwise the oldest access of the window that holds the guess would be
    /// enabled. The same is true if threads hold locations that others need.
    pub fn is_refuted(&self, state: &State<M::Pending>) -> bool {
        let mut threads = self.shape.program().thread_ids();
        threads.any(|t| self.has_guessed(state, t) || self.holds_locations(state, t))
    }

    /// Returns whether a thread may have guessed wrong, so that it does not wait forever.
    pub(super) fn has_guessed(&self, state: &State<M::Pending>, t: ThreadId) -> bool {
        self.model.is_speculating(&self.shape, &state.pending, t)
            && !self.mutated.is(Mutation::WrongGuessesDeadlock)
    }

    /// Returns whether a thread may keep other threads from writing a location.
    pub(super) fn holds_locations(&self, state: &State<M::Pending>, t: ThreadId) -> bool {
        self.model.holds_locations(&state.pending, t)
    }
}
