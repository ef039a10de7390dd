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
//! The arms take turns in *rounds*. The limit on states grows from round to round. The arms run one
//! after the other, and the first that concludes gives the answer, so it depends on the program alone
//! and not on which arm is faster. The short first round has only the exact arm and the proof arm.
//! Each later round starts with a search for violations of few threads ([`crate::few_threads`]), the
//! robustness arm, and proofs without some locations ([`crate::hiding`]). The proof arm comes next,
//! then the exact arm, which continues its search of the previous round with the same or a larger bound
//! on pending accesses. If the control flow bounds the store buffers, or no run so far has needed more
//! pending accesses than the bound, the exact arm can probably decide the program. Then it comes first,
//! and the proof arm joins only in late rounds.
//!
//! Rejected: an exact and an abstract search in parallel. The exact search had to end first, for an
//! answer that does not depend on timing, and it is slower where it cannot decide the program.
//!
//! Store-load fences become full fences where this is equivalent ([`fencepost_translate::strengthen`]),
//! because a full fence shows that no store remains pending.
//!
//! Under a model with windows instead of store buffers, the exact search and two proofs
//! ([`crate::hiding`], [`crate::forgetting`]) take turns with growing bounds.

pub mod robustness;

use crate::abstraction::Abstraction;
use crate::automata::Automata;
use crate::concretise::SpuriousRun;
use crate::counters;
use crate::engine::{Answer, Budget, Engine, Settings, Task};
use crate::evidence::Evidence;
use crate::explicit::{self, Explicit, Paused};
use crate::few_threads::OpenSets;
use crate::forgetting;
use crate::growing_variable::still_grows;
use crate::hiding;
use crate::transfer::replay_violations;
use crate::verdict::{Inconclusive, InconclusiveReason, Verdict};
use fencepost_ir::{Problem, grace_period};
use fencepost_models::coherence::Domain;
use fencepost_search::{Limits, Stop};
use fencepost_translate::strengthen::strengthened;

/// States that each arm may store in the first round.
const FIRST_STATES: u64 = 20_000;
/// The factor by which the limit on states grows from round to round.
const STATES_FACTOR: u64 = 8;
/// How many times fewer states an abstract search may store than the exact search of the same
/// round. An abstract state takes up to 6 times as many instructions as an exact one, and a round may
/// try four abstractions.
const ABSTRACT_STATES_DIVISOR: u64 = 8;
/// The states that an abstract search may store in every round.
const MIN_ABSTRACT_STATES: u64 = 5_000;
/// How many times fewer states the automata engine may store than an abstract search.
const AUTOMATA_STATES_DIVISOR: u64 = 10;
/// When nothing else is left to try, the automata engine is not tried with more states than this.
const AUTOMATA_ENOUGH_STATES: u64 = 4_000;
/// How many times fewer states than the exact search the search for an attack may store. It finds
/// that a program is robust where SC has far fewer states than the model.
const ROBUSTNESS_STATES_DIVISOR: u64 = 16;
/// If the exact search probably decides the program: how many times fewer states than it has stored so
/// far may be stored by a search for violations of few threads, and by one for an attack.
const SPENT_DIVISOR: u64 = 8;
/// The largest bound on pending stores of a search for growing numbers, unless the control flow has a
/// larger one.
const COUNTERS_BOUND: u32 = 16;
/// How many times fewer states than an exact search a search without some locations may store, and
/// what it may store in every round.
const HIDING_STATES_DIVISOR: u64 = 16;
const MIN_HIDING_STATES: u64 = 5_000;
/// The largest k of an abstraction of a program without some locations.
const HIDING_MAX_K: u32 = 1;
/// If the exact search probably decides the program, the proof arm runs only in rounds with more states
/// than this.
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
            if let Some(answer) = counters::decide_early(task, settings, budget) {
                return answer;
            }
            let prove = |bound, states| {
                let within = hiding_settings(settings, states, bound);
                let verify = |task: Task<'_>| verified(Explicit.run(task, within, budget));
                hiding::prove(task, budget.cancel, &verify)
                    .or_else(|| forgetting::prove(task, settings, budget, bound, states))
            };
            return explicit::run_with_proofs(task, settings, budget, &prove);
        }
        let Some(problem) = strengthened_problem(task, settings) else {
            return Portfolio { task, settings, budget }.run();
        };
        let stronger = Task { problem: &problem, ..task };
        let within = Settings { shortest: false, ..settings };
        let answer = Portfolio { task: stronger, settings: within, budget }.run();
        if answer.verdict.evidence().is_none() {
            return answer;
        }
        let states = answer.statistics.states;
        let violated = replay_violations(task, settings, budget, answer, states);
        violated.expect("a run with a stronger fence is a run of the program")
    }

    /// The other arms prove. The exact search does not end if numbers grow for ever.
    fn find_violations(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        match counters::may_decide(task) {
            true => self.run(task, settings, budget),
            false => Explicit.run(task, settings, budget),
        }
    }

    fn searches_few_threads(&self) -> bool {
        true
    }

    fn outcomes(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        Explicit.outcomes(task, settings, budget)
    }
}

/// Returns the settings of a search without some locations, next to an exact search with this limit
/// on states.
fn hiding_settings(settings: Settings, states: u64, bound: u32) -> Settings {
    let states = (states / HIDING_STATES_DIVISOR).max(MIN_HIDING_STATES);
    let limits = Limits { states: states.min(settings.limits.states), ..settings.limits };
    Settings { limits, max_buffer: Some(bound), shortest: false, ..settings }
}

/// Returns the problem with full fences instead of equivalent weaker ones, if there are any. A
/// certificate and a witness are about the program as it is.
fn strengthened_problem(task: Task<'_>, settings: Settings) -> Option<Problem> {
    let model = task.model.store_buffers()?;
    if settings.certifiable || !task.problem.sometimes.is_empty() {
        return None;
    }
    strengthened(task.problem, model)
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
        let mut exact_answer: Option<Answer> = None;
        let mut paused: Option<Paused> = None;
        let mut clean_up_to = None;
        let mut growing = None;
        // Whether a variable keeps growing: then the proofs below do not help.
        let mut grows = false;
        let mut try_robustness = !self.settings.certifiable;
        loop {
            let states = allowance.min(self.settings.limits.states);
            let last = states == self.settings.limits.states;
            let settings = self.settings_beside(paused.as_ref(), states);
            // If the control flow bounds the store buffers, the exact search decides the program. It
            // probably does, too, if no run so far has needed more than the bound.
            let is_bounded = sufficient_bound.is_some()
                || paused.as_ref().is_some_and(Paused::keeps_within_bound);
            // Where the exact search decides, the searches before it cost a part of what it has spent.
            let share = |divisor: u64| match is_bounded {
                true => states / (STATES_FACTOR * SPENT_DIVISOR),
                false => (states / divisor).max(FIRST_STATES),
            };
            if let Some(exact) = &exact_answer {
                let few_states = share(STATES_FACTOR);
                let found = few_threads.search(self.task, settings, self.budget, few_states);
                if let Some(violated) = found {
                    return violated;
                }
                if !self.settings.certifiable {
                    let settings = counters::settings_for(self.settings, states / 2);
                    let pending = sufficient_bound.unwrap_or(max_bound.min(COUNTERS_BOUND));
                    let answer = counters::decide(self.task, settings, self.budget, pending);
                    if let Some(answer) = answer {
                        return self.shorten_violation(answer);
                    }
                }
                if try_robustness && robustness::is_promising(self.task, exact) {
                    let states = share(ROBUSTNESS_STATES_DIVISOR);
                    let settings = self.settings_beside(paused.as_ref(), states);
                    match robustness::attempt(self.task, settings, self.budget) {
                        robustness::Attempt::Concluded(answer) => {
                            return self.shorten_violation(*answer);
                        }
                        robustness::Attempt::TooBig => {}
                        robustness::Attempt::Undecidable => try_robustness = false,
                    }
                }
                if !self.settings.certifiable && !is_bounded && !grows {
                    let within = hiding_settings(settings, states, max_bound);
                    let verify = |task: Task<'_>| self.verify_hidden(task, within);
                    if let Some(answer) = hiding::prove(self.task, self.budget.cancel, &verify) {
                        return answer;
                    }
                }
            }
            let exact_is_done = exact_answer
                .as_ref()
                .is_some_and(|answer| is_exhausted(answer, max_bound) || is_out_of_memory(answer));
            // If the exact search does not decide the program, a proof is more likely, except in the
            // short first round.
            let may_prove =
                !grows && (!is_bounded || states > EXACT_STATES || last) || exact_is_done;
            let prove_first = exact_is_done || !is_bounded && exact_answer.is_some() && !grows;
            if prove_first && let Some(proof) = self.prove(settings, &mut refinement) {
                return self.shorten_violation(proof);
            }
            if !exact_is_done {
                let settings = self.settings_beside(None, states);
                let (exact, rest) =
                    explicit::run_from(self.task, settings, self.budget, paused.take());
                paused = rest;
                let clean = exact.verdict.inconclusive().and_then(Inconclusive::clean_up_to);
                clean_up_to = clean_up_to.max(clean);
                exact_answer = Some(exact);
            }
            let exact = exact_answer.as_ref().expect("the first round searches the exact model");
            if is_conclusive(exact) || is_settled(exact) {
                break;
            }
            // Growing values in the first round make a proof unlikely. Later rounds try anyway.
            let is_unlikely = states <= FIRST_STATES && exact.growing.is_some();
            if may_prove && !prove_first && !is_unlikely {
                let settings = self.settings_beside(paused.as_ref(), states);
                if let Some(proof) = self.prove(settings, &mut refinement) {
                    return self.shorten_violation(proof);
                }
            }
            let stopped = self.budget.cancel.reason().is_some();
            let exact_is_done = is_exhausted(exact, max_bound) || is_out_of_memory(exact);
            grows = self.settings.limits.states == u64::MAX
                && states > FIRST_STATES
                && exact.growing.is_some_and(|later| still_grows(growing, later));
            growing = exact.growing.or(growing);
            if grows && states >= counters::GIVE_UP_STATES {
                break;
            }
            if stopped || last || refinement.is_finished() && exact_is_done {
                break;
            }
            allowance = allowance.saturating_mul(STATES_FACTOR);
        }
        let mut answer = exact_answer.expect("at least one round was run");
        if answer.verdict.inconclusive().is_some() {
            // The reason that ended the portfolio replaces the reason of the last exact search.
            if let Some(stop) = self.budget.cancel.reason() {
                answer.verdict = answer.verdict.weakened(InconclusiveReason::Limit(stop));
            }
            answer.verdict = answer.verdict.clean_up_to(clean_up_to);
            if let Some(InconclusiveReason::Limit(_)) = answer.verdict.inconclusive_reason() {
                answer.growing = answer.growing.or(growing);
            }
            answer.spurious_run = refinement.spurious_run;
        }
        answer
    }

    /// Returns the settings of a search with this limit on states. A paused search keeps its memory.
    fn settings_beside(&self, paused: Option<&Paused>, states: u64) -> Settings {
        let limits = self.settings.limits;
        let held = paused.map_or(0, Paused::bytes);
        let states = states.min(limits.states);
        let limits = Limits { states, bytes: limits.bytes.saturating_sub(held), ..limits };
        Settings { limits, ..self.settings }
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

    /// The proof arm: abstractions, then regular languages for store buffers. Returns an answer only
    /// if it concludes. The settings are those of the exact search of the round.
    fn prove(&self, settings: Settings, refinement: &mut Refinement) -> Option<Answer> {
        // In the last round there is no reason to save time: the limit is the user's.
        let last = settings.limits.states == self.settings.limits.states;
        let share = |states: u64, divisor: u64, least: u64| {
            if last { states } else { (states / divisor).max(least).min(states) }
        };
        let states = share(settings.limits.states, ABSTRACT_STATES_DIVISOR, MIN_ABSTRACT_STATES);
        let limits = Limits { states, ..settings.limits };
        let settings = Settings { limits, ..settings };
        let proof = self.refine(settings, refinement);
        let stopped = self.budget.cancel.reason().is_some();
        if proof.is_some() || refinement.automata_out_of_memory || stopped {
            return proof;
        }
        let states = share(states, AUTOMATA_STATES_DIVISOR, 1);
        let limits = Limits { states, ..settings.limits };
        let settings = Settings { limits, shortest: false, ..settings };
        let answer = Automata::DEFAULT.run(self.task, settings, self.budget);
        refinement.automata_out_of_memory = is_out_of_memory(&answer);
        refinement.automata_states = states;
        is_conclusive(&answer).then_some(answer)
    }

    /// Tries finer and finer abstractions until one concludes or a limit is reached.
    fn refine(&self, settings: Settings, refinement: &mut Refinement) -> Option<Answer> {
        loop {
            if refinement.exhausted {
                return None;
            }
            let full = Abstraction { domain: Domain::Full, k: refinement.k };
            let attempt = match refinement.full_out_of_memory {
                true => Attempt::OutOfMemory,
                false => self.attempt(full, settings),
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
                match self.attempt(partial, settings) {
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

    fn attempt(&self, engine: Abstraction, settings: Settings) -> Attempt {
        let answer = engine.run(self.task, settings, self.budget);
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
