//! The hunt for a violation and the proof, side by side.
//!
//! One arm searches the exact model with growing buffers: it finds violations, and decides what is finite. The
//! other searches abstract models, coarse ones first: it proves what is not. Where a domain leads to a run that
//! the exact model does not follow, the next one is finer: `fd` with k = 0, 1, 2, ..., and `pd`
//! where `fd` is too big. Where no abstraction concludes, this arm goes on with exact languages for
//! buffers ([`crate::automata`]), which prove what depends on the order of many pending stores.
//!
//! The arms take turns in *rounds*, each with an allowance of states that grows from round to round, so that
//! the answer depends on the program alone and never on which arm was faster. In a round (but the first, which
//! is short) both run at once; when both conclude, the exact one is believed first, and they must not
//! contradict each other.

use crate::abstraction::Abstraction;
use crate::automata::Automata;
use crate::concretise::Suspect;
use crate::engine::{Answer, Budget, Engine, Settings, Task};
use crate::evidence::Evidence;
use crate::explicit::{self, Explicit, LARGEST_BOUND};
use crate::verdict::{Inconclusive, InconclusiveReason, Verdict};
use fencepost_models::coherence::Domain;
use fencepost_search::{Cancel, Limits, Progress, Stop};
use std::num::NonZeroUsize;

/// States each arm may store in the first round.
const FIRST: u64 = 20_000;
/// How many times more in each round after.
const MORE: u64 = 8;
/// How many times fewer states an abstract search may store than the exact one beside it.
const SLOWER: u64 = 4;
/// How many times fewer states a search with languages for buffers may store than an abstract one.
const HEAVIER: u64 = 10;
/// Where nothing else is left to try, languages for buffers are not tried with more states than this.
const ENOUGH: u64 = 4_000;
/// The bound on pending accesses in the first round; it doubles.
const FIRST_BOUND: u32 = 8;
/// The longest heads tried. Beyond this the abstraction is nearly the exact model.
const LARGEST_K: u32 = 8;
/// How many longer heads are tried with `pd` than `fd` has shown to be too few.
const PARTIAL: u32 = 2;

/// Both engines side by side.
#[derive(Clone, Copy, Debug, Default)]
pub struct Auto;

impl Engine for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn run(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        // A bound that the user fixed is a question about that bound.
        let abstractable = task.model.abstracted(Domain::Full, 0, false).is_some();
        if !abstractable || settings.fixed_buffer.is_some() {
            return Explicit.run(task, settings, budget);
        }
        Portfolio { task, settings, budget }.run()
    }

    fn outcomes(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        Explicit.outcomes(task, settings, budget)
    }
}

struct Portfolio<'a> {
    task: Task<'a>,
    settings: Settings,
    budget: Budget<'a>,
}

/// How far the abstract arm has come.
#[derive(Clone, Debug, Default)]
struct Refining {
    /// The shortest head that `fd` was not yet shown to be too coarse with.
    k: u32,
    /// The same for `pd`.
    partial_k: u32,
    /// The finest run that was not followed.
    suspect: Option<Box<Suspect>>,
    /// Whether `fd` needs more memory than there is.
    full_is_out: bool,
    /// Whether there is nothing finer to try.
    exhausted: bool,
    /// Whether languages for buffers need more memory than there is.
    languages_are_out: bool,
    /// With how many states languages for buffers were tried.
    languages_had: u64,
}

impl Refining {
    /// Whether another round is not worth it for this arm.
    fn is_over(&self) -> bool {
        self.exhausted && (self.languages_are_out || self.languages_had >= ENOUGH)
    }
}

impl Portfolio<'_> {
    fn run(&self) -> Answer {
        let most = self.settings.max_buffer.unwrap_or(self.task.model.last_bound());
        let most = most.clamp(1, LARGEST_BOUND);
        let mut refining = Refining::default();
        let mut allowance = FIRST;
        let mut bound = FIRST_BOUND;
        let mut concrete: Option<Answer> = None;
        let mut clean_up_to = None;
        let mut had_all = false;
        loop {
            let states = allowance.min(self.settings.limits.states);
            let last = states == self.settings.limits.states;
            // With half of the memory the exact search may have met its end; with all of it, not yet.
            let known = concrete.as_ref().is_some_and(|answer| {
                let out = is_out_of_memory(answer);
                is_exhausted(answer, most) || out && (!refining.is_over() || had_all)
            });
            had_all = refining.is_over();
            let within = if last { most } else { bound.min(most) };
            let (exact, proof) = self.round(states, within, known, &mut refining);
            if let Some(exact) = exact {
                if let Some(proof) = proof.as_ref().filter(|_| is_conclusive(&exact)) {
                    let agree = exact.verdict.word() == proof.verdict.word();
                    assert!(agree, "the exact and the abstract search agree");
                }
                let clean = exact.verdict.inconclusive().and_then(Inconclusive::clean_up_to);
                clean_up_to = clean_up_to.max(clean);
                concrete = Some(exact);
            }
            let exact = concrete.as_ref().expect("the first round searches the exact model");
            if is_conclusive(exact) {
                break;
            }
            if let Some(proof) = proof {
                return self.concluded(proof);
            }
            let stopped = self.budget.cancel.raised().is_some();
            let done = is_exhausted(exact, most) || had_all && is_out_of_memory(exact);
            let nothing_left = refining.is_over() && done;
            if stopped || last || nothing_left {
                break;
            }
            allowance = allowance.saturating_mul(MORE);
            bound = bound.saturating_mul(2);
        }
        let mut answer = concrete.expect("at least one round was run");
        if answer.verdict.inconclusive().is_some() {
            // What ended the whole is not what ended the last exact search.
            if let Some(stop) = self.budget.cancel.raised() {
                answer.verdict = answer.verdict.weakened(InconclusiveReason::Limit(stop));
            }
            answer.verdict = answer.verdict.clean_up_to(clean_up_to);
            answer.suspect = refining.suspect;
        }
        answer
    }

    /// An answer of the abstract arm. If it is a violation, a shorter run may show it.
    fn concluded(&self, mut proof: Answer) -> Answer {
        if let Some(trace) = proof.verdict.evidence().and_then(Evidence::trace)
            && self.settings.shortest
        {
            let states = proof.statistics.states;
            let shorter = explicit::shorter(self.task, self.settings, self.budget, trace, states);
            proof.verdict = proof.verdict.with_shorter(shorter);
        }
        proof
    }

    /// Both arms, each with so many states. The abstract one returns an answer only when it concludes.
    fn round(
        &self,
        states: u64,
        bound: u32,
        exact_is_done: bool,
        refining: &mut Refining,
    ) -> (Option<Answer>, Option<Answer>) {
        let arms = u64::from(!exact_is_done) + u64::from(!refining.is_over());
        let bytes = self.settings.limits.bytes / arms.max(1);
        let limits = Limits { states, bytes, ..self.settings.limits };
        let settings = Settings { limits, max_buffer: Some(bound), ..self.settings };
        // An abstract state takes several times as long as an exact one; there is no next round to wait
        // for when the user's limit is met.
        let last = states == self.settings.limits.states;
        let fewer = (states / SLOWER).max(FIRST).min(states);
        let abstract_states = if last { states } else { fewer };
        let limits = Limits { states: abstract_states, ..limits };
        let abstract_settings = Settings { limits, ..settings };
        let give_up = self.budget.cancel.below();
        let hunt = || {
            let answer = Explicit.run(self.task, settings, self.budget);
            if is_conclusive(&answer) {
                give_up.interrupt();
            }
            answer
        };
        if exact_is_done {
            return (None, self.prove(settings, refining, &give_up));
        }
        // Most questions are easy for one of the arms: not worth a thread.
        if self.settings.threads.get() == 1 || states <= FIRST {
            let exact = hunt();
            // A first round that ends in growing values is no good sign for a proof; later ones try.
            let hopeless = states <= FIRST && exact.growing.is_some();
            let proof = if is_conclusive(&exact) || hopeless {
                None
            } else {
                self.prove(abstract_settings, refining, &give_up)
            };
            return (Some(exact), proof);
        }
        std::thread::scope(|scope| {
            let exact = scope.spawn(hunt);
            // Where a processor more would help is not known; the exact search is the faster one.
            let alone = Settings { threads: NonZeroUsize::MIN, ..abstract_settings };
            let proof = self.prove(alone, refining, &give_up);
            match exact.join() {
                Ok(exact) => (Some(exact), proof),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }

    /// The arm that proves: abstractions, then languages.
    fn prove(
        &self,
        settings: Settings,
        refining: &mut Refining,
        give_up: &Cancel,
    ) -> Option<Answer> {
        let proof = self.refine(settings, refining, give_up);
        if proof.is_some() || refining.languages_are_out || give_up.raised().is_some() {
            return proof;
        }
        let last = settings.limits.states == self.settings.limits.states;
        let fewer = (settings.limits.states / HEAVIER).max(1);
        let states = if last { settings.limits.states } else { fewer };
        let limits = Limits { states, ..settings.limits };
        let quiet = Progress::default();
        let budget = Budget { cancel: give_up, progress: &quiet };
        let settings = Settings { limits, shortest: false, ..settings };
        let answer = Automata::USUAL.run(self.task, settings, budget);
        refining.languages_are_out = is_out_of_memory(&answer);
        refining.languages_had = states;
        is_conclusive(&answer).then_some(answer)
    }

    /// Abstractions: finer and finer until something is concluded or the allowance is used up.
    fn refine(
        &self,
        settings: Settings,
        refining: &mut Refining,
        give_up: &Cancel,
    ) -> Option<Answer> {
        loop {
            if refining.exhausted {
                return None;
            }
            let full = Abstraction { domain: Domain::Full, k: refining.k };
            let attempt = match refining.full_is_out {
                true => Attempt::OutOfMemory,
                false => self.attempt(full, settings, give_up),
            };
            match attempt {
                Attempt::Concluded(answer) => return Some(*answer),
                Attempt::TooCoarse(suspect) => {
                    refining.suspect = suspect.or(refining.suspect.take());
                    refining.k += 1;
                    refining.exhausted = refining.k > LARGEST_K;
                    continue;
                }
                Attempt::TooBig => {}
                Attempt::OutOfMemory => refining.full_is_out = true,
                Attempt::Hopeless => {
                    refining.exhausted = true;
                    continue;
                }
                Attempt::Stopped => return None,
            }
            refining.partial_k = refining.partial_k.max(refining.k);
            while refining.partial_k <= refining.k + PARTIAL {
                let partial = Abstraction { domain: Domain::Partial, k: refining.partial_k };
                match self.attempt(partial, settings, give_up) {
                    Attempt::Concluded(answer) => return Some(*answer),
                    Attempt::TooCoarse(_) => refining.partial_k += 1,
                    Attempt::OutOfMemory | Attempt::Hopeless => {
                        refining.exhausted = refining.full_is_out;
                        return None;
                    }
                    Attempt::TooBig | Attempt::Stopped => return None,
                }
            }
            refining.exhausted = refining.full_is_out;
            return None;
        }
    }

    fn attempt(&self, engine: Abstraction, settings: Settings, give_up: &Cancel) -> Attempt {
        let quiet = Progress::default();
        let budget = Budget { cancel: give_up, progress: &quiet };
        let answer = engine.run(self.task, settings, budget);
        match &answer.verdict {
            Verdict::Verified(_) | Verdict::Violated(_) => Attempt::Concluded(Box::new(answer)),
            Verdict::Inconclusive(inconclusive) => match inconclusive.reason() {
                InconclusiveReason::Spurious => Attempt::TooCoarse(answer.suspect),
                InconclusiveReason::Limit(Stop::States) => Attempt::TooBig,
                InconclusiveReason::Limit(Stop::Memory | Stop::Depth) => Attempt::OutOfMemory,
                InconclusiveReason::Limit(Stop::Time | Stop::Interrupted) => Attempt::Stopped,
                InconclusiveReason::Unsupported { .. } => Attempt::Hopeless,
                InconclusiveReason::Bound { .. } => {
                    unreachable!("an abstract model has no bound on runs")
                }
            },
        }
    }
}

/// What came of one abstract search.
enum Attempt {
    /// A verdict.
    Concluded(Box<Answer>),
    /// A run that the exact model does not follow.
    TooCoarse(Option<Box<Suspect>>),
    /// More states than allowed in this round.
    TooBig,
    /// More memory than there is: more states would not help.
    OutOfMemory,
    /// More values than any abstraction of buffers copes with.
    Hopeless,
    /// It was told to stop.
    Stopped,
}

fn is_conclusive(answer: &Answer) -> bool {
    match answer.verdict {
        Verdict::Verified(_) | Verdict::Violated(_) => true,
        Verdict::Inconclusive(_) => false,
    }
}

fn is_out_of_memory(answer: &Answer) -> bool {
    match &answer.verdict {
        Verdict::Verified(_) | Verdict::Violated(_) => false,
        Verdict::Inconclusive(inconclusive) => {
            matches!(inconclusive.reason(), InconclusiveReason::Limit(Stop::Memory | Stop::Depth))
        }
    }
}

/// Whether the exact search has done all it can: everything up to the largest bound was seen.
fn is_exhausted(answer: &Answer, most: u32) -> bool {
    match &answer.verdict {
        Verdict::Verified(_) | Verdict::Violated(_) => true,
        Verdict::Inconclusive(inconclusive) => match inconclusive.reason() {
            InconclusiveReason::Bound { .. } => answer.statistics.bound >= Some(most),
            InconclusiveReason::Limit(_)
            | InconclusiveReason::Spurious
            | InconclusiveReason::Unsupported { .. } => false,
        },
    }
}
