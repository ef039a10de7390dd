//! A portfolio: a search for a violation and a search for a proof.
//!
//! The *exact arm* searches the exact model with growing buffers. It finds violations and decides
//! finite state spaces. The *proof arm* searches abstract models, coarse ones first. It proves
//! programs with infinite state spaces. If an abstract model has a spurious run, the arm tries a
//! finer one: `fd` with k = 0, 1, 2, ..., and `pd` where `fd` is too large. If no abstraction
//! concludes, the proof arm uses exact regular languages for store buffers ([`crate::automata`]).
//! They prove properties that depend on the order of many pending stores. The *robustness arm*
//! searches SC states ([`robustness`]). It decides programs whose store buffers add no behaviour
//! but many states.
//!
//! The arms take turns in *rounds*. The limit on states grows from round to round, so the answer
//! depends on the program alone and not on which arm is faster. The short first round has only the
//! exact arm and the proof arm, one after the other. Each later round starts with a search for
//! violations of few threads ([`crate::few_threads`]), the robustness arm, and proofs without some
//! locations ([`crate::hiding`]). If they do not conclude, the other arms run in parallel. If both
//! conclude, their verdicts must agree, and the exact answer is returned. If the control flow bounds
//! the store buffers, the exact arm can decide the program, and the proof arm joins only in late
//! rounds.
//!
//! Under a model with windows instead of store buffers, the exact search and two proofs
//! ([`crate::hiding`], [`crate::forgetting`]) take turns with growing bounds.

pub mod robustness;

use crate::abstraction::Abstraction;
use crate::automata::Automata;
use crate::concretise::SpuriousRun;
use crate::engine::{Answer, Budget, Engine, Settings, Task};
use crate::evidence::Evidence;
use crate::explicit::{self, Explicit};
use crate::few_threads::OpenSets;
use crate::forgetting;
use crate::hiding;
use crate::verdict::{Inconclusive, InconclusiveReason, Verdict};
use fencepost_ir::grace_period;
use fencepost_models::coherence::Domain;
use fencepost_search::{Cancel, Limits, Progress, Stop};
use std::num::NonZeroUsize;

/// States that each arm may store in the first round.
const FIRST_STATES: u64 = 20_000;
/// The factor by which the limit on states grows from round to round.
const STATES_FACTOR: u64 = 8;
/// How many times fewer states an abstract search may store than the exact search of the same
/// round. An abstract state takes several times as long as an exact one (8 times in a queue in C),
/// and a round may try four abstractions.
const ABSTRACT_STATES_DIVISOR: u64 = 16;
/// The states that an abstract search may store in every round.
const MIN_ABSTRACT_STATES: u64 = 5_000;
/// How many times fewer states the automata engine may store than an abstract search.
const AUTOMATA_STATES_DIVISOR: u64 = 10;
/// When nothing else is left to try, the automata engine is not tried with more states than this.
const AUTOMATA_ENOUGH_STATES: u64 = 4_000;
/// How many times fewer states than an exact search a search without some locations may store, and
/// what it may store in every round.
const HIDING_STATES_DIVISOR: u64 = 16;
const MIN_HIDING_STATES: u64 = 5_000;
/// The largest k of an abstraction of a program without some locations.
const HIDING_MAX_K: u32 = 1;
/// The bound on pending accesses in the first round. It doubles from round to round.
const FIRST_BOUND: u32 = 8;
/// If the control flow bounds the store buffers, the exact search decides the program. The proof arm
/// then runs only in rounds with more states than this.
const EXACT_STATES: u64 = 2_000_000;
/// The largest k tried. Beyond this, the abstraction is nearly the exact model.
const MAX_K: u32 = 8;
/// `pd` is tried with k up to this much larger than the current k of `fd`.
const EXTRA_PARTIAL_K: u32 = 2;

/// The portfolio engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Auto;

impl Engine for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn run(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        let abstractable = task.model.abstracted(Domain::Full, 0, false).is_some();
        let has_grace_periods = grace_period::occurs(&task.problem.program);
        // A bound fixed by the user restricts the query to that bound.
        if settings.fixed_buffer.is_some() || has_grace_periods || task.problem.requires_progress()
        {
            return Explicit.run(task, settings, budget);
        }
        if !abstractable {
            let prove = |bound, states| {
                let within = hiding_settings(settings, states, bound);
                let verify = |task: Task<'_>| verified(Explicit.run(task, within, budget));
                hiding::prove(task, budget.cancel, &verify)
                    .or_else(|| forgetting::prove(task, settings, budget, bound, states))
            };
            return explicit::run_with_proofs(task, settings, budget, &prove);
        }
        Portfolio { task, settings, budget }.run()
    }

    /// The other arms prove.
    fn find_violations(
        &self,
        task: Task<'_>,
        settings: Settings,
        budget: Budget<'_>,
    ) -> Answer {
        Explicit.run(task, settings, budget)
    }

    fn searches_few_threads(&self) -> bool {
        true
    }

    fn outcomes(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        Explicit.outcomes(task, settings, budget)
    }
}

/// Returns the settings of a search without some locations, after an exact search with this number of
/// states.
fn hiding_settings(settings: Settings, states: u64, bound: u32) -> Settings {
    let states = (states / HIDING_STATES_DIVISOR).max(MIN_HIDING_STATES);
    let limits = Limits { states: states.min(settings.limits.states), ..settings.limits };
    Settings { limits, max_buffer: Some(bound), shortest: false, ..settings }
}

/// Returns an answer that verifies its problem.
fn verified(answer: Answer) -> Option<Answer> {
    answer.verdict.is_verified().then_some(answer)
}

struct Portfolio<'a> {
    task: Task<'a>,
    settings: Settings,
    budget: Budget<'a>,
}

/// The arms that run in a round. At least one does.
#[derive(Clone, Copy, Debug)]
struct Arms {
    exact: bool,
    proof: bool,
}

/// The progress of the proof arm.
#[derive(Clone, Debug, Default)]
struct Refinement {
    /// The smallest k for which `fd` is not known to be too coarse.
    k: u32,
    /// The smallest k for which `pd` is not known to be too coarse.
    partial_k: u32,
    /// The spurious run of the finest abstraction so far.
    spurious_run: Option<Box<SpuriousRun>>,
    /// Whether `fd` ran out of memory.
    full_out_of_memory: bool,
    /// Whether no finer abstraction is left to try.
    exhausted: bool,
    /// Whether the automata engine ran out of memory.
    automata_out_of_memory: bool,
    /// The limit on states of the last attempt with the automata engine.
    automata_states: u64,
}

impl Refinement {
    /// Returns whether another round cannot help this arm.
    fn is_finished(&self) -> bool {
        self.exhausted
            && (self.automata_out_of_memory || self.automata_states >= AUTOMATA_ENOUGH_STATES)
    }
}

impl Portfolio<'_> {
    fn run(&self) -> Answer {
        let max_bound = explicit::max_bound(self.task, self.settings);
        let sufficient_bound = explicit::sufficient_bound(self.task, max_bound);
        let mut refinement = Refinement::default();
        let mut few_threads = OpenSets::of(&self.task.problem.program);
        let mut allowance = FIRST_STATES;
        let mut bound = sufficient_bound.unwrap_or(FIRST_BOUND);
        let mut exact_answer: Option<Answer> = None;
        let mut clean_up_to = None;
        let mut had_all_memory = false;
        let mut try_robustness = !self.settings.certifiable;
        loop {
            let states = allowance.min(self.settings.limits.states);
            let first_results = exact_answer.as_ref().filter(|_| try_robustness);
            if first_results.is_some_and(|exact| robustness::is_promising(self.task, exact)) {
                let limits = Limits { states, ..self.settings.limits };
                let settings = Settings { limits, ..self.settings };
                match robustness::attempt(self.task, settings, self.budget) {
                    robustness::Attempt::Concluded(answer) => {
                        return self.shorten_violation(*answer);
                    }
                    robustness::Attempt::TooBig => {}
                    robustness::Attempt::Undecidable => try_robustness = false,
                }
                // The results of the previous round remain the answer.
                if self.budget.cancel.reason().is_some() {
                    break;
                }
            }
            if let Some(exact) = exact_answer.as_ref().filter(|_| !self.settings.certifiable) {
                let within = hiding_settings(self.settings, exact.statistics.states, bound);
                let verify = |task: Task<'_>| self.verify_hidden(task, within);
                if let Some(answer) = hiding::prove(self.task, self.budget.cancel, &verify) {
                    return answer;
                }
            }
            let last = states == self.settings.limits.states;
            // The exact search may have run out of half of the memory. It gets all of it, once,
            // when the proof arm is finished.
            let exact_is_done = exact_answer.as_ref().is_some_and(|answer| {
                let out = is_out_of_memory(answer);
                is_exhausted(answer, max_bound)
                    || out && (!refinement.is_finished() || had_all_memory)
            });
            had_all_memory = refinement.is_finished();
            let within = if last { max_bound } else { bound.min(max_bound) };
            let proof = sufficient_bound.is_none() || states > EXACT_STATES || last;
            let arms = Arms { exact: !exact_is_done, proof: proof || exact_is_done };
            let (exact, proof) = self.round(states, within, arms, &mut refinement);
            if let Some(exact) = exact {
                if let Some(proof) = proof.as_ref().filter(|_| is_conclusive(&exact)) {
                    let agree = exact.verdict.word() == proof.verdict.word();
                    assert!(agree, "the exact search and the proof must reach the same verdict");
                }
                let clean = exact.verdict.inconclusive().and_then(Inconclusive::clean_up_to);
                clean_up_to = clean_up_to.max(clean);
                exact_answer = Some(exact);
            }
            let exact = exact_answer.as_ref().expect("the first round searches the exact model");
            if is_conclusive(exact) || is_settled(exact) {
                break;
            }
            if let Some(proof) = proof {
                return self.shorten_violation(proof);
            }
            let stopped = self.budget.cancel.reason().is_some();
            let done = is_exhausted(exact, max_bound) || had_all_memory && is_out_of_memory(exact);
            let nothing_left = refinement.is_finished() && done;
            if stopped || last || nothing_left {
                break;
            }
            allowance = allowance.saturating_mul(STATES_FACTOR);
            bound = bound.saturating_mul(2);
            let states = allowance.min(self.settings.limits.states);
            let within = Settings { max_buffer: Some(bound.min(max_bound)), ..self.settings };
            let violated = few_threads.search(self.task, within, self.budget, states);
            if let Some(violated) = violated {
                return violated;
            }
        }
        let mut answer = exact_answer.expect("at least one round was run");
        if answer.verdict.inconclusive().is_some() {
            // The reason that ended the portfolio replaces the reason of the last exact search.
            if let Some(stop) = self.budget.cancel.reason() {
                answer.verdict = answer.verdict.weakened(InconclusiveReason::Limit(stop));
            }
            answer.verdict = answer.verdict.clean_up_to(clean_up_to);
            answer.spurious_run = refinement.spurious_run;
        }
        answer
    }

    /// Tries to verify a program without some locations, by an exact search and by coarse
    /// abstractions.
    fn verify_hidden(&self, task: Task<'_>, settings: Settings) -> Option<Answer> {
        let exact = Explicit.run(task, settings, self.budget);
        if exact.verdict.evidence().is_some() {
            return None;
        }
        verified(exact).or_else(|| {
            (0..=HIDING_MAX_K).find_map(|k| {
                let engine = Abstraction { domain: Domain::Full, k };
                verified(engine.run(task, settings, self.budget))
            })
        })
    }

    /// Returns an answer of the proof arm. Replaces the run of a violation by a shorter one if
    /// possible.
    fn shorten_violation(&self, mut proof: Answer) -> Answer {
        if let Some(trace) = proof.verdict.evidence().and_then(Evidence::trace)
            && self.settings.shortest
        {
            let states = proof.statistics.states;
            let shorter =
                explicit::find_shorter(self.task, self.settings, self.budget, trace, states);
            proof.verdict = proof.verdict.with_shorter(shorter);
        }
        proof
    }

    /// Runs the arms with this limit on states. The proof arm returns an answer only if it
    /// concludes.
    fn round(
        &self,
        states: u64,
        bound: u32,
        arms: Arms,
        refinement: &mut Refinement,
    ) -> (Option<Answer>, Option<Answer>) {
        let searches = u64::from(arms.exact) + u64::from(arms.proof && !refinement.is_finished());
        let bytes = self.settings.limits.bytes / searches.max(1);
        let limits = Limits { states, bytes, ..self.settings.limits };
        let settings = Settings { limits, max_buffer: Some(bound), ..self.settings };
        // In the last round there is no reason to save time: the limit is the user's.
        let last = states == self.settings.limits.states;
        let fewer = (states / ABSTRACT_STATES_DIVISOR).max(MIN_ABSTRACT_STATES).min(states);
        let abstract_states = if last { states } else { fewer };
        let limits = Limits { states: abstract_states, ..limits };
        let abstract_settings = Settings { limits, ..settings };
        let arm_cancel = self.budget.cancel.child();
        let search_exact = || {
            let answer = Explicit.run(self.task, settings, self.budget);
            if is_conclusive(&answer) {
                arm_cancel.interrupt();
            }
            answer
        };
        if !arms.exact {
            return (None, self.prove(settings, refinement, &arm_cancel));
        }
        if !arms.proof {
            return (Some(search_exact()), None);
        }
        // Most queries are easy for one of the arms: a second thread does not pay off.
        if self.settings.threads.get() == 1 || states <= FIRST_STATES {
            let exact = search_exact();
            // Growing values in the first round make a proof unlikely. Later rounds try anyway.
            let proof_is_unlikely = states <= FIRST_STATES && exact.growing.is_some();
            let proof = if is_conclusive(&exact) || proof_is_unlikely {
                None
            } else {
                self.prove(abstract_settings, refinement, &arm_cancel)
            };
            return (Some(exact), proof);
        }
        std::thread::scope(|scope| {
            let exact = scope.spawn(search_exact);
            // The exact search gets the other threads: it is the faster one.
            let single_threaded = Settings { threads: NonZeroUsize::MIN, ..abstract_settings };
            let proof = self.prove(single_threaded, refinement, &arm_cancel);
            match exact.join() {
                Ok(exact) => (Some(exact), proof),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }

    /// The proof arm: abstractions, then regular languages for store buffers.
    fn prove(
        &self,
        settings: Settings,
        refinement: &mut Refinement,
        arm_cancel: &Cancel,
    ) -> Option<Answer> {
        let proof = self.refine(settings, refinement, arm_cancel);
        if proof.is_some() || refinement.automata_out_of_memory || arm_cancel.reason().is_some() {
            return proof;
        }
        let last = settings.limits.states == self.settings.limits.states;
        let fewer = (settings.limits.states / AUTOMATA_STATES_DIVISOR).max(1);
        let states = if last { settings.limits.states } else { fewer };
        let limits = Limits { states, ..settings.limits };
        let unread_progress = Progress::default();
        let budget = Budget { cancel: arm_cancel, progress: &unread_progress };
        let settings = Settings { limits, shortest: false, ..settings };
        let answer = Automata::DEFAULT.run(self.task, settings, budget);
        refinement.automata_out_of_memory = is_out_of_memory(&answer);
        refinement.automata_states = states;
        is_conclusive(&answer).then_some(answer)
    }

    /// Tries finer and finer abstractions until one concludes or a limit is reached.
    fn refine(
        &self,
        settings: Settings,
        refinement: &mut Refinement,
        arm_cancel: &Cancel,
    ) -> Option<Answer> {
        loop {
            if refinement.exhausted {
                return None;
            }
            let full = Abstraction { domain: Domain::Full, k: refinement.k };
            let attempt = match refinement.full_out_of_memory {
                true => Attempt::OutOfMemory,
                false => self.attempt(full, settings, arm_cancel),
            };
            match attempt {
                Attempt::Concluded(answer) => return Some(*answer),
                Attempt::TooCoarse(spurious_run) => {
                    refinement.spurious_run = spurious_run.or(refinement.spurious_run.take());
                    refinement.k += 1;
                    refinement.exhausted = refinement.k > MAX_K;
                    continue;
                }
                Attempt::TooBig => {}
                Attempt::OutOfMemory => refinement.full_out_of_memory = true,
                Attempt::TooManyValues => {
                    refinement.exhausted = true;
                    continue;
                }
                Attempt::Cancelled => return None,
            }
            refinement.partial_k = refinement.partial_k.max(refinement.k);
            while refinement.partial_k <= refinement.k + EXTRA_PARTIAL_K {
                let partial = Abstraction { domain: Domain::Partial, k: refinement.partial_k };
                match self.attempt(partial, settings, arm_cancel) {
                    Attempt::Concluded(answer) => return Some(*answer),
                    Attempt::TooCoarse(_) => refinement.partial_k += 1,
                    Attempt::OutOfMemory | Attempt::TooManyValues => {
                        refinement.exhausted = refinement.full_out_of_memory;
                        return None;
                    }
                    Attempt::TooBig | Attempt::Cancelled => return None,
                }
            }
            refinement.exhausted = refinement.full_out_of_memory;
            return None;
        }
    }

    fn attempt(&self, engine: Abstraction, settings: Settings, arm_cancel: &Cancel) -> Attempt {
        let unread_progress = Progress::default();
        let budget = Budget { cancel: arm_cancel, progress: &unread_progress };
        let answer = engine.run(self.task, settings, budget);
        match &answer.verdict {
            Verdict::Verified(_) | Verdict::Violated(_) => Attempt::Concluded(Box::new(answer)),
            Verdict::Inconclusive(inconclusive) => match inconclusive.reason() {
                InconclusiveReason::Spurious => Attempt::TooCoarse(answer.spurious_run),
                InconclusiveReason::Limit(Stop::States) => Attempt::TooBig,
                InconclusiveReason::Limit(Stop::Memory | Stop::Depth) => Attempt::OutOfMemory,
                InconclusiveReason::Limit(Stop::Time | Stop::Interrupted) => Attempt::Cancelled,
                InconclusiveReason::Unsupported { .. } => Attempt::TooManyValues,
                InconclusiveReason::Bound { .. } => {
                    unreachable!("an abstract model has no bound on runs")
                }
            },
        }
    }
}

/// The result of one abstract search.
enum Attempt {
    /// The search reached a verdict.
    Concluded(Box<Answer>),
    /// The search found a spurious run.
    TooCoarse(Option<Box<SpuriousRun>>),
    /// The search needs more states than this round allows.
    TooBig,
    /// The search needs more memory than available. A higher limit on states does not help.
    OutOfMemory,
    /// A store buffer holds more values than any abstraction supports.
    TooManyValues,
    /// The search was cancelled.
    Cancelled,
}

fn is_conclusive(answer: &Answer) -> bool {
    match answer.verdict {
        Verdict::Verified(_) | Verdict::Violated(_) => true,
        Verdict::Inconclusive(_) => false,
    }
}

/// Returns whether the exact search explored everything, but cannot verify the problem, for example
/// because no run ends. No other search can.
fn is_settled(answer: &Answer) -> bool {
    matches!(answer.verdict.inconclusive_reason(), Some(InconclusiveReason::Unsupported { .. }))
}

fn is_out_of_memory(answer: &Answer) -> bool {
    match &answer.verdict {
        Verdict::Verified(_) | Verdict::Violated(_) => false,
        Verdict::Inconclusive(inconclusive) => {
            matches!(inconclusive.reason(), InconclusiveReason::Limit(Stop::Memory | Stop::Depth))
        }
    }
}

/// Returns whether the exact search is complete up to the largest bound.
fn is_exhausted(answer: &Answer, max_bound: u32) -> bool {
    match &answer.verdict {
        Verdict::Verified(_) | Verdict::Violated(_) => true,
        Verdict::Inconclusive(inconclusive) => match inconclusive.reason() {
            InconclusiveReason::Bound { .. } => answer.statistics.bound >= Some(max_bound),
            InconclusiveReason::Limit(_)
            | InconclusiveReason::Spurious
            | InconclusiveReason::Unsupported { .. } => false,
        },
    }
}
