//! Guesses: a thread continues after a branch whose condition is unknown.
//!
//! A guess only lets later loads be performed early. Everything else waits until the guess is
//! resolved, and then the thread can do the same without a guess. This gives three reductions, which
//! preserve verdicts and outcomes. In all of them, the thread waits until the condition is known, or
//! until a guess is useful:
//!
//! - *No early load.* A guess is useless if no load behind it can be performed before it is
//!   resolved. Such a load must be reachable without passing a full fence, an `atomic` block, an
//!   allocation, a fence that orders it with earlier loads, or a store-load fence behind a store
//!   that waits for the guess. It must be to another location than the accesses that the branch
//!   waits for, because accesses to the same location stay in order.
//! - *Late guesses.* A guess waits as long as each load that could be performed first behind it
//!   would have to wait for an access that is already pending ([`MemoryModel::blocks_later_loads`]).
//!   With orders, such a load is not behind an acquire load. A load that takes the value of a store
//!   behind the guess does not count, because it can do so until the guess is resolved; but then an
//!   acquire load may be performed, so only one without a store before it ends the search for loads.
//!   The thread loses nothing if it guesses after the pending access. Without this rule, a thread
//!   that runs in a loop guesses its way through any number of iterations.
//! - *Failed spin iterations.* A thread that has guessed does not complete a failed spin iteration,
//!   neither by a further guess nor by a known condition. The run without the iteration has the
//!   same effects, because a failed iteration changes no location and no register that is read
//!   later, and fewer pending accesses block less.

use super::choice::Choices;
use super::{Machine, Step, StepResult};
use crate::bits::Writer;
use crate::event::EventRecorder;
use crate::model::{IssueResult, MemoryModel, StepFailure};
use crate::mutation::Mutation;
use crate::shape::Shape;
use crate::state::State;
use crate::table::Bypass;
use fencepost_ir::spin_loops::{SpinAssumed, spin_assume};
use fencepost_ir::{Acquire, FenceKinds, Loc, Op, Pc, ThreadId, flow};
use rustc_hash::FxHashSet;

/// The guesses that let a load be performed early.
#[derive(Debug)]
pub(super) struct UsefulGuesses {
    /// The spin loops, if registers in outcomes are not observed.
    all: SpinAssumed,
    /// The spin loops whose failed iterations are never guessed.
    waiting: SpinAssumed,
    /// By thread: the loads that may be performed early.
    threads: Vec<EarlyLoads>,
    /// By thread: the loads that may be the first ones to be performed early, without and with
    /// acquire order.
    first: [Vec<EarlyLoads>; 2],
}

/// What decides which loads may be performed early.
#[derive(Clone, Copy, Debug)]
struct Rules {
    bypass: Bypass,
    /// Whether the load of an update may be performed early.
    updates: bool,
    /// Whether accesses have orders, so that fences which implement orders are ignored.
    ordered: bool,
    /// If set, loads behind an acquire load are not contained, and only loads with or without
    /// acquire order are.
    first: Option<bool>,
}

impl UsefulGuesses {
    /// Computes the useful guesses of a program under a model that guesses. Failed spin iterations
    /// may change registers in outcomes only if `outcomes` is not set.
    pub(super) fn new(shape: &Shape<'_>, model: &impl MemoryModel, outcomes: bool) -> Option<Self> {
        let rules = Rules {
            bypass: model.speculation()?,
            updates: model.updates_load_early(),
            ordered: model.has_ordered_accesses(),
            first: None,
        };
        let loads = |rules: Rules| {
            let threads = shape.program().thread_ids();
            threads.map(|t| EarlyLoads::new(shape, t, rules)).collect()
        };
        Some(UsefulGuesses {
            all: spin_assume(shape.problem, false),
            waiting: spin_assume(shape.problem, outcomes),
            threads: loads(rules),
            first: [false, true].map(|acquire| loads(Rules { first: Some(acquire), ..rules })),
        })
    }

    /// Returns whether a guess is useful: control continues from `pc` at `target`, the branch waits
    /// for accesses to `awaited`, or to several locations, and loads with `must_wait` are not
    /// performed first. Its second argument is whether the load has acquire order.
    fn is_useful(
        &self,
        t: ThreadId,
        pc: Pc,
        target: Pc,
        awaited: Option<Loc>,
        must_wait: impl Fn(Loc, bool) -> bool,
    ) -> bool {
        !is_failed_iteration(&self.waiting, t, pc, target)
            && self.threads[t.index()].at(target).any(|loc| Some(loc) != awaited)
            && [false, true].into_iter().any(|acquire| {
                let first = &self.first[usize::from(acquire)][t.index()];
                first.at(target).any(|loc| !must_wait(loc, acquire))
            })
    }
}

/// Returns whether the edge from a statement to `target` ends a failed spin iteration.
fn is_failed_iteration(spin_assumed: &SpinAssumed, t: ThreadId, pc: Pc, target: Pc) -> bool {
    // Then the edge was redirected to a cut point.
    let redirected = spin_assumed.problem.program.thread(t).stmt(pc);
    !flow::successors(redirected).any(|next| next == target)
}

/// The loads of a thread that may be performed while an earlier branch is not resolved.
#[derive(Debug)]
struct EarlyLoads {
    /// The number of words of one set of locations.
    words: usize,
    /// By program counter, and by whether a store waits for the guess: the locations.
    sets: Vec<u64>,
}

impl EarlyLoads {
    fn new(shape: &Shape<'_>, t: ThreadId, rules: Rules) -> Self {
        let code = &shape.program().thread(t).code;
        let words = shape.program().locations.len().div_ceil(64);
        let mut loads = EarlyLoads { words, sets: vec![0; 2 * code.len() * words] };
        // The branch waits for a load or an update. Without R->R, all later loads wait for it, too.
        while rules.bypass.load_load && loads.propagate(shape, t, rules) {}
        loads
    }

    fn set(&self, pc: Pc, has_store: bool) -> std::ops::Range<usize> {
        let at = (2 * pc.index() + usize::from(has_store)) * self.words;
        at..at + self.words
    }

    /// Adds the loads of each statement and of its successors. Returns whether anything changed.
    fn propagate(&mut self, shape: &Shape<'_>, t: ThreadId, rules: Rules) -> bool {
        let mut changed = false;
        for (at, stmt) in shape.program().thread(t).code.iter().enumerate().rev() {
            for has_store in [false, true] {
                let pc = Pc::from_index(at);
                let to = self.set(pc, has_store);
                let loads = matches!(stmt.op, Op::Load { .. })
                    || rules.updates && matches!(stmt.op, Op::Update { .. });
                let order = shape.thread(t).orders[at];
                let is_acquire = rules.ordered && order.acquire != Acquire::None;
                let is_contained = loads && rules.first.is_none_or(|first| first == is_acquire);
                if is_contained && (!has_store || rules.bypass.store_load) {
                    for loc in &shape.thread(t).footprints[at] {
                        let word = &mut self.sets[to.start + loc.index() / 64];
                        let more = *word | 1u64 << (loc.index() % 64);
                        changed |= more != *word;
                        *word = more;
                    }
                }
                if loads && is_acquire && rules.first.is_some() && !has_store {
                    continue;
                }
                let is_ignored = rules.ordered && shape.thread(t).is_implied[at];
                let passes = match is_ignored {
                    true => Some(has_store),
                    false => passes_early(&stmt.op, has_store),
                };
                let Some(has_store) = passes else { continue };
                for next in flow::successors(stmt) {
                    let from = self.set(next, has_store);
                    for (to, from) in to.clone().zip(from) {
                        let more = self.sets[to] | self.sets[from];
                        changed |= more != self.sets[to];
                        self.sets[to] = more;
                    }
                }
            }
        }
        changed
    }

    /// Returns the locations of the loads behind `pc` that may be performed early.
    fn at(&self, pc: Pc) -> impl Iterator<Item = Loc> {
        let words = self.sets[self.set(pc, false)].iter().enumerate();
        words.flat_map(|(at, word)| {
            let bits = (0..64).filter(move |bit| word >> bit & 1 != 0);
            bits.map(move |bit| Loc::from_index(64 * at + bit))
        })
    }
}

/// Returns whether a load behind this statement may be performed before an earlier guess is
/// resolved and, if so, whether a store behind the guess precedes the load.
fn passes_early(op: &Op, has_store: bool) -> Option<bool> {
    match op {
        Op::Store { .. } | Op::Update { .. } => Some(true),
        Op::Fence(kinds) => {
            let orders = kinds.contains(FenceKinds::LOAD_LOAD)
                || (has_store && kinds.contains(FenceKinds::STORE_LOAD));
            (!orders).then_some(has_store)
        }
        Op::AtomicBegin
        | Op::AtomicEnd
        | Op::New { .. }
        | Op::Free { .. }
        | Op::Join
        | Op::GracePeriod { .. }
        | Op::Halt => None,
        Op::Skip
        | Op::Assign { .. }
        | Op::Choose { .. }
        | Op::Load { .. }
        | Op::Drain(_)
        | Op::Branch { .. }
        | Op::Assume(_)
        | Op::Assert(_)
        | Op::Leave
        | Op::Invoke { .. }
        | Op::Return { .. }
        | Op::SectionBegin { .. }
        | Op::SectionEnd { .. } => Some(has_store),
    }
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
        if self.reductions.useful_guesses {
            let awaited = self.model.awaited_location(&self.shape, state, t, pc);
            let must_wait = |loc: Loc, acquire: bool| {
                self.model.blocks_later_loads(&self.shape, state, t, loc, acquire)
            };
            if !guesses.is_useful(t, pc, target, awaited, must_wait) {
                return Ok((IssueResult::Blocked, pc));
            }
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

    /// Returns whether the program reaches a state. A violation in another state does not count.
    pub(super) fn is_realizable(&self, state: &State<M::Pending>) -> bool {
        self.completion(state).is_some()
    }

    /// Returns steps that perform pending accesses until no thread holds a location. `None` if there
    /// are none: then the program does not reach the state.
    pub fn completion(&self, state: &State<M::Pending>) -> Option<Vec<Step>> {
        let threads = || self.shape.program().thread_ids();
        let is_free =
            |state: &State<M::Pending>| !threads().any(|t| self.holds_locations(state, t));
        if is_free(state) {
            return Some(Vec::new());
        }
        let mut writer = Writer::default();
        let mut known = FxHashSet::default();
        let mut open = vec![(state.clone(), Vec::new())];
        while let Some((state, path)) = open.pop() {
            for attempt in threads().flat_map(|t| self.attempt_internal_steps(&state, t)) {
                if attempt.taken != Ok(StepResult::Taken) {
                    continue;
                }
                let longer = || path.iter().cloned().chain([attempt.step.clone()]).collect();
                if is_free(&attempt.after) {
                    return Some(longer());
                }
                if known.insert(self.encode(&attempt.after, &mut writer).to_vec()) {
                    open.push((attempt.after.clone(), longer()));
                }
            }
        }
        None
    }
}
